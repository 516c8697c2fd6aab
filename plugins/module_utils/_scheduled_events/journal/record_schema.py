# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""What a record looks like in its file, and what the file is called. Nothing here touches the disk."""

from __future__ import annotations

import hashlib
import json
import re
import typing as t

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.bounded_json import load_bounded
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.errors import ScheduledEventsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.limits import (
    ATTEMPTS,
    FILE_BYTES,
    METHODS,
    RECORD_BYTES,
    REVISION,
    TEXT,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.overrides import (
    WrongDecision,
    checked_decision,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_repair import (
    repaired_event,
    repaired_history,
    repaired_lineage,
    repaired_methods,
    repaired_texts,
    whole_within,
)

Record = t.Dict[str, t.Any]

FORMAT = 1
PHASES = (
    "noticed",
    "draining",
    "drained",
    "approved",
    "started",
    "gone",
    "recovering",
    "recovered",
    "failed",
    "held",
)
EVENT_KEYS = (
    "event_id",
    "event_type",
    "event_status",
    "event_source",
    "not_before",
    "description",
    "resources",
    "duration_in_seconds",
)
STAMPS = ("verified_at", "approving_at", "approved_at", "started_at", "missing_since", "retry_at", "deadline")
# Internal: the writes that this revision builds on, newest last. See Records.write.
LINEAGE = "lineage"
LINEAGE_LENGTH = 32

PLAIN_ID = re.compile(r"[A-Za-z0-9-]{1,64}")
FILE_NAME = re.compile(r"(event-[a-z0-9-]{1,80})\.([1-9][0-9]{0,8})\.json")
TEMPORARY = "temporary-"
FOREIGN = "foreign-"
UNREADABLE = "unreadable-"


class RecordsError(ScheduledEventsError):
    """The records cannot be read or written as asked; kind is records or conflict."""

    def __init__(self, message: str, kind: str = "records", record: Record | None = None) -> None:
        super().__init__(message, kind)
        self.record = record

    @property
    def conflict(self) -> bool:
        return self.kind == "conflict"


class Unreadable(ValueError):
    """A file that is no record; the message completes "the file ...", as in "is not JSON"."""


def stem(event_id: str) -> str:
    """The file name up to the revision. Ids compare without case; an odd one is hashed, longer than any plain one."""
    wanted = event_id.strip()
    if PLAIN_ID.fullmatch(wanted):
        return "event-" + wanted.lower()
    digest = hashlib.sha256(wanted.lower().encode("utf-8", "surrogatepass")).hexdigest()
    return "event-hashed-" + digest


def file_name(event_id: str, revision: int) -> str:
    """The name of one revision of one event's record."""
    return revision_name(stem(event_id), revision)


def revision_name(one: str, revision: int) -> str:
    """The name of one revision, from the stem."""
    return f"{one}.{revision}.json"


def shorten(value: t.Any) -> str:
    """Any value in a message; what is hostile is at least short."""
    return repr(value)[:100]


def split_name(name: str) -> tuple[str, int] | None:
    """(stem, revision) of a record's file, None for any other file."""
    found = FILE_NAME.fullmatch(name)
    return (found.group(1), int(found.group(2))) if found else None


def empty_record(event_id: str) -> Record:
    """A record with every key, before anything is known."""
    event: dict[str, t.Any] = dict.fromkeys(EVENT_KEYS)
    event.update(event_id=event_id, resources=[])
    return {
        "format": FORMAT,
        "revision": 0,
        "event": event,
        "phase": "noticed",
        "reason": None,
        "history": [],
        "vm_id": None,
        "vm_name": None,
        "boot_id": None,
        "rule": None,
        "decision": None,
        "attempts": 0,
        "retry_at": None,
        "deadline": None,
        "verified_at": None,
        "approving_at": None,
        "approved_at": None,
        "started_at": None,
        "missing_since": None,
        "undone": False,
        "told": [],
        "outcome": None,
        "methods": [],
    }


def encode(record: Record) -> bytes:
    """A record as the content of its file."""
    try:
        content = _text_of(record)
        if len(content) > FILE_BYTES:
            content = _text_of(record, None, (",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordsError(f"The record of event {shorten(event_id_of(record))} cannot be stored as JSON: {error}")
    if len(content) > FILE_BYTES:
        raise RecordsError(f"The record of event {shorten(event_id_of(record))} is larger than {FILE_BYTES} bytes and cannot be stored.")
    return content


def _text_of(record: Record, indent: int | None = 1, separators: tuple[str, str] | None = None) -> bytes:
    return json.dumps(record, indent=indent, separators=separators, sort_keys=True, allow_nan=False).encode("ascii") + b"\n"


def decode(content: bytes, name: str) -> Record:
    """The content of a file as a record; Unreadable says what is wrong with it."""
    place = split_name(name)
    data = load(content)
    if place is None or not isinstance(data, dict):
        raise Unreadable("holds no record")
    if data.get("format") != FORMAT or isinstance(data.get("format"), bool):
        raise Unreadable(f"has the format {shorten(data.get('format'))}, and this version of the collection knows {FORMAT}")
    if whole_within(data.get("revision"), 1, REVISION - 1) not in (None, place[1]):
        raise Unreadable("holds another revision than its name says")
    event = data.get("event")
    if not isinstance(event, dict) or not isinstance(event.get("event_id"), str):
        raise Unreadable("names no event")
    if stem(event["event_id"]) != place[0]:
        raise Unreadable("belongs to another event than its name says")
    record = complete(data)
    # What is no revision at all says nothing against the name, which no two files have.
    record["revision"] = place[1]
    record[LINEAGE] = repaired_lineage(data.get(LINEAGE), content)
    # A small file cannot become too large by the way it is written.
    if len(content) > RECORD_BYTES // 8 and len(_text_of(record, None, (",", ":"))) > RECORD_BYTES:
        raise Unreadable(f"is larger than {RECORD_BYTES} bytes, which no record is")
    return record


def load(content: bytes) -> t.Any:
    """A file's content as JSON, no deeper than any record. What comes back can always be written as JSON again."""
    try:
        return load_bounded(content.decode("utf-8"), lambda text: None, halves=True)
    except OverflowError:
        raise Unreadable("is nested deeper than any record")
    except (ValueError, RecursionError):
        raise Unreadable("is not JSON, or was cut off")


def complete(data: Record) -> Record:
    """Add what is absent, mend what can be mended (record_repair.py), refuse the rest: whoever reads a record may rely on it."""
    record = empty_record(data["event"]["event_id"])
    event = repaired_event(dict(record["event"], **data["event"]), EVENT_KEYS)
    record.update(data, event=event)
    if record["phase"] not in PHASES:
        raise Unreadable(f"has the unknown phase {shorten(record['phase'])}")
    for key in ("history", "methods"):
        if not isinstance(record[key], list) or not all(isinstance(item, dict) for item in record[key]):
            raise Unreadable(f"has no list of objects in {key}")
    if not all(isinstance(method.get("id"), str) for method in record["methods"]):
        raise Unreadable("has a method without an id")
    record["methods"] = repaired_methods(record["methods"])
    if not all(item.get("phase") in PHASES and isinstance(item.get("at"), str) for item in record["history"]):
        raise Unreadable("has a history without phases and times")
    record["history"] = repaired_history(record["history"])
    if not isinstance(record["told"], list) or not isinstance(event["resources"], list):
        raise Unreadable("has no list where one belongs")
    record["told"] = [phase for phase in record["told"] if isinstance(phase, str) and len(phase) <= TEXT][:METHODS]
    if isinstance(record["attempts"], bool) or not isinstance(record["attempts"], int):
        # It only counts for people; retries are counted from the history.
        record["attempts"] = 0
    record["attempts"] = min(max(record["attempts"], 0), ATTEMPTS)
    record["revision"] = whole_within(record["revision"], 0, REVISION) or 0
    if not isinstance(record["undone"], bool):
        raise Unreadable("has another type where true or false belongs")
    if record["rule"] is not None and not isinstance(record["rule"], dict):
        raise Unreadable("has a rule that is no object")
    _check_texts(record)
    try:
        record["decision"] = checked_decision(record["decision"])
    except WrongDecision as error:
        # Going on without what a person said would be worse than leaving the VM alone.
        raise Unreadable(f"has a decision that {error}")
    return record


def _check_texts(record: Record) -> None:
    for key in TEXT_KEYS:
        if record[key] is not None and not isinstance(record[key], str):
            raise Unreadable(f"has no text in {key}")
    repaired_texts(record, TEXT_KEYS, STAMPS)


TEXT_KEYS = (
    "reason",
    "vm_id",
    "vm_name",
    "boot_id",
    "retry_at",
    "deadline",
    "verified_at",
    "approving_at",
    "approved_at",
    "started_at",
    "missing_since",
    "outcome",
)


def event_id_of(record: Record) -> str:
    """The id as Azure wrote it."""
    return str(record["event"]["event_id"])


def public(record: Record) -> Record:
    """A record as people and roles see it: without what only the writing needs."""
    return {key: value for key, value in record.items() if key != LINEAGE}
