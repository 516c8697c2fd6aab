# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each VM of an event needs next, seen by itself. Who has to wait for whom is arranged afterwards (undo_order.py)."""

from __future__ import annotations

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import Settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Record
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import approval_blockers, deadlines
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import Case, Part

# Clocks are read at slightly different moments.
JITTER = 2.0


def decide(case: Case, settings: Settings, now: float) -> None:
    """Set the intent of every part of a case."""
    setback = approval_blockers.setback(case, settings)
    for part in case.parts:
        if not part.ok:
            _silent(case, part)
        elif part.over:
            _after(part, settings)
        elif part.phase == "failed" and part.record is not None and part.record.outcome is None and (part.listed or case.listed):
            _failed(case, part, settings)
        elif not part.may_begin:
            # Others may list it still: that keeps it from being over, and begins nothing here.
            _in_doubt(part)
        else:
            _live(case, part, setback, settings, now)


def _silent(case: Case, part: Part) -> None:
    part.reason = f"{part.host.name} could not be read: {part.host.error or 'no reason given'}"
    if part.host.state == "resting":
        words = f"{part.host.name} takes no part in this run any more; the next one looks at it again"
        part.asleep, part.reason = True, None if part.has_ended else words
        return
    # Somebody who was reached in this run will come back from a reboot; who never answered may never do.
    part.asleep = not part.host.reached_before and not case.listed
    if part.record is not None and part.record.ended_the_vm:
        part.asleep, part.reason = True, f"{part.host.name} does not answer any more; {case.event.event_type} deletes it"


def _in_doubt(part: Part) -> None:
    part.intent = "stay" if part.holds_changes else "none"
    part.asleep = part.record is None
    part.wait = part.absence.wait
    part.reason = part.absence.words


def drained_now(part: Part) -> bool:
    """Drained, and verified in the present boot of the VM."""
    record, look = part.record, part.host.look
    if record is None or look is None or not record.all_drained or record.phase not in ("drained", "approved", "started"):
        return False
    if record.verified_at is None or not record.boot_id or record.boot_id != look.boot_id:
        return False
    if any(method.boot_id not in (None, look.boot_id) for method in record.methods):
        return False
    return look.booted_at is None or record.verified_at >= look.booted_at - JITTER


def fresh(part: Part, settings: Settings) -> bool:
    """Verified so lately that an approval may rely on it."""
    if not drained_now(part) or part.record is None or part.record.verified_at is None:
        return False
    return -JITTER <= part.look_now - part.record.verified_at <= settings.verify_seconds


def _after(part: Part, settings: Settings) -> None:
    """The event is gone for this VM: put back what was changed, then see that it serves."""
    record, look = part.record, part.host.look
    if record is None or look is None:
        return
    if began_undrained(part) and not _long_over(part, settings):
        part.failed = f"it began before the drain was done: {record.reason or 'the drain failed'}"
    if record.phase == "recovered" and not record.needs_undo:
        part.asleep = True
        return
    failures = sum(1 for phase, _at in record.since("gone") if phase == "failed")
    failed = record.phase == "failed" and record.outcome is not None
    if failed:
        part.failed = part.reason = f"recovery failed: {record.reason or 'no reason given'}"
        part.asleep = failures > settings.retries or not record.needs_undo
    if record.needs_undo:
        part.intent = "recover"
        last = record.last("failed")
        if failed and last is not None and last <= look.now:
            left = settings.retry_pause * 2.0 ** min(failures - 1, 5) - (look.now - last)
            if left > 0:
                part.intent, part.wait = "stay", left
        return
    part.intent = "finish"
    if look.in_service is False or (look.in_service is None and settings.has_health):
        unsaid = "its health is not known" if look.in_service is None else "its health check fails"
        part.reason = part.reason or f"not in service yet: {look.in_service_why or unsaid}"


def _long_over(part: Part, settings: Settings) -> bool:
    """A schedule reports what was mishandled once or twice and not for a whole day."""
    recovered = part.record.last("recovered") if part.record else None
    return recovered is not None and part.look_now - recovered > max(settings.pass_interval, 60.0)


def recovery_overdue(part: Part, settings: Settings) -> bool:
    """Whether nothing has moved on the VM for longer than a recovery may take. Another event's progress counts too."""
    look = part.host.look
    if look is None:
        return False
    return look.moved_at is not None and look.now - look.moved_at > settings.recover_seconds


def began_undrained(part: Part) -> bool:
    """Whether the event began on a VM whose drain had failed."""
    record = part.record
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


def _failed(case: Case, part: Part, settings: Settings) -> None:
    record = part.record
    if record is None:
        raise AssertionError("only a part with a record gets here")
    again = deadlines.retry(part, settings)
    words = record.reason or "no reason given"
    part.reason = f"the drain failed: {words}"
    if again.exhausted:
        part.failed = f"the drain failed {again.failures} times at last: {words}" if again.failures > 1 else part.reason
    if part.holds_changes and not deadlines.too_near_to_undo(case, part, settings):
        part.intent = "undo"
        return
    part.intent = "stay" if part.holds_changes else "none"
    if again.exhausted:
        return
    if again.wait > 0:
        part.wait = again.wait
    elif part.decision.drain and part.host.methods and part.may_begin and not deadlines.kept_from_draining(part, settings):
        part.intent = "drain"


def _live(case: Case, part: Part, setback: Part | None, settings: Settings, now: float) -> None:
    if not part.named and not part.holds_changes:
        part.asleep = True
        return
    if not part.decision.drain and not part.holds_changes:
        part.asleep = case.decision.approve == "never" and not part.approved
        return
    if setback is not None and setback is not part and not deadlines.too_near_to_undo(case, part, settings) and not deadlines.must_drain(part, settings):
        part.hold = part.reason = f"{setback.host.name} could not be drained for it"
        part.intent = "undo" if part.holds_changes else "none"
        return
    if drained_now(part):
        part.intent = "stay"
    elif not part.host.methods:
        part.hold = part.reason = approval_blockers.NO_METHOD
        part.intent = "stay" if part.holds_changes else "none"
        part.asleep = not part.holds_changes
    elif part.record is not None and part.record.all_drained and part.phase != "draining":
        part.intent, part.reason = "verify", "checked again: it was not verified since the VM booted"
    elif part.holds_changes or part.phase == "draining":
        part.intent = "drain"
    else:
        _begin(case, part, settings, now)


def _begin(case: Case, part: Part, settings: Settings, now: float) -> None:
    closed = approval_blockers.may_drain(case, part, settings, now)
    if closed:
        part.hold = part.reason = closed
        return
    when = deadlines.drain_due(case, part, settings, now)
    if when.now:
        part.intent = "drain"
        return
    part.wait, part.reason = when.wait, when.words
