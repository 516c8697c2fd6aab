# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Convert observations, which may contain anything, to the model. An unreadable one is a failed observation, never an empty one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from ....module_utils._scheduled_events.core import limits
from ....module_utils._scheduled_events.core.names import folded
from ....module_utils._scheduled_events.core.types import Values
from ....module_utils._scheduled_events.drain.registry import use_of_unit
from ....module_utils._scheduled_events.journal import drain_times, record_schema, transitions
from ....module_utils._scheduled_events.journal.record_changes import OUTCOMES
from ..._core import plain_values
from ..._core.plain_values import flag, items, mapping, plain, text, texts
from ..._core.wrong_input import WrongInput
from ..._drain.doubts import doubts_of
from ..._drain.records.matching import read_method
from ..._drain.records.replicas import read_targets
from ..core import timestamps
from ..core.model import (
    STRICTEST,
    Host,
    Identity,
    Lease,
    Observation,
    Override,
    Record,
    Replica,
    Watcher,
)
from . import expected_identity
from .documents import Documents

# The most problems of one VM to show: those of a kind repeat.
PROBLEMS = 20
# Characters of an id in a message, and of a message in an answer: each is repeated for each event of its VM.
SHOWN, LONGEST = 100, 2000


def read_observations(value: Any) -> list[Host]:
    """Return all hosts, each once, in the given order. Raise WrongInput."""
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        raise WrongInput(f"observations must be a list, not {type(value).__name__}")
    hosts: dict[str, Host] = {}
    documents = Documents()
    for place, item in enumerate(items(value)):
        given = mapping(item)
        name = text(given.get("host"))
        if name is None:
            raise WrongInput(f"observation {place + 1} names no host")
        if name not in hosts:
            hosts[name] = _host(name, place, given, documents)
    return list(hosts.values())


def _is_true(value: Any) -> bool:
    return value is True or flag(value) is True


def _id(value: Any) -> str | None:
    """Return an id or a name as it compares, or None without one."""
    found = text(value)
    return folded(found) if found else None


def _ids(value: Any) -> tuple[str, ...]:
    return tuple(map(folded, texts(value))) if value else ()


# What the controller knows of a host beside its observation.
OF_HOST: Mapping[str, Callable[[Any], Any]] = {
    "reached_before": _is_true,
    "drains_asked": lambda value: plain_values.whole(value) or 0,
    "drain_asked_at": plain_values.number,
    "outside": _is_true,
    "short_pause_hurts": _is_true,
    "targets": read_targets,
    "could_not_approve": _ids,
    "approved": _ids,
    "acknowledged": _ids,
    "labels": lambda value: plain(mapping(value)),
    "wrong_settings": lambda value: tuple(texts(value)),
}


def _host(name: str, place: int, given: Values, documents: Documents) -> Host:
    state = text(given.get("state")) or "failed"
    error = text(given.get("error"))
    methods = tuple(texts(given.get("methods")))
    observation: Observation | None = None
    if state == "ok":
        observation, problem = _read_with(methods, given.get("observation"), documents)
        contradiction = expected_identity.contradiction(given.get("expected_identity"), observation.identity) if observation else None
        if observation is None or contradiction is not None:
            observation, state, error = None, "failed", problem or contradiction
    elif state not in ("unreachable", "failed", "excluded", "resting"):
        state, error = "failed", f"unknown state {state!r} of the observation"
    last_observation = None if observation or state == "excluded" else _read_with(methods, given.get("last_observation"), documents)[0]
    cannot_write = text(mapping(given.get("observation")).get("cannot_write")) if observation else None
    inventory_identity = expected_identity.identity(given.get("expected_identity")) or _identity(mapping(given.get("identity")), None)
    known, seen = inventory_identity, observation or last_observation
    if known.name is None and seen is not None:
        known = seen.identity if seen.identity.vm_id or not known.vm_id else replace(seen.identity, vm_id=known.vm_id)
    return Host(
        name=name,
        place=place,
        state=state,
        error=error,
        observation=observation,
        identity=known,
        methods=methods,
        last_observation=last_observation,
        listed_before=documents.read(before).events if (before := given.get("listed_before")) is not None and isinstance(before, Sequence) else None,
        cannot_write=text(given.get("cannot_write")) or cannot_write,
        unusable=observation is None and _is_true(given.get("unusable")),
        inventory_identity=inventory_identity,
        **{key: read(given[key]) for key, read in OF_HOST.items() if key in given},
    )


def _drain_times(value: Any) -> tuple[float, ...]:
    found = map(plain_values.number, items(mapping(value).get("seconds"))[-drain_times.TIMES :])
    return tuple(seconds for seconds in found if seconds is not None and 0 <= seconds <= drain_times.LONGEST_SECONDS)


