# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What each module returns, key by key: the RETURN of its documentation, with types. Other keys never reach a play."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...module_utils._scheduled_events.imds import document, identity
from ...module_utils._scheduled_events.journal import drain_times, history, record_schema
from ...module_utils._scheduled_events.lease import progress_marks
from . import limits
from .kinds import Kind, anything, between, fields, flag, line, many, maybe, named, naming, number, output, short, text, whole


@dataclass(frozen=True)
class Schema:
    """The schema of one module. A success has the needed keys; a failure has any of them."""

    returns: Mapping[str, Kind]
    needed: tuple[str, ...]
    diff: bool = False


# Keys of every answer. "failed" decides how the rest is read. The program's output is included if it printed no answer at all.
COMMON: Mapping[str, Kind] = {"changed": flag, "failed": flag, "msg": line, "error_kind": line}
NO_ANSWER: Mapping[str, Kind] = {"module_stdout": output, "module_stderr": output, "rc": whole}
# With async: the result of core's own wrapper.
JOB: Mapping[str, Kind] = {"ansible_job_id": line, "results_file": line, "started": anything, "finished": anything}

DIFF = fields({"before": named(anything), "after": named(anything), "before_header": line, "after_header": line}, ("before", "after"))

EVENT_TYPES: Mapping[str, Kind] = {"id": text, "text": maybe(text), "names": many(text), "time": maybe(text), "whole": maybe(whole)}
EVENT: Mapping[str, Kind] = {
    **{key: EVENT_TYPES[field.kind] for key, field in document.EVENT_FIELDS.items()},
    "affects_this_vm": maybe(flag),
    "raw": named(anything),
}
EVENTS = naming(many(fields(EVENT, ("event_id", "resources"))), lambda event: event)

# What a key of a record may be, by its kind in the schema of records.
KINDS: Mapping[str, Kind] = {
    "text": maybe(text),
    "time": maybe(text),
    "state": maybe(text),
    "phase": text,
    "whole": whole,
    "flag": flag,
    "texts": many(text),
    "object": maybe(named(anything)),
    "decision": maybe(named(anything)),
    "event": fields({name: EVENT[name] for name in record_schema.EVENT_KEYS}, ("event_id", "resources")),
    "history": many(fields(dict.fromkeys(record_schema.HISTORY_KINDS, text), ("phase", "at"))),
}
# A method that has not begun yet has no value for most of its keys.
METHOD = fields({**{key: maybe(KINDS[kind]) for key, kind in record_schema.METHOD_KINDS.items()}, "id": text}, ("id",))
RECORD_TYPES: Mapping[str, Kind] = {
    **{key: {**KINDS, "methods": many(METHOD)}[kind] for key, kind in record_schema.RECORD_KINDS.items()},
    "age_seconds": maybe(number),
}
RECORD = fields(RECORD_TYPES, ("event", "phase", "history", "methods"))

LEASE_TEXTS = ("event_id", "who", "made_at", "limit")
LEASE = fields(
    {"name": text, "run": text, "digest": text, "kind": text, "groups": named(text), "expired": flag, **dict.fromkeys(LEASE_TEXTS, maybe(text))},
    ("name", "run", "digest", "kind", "groups", "expired"),
)
REPLICA = fields({"vm": text, "vm_id": maybe(text), "keeper_vm_id": maybe(text), "record": RECORD}, ("vm", "record"))
TOMBSTONE = fields({"event_id": text, "at": text, "vm_id": maybe(text)}, ("event_id", "at"))
MARK = fields(dict.fromkeys(progress_marks.KEYS, maybe(text)))
DRAIN_TIMES = fields(
    {"methods": many(text, drain_times.KINDS), "seconds": many(between(0, drain_times.LONGEST_SECONDS), drain_times.TIMES)}, ("methods", "seconds")
)

