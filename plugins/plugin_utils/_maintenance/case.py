# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A case: one event, the VMs it hits, and what is known about each. Facts only; what to do about them is decided elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance import deciding, going_on
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.model import Event, Host, Record, Word
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.policy import Decision, Policy, strictest
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.seen import Seen, merge, present_versions
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.settings import CLOCK_TOLERANCE, Settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.who import Directory, Named


@dataclass(slots=True)
class Part:
    """One VM's part in one event."""

    host: Host
    record: Record | None
    named: bool
    """Whether the event names it. A VM with a record that is not named any more still has something to put back."""
    absence: going_on.Absence
    intent: str = "none"
    """What this VM needs next: none, drain, verify, stay, undo, recover, finish (parts.py) or kept (undoing.py)."""
    reason: str | None = None
    hold: str | None = None
    """Why it is held, in words that do not change with time: they are written to the record."""
    wait: float | None = None
    """Seconds until a look is useful."""
    asleep: bool = False
    """Nothing will be done for it however long somebody waits."""
    held_out: bool = False
    """Whether another event keeps the VM out of service."""
    failed: str | None = None
    """Why it was mishandled."""
    may_act: bool = True
    """Whether this run has claimed what it must have claimed for this VM's next act (claiming.py)."""
    intends: bool = False
    """Whether it is to be noted now that the event is about to be approved."""

    @property
    def look_now(self) -> float:
        """The VM's own time at the look."""
        return self.host.look.now if self.host.look else 0.0

    @property
    def ok(self) -> bool:
        """Whether it was seen in this look."""
        return self.host.ok

    @property
    def listed(self) -> bool:
        """Whether its own document has the event."""
        return self.absence.listed

    @property
    def phase(self) -> str | None:
        """Its recorded phase."""
        return self.record.phase if self.record else None

    @property
    def over(self) -> bool:
        """Whether the event is gone for this VM: now, or concluded earlier and not listed again."""
        return self.ok and (self.absence.gone or (not self.listed and self.record is not None and self.record.outcome is not None))

    @property
    def failed_live(self) -> bool:
        """Whether its drain failed while the event goes on."""
        return self.ok and not self.over and self.phase == "failed"

    @property
    def holds_changes(self) -> bool:
        """Whether something on it is changed for this event."""
        return self.record is not None and self.record.needs_undo


@dataclass(slots=True)
class Case:
    """One event and all that is known about it."""

    seen: Seen
    event: Event
    named: Named
    decision: Decision
    """What the policy says, or a person instead."""
    parts: list[Part]
    started: bool
    approved_at: float | None
    left: float | None
    """Seconds until NotBefore; nothing where there is no such time."""
    ours: bool
    """Whether this run may act on it (only_events)."""
    rule: Decision
    """What the policy says; the records keep it."""
    word: Word | None = None
    """What a person said about it, as long as it holds (deciding.py)."""
    retired: tuple[str, ...] = ()
    """VMs that it names and for which nobody waits any more."""
    blockers: list[str] = field(default_factory=list)
    """Why it cannot be approved whatever the drains do."""
    hold: str | None = None
    """The blocker that only a person can lift; it is written to the records."""
    full: str | None = None
    """Which capacity group has no room for it, and who is out (fitting.py)."""
    beyond_capacity: bool = False
    """Whether it drains at its deadline although there is no room."""
    approver: str | None = None
    claimed: str | None = None
    """Which other run is at work on its VMs (claiming.py)."""
    waits_for: str | None = None
    """What its approval waits for, where nothing blocks it."""

    @property
    def key(self) -> str:
        """The event's id in lower case."""
        return self.event.key

    @property
    def listed(self) -> bool:
        """Whether any VM's present document has it."""
        return self.seen.listed

    @property
    def hit(self) -> list[Part]:
        """The managed VMs that it names."""
        return [part for part in self.parts if part.named]

    @property
    def approved(self) -> bool:
        """Whether anybody of us approved it."""
        return self.approved_at is not None

    @property
    def intended(self) -> bool:
        """Whether anybody of us was about to approve it: the request may have been sent, or be on its way still."""
        return any(part.record is not None and part.record.approving_at is not None and part.record.outcome is None for part in self.parts)

    @property
    def coming(self) -> bool:
        """Whether it may begin any moment: nothing is put back any more, and what is to be drained is drained now."""
        return self.started or self.approved or self.intended


def open_case(seen: Seen, directory: Directory, policy: Policy, settings: Settings, now: float, word: Word | None = None) -> Case:
    """Put together what is known about an event."""
    event = merge(seen)
    named = directory.resolve(event.resources, seen.scopes)
    hosts = {host.name: host for host in named.hosts}
    others = [host for host in seen.remembered_by if host.name not in hosts and not _only_carries(host, seen.key)]
    parts = [_part(seen, host, True, settings) for host in named.hosts if host.state != "retired"] + [_part(seen, host, False, settings) for host in others]
    records = [part.record for part in parts if part.record]
    # An event never goes back from Started; a VM whose document lags behind does not undo that.
    started = event.started or any(record.started_at is not None for record in records)
    rule = _fixed(strictest(policy.decide(version.values) for version in present_versions(seen)), parts)
    return Case(
        seen=seen,
        event=event,
        named=named,
        decision=deciding.effective(rule, word),
        parts=parts,
        started=started,
        approved_at=max((record.approved_at for record in records if record.approved_at is not None), default=None),
        left=None if started or event.not_before is None else event.not_before - now,
        ours=not settings.only_events or event.key in settings.only_events,
        rule=rule,
        word=word,
        retired=tuple(host.name for host in named.hosts if host.state == "retired"),
    )


def _only_carries(host: Host, key: str) -> bool:
    """A record on a VM that the event does not hit, there only for what a person said."""
    look = host.look or host.last_look
    return look is not None and look.records[key].only_carries


def _part(seen: Seen, host: Host, named: bool, settings: Settings) -> Part:
    look = host.look or host.last_look
    record = look.records.get(seen.key) if look else None
    return Part(host, record, named, going_on.absence(seen, host, record, settings))


def _fixed(decision: Decision, parts: list[Part]) -> Decision:
    """Policy decides before draining only: what is drained stays under the rule it was drained by."""
    fixed = []
    for part in parts:
        rule = part.record.rule if part.record and part.record.needs_undo and not part.over else {}
        if isinstance(rule.get("drain"), bool) and rule.get("approve") in ("never", "after_drain", "now"):
            name = str(rule.get("name") or "the rule it was drained by")
            # When it may be approved, and what an unreachable VM counts as, change nothing that is drained.
            fixed.append(replace(decision, name=name, drain=rule["drain"], approve=rule["approve"], problem=None))
    return strictest(fixed) if fixed else decision


def clock_offset(host: Host, now: float) -> float:
    """What to add to the controller's time to get this VM's; small differences are the observation's own duration."""
    difference = host.look.now - now if host.look else 0.0
    return difference if abs(difference) > CLOCK_TOLERANCE else 0.0
