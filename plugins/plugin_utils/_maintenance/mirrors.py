# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of records on other VMs: who keeps one, which are out of date, and what a VM that has lost its records gets back.

Only drains with a method that changes something outside the VM have copies: a load balancer keeps a server out, whatever
becomes of the VM.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.case import Case, Part
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.model import Host, Look, Mirror, Record
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.settings import Settings

NOBODY = "no other VM can keep a copy of its record"


def with_restored(hosts: list[Host]) -> list[Host]:
    """The hosts, with the records that they have lost as their copies have them: what is out goes on counting as out."""
    copies = _newest(hosts)
    return [_restored(host, copies[host.name]) if host.name in copies else host for host in hosts] if copies else hosts


def _newest(hosts: Iterable[Host]) -> dict[str, dict[str, Mirror]]:
    """By VM and event, from those who were looked at."""
    found: dict[str, dict[str, Mirror]] = defaultdict(dict)
    for host in hosts:
        for mirror in host.look.mirrors if host.look else ():
            present = found[mirror.vm].get(mirror.record.event.key)
            if present is None or _age(mirror) > _age(present):
                found[mirror.vm][mirror.record.event.key] = mirror
    return found


def _age(mirror: Mirror) -> tuple[float, int]:
    history = mirror.record.history
    return history[0][1] if history else 0.0, mirror.record.revision or 0


def _restored(host: Host, copies: Mapping[str, Mirror]) -> Host:
    look = host.look
    if look is None:
        return host
    lost = {key: values for key, mirror in copies.items() if key not in look.records and (values := _what_is_left(mirror, look))}
    if not lost:
        return host
    records = {**look.records, **{key: _as_lost(copies[key].record, values) for key, values in lost.items()}}
    return replace(host, look=replace(look, records=records), restores=lost)


def _what_is_left(mirror: Mirror, look: Look) -> Mapping[str, Any] | None:
    """What the VM gets back. A new VM of that name has nothing of the old one but what was changed outside it."""
    if not any(method.outside and method.state != "undone" for method in mirror.record.methods):
        return None
    values = dict(mirror.values)
    own = look.identity.vm_id
    if mirror.vm_id is None or own is None or mirror.vm_id == own:
        return values
    outside = {method.identifier for method in mirror.record.methods if method.outside}
    values["methods"] = [method for method in values.get("methods") or [] if method.get("id") in outside]
    return values


def _as_lost(record: Record, values: Mapping[str, Any]) -> Record:
    """What was verified before the loss holds no more: nothing is approved on it."""
    kept = {method.get("id") for method in values.get("methods") or []}
    methods = tuple(method for method in record.methods if method.identifier in kept)
    return replace(record, revision=None, verified_at=None, methods=methods)


def restoring(part: Part) -> dict[str, Any] | None:
    """The step that writes a lost record back. Nothing else is done for the event before it is there again."""
    return restoring_of(part.host, part.record.event.key) if part.record and part.ok else None


def restoring_of(host: Host, key: str) -> dict[str, Any] | None:
    """The same for the record of one event of a VM."""
    values = host.restores.get(key)
    if host.look is None or values is None:
        return None
    return {
        "host": host.name,
        "act": "note",
        "event_id": host.look.records[key].event.event_id,
        "changes": {},
        "stamp": [],
        "event": None,
        "restore": dict(values),
        "reason": "its record was lost; a copy on another VM has it",
        "continues": False,
        "expected_revision": 0,
    }


class Keepers:
    """Who keeps the copies."""

    def __init__(self, cases: Iterable[Case], hosts: Iterable[Host], settings: Settings) -> None:
        self._hosts = [host for host in hosts if host.ok]
        self._ok = {host.name for host in self._hosts}
        self._place = {host.name: place for place, host in enumerate(self._hosts)}
        self._groups = settings.capacity
        self._hit = {part.host.name for case in cases for part in case.parts}
        self._copies: dict[tuple[str, str], dict[str, Mirror]] = defaultdict(dict)
        for host in self._hosts:
            for mirror in host.look.mirrors if host.look else ():
                self._copies[mirror.vm, mirror.record.event.key][host.name] = mirror

    def of(self, case: Case, part: Part) -> str | None:
        """A VM that this event does not hit, if possible none at all; the one that has a copy already goes first."""
        hit = {other.host.name for other in case.parts} | {part.host.name}
        for avoided in (self._hit | hit, hit):
            for name in self._candidates(case, part.host.name):
                if name not in avoided:
                    return name
        return None

    def _candidates(self, case: Case, vm: str) -> Iterator[str]:
        yield from self._copies.get((vm, case.key), ())
        for group in self._groups:
            if vm in group.members:
                yield from (name for name in group.members if name in self._ok)
        # Not the first one for all: copies of many VMs lie on many.
        count, start = len(self._hosts), self._place.get(vm, -1) + 1
        yield from (self._hosts[(start + step) % count].name for step in range(count))

    def for_step(self, case: Case, part: Part, step: dict[str, Any]) -> dict[str, Any]:
        """The step of a role, with who keeps the copies of what it writes."""
        if not changes_outside(part):
            return step
        keeper = self.of(case, part)
        return {**step, "mirror": keeper, **({} if keeper else {"reason": f"{step['reason']}; {NOBODY}"})}

    def involved(self, cases: Iterable[Case]) -> set[str]:
        """Those who have to be looked at, because they keep a copy or will."""
        found: set[str] = set()
        for case in cases:
            for part in case.parts:
                if part.ok and changes_outside(part):
                    found.update(self._copies.get((part.host.name, case.key), ()), filter(None, [self.of(case, part)]))
        return found

    def steps(self, cases: Iterable[Case]) -> list[dict[str, Any]]:
        """Copies that are missing, behind, or not needed any more. A drain writes its own; this is for what it could not do."""
        found = []
        for case in cases:
            if not case.ours:
                continue
            for part in case.parts:
                record = part.record
                if record is None or not part.ok or restoring(part):
                    continue
                copies = self._copies.get((part.host.name, case.key), {})
                if record.phase == "recovered":
                    found += [_step(part, name, "it is over, and no copy is needed") for name in copies]
                elif any(method.outside and method.state != "undone" for method in record.methods):
                    keeper = self.of(case, part)
                    if keeper and not any(_is_current(copy.record, record) for copy in copies.values()):
                        found.append(_step(part, keeper, "its record needs a copy"))
        return found


def changes_outside(part: Part) -> bool:
    """Whether something outside the VM is changed for it, or will be."""
    return any(method.outside for method in part.record.methods) if part.record and part.record.methods else part.host.outside


def _is_current(copy: Record, record: Record) -> bool:
    """Whether it says the same of what is changed; the rest would be found out anew."""
    return {(method.identifier, method.state) for method in copy.methods} == {(method.identifier, method.state) for method in record.methods}


def _step(part: Part, keeper: str, reason: str) -> dict[str, Any]:
    record = part.record
    if record is None:
        raise AssertionError("only a part with a record gets here")
    return {
        "host": keeper,
        "act": "mirror",
        "event_id": record.event.event_id,
        "vm": part.host.name,
        "reason": f"{part.host.name}: {reason}",
        "continues": False,
    }
