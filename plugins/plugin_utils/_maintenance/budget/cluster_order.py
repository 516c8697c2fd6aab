# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Who begins to drain alone: one VM of a cluster in an iteration, and one of those that ask the same balancer, even where no room is needed.

Two that ask at the same moment whether others can do without them may both get a yes. The second one asks after the first has left.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace

from ..config import capacity_groups
from ..config.settings import Settings
from ..core.blocker import Blocker
from ..core.model import Host
from ..decide import deadlines
from ..state.event_state import EventState, with_participants
from ..state.participant import Participant


def one_begins(event_states: Iterable[EventState], settings: Settings) -> list[EventState]:
    """Let all but the first VM that asks at one place wait for the next iteration. A VM that cannot act now, for want of a lease, keeps no other waiting.

    The first is one that this pass has asked least often: a VM that is asked and never says that it drains, as one that lies, does not go first for ever.
    Of several it is one whose event another VM lists, too: one that made its event up and hangs would take much of the time before the others' deadlines.
    """
    served = list(event_states)
    clusters: dict[str, list[str]] = {}
    for group in settings.capacity:
        if capacity_groups.is_cluster(group):
            for member in group.members:
                clusters.setdefault(member, []).append(group.name)
    begin = [
        (one.host.drains_asked, not any(host.name != one.host.name for host in event_state.seen.listed_by), one.host, places)
        for event_state in served
        # What another run takes begins there, and keeps nothing waiting here.
        if event_state.ours
        for one in event_state.participants
        if _begins(one) and (places := _places(one, clusters, settings))
    ]
    first: dict[str, str] = {}
    waiting: set[str] = set()
    for _asked, _alone, host, places in sorted(begin, key=lambda one: one[:2]):
        if all(first.get(place, host.name) == host.name for place in places):
            first.update(dict.fromkeys(places, host.name))
        else:
            waiting.add(host.name)
    return [_serve(event_state, waiting, settings.check_interval) for event_state in served] if waiting else served


def _places(participant: Participant, clusters: dict[str, list[str]], settings: Settings) -> list[str]:
    """Return where a VM asks: in its clusters, and at its balancers, while it waits for an answer at all."""
    asks = not deadlines.goes_alone(participant, settings, comes=participant.coming)
    return [*clusters.get(participant.host.name, ()), *(_asked_at(participant.host) if asks else ())]


def _asked_at(host: Host) -> list[str]:
    return sorted({f"{target.kind} {place}" for target in host.targets for place in target.asked_at})


def _serve(event_state: EventState, waiting: Container[str], wait: float) -> EventState:
    late = [one for one in event_state.participants if one.host.name in waiting and _begins(one)]
    later = [replace(one, may_act=False, wait=wait if one.wait is None else min(wait, one.wait)) for one in late]
    return with_participants(event_state, later) if later else event_state


def _begins(participant: Participant) -> bool:
    return participant.intent == "drain" and participant.may_act and participant.ok and not _has_begun(participant)


def _has_begun(participant: Participant) -> bool:
    """Return whether nothing is left to ask. A method that has only found something, of a run that was killed, may have set nothing: it asks again."""
    record = participant.record
    return record is not None and record.phase == "draining" and not record.waits and all(method.state != "found" for method in record.methods)


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
