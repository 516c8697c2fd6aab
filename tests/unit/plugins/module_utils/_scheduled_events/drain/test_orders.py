# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Orders are read from plain data that came over the wire: what is not said in so many words is not done, and nothing is guessed."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.orders import OrderError, drain_order, undo_order

STEP = {"id": "1-service", "kind": "service"}


def test_a_drain_that_says_little_is_whole_on_time_and_by_the_settings():
    order = drain_order({"methods": [STEP]})
    assert (order.event, order.rule, order.deadline, order.problem) == ({}, {}, None, None)
    assert (order.late, order.verify, order.complete, order.stop_at_finding) == (False, False, True, False)
    (step,) = order.methods
    assert step[:4] == ("1-service", "service", False, {})
    assert (step.outside, step.runs, step.ends, step.report) == (False, True, True, None)


@pytest.mark.parametrize("key", ["late", "verify", "stop_at_finding"])
@pytest.mark.parametrize("value,found", [(True, True), (False, False), ("true", False), (1, False), (None, False)])
def test_what_a_drain_is_told_is_told_as_true(key, value, found):
    assert getattr(drain_order({"methods": [], key: value}), key) is found


@pytest.mark.parametrize("value,found", [(True, True), (False, False), ("false", True), (0, True), (None, True)])
def test_only_false_makes_an_order_a_part_and_a_step_one_that_does_not_act_or_end(value, found):
    assert drain_order({"methods": [], "complete": value}).complete is found
    assert undo_order({"methods": [], "complete": value}).complete is found
    (order,) = undo_order({"methods": [{**STEP, "runs": value, "ends": value}]}).methods
    assert (order.runs, order.ends) == (found, found)


@pytest.mark.parametrize("value,found", [(True, True), (False, False), ("true", False), (1, False), (None, False)])
def test_an_undo_keeps_the_phase_and_a_step_acts_outside_only_where_that_is_true(value, found):
    assert undo_order({"methods": [], "keep_phase": value}).keep_phase is found
    (order,) = drain_order({"methods": [{**STEP, "outside": value}]}).methods
    assert order.outside is found


def test_everything_that_is_said_is_read():
    event, rule, given = {"event_id": "E1"}, {"name": "r"}, {"names": ["a"]}
    order = drain_order({"event": event, "methods": [{**STEP, "where": "own", "given": given, "report": 5}], "deadline": "soon", "rule": rule, "problem": "p"})
    assert (order.event, order.rule, order.deadline, order.problem) == (event, rule, "soon", "p")
    assert order.methods[0].by_record and order.methods[0].options == given and order.methods[0].report == "5"
    assert undo_order({"event": event, "methods": (STEP,), "reports": ["one", 2]})[4] == ["one", "2"]
    assert undo_order({"methods": []}).reports == []


@pytest.mark.parametrize("methods", [None, "service", {"id": "1"}, 5])
def test_methods_that_are_no_list_are_refused(methods):
    for read in (drain_order, undo_order):
        with pytest.raises(OrderError, match="methods must be a list of methods"):
            read({"methods": methods})


@pytest.mark.parametrize("step", [None, "service", {}, {"id": "1"}, {"kind": "service"}, {"id": 1, "kind": "service"}, {"id": "1", "kind": 5}])
def test_a_step_without_its_names_is_refused(step):
    with pytest.raises(OrderError, match="a method with id and kind"):
        drain_order({"methods": [STEP, step]})


@pytest.mark.parametrize("value", [None, [], "text", 5])
def test_what_should_be_a_dictionary_and_is_none_is_empty(value):
    order = drain_order({"methods": [{**STEP, "given": value}], "event": value, "rule": value})
    assert (order.event, order.rule, order.methods[0].options) == ({}, {}, {})


@pytest.mark.parametrize("value", [None, ""])
def test_an_empty_text_is_none(value):
    order = drain_order({"methods": [{**STEP, "report": value}], "deadline": value, "problem": value})
    assert (order.deadline, order.problem, order.methods[0].report) == (None, None, None)


@pytest.mark.parametrize("more", [{"stop_at_finding": True}, {"finding": {}}, {"answer": {"state": "drained"}}])
def test_methods_that_begin_at_once_wait_for_nobody(more):
    method = dict({"id": "1-x", "kind": "command"}, **{key: value for key, value in more.items() if key != "stop_at_finding"})
    given = {"methods": [method], "at_once": True, "stop_at_finding": more.get("stop_at_finding")}
    with pytest.raises(OrderError, match="cannot wait for what is done elsewhere"):
        drain_order(given)
    assert drain_order({**given, "at_once": False}).at_once is False
