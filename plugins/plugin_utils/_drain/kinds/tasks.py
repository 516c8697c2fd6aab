# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Method tasks: an operator's task files, one for each stage. Their answer is one word, in a fact."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ....module_utils._scheduled_events.core.types import Data, Values
from ....module_utils._scheduled_events.drain.methods.method import Option
from ....module_utils._scheduled_events.journal.record_schema import NOT_YET
from ..._core import plain_values
from .. import answers
from .kind import NOT_ALLOWED, Kind

# What a file may end with, and what that means.
CHECKED = {"drained": None, "draining": "says that it is still draining", "failed": "says that the drain failed"}
UNDONE = {"undone": None, "undoing": "says that it is still undoing", "failed": "says that it failed"}


class Tasks(Kind):
    """Its files stand in its options."""

    name = "tasks"
    options: ClassVar[Mapping[str, Option]] = {stage: Option("task_file", required=True) for stage in ("begin", "check", "undo")}
    has_finding = False
    answer_fact = "drain_tasks_state"

    def by_hand(self, before: Values, options: Values, targets: Sequence[Values]) -> str:
        return "do what the undo file of its entry in drain_methods does" if targets else NOT_ALLOWED

    def stage_options(self, stage: str, options: Data, places: Sequence[str]) -> Data:
        file = find_task_file(str(options.get(stage)), places)
        if file is None:
            raise FileNotFoundError(f"there is no file {options.get(stage)} in {', '.join(places)}")
        return {**options, stage: file}

    def judge(self, said: Any, stage: str, method: Values) -> answers.Answer:
        file = str(plain_values.mapping(method.get("given")).get(stage))
        if stage == "check":
            answer = _answer(said, file, CHECKED)
            # What was drained and drains again has to begin again.
            return {**answer, "state": "lost"} if answer["state"] == "draining" and method.get("state") == "drained" else answer
        if stage == "undo":
            return _answer(said, file, UNDONE)
        if said == NOT_YET:
            return {"state": NOT_YET, "error": f"{file} says that it may not begin yet"}
        return {"state": "failed", "error": f"{file} says that the drain failed."} if said == "failed" else {"state": "begun", "error": None}


def _answer(said: Any, file: str, known: dict[str, str | None]) -> answers.Answer:
    state = str(said)
    if state in known:
        words = known[state]
        return {"state": state, "error": None if words is None else f"{file} {words}"}
    states = " or ".join((", ".join(list(known)[:-1]), list(known)[-1]))
    return {"state": "failed", "error": f"{file} must end by setting the fact drain_tasks_state to {states}; it is {state or 'empty'}"}


def find_task_file(name: str, places: Sequence[str]) -> str | None:
    """Return the path of a task file of the user's own: an absolute one, or one below the first of these places that has it. None without a file."""
    paths = (os.path.abspath(os.path.join(place, name)) for place in (*places, ""))
    return next(filter(os.path.isfile, paths), None)
