# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Sentences for operators: the phase of an event, the reason, and what happens next."""

from __future__ import annotations

from ....module_utils._scheduled_events.journal.record_schema import BY_HAND
from ....module_utils._scheduled_events.journal.recorded import Recorded
from ..._drain.kinds import findings
from ..core.blocker import WAITING, Blocker, Kind, first, in_order
from ..core.timestamps import duration
from ..decide.intents import CHANGES, cannot_write, drained_now, record_says
from ..state import overrides
from ..state.event_state import EventState
from ..state.participant import Participant

# They are told of an event that comes in any case, too.
FAILURES: tuple[Kind, ...] = ("cannot_write", "failed")
# Intents of a VM that is undone or recovered, now or later.
RETURNS = ("undo", "recover", "stay")
# What the next run does first that takes over from a dead one, by the phase of the event.
TAKES_OVER = {"draining": "goes on with the drain", "drained": "approves it", "failed": "undoes the failed drain"}
UNDER_WAY = (
    ("undo", "undo the failed drain of {}"),
    ("recover", "recover {}"),
    ("verify", "verify {}"),
    ("drain", "drain {}"),
)


def phase(event_state: EventState) -> str:
    """Return one phase for the whole event. Participants that the event does not name have no influence."""
    participants = event_state.hit or event_state.participants
    phases = [participant.phase for participant in participants]
    if not event_state.hit and not any(phases):
        return "retired" if event_state.retired else "foreign"
    if "failed" in phases:
        return "failed"
    if not event_state.listed and all(one == "recovered" for one in phases) and any(participant.has_ended for participant in participants):
        return "recovered"
    over = [participant for participant in participants if participant.over]
    if over and not event_state.listed:
        return "recovering" if "recovering" in phases else "gone"
    if event_state.started:
        return "started"
    if event_state.approved:
        return "approved"
    if event_state.hit and all(drained_now(participant) for participant in event_state.hit):
        return "drained"
    if any(participant.holds_changes or (participant.phase == "draining" and not participant.waits) for participant in participants):
        return "draining"
    is_held = "held" in phases or any(participant.hold or participant.waits for participant in participants)
    if event_state.hold or event_state.blocked_by("lease") or is_held:
        return "held"
    return "noticed"


def reason(event_state: EventState, event_phase: str) -> str | None:
    """Return why the event is in this phase, or None."""
    if event_phase == "foreign":
        unsure = event_state.named.unsure
        return f"{', '.join(unsure)} may be a VM that was not read" if unsure else "it names none of the managed VMs"
    if event_phase == "retired":
        return f"no run waits for {', '.join(event_state.retired)}"
    participants = event_state.participants
    known = [(one, one.record) for one in participants if one.record and one.phase == "failed"]
    failed = [one.why or (f"{one.host.name}: {record_says(record)}" if record.reason else None) for one, record in known]
    blockers = told(event_state)
    failures = [one.detail for one in blockers if one.kind in FAILURES]
    found = [*failures, *failed, *[one.detail for one in blockers], *[participant.why for participant in participants]]
    return next((text for text in found if text), None)


def told(event_state: EventState) -> list[Blocker]:
    """Return all that blocks the event and its VMs, in the order in which it is told. Of an event that comes in any case, failures alone."""
    participants = event_state.participants
    failures = [participant.failed for participant in participants if participant.failed]
    if unable := [participant for participant in participants if participant.failed and participant.failed.kind == "cannot_write"]:
        # Of several causes the first one.
        failures = [cannot_write(unable), *[one for one in failures if one.kind != "cannot_write"]]
    if not event_state.listed or event_state.started or event_state.approved:
        return in_order(failures)
    return in_order([*failures, *event_state.blockers, *[participant.hold for participant in participants if participant.hold]])