ASKED: Mapping[str, Kind] = {
    "vm_name": maybe(text),
    "document_incarnation": maybe(whole),
    "api_version": maybe(text),
    "endpoint": maybe(text),
    "endpoint_source": maybe(text),
}
WATCHER = fields({"age_seconds": maybe(number), "problem": maybe(line), "messages_waiting": maybe(whole), "messages_dropped": maybe(whole)}, ())
OBSERVATION: Mapping[str, Kind] = {
    **ASKED,
    "events": EVENTS,
    "identity": fields(dict.fromkeys(identity.read_identity(None), maybe(text)), ("name", "vm_id")),
    "system": text,
    "boot_id": maybe(text),
    "uptime_seconds": maybe(number),
    "now": text,
    "enabled_at": maybe(text),
    "enabled_recently": flag,
    "in_service": maybe(flag),
    "in_service_why": maybe(text),
    "watcher": maybe(WATCHER),
    "records": naming(many(RECORD), lambda record: record.get("event")),
    "leases": many(LEASE),
    "replicas": many(REPLICA),
    "tombstones": many(TOMBSTONE),
    "upgrades": many(MARK),
    "drain_times": maybe(DRAIN_TIMES),
    "records_problems": many(line),
    "records_readable": flag,
    "cannot_write": maybe(line),
}
# An entry of the history is a part of a record, and its methods are a part of theirs.
ENTRY = fields(
    {
        **{key: RECORD_TYPES[key] for key in (*history.TEXTS, "format", "event", "attempts", "history")},
        "rule": maybe(named(maybe(text))),
        "decision": maybe(named(maybe(text))),
        "resources_count": whole,
        "ended_at": maybe(text),
        "methods": many(fields({**dict.fromkeys(("id", "method", "state", "at", "error"), maybe(text)), "outside": flag, "times": named(maybe(text))})),
    },
    ("format", "event", "phase", "history", "methods"),
)
ACT_RESULT = fields(
    {
        "action": text,
        "event_id": text,
        "failed": flag,
        "changed": flag,
        "msg": line,
        "error_kind": line,
        "state": text,
        "error": maybe(line),
        "warning": maybe(line),
        "handover": named(text),
        "was": named(line),
        "would": named(line),
        "doubts": many(maybe(line)),
        "record": maybe(RECORD),
        "leases": many(text),
        "approved": many(text),
        "already_started": many(text),
        "not_found": many(text),
    },
    ("action", "event_id", "failed"),
)
OUTCOME = fields({"event_id": text, "outcome": text, "last_status": maybe(text)}, ("event_id", "outcome"))
SERVER_NUMBERS, SERVER_FLAGS, SERVER_TEXTS = ("sessions", "queued"), ("up", "checked"), ("backend", "server", "state", "status")
SERVER: Mapping[str, Kind] = {**dict.fromkeys(SERVER_TEXTS, text), **dict.fromkeys(SERVER_FLAGS, flag), **dict.fromkeys(SERVER_NUMBERS, whole)}
LEFT_OUT: Mapping[str, Kind] = dict.fromkeys(("name", "status", "why"), short)
LEFT: Mapping[str, Kind] = {
    **dict.fromkeys(("server", "tracks", "address"), short),
    **dict.fromkeys(("takes", "weighs"), flag),
    **dict.fromkeys(("others", "candidates", "missing", "asked"), whole),
    "names": many(short, limits.SHOWN),
    "out": many(fields(LEFT_OUT, tuple(LEFT_OUT)), limits.SHOWN),
}

NODE = fields({"name": text, "unschedulable": flag, "event": maybe(text), "ready": flag}, ("name", "unschedulable", "ready"))
POD_TEXTS, POD_FLAGS = ("namespace", "name", "uid", "owner"), ("mirror", "finished", "local", "ending", "ready")
POD = fields({**dict.fromkeys(POD_TEXTS, text), **dict.fromkeys(POD_FLAGS, flag)}, (*POD_TEXTS, *POD_FLAGS))
EVICTION = fields({"namespace": text, "name": text, "code": whole, "message": line, "reason": short, "cause": short}, ("namespace", "name", "code"))

SCHEMAS: Mapping[str, Schema] = {
    # An answer without one of these says the same as one in which it is null.
    "maintenance_info": Schema(OBSERVATION, tuple(key for key in OBSERVATION if key not in ("watcher", "drain_times", "cannot_write"))),
    "maintenance_act": Schema({**OBSERVATION, "host_marks": many(text), "services": many(text), "results": many(ACT_RESULT)}, ("results",)),
    "maintenance_record": Schema(
        {"record": maybe(RECORD), "conflict": flag, "leases": many(text), "upgrade": maybe(MARK), "pruned": many(text)},
        ("record", "conflict"),
        diff=True,
    ),
    "maintenance_history": Schema(
        # No plan repeats their names.
        {"entries": many(ENTRY), "problems": many(line), "now": text},
        ("entries", "problems", "now"),
    ),
    "maintenance_lease": Schema({"leases": many(text)}, ("leases",), diff=True),
    "scheduled_events_info": Schema({**ASKED, "events": EVENTS}, ("events",)),
    "scheduled_events_approve": Schema(
        {**ASKED, "approved": many(text), "already_started": many(text), "not_found": many(text)},
        ("approved", "already_started", "not_found"),
    ),
    "wait_for_scheduled_event": Schema(
        {
            **ASKED,
            "outcome": text,
            "outcomes": many(OUTCOME),
            "events": EVENTS,
            "elapsed": number,
            "polls": whole,
            "failed_polls": whole,
            "last_status": maybe(text),
            "last_error": maybe(line),
        },
        ("outcome", "events"),
    ),
    "haproxy_server": Schema(
        {
            "backends": named(fields(SERVER, tuple(SERVER)), limits.BACKENDS),
            "left": named(fields(LEFT, tuple(LEFT)), limits.BACKENDS),
            "reached": flag,
            "short": many(short),
            "was": named(short),
        },
        ("backends", "left", "reached"),
        diff=True,
    ),
    "kubernetes_node": Schema({"node": maybe(NODE), "pods": many(POD), "evictions": many(EVICTION)}, ("node", "pods", "evictions"), diff=True),
    "watcher_python": Schema({"executable": line}, ("executable",)),
}
