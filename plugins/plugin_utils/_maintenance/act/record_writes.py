# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What must be written to the records, one action for each VM and event, and which records are removed. One that is up to date is left alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ....module_utils._scheduled_events.journal.record_schema import SEEN, UNSEEN
from ..config.settings import Settings
from ..core import timestamps
from ..core.actions import Prune, WriteRecord
from ..core.blocker import Blocker
from ..core.model import Host, Record
from ..decide import leases
from ..decide.intents import drained_now, recovery_overdue
from ..state import overrides
from ..state.event_state import EventState
from ..state.participant import Participant

PRUNE_AFTER = 86400.0


def note(event_state: EventState, participant: Participant, settings: Settings) -> WriteRecord | None:
    """Return the action that writes what is new about one VM and event, or None."""
    record = participant.record
    if not participant.ok:
        return None
    if record is None:
        return _first(event_state, participant, settings)
    if participant.over:
        changes, stamp = _over(participant, record, settings), []
    else:
        changes, stamp = _live(event_state, participant, record), _stamps(participant, record)
    changes = {**_seen(record), **changes}
    event = participant.event.for_record() if participant.listed and _differs(participant, record) else None
    if participant.intends:
        stamp.append("approving_at")
    if not changes and not stamp and event is None:
        return None
    return _write(participant, changes, stamp, event, settings)


def _seen(record: Record) -> dict[str, Any]:
    """Return what tells the VM's own watcher, which began the record, that a run knows of the event: then it does not tell it again."""
    return {"watcher": SEEN} if record.watcher == UNSEEN else {}


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
    held = _held(Blocker("unproven", f"listed on {witness} only so far", (witness,)))
    return _write(participant, held, stamp, participant.event.for_record(), settings)


def _held(blocker: Blocker) -> dict[str, Any]:
    return {"phase": "held", "reason": blocker.text, "blocker": blocker.identity}


def _differs(participant: Participant, record: Record) -> bool:
    old, new = record.event, participant.event
    return (
        old.values.get("event_status") != new.values.get("event_status")
        or old.values.get("not_before") != new.values.get("not_before")
        or old.resources != new.resources
    )


def _over(participant: Participant, record: Record, settings: Settings) -> dict[str, Any]:
    """Return what changes in the record of an event that is gone for the VM."""
    if record.outcome is None:
        text = participant.presence.text
        return {"phase": "gone", "outcome": participant.outcome, **({"reason": text} if text else {})}
    if participant.intent == "finish":
        return _finish(participant, record, settings)
    # Only a recovery that was begun can take too long: with a slow schedule it may not have been tried yet.
    if participant.intent == "recover" and record.phase == "recovering" and recovery_overdue(participant, settings):
        errors = [f"{method.kind}: {method.error or method.state}" for method in record.methods if method.state != "undone"]
        return {"phase": "failed", "reason": f"not everything could be put back ({'; '.join(errors)})"}
    return {}


def _finish(participant: Participant, record: Record, settings: Settings) -> dict[str, Any]:
    observation = participant.host.observation
    if observation is None:
        raise AssertionError("only a participant with an observation gets here")
    serves = observation.in_service is True or (observation.in_service is None and not settings.has_health)
    if serves or (participant.held_out and not record.methods):
        return {"phase": "recovered", **({"reason": None} if record.phase == "failed" else {})}
    if not participant.held_out and record.phase != "failed" and recovery_overdue(participant, settings):
        return {"phase": "failed", "reason": f"everything was put back, but it is {participant.reason}"}
    return {}


def _stamps(participant: Participant, record: Record) -> list[str]:
    """Return the times that the VM writes by its own clock while the event is not over."""
    missing = ["missing_since"] if participant.presence.first else []
    return [*missing, "started_at"] if participant.started and record.started_at is None else missing


def _live(event_state: EventState, participant: Participant, record: Record) -> dict[str, Any]:
    """Return what changes in the record of an event that is not over."""
    again = _listed_again(record) if participant.listed else {}
    if not participant.may_begin and participant.intent != "undo":
        return again
    return {**again, **_phase_change(event_state, participant, record, again.get("phase", record.phase))}


def _listed_again(record: Record) -> dict[str, Any]:
    """Return what changes when a document lists the event whose absence, or end, was recorded."""
    changes: dict[str, Any] = {} if record.missing_since is None else {"missing_since": None}
    return changes if record.outcome is None else {**changes, "phase": "noticed", "outcome": None, "reason": None}


def _phase_change(event_state: EventState, participant: Participant, record: Record, phase: str) -> dict[str, Any]:
    if participant.intent == "fail":
        return {"phase": "failed", "reason": participant.reason}
    target, blocker = _target(event_state, participant, phase)
    if blocker is not None:
        return {} if phase == "held" and record.blocker == blocker.identity else _held(blocker)
    if target is None or target == phase:
        return {}
    changes: dict[str, Any] = {"phase": target}
    if record.reason is not None and phase == "held":
        changes["reason"] = None
    if target == "approved" and record.approved_at is None and event_state.approved_at is not None:
        changes["approved_at"] = timestamps.form(event_state.approved_at)
    return changes


def _target(event_state: EventState, participant: Participant, phase: str) -> tuple[str | None, Blocker | None]:
    """Return the phase that the record should have, and the blocker of a hold, where the roles do not set them."""
    idle = phase in ("noticed", "held")
    if participant.started:
        return ("started" if (idle and participant.intent == "none") or (drained_now(participant) and participant.intent == "stay") else None), None
    if participant.approved:
        undrained = idle and participant.intent == "none" and not participant.decision.drain
        return ("approved" if undrained or (drained_now(participant) and participant.intent == "stay") else None), None
    if participant.hold and (idle or participant.intent == "undo"):
        return "held", participant.hold
    blocker = event_state.hold or overrides.blocker(participant.override)
    if idle and participant.intent == "none" and blocker:
        return "held", blocker
    if phase == "held" and participant.intent == "none" and participant.listed:
        return "noticed", None
    return None, None


def _stamp_reason(stamp: list[str]) -> str:
    """Return why a record is written that gets a time, or another version of its event."""
    if "missing_since" in stamp:
        return "no longer listed; confirming"
    return "started" if stamp else "the event changed"


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
        reason=changes.get("reason") or changes.get("phase") or ("its watcher began the record" if "watcher" in changes else _stamp_reason(stamp)),
        # Revision 0 where there is no record yet: a run that was slow must not overwrite what another has begun since.
        expected_revision=record.revision if record else 0,
    )


def prune(hosts: Iterable[Host], settings: Settings) -> list[Prune]:
    """Prune the records whose undo was verified more than a day ago, at most one for each VM."""
    found = []
    for host in hosts:
        for record in host.observation.records.values() if host.observation else ():
            recovered = record.last("recovered") if record.phase == "recovered" else None
            if host.observation and recovered is not None and host.observation.now - recovered > PRUNE_AFTER:
                found.append(Prune(host=host.name, event_id=record.event.event_id, reason="it was over more than a day ago", history=settings.history))
                break
    return found
