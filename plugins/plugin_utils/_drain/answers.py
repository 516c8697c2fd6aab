# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Answers of methods that are tasks, and what method tasks makes of the fact drain_tasks_state: silence is no drain."""

from __future__ import annotations

from typing import Any, TypedDict


class Answer(TypedDict):
    """How far a drain or an undo is."""

    state: str
    error: str | None


CHECKED = {"drained": None, "draining": "says that it is still draining", "failed": "says that the drain failed"}
UNDONE = {"undone": None, "undoing": "says that it is still undoing", "failed": "says that it failed"}


def checked(said: Any, file: str, recorded: str) -> Answer:
    """Return the answer of a check, with the method's state in the record: what was drained and drains again has to begin again."""
    answer = _answer(said, file, CHECKED)
    return {**answer, "state": "lost"} if answer["state"] == "draining" and recorded == "drained" else answer


def undone(said: Any, file: str) -> Answer:
    """Return the answer of an undo."""
    return _answer(said, file, UNDONE)


def _answer(said: Any, file: str, known: dict[str, str | None]) -> Answer:
    state = str(said)
    if state in known:
        words = known[state]
        return {"state": state, "error": None if words is None else f"{file} {words}"}
    states = " or ".join((", ".join(list(known)[:-1]), list(known)[-1]))
    return {"state": "failed", "error": f"{file} must end by setting the fact drain_tasks_state to {states}; it is {state or 'empty'}"}
