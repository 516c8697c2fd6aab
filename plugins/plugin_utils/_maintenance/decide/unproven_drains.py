# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limit the drains of VMs whose own document proves nothing yet, for events that only other VMs list.

Right after Scheduled Events were enabled, a VM's own list is empty, so only the documents of other VMs name the event. Those may be
false. In a capacity group such a drain needs room like any other; VMs without a group drain one at a time.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace

from ..state.event_state import EventState, Participant, with_participants

# While one of them is drained, the next one is observed this often, in seconds.
CHECK = 15.0


def one_at_a_time(event_states: Iterable[EventState], grouped: Container[str]) -> list[EventState]:
    """Hold all but one of the VMs without a capacity group that would drain for an event that only other VMs list."""
    event_states = list(event_states)
    participants = [participant for event_state in event_states for participant in _unproven(event_state, grouped)]
    first = next((participant.host.name for participant in participants if participant.holds_changes), None)
    first = first or next((participant.host.name for participant in participants if participant.intent == "drain"), None)
    if first is None:
        return event_states
    return [
        with_participants(event_state, [_hold(participant, first) for participant in _unproven(event_state, grouped) if _waits(participant, first)])
        for event_state in event_states
    ]


def _unproven(event_state: EventState, grouped: Container[str]) -> list[Participant]:
    return [participant for participant in event_state.hit if participant.presumed and participant.ok and participant.host.name not in grouped]


def _waits(participant: Participant, first: str) -> bool:
    return participant.intent == "drain" and not participant.holds_changes and participant.host.name != first


def _hold(participant: Participant, first: str) -> Participant:
    text = f"only other VMs list it yet, and {first} goes first"
    return replace(participant, intent="none", hold=text, reason=text, wait=CHECK)