# Of an observation what is read by itself. Most VMs have little of it: what is null costs nothing.
OBSERVED: Mapping[str, Callable[[Any], Any]] = {
    "boot_id": text,
    "enabled_at": timestamps.parse,
    "enabled_recently": _is_true,
    "in_service": flag,
    "in_service_why": text,
    "answered_at": timestamps.parse,
    "system": text,
    "services": lambda value: tuple(unit for unit in dict.fromkeys(texts(value)) if use_of_unit(unit)),
    "leases": lambda value: tuple(lease for item in items(value) if (lease := _lease(item))),
    "drain_times": _drain_times,
    "watcher": lambda value: _watcher(value) if isinstance(value, Mapping) else None,
}


def _read_with(methods: tuple[str, ...], value: Any, documents: Documents) -> tuple[Observation | None, str | None]:
    """Parse an observation of a host with these drain methods: times of others say nothing of them."""
    found, problem = read_observation(value, documents)
    if found is not None and found.drain_times and tuple(texts(value["drain_times"].get("methods"))) != methods:
        found = replace(found, drain_times=())
    return found, problem


def read_observation(value: Any, documents: Documents) -> tuple[Observation | None, str | None]:
    """Parse an observation. Return it, or None and why it cannot be used."""
    if not isinstance(value, (dict, Mapping)):
        return None, "it was not observed"
    listed = documents.read(value.get("events"))
    if (problem := listed.problem or _limits_passed(value)) is not None:
        return None, problem
    problems = texts(value.get("records_problems"))
    if flag(value.get("records_readable")) is False:
        # Its records may hold a drain in progress: such a VM is as unknown as one that did not answer.
        return None, "its records could not be read: " + ("; ".join(problems)[:LONGEST] or "no reason given")
    vm_now = timestamps.parse(value.get("now"))
    if vm_now is None:
        return None, "the observation does not say the VM's time"
    name, about = text(value.get("vm_name")), mapping(value.get("identity"))
    identity = _identity(about, name)
    known = {key: read(item) for key, read in OBSERVED.items() if (item := value.get(key)) is not None}
    problems = problems[:PROBLEMS]
    if found := value.get("records"):
        known["records"], others = _records(found, identity, documents)
        known["moved_at"] = max((record.history[-1][1] for record in known["records"].values() if record.history), default=None)
        # Once for all events: a VM may have many, and each asks.
        known["doubts"] = doubts_of(method for record in known["records"].values() for method in record.methods)
        problems += others[:PROBLEMS]
    if replicas := items(value.get("replicas")):
        known["replicas"] = tuple(_replicas(replicas, documents))
        if len(replicas) > limits.COPIES:
            problems.append(f"it has {len(replicas)} copies of other VMs' records; only the first {limits.COPIES} are read")
    if marks := _marks(value.get("upgrades")):
        # A mark in an unknown state counts as begun.
        known["marks"] = {name: state if state in ("upgraded", "left", "done") else "begun" for name, state, _digest in marks}
        known["mark_digests"] = {name: digest for name, _state, digest in marks if digest is not None}
    if tombstones := value.get("tombstones"):
        known["tombstones"] = _tombstones(tombstones, identity)
    uptime = plain_values.number(value.get("uptime_seconds"))
    return (
        Observation(
            vm_name=name,
            incarnation=plain_values.whole(value.get("document_incarnation")),
            listed=listed.events,
            identity=identity,
            spot=str(about.get("priority") or "").lower() in ("spot", "low"),
            booted_at=None if uptime is None else vm_now - uptime,
            now=vm_now,
            problems=tuple(problems),
            about=about,
            **known,
        ),
        None,
    )


def _watcher(given: Values) -> Watcher:
    return Watcher(plain_values.number(given.get("age_seconds")), text(given.get("problem")), plain_values.whole(given.get("messages_dropped")) or 0)


LIMITS = (
    ("records", limits.RECORDS, "records"),
    ("leases", limits.LEASES, "leases"),
    ("upgrades", limits.MARKS, "progress marks of upgrades"),
)


def _limits_passed(observation: Values) -> str | None:
    """Return which limit the observation exceeds, or None. Reading a part of it would hide the rest."""
    for key, limit, noun in LIMITS:
        if (found := observation.get(key)) and len(items(found)) > limit:
            return f"it has {len(found)} {noun}, and no VM has more than {limit}; look at the VM and its records"
    return None


def _marks(value: Any) -> list[tuple[str, str | None, str | None]]:
    """Return name, state and digest of each progress mark."""
    marks = [(text(mark.get("name")), text(mark.get("state")), text(mark.get("digest"))) for mark in map(mapping, items(value))]
    return [(name, state, digest) for name, state, digest in marks if name is not None]


def _identity(given: Values, name: str | None) -> Identity:
    if not given:
        return Identity(folded(name or "") or None)
    own = folded(name or "") or _id(given.get("name"))
    return Identity(own, *[_id(given.get(key)) for key in ("resource_group", "subscription_id", "vm_id", "scale_set")])


