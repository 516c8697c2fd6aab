# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several events on one VM: nothing is put back while another event needs it drained, then the newest drain first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import Settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import EventState, Participant

SHOWN = 5


def arrange(event_states: Iterable[EventState], settings: Settings) -> None:
    """Let undo and recovery wait where they must."""
    by_host: dict[str, list[tuple[EventState, Participant]]] = defaultdict(list)
    for event_state in event_states:
        for participant in event_state.participants:
            if participant.intent != "none":
                by_host[participant.host.name].append((event_state, participant))
    for found in by_host.values():
        _one_host(found)
        _held_out(found)
        _overdue(found, settings)


def _keeps(participant: Participant) -> bool:
    if participant.intent in ("drain", "verify"):
        return True
    # A participant whose recovery waits for its retry needs nothing; it only has not been put back yet.
    return participant.intent == "stay" and participant.holds_changes and not participant.over


def _one_host(found: list[tuple[EventState, Participant]]) -> None:
    going_back = [(event_state, participant) for event_state, participant in found if participant.intent in ("undo", "recover")]
    if not going_back:
        return
    keepers = [event_state.event.event_id for event_state, participant in found if _keeps(participant)]
    if keepers:
        words = ", ".join(keepers[:SHOWN]) + (f" and {len(keepers) - SHOWN} more" if len(keepers) > SHOWN else "")
        for _case, participant in going_back:
            participant.reason = f"kept drained for {words}"
            participant.intent = "kept"
        return
    # What a later drain found and would put back is what the earlier one left: only newest first ends where it began.
    changed = sorted((participant for _case, participant in found if participant.holds_changes), key=_order, reverse=True)
    blocking = next((participant for participant in changed if not (participant.asleep and participant.intent == "stay")), None)
    for event_state, participant in going_back:
        if participant is not blocking:
            participant.intent = "kept"
            participant.reason = f"{event_state.event.event_id} is put back after what was drained later"


def _order(participant: Participant) -> int:
    return participant.record.order if participant.record else 0


def _held_out(found: list[tuple[EventState, Participant]]) -> None:
    """While a VM is out for one event, its health says nothing about the recovery from another."""
    if not any(participant.intent == "finish" for _case, participant in found):
        return
    out_for = [event_state for event_state, participant in found if participant.holds_changes or participant.intent == "drain"]
    for event_state, participant in found:
        other = next((other for other in out_for if other is not event_state), None)
        if participant.intent == "finish" and other is not None:
            participant.held_out = True
            if participant.reason:
                participant.reason = f"not in service yet: it is out for {other.event.event_id}"


def _overdue(found: list[tuple[EventState, Participant]], settings: Settings) -> None:
    """An undo that does not come to its end is reported; it is tried again all the same."""
    for _case, participant in found:
        since = participant.record.last("failed", "held") if participant.record else None
        if participant.intent == "undo" and since is not None and participant.look_now - since > settings.undo_seconds + settings.retry_pause:
            words = "; ".join(f"{method.method}: {method.error}" for method in participant.record.methods if method.error) if participant.record else ""
            participant.failed = f"what a failed drain changed could not be put back ({words or 'no reason given'})"
