# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Order the undo of several events on one VM: none while another event needs it drained, then the newest drain first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from ..._core.short_forms import some
from ..config.settings import Settings
from ..core.blocker import Blocker
from ..state.event_state import EventState, with_participants
from ..state.participant import Participant

SHOWN = 5


Pair = tuple[EventState, Participant]


def arrange(event_states: Iterable[EventState], settings: Settings) -> list[EventState]:
    """Return the event states, with the undo and recovery held that must wait."""
    event_states = list(event_states)
    by_host: dict[str, list[Pair]] = defaultdict(list)
    for event_state in event_states:
        for participant in event_state.participants:
            if participant.intent != "none":
                by_host[participant.host.name].append((event_state, participant))
    changed: dict[str, list[Participant]] = defaultdict(list)
    for pairs in by_host.values():
        for event_state, participant in _held_out(_one_host(pairs)):
            changed[event_state.key].append(_overdue(participant, settings))
    return [with_participants(event_state, changed[event_state.key]) for event_state in event_states]


def _keeps(participant: Participant) -> bool:
    if participant.intent in ("drain", "verify"):
        return True
    # A participant whose recovery waits for its retry does not need a drained VM; it is only not recovered yet.
    return participant.intent == "stay" and participant.holds_changes and not participant.over


def _goes_back(participant: Participant) -> bool:
    return participant.intent in ("undo", "recover")


def _one_host(pairs: list[Pair]) -> list[Pair]:
    """Keep a VM drained while another event needs that; else undo only its newest drain."""
    if not any(_goes_back(participant) for _event_state, participant in pairs):
        return pairs
    if keepers := [event_state.event.event_id for event_state, participant in pairs if _keeps(participant)]:
        kept = f"kept drained for {some(keepers, SHOWN)}"
        return [(event_state, replace(one, intent="kept", reason=kept) if _goes_back(one) else one) for event_state, one in pairs]
    # The findings of a later drain are the state that the earlier one left: only newest first restores the original state.
    holding = [participant for _event_state, participant in pairs if participant.holds_changes]
    changed = sorted(holding, key=_order, reverse=True)
    blocking = next((participant for participant in changed if not (participant.asleep and participant.intent == "stay")), None)
    return [(event_state, _after_later(event_state, one) if _goes_back(one) and one is not blocking else one) for event_state, one in pairs]


def _order(participant: Participant) -> int:
    return participant.record.order if participant.record else 0


def _after_later(event_state: EventState, participant: Participant) -> Participant:
    return replace(participant, intent="kept", reason=f"{event_state.event.event_id} is undone after later drains")


def _held_out(pairs: list[Pair]) -> list[Pair]:
    """Mark participants that cannot finish: while a VM is drained for one event, its health proves nothing about recovery from another."""
    out_for = [event_state for event_state, participant in pairs if participant.holds_changes or participant.intent == "drain"]
    found = []
    for event_state, participant in pairs:
        other = next((other for other in out_for if other.key != event_state.key), None)
        if participant.intent == "finish" and other is not None:
            reason = f"waiting for recovery: it is out for {other.event.event_id}" if participant.reason else participant.reason
            participant = replace(participant, held_out=True, reason=reason)
        found.append((event_state, participant))
    return found


def _overdue(participant: Participant, settings: Settings) -> Participant:
    """Report an undo that takes too long; it is still retried."""
    record = participant.record
    since = record.last("failed", "held") if record else None
    if record is None or since is None or participant.intent != "undo" or participant.observed_at - since <= settings.undo_seconds + settings.retry_pause:
        return participant
    text = "; ".join(f"{method.kind}: {method.error}" for method in record.methods if method.error)
    text = f"what a failed drain changed could not be put back ({text or 'no reason given'})"
    return replace(participant, failed=Blocker("failed", text, (participant.host.name,)))
