# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences for operators: the phase of an event, the reason, and what happens next."""

from __future__ import annotations

from collections.abc import Iterable

from ..._drain.records import findings
from ..config.start_hold import StartHold
from ..core.model import Method
from ..core.timestamps import duration
from ..decide.intents import CHANGES, drained_now
from ..state import overrides
from ..state.event_state import EventState, Participant

# Intents of a VM that is undone or recovered, now or later.
RETURNS = ("undo", "recover", "stay")
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
    if any(participant.holds_changes or participant.phase == "draining" for participant in participants):
        return "draining"
    if event_state.hold or event_state.leased or any(participant.hold for participant in participants) or "held" in phases:
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
    found = [_not_writable(participants), *[participant.failed for participant in participants]]
    found += [_participant_reason(participant) for participant in participants if participant.phase == "failed"]
    if event_state.listed and not event_state.started and not event_state.approved:
        start_hold = _start_hold(event_state)
        found += [
            start_hold.detail if start_hold else None,
            event_state.hold,
            event_state.leased,
            event_state.full,
            *event_state.blockers,
            *[participant.hold for participant in participants],
            event_state.waits_for,
        ]
    found += [participant.reason for participant in participants]
    return next((text for text in found if text), None)


def _start_hold(event_state: EventState) -> StartHold | None:
    """Return the pause, or the start gate, that holds the event or a drain for it, or None."""
    hold = event_state.start_hold
    held = hold is not None and (event_state.hold == hold.text or any(participant.hold == hold.text for participant in event_state.participants))
    return hold if held else None


def _not_writable(participants: Iterable[Participant]) -> str | None:
    """Return which VMs cannot write their records, and so take no action; of several causes the first one."""
    unable = [participant for participant in participants if participant.failed and participant.host.cannot_write and participant.intent in CHANGES]
    if not unable:
        return None
    first = unable[0]
    names = [participant.host.name for participant in unable if participant.host.cannot_write == first.host.cannot_write]
    return f"cannot {first.intent} {', '.join(names)}: {first.host.cannot_write}"


def _participant_reason(participant: Participant) -> str | None:
    return participant.reason or (participant.record.reason if participant.record else None)


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


def imperative(sentence: str) -> str:
    """Return a reason such as C(waits for web2 to drain) as what comes next: C(wait for web2 to drain)."""
    verb, blank, rest = sentence.partition(" ")
    return f"{verb.removesuffix('s')}{blank}{rest}"


def left_by_hand(participant: Participant) -> list[Method]:
    """Return the methods that are not undone because the variables no longer name them (_drain/records/reports.py); an operator has to undo them."""
    methods = participant.record.methods if participant.record and participant.ok else ()
    return [method for method in methods if method.state != "undone" and method.error and "by hand" in method.error]


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
    if hold := _start_hold(event_state):
        return f"{hold.way_out}; otherwise {_by_itself(event_state)}"
    if overrides.blocker(event_state.override):
        return f"end the override with decide_action=release; otherwise {_by_itself(event_state)}"
    if event_state.full and event_state.waits_for:
        return imperative(event_state.waits_for)
    return _by_itself(event_state)


def _unlisted(event_state: EventState) -> str:
    """Return what happens next to an event that is no longer listed, and whose VMs are not recovered yet."""
    if any(participant.wait for participant in event_state.participants):
        return "confirm whether it is over"
    if silent := [participant.host.name for participant in event_state.participants if not participant.ok]:
        return f"wait for {', '.join(silent)} to answer"
    return "recover its VMs when nothing keeps them drained"


def _by_itself(event_state: EventState) -> str:
    """Return what happens next without an operator."""
    waits = [participant.wait for participant in event_state.participants if participant.wait is not None]
    # Azure does not wait for the next observation: an operator's override may hold until tomorrow.
    if waits and (event_state.left is None or min(waits) < event_state.left):
        return f"observe again in {duration(min(waits))}"
    if event_state.waits_for:
        return imperative(event_state.waits_for)
    return _azure_starts(event_state)


def _azure_starts(event_state: EventState) -> str:
    return "Azure starts it by itself" + (f" in {duration(event_state.left)}" if event_state.left and event_state.left > 0 else "")
