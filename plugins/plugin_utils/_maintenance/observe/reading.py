# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert observations, which may contain anything, to the model. An unreadable one is a failed observation, never an empty one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from ....module_utils._scheduled_events.core import limits
from ....module_utils._scheduled_events.core.errors import CANNOT_WRITE
from ....module_utils._scheduled_events.imds import document
from ....module_utils._scheduled_events.journal import record_schema, transitions
from ....module_utils._scheduled_events.lease.lease_schema import UPGRADE
from ..._core import plain_values
from ..._drain.records.replicas import read_targets
from ..core import timestamps
from ..core.model import (
    STRICTEST,
    Event,
    Form,
    Host,
    Identity,
    Lease,
    Method,
    Observation,
    Override,
    Record,
    Replica,
    Watcher,
)
from . import expected_identity

# The most problems of one VM to show: those of a kind repeat.
PROBLEMS = 20
# Characters of an id in a message, and of a message in an answer: each is repeated for each event of its VM.
SHOWN, LONGEST = 100, 2000


class ObservationError(ValueError):
    """The observations as a whole cannot be read."""


def read_observations(value: Any) -> list[Host]:
    """Return all hosts, each once, in the given order. Raise ObservationError."""
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        raise ObservationError(f"observations must be a list, not {type(value).__name__}")
    hosts: dict[str, Host] = {}
    for place, item in enumerate(plain_values.items(value)):
        given = plain_values.mapping(item)
        name = plain_values.text(given.get("host"))
        if name is None:
            raise ObservationError(f"observation {place + 1} names no host")
        if name not in hosts:
            hosts[name] = _host(name, place, given)
    return list(hosts.values())


def _host(name: str, place: int, given: Mapping[str, Any]) -> Host:
    state = plain_values.text(given.get("state")) or "failed"
    error = plain_values.text(given.get("error"))
    observation: Observation | None = None
    if state == "ok":
        observation, problem = read_observation(given.get("observation"))
        contradiction = expected_identity.contradiction(given.get("expected_identity"), observation.identity) if observation else None
        if observation is None or contradiction is not None:
            observation, state, error = None, "failed", problem or contradiction
    elif state not in ("unreachable", "failed", "excluded", "resting"):
        state, error = "failed", f"unknown state {state!r} of the observation"
    last_observation = None if observation or state == "excluded" else read_observation(given.get("last_observation"))[0]
    known = expected_identity.identity(given.get("expected_identity")) or _identity(given.get("identity"), None)
    inventory_identity, seen = known, observation or last_observation
    if known.name is None and seen is not None:
        known = replace(seen.identity, vm_id=seen.identity.vm_id or known.vm_id)
    return Host(
        name=name,
        place=place,
        state=state,
        error=error,
        observation=observation,
        methods=tuple(plain_values.texts(given.get("methods"))),
        identity=known,
        reached_before=bool(plain_values.flag(given.get("reached_before"))),
        last_observation=last_observation,
        outside=bool(plain_values.flag(given.get("outside"))),
        targets=read_targets(given.get("targets")),
        could_not_approve=tuple(item.lower() for item in plain_values.texts(given.get("could_not_approve"))),
        approved=tuple(item.strip().lower() for item in plain_values.texts(given.get("approved"))),
        labels=plain_values.plain(plain_values.mapping(given.get("labels"))),
        wrong_settings=tuple(plain_values.texts(given.get("wrong_settings"))),
        listed_before=_forms(given["listed_before"]) if isinstance(given.get("listed_before"), Sequence) else None,
        acknowledged=tuple(item.strip().lower() for item in plain_values.texts(given.get("acknowledged"))),
        cannot_write=plain_values.text(given.get("cannot_write")) or _cannot_write(observation),
        unusable=observation is None and bool(plain_values.flag(given.get("unusable"))),
        inventory_identity=inventory_identity,
    )


def _cannot_write(observation: Observation | None) -> str | None:
    """Return what an observation says of a folder in which nothing can be written, or None."""
    return next((problem for problem in (observation.problems if observation else ()) if problem.startswith(CANNOT_WRITE)), None)


