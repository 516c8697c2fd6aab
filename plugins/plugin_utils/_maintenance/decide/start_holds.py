# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Decide what a pause and a start gate hold: all that begins before its deadline. What was begun goes on, and so do undo and recovery."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace

from ..config.settings import Settings
from ..core.blocker import Blocker
from ..state import overrides
from ..state.event_state import EventState
from ..state.participant import Participant
from . import deadlines


def find(event_state: EventState, settings: Settings, now: float) -> Blocker | None:
    """Return what holds the event until its deadline, or None. A pause holds before a start gate, which is not asked then."""
    decision = event_state.decision
    if not event_state.listed or (not decision.drain and decision.approve == "never"):
        return None
    if settings.paused is not None and settings.paused.holds(now):
        return settings.paused.hold
    # The operator who approves an event has answered for the gate.
    if settings.start_gate is None or overrides.is_approval(event_state.override):
        return None
    # An approval after a drain is no beginning: its VMs are out of service already, and would only be so for longer.
    # Nor is one that the records have announced: the request may be on its way.
    return replace(settings.start_gate, holds_approval=not decision.drain and not event_state.coming)


def beginnings(event_states: Iterable[EventState], approved: Container[str], settings: Settings) -> list[str]:
    """Return the ids of the events for which this plan begins something that a start gate is asked about. C(approved) are keys of events."""
    return [
        event_state.event.event_id
        for event_state in event_states
        if event_state.ours
        and (
            any(_begins(participant, settings) for participant in event_state.participants)
            or (event_state.key in approved and _begins_by_approval(event_state))
        )
    ]


def _begins(participant: Participant, settings: Settings) -> bool:
    """Return whether a drain begins that could still wait. A drain that was begun goes on, but not one that has failed: its retry begins anew."""
    begun = participant.phase == "draining" and not participant.waits
    under_way = begun or (participant.holds_changes and participant.phase != "failed")
    return participant.intent == "drain" and not under_way and not deadlines.must_drain(participant, settings)


def _begins_by_approval(event_state: EventState) -> bool:
    """Return whether the approval is the first thing that is done for the event: without a drain, and not announced in the records yet."""
    return not event_state.decision.drain and not event_state.coming and not overrides.is_approval(event_state.override)
