# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has to be written to the records, one note for each VM and event. A record that says so already is left alone."""

from __future__ import annotations

from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import Settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Record
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import leases
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide.intents import drained_now, recovery_overdue
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state import overrides, presence
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import Case, Part


def note(case: Case, part: Part, settings: Settings) -> dict[str, Any] | None:
    """The step that writes what is new, or nothing."""
    if not part.ok:
        return None
    if part.record is None:
        return _first(case, part, settings)
    changes: dict[str, Any] = {}
    stamp: list[str] = []
    if part.over:
        _over(case, part, part.record, settings, changes)
    else:
        _live(case, part, part.record, changes, stamp)
    event = None
    if part.listed and _differs(part, part.record):
        event = part.event.for_record()
    if part.intends:
        stamp.append("approving_at")
    if not changes and not stamp and event is None:
        return None
    return _step(case, part, changes, stamp, event, settings)


def _first(case: Case, part: Part, settings: Settings) -> dict[str, Any] | None:
    if not part.named:
        return None
    stamp = ["started_at"] if part.started else []
    stamp += ["approving_at"] if part.intends else []
    if part.listed:
        return _step(case, part, {"phase": "noticed"}, stamp, part.event.for_record(), settings)
    if part.intent != "drain" and not part.intends:
        return None
    # C(noticed) says that the VM's own document had the event: only then does its absence mean anything later.
    witness = case.seen.listed_by[0].name if case.seen.listed_by else "another VM"
    changes = {"phase": "held", "reason": f"seen on {witness} only so far"}
    return _step(case, part, changes, stamp, part.event.for_record(), settings)


def _differs(part: Part, record: Record) -> bool:
    old, new = record.event, part.event
    return (
        old.values.get("event_status") != new.values.get("event_status")
        or old.values.get("not_before") != new.values.get("not_before")
        or old.resources != new.resources
    )


def _over(case: Case, part: Part, record: Record, settings: Settings, changes: dict[str, Any]) -> None:
    if record.outcome is None:
        changes.update(phase="gone", outcome=presence.outcome(record, began=part.started or part.approved))
        if part.absence.words:
            changes["reason"] = part.absence.words
    elif part.intent == "finish":
        _finish(part, record, settings, changes)
    # Only what was begun can take too long: where nobody looked for a while, as with a slow schedule, it has not been tried yet.
    elif part.intent == "recover" and record.phase == "recovering" and recovery_overdue(part, settings):
        errors = [f"{method.method}: {method.error or method.state}" for method in record.methods if method.state != "undone"]
        changes.update(phase="failed", reason=f"not everything could be put back ({'; '.join(errors)})")


def _finish(part: Part, record: Record, settings: Settings, changes: dict[str, Any]) -> None:
    look = part.host.look
    if look is None:
        raise AssertionError("only a part with a look gets here")
    serves = look.in_service is True or (look.in_service is None and not settings.has_health)
    if serves or (part.held_out and not record.methods):
        changes["phase"] = "recovered"
        if record.phase == "failed":
            changes["reason"] = None
    elif not part.held_out and record.phase != "failed" and recovery_overdue(part, settings):
        changes.update(phase="failed", reason=f"everything was put back, but it is {part.reason}")


def _live(case: Case, part: Part, record: Record, changes: dict[str, Any], stamp: list[str]) -> None:
    phase = record.phase
    if part.absence.first:
        stamp.append("missing_since")
    if part.listed:
        if record.missing_since is not None:
            changes["missing_since"] = None
        if record.outcome is not None:
            phase = "noticed"
            changes.update(phase=phase, outcome=None, reason=None)
    if part.started and record.started_at is None:
        stamp.append("started_at")
    if not part.may_begin and part.intent != "undo":
        return
    target, reason = _target(case, part, phase)
    if target == "held":
        if phase != "held" or record.reason != reason:
            changes.update(phase="held", reason=reason)
    elif target is not None and target != phase:
        changes["phase"] = target
        if record.reason is not None and phase == "held":
            changes["reason"] = None
        if target == "approved" and record.approved_at is None and case.approved_at is not None:
            changes["approved_at"] = timestamps.form(case.approved_at)


def _target(case: Case, part: Part, phase: str) -> tuple[str | None, str | None]:
    """The phase that the record should have, where the roles do not set it."""
    idle = phase in ("noticed", "held")
    if part.started:
        return ("started" if (idle and part.intent == "none") or (drained_now(part) and part.intent == "stay") else None), None
    if part.approved:
        undrained = idle and part.intent == "none" and not part.decision.drain
        return ("approved" if undrained or (drained_now(part) and part.intent == "stay") else None), None
    if part.hold and (idle or part.intent == "undo"):
        return "held", part.hold
    held = case.hold or overrides.blocker(part.word)
    if idle and part.intent == "none" and held:
        return "held", held
    if phase == "held" and part.intent == "none" and part.listed:
        return "noticed", None
    return None, None


def _step(
    case: Case, part: Part, changes: dict[str, Any], stamp: list[str], event: dict[str, Any] | None, settings: Settings
) -> dict[str, Any]:
    record = part.record
    step = {
        "host": part.host.name,
        "act": "note",
        "event_id": record.event.event_id if record else part.event.event_id,
        "changes": changes,
        "stamp": stamp,
        "event": event,
        # Others rely on this note: it must not come from a run that has lost its claim.
        "claim": leases.token(settings) if part.intends else None,
        "reason": changes.get("reason") or changes.get("phase") or (f"notes {', '.join(stamp)}" if stamp else "the event changed"),
        "continues": False,
    }
    if record is None:
        # None yet: a run that was slow must not write over what another has begun since.
        step["expected_revision"] = 0
    elif record.revision is not None:
        step["expected_revision"] = record.revision
    return step
