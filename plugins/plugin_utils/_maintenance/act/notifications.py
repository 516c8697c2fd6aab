# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The notifications: phases that operators were not notified of yet. The record of each VM keeps those of which they were, about this VM alone.

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
# Tasks of operators run for each VM that has one of these, and for the other phases once for the event.
FAILURES = ("failed", *ALARMS)
# What has happened to a VM is its own to say, and of no other VM. The other words hold for the whole event.
OWN_WORDS = ("approved", "started", "gone", *FAILURES)
# Phases of a VM whose event may be held.
HELD = (None, "noticed", "held", "drained")
# Remarks on notifications of one event that have failed.
SHOWN = 5
# Seconds before its deadline from which a held event is told as such, beside the time until the next pass.
LATE_SECONDS = 300.0
# Seconds after its first failure for which a notification is tried again, and after its phase for which a target is told.
TRIED_SECONDS = 3600.0


def lead(event_state: EventState) -> Participant | None:
    """Return the VM that the tasks of operators run for: the first that is read and has a record, or is about to get one."""
    return next(iter(_able(event_state)), None)


def _hit(event_state: EventState) -> list[Participant]:
    """Return the VMs that it names, or has named by their own records: that another VM lists it without their names hides nothing."""
    return [one for one in event_state.participants if one.named or (one.record is not None and one.host.own_name in one.record.event.names)]


def _able(event_state: EventState) -> list[Participant]:
    return [participant for participant in _hit(event_state) if participant.ok and (participant.record is not None or participant.listed)]


def _says(participant: Participant, word: str) -> bool:
    """Return whether a word holds for a VM."""
    record = participant.record
    if word in ("approved", "started"):
        return participant.approved if word == "approved" else participant.started
    if word not in OWN_WORDS or record is None:
        return word not in OWN_WORDS
    if word == "gone":
        return participant.over or record.outcome is not None
    return word == "held_late" or (record.phase == "failed" and (word == "failed" or participant.exhausted))


def _keepers(event_state: EventState, word: str) -> list[Participant]:
    """Return the VMs for which a word holds: what has happened to a VM, also by its last observation. Each record keeps whether it was told of its VM."""
    return [one for one in _hit(event_state) if _says(one, word) and (one.record is not None or one.listed) and (one.ok or word in OWN_WORDS)]


def _keeps(participant: Participant, told: str) -> bool:
    return participant.record is not None and told in participant.record.told


def untold(event_state: EventState, phase: str) -> list[str]:
    """Return the phases that were reached, in order, without those that operators were notified of already."""
    return [word for word in reached(event_state, phase) if not all(_keeps(one, word) for one in _keepers(event_state, word))]


def reached(event_state: EventState, phase: str) -> list[str]:
    """Return the phases that were reached, in order."""
    found = {"noticed", phase} - {"approved", "started"}
    found.update(word for word in ("approved", "started", "gone") if any(_says(one, word) for one in _hit(event_state)))
    return [word for word in NOTIFIED_PHASES if word in found]


class Notice(NamedTuple):
    """What one target has to be told of one VM of an event: a phase, or one of ALARMS."""

    host: str
    event_id: str
    word: str
    target: str
    is_partial: bool = False
    """Whether other VMs of the event were read that do not say so, perhaps not yet."""

    @property
    def key(self) -> str:
        """Return what identifies it among the results of a pass."""
        return f"{self.host}\n{folded(self.event_id)} {self.told}"

    @property
    def told(self) -> str:
        """Return the word in a record that says that it was delivered. A phase alone says that the tasks of C(respond_notify_tasks) have run."""
        return f"{self.word} {self.target}".rstrip()


def notices(event_state: EventState, phase: str, settings: Settings) -> list[Notice]:
    """Return what the targets have not been told, delivered in this pass or not."""
    participant = lead(event_state)
    if participant is None or not event_state.ours or not (settings.notify_targets or settings.notify_failures):
        return []
    # As the plan names the event: the record of a VM may have it with another case, or with spaces.
    event_id = event_state.event.event_id
    phases = [word for word in reached(event_state, phase) if word in settings.notify_phases]
    words = [(word, target, one) for target in settings.notify_targets for word in phases for one in _keepers(event_state, word) if not _is_old(one, word)]
    words += [(word, target, one) for target in settings.notify_failures for word, vms in _alarms(event_state, settings).items() for one in vms]
    partial = {word for word in phases if word in OWN_WORDS and word not in FAILURES and len(_keepers(event_state, word)) < len(_able(event_state))}
    found = [(Notice(participant.host.name, event_id, word, target, word in partial), participant) for word, target, participant in words]
    return [one for one, participant in found if not _keeps(participant, one.told)]


