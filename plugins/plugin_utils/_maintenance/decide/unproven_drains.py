# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drains of VMs whose own document proves nothing yet, for events that only others list.

Where Scheduled Events were enabled just now the VM's own list is empty whatever is coming, so the others' word has to do. It may
be false. In a capacity group such a drain needs room as any other; VMs without a group go one at a time.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import EventState, Participant

# While one of them is drained the next one is looked at this often.
CHECK = 15.0


def one_at_a_time(event_states: Iterable[EventState], grouped: Container[str]) -> None:
    """Hold all but one of the VMs without a capacity group that would drain for what only others list."""
    participants = [
        participant
        for event_state in event_states
        for participant in event_state.hit
        if participant.presumed and participant.ok and participant.host.name not in grouped
    ]
    first = next((participant.host.name for participant in participants if participant.holds_changes), None)
    for participant in participants:
        if participant.intent != "drain" or participant.holds_changes:
            continue
        first = first or participant.host.name
        if participant.host.name != first:
            _hold(participant, first)


def _hold(participant: Participant, first: str) -> None:
    participant.intent = "none"
    participant.hold = participant.reason = f"only other VMs list it yet, and {first} goes first"
    participant.wait = CHECK
