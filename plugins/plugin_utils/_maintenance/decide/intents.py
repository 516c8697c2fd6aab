# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each VM of an event needs next, seen by itself. Who has to wait for whom is arranged afterwards (undo_order.py)."""

from __future__ import annotations

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import Settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Record
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import approval_blockers, deadlines
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import EventState, Participant

# Clocks are read at slightly different moments.
JITTER = 2.0


def decide(event_state: EventState, settings: Settings, now: float) -> None:
    """Set the intent of every participant of an event."""
    setback = approval_blockers.setback(event_state, settings)
    for participant in event_state.participants:
        if not participant.ok:
            _silent(event_state, participant)
        elif participant.over:
            _after(participant, settings)
        elif (
            participant.phase == "failed"
            and participant.record is not None
            and participant.record.outcome is None
            and (participant.listed or event_state.listed)
        ):
            _failed(event_state, participant, settings)
        elif not participant.may_begin:
            # Others may list it still: that keeps it from being over, and begins nothing here.
            _in_doubt(participant)
        else:
            _live(event_state, participant, setback, settings, now)


def _silent(event_state: EventState, participant: Participant) -> None:
    participant.reason = f"{participant.host.name} could not be read: {participant.host.error or 'no reason given'}"
    if participant.host.state == "resting":
        words = f"{participant.host.name} takes no part in this run any more; the next one looks at it again"
        participant.asleep, participant.reason = True, None if participant.has_ended else words
        return
    # Somebody who was reached in this run will come back from a reboot; who never answered may never do.
    participant.asleep = not participant.host.reached_before and not event_state.listed
    if participant.record is not None and participant.record.ended_the_vm:
        participant.asleep, participant.reason = True, f"{participant.host.name} does not answer any more; {event_state.event.event_type} deletes it"


def _in_doubt(participant: Participant) -> None:
    participant.intent = "stay" if participant.holds_changes else "none"
    participant.asleep = participant.record is None
    participant.wait = participant.absence.wait
    participant.reason = participant.absence.words


def drained_now(participant: Participant) -> bool:
    """Drained, and verified in the present boot of the VM."""
    record, look = participant.record, participant.host.look
    if record is None or look is None or not record.all_drained or record.phase not in ("drained", "approved", "started"):
        return False
    if record.verified_at is None or not record.boot_id or record.boot_id != look.boot_id:
        return False
    if any(method.boot_id not in (None, look.boot_id) for method in record.methods):
        return False
    return look.booted_at is None or record.verified_at >= look.booted_at - JITTER


def fresh(participant: Participant, settings: Settings) -> bool:
    """Verified so lately that an approval may rely on it."""
    if not drained_now(participant) or participant.record is None or participant.record.verified_at is None:
        return False
    return -JITTER <= participant.look_now - participant.record.verified_at <= settings.verify_seconds


def _after(participant: Participant, settings: Settings) -> None:
    """The event is gone for this VM: put back what was changed, then see that it serves."""
    record, look = participant.record, participant.host.look
    if record is None or look is None:
        return
    if began_undrained(participant) and not _long_over(participant, settings):
        participant.failed = f"it began before the drain was done: {record.reason or 'the drain failed'}"
    if record.phase == "recovered" and not record.needs_undo:
        participant.asleep = True
        return
    failures = sum(1 for phase, _at in record.since("gone") if phase == "failed")
    failed = record.phase == "failed" and record.outcome is not None
    if failed:
        participant.failed = participant.reason = f"recovery failed: {record.reason or 'no reason given'}"
        participant.asleep = failures > settings.retries or not record.needs_undo
    if record.needs_undo:
        participant.intent = "recover"
        last = record.last("failed")
        if failed and last is not None and last <= look.now:
            left = settings.retry_pause * 2.0 ** min(failures - 1, 5) - (look.now - last)
            if left > 0:
                participant.intent, participant.wait = "stay", left
        return
    participant.intent = "finish"
    if look.in_service is False or (look.in_service is None and settings.has_health):
        unsaid = "its health is not known" if look.in_service is None else "its health check fails"
        participant.reason = participant.reason or f"not in service yet: {look.in_service_why or unsaid}"


