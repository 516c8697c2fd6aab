# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The notifications: phases that operators were not notified of yet. The record of the event's first VM keeps those that they were.

One that fails is tried again by later runs, for a while: once in each run, because the others of its VMs wait for it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ....module_utils._scheduled_events.core.names import folded
from ..._core import plain_values
from ..config.settings import NOTIFIED_PHASES, Settings
from ..core import timestamps
from ..core.actions import Notify, WriteRecord
from ..core.blocker import WAITING
from ..state.event_state import EventState
from ..state.participant import Participant

# What targets for failures are told of: no further attempt, and held near its deadline.
ALARMS = ("given_up", "held_late")
# Seconds before its deadline from which a held event is told as such, beside the time until the next pass.
LATE_SECONDS = 300.0
# Seconds after its first failure for which a notification is tried again, and after its phase for which a target is told.
TRIED_SECONDS = 3600.0


def lead(event_state: EventState) -> Participant | None:
    """Return the VM whose record keeps C(told): the first that is read and has a record, or is about to get one."""
    able = [participant for participant in event_state.hit if participant.ok and (participant.record is not None or participant.listed)]
    known = (participant for participant in able if participant.record and (participant.record.told or participant.record.untold))
    return next(known, able[0] if able else None)


def untold(event_state: EventState, phase: str) -> list[str]:
    """Return the phases that were reached, in order, without those that operators were notified of already."""
    told = _told(event_state)
    return [word for word in reached(event_state, phase) if word not in told]


def reached(event_state: EventState, phase: str) -> list[str]:
    """Return the phases that were reached, in order."""
    records = [participant.record for participant in event_state.hit if participant.record]
    # The VM's own state: a claim of another VM alone is not notified as a fact.
    mine = lead(event_state)
    found = {"noticed", phase} - {"approved", "started"}
    if mine is not None and mine.approved:
        found.add("approved")
    if mine is not None and mine.started:
        found.add("started")
    if any(record.outcome is not None for record in records):
        found.add("gone")
    return [word for word in NOTIFIED_PHASES if word in found]


def _told(event_state: EventState) -> set[str]:
    return {word for participant in event_state.hit if participant.record for word in participant.record.told}


class Notice(NamedTuple):
    """What one target has to be told of one event: a phase, or one of ALARMS."""

    host: str
    event_id: str
    word: str
    target: str

    @property
    def key(self) -> str:
        """Return what identifies it among the results of a pass."""
        return f"{folded(self.event_id)} {self.told}"

    @property
    def told(self) -> str:
        """Return the word in a record that says that it was delivered. A phase alone says that the tasks of C(respond_notify_tasks) have run."""
        return f"{self.word} {self.target}"


def notices(event_state: EventState, phase: str, settings: Settings) -> list[Notice]:
    """Return what the targets have not been told, delivered in this pass or not."""
    participant = lead(event_state)
    if participant is None or not event_state.ours or not (settings.notify_targets or settings.notify_failures):
        return []
    # As the plan names the event: the record of a VM may have it with another case, or with spaces.
    event_id = event_state.event.event_id
    fresh = [word for word in reached(event_state, phase) if word in settings.notify_phases and not _is_old(participant, word)]
    words = [(word, target) for target in settings.notify_targets for word in fresh]
    words += [(word, target) for target in settings.notify_failures for word in _alarms(event_state, phase, settings)]
    told = _told(event_state)
    found = [Notice(participant.host.name, event_id, word, target) for word, target in words]
    return [one for one in found if one.told not in told]


def delivered(event_state: EventState, settings: Settings) -> WriteRecord | None:
    """Return the action that records what was delivered in this pass, also of a phase that has passed since then; or None."""
    participant = lead(event_state)
    if participant is None or participant.record is None or not settings.notified:
        return None
    host, event_id = participant.host.name, event_state.event.event_id
    targets = (*settings.notify_targets, *settings.notify_failures)
    every = [Notice(host, event_id, word, target) for target in targets for word in (*NOTIFIED_PHASES, *ALARMS)]
    told = _told(event_state)
    done = [one.told for one in every if one.told not in told and settings.notified.get(one.key) == "delivered"]
    reason = f"told: {', '.join(done)}"
    return WriteRecord(host=host, event_id=event_id, reason=reason, changes={"told": done}, stamp=[], event=None, lease=None) if done else None


def _alarms(event_state: EventState, phase: str, settings: Settings) -> list[str]:
    """Return what has failed for good, and whether it is held near its deadline, unless an operator lets it come."""
    found = ["given_up"] if any(participant.exhausted for participant in event_state.hit) else []
    left, override = event_state.left, event_state.override
    lets_come = override is not None and override.action == "let_it_come"
    blocked = any(one.kind not in WAITING for one in event_state.blockers)
    is_held = phase in ("held", "noticed", "drained") and event_state.listed and blocked and not lets_come
    if is_held and left is not None and left <= LATE_SECONDS + settings.pass_interval:
        found.append("held_late")
    return found


def _is_old(participant: Participant, word: str) -> bool:
    """Return whether a phase was reached so long ago that it is no news."""
    record = participant.record
    if record is None:
        return False
    first = record.history[0][1] if record.history else None
    known = {"noticed": first, "approved": record.approved_at, "started": record.started_at}
    at = known[word] if word in known else record.last(word)
    return at is not None and _is_over(participant, at)


def actions(event_state: EventState, phase: str, run: str) -> list[Notify]:
    """Return one action for each phase that this run has not tried yet."""
    participant = lead(event_state)
    if participant is None or not event_state.hit or not event_state.ours:
        return []
    found = []
    for word in untold(event_state, phase):
        since, tried_by = _failure(participant, word)
        if since is not None and (tried_by == run or _is_over(participant, since)):
            continue
        first = timestamps.form(participant.observed_at if since is None else since)
        found.append(
            Notify(
                host=participant.host.name,
                event_id=event_state.event.event_id,
                phase=word,
                changes={"told": [word]},
                failed={"untold": {word: {"since": first, "run": run}}},
                reason=f"notified once: {word}",
            )
        )
    return found


def remarks(event_state: EventState, phase: str) -> list[str]:
    """Return which notifications have failed, for operators."""
    participant = lead(event_state)
    if participant is None or not event_state.ours:
        return []
    found = []
    for word in untold(event_state, phase):
        since, _run = _failure(participant, word)
        if since is not None:
            ends = "it is not tried again" if _is_over(participant, since) else "the next pass tries again"
            ago = timestamps.duration(participant.observed_at - since)
            found.append(f"respond_notify_tasks failed for phase {word} first {ago} ago; {ends}")
    return found


def _failure(participant: Participant, phase: str) -> tuple[float | None, Any]:
    """Return when a notification failed first, or None, and the run that tried it last."""
    found = plain_values.mapping(participant.record.untold.get(phase)) if participant.record else {}
    return timestamps.parse(found.get("since")), found.get("run")


def _is_over(participant: Participant, since: float) -> bool:
    return participant.observed_at - since > TRIED_SECONDS
