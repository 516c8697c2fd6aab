# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a VM answered, judged by the controller's own list: a VM that hangs or lies has not answered."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._loop.answers import acknowledged, approvals, read_answers
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._loop.registers import ITERATION, JUNK, action, answered

LEASE, APPROVE, DRAIN, RELEASE = action("acquire"), action("approve", event_ids=["E1", "E2"]), action("drain"), action("release")
BEFORE = {"approved": ["old"], "could_not_approve": ["older"], "acknowledged": ["e1", "e2"]}
# The answer was given up, and the lease may be made any time after that.
LATE: dict[str, Any] = {"unreachable": True, "msg": "Timeout"}
GIVEN_UP: dict[str, Any] = {"failed": True, "msg": "The maintenance_act action failed to execute in the expected time frame (240) and was terminated"}
OK: dict[str, Any] = {"leases": ["claim-a"]}


def results(asked: list[dict[str, Any]], *registered: Any) -> list[Any]:
    return [answer.result for answer in read_answers(asked, registered)]


# What fits


def test_each_action_gets_its_result() -> None:
    asked = [LEASE, DRAIN]
    found = read_answers(asked, [answered((LEASE, OK), (DRAIN, {"state": "drained"}))])
    assert [answer.asked for answer in found] == asked
    assert [answer.result and answer.result["action"] for answer in found] == ["acquire", "drain"]


@pytest.mark.parametrize("registered", [None, "text", 5, [], {}, {"skipped": True, "changed": False}, {"events": []}, LATE, GIVEN_UP])
def test_who_was_asked_and_registers_nothing_of_it_has_not_answered(registered: Any) -> None:
    assert results([LEASE, DRAIN], registered) == [None, None]
    assert results([LEASE, DRAIN]) == [None, None]


GOOD = answered((APPROVE, {"approved": ["E1"]}))


@pytest.mark.parametrize(
    "registered",
    [
        {**GOOD, "unreachable": True},
        {**GOOD, "asked": None},
        {**GOOD, "asked": []},
        {**GOOD, "asked": [5]},
        {**GOOD, "asked": GOOD["asked"] * 2},
        {**GOOD, "asked": [{**GOOD["asked"][0], "action": "write"}]},
        {**GOOD, "results": None},
        {**GOOD, "results": []},
        {**GOOD, "results": ["approve"]},
        {**GOOD, "results": {"action": "approve"}},
        {**GOOD, "results": GOOD["results"] * 2},
        {**GOOD, "results": [{**GOOD["results"][0], "action": "drain"}]},
        # Of another iteration, or of another run.
        {**GOOD, "asked": [{**GOOD["asked"][0], "iteration": "run1 iteration 2"}]},
        {**GOOD, "asked": [{**GOOD["asked"][0], "iteration": "run2 iteration 3"}]},
        {**GOOD, "asked": [{key: value for key, value in GOOD["asked"][0].items() if key != "iteration"}]},
    ],
)
def test_a_result_that_does_not_fit_what_was_asked_is_none(registered: dict[str, Any]) -> None:
    assert results([APPROVE], GOOD) == GOOD["results"]
    assert results([APPROVE], registered) == [None]


def test_a_failed_task_whose_actions_were_taken_has_their_results() -> None:
    """The module could not observe the VM afterwards: what came of the actions stands all the same."""
    assert results([LEASE], {**answered((LEASE, OK)), "failed": True, "msg": "no document"})[0]["leases"] == ["claim-a"]


def test_the_result_may_be_in_any_of_the_registers_and_the_first_that_fits_counts() -> None:
    old = answered((action("acquire", iteration="run1 iteration 2"), {"leases": ["old"]}))
    assert results([LEASE], old, answered((LEASE, OK)))[0]["leases"] == ["claim-a"]
    assert results([LEASE], answered((LEASE, OK)), answered((LEASE, {"leases": ["second"]})))[0]["leases"] == ["claim-a"]


def test_who_was_asked_nothing_has_answered_nothing() -> None:
    assert read_answers([], [answered((LEASE, OK))]) == []
    assert read_answers([], [{"asked": [], "results": []}]) == []


# Approvals