def delivered(event_state: EventState, settings: Settings) -> list[WriteRecord]:
    """Return the actions that record what was delivered in this pass, also of a phase that has passed since then."""
    event_id, done = event_state.event.event_id, dict[str, list[str]]()
    for target in ("", *settings.notify_targets, *settings.notify_failures) if settings.notified else ():
        for word in (*NOTIFIED_PHASES, *ALARMS):
            for participant in _keepers(event_state, word):
                one = Notice(participant.host.name, event_id, word, target)
                is_told = settings.notified.get(one.key) == "delivered" if target else _has_run(event_state, word, settings)
                if is_told and participant.ok and participant.record is not None and one.told not in participant.record.told:
                    done.setdefault(participant.host.name, []).append(one.told)
    return [
        WriteRecord(host=host, event_id=event_id, reason=f"told: {', '.join(words)}", changes={"told": words}, stamp=[], event=None, lease=None)
        for host, words in done.items()
    ]


def _has_run(event_state: EventState, word: str, settings: Settings) -> bool:
    """Return whether the tasks of operators have run in this pass for a phase of the whole event: then it is recorded on all of its VMs."""
    return word not in FAILURES and any(_keeps(one, word) and _was_taken(event_state, one, word, settings) for one in _hit(event_state))


def _was_taken(event_state: EventState, participant: Participant, word: str, settings: Settings) -> bool:
    return Notice(participant.host.name, event_state.event.event_id, word, "").key in settings.notified


def _alarms(event_state: EventState, settings: Settings) -> dict[str, list[Participant]]:
    """Return the VMs that have failed for good, and those that are held near their deadline, unless an operator lets it come."""
    found = {"given_up": [participant for participant in _hit(event_state) if participant.exhausted]}
    override, near = event_state.override, LATE_SECONDS + settings.pass_interval
    if override is not None and override.action == "let_it_come":
        return found
    # By what each VM itself says: that another one is approved, started, draining or near its deadline hides nothing, and is none of its own.
    # A document that is read once more may only be old.
    said = [one for one in event_state.hit if one.host.name not in event_state.differing]
    late = [one for one in said if one.listed and not one.coming and one.left is not None and one.left <= near and (one.phase in HELD or one.waits)]
    if event_state.approved or event_state.started:
        late = [one for one in late if one.decision.approve != "never"]
    elif not any(one.kind not in WAITING for one in event_state.blockers):
        late = []
    return {**found, "held_late": late}


def _is_old(participant: Participant, word: str) -> bool:
    """Return whether a phase was reached so long ago that it is no news."""
    record = participant.record
    if record is None:
        return False
    first = record.history[0][1] if record.history else None
    known = {"noticed": first, "approved": record.approved_at, "started": record.started_at}
    at = known[word] if word in known else record.last(word)
    return at is not None and _is_over(participant, at)


def actions(event_state: EventState, phase: str, settings: Settings) -> list[Notify]:
    """Return one action for each phase that this run has not tried yet; of a failure one for each VM that has it."""
    if not event_state.ours:
        return []
    found = []
    for word, owing in _owed(event_state, phase, settings):
        able = [one for one in owing if not _was_taken(event_state, one, word, settings) and _may_try(one, word, settings.run.id)]
        for participant in able if word in FAILURES else able[:1]:
            since = _failure(participant, word)[0]
            first = timestamps.form(participant.observed_at if since is None else since)
            found.append(
                Notify(
                    host=participant.host.name,
                    event_id=event_state.event.event_id,
                    phase=word,
                    changes={"told": [word]},
                    failed={"untold": {word: {"since": first, "run": settings.run.id}}},
                    reason=f"notified once: {word}",
                )
            )
    return found


def _owed(event_state: EventState, phase: str, settings: Settings) -> list[tuple[str, list[Participant]]]:
    """Return the phases that were reached and the VMs whose records lack that operators were notified of them.

    Of a phase of the event the first two: the tasks run for one of them, and for the other where that one keeps nothing, or says that they have failed.
    """
    found = []
    for word in untold(event_state, phase):
        known = [one for one in _keepers(event_state, word) if one.ok] or _able(event_state)[:1]
        owing = [] if _has_run(event_state, word, settings) else [one for one in known if not _keeps(one, word)]
        found.append((word, owing if word in FAILURES else owing[:2]))
    return found


def _may_try(participant: Participant, word: str, run: str) -> bool:
    since, tried_by = _failure(participant, word)
    return since is None or not (tried_by == run or _is_over(participant, since))


def remarks(event_state: EventState, phase: str, settings: Settings) -> list[str]:
    """Return which notifications have failed, for operators."""
    found = []
    for word, owing in _owed(event_state, phase, settings) if event_state.ours else ():
        for participant in owing:
            since, _run = _failure(participant, word)
            if since is not None:
                ends = "it is not tried again" if _is_over(participant, since) else "the next pass tries again"
                ago = timestamps.duration(participant.observed_at - since)
                found.append(f"respond_notify_tasks failed for phase {word} first {ago} ago; {ends}")
    return list(dict.fromkeys(found))[:SHOWN]


def _failure(participant: Participant, phase: str) -> tuple[float | None, Any]:
    """Return when a notification failed first, or None, and the run that tried it last."""
    found = plain_values.mapping(participant.record.untold.get(phase)) if participant.record else {}
    return timestamps.parse(found.get("since")), found.get("run")


def _is_over(participant: Participant, since: float) -> bool:
    return participant.observed_at - since > TRIED_SECONDS