def upcoming(event_state: EventState, event_phase: str) -> str:
    """Return what happens next."""
    if event_phase in ("foreign", "retired") or (event_phase == "recovered" and not event_state.ours):
        return "nothing"
    if not event_state.ours:
        return "nothing in this run (respond_only_events)"
    if event_state.approver:
        return f"approve from {event_state.approver}"
    found = [sentence for participant in event_state.participants if (sentence := waits_for_operator(participant))]
    able = [participant for participant in event_state.participants if not waits_for_operator(participant)]
    if wrong := [participant.host.name for participant in able if participant.named and participant.host.wrong_settings]:
        found.append(f"correct the settings of {', '.join(wrong)}")
    if unable := [participant.host.name for participant in able if participant.host.cannot_write and participant.intent in CHANGES]:
        found.append(f"let {', '.join(unable)} write records again")
    for intent, template in UNDER_WAY:
        names = [participant.host.name for participant in able if participant.intent == intent and not participant.host.cannot_write]
        if names:
            found.append(template.format(", ".join(names)))
    if found:
        return "; ".join(found)
    if finishing := [participant.host.name for participant in event_state.participants if participant.intent == "finish"]:
        return f"wait for {', '.join(finishing)} to be in service"
    return _idle(event_state, event_phase)


def left_by_hand(participant: Participant) -> list[Recorded]:
    """Return the methods that are not undone because the variables no longer name them (_drain/records/reports.py); an operator has to undo them."""
    methods = participant.record.methods if participant.record and participant.ok else ()
    return [method for method in methods if method.state != "undone" and method.error_kind == BY_HAND]


def waits_for_operator(participant: Participant) -> str | None:
    """Return what an operator has to do before the VM recovers further, or None if the run can continue."""
    left = left_by_hand(participant)
    if (
        participant.intent not in RETURNS
        or participant.record is None
        or not left
        or len(left) < sum(method.state != "undone" for method in participant.record.methods)
    ):
        return None
    names = ", ".join(findings.shown(method.identifier) for method in left)
    own = "put back by hand what was its own, and list it in drain_methods_former"
    return f"compare {names} in the record of {participant.host.name} with drain_methods, {own}"


def _idle(event_state: EventState, event_phase: str) -> str:
    if event_state.listed and event_state.hit and all(participant.host.state == "resting" for participant in event_state.hit):
        return "the next run handles it"
    if event_phase == "recovered":
        return "nothing"
    if not event_state.listed:
        return _unlisted(event_state)
    if event_state.started:
        return "wait for its end"
    if event_state.approved:
        return "wait for Azure to start it"
    if (given_up := [participant.host.name for participant in event_state.hit if participant.exhausted]) and event_state.override is None:
        decides = f"take {', '.join(given_up)} out of service by hand, then decide (decide_action=approve)"
        return f"{decides}; otherwise {_azure_starts(event_state)}"
    if held := first(told(event_state), "paused", "start_gate") or overrides.blocker(event_state.override):
        return f"{held.way_out}; otherwise {_by_itself(event_state)}"
    if full := event_state.blocked_by("capacity", "cluster"):
        return full.way_out
    return _by_itself(event_state)


def _unlisted(event_state: EventState) -> str:
    """Return what happens next to an event that is no longer listed, and whose VMs are not recovered yet."""
    if at_work := event_state.blocked_by("lease"):
        return f"{at_work.way_out} and recovers its VMs"
    waiting = [participant for participant in event_state.participants if participant.wait]
    if any(not participant.over for participant in waiting):
        return "confirm whether it is over"
    # A recovery that failed, until its next attempt.
    if waiting:
        return f"recover {', '.join(participant.host.name for participant in waiting)} again in {duration(min(one.wait or 0.0 for one in waiting))}"
    if silent := [participant.host.name for participant in event_state.participants if not participant.ok]:
        return f"wait for {', '.join(silent)} to answer"
    return "recover its VMs when nothing keeps them drained"


def _by_itself(event_state: EventState) -> str:
    """Return what happens next without an operator."""
    if at_work := event_state.blocked_by("lease"):
        return f"{at_work.way_out} and {TAKES_OVER.get(phase(event_state), 'drains its VMs')}"
    waits = [participant.wait for participant in event_state.participants if participant.wait is not None]
    # Azure does not wait for the next observation: an operator's override may hold until tomorrow.
    if waits and (event_state.left is None or min(waits) < event_state.left):
        return f"observe again in {duration(min(waits))}"
    if waiting := event_state.blocked_by("capacity", "cluster", *WAITING):
        return waiting.way_out
    return _azure_starts(event_state)


def _azure_starts(event_state: EventState) -> str:
    return "Azure starts it by itself" + (f" in {duration(event_state.left)}" if event_state.left and event_state.left > 0 else "")
