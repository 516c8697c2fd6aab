# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Replicas of records on other VMs: choose their keepers, update them, and restore the records that a VM has lost.

Only drains with a method that changes something outside the VM have replicas: a load balancer keeps a server out of service, whatever happens to the VM.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..._drain.records.replicas import Kept, restore
from ..config.settings import Settings
from ..core import timestamps
from ..core.actions import MethodAction, Replicate, RestoreRecord
from ..core.model import Host, Observation, Record, Replica
from ..observe.reading import read_record
from ..state.event_state import EventState
from ..state.participant import Participant

LONGEST_ID = 200
# In one plan, for one VM.
MOST_RESTORED = 5
MOST_COPIED = 20
# On one keeper, of one VM. An event that is over has no replica, so an honest VM has a few.
MOST_KEPT = 50
# A VM with more records than this gets none back.
MOST_RECORDS = 50
NO_KEEPER = "no other VM can keep a copy of its record"


def with_restored(hosts: list[Host]) -> list[Host]:
    """Return the hosts with their lost records, restored from replicas so that drained VMs stay counted."""
    copies = _replicas_by_vm(hosts)
    return [_restored(host, copies[host.name]) if host.name in copies else host for host in hosts] if copies else hosts


def _replicas_by_vm(hosts: Iterable[Host]) -> dict[str, dict[str, list[tuple[Host, Replica]]]]:
    """Return the replicas by VM and event, from all good observations. A VM keeps no replica of its own records."""
    found: dict[str, dict[str, list[tuple[Host, Replica]]]] = defaultdict(lambda: defaultdict(list))
    for host in hosts:
        for replica in host.observation.replicas if host.observation else ():
            if replica.vm != host.name and _is_plain_id(replica.record.event.event_id):
                found[replica.vm][replica.record.event.key].append((host, replica))
    return found


def _is_plain_id(event_id: str) -> bool:
    return len(event_id) <= LONGEST_ID and event_id.isprintable()


def _counts(keeper: Host, replica: Replica, observation: Observation) -> bool:
    """Return whether a replica was written by its keeper. One without a keeper (1.3.1) counts for the machine whose record it is."""
    if replica.keeper_vm_id is not None:
        return keeper.observation is not None and replica.keeper_vm_id == keeper.observation.identity.vm_id
    return replica.vm_id is not None and replica.vm_id == observation.identity.vm_id


def _restored(host: Host, copies: Mapping[str, Sequence[tuple[Host, Replica]]]) -> Host:
    observation = host.observation
    if observation is None:
        return host
    lost: dict[str, Mapping[str, Any]] = {}
    problems: list[str] = []
    for key, kept in copies.items():
        if key in observation.records or key in observation.tombstones:
            continue
        if len(lost) >= MOST_RESTORED or len(observation.records) > MOST_RECORDS:
            # More than any VM loses: a keeper could fill the VM with records that it makes up.
            problems.append(f"copies on {kept[0][0].name} name more lost records than are restored; inspect {kept[0][0].name}")
            break
        back = restore(_kept(kept, observation), host.targets)
        event_id = kept[0][1].record.event.event_id
        problems += [f"its record of event {event_id} was lost: {text}" for text in back.disputes]
        if back.methods:
            lost[key] = _values(event_id, back.methods, observation)
    if not lost and not problems:
        return host
    records = {key: record for key, values in lost.items() if (record := read_record(values)) is not None}
    observation = replace(observation, records={**observation.records, **records}, problems=(*observation.problems, *problems))
    return replace(host, observation=observation, restores=lost)


def _kept(copies: Iterable[tuple[Host, Replica]], observation: Observation) -> Iterator[Kept]:
    for keeper, replica in copies:
        if _counts(keeper, replica, observation):
            for method in replica.record.methods:
                if method.outside and method.state != "undone" and method.before is not None:
                    yield Kept(keeper.name, method.identifier, method.kind, method.before)


def _values(event_id: str, methods: Iterable[Mapping[str, Any]], observation: Observation) -> dict[str, Any]:
    """Return the record that is written back, of typed parts. Nothing else of a replica reaches the VM, only what was changed outside the VM.

    It begins now, so that it counts as newer than the replicas that it came from.
    """
    began = timestamps.form(observation.now)
    return {
        "event": {"event_id": event_id, "resources": [observation.vm_name] if observation.vm_name else []},
        "phase": "draining",
        "history": [{"phase": "draining", "at": began}],
        "methods": [{**method, "state": "begun", "at": began, "outside": True} for method in methods],
    }


def restoring(participant: Participant) -> RestoreRecord | None:
    """Return the action that restores a lost record, or None. Nothing else is done for the event before the record is restored."""
    return restoring_of(participant.host, participant.record.event.key) if participant.record and participant.ok else None


def restoring_of(host: Host, key: str) -> RestoreRecord | None:
    """Return the action that restores the record of one event of a VM, or None."""
    values = host.restores.get(key)
    if host.observation is None or values is None:
        return None
    return RestoreRecord(
        host=host.name,
        event_id=host.observation.records[key].event.event_id,
        restore=dict(values),
        reason="its record was lost; a replica on another VM has what was changed outside it",
    )