def _records(value: Any, identity: Identity, documents: Documents) -> tuple[dict[str, Record], list[str]]:
    records: dict[str, Record] = {}
    problems = []
    for item in items(value):
        record = read_record(item, documents)
        if record is None:
            problems.append("a record without an event, or in an unknown phase, was left alone")
            continue
        owner = text(mapping(item).get("vm_id"))
        if owner and identity.vm_id and folded(owner) != identity.vm_id:
            problems.append(f"the record of event {record.event.event_id[:SHOWN]} belongs to VM {owner}; it was left alone")
            continue
        records[record.event.key] = record
    return records, problems


def _replicas(value: Sequence[Any], documents: Documents) -> list[Replica]:
    found = []
    for given in map(mapping, value[: limits.COPIES]):
        vm, record = text(given.get("vm")), read_record(given.get("record"), documents)
        if vm is not None and record is not None:
            found.append(Replica(vm, _id(given.get("vm_id")), record, _id(given.get("keeper_vm_id"))))
    return found


def _tombstones(value: Any, identity: Identity) -> frozenset[str]:
    """Return the ids of events that are over for this VM. Skip tombstones of another VM, which came with an image."""
    ids = [(_id(one.get("event_id")), _id(one.get("vm_id"))) for one in map(mapping, items(value))]
    return frozenset(event_id for event_id, owner in ids if event_id is not None and (owner is None or identity.vm_id in (None, owner)))


# How the planner reads each kind of key; event, phase, history, methods and decision have readers of their own.
READERS: Mapping[str, Callable[[Any], Any]] = {
    "text": text,
    "time": timestamps.parse,
    "whole": plain_values.whole,
    "object": lambda value: plain(mapping(value)),
    "texts": lambda value: tuple(texts(value)),
}
# Of the keys of a record those that the planner uses.
USED = {field.name for field in fields(Record)}
PLAIN = {key: READERS[kind] for key, kind in record_schema.RECORD_KINDS.items() if key in USED and kind in READERS}
# It stands in sentences as the plan's own word.
PLAIN["outcome"] = lambda value: found if (found := text(value)) in (None, *OUTCOMES) else "unknown"


def read_record(value: Any, documents: Documents | None = None) -> Record | None:
    """Parse a record, or return None. C(documents) share the events that it has read."""
    given = mapping(value)
    event = (documents or Documents()).event(given.get("event"))
    phase = text(given.get("phase"))
    if event is None or phase not in transitions.PHASES:
        return None
    return Record(
        event=event,
        phase=phase,
        history=_history(given.get("history")),
        methods=tuple(read_method(item) for item in items(given.get("methods"))[: limits.METHODS]),
        overrides=_overrides(given.get("decision")),
        **{key: read(given.get(key)) for key, read in PLAIN.items()},
    )


# Of a lease what is read by itself.
LEASE: Mapping[str, Callable[[Any], Any]] = {
    "digest": lambda value: text(value) or "",
    "event_id": text,
    "kind": lambda value: text(value) or "events",
    "who": text,
    "groups": lambda value: {str(key): str(found) for key, found in mapping(value).items()},
    "limit": timestamps.parse,
    "made_at": timestamps.parse,
    "expired": _is_true,
}


def _lease(value: Any) -> Lease | None:
    given = mapping(value)
    name, run = text(given.get("name")), text(given.get("run"))
    if name is None or run is None:
        return None
    return Lease(name=name, run=run, **{key: read(given.get(key)) for key, read in LEASE.items()})


def _history(value: Any) -> tuple[tuple[str, float], ...]:
    entries = [(text(item.get("phase")), timestamps.parse(item.get("at"))) for item in map(mapping, items(value))]
    return tuple((phase, at) for phase, at in entries if phase in transitions.PHASES and phase is not None and at is not None)


def _overrides(value: Any) -> tuple[Override, ...]:
    """Return the overrides of a record, newest first."""
    return () if value is None else tuple(map(_override, (value, *items(mapping(value).get("beside")))))


def _override(value: Any) -> Override:
    given = mapping(value)
    action, at, until = text(given.get("action")), timestamps.parse(given.get("at")), timestamps.parse(given.get("until"))
    who, why, vm = (text(given.get(key)) for key in ("who", "why", "vm"))
    known = action == "release" or (until is not None and (action in STRICTEST or (action == "retire_vm" and vm is not None)))
    who = who or "an unknown operator"
    if at is None or not known or action is None:
        # Perhaps a newer version wrote it. To ignore it would be worse than to wait for an operator.
        return Override("hold", who, f"the override cannot be read: {plain(value)!r}"[:300], float("inf"), float("inf"), None)
    return Override(action, who, why, at, until, vm)
