# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An answer of a VM is judged by what it was asked."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.answers import of_engine as judged

DRAIN = {"action": "drain", "methods": [{"id": "1-service"}]}
FOUND = {"action": "drain", "methods": [{"id": "1-haproxy", "finding": {}}]}
STOPS = {**DRAIN, "stop_at_finding": True}
UNDO = {"action": "undo", "methods": []}


def said(state: str | None, action: str = "drain") -> dict[str, Any]:
    return {"action": action, "stop_at_finding": True, "methods": [{"id": "1-haproxy", "answer": {"state": state, "error": None}}]}


def result(**keys: Any) -> dict[str, Any]:
    return {"results": [keys]}


@pytest.mark.parametrize(("action", "states"), [
    (DRAIN, {"drained", "draining", "failed"}),
    (STOPS, {"drained", "draining", "failed", "found"}),
    (FOUND, {"found", "failed"}),
    (UNDO, {"undone", "undoing", "failed"}),
    # A VM makes nothing better of what tasks have answered.
    (said("drained"), {"drained", "failed"}),
    (said("draining"), {"draining", "failed"}),
    (said("lost"), {"draining", "failed"}),
    (said("failed"), {"failed"}),
    (said("bogus"), {"failed"}),
    (said(None), {"failed"}),
    (said("undone", "undo"), {"undone", "undoing", "failed"}),
    (said("undoing", "undo"), {"undoing", "failed"}),
])  # fmt: skip
def test_a_state_is_one_of_those_asked_for(action: Any, states: set[str]) -> None:
    for state in ("drained", "draining", "lost", "failed", "found", "undone", "undoing", "approved", "begun"):
        answer = judged(result(state=state), action)
        assert answer["state"] == (state if state in states else "failed"), state
        if state not in states:
            assert f"the VM has answered {state}, and not " in answer["error"]


@pytest.mark.parametrize("given", [{}, None, [], {"results": []}, {"results": None}, {"results": [None]}, {"results": ["drained"]}, result(state=None)])
def test_silence_is_a_failure(given: Any) -> None:
    assert judged(given, DRAIN) == {"state": "failed", "error": "the VM has not answered"}


def test_an_action_that_failed_says_why() -> None:
    assert judged(result(failed=True, msg="the lease is gone"), DRAIN) == {"state": "failed", "error": "the lease is gone"}
    assert judged(result(state="failed", error="broken", msg="other"), DRAIN) == {"state": "failed", "error": "broken"}


def test_what_it_waits_for_is_kept() -> None:
    assert judged(result(state="draining", error="3 sessions"), said("draining")) == {"state": "draining", "error": "3 sessions"}
    assert judged(result(state="drained", error=None), DRAIN) == {"state": "drained", "error": None}
    assert judged(result(state="drained", error="of a VM"), FOUND) == {"state": "failed", "error": "of a VM"}


def test_why_the_tasks_failed_comes_first() -> None:
    failed = {"action": "undo", "methods": [{"answer": {"state": "failed", "error": "no route"}}]}
    assert judged(result(state="failed", error="there is no record"), failed)["error"] == "no route; there is no record"
    assert judged(result(state="failed", error="no route"), failed)["error"] == "no route"
    assert judged(result(state="failed", error="no route; the lease is gone"), failed)["error"] == "no route; the lease is gone"
    assert judged(result(state="failed"), said("failed")) == {"state": "failed", "error": None}
    # Only what failed: what tasks waited for is judged by the engine.
    waits = {"action": "drain", "methods": [{"answer": {"state": "draining", "error": "3 sessions"}}]}
    assert judged(result(state="failed", error="late"), waits)["error"] == "late"