class Keepers:
    """Choose the keeper of each replica."""

    def __init__(self, event_states: Iterable[EventState], hosts: Iterable[Host], settings: Settings) -> None:
        self._hosts = [host for host in hosts if host.ok]
        self._host = {host.name: host for host in self._hosts}
        self._place = {host.name: place for place, host in enumerate(self._hosts)}
        self._groups = settings.capacity
        self._hit = {participant.host.name for event_state in event_states for participant in event_state.participants}
        self._copies: dict[tuple[str, str], dict[str, Replica]] = defaultdict(dict)
        self._kept: dict[tuple[str, str], int] = defaultdict(int)
        for host in self._hosts:
            for replica in host.observation.replicas if host.observation else ():
                self._copies[replica.vm, replica.record.event.key][host.name] = replica
                self._kept[replica.vm, host.name] += 1

    def of(self, event_state: EventState, participant: Participant) -> str | None:
        """Return a keeper that this event does not hit, or None. A present keeper goes first, then a VM that no event hits."""
        hit = {other.host.name for other in event_state.participants} | {participant.host.name}
        for avoided in (self._hit | hit, hit):
            for name in self._candidates(event_state, participant.host.name):
                if name not in avoided and not self._is_full(name, event_state, participant):
                    return name
        return None

    def _is_full(self, keeper: str, event_state: EventState, participant: Participant) -> bool:
        """Return whether the keeper has as many replicas of this VM as it takes. A replica that it has already is still updated."""
        has_it = keeper in self._copies.get((participant.host.name, event_state.key), {})
        return not has_it and self._kept[participant.host.name, keeper] >= MOST_KEPT

    def _candidates(self, event_state: EventState, vm: str) -> Iterator[str]:
        yield from self._copies.get((vm, event_state.key), ())
        for group in self._groups:
            if vm in group.members:
                yield from (name for name in group.members if name in self._host)
        # Start at a different VM for each host, so that replicas spread over many.
        count, start = len(self._hosts), self._place.get(vm, -1) + 1
        yield from (self._hosts[(start + step) % count].name for step in range(count))

    def add_to(self, event_state: EventState, participant: Participant, action: MethodAction) -> MethodAction:
        """Return the action with the keeper of its record's replica, if it needs one."""
        if not changes_outside(participant):
            return action
        keeper = self.of(event_state, participant)
        return replace(action, keeper=keeper, reason=action.reason if keeper else f"{action.reason}; {NO_KEEPER}")

    def involved(self, event_states: Iterable[EventState]) -> set[str]:
        """Return the VMs that must be observed, because they keep a replica or will keep one."""
        found: set[str] = set()
        for event_state in event_states:
            for participant in event_state.participants:
                if participant.ok and changes_outside(participant):
                    found.update(self._copies.get((participant.host.name, event_state.key), ()), filter(None, [self.of(event_state, participant)]))
        return found

    def actions(self, event_states: Iterable[EventState]) -> list[Replicate]:
        """Return the actions for replicas that are missing, out of date, or not needed any more. A drain writes its own replica; these are the others."""
        found = []
        copied: dict[str, int] = defaultdict(int)
        for event_state in event_states:
            if not event_state.ours:
                continue
            for participant in event_state.participants:
                record = participant.record
                if record is None or not participant.ok or restoring(participant):
                    continue
                if copied[participant.host.name] >= MOST_COPIED:
                    continue  # a VM that makes records up must not fill another VM
                copies = self._copies.get((participant.host.name, event_state.key), {})
                if record.phase == "recovered":
                    found += [_replicate(participant, record, name, "it is over, and no replica is needed") for name in copies]
                elif any(method.outside and method.state != "undone" for method in record.methods):
                    keeper = self.of(event_state, participant)
                    copied[participant.host.name] += 1
                    if keeper and not any(_is_current(self._host[name], copy, record) for name, copy in copies.items()):
                        found.append(_replicate(participant, record, keeper, "its record needs a replica"))
        return found


def changes_outside(participant: Participant) -> bool:
    """Return whether the participant changes something outside the VM, now or later. A method that failed before it found anything may do so in a retry."""
    return participant.host.outside or (participant.record is not None and any(method.outside for method in participant.record.methods))


def _is_current(keeper: Host, copy: Replica, record: Record) -> bool:
    """Return whether a replica has the same methods and states as the record, and the right keeper; the rest is in no replica."""
    if keeper.observation is not None and copy.keeper_vm_id != keeper.observation.identity.vm_id:
        return False
    return _changed(copy.record) == _changed(record)


def _changed(record: Record) -> set[tuple[str, str]]:
    return {(method.identifier, method.state) for method in record.methods if method.outside}


def _replicate(participant: Participant, record: Record, keeper: str, reason: str) -> Replicate:
    return Replicate(host=keeper, event_id=record.event.event_id, vm=participant.host.name, reason=f"{participant.host.name}: {reason}")