def _forms(events: Any) -> dict[str, Form]:
    """Return the event versions of an earlier observation, to compare with the present ones."""
    ids = [(plain_values.text(plain_values.mapping(event).get("event_id")), event) for event in plain_values.items(events)[: limits.EVENTS]]
    return {event_id.strip().lower(): form(plain_values.plain(event)) for event_id, event in ids if event_id is not None}


def read_observation(value: Any) -> tuple[Observation | None, str | None]:
    """Parse an observation. Return it, or None and why it cannot be used."""
    if not isinstance(value, Mapping):
        return None, "it was not observed"
    listed, problem = _listed_events(value)
    if listed is None:
        return None, problem
    name = plain_values.text(value.get("vm_name"))
    identity = _identity(value.get("identity"), name)
    if plain_values.flag(value.get("records_readable")) is False:
        # Its records may hold a drain in progress: such a VM is as unknown as one that did not answer.
        return None, "its records could not be read: " + ("; ".join(plain_values.texts(value.get("records_problems")))[:LONGEST] or "no reason given")
    records, problems = _records(value.get("records"), identity)
    problems = plain_values.texts(value.get("records_problems"))[:PROBLEMS] + problems[:PROBLEMS]
    if len(plain_values.items(value.get("replicas"))) > limits.COPIES:
        problems.append(f"it has {len(plain_values.items(value.get('replicas')))} copies of other VMs' records; only the first {limits.COPIES} are read")
    vm_now = timestamps.parse(value.get("now"))
    uptime = plain_values.number(value.get("uptime_seconds"))
    if vm_now is None:
        return None, "the observation does not say the VM's time"
    return (
        Observation(
            vm_name=name,
            incarnation=plain_values.whole(value.get("document_incarnation")),
            listed=listed,
            forms={key: form(event) for key, event in listed.items()},
            identity=identity,
            spot=str(plain_values.mapping(value.get("identity")).get("priority") or "").lower() in ("spot", "low"),
            boot_id=plain_values.text(value.get("boot_id")),
            booted_at=None if uptime is None else vm_now - uptime,
            now=vm_now,
            enabled_at=timestamps.parse(value.get("enabled_at")),
            enabled_recently=bool(plain_values.flag(value.get("enabled_recently"))),
            in_service=plain_values.flag(value.get("in_service")),
            in_service_why=plain_values.text(value.get("in_service_why")),
            records=records,
            moved_at=max((record.history[-1][1] for record in records.values() if record.history), default=None),
            problems=tuple(problems),
            about=plain_values.mapping(value.get("identity")),
            replicas=tuple(_replicas(value.get("replicas"))),
            leases=tuple(lease for item in plain_values.items(value.get("leases")) if (lease := _lease(item))),
            marks=_marks(value.get("upgrades")),
            mark_digests=_mark_digests(value.get("upgrades")),
            answered_at=timestamps.parse(value.get("answered_at")),
            watcher=_watcher(value.get("watcher")),
            system=plain_values.text(value.get("system")),
            tombstones=_tombstones(value.get("tombstones"), identity),
        ),
        None,
    )


def _watcher(value: Any) -> Watcher | None:
    if not isinstance(value, Mapping):
        return None
    dropped = plain_values.whole(value.get("messages_dropped"))
    return Watcher(plain_values.number(value.get("age_seconds")), plain_values.text(value.get("problem")), dropped or 0)


def _listed_events(observation: Mapping[str, Any]) -> tuple[dict[str, Mapping[str, Any]] | None, str | None]:
    """Return the events of an observation by their ids in lower case, or None and why they cannot be used."""
    events = observation.get("events")
    if not isinstance(events, Sequence) or isinstance(events, (str, bytes)):
        return None, "the observation has no list of events"
    if (passed := _limits_passed(observation)) is not None:
        return None, passed
    listed: dict[str, Mapping[str, Any]] = {}
    for event in events:
        event_id = plain_values.mapping(event).get("event_id")
        if not isinstance(event_id, str) or not event_id.strip():
            return None, "the observation lists an event without an id"
        key = str.__str__(event_id).strip().lower()
        if len(key) > limits.TEXT:
            return None, f"the observation lists an event whose id has more than {limits.TEXT} characters"
        if key.startswith(UPGRADE):
            return None, f"the observation lists an event whose id begins with {UPGRADE!r}, as only the records of upgrades do"
        listed[key] = plain_values.plain(event)
    return listed, None


