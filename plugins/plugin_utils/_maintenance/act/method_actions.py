# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The actions of the drain methods: drain, undo and recover, each from the intent of a participant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._drain.records.replicas import asked_with
from ..budget import allocation
from ..config.settings import Settings
from ..core import timestamps
from ..core.actions import Drain, MethodAction, Recover, Undo
from ..core.model import Host
from ..decide import deadlines, leases
from ..decide.leases import Leases
from ..state.event_state import EventState
from ..state.participant import Participant


class MethodActions:
    """Make the actions of the drain methods, and number the drains of each VM: the drain with the highest number is undone first."""

    def __init__(self, hosts: Iterable[Host], board: Leases, settings: Settings, now: float) -> None:
        self._leased = [host for host in hosts if any(not lease.expired for lease in board.others.get(host.name, ()))]
        self._settings = settings
        self._now = now
        self._last_order: dict[str, int] = {}

    def of(self, event_state: EventState, participant: Participant) -> MethodAction | None:
        """Return the action that the intent of a participant asks for, or None."""
        if not participant.may_act:
            return None
        if participant.intent in ("drain", "verify"):
            return self._drain(event_state, participant)
        if participant.intent in ("undo", "recover"):
            kind = Undo if participant.intent == "undo" else Recover
            continues = participant.phase == "recovering" or self._is_under_way(participant)
            return kind(**self._common(participant), continues=continues)
        return None

    def _common(self, participant: Participant) -> dict[str, Any]:
        record = participant.record
        return {
            "host": participant.host.name,
            "event_id": record.event.event_id if record else participant.event.event_id,
            "lease": leases.token(self._settings),
            "reason": participant.why or f"{participant.event.event_type} {participant.event.event_id}",
        }

    def _drain(self, event_state: EventState, participant: Participant) -> Drain:
        begins = participant.phase != "draining" or participant.waits
        common = self._common(participant)
        # The event as this VM's own document has it: its drain methods and its record must not depend on what another VM answers.
        event = {key: value for key, value in participant.event.values.items() if key != "raw"}
        return Drain(
            **common,
            event={**event, "event_id": common["event_id"]},
            deadline=timestamps.form(deadlines.deadline(participant, self._settings, self._now, begins=begins)),
            rule=self._rule(participant),
            verify=participant.intent == "verify",
            continues=participant.phase == "draining" or self._is_under_way(participant),
            # One whose approval is only announced is still asked: what it says is told.
            must=deadlines.goes_alone(participant, self._settings, comes=participant.started or participant.approved),
            away=self._away(event_state, participant),
            serves=participant.host.serves,
        )

    def _away(self, event_state: EventState, participant: Participant) -> tuple[Mapping[str, Any], ...]:
        """Return the targets of VMs that do not count as serving where this VM's methods ask."""
        taken = [one.host for one in event_state.hit if not one.over and one.decision.drain]
        others = {host.name: host for host in (*taken, *self._leased) if host.name != participant.host.name}
        return asked_with(participant.host.targets, (target for host in others.values() for target in host.targets))

    def _rule(self, participant: Participant) -> dict[str, Any]:
        """Return the rule as the record keeps it, with the number of the drain."""
        rule = {**participant.rule.as_dict(), "order": self._order(participant)}
        if participant.beyond_capacity or (participant.holds_changes and allocation.beyond_by_record(participant)):
            rule |= {"beyond_capacity": True, **({allocation.WAS_OUT: True} if allocation.was_out(participant) else {})}
        return rule

    def _order(self, participant: Participant) -> int:
        """Return the number of a drain, kept until its undo. A VM takes its actions one after the other, so the numbers can be given now."""
        if participant.record is not None and participant.record.needs_undo:
            return participant.record.order
        name, observation = participant.host.name, participant.host.observation
        last = self._last_order.get(name) or max((record.order for record in observation.records.values()), default=0) if observation else 0
        self._last_order[name] = last + 1
        return last + 1

    def _is_under_way(self, participant: Participant) -> bool:
        """Return whether the record has had its phase for a while: an immediate observation would find nothing new."""
        history = participant.record.history if participant.record else ()
        return bool(history) and participant.observed_at - history[-1][1] > 2 * self._settings.check_interval
