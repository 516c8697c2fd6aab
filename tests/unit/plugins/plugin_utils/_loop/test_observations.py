# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Observations: no VM is left away, and none that was not observed again is taken for one that was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import vm_settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop.observations import NO_OBSERVATION, HostResults, observation, resting
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.planner import make_plan
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._loop.registers import JUNK, action, answered
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._loop.test_vm_settings import METHODS, TARGETS
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import SETTINGS, at, event, vm
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.upgrade.test_gate import RUN, lease

OBSERVATION = {"changed": False, "events": [], "now": "2026-11-21T20:00:00Z", "vm_name": "web1", "identity": {"name": "web1", "vm_id": "a"}, "records": []}
LEASE, APPROVE = action("acquire"), action("approve", event_ids=["E1"])


def of(
    observed: Any = None, *, acted: Any = None, facts: Any = None, given: Any = None, before: Any = None, asked: Any = (), identity: Any = None
) -> dict[str, Any]:
    return observation("web1", HostResults(observed, acted, facts, identity or {}), vm_settings.read(given, "web1"), before or {}, asked)


# What was observed


def test_a_good_observation() -> None:
    found = of(OBSERVATION)
    assert (found["host"], found["state"], found["error"], found["observation"]) == ("web1", "ok", None, OBSERVATION)
    assert (found["reached_before"], found["last_observation"], found["listed_before"]) == (False, None, None)


@pytest.mark.parametrize(
    ("observed", "state", "error"),
    [
        (None, "failed", NO_OBSERVATION),
        ("text", "failed", NO_OBSERVATION),
        ([OBSERVATION], "failed", NO_OBSERVATION),
        ({}, "failed", NO_OBSERVATION),
        ({"skipped": True, "changed": False}, "failed", NO_OBSERVATION),
        ({"msg": "timed out"}, "failed", "timed out"),
        ({**OBSERVATION, "failed": True, "msg": "late"}, "failed", "late"),
        ({**OBSERVATION, "failed": True}, "failed", NO_OBSERVATION),
        ({**OBSERVATION, "unreachable": True, "msg": "no route"}, "unreachable", "no route"),
        ({"failed": True, "not_reached": True, "msg": "no route"}, "unreachable", "no route"),
        ({**OBSERVATION, "unreachable": True, "failed": True}, "unreachable", "no reason given"),
        ({**OBSERVATION, "unreachable": True, "msg": ["x"]}, "unreachable", "no reason given"),
    ],
)
def test_one_that_failed_is_never_a_good_one(observed: Any, state: str, error: str) -> None:
    found = of(observed)
    assert (found["state"], found["error"], found["observation"]) == (state, error, None)


def test_one_that_failed_keeps_what_was_seen_before() -> None:
    first = of(OBSERVATION)
    second = of({"failed": True, "msg": "late"}, before=first)
    assert (second["state"], second["reached_before"], second["last_observation"], second["listed_before"]) == ("failed", True, OBSERVATION, [])
    third = of({"unreachable": True}, before=second)
    assert (third["reached_before"], third["last_observation"], third["listed_before"]) == (True, OBSERVATION, None)
    assert (of(OBSERVATION, before=third)["state"], of(OBSERVATION, before=third)["listed_before"]) == ("ok", None)


def test_a_good_one_says_what_was_listed_before_it() -> None:
    listed = [event()]
    assert of(OBSERVATION, before=of({**OBSERVATION, "events": listed}))["listed_before"] == listed


@pytest.mark.parametrize(
    ("entry", "left"),
    [
        ({"method": "patroni"}, ["etcd.service", "patroni.service"]),
        ({"method": "patroni", "store": {}}, ["patroni.service"]),
        ({"method": "patroni", "store": {"kind": "etcd"}}, ["patroni.service"]),
        ({"method": "none", "store": {"kind": "etcd"}}, ["etcd.service", "patroni.service"]),
    ],
)
def test_a_service_whose_option_is_set_is_left_out(entry: Any, left: list[str]) -> None:
    given = {"drain_methods": [entry, "text"]}
    assert of({**OBSERVATION, "services": ["etcd.service", "patroni.service", 5]}, given=given)["observation"]["services"] == left


@pytest.mark.parametrize("events", [5, None, "text", {"E1": {}}])
def test_events_that_are_no_list_stop_no_later_observation(events: Any) -> None:
    """What cannot be read is that VM's failed observation."""
    first = of({**OBSERVATION, "events": events})
    second = of({**OBSERVATION, "events": events}, before=first)
    for found in (first, second):
        plan = make_plan([found], now=at(0))
        assert plan["hosts"]["web1"]["state"] == "failed"


