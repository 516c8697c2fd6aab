# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Decide what each VM of an event needs next, by itself. Which VM waits for another is decided afterwards (allocation.py, undo_order.py)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from ....module_utils._scheduled_events.journal.record_schema import NEEDED
from ..config.settings import Settings
from ..core.blocker import Blocker, Kind
from ..core.model import Observation, Record
from ..state import overrides
from ..state.event_state import EventState
from ..state.participant import Participant
from . import approval_blockers, deadlines

# A method that has said "not yet" is asked again after so many seconds, and one of a VM that is out whether others serve.
ASK_AGAIN, ASK_OUT = 10.0, 15.0
# Clocks are read at slightly different moments.
JITTER = 2.0
# Intents that change the VM, or its record.
CHANGES = ("drain", "verify", "undo", "recover")


def decide(event_state: EventState, settings: Settings, now: float) -> EventState:
    """Return the event state with the intent of every participant."""
    setback = approval_blockers.setback(event_state, settings)
    decided = [_decide(event_state, participant, setback, settings, now) for participant in event_state.participants]
    return replace(event_state, participants=[_unless_unwritable(participant) for participant in decided])


def _unless_unwritable(participant: Participant) -> Participant:
    """Report a VM that cannot write its records: nothing is done on it without them. Its actions are tried again, because the cause may pass."""
    if participant.asleep or not participant.ok or participant.host.cannot_write is None or participant.intent not in CHANGES:
        return participant
    return replace(participant, failed=cannot_write([participant]))


def cannot_write(participants: Sequence[Participant]) -> Blocker:
    """Return the blocker of VMs that cannot write their records for the cause of the first, and so take no action."""
    first = participants[0]
    names = tuple(participant.host.name for participant in participants if participant.host.cannot_write == first.host.cannot_write)
    why = first.host.cannot_write
    # A line about a VM begins with its name: there the sentence does not repeat it.
    return Blocker("cannot_write", f"cannot {first.intent}: {why}", names, detail=f"cannot {first.intent} {', '.join(names)}: {why}")


def _decide(event_state: EventState, participant: Participant, setback: Participant | None, settings: Settings, now: float) -> Participant:
    if not participant.ok:
        return _silent(event_state, participant)
    if participant.over:
        return _after(participant, settings)
    if _has_failed(event_state, participant):
        return _failed(event_state, participant, settings, now)
    if not participant.may_begin:
        # Other VMs may still list the event: so it is not over, and nothing begins here.
        return _in_doubt(participant)
    return _live(event_state, participant, setback, settings, now)


def _has_failed(event_state: EventState, participant: Participant) -> bool:
    """Return whether the drain has failed for an event that some VM still lists."""
    record = participant.record
    return record is not None and record.phase == "failed" and record.outcome is None and (participant.listed or event_state.listed)


def _silent(event_state: EventState, participant: Participant) -> Participant:
    name = participant.host.name
    if participant.record is not None and participant.record.ended_the_vm and participant.host.state != "resting":
        return replace(participant, asleep=True, reason=f"{name} no longer answers; {event_state.event.event_type} deletes it")
    if participant.host.state == "resting":
        text = f"{name} no longer takes part in this run; the next run observes it again"
        return replace(participant, asleep=True, reason=None if participant.has_ended else text)
    # A VM that this run has reached comes back from a reboot; one that has never answered may never do.
    asleep = not participant.host.reached_before and not event_state.listed
    return replace(participant, asleep=asleep, reason=f"{name} could not be read: {participant.host.error or 'no reason given'}")


def _in_doubt(participant: Participant) -> Participant:
    presence = participant.presence
    return replace(participant, intent=participant.undrained_intent, asleep=participant.record is None, wait=presence.wait, reason=presence.text)


def drained_now(participant: Participant) -> bool:
    """Return whether the VM is drained, and was verified in its present boot."""
    record, observation = participant.record, participant.host.observation
    if record is None or observation is None or not record.all_drained or record.phase not in ("drained", "approved", "started"):
        return False
    if record.verified_at is None or not record.boot_id or record.boot_id != observation.boot_id:
        return False
    if any(method.boot_id not in (None, observation.boot_id) for method in record.methods):
        return False
    return observation.booted_at is None or record.verified_at >= observation.booted_at - JITTER


def fresh(participant: Participant, settings: Settings) -> bool:
    """Return whether the drain was verified recently enough for an approval."""
    if not drained_now(participant) or participant.record is None or participant.record.verified_at is None:
        return False
    return -JITTER <= participant.observed_at - participant.record.verified_at <= settings.verify_seconds