@pytest.mark.parametrize(
    ("actions", "approved", "could_not"),
    [
        ([(("E1", "E2"), {"approved": ["E1"]})], ["E1"], []),
        # What it was not asked for: an event of others would count as approved.
        ([(("E1",), {"approved": ["e1 ", "E9"]})], ["E1"], []),
        ([(("E1",), {"failed": True, "msg": "x"})], [], ["E1"]),
        # A failure that says it has approved is a failure.
        ([(("E1",), {"failed": True, "approved": ["E1"]})], [], ["E1"]),
        ([(("E1",), {"approved": ["E1"]}), (("E2",), {"failed": True})], ["E1"], ["E2"]),
        ([(("E1",), {"approved": "E1"})], [], []),
        ([(("E1",), {"approved": [5, None, ["E1"]]})], [], []),
        ([((), {"approved": ["E1"]})], [], []),
    ],
)
def test_who_has_approved_is_what_this_run_has_asked(actions: list[Any], approved: list[str], could_not: list[str]) -> None:
    pairs = [(action("approve", event_ids=list(event_ids)), result) for event_ids, result in actions]
    found = read_answers([asked for asked, _result in pairs], [answered(*pairs)])
    assert approvals(found, BEFORE) == (approved, could_not)


@pytest.mark.parametrize("asked", [[], [DRAIN], [LEASE, RELEASE]])
def test_where_no_approval_was_asked_for_that_of_before_stays(asked: list[dict[str, Any]]) -> None:
    found = read_answers(asked, [answered(*((one, {"approved": ["E9"]}) for one in asked))])
    assert approvals(found, BEFORE) == (["old"], ["older"])
    assert approvals(found, {}) == ([], [])


def test_who_does_not_answer_could_not_approve() -> None:
    """Else it would be asked again and again, and no other VM."""
    assert approvals(read_answers([LEASE, APPROVE], [LATE]), BEFORE) == ([], ["E1", "E2"])


# Leases


@pytest.mark.parametrize(
    ("actions", "known"),
    [
        ([], ["e1", "e2"]),
        ([("acquire", OK)], ["e1", "e2"]),
        ([("drain", {"state": "drained"})], ["e1", "e2"]),
        ([("write", OK)], ["e1", "e2"]),
        ([("release", OK)], ["e2"]),
        ([("release", {"failed": True})], ["e2"]),
        ([("acquire", {"failed": True})], ["e2"]),
        ([("acquire", {"failed": True, **OK})], ["e2"]),
        ([("acquire", {})], ["e2"]),
        ([("release", OK), ("acquire", OK)], ["e1", "e2"]),
        ([("acquire", OK), ("release", OK)], ["e2"]),
    ],
)
def test_what_was_released_or_asked_for_in_vain_is_acknowledged_no_more(actions: list[tuple[str, Any]], known: list[str]) -> None:
    pairs = [(action(act), result) for act, result in actions]
    assert acknowledged(read_answers([asked for asked, _result in pairs], [answered(*pairs)]), BEFORE) == known


@pytest.mark.parametrize(
    "registered", [None, LATE, GIVEN_UP, {**answered((LEASE, OK)), **LATE}, answered((action("acquire", iteration="run1 iteration 2"), OK))]
)
def test_without_an_answer_that_fits_the_lease_is_not_acknowledged(registered: Any) -> None:
    assert acknowledged(read_answers([LEASE], [registered]), BEFORE) == ["e2"]
    assert acknowledged(read_answers([RELEASE], [registered]), BEFORE) == ["e2"]


def test_events_are_compared_without_case() -> None:
    asked = action("acquire", event_id="Upgrade:X")
    assert acknowledged(read_answers([asked], [answered((asked, OK))]), {}) == ["upgrade:x"]


def test_the_form_in_which_a_liar_lists_an_id_keeps_no_released_lease_acknowledged() -> None:
    # Its document comes first, so that all VMs are asked with its form of the id.
    taken, released = action("acquire", event_id=" E1\t"), action("release", event_id="E1")
    before = {"acknowledged": acknowledged(read_answers([taken], [answered((taken, OK))]), {})}
    assert acknowledged(read_answers([released], [answered((released, OK))]), before) == []


# Anything


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from([LEASE, APPROVE, DRAIN, RELEASE]), max_size=3), st.lists(JUNK, max_size=2), JUNK, JUNK)
def test_no_register_stops_it_or_adds_an_event(asked: list[dict[str, Any]], registered: list[Any], some_results: Any, some_result: Any) -> None:
    echoed = {"asked": [dict(one) for one in asked], "results": some_results}
    fitting = {**echoed, "results": [{**(some_result if isinstance(some_result, dict) else {}), "action": one["action"]} for one in asked]}
    found = read_answers(asked, [*registered, echoed, fitting])
    assert [answer.asked for answer in found] == asked
    approved, could_not = approvals(found, {})
    assert {*approved, *could_not} <= {"E1", "E2"}
    assert set(acknowledged(found, {})) <= {"e1"}
    assert not asked or found[0].asked["iteration"] == ITERATION
