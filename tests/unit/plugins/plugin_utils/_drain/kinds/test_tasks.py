# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method tasks: what its files say at their end, and what is no answer."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain import answers
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.kinds.tasks import Tasks


@pytest.mark.parametrize(("said", "recorded", "state", "error"), [
    ("drained", "begun", "drained", None),
    ("drained", "drained", "drained", None),
    ("draining", "begun", "draining", "c.yml says that it is still draining"),
    ("draining", "drained", "lost", "c.yml says that it is still draining"),
    ("failed", "drained", "failed", "c.yml says that the drain failed"),
    ("", "drained", "failed", "c.yml must end by setting the fact drain_tasks_state to drained, draining or failed; it is empty"),
    ("undone", "begun", "failed", "c.yml must end by setting the fact drain_tasks_state to drained, draining or failed; it is undone"),
    ("lost", "begun", "failed", "c.yml must end by setting the fact drain_tasks_state to drained, draining or failed; it is lost"),
    (True, "begun", "failed", "c.yml must end by setting the fact drain_tasks_state to drained, draining or failed; it is True"),
])  # fmt: skip
def test_a_check(said: Any, recorded: str, state: str, error: str | None) -> None:
    assert Tasks().judge(said, "check", {"given": {"check": "c.yml"}, "state": recorded}) == {"state": state, "error": error}


@pytest.mark.parametrize(("said", "state", "error"), [
    ("undone", "undone", None),
    ("undoing", "undoing", "u.yml says that it is still undoing"),
    ("failed", "failed", "u.yml says that it failed"),
    ("drained", "failed", "u.yml must end by setting the fact drain_tasks_state to undone, undoing or failed; it is drained"),
    ("", "failed", "u.yml must end by setting the fact drain_tasks_state to undone, undoing or failed; it is empty"),
])  # fmt: skip
def test_an_undo(said: str, state: str, error: str | None) -> None:
    assert Tasks().judge(said, "undo", {"given": {"undo": "u.yml"}, "state": "begun"}) == {"state": state, "error": error}


def test_a_begin() -> None:
    for said, state, error in (
        ("", "begun", None),
        ("not_yet", "not_yet", "b.yml says that it may not begin yet"),
        ("failed", "failed", "b.yml says that the drain failed."),
    ):
        assert Tasks().judge(said, "begin", {"given": {"begin": "b.yml"}, "state": "new"}) == {"state": state, "error": error}


@pytest.mark.parametrize(("stage", "states"), [("check", "drained, draining, lost, failed"), ("undo", "undone, undoing, failed")])
def test_an_answer_is_one_of_its_stage(stage: str, states: str) -> None:
    for state in ("drained", "draining", "lost", "failed", "undone", "undoing"):
        answer = answers.of_stage({"state": state, "error": "why"}, stage, "marker")
        if state in states.split(", "):
            assert answer == {"state": state, "error": "why"}
        else:
            words = f"marker: {stage}.yml must end by setting the fact method_answer to a dictionary with state, one of {states}; it is {state}"
            assert answer == {"state": "failed", "error": words}


@pytest.mark.parametrize("said", [{}, None, "drained", "undone", [], {"error": None}, {"state": None}, {"state": ""}])
@pytest.mark.parametrize("stage", ["check", "undo"])
def test_silence_has_failed(said: Any, stage: str) -> None:
    answer = answers.of_stage(said, stage, "marker")
    assert answer["state"] == "failed" and answer["error"].endswith("; it is empty")


@pytest.mark.parametrize("error", [None, ""])
def test_without_words_there_is_no_error(error: Any) -> None:
    assert answers.of_stage({"state": "drained", "error": error}, "check", "marker") == {"state": "drained", "error": None}
    assert answers.of_stage({"state": "drained"}, "check", "marker") == {"state": "drained", "error": None}


@pytest.mark.parametrize("finding", [{}, {"was_there": True}])
def test_a_finding_is_a_dictionary(finding: dict[str, Any]) -> None:
    assert answers.of_stage({"finding": finding}, "find", "marker") == {"state": "found", "error": None, "finding": finding}


@pytest.mark.parametrize("said", [{}, None, {"finding": None}, {"finding": "text"}, {"finding": []}, {"state": "found"}])
def test_anything_else_is_no_finding(said: Any) -> None:
    answer = answers.of_stage(said, "find", "marker")
    assert answer["state"] == "failed" and "find.yml must end by setting the fact method_answer" in answer["error"]


@pytest.mark.parametrize("stage", ["find", "begin", "check", "undo"])
def test_not_yet_is_an_answer_of_find_and_begin(stage: str) -> None:
    answer = answers.of_stage({"state": "not_yet", "error": "web2 is down", "finding": {}}, stage, "marker")
    if stage in ("find", "begin"):
        assert answer == {"state": "not_yet", "error": "web2 is down", "hold": None}
        assert answers.of_stage({"state": "not_yet"}, stage, "marker")["error"] == "no reason given"
    else:
        assert answer["state"] == "failed" and answer["error"].endswith("; it is not_yet")


def test_a_check_may_say_that_the_vm_should_be_back() -> None:
    answer = answers.of_stage({"state": "draining", "error": "3 left", "hold": "web2 is down"}, "check", "marker")
    assert answer == {"state": "draining", "error": "3 left", "hold": "web2 is down"}
    assert answers.of_stage({"state": "undone", "hold": "x"}, "undo", "marker") == {"state": "undone", "error": None}


@pytest.mark.parametrize("said", [{}, {"state": "drained"}, {"state": "undone"}])
def test_a_begin_has_no_answer(said: Any) -> None:
    assert answers.of_stage(said, "begin", "marker") == {"state": "begun", "error": None}