def _after(participant: Participant, settings: Settings) -> Participant:
    """Decide for a VM whose event is gone: recover it, then wait until it is in service."""
    record, observation = participant.record, participant.host.observation
    if record is None or observation is None:
        return participant
    if began_undrained(participant) and not _long_over(participant, settings):
        participant = replace(participant, failed=_failure(participant, f"it began before the drain was done; {record_says(record)}"))
    if record.phase == "recovered" and not record.needs_undo:
        return replace(participant, asleep=True)
    failures = sum(1 for phase, _at in record.since("gone") if phase == "failed")
    failed = record.phase == "failed" and record.outcome is not None
    if failed:
        text = f"recovery failed; {record_says(record)}"
        asleep = failures > settings.retries or not record.needs_undo
        participant = replace(participant, failed=_failure(participant, text), reason=text, asleep=asleep)
    if not record.needs_undo:
        return replace(participant, intent="finish", reason=participant.reason or _not_in_service(observation, settings))
    left = _until_retry(record, observation, failures, settings) if failed else 0.0
    return replace(participant, intent="stay", wait=left) if left > 0 else replace(participant, intent="recover")


def record_says(record: Record) -> str:
    """Return the reason in a record, marked as the VM's word: what it says beside that is no advice of this run."""
    return f"its record says: {record.reason}" if record.reason else "no reason given"


def _failure(participant: Participant, text: str) -> Blocker:
    return Blocker("failed", text, (participant.host.name,))


def _until_retry(record: Record, observation: Observation, failures: int, settings: Settings) -> float:
    """Return the seconds until a failed recovery is tried again."""
    last = record.last("failed")
    if last is None or last > observation.now:
        return 0.0
    return settings.retry_pause * 2.0 ** min(failures - 1, 5) - (observation.now - last)


def _not_in_service(observation: Observation, settings: Settings) -> str | None:
    """Return why a VM that was recovered is not in service yet, or None."""
    if observation.in_service is True or (observation.in_service is None and not settings.has_health):
        return None
    unknown = "its health is not known" if observation.in_service is None else "its health check fails"
    return f"waiting for recovery: {observation.in_service_why or unknown}"


def _long_over(participant: Participant, settings: Settings) -> bool:
    """Return whether the event ended so long ago that its failure was reported before: a schedule must not report it for a whole day."""
    recovered = participant.record.last("recovered") if participant.record else None
    return recovered is not None and participant.observed_at - recovered > max(settings.pass_interval, 60.0)


def recovery_overdue(participant: Participant, settings: Settings) -> bool:
    """Return whether the VM made no progress for longer than a recovery may take. Another event's progress counts too."""
    observation = participant.host.observation
    if observation is None:
        return False
    return observation.moved_at is not None and observation.now - observation.moved_at > settings.recover_seconds


def began_undrained(participant: Participant) -> bool:
    """Return whether the event began on a VM whose drain had failed."""
    record = participant.record
    began = _began_at(record) if record else None
    if record is None or began is None:
        return False
    before = [phase for phase, at in record.history if phase in ("drained", "failed") and at <= began]
    return bool(before) and before[-1] == "failed"


def _began_at(record: Record) -> float | None:
    """Return when the event began, as observed, or as concluded for an event that vanished after NotBefore; or None."""
    if record.started_at is not None:
        return record.started_at
    due, missing = record.event.not_before, record.missing_since
    return due if due is not None and missing is not None and missing >= due else None


def _failed(event_state: EventState, participant: Participant, settings: Settings, now: float) -> Participant:
    record = participant.record
    if record is None:
        raise AssertionError("only a participant with a record gets here")
    again = deadlines.retry(participant, settings)
    why = record_says(record)
    reason = f"the drain failed; {why}"
    at_last = f"the drain failed {again.failures} times at last; {why}" if again.exhausted and again.failures > 1 else reason
    # Red from its first failure until a retry begins: a pass that ends here has not done what was to be done.
    participant = replace(participant, reason=reason, failed=_failure(participant, at_last), exhausted=again.exhausted)
    if participant.holds_changes and not deadlines.too_near_to_undo(event_state, participant, settings):
        return replace(participant, intent="undo")
    participant = replace(participant, intent=participant.undrained_intent)
    if again.exhausted:
        return participant
    if again.wait > 0:
        return replace(participant, wait=again.wait)
    if not _may_retry(participant, settings):
        return participant
    if hold := deadlines.start_hold(event_state, participant, settings):
        return replace(participant, wait=deadlines.hold_wait(hold, participant, settings, now))
    return replace(participant, intent="drain")


def _may_retry(participant: Participant, settings: Settings) -> bool:
    """Return whether a failed drain may be retried."""
    can = participant.decision.drain and participant.host.methods and not participant.host.wrong_settings and participant.may_begin
    return bool(can) and not deadlines.kept_from_draining(participant, settings)