def test_an_observation_holds_nothing_of_the_actions_or_of_the_controller() -> None:
    observed = {**OBSERVATION, **answered((LEASE, {})), "vm_settings": {}, "excluded": False, "refused": ""}
    assert of(observed, asked=[LEASE])["observation"] == {**OBSERVATION, "changed": True}


def test_actions_without_an_observation_are_no_good_one() -> None:
    acted = answered((LEASE, {"leases": ["claim-a"]}))
    found = of(acted, acted=acted, asked=[LEASE])
    assert (found["state"], found["observation"], found["acknowledged"]) == ("failed", None, ["e1"])


# What the controller says of the VM


def test_what_the_variables_say_comes_along() -> None:
    found = of(OBSERVATION, given={"labels": {"role": "replica"}, "drain_methods": [{"method": "iis"}, 5]}, identity={"vm_id": "b"})
    assert (found["state"], found["labels"], found["methods"], found["expected_identity"]) == ("ok", {"role": "replica"}, ["iis"], {"vm_id": "b"})


@pytest.mark.parametrize("observed", [None, OBSERVATION, {"excluded": True, "changed": False}, {"unreachable": True}])
def test_an_excluded_vm_is_one_by_its_variables_alone(observed: Any) -> None:
    found = of(observed, given={"exclude": "yes"})
    assert (found["state"], found["error"], found["observation"]) == ("excluded", None, None)


def test_a_vm_that_says_itself_that_it_is_excluded_is_not() -> None:
    found = of({**OBSERVATION, "excluded": True})
    assert (found["state"], "excluded" in found["observation"]) == ("ok", False)


def test_targets_are_those_of_the_variables() -> None:
    """A VM's own answer has no say in them."""
    observed = {**OBSERVATION, "targets": ["evil"], "vm_settings": {"drain_methods": []}, "expected_identity": "evil", "methods": ["evil"], "outside": False}
    found = of(observed, given={"drain_methods": METHODS})
    assert (found["targets"], found["methods"], found["outside"]) == (TARGETS, ["service", "haproxy", "tasks"], True)
    assert found["expected_identity"] == {}


# Settings in facts


def test_a_vm_whose_facts_have_settings_is_a_failed_observation() -> None:
    poisoned = of(OBSERVATION, facts={"drain_methods": []}, given={"labels": {"role": "x"}, "drain_methods": METHODS, "exclude": True})
    assert (poisoned["state"], poisoned["observation"], poisoned["methods"], poisoned["labels"], poisoned["refused"]) == ("failed", None, [], {}, True)
    assert poisoned["outside"] is False
    assert "drain_methods comes from its facts" in poisoned["error"]
    assert "refused" not in of(OBSERVATION, facts={"distribution": "Debian"})


def test_facts_that_come_later_take_a_vm_out_as_well() -> None:
    after = of(OBSERVATION, facts={"respond_policy": []}, before=of(OBSERVATION))
    assert (after["state"], after["reached_before"], after["last_observation"]) == ("failed", True, OBSERVATION)


def test_such_a_vm_has_approved_and_acknowledged_nothing() -> None:
    before = {**of(OBSERVATION), "approved": ["E1"], "acknowledged": ["e1"]}
    found = of({**OBSERVATION, **answered((LEASE, {"leases": ["x"]}))}, facts={"respond_policy": []}, before=before, asked=[LEASE])
    assert (found["approved"], found["could_not_approve"], found["acknowledged"]) == ([], [], [])


def test_a_plan_reports_it() -> None:
    plan = make_plan([of(OBSERVATION, facts={"respond_policy": []})], now="2026-11-21T20:00:00Z")
    assert plan["hosts"]["web1"]["state"] == "failed"
    assert "respond_policy" in str(plan["hosts"]["web1"])


# Answers


@pytest.mark.parametrize("register", ["observed", "acted"])
def test_an_answer_is_read_by_what_was_asked_in_its_iteration_and_not_again(register: str) -> None:
    good = {**OBSERVATION, **answered((APPROVE, {"approved": ["E1"]}))}
    found = of(good, asked=[APPROVE]) if register == "observed" else of(OBSERVATION, acted=good, asked=[APPROVE])
    assert (found["approved"], found["could_not_approve"]) == (["E1"], [])
    # What the VM was not asked for in this iteration: the same registers say nothing new.
    later = of(good, acted=good, before={**found, "approved": [], "could_not_approve": ["E1"]})
    assert (later["approved"], later["could_not_approve"]) == ([], ["E1"])
    assert (of(good, acted=good, before=found)["approved"], of(good, acted=good)["approved"]) == (["E1"], [])


