# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Who begins to drain alone: one VM of a cluster in an iteration, even where no room is needed: at a deadline, or when an operator approves.

Two that ask their cluster at the same moment whether it can do without them may both get a yes. The second one asks after the first has left.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace

from ..config import capacity_groups
from ..config.settings import Settings
from ..core.blocker import Blocker
from ..state.event_state import EventState, with_participants
from ..state.participant import Participant


def one_begins(event_states: Iterable[EventState], settings: Settings) -> list[EventState]:
    """Let all but the first VM of a cluster wait for the next iteration. A VM that cannot act now, for want of a lease, keeps no other waiting.

    The first is one that this pass has asked least often: a VM that is asked and never says that it drains, as one that lies, does not go first for ever.
    Of several it is one whose event another VM lists, too: one that made its event up and hangs would take much of the time before the others' deadlines.
    """
    served = list(event_states)
    groups: dict[str, list[str]] = {}
    for group in settings.capacity:
        if capacity_groups.is_cluster(group):
            for member in group.members:
                groups.setdefault(member, []).append(group.name)
    if not groups:
        return served
    begin = [
        (one.host.drains_asked, not any(host.name != one.host.name for host in event_state.seen.listed_by), one.host)
        for event_state in served
        for one in event_state.participants
        if one.host.name in groups and _begins(one)
    ]
    first: dict[str, str] = {}
    for _asked, _alone, host in sorted(begin, key=lambda one: one[:2]):
        if all(first.get(group, host.name) == host.name for group in groups[host.name]):
            first.update(dict.fromkeys(groups[host.name], host.name))
    return [_serve(event_state, groups, first, settings.check_interval) for event_state in served]


def _serve(event_state: EventState, groups: dict[str, list[str]], first: dict[str, str], wait: float) -> EventState:
    waiting = []
    for participant in event_state.participants:
        name = participant.host.name
        if name in groups and _begins(participant) and any(first.get(group) != name for group in groups[name]):
            waiting.append(replace(participant, may_act=False, wait=wait if participant.wait is None else min(wait, participant.wait)))
    return with_participants(event_state, waiting) if waiting else event_state


def _begins(participant: Participant) -> bool:
    return participant.intent == "drain" and participant.may_act and participant.ok and participant.phase != "draining"


# --- Drains for events that only other VMs list --------------------------------------------------------------------------
# Right after Scheduled Events were enabled, a VM's own list is empty, so only the documents of other VMs name the event. Those may be false. In a capacity
# group such a drain needs room like any other; VMs without a group drain one at a time.


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
        with_participants(
            event_state, [_hold_unproven(participant, first) for participant in _unproven(event_state, grouped) if _waits_for(participant, first)]
        )
        for event_state in event_states
    ]


def _unproven(event_state: EventState, grouped: Container[str]) -> list[Participant]:
    return [participant for participant in event_state.hit if participant.presumed and participant.ok and participant.host.name not in grouped]


def _waits_for(participant: Participant, first: str) -> bool:
    return participant.intent == "drain" and not participant.holds_changes and participant.host.name != first


def _hold_unproven(participant: Participant, first: str) -> Participant:
    blocker = Blocker("unproven", f"only other VMs list it yet, and {first} goes first", (first,), wait=CHECK)
    return replace(participant, intent="none", reason=None, blocker=blocker, wait=CHECK)
