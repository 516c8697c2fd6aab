# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has to be written to the records, one note for each VM and event. A record that says so already is left alone."""

from __future__ import annotations

from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import Settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.actions import WriteRecord
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Record
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import leases
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide.intents import drained_now, recovery_overdue
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state import overrides, presence
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import EventState, Participant


def note(event_state: EventState, participant: Participant, settings: Settings) -> WriteRecord | None:
    """The step that writes what is new, or nothing."""
    if not participant.ok:
        return None
    if participant.record is None:
        return _first(event_state, participant, settings)
    changes: dict[str, Any] = {}
    stamp: list[str] = []
    if participant.over:
        _over(event_state, participant, participant.record, settings, changes)
    else:
        _live(event_state, participant, participant.record, changes, stamp)
    event = None
    if participant.listed and _differs(participant, participant.record):
        event = participant.event.for_record()
    if participant.intends:
        stamp.append("approving_at")
    if not changes and not stamp and event is None:
        return None
    return _write(participant, changes, stamp, event, settings)


def _first(event_state: EventState, participant: Participant, settings: Settings) -> WriteRecord | None:
    if not participant.named:
        return None
    stamp = ["started_at"] if participant.started else []
    stamp += ["approving_at"] if participant.intends else []
    if participant.listed:
        return _write(participant, {"phase": "noticed"}, stamp, participant.event.for_record(), settings)
    if participant.intent != "drain" and not participant.intends:
        return None
    # C(noticed) says that the VM's own document had the event: only then does its absence mean anything later.
    witness = event_state.seen.listed_by[0].name if event_state.seen.listed_by else "another VM"
    changes = {"phase": "held", "reason": f"seen on {witness} only so far"}
    return _write(participant, changes, stamp, participant.event.for_record(), settings)


def _differs(participant: Participant, record: Record) -> bool:
    old, new = record.event, participant.event
    return (
        old.values.get("event_status") != new.values.get("event_status")
        or old.values.get("not_before") != new.values.get("not_before")
        or old.resources != new.resources
    )


def _over(event_state: EventState, participant: Participant, record: Record, settings: Settings, changes: dict[str, Any]) -> None:
    if record.outcome is None:
        changes.update(phase="gone", outcome=presence.outcome(record, began=participant.started or participant.approved))
        if participant.absence.words:
            changes["reason"] = participant.absence.words
    elif participant.intent == "finish":
        _finish(participant, record, settings, changes)
    # Only what was begun can take too long: where nobody looked for a while, as with a slow schedule, it has not been tried yet.
    elif participant.intent == "recover" and record.phase == "recovering" and recovery_overdue(participant, settings):
        errors = [f"{method.method}: {method.error or method.state}" for method in record.methods if method.state != "undone"]
        changes.update(phase="failed", reason=f"not everything could be put back ({'; '.join(errors)})")


def _finish(participant: Participant, record: Record, settings: Settings, changes: dict[str, Any]) -> None:
    look = participant.host.look
    if look is None:
        raise AssertionError("only a part with a look gets here")
    serves = look.in_service is True or (look.in_service is None and not settings.has_health)
    if serves or (participant.held_out and not record.methods):
        changes["phase"] = "recovered"
        if record.phase == "failed":
            changes["reason"] = None
    elif not participant.held_out and record.phase != "failed" and recovery_overdue(participant, settings):
        changes.update(phase="failed", reason=f"everything was put back, but it is {participant.reason}")


def _live(event_state: EventState, participant: Participant, record: Record, changes: dict[str, Any], stamp: list[str]) -> None:
    phase = record.phase
    if participant.absence.first:
        stamp.append("missing_since")
    if participant.listed:
        if record.missing_since is not None:
            changes["missing_since"] = None
        if record.outcome is not None:
            phase = "noticed"
            changes.update(phase=phase, outcome=None, reason=None)
    if participant.started and record.started_at is None:
        stamp.append("started_at")
    if not participant.may_begin and participant.intent != "undo":
        return
    target, reason = _target(event_state, participant, phase)
    if target == "held":
        if phase != "held" or record.reason != reason:
            changes.update(phase="held", reason=reason)
    elif target is not None and target != phase:
        changes["phase"] = target
        if record.reason is not None and phase == "held":
            changes["reason"] = None
        if target == "approved" and record.approved_at is None and event_state.approved_at is not None:
            changes["approved_at"] = timestamps.form(event_state.approved_at)


def _target(event_state: EventState, participant: Participant, phase: str) -> tuple[str | None, str | None]:
    """The phase that the record should have, where the roles do not set it."""
    idle = phase in ("noticed", "held")
    if participant.started:
        return ("started" if (idle and participant.intent == "none") or (drained_now(participant) and participant.intent == "stay") else None), None
    if participant.approved:
        undrained = idle and participant.intent == "none" and not participant.decision.drain
        return ("approved" if undrained or (drained_now(participant) and participant.intent == "stay") else None), None
    if participant.hold and (idle or participant.intent == "undo"):
        return "held", participant.hold
    held = event_state.hold or overrides.blocker(participant.word)
    if idle and participant.intent == "none" and held:
        return "held", held
    if phase == "held" and participant.intent == "none" and participant.listed:
        return "noticed", None
    return None, None


def _write(participant: Participant, changes: dict[str, Any], stamp: list[str], event: dict[str, Any] | None, settings: Settings) -> WriteRecord:
    record = participant.record
    return WriteRecord(
        host=participant.host.name,
        event_id=record.event.event_id if record else participant.event.event_id,
        changes=changes,
        stamp=stamp,
        event=event,
        # Other runs rely on the mark of an approval: it must not come from a run that has lost its lease.
        lease=leases.token(settings) if participant.intends else None,
        reason=changes.get("reason") or changes.get("phase") or (f"notes {', '.join(stamp)}" if stamp else "the event changed"),
        # Revision 0 where there is no record yet: a run that was slow must not overwrite what another has begun since.
        expected_revision=record.revision if record else 0,
    )
