# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The notifications: phases that operators were not notified of yet. The record of the event's first VM keeps those that they were.

One that fails is tried again by later runs, for a while: once in each run, because the others of its VMs wait for it.
"""

from __future__ import annotations

from typing import Any

from ..._core import plain_values
from ..core import timestamps
from ..core.actions import Notify
from ..state.event_state import EventState
from ..state.participant import Participant

# The phases that operators are notified of, in this order. The others pass too quickly.
ORDER = ("noticed", "held", "failed", "drained", "approved", "started", "gone", "recovered")
# Seconds after its first failure for which a notification is tried again.
TRIED_SECONDS = 3600.0


def lead(event_state: EventState) -> Participant | None:
    """Return the VM whose record keeps C(told): the first that is read and has a record, or is about to get one."""
    able = [participant for participant in event_state.hit if participant.ok and (participant.record is not None or participant.listed)]
    known = (participant for participant in able if participant.record and (participant.record.told or participant.record.untold))
    return next(known, able[0] if able else None)


def untold(event_state: EventState, phase: str) -> list[str]:
    """Return the phases that were reached, in order, without those that operators were notified of already."""
    records = [participant.record for participant in event_state.hit if participant.record]
    # The VM's own state: a claim of another VM alone is not notified as a fact.
    mine = lead(event_state)
    reached = {"noticed", phase} - {"approved", "started"}
    if mine is not None and mine.approved:
        reached.add("approved")
    if mine is not None and mine.started:
        reached.add("started")
    if any(record.outcome is not None for record in records):
        reached.add("gone")
    told = {word for record in records for word in record.told}
    return [word for word in ORDER if word in reached and word not in told]


def actions(event_state: EventState, phase: str, run: str) -> list[Notify]:
    """Return one action for each phase that this run has not tried yet."""
    participant = lead(event_state)
    if participant is None or not event_state.hit or not event_state.ours:
        return []
    found = []
    for reached in untold(event_state, phase):
        since, tried_by = _failure(participant, reached)
        if since is not None and (tried_by == run or _is_over(participant, since)):
            continue
        first = timestamps.form(participant.observed_at if since is None else since)
        found.append(
            Notify(
                host=participant.host.name,
                event_id=participant.record.event.event_id if participant.record else event_state.event.event_id,
                phase=reached,
                changes={"told": [reached]},
                failed={"untold": {reached: {"since": first, "run": run}}},
                reason=f"notified once: {reached}",
            )
        )
    return found


def remarks(event_state: EventState, phase: str) -> list[str]:
    """Return which notifications have failed, for operators."""
    participant = lead(event_state)
    if participant is None or not event_state.ours:
        return []
    found = []
    for reached in untold(event_state, phase):
        since, _run = _failure(participant, reached)
        if since is not None:
            ends = "it is not tried again" if _is_over(participant, since) else "the next pass tries again"
            ago = timestamps.duration(participant.observed_at - since)
            found.append(f"respond_notify_tasks failed for phase {reached} first {ago} ago; {ends}")
    return found


def _failure(participant: Participant, phase: str) -> tuple[float | None, Any]:
    """Return when a notification failed first, or None, and the run that tried it last."""
    found = plain_values.mapping(participant.record.untold.get(phase)) if participant.record else {}
    return timestamps.parse(found.get("since")), found.get("run")


def _is_over(participant: Participant, since: float) -> bool:
    return participant.observed_at - since > TRIED_SECONDS
