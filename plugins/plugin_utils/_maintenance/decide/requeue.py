# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Decide when the next observation is due, and which VMs are watched until then."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..config.settings import Settings
from ..core.actions import Action, ReleaseLease
from ..core.model import Host
from ..state.event_state import EventState
from ..state.participant import Participant

WATCHED = 4
# Long actions are observed less and less often, up to this many seconds apart.
SLOWEST_CHECK = 30.0
# A VM that does not answer may come back any moment.
SILENT_CHECK = 15.0


@dataclass(frozen=True, slots=True)
class Requeue:
    """The time until the next observation, its reason, and the VMs to watch meanwhile."""

    done: bool
    seconds: float
    why: str
    watch: list[dict[str, Any]]
    confirms_in: float | None = None
    """Seconds until a second observation confirms the end of an event, so that a VM can be recovered; None if no VM waits for that."""

    meets_in: float | None = None
    """Seconds until the run looks again that has met another one; None if it has met none."""

    has_left_vms: bool = False
    """Whether VMs that no longer take part in this run have an event now, so that another run is due at once."""

    @property
    def next_look_in(self) -> int | None:
        """Return the whole seconds until the next run is due, at least 1, or None if nothing is left to do: then the schedule decides."""
        if self.has_left_vms:
            return 1
        return None if self.done else max(math.ceil(self.seconds), 1)


def decide(event_states: Sequence[EventState], hosts: Iterable[Host], actions: Sequence[Action], settings: Settings, meets_in: float | None = None) -> Requeue:
    """Return when the next observation is due, and why."""
    alive = [event_state for event_state in event_states if is_alive(event_state)]
    found = [(meets_in, "another run has acquired leases for the same at the same time")] if meets_in is not None else []
    for event_state in alive:
        if (left := event_state.left) is not None:
            found.append((max(left, 0.0) + 1.0, f"{event_state.event.event_id} may start"))
        found += [_participant(event_state, participant, settings) for participant in event_state.participants if not participant.asleep]
    if silent := [host.name for host in hosts if may_come_back(host)]:
        found.append((SILENT_CHECK, f"{', '.join(silent[:3])} did not answer"))
    confirms_in = _confirms_in(alive, settings)
    has_left = any(event_state.ours and event_state.listed and any(_has_left(one) for one in event_state.hit) for event_state in event_states)
    done = all(isinstance(action, ReleaseLease) for action in actions) and not alive and not silent
    if any(not action.continues for action in actions):
        return Requeue(done, 0.0, "actions are taken again that had no effect yet", _watch(alive), confirms_in, meets_in, has_left)
    seconds, why = min(found, default=(settings.longest_requeue, "nothing to wait for"))
    watch = _watch(alive)
    # All watch in parallel and end together: the news of one must not wait long for a VM without news.
    longest = settings.longest_requeue if len(watch) < 2 else min(settings.longest_requeue, SILENT_CHECK)
    seconds = max(min(seconds, longest), min(settings.check_interval, 0.5))
    return Requeue(done, round(seconds, 3), why, watch, confirms_in, meets_in, has_left)


def _confirms_in(alive: Iterable[EventState], settings: Settings) -> float | None:
    """Return the seconds until the end of an event is confirmed for a VM that holds changes. Longer waits, as for other VMs that list it, do not count."""
    waits = [
        participant.presence.wait
        for event_state in alive
        for participant in event_state.participants
        if participant.ok and participant.holds_changes and participant.presence.wait is not None and not participant.presence.enabling
    ]
    # As in presence.py, which adds a tenth of a second.
    return min((wait for wait in waits if wait <= settings.gone_seconds + 1.0), default=None)


def _has_left(participant: Participant) -> bool:
    return participant.host.state == "resting" and not participant.has_ended


def is_alive(event_state: EventState) -> bool:
    """Return whether an event still needs actions or observations."""
    return event_state.ours and any(
        not participant.asleep and (participant.named or participant.record is not None) for participant in event_state.participants
    )


def may_come_back(host: Host) -> bool:
    """Return whether a VM that this run had reached, and that no longer answers, has unfinished records.

    One that takes no part any more was not asked.
    """
    if not host.unread or not host.reached_before or host.state == "resting":
        return False
    before = host.last_observation
    if before is None:
        return True
    return any(record.phase != "recovered" and not record.ended_the_vm for record in before.records.values())


def _participant(event_state: EventState, participant: Participant, settings: Settings) -> tuple[float, str]:
    name = participant.host.name
    if not participant.ok:
        return SILENT_CHECK, f"{name} did not answer"
    if participant.wait is not None:
        return participant.wait, participant.why or f"{name} is observed again"
    history = participant.record.history if participant.record else ()
    age = max(participant.observed_at - history[-1][1], 0.0) if history else 0.0
    if participant.intent in ("drain", "undo", "recover", "finish", "verify"):
        return min(max(settings.check_interval, age / 10), SLOWEST_CHECK), f"{name}: {participant.intent} is not done yet"
    return min(max(settings.check_interval, age / 2), settings.longest_requeue), f"{name}: waits for news of {event_state.event.event_id}"


def _watch(alive: Iterable[EventState]) -> list[dict[str, Any]]:
    """Return reachable VMs that list the live events, hit ones first; one for each group of VMs with the same events."""
    found: dict[str, dict[str, Any]] = {}
    heard: set[str] = set()
    for event_state in alive:
        listing = [participant.host for participant in event_state.hit if participant.listed] or event_state.seen.listed_by[:1]
        if event_state.key in heard or not listing or len(found) >= WATCHED:
            continue
        host = listing[0]
        if host.observation is not None:
            found[host.name] = {"host": host.name, "incarnation": host.observation.incarnation}
            heard.update(host.observation.listed)
    return list(found.values())
