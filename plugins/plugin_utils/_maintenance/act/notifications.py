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
# Each VM that has one of these keeps itself whether it was told: none of them hides the failure of another.
FAILURES = ("failed", *ALARMS)
# Phases of a VM whose event may be held.
HELD = (None, "noticed", "held", "drained")
# Remarks on notifications of one event that have failed.
SHOWN = 5
# Seconds before its deadline from which a held event is told as such, beside the time until the next pass.
LATE_SECONDS = 300.0
# Seconds after its first failure for which a notification is tried again, and after its phase for which a target is told.
TRIED_SECONDS = 3600.0


def lead(event_state: EventState) -> Participant | None:
    """Return the VM whose record keeps C(told): the first that is read and has a record, or is about to get one."""
    able = [participant for participant in event_state.hit if participant.ok and (participant.record is not None or participant.listed)]
    known = (participant for participant in able if participant.record and (participant.record.told or participant.record.untold))
    return next(known, able[0] if able else None)


def _keepers(event_state: EventState, word: str) -> list[Participant]:
    """Return the VMs whose records keep whether a word was told: of a failure all that have it, else the lead."""
    known = [participant for participant in event_state.hit if word in FAILURES and participant.ok and participant.record is not None]
    failed = [one for one in known if one.phase == "failed" and (word == "failed" or one.exhausted)]
    return (known if word == "held_late" else failed) or list(filter(None, [lead(event_state)]))


def _keeps(participant: Participant, told: str) -> bool:
    return participant.record is not None and told in participant.record.told


def _is_told(event_state: EventState, word: str, told: str) -> bool:
    if word in FAILURES:
        return all(_keeps(participant, told) for participant in _keepers(event_state, word))
    return any(_keeps(participant, told) for participant in event_state.hit)


def untold(event_state: EventState, phase: str) -> list[str]:
    """Return the phases that were reached, in order, without those that operators were notified of already."""
    return [word for word in reached(event_state, phase) if not _is_told(event_state, word, word)]


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
    fresh = [
        word for word in reached(event_state, phase) if word in settings.notify_phases and not all(_is_old(one, word) for one in _keepers(event_state, word))
    ]
    words = [(word, target) for target in settings.notify_targets for word in fresh]
    words += [(word, target) for target in settings.notify_failures for word in _alarms(event_state, settings)]
    found = [Notice(participant.host.name, event_id, word, target) for word, target in words]
    return [one for one in found if not _is_told(event_state, one.word, one.told)]


def delivered(event_state: EventState, settings: Settings) -> list[WriteRecord]:
    """Return the actions that record what was delivered in this pass, also of a phase that has passed since then."""
    event_id, done = event_state.event.event_id, dict[str, list[str]]()
    for target in (*settings.notify_targets, *settings.notify_failures) if settings.notified else ():
        for one in (Notice("", event_id, word, target) for word in (*NOTIFIED_PHASES, *ALARMS)):
            for participant in _keepers(event_state, one.word) if settings.notified.get(one.key) == "delivered" else ():
                if participant.record is not None and one.told not in participant.record.told:
                    done.setdefault(participant.host.name, []).append(one.told)
    return [
        WriteRecord(host=host, event_id=event_id, reason=f"told: {', '.join(words)}", changes={"told": words}, stamp=[], event=None, lease=None)
        for host, words in done.items()
    ]


def _alarms(event_state: EventState, settings: Settings) -> list[str]:
    """Return what has failed for good, and whether it is held near its deadline, unless an operator lets it come."""
    found = ["given_up"] if any(participant.exhausted for participant in event_state.hit) else []
    override, near = event_state.override, LATE_SECONDS + settings.pass_interval
    if override is not None and override.action == "let_it_come":
        return found
    # By what each VM itself says: that another one is approved, started or draining hides nothing.
    late = [one for one in event_state.hit if one.listed and not one.coming and one.left is not None and one.left <= near and one.phase in HELD]
    if event_state.approved or event_state.started:
        is_held = any(one.decision.approve != "never" for one in late)
    else:
        is_held = bool(late) and any(one.kind not in WAITING for one in event_state.blockers)
    if is_held:
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
    """Return one action for each phase that this run has not tried yet; of a failure one for each VM that has it."""
    if not event_state.hit or not event_state.ours:
        return []
    found = []
    for word, participant in _owed(event_state, phase):
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


def _owed(event_state: EventState, phase: str) -> list[tuple[str, Participant]]:
    """Return the phases that were reached and the VMs whose records lack that operators were notified of them."""
    return [(word, one) for word in untold(event_state, phase) for one in _keepers(event_state, word) if not _keeps(one, word)]


def remarks(event_state: EventState, phase: str) -> list[str]:
    """Return which notifications have failed, for operators."""
    found = []
    for word, participant in _owed(event_state, phase) if event_state.ours else ():
        since, _run = _failure(participant, word)
        if since is not None:
            ends = "it is not tried again" if _is_over(participant, since) else "the next pass tries again"
            ago = timestamps.duration(participant.observed_at - since)
            found.append(f"respond_notify_tasks failed for phase {word} first {ago} ago; {ends}")
    return found[:SHOWN]


def _failure(participant: Participant, phase: str) -> tuple[float | None, Any]:
    """Return when a notification failed first, or None, and the run that tried it last."""
    found = plain_values.mapping(participant.record.untold.get(phase)) if participant.record else {}
    return timestamps.parse(found.get("since")), found.get("run")


def _is_over(participant: Participant, since: float) -> bool:
    return participant.observed_at - since > TRIED_SECONDS
