# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When somebody has to come back, and why: never before it is useful, never long after something may have happened."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import at, event, plan, record, vm

PATIENT: dict[str, Any] = {"longest_requeue": 100_000.0}


def approved(name: str, due: float | None, ago: float = 50_000.0) -> dict[str, Any]:
    """A VM whose event was approved long ago."""
    its = event(f"E-{name}", (name,), due=due)
    return vm(name, [its], [record("approved", its, ago=ago, approved_at=at(-ago))])


def test_an_approved_event_is_looked_at_right_after_its_time() -> None:
    wait = plan(approved("vm1", 700), **PATIENT)["requeue"]
    assert wait["seconds"] == 701
    assert wait["why"] == "E-vm1 may start"


def test_an_event_that_may_begin_any_moment_is_looked_at_a_second_later() -> None:
    found = plan(approved("vm1", -50), **PATIENT)
    assert found["requeue"]["seconds"] == 1
    assert found["next_look_in"] == 1


def test_what_has_no_time_is_looked_at_less_and_less_often() -> None:
    found = plan(approved("vm1", None, ago=120), **PATIENT)
    assert found["requeue"]["seconds"] == pytest.approx(60, abs=0.1)
    assert found["requeue"]["why"] == "vm1: waits for news of E-vm1"
    assert plan(approved("vm1", None, ago=121), **PATIENT)["requeue"]["seconds"] == pytest.approx(60.5, abs=0.1)
    assert plan(approved("vm1", None, ago=1), **PATIENT)["requeue"]["seconds"] == 5


def test_no_wait_is_longer_than_the_longest() -> None:
    assert plan(approved("vm1", None))["requeue"]["seconds"] == 300
    assert plan(vm("vm1"))["requeue"] == {"seconds": 300, "why": "nothing to wait for", "watch": [], "confirms_in": None, "meets_in": None}
    assert plan(vm("vm1"))["next_look_in"] is None


def test_two_that_are_watched_side_by_side_are_not_watched_for_long() -> None:
    assert plan(approved("vm1", None), approved("vm2", None))["requeue"]["seconds"] == 15
    assert plan(approved("vm1", None), approved("vm2", None), longest_requeue=12.0)["requeue"]["seconds"] == 12


def test_a_wait_is_never_a_busy_loop() -> None:
    missing = record("started", started_at=at(-60), missing_since=at(-9.9))
    assert plan(vm("vm1", [], [missing]))["requeue"]["seconds"] == 0.5
    assert plan(vm("vm1", [], [missing]), check_interval=0.2)["requeue"]["seconds"] == 0.2


def test_a_vm_that_fell_silent_is_asked_again_soon() -> None:
    found = plan(vm("vm1"), *[vm(f"vm{number}", state="unreachable", reached_before=True) for number in range(2, 6)])
    assert found["requeue"]["seconds"] == 15
    assert found["requeue"]["why"] == "vm2, vm3, vm4 did not answer"
    assert not found["done"]


def test_a_vm_of_an_event_that_does_not_answer_is_asked_again_soon() -> None:
    two = event(resources=("vm1", "vm2"), due=5000)
    found = plan(vm("vm1", [two], [record("drained", two)]), vm("vm2", state="unreachable", reached_before=True), **PATIENT)
    assert found["requeue"]["seconds"] <= 15


@pytest.mark.parametrize(("phase", "methods"), [("recovering", [])])
def test_what_goes_on_by_itself_is_looked_at_more_often_than_news_is_awaited(phase: str, methods: list[Any]) -> None:
    over = record(phase, ago=100, methods=methods, outcome="completed", missing_since=at(-200), started_at=at(-300))
    found = plan(vm("vm1", [], [over], in_service=False), has_health=True)
    assert found["requeue"]["seconds"] == pytest.approx(10, abs=0.1)
    assert "waiting for recovery" in found["events"][0]["parts"][0]["reason"]


def test_the_next_observation_is_in_whole_seconds_and_not_too_early() -> None:
    assert plan(approved("vm1", 100.2), **PATIENT)["next_look_in"] == 102


def test_a_step_is_taken_before_anything_is_waited_for() -> None:
    found = plan(vm("vm1", [event()]))
    assert found["requeue"]["seconds"] == 0
    assert found["requeue"]["why"] == "actions are taken again that had no effect yet"
    assert found["next_look_in"] == 1
    assert not found["done"]


def test_what_is_watched_lists_the_event_and_is_named_by_it_where_it_can_be() -> None:
    two = event(resources=("vm1", "vm2"), due=5000)
    seen = [vm("vm0", [two]), vm("vm1", [two], [record("approved", two, approved_at=at(-9))], document_incarnation=7), vm("vm2", [two])]
    assert plan(*seen)["requeue"]["watch"] == [{"host": "vm1", "incarnation": 7}]
    # None of its own VMs can be read: then another that lists it.
    silent = [vm(name, state="unreachable", reached_before=True, identity_hint={"name": name}) for name in ("vm1", "vm2")]
    assert plan(seen[0], *silent)["requeue"]["watch"] == [{"host": "vm0", "incarnation": 3}]


@pytest.mark.parametrize("phase", ["noticed", "held", "drained", "recovering", "failed"])
def test_a_silent_vm_is_waited_for_while_something_on_it_is_not_finished(phase: str) -> None:
    its = event(resources=("vm2",))
    before = vm("vm2", [], [record(phase, its)])["observation"]
    assert not plan(vm("vm1"), vm("vm2", state="unreachable", reached_before=True, last_observation=before))["done"]


@pytest.mark.parametrize("phase", ["noticed", "held", "drained", "approved"])
def test_a_vm_that_has_left_the_loop_on_purpose_is_not_waited_for(phase: str) -> None:
    """It was read, and has an event of its own that another run handles: it is not silent."""
    before = vm("vm2", [], [record(phase, event("E2", resources=("vm2",)))])["observation"]
    found = plan(vm("vm1"), vm("vm2", state="resting", reached_before=True, last_observation=before), only_events=["E1"])
    assert found["done"]
    assert found["requeue"]["why"] == "nothing to wait for"
