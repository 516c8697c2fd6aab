# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Restarts that the upgrade itself ordered through Azure: they return as events with source User, and need not wait 15 minutes.

Such an event is the upgrade's own if all VMs that it affects are drained under the upgrade's lease. Then it interrupts no user, whatever its origin.
"""

from __future__ import annotations

from typing import Any

from ....module_utils._scheduled_events.core.types import Data
from ....module_utils._scheduled_events.lease.lease_schema import event_digest
from .. import planner as planning
from ..config import settings as settings_module
from ..core.model import Event
from ..decide import intents, leases
from ..decide.leases import Leases
from ..state.event_state import EventState
from . import gate_request
from .gate_request import GateRequest


def own_events(observations: Any, ask: Any, settings: Any = None, now: Any = None) -> list[Data]:
    """Return every scheduled event with source User, with the VMs to approve it for or the reason not to."""
    asked = gate_request.load(ask)
    chosen = settings_module.load(settings)
    observed_state = planning.observe(observations, "default", chosen, now)
    board = leases.read(observed_state.hosts, chosen, observed_state.now)
    drained = _drained(observed_state.event_states, board, asked)
    found = []
    for event_state in observed_state.event_states:
        if event_state.key == asked.lease_id.lower() or not all(map(_is_users, [participant.event for participant in event_state.hit] or [event_state.event])):
            continue
        if not event_state.listed or event_state.started or event_state.approved:
            continue
        why = _why_not(event_state, board, drained)
        lister = next((host.name for host in event_state.seen.listed_by if host.name in drained), None)
        found.append(
            {
                "event_id": event_state.event.event_id,
                "approve": why is None and lister is not None,
                "host": lister,
                "approve_for": list(event_state.event.resources),
                "hosts": [participant.host.name for participant in event_state.hit],
                "event": event_state.event.for_record(),
                "why": why if why is not None or lister is not None else "no VM that is drained for the upgrade lists it yet",
            }
        )
    return found


def _drained(event_states: list[EventState], board: Leases, ask: GateRequest) -> set[str]:
    """Return the VMs that this upgrade has drained in their present boot, and that this run holds a lease on."""
    digest = event_digest(ask.lease_id)
    return {
        participant.host.name
        for event_state in event_states
        if event_state.key == ask.lease_id.lower()
        for participant in event_state.participants
        if participant.ok and intents.drained_now(participant) and digest in board.own.get(participant.host.name, {})
    }


def _is_users(event: Event) -> bool:
    """Return whether a VM's own document reports the event as user-initiated."""
    return str(event.values.get("event_source") or "").lower() == "user"


def _why_not(event_state: EventState, board: Leases, drained: set[str]) -> str | None:
    if event_state.divided or event_state.contradicted:
        return event_state.conflict or f"{', '.join(event_state.contradicted) or 'its VMs'} contradict each other about it"
    if others := [*event_state.named.unmanaged, *event_state.named.unsure, *event_state.retired]:
        return f"it also names {', '.join(others)}, which this upgrade has not drained"
    if not event_state.hit:
        return "it names no managed VM"
    if missing := [participant.host.name for participant in event_state.hit if participant.host.name not in drained]:
        return f"{', '.join(missing)} is not drained under this upgrade's lease"
    other = leases.at_work(board, [participant.host.name for participant in event_state.hit])
    return other.text if other else None