def _long_over(participant: Participant, settings: Settings) -> bool:
    """A schedule reports what was mishandled once or twice and not for a whole day."""
    recovered = participant.record.last("recovered") if participant.record else None
    return recovered is not None and participant.look_now - recovered > max(settings.pass_interval, 60.0)


def recovery_overdue(participant: Participant, settings: Settings) -> bool:
    """Whether nothing has moved on the VM for longer than a recovery may take. Another event's progress counts too."""
    look = participant.host.look
    if look is None:
        return False
    return look.moved_at is not None and look.now - look.moved_at > settings.recover_seconds


def began_undrained(participant: Participant) -> bool:
    """Whether the event began on a VM whose drain had failed."""
    record = participant.record
    began = _began_at(record) if record else None
    if record is None or began is None:
        return False
    before = [phase for phase, at in record.history if phase in ("drained", "failed") and at <= began]
    return bool(before) and before[-1] == "failed"


def _began_at(record: Record) -> float | None:
    """When the event began: seen, or concluded from its vanishing after its time with nobody looking in between."""
    if record.started_at is not None:
        return record.started_at
    due, missing = record.event.not_before, record.missing_since
    return due if due is not None and missing is not None and missing >= due else None


def _failed(event_state: EventState, participant: Participant, settings: Settings) -> None:
    record = participant.record
    if record is None:
        raise AssertionError("only a part with a record gets here")
    again = deadlines.retry(participant, settings)
    words = record.reason or "no reason given"
    participant.reason = f"the drain failed: {words}"
    if again.exhausted:
        participant.failed = f"the drain failed {again.failures} times at last: {words}" if again.failures > 1 else participant.reason
    if participant.holds_changes and not deadlines.too_near_to_undo(event_state, participant, settings):
        participant.intent = "undo"
        return
    participant.intent = "stay" if participant.holds_changes else "none"
    if again.exhausted:
        return
    if again.wait > 0:
        participant.wait = again.wait
    elif participant.decision.drain and participant.host.methods and participant.may_begin and not deadlines.kept_from_draining(participant, settings):
        participant.intent = "drain"


def _live(event_state: EventState, participant: Participant, setback: Participant | None, settings: Settings, now: float) -> None:
    if not participant.named and not participant.holds_changes:
        participant.asleep = True
        return
    if not participant.decision.drain and not participant.holds_changes:
        participant.asleep = event_state.decision.approve == "never" and not participant.approved
        return
    if (
        setback is not None
        and setback is not participant
        and not deadlines.too_near_to_undo(event_state, participant, settings)
        and not deadlines.must_drain(participant, settings)
    ):
        participant.hold = participant.reason = f"{setback.host.name} could not be drained for it"
        participant.intent = "undo" if participant.holds_changes else "none"
        return
    if drained_now(participant):
        participant.intent = "stay"
    elif not participant.host.methods:
        participant.hold = participant.reason = approval_blockers.NO_METHOD
        participant.intent = "stay" if participant.holds_changes else "none"
        participant.asleep = not participant.holds_changes
    elif participant.record is not None and participant.record.all_drained and participant.phase != "draining":
        participant.intent, participant.reason = "verify", "checked again: it was not verified since the VM booted"
    elif participant.holds_changes or participant.phase == "draining":
        participant.intent = "drain"
    else:
        _begin(event_state, participant, settings, now)


def _begin(event_state: EventState, participant: Participant, settings: Settings, now: float) -> None:
    when = deadlines.drain_due(event_state, participant, settings, now)
    if when.now:
        participant.intent = "drain"
        return
    participant.wait, participant.reason = when.wait, when.words