LIMITS = (
    ("events", limits.EVENTS, "events"),
    ("records", limits.RECORDS, "records"),
    ("leases", limits.LEASES, "leases"),
    ("upgrades", limits.MARKS, "progress marks of upgrades"),
)


def _limits_passed(observation: Mapping[str, Any]) -> str | None:
    """Return which limit the observation exceeds, or None. Reading a part of it would hide the rest."""
    for key, limit, noun in LIMITS:
        count = len(plain_values.items(observation.get(key)))
        if count > limit:
            return f"it has {count} {noun}, and no VM has more than {limit}; look at the VM and its records"
    return None


def form(event: Mapping[str, Any]) -> Form:
    """Return what distinguishes versions of an event: all its fields, because a policy may use any."""
    return (repr(event),)


def _marks(value: Any) -> dict[str, str]:
    """Parse progress marks. Unknown mark states count as begun."""
    given = [plain_values.mapping(item) for item in plain_values.items(value)]
    marks = [(plain_values.text(mark.get("name")), plain_values.text(mark.get("state"))) for mark in given]
    return {name: state if state in ("upgraded", "left", "done") else "begun" for name, state in marks if name is not None}


def _mark_digests(value: Any) -> dict[str, str]:
    given = [plain_values.mapping(item) for item in plain_values.items(value)]
    found = [(plain_values.text(mark.get("name")), plain_values.text(mark.get("digest"))) for mark in given]
    return {name: digest for name, digest in found if name is not None and digest is not None}


def _identity(value: Any, name: str | None) -> Identity:
    given = plain_values.mapping(value)

    def lower(key: str) -> str | None:
        found = plain_values.text(given.get(key))
        return found.strip().lower() if found else None

    own = (name or "").strip().lower() or lower("name")
    return Identity(own, lower("resource_group"), lower("subscription_id"), lower("vm_id"), lower("scale_set"))


EVENT_READERS: Mapping[str, Callable[[Any], Any]] = {
    "id": plain_values.text,
    "text": plain_values.text,
    "names": plain_values.texts,
    "time": plain_values.text,
    "whole": plain_values.whole,
}


def read_event(value: Any) -> Event | None:
    """Parse an event of a document or a record, or return None."""
    given = plain_values.mapping(value)
    event_id = plain_values.text(given.get("event_id"))
    if event_id is None:
        return None
    # The raw event stays, for policies that use fields unknown to this collection.
    values = plain_values.plain(given)
    values.update({key: EVENT_READERS[field.kind](given.get(key)) for key, field in document.EVENT_FIELDS.items()})
    return Event(event_id.strip().lower(), values, tuple(values["resources"]), timestamps.parse(values["not_before"]))


def _records(value: Any, identity: Identity) -> tuple[dict[str, Record], list[str]]:
    records: dict[str, Record] = {}
    problems = []
    for item in plain_values.items(value):
        record = read_record(item)
        if record is None:
            problems.append("a record without an event, or in an unknown phase, was left alone")
            continue
        owner = plain_values.text(plain_values.mapping(item).get("vm_id"))
        if owner and identity.vm_id and owner.lower() != identity.vm_id:
            problems.append(f"the record of event {record.event.event_id[:SHOWN]} belongs to VM {owner}; it was left alone")
            continue
        records[record.event.key] = record
    return records, problems


def _replicas(value: Any) -> list[Replica]:
    found = []
    for item in plain_values.items(value)[: limits.COPIES]:
        given = plain_values.mapping(item)
        vm, record = plain_values.text(given.get("vm")), read_record(given.get("record"))
        if vm is not None and record is not None:
            vm_id = plain_values.text(given.get("vm_id"))
            keeper = plain_values.text(given.get("keeper_vm_id"))
            found.append(Replica(vm, vm_id.lower() if vm_id else None, record, keeper.lower() if keeper else None))
    return found


def _tombstones(value: Any, identity: Identity) -> frozenset[str]:
    """Return the ids of events that are over for this VM. Skip tombstones of another VM, which came with an image."""
    given = [plain_values.mapping(item) for item in plain_values.items(value)]
    ids = [(plain_values.text(one.get("event_id")), plain_values.text(one.get("vm_id"))) for one in given]
    own = [event_id for event_id, owner in ids if event_id is not None and (owner is None or identity.vm_id in (None, owner.lower()))]
    return frozenset(event_id.strip().lower() for event_id in own)