@pytest.mark.parametrize(
    "observed",
    [
        None,
        {"unreachable": True, "msg": "x"},
        {"failed": True, "msg": "Timed out"},
        OBSERVATION,
        # Of another iteration, of something else, one too few.
        {
            **OBSERVATION,
            **answered(
                (action("acquire", iteration="run1 iteration 2"), {"leases": ["a"]}), (action("approve", iteration="run1 iteration 2"), {"approved": ["E1"]})
            ),
        },
        {**OBSERVATION, **answered((LEASE, {"leases": ["a"]}))},
        {**OBSERVATION, **answered((LEASE, {"leases": ["a"]}), (APPROVE, {"action": "write", "approved": ["E1"]}))},
    ],
)
def test_who_does_not_answer_could_not_approve_and_has_acknowledged_nothing(observed: Any) -> None:
    before = {"state": "ok", "observation": OBSERVATION, "acknowledged": ["e1", "e2"], "approved": ["E1"]}
    found = of(observed, before=before, asked=[LEASE, APPROVE])
    assert (found["approved"], found["could_not_approve"], found["acknowledged"]) == ([], ["E1"], ["e2"])


def test_a_lease_that_is_made_after_its_answer_was_given_up_begins_no_drain() -> None:
    """The other VM may have been observed before the lease was made, and before another run's lease there: nobody may act on it (rule 3)."""
    group = {"name": "web", "members": ["vm1", "vm2"], "max_unavailable": 1}
    chosen = {**SETTINGS, "run": RUN, "capacity": [group], "notify": False}
    seen = {"vm1": vm("vm1", [event()], leases=[lease("E1")])["observation"], "vm2": vm("vm2")["observation"]}
    drains = vm_settings.read({"drain_methods": [{"method": "service"}]}, "vm1")

    def acts(act: str, acted: Any) -> set[str]:
        first = {"state": "ok", "observation": seen["vm1"], "acknowledged": ["e1"]}
        found = [
            observation("vm1", HostResults(seen["vm1"], acted, None, {}), drains, first, [action(act)]),
            observation("vm2", HostResults(seen["vm2"], None, None, {}), drains, {"state": "ok", "observation": seen["vm2"]}),
        ]
        return {step["action"] for step in make_plan(found, settings=chosen, now=at(0))["actions"]} & {"acquire", "drain"}

    leases = {"leases": ["claim-a"]}
    assert acts("acquire", answered((action("acquire"), leases))) == {"drain"}
    assert acts("acquire", {"unreachable": True, "msg": "Timeout"}) == acts("acquire", {"failed": True, "msg": "terminated"}) == {"acquire"}
    assert acts("release", answered((action("release"), leases))) == {"acquire"}


# Who takes no part any more


def test_a_vm_that_rests_shows_who_it_is_and_no_event_that_is_listed_now() -> None:
    before = {**of({**OBSERVATION, "events": [event()]}), "approved": ["E1"]}
    found = resting(before)
    assert (found["state"], found["observation"], found["last_observation"], found["reached_before"]) == ("resting", None, {**OBSERVATION, "events": []}, True)
    assert found["approved"] == ["E1"]
    assert before["state"] == "ok"


@pytest.mark.parametrize("observed", [None, {"unreachable": True}])
def test_one_that_was_not_reached_stays_as_it_was(observed: Any) -> None:
    before = of(observed, before=of(OBSERVATION))
    assert resting(before) == before
    assert resting(resting(of(OBSERVATION))) == resting(of(OBSERVATION))


# Anything


@settings(max_examples=300, deadline=None, derandomize=True)
@given(JUNK, JUNK, JUNK, JUNK)
def test_no_register_stops_it(observed: Any, acted: Any, events: Any, facts: Any) -> None:
    first = of({**OBSERVATION, "events": events}, acted=acted, asked=[LEASE])
    for second in (of(observed, acted=acted, before=first, asked=[APPROVE, LEASE]), of(first["observation"], facts=facts, before=first), resting(first)):
        assert second["host"] == "web1"
        assert second["state"] in ("ok", "failed", "unreachable", "resting")
        assert (second["observation"] is not None) is (second["state"] == "ok")
        assert resting(second)["observation"] is None