def _live(event_state: EventState, participant: Participant, setback: Participant | None, settings: Settings, now: float) -> Participant:
    if not participant.named and not participant.holds_changes:
        return replace(participant, asleep=True)
    if not participant.decision.drain and not participant.holds_changes:
        return replace(participant, asleep=event_state.decision.approve == "never" and not participant.approved)
    if setback is not None and setback is not participant and _waits_for_sibling(event_state, participant, settings):
        sibling = Blocker("sibling", f"{setback.host.name} could not be drained for it", (setback.host.name,))
        return replace(participant, blocker=sibling, intent="undo" if participant.holds_changes else "none")
    return _drain(event_state, participant, settings, now)


def _waits_for_sibling(event_state: EventState, participant: Participant, settings: Settings) -> bool:
    """Return whether the VM has time to stay in service until another VM of the event is drained."""
    return not deadlines.too_near_to_undo(event_state, participant, settings) and not deadlines.must_drain(participant, settings)


def _drain(event_state: EventState, participant: Participant, settings: Settings, now: float) -> Participant:
    if participant.should_serve:
        return _should_serve(event_state, participant, settings)
    if drained_now(participant):
        return _drained(event_state, participant)
    if not participant.host.methods:
        why = approval_blockers.no_method(participant)
        return replace(participant, blocker=why, intent=participant.undrained_intent, asleep=not participant.holds_changes)
    if participant.record is not None and participant.record.all_drained and participant.phase != "draining":
        return replace(participant, intent="verify", reason="checked again: it was not verified since the VM booted")
    if participant.holds_changes or (participant.phase == "draining" and not participant.waits):
        return replace(participant, intent="drain")
    if wrong := approval_blockers.wrong_settings(participant):
        # Not tried: a failed drain would use up its retries, and the settings are corrected at any time.
        return replace(participant, blocker=wrong, asleep=True)
    if blocker := deadlines.drain_blocker(event_state, participant, settings, now):
        return replace(participant, blocker=blocker, wait=blocker.wait)
    return _ask(participant, settings, now)


def _drained(event_state: EventState, participant: Participant) -> Participant:
    """Leave a drained VM as it is. Its drain has failed where it still serves, but for an event that may come any moment, and where an operator approves."""
    why = participant.host.unproven
    if not why or participant.coming or overrides.is_approval(event_state.override):
        return replace(participant, intent="stay")
    return replace(participant, intent="fail", reason=why, failed=_failure(participant, why))


# --- Drains whose methods say "not yet": others would not serve enough without the VM --------------------------------------


# After so many times it is put back no more: it stays in service until its deadline.
MOST_PUT_BACK = 3


def _should_serve(event_state: EventState, participant: Participant, settings: Settings) -> Participant:
    """Put back a VM without which too few others serve since it was drained. Without the time for that, it stays drained and is not approved."""
    intent = "stay" if drained_now(participant) else "drain"
    if overrides.is_approval(event_state.override) or participant.intended:
        return replace(participant, intent=intent)
    why = _not_yet(participant)
    if deadlines.may_put_back(participant, settings):
        return replace(participant, intent="undo", blocker=why)
    # Others may serve again by now: then it may be approved.
    verified_at = participant.record.verified_at if participant.record else None
    if intent == "stay" and not participant.coming and verified_at is not None and participant.observed_at - verified_at > ASK_OUT:
        intent = "verify"
    return replace(participant, intent=intent, blocker=why, failed=None if participant.coming else _failure(participant, f"not approved; {why.detail}"))


def _ask(participant: Participant, settings: Settings, now: float) -> Participant:
    """Let a drain begin, or ask once more. Between two questions no lease is held: other runs must not take the VM for one that is out."""
    record = participant.record
    if record is None or not record.not_yet or deadlines.goes_alone(participant, settings, comes=participant.coming):
        return replace(participant, intent="drain")
    why = _not_yet(participant)
    times = sum(phase == "held" and before in ("draining", "drained") for (before, _then), (phase, _at) in itertools.pairwise(record.since("noticed")))
    if times >= MOST_PUT_BACK:
        why = replace(why, detail=f"put back {times} times since it was drained, so it stays in service until its deadline; {why.detail}")
        return replace(participant, blocker=why, wait=deadlines.latest_held(participant, settings))
    asked = participant.host.drain_asked_at
    wait = 0.0 if asked is None else asked + max(settings.check_interval, ASK_AGAIN) - now
    return replace(participant, intent="drain") if wait <= 0 else replace(participant, blocker=why, wait=wait)


def _not_yet(participant: Participant) -> Blocker:
    kind: Kind = "needed" if participant.record is not None and participant.record.blocker.get("kind") == NEEDED else "not_yet"
    record = participant.record
    if record is None or not record.reason:
        return Blocker(kind, "a drain method says: not yet", (participant.host.name,))
    return Blocker(kind, record.reason, (participant.host.name,), detail=record_says(record))