# How the planner reads each kind of key; event, phase, history, methods and decision have readers of their own.
READERS: Mapping[str, Callable[[Any], Any]] = {
    "text": plain_values.text,
    "time": timestamps.parse,
    "whole": plain_values.whole,
    "object": lambda value: plain_values.plain(plain_values.mapping(value)),
    "texts": lambda value: tuple(plain_values.texts(value)),
}
# Of the keys of a record those that the planner uses.
USED = {field.name for field in fields(Record)}
PLAIN = {key: READERS[kind] for key, kind in record_schema.RECORD_KINDS.items() if key in USED and kind in READERS}


def read_record(value: Any) -> Record | None:
    """Parse a record, or return None."""
    given = plain_values.mapping(value)
    event = read_event(given.get("event"))
    phase = plain_values.text(given.get("phase"))
    if event is None or phase not in transitions.PHASES:
        return None
    return Record(
        event=event,
        phase=phase,
        history=_history(given.get("history")),
        methods=tuple(_method(item) for item in plain_values.items(given.get("methods"))[: limits.METHODS]),
        overrides=_overrides(given.get("decision")),
        **{key: read(given.get(key)) for key, read in PLAIN.items()},
    )


def _lease(value: Any) -> Lease | None:
    given = plain_values.mapping(value)
    name, run = plain_values.text(given.get("name")), plain_values.text(given.get("run"))
    if name is None or run is None:
        return None
    return Lease(
        name=name,
        run=run,
        digest=plain_values.text(given.get("digest")) or "",
        event_id=plain_values.text(given.get("event_id")),
        kind=plain_values.text(given.get("kind")) or "events",
        who=plain_values.text(given.get("who")),
        groups={str(key): str(found) for key, found in plain_values.mapping(given.get("groups")).items()},
        limit=timestamps.parse(given.get("limit")),
        made_at=timestamps.parse(given.get("made_at")),
        expired=plain_values.flag(given.get("expired")) is True,
    )


def _history(value: Any) -> tuple[tuple[str, float], ...]:
    entries = []
    for item in plain_values.items(value):
        phase, at = plain_values.text(plain_values.mapping(item).get("phase")), timestamps.parse(plain_values.mapping(item).get("at"))
        if phase in transitions.PHASES and phase is not None and at is not None:
            entries.append((phase, at))
    return tuple(entries)


def _method(value: Any) -> Method:
    given = plain_values.mapping(value)
    state = plain_values.text(given.get("state")) or "found"
    return Method(
        identifier=plain_values.text(given.get("id")) or "?",
        method=plain_values.text(given.get("method")) or "?",
        # One in an unknown state may have acted, as the VM's own store reads it.
        state=state if state in record_schema.METHOD_STATES else "begun",
        error=plain_values.text(given.get("error")),
        boot_id=plain_values.text(given.get("boot_id")),
        before=plain_values.plain(given.get("before")),
        outside=bool(plain_values.flag(given.get("outside"))),
        options=plain_values.plain(given.get("options")),
    )


def _overrides(value: Any) -> tuple[Override, ...]:
    """Return the overrides of a record, newest first."""
    if value is None:
        return ()
    given = plain_values.mapping(value)
    return tuple(_override(item) for item in (value, *plain_values.items(given.get("beside"))))


def _override(value: Any) -> Override:
    given = plain_values.mapping(value)
    action, at, until = plain_values.text(given.get("action")), timestamps.parse(given.get("at")), timestamps.parse(given.get("until"))
    known = action == "release" or (until is not None and (action in STRICTEST or (action == "retire_vm" and plain_values.text(given.get("vm")) is not None)))
    who = plain_values.text(given.get("who")) or "an unknown operator"
    if at is None or not known or action is None:
        # Perhaps a newer version wrote it. To ignore it would be worse than to wait for an operator.
        return Override("hold", who, f"the override cannot be read: {plain_values.plain(value)!r}"[:300], float("inf"), float("inf"), None)
    return Override(action, who, plain_values.text(given.get("why")), at, until, plain_values.text(given.get("vm")))
