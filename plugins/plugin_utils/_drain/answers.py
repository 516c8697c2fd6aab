# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Answers of methods that are tasks, by the stage, and of the engine on a VM, by what it was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from ...module_utils._scheduled_events.core.types import Data, Values
from ...module_utils._scheduled_events.journal.record_schema import NOT_YET
from .._core import plain_values


class Answer(TypedDict):
    """How far a drain or an undo is."""

    state: str
    error: str | None


class StageAnswer(Answer, total=False):
    """What a stage of a method that is tasks has answered."""

    finding: Data
    """Of find.yml."""
    hold: str | None
    """Why too few others serve without the VM: what is out is put back while there is time, and not approved."""
    addresses: dict[str, list[str]]
    """Of find.yml: by address, in words what has it, and the name that it has there; a host of the inventory may have both."""
    away: int
    """What it asks has answered in this drain and does not now, which is no failure yet: for so many seconds, where nothing has moved for good."""
    moved: bool
    """Of check.yml: something has left that no undo brings back at once, so that it waits for what is away until the deadline."""
    note: str
    """Of find.yml: what an operator has to know all the same."""


# What the engine may answer, by what was asked; by what tasks have answered already, it may make nothing better of it.
DRAIN_STATES, UNDO_STATES = ("drained", "draining", "failed"), ("undone", "undoing", "failed")
AT_MOST: Mapping[str, Sequence[str]] = {
    "drained": ("drained", "failed"),
    "draining": ("draining", "failed"),
    "lost": ("draining", "failed"),
    "not_yet": ("draining", "failed"),
    "undone": UNDO_STATES,
    "undoing": ("undoing", "failed"),
}
# Seconds for which what a method asks outside its VM may be away, before that is a failure.
AWAY_WITHIN = 120
OF_AUTHORITY = ("away", "moved")
# What the files of a method may set method_answer to.
# The stages that may answer that the method does not begin yet.
MAY_WAIT = ("find", "begin")
STAGES: Mapping[str, Sequence[str]] = {"check": ("drained", "draining", "lost", "failed"), "undo": ("undone", "undoing", "failed")}


def of_stage(said: Any, stage: str, kind: str) -> StageAnswer:
    """Return what find.yml, begin.yml, check.yml or undo.yml of a method has answered. What is no answer of that stage has failed."""
    given = plain_values.mapping(said)
    state, error = given.get("state"), plain_values.text(given.get("error"))
    hold = plain_values.text(given.get("hold"))
    if stage in MAY_WAIT and state == NOT_YET:
        return {"state": NOT_YET, "error": hold or error or "no reason given", "hold": hold}
    if stage == "find":
        finding = given.get("finding")
        if isinstance(finding, Mapping):
            return {"state": "found", "error": None, "finding": dict(finding)}
        return {"state": "failed", "error": f"{kind}: find.yml must end by setting the fact method_answer to a dictionary with finding, a dictionary"}
    if stage == "begin":
        # A begin that does not fail has begun; what came of it is for the check to say.
        return {"state": "begun", "error": None}
    known = STAGES[stage]
    if state not in known:
        must = f"must end by setting the fact method_answer to a dictionary with state, one of {', '.join(known)}"
        return {"state": "failed", "error": f"{kind}: {stage}.yml {must}; it is {state or 'empty'}"}
    answer: StageAnswer = {"state": str(state), "error": error}
    if stage == "check" and hold:
        answer["hold"] = hold
    return answer


def of_engine(result: Any, action: Values) -> Answer:
    """Return the answer of maintenance_act about the one action that it was given. Anything but an answer to that is a failure."""
    found = plain_values.mapping(next(iter(plain_values.items(plain_values.mapping(result).get("results"))), None))
    told = next((plain_values.mapping(order) for order in plain_values.items(action.get("methods"))), {})
    said = plain_values.mapping(told.get("answer"))
    known = _expected(action, told, said)
    state = found.get("state") if found.get("state") in known else "failed"
    words = [str(found.get("error") or found.get("msg") or "")]
    if state != found.get("state") and not words[0]:
        words = [f"the VM has answered {found['state']}, and not {' or '.join(known)}" if found.get("state") else "the VM has not answered"]
    reason = str(said.get("error") or "") if said.get("state") == "failed" else ""
    if reason not in words[0]:
        # Why the tasks failed comes before why that could not be recorded.
        words.insert(0, reason)
    return {"state": str(state), "error": "; ".join(filter(None, words)) or None}


def _expected(action: Values, told: Values, said: Values) -> Sequence[str]:
    if "finding" in told:
        return ("found", "failed")
    if "answer" in told:
        return AT_MOST.get(str(said.get("state")), ("failed",))
    if action.get("action") == "undo":
        return UNDO_STATES
    return (*DRAIN_STATES, "found") if plain_values.flag(action.get("stop_at_finding")) else DRAIN_STATES
