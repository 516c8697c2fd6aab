# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The iterations of a pass: when it acts, observes once more, waits and ends."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import pass_loop
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop.observations import HostResults
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._loop.passes import (
    DO,
    OWN,
    RUN,
    Pass,
    check,
    observation,
    plan,
    request,
    step,
    waiting,
)
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._loop.registers import JUNK
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.observe.test_any_observation import FLEETS
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import at, event, record
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.upgrade.test_gate import lease

SILENT: dict[str, Any] = {"unreachable": True, "msg": "no route"}
EVIL = {"respond_policy": []}
MINE = {"run": RUN["id"], "event_id": "E1"}


# The begin


def test_where_every_host_is_refused_nothing_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step()))
    its.facts = {"vm1": EVIL, "vm2": EVIL}
    with pytest.raises(WrongInput, match=r"vm1: the setting respond_policy comes from its facts .* vm2: .* Nothing was done\."):
        its.begin()
    assert its.planned == []


def test_a_host_that_has_left_the_play_does_not_make_up_for_refused_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step()))
    its.facts = {"vm1": EVIL}
    with pytest.raises(WrongInput, match="Nothing was done"):
        its.begin(present=["vm1"])


def test_a_refused_host_is_a_failed_observation_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(involved=[], done=True), hosts=("vm1", "vm2", "vm3"))
    its.facts = {"vm1": EVIL}
    state = its.begin()
    assert [one["state"] for one in its.planned[-1][0]] == ["failed", "ok", "ok"]
    # It does not report for all either.
    assert (state["do"], state["involved"], state["staying"]) == ("end", [], ["vm2"])


def test_errors_of_what_was_asked_for_are_named() -> None:
    with pytest.raises(WrongInput):
        Pass().begin(policy=[{"name": 5}])
    with pytest.raises(WrongInput, match="unknown setting"):
        Pass().begin(settings={"nothing": 1})


def test_a_pass_without_anything_to_do_ends_at_once() -> None:
    its = Pass()
    state = its.begin()
    assert (state["do"], state["involved"], state["staying"], state["contact"], state["number"]) == ("end", [], ["vm1"], [], 0)
    assert state.keys() == pass_loop.KEYS
    assert state["run"] == "run000mine"


def test_nobody_present_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(involved=[], done=True))
    assert its.begin(present=[])["staying"] == []


def test_the_plan_is_asked_with_what_was_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def make_plan(found: Any, **more: Any) -> dict[str, Any]:
        asked.append(more)
        return plan(step())

    its = Pass()
    monkeypatch.setattr(pass_loop.planner, "make_plan", make_plan)
    its.begin(policy=["p"], settings={"s": 1})
    its.go_on()
    assert [(one["policy"], one["settings"]) for one in asked] == [(["p"], {"s": 1})] * 2
    assert asked[1]["now"] > asked[0]["now"]


def test_the_variables_of_a_host_count_as_they_were_at_the_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step()))
    its.begin()
    its.given["vm1"]["drain_methods"] = its.given["vm2"] = None
    assert its.go_on()["observations"][0]["methods"] == ["service"]


def test_documents_that_differ_are_read_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step(), differing=["vm2"]), plan(step(), differing=["vm2"]))
    state = its.begin()
    assert (state["do"], state["contact"], state["actions"], state["is_taken"]) == ("act", ["vm2"], {}, False)
    state = its.go_on()
    assert its.asked_for == ["vm2"]
    # A drain begins by observations of all that were made right before.
    assert (state["do"], state["contact"], state["actions"]) == ("act", ["vm1", "vm2"], {})
    state = its.go_on()
    assert (state["do"], list(state["actions"])) == ("act", ["vm1"])


def test_documents_of_which_one_was_read_before_the_other_are_read_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("write")), plan(step("write"), differing=["vm1", "vm2"], fingerprint="2"))
    assert its.begin()["contact"] == ["vm1"]
    state = its.go_on()
    assert (state["do"], state["contact"], state["actions"]) == ("act", ["vm2"], {})
    # Two that differ for good are not read in turns for ever.
    assert list(its.go_on()["actions"]) == ["vm1"]
    its.begin(wait=False)
    assert len(its.play()) <= 6


# Actions


def test_actions_are_taken_on_their_vms_and_those_vms_are_observed(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("write")), plan())
    state = its.begin()
    assert (state["do"], state["contact"], state["stages"]) == ("act", ["vm1"], [])
    assert [(one["action"], one["iteration"]) for one in state["actions"]["vm1"]] == [("write", "run000mine iteration 0")]
    assert state["assignments"]["vm1"]["on_vm"] == state["actions"]["vm1"]
    assert its.go_on()["actions"] == {}


def test_leases_are_acquired_before_anything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("acquire", expired=[]), step("write", "vm2")))
    state = its.begin()
    assert state["do"] == "acquire"
    assert {host: [one["action"] for one in taken] for host, taken in state["actions"].items()} == {"vm1": ["acquire"], "vm2": ["write"]}


def test_what_is_left_to_tasks_has_its_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    plans = plan(step("write"), step("drain"), step("notify", "vm2", phase="noticed"), step("acquire", "vm2", expired=[])), plan(step("write"))
    its = Pass(monkeypatch, *plans, methods=[OWN])
    monkeypatch.setattr(pass_loop.assignments.vm_actions.validation, "problems", lambda *given: [])
    state = its.begin()
    assert state["do"] == "by_tasks"
    assert {host: [one["action"] for one in taken] for host, taken in state["actions"].items()} == {"vm1": ["write"], "vm2": ["acquire"]}
    assert {host: [one["action"] for one in taken["by_tasks"]] for host, taken in state["assignments"].items()} == {"vm1": ["drain"], "vm2": ["notify"]}
    assert [(one["name"], one["place"]) for one in state["stages"]] == [("drain", 0), ("notify", 0)]
    assert its.go_on()["stages"] == []


def test_a_host_that_tasks_have_ended_is_planned_again_by_a_later_play(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("notify", "vm1", phase="noticed"), step("notify", "vm2", phase="noticed")))
    state = its.begin()
    assert len(state["notified"]["by_tasks"]) == 2
    left = pass_loop.after_left(state, {"vm1": f"{pass_loop.NOTIFIES} noticed"}, True)
    assert (left["do"], left["left"], left["assignments"]) == ("resume", ["vm1 respond_notify_tasks noticed"], {})
    assert "ended the host vm1" in left["request"]["notify_refused"] and len(left["notified"]["by_tasks"]) == 1
    assert left["request"]["wrong_names"] == []
    resumed = pass_loop.resume(left)
    assert (resumed["do"], resumed["contact"], resumed["number"]) == ("act", ["vm1", "vm2"], 2)


def test_without_a_later_play_the_run_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("notify", "vm1", phase="noticed")))
    left = pass_loop.after_left(its.begin(), {"vm1": "begin of drain method own (drain)"}, False)
    assert left["do"] == "by_tasks" and "ended the host vm1" in left["request"]["wrong_names"][0] and left["request"]["notify_refused"] == ""


def test_an_answer_is_read_once_right_after_its_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("approve", event_ids=["E1"], approve_for=[])), plan())
    state = its.begin()
    its.answer(state, "vm1", {"failed": False, "approved": ["E1"]})
    assert its.go_on()["observations"][0]["approved"] == ["E1"]
    # The same register, in the next iteration: what was approved is known from before.
    its.observed["vm1"]["results"] = [{"action": "approve", "failed": True}]
    state = its.go_on()
    assert (state["observations"][0]["approved"], state["observations"][0]["could_not_approve"]) == (["E1"], [])


def test_what_each_vm_was_asked_to_drain_is_counted_by_the_controller(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step(), step("write", "vm2")), plan(step("write")), plan(step()), plan())
    counted = [[one["drains_asked"] for one in its.begin()["observations"]]]
    its.observed["vm2"] = SILENT
    counted += [[one["drains_asked"] for one in its.go_on()["observations"]] for _iteration in range(3)]
    assert counted == [[0, 0], [1, 0], [1, 0], [2, 0]]


def test_a_vm_that_was_asked_and_hangs_has_not_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("approve", event_ids=["E1"], approve_for=[]), step("acquire", expired=[])))
    its.begin()
    its.observed["vm1"] = SILENT
    (found, _other) = its.go_on()["observations"]
    assert (found["state"], found["approved"], found["could_not_approve"], found["acknowledged"]) == ("unreachable", [], ["E1"], [])
    assert found["last_observation"]["vm_name"] == "vm1"


def test_in_check_mode_it_ends_with_what_it_would_do(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("acquire", expired=[])))
    state = its.begin(check_mode=True, settings={"run": {"id": ""}})
    assert (state["do"], state["actions"], state["contact"]) == ("end", {}, [])
    assert [one["action"] for one in state["plan"]["actions"]] == ["acquire"]
    assert len(its.planned) == 1


@pytest.mark.parametrize(
    ("state", "fails"),
    [
        ("draining", []),
        ("failed", ["vm1: its drain would be refused: no quorum"]),
        ("unreachable", ["vm1: what its drain would do is not known: no quorum"]),
    ],
)
def test_in_check_mode_each_drain_is_asked_once_and_one_that_would_be_refused_fails(monkeypatch: pytest.MonkeyPatch, state: str, fails: list[str]) -> None:
    its = Pass(monkeypatch, plan(step("write"), step("drain")))
    its.begin(check_mode=True, settings={"run": {"id": ""}})
    (asked,) = its.state["assignments"]["vm1"]["by_tasks"]
    assert (its.state["do"], asked["action"], its.state["actions"], its.state["contact"]) == ("by_tasks", "drain", {}, ["vm1"])
    its.drained["vm1"] = {"state": state, "error": "no quorum"}
    assert (its.go_on()["do"], its.state["plan"]["fails"], len(its.planned)) == ("end", fails, 2)


def test_in_check_mode_what_many_drains_are_refused_for_is_said_once() -> None:
    drained = {"state": "failed", "error": "no quorum"}
    hosts: Any = {f"vm{number}": {} for number in range(3)}
    found = pass_loop._with_refused_drains({"fails": []}, hosts, lambda _host: HostResults(None, None, None, {}, drained))
    assert found["fails"] == ["vm0, vm1, vm2: its drain would be refused: no quorum"]


def test_in_check_mode_nothing_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan())
    assert its.begin(check_mode=True)["do"] == "end"


# Progress


def test_a_new_plan_is_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("write")), plan(step("approve", event_ids=[], approve_for=[])), plan(done=True))
    its.begin(wait=False)
    assert its.play() == ["act", "act"]


def test_the_same_plan_again_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Actions that change nothing, on a full disk perhaps."""
    its = Pass(monkeypatch, plan(step("write"), requeue=waiting(0)))
    its.begin()
    # Once more at once: only the second time shows that it brought nothing about.
    assert [its.go_on()["do"] for _time in range(2)] == ["act", "pause"]
    assert (its.state["pause"], its.state["actions"]) == (pass_loop.RETRY_SECONDS, {})
    assert its.go_on()["do"] == "act"
    # After the wait it is the same plan still, so it is tried once, not twice.
    assert its.go_on()["do"] in pass_loop.WAITS


def test_the_same_plan_again_ends_a_pass_that_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("write"), requeue=waiting(0)))
    its.begin(wait=False)
    assert its.play() == ["act", "act"]


def test_an_action_that_only_goes_on_is_no_progress_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("drain", continues=True)))
    its.begin()
    assert its.go_on()["do"] in pass_loop.WAITS
    assert its.state["pause"] == 5


def test_what_goes_on_is_checked_right_after_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """One run of a module for each check of a long drain. An observation before it would be a second one."""
    its = Pass(monkeypatch, plan(step("drain", continues=True), step("release", "vm2", continues=True)))
    its.observed["vm1"] = observation("vm1", record("draining"))
    its.begin()
    state = its.go_on()
    assert (state["do"], [(host, [one["action"] for one in taken]) for host, taken in state["actions"].items()]) == ("pause", [("vm1", ["drain"])])
    assert its.go_on(6)["do"] in pass_loop.WAITS, "checked again at once, in vain"
    its.observed["vm1"] = observation("vm1", record("drained"))
    state = its.go_on(6)
    assert (state["do"], state["moved"]) == ("act", False), "progress after a pause is progress, too"


def test_what_is_due_after_a_pause_with_checks_is_taken_although_the_plan_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    check_and_write = (step("drain", continues=True), step("write", "vm2"))
    its = Pass(monkeypatch, plan(*check_and_write))
    its.begin()
    while its.state["do"] not in pass_loop.WAITS:
        its.go_on()
    state = its.go_on(6)
    assert (state["do"], [one["action"] for one in state["actions"]["vm2"]]) == ("act", ["write"])


def test_checks_by_tasks_and_those_after_a_long_pause_are_planned_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("drain", continues=True, methods=[])), methods=(OWN,))
    its.begin()
    assert (its.go_on()["do"], its.state["assignments"]) == ("pause", {})
    its = Pass(monkeypatch, plan(step("drain", continues=True), requeue=waiting(pass_loop.LONG_PAUSE + 1)))
    its.begin()
    assert (its.go_on()["do"], its.state["assignments"]) == ("pause", {})


def test_a_slow_check_after_a_pause_makes_the_other_observations_old(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("drain", continues=True)))
    its.begin()
    assert its.go_on()["actions"]
    # The pause itself does not.
    assert its.go_on(5 + 30)["do"] in pass_loop.WAITS
    state = its.go_on(5 + 31)
    assert (state["do"], state["contact"], state["actions"]) == ("act", ["vm1", "vm2"], {})


def test_what_is_due_is_not_waited_for_because_the_plan_before_brought_nothing_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lease was released, which is no progress, and meanwhile the event has started: it would be over before a wait is."""
    its = Pass(monkeypatch, plan(step("release", continues=True)), plan(step("write"), requeue=waiting(0)))
    its.begin()
    state = its.go_on()
    assert (state["do"], [one["action"] for one in state["actions"]["vm1"]]) == ("act", ["write"])
    # The same again is.
    assert its.go_on()["do"] == "act"
    assert its.go_on()["do"] in pass_loop.WAITS


def test_a_drain_that_moves_is_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("drain", continues=True)))
    its.observed["vm1"] = observation("vm1", record("draining"))
    its.begin(wait=False)
    its.observed["vm1"] = observation("vm1", record("drained"))
    state = its.go_on()
    assert (state["do"], state["moved"]) == ("act", False)
    assert its.go_on()["do"] == "end"


def test_a_record_that_moves_while_nothing_was_taken_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan())
    its.observed["vm1"] = observation("vm1", record("draining"))
    assert its.begin()["do"] in pass_loop.WAITS
    its.observed["vm1"] = observation("vm1", record("drained"))
    assert (its.go_on()["moved"], its.state["do"]) == (False, "pause")


def test_what_is_over_ends_without_a_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("release", expired=[]), done=True))
    its.begin()
    assert its.play() == ["act", "act"]


# Waiting


def test_it_waits_as_long_as_the_plan_says_with_those_that_hear_news(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(requeue=waiting(7.2, "vm2", "stranger")))
    state = its.begin()
    assert (state["do"], state["pause"], state["listeners"], state["contact"]) == ("wait", 8, ["vm2"], ["vm1", "vm2"])


@pytest.mark.parametrize("seconds,listeners", [(pass_loop.WATCHED_PAUSE, ["vm2"]), (pass_loop.WATCHED_PAUSE - 0.1, [])])
def test_a_pause_that_is_shorter_than_the_start_of_a_module_has_no_watchers(seconds: float, listeners: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    state = Pass(monkeypatch, plan(requeue=waiting(seconds, "vm2"))).begin()
    assert (state["do"], state["listeners"]) == ("wait" if listeners else "pause", listeners)


def test_without_anything_to_do_a_pass_that_does_not_wait_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(requeue=waiting(7)))
    assert its.begin(wait=False)["do"] == "end"


@pytest.mark.parametrize(("timeout", "seconds", "pause"), [(600, 0, 15), (600, 0.2, 1), (10, 30, 10), (10, 0, 10), (0.5, 30, 1)])
def test_a_pause_is_neither_none_nor_longer_than_the_time_that_is_left(timeout: float, seconds: float, pause: int, monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(requeue=waiting(seconds)))
    assert its.begin(wait_timeout=timeout)["pause"] == pause


def test_the_time_ends_a_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(requeue=waiting(30)))
    its.begin(wait_timeout=100.0)
    assert its.play() == ["pause"] * 4
    assert 100 <= its.state["waited"] <= 105


def test_the_time_ends_a_pass_whatever_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, *(plan(step("write"), fingerprint=str(number)) for number in range(99)))
    its.begin(wait_timeout=15.5)
    assert len(its.play()) == 16


def test_a_vm_whose_answer_changes_each_time_does_not_keep_a_pass_that_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, *(plan(step("write"), fingerprint=str(number)) for number in range(99)))
    its.begin(wait=False, wait_timeout=9e9)
    assert its.play() == ["act"] * pass_loop.MOST_TAKEN
    its = Pass(monkeypatch, *(plan(step("write"), fingerprint=str(number)) for number in range(99)))
    its.begin(wait=True, wait_timeout=90.5)
    assert len(its.play()) > pass_loop.MOST_TAKEN


def test_a_vm_that_makes_progress_up_does_not_keep_a_pass_from_pausing(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, *(plan(step("write"), fingerprint=str(number)) for number in range(999)))
    its.begin(wait_timeout=300)
    done = its.play()
    runs = "".join("w" if do in pass_loop.WAITS else "a" for do in done).split("w")
    assert len(runs) > 3
    assert max(map(len, runs)) == pass_loop.MOST_IN_A_ROW


def test_news_that_is_none_does_not_make_each_wait_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(requeue=waiting(60, "vm1")))
    assert its.begin()["listeners"] == ["vm1"]
    # It came at once, and nothing was new.
    assert (its.go_on(1)["listeners"], its.state["pause"]) == ([], 60)
    assert its.go_on(61)["listeners"] == ["vm1"]
    its.plans = [plan(requeue=waiting(60, "vm1"), events=[{"event_id": "E2", "hosts": []}])]
    assert its.go_on(1)["listeners"] == ["vm1"]


def test_a_host_that_has_left_the_play_is_not_observed_by_what_it_has_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("write")), plan())
    its.begin()
    its.left = {"vm1"}
    (found, other) = its.go_on()["observations"]
    assert (found["state"], found["error"], found["observation"], found["reached_before"]) == ("failed", "it was not observed", None, True)
    assert other["state"] == "ok"
    # Nor when it is asked again, much later.
    its.state = {**its.state, "contact": ["vm1"]}
    assert its.go_on(500)["observations"][0]["state"] == "failed"


def test_an_approval_is_decided_by_observations_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    approval = step("approve", event_ids=["E1"], approve_for=["vm1"])
    its = Pass(monkeypatch, plan(step("write")), plan(approval))
    assert its.begin()["contact"] == ["vm1"]
    state = its.go_on()
    assert (state["do"], state["contact"], state["actions"]) == ("act", ["vm1", "vm2"], {})
    assert [one["action"] for one in its.go_on()["actions"]["vm1"]] == ["approve"]


# The end


@pytest.mark.parametrize("wait", [True, False])
def test_leases_that_are_still_held_are_released_at_the_end(wait: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("drain", continues=True)))
    its.observed["vm2"] = observation("vm2", leases=[{"run": "run00other"}, MINE])
    its.begin(wait=wait, wait_timeout=4.0)
    done = its.play()
    assert done[-1] == "release"
    assert done.count("release") == 1


def test_only_the_hosts_that_hold_one_release_it(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("write"), done=True))
    its.observed |= {"vm1": observation("vm1", leases=[{"run": "run00other"}, 5]), "vm2": observation("vm2", leases=[MINE])}
    its.begin()
    its.go_on()
    state = its.go_on()
    assert (state["do"], state["contact"], state["actions"]) == ("release", ["vm2"], {})
    assert its.go_on()["do"] == "end"


def test_a_run_without_a_name_holds_none(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(done=True))
    its.observed["vm2"] = observation("vm2", leases=[{"run": ""}, {"run": None}])
    assert its.begin(settings={"run": {"id": ""}})["do"] == "end"


# Old observations, and VMs that are silent


def test_what_one_vm_took_long_for_has_made_the_observations_of_the_others_old(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("write")), plan(step("acquire", expired=[])))
    its.observed["vm1"] = observation("vm1", record("draining"))
    its.begin()
    its.observed["vm1"] = observation("vm1", record("drained"))
    state = its.go_on(31)
    assert (state["do"], state["contact"], state["actions"], len(its.planned)) == ("act", ["vm1", "vm2"], {}, 1)
    # The observation afresh is planned by, however long it took, and what was done before it counts as progress.
    state = its.go_on(31)
    assert (state["do"], len(its.planned), its.asked_for) == ("acquire", 2, ["vm1", "vm2"])


def test_progress_of_a_slow_iteration_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("drain", continues=True)))
    its.observed["vm1"] = observation("vm1", record("draining"))
    its.begin(wait=False)
    its.observed["vm1"] = observation("vm1", record("drained"))
    assert its.go_on(31)["do"] == "act"
    assert its.state["moved"]
    assert its.go_on()["do"] == "act"
    assert list(its.state["actions"]) == ["vm1"]


@pytest.mark.parametrize("seconds", [1, 30])
def test_an_iteration_within_its_time_is_planned_by(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("write")), plan(step("acquire", expired=[])))
    its.begin()
    assert its.go_on(seconds)["do"] == "acquire"


def test_leases_and_tasks_are_observed_after_all_anyway(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("acquire", expired=[])), plan(step("write")))
    its.begin()
    assert its.go_on(500)["is_taken"]
    assert len(its.planned) == 2


def test_a_silent_vm_is_asked_only_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each time it delays the observation of the others."""
    its = Pass(monkeypatch, plan(requeue=waiting(9)))
    its.observed["vm2"] = SILENT
    its.begin()
    contacts = []
    its.play(lambda state: contacts.append((state["waited"], state["contact"])))
    assert contacts[0] == (0, ["vm1"])
    with_all = [waited for waited, contact in contacts if contact == ["vm1", "vm2"]]
    assert with_all
    assert all(60 < later - earlier <= 75 for earlier, later in zip([0, *with_all], with_all))


def test_a_silent_vm_that_is_not_asked_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(requeue=waiting(9)))
    its.observed["vm2"] = SILENT
    before = its.begin()["observations"][1]
    its.observed["vm2"] = observation("vm2")
    assert its.go_on()["observations"][1] == before
    assert its.asked_for == ["vm1"]


def test_with_a_long_pause_a_silent_vm_delays_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(requeue=waiting(15)))
    its.observed["vm2"] = SILENT
    assert its.begin()["contact"] == ["vm1", "vm2"]


def test_where_all_are_silent_all_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(requeue=waiting(0.5)))
    its.observed = {"vm1": SILENT, "vm2": SILENT}
    assert its.begin()["contact"] == ["vm1", "vm2"]


def test_a_vm_that_falls_silent_is_left_out_until_it_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, *(plan(step("acquire", expired=[]), fingerprint=str(number)) for number in range(9)))
    assert its.begin()["contact"] == ["vm1", "vm2"]
    its.observed["vm2"] = SILENT
    assert its.go_on()["contact"] == ["vm1"]
    assert its.go_on(59)["contact"] == ["vm1"]
    assert its.go_on()["contact"] == ["vm1", "vm2"]
    assert its.go_on()["contact"] == ["vm1"]


def test_with_actions_those_are_observed_that_take_them_and_others_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [{"event_id": "e1", "hosts": ["vm1", "vm2"]}, {"event_id": "E2", "hosts": ["vm3"]}]
    hosts = ("vm1", "vm2", "vm3")
    its = Pass(monkeypatch, *(plan(step("write"), events=events, involved=list(hosts), fingerprint=str(number)) for number in range(9)), hosts=hosts)
    assert its.begin()["contact"] == ["vm1"]
    before = its.state["observations"][1:]
    assert its.go_on()["contact"] == ["vm1"]
    assert (its.asked_for, its.state["observations"][1:]) == (["vm1"], before)
    assert its.go_on(pass_loop.OTHERS_SECONDS)["contact"] == ["vm1", "vm2", "vm3"]
    assert its.go_on()["contact"] == ["vm1"]
    assert {"vm2", "vm3"} <= set(its.asked_for)


def test_the_iteration_before_an_approval_observes_all(monkeypatch: pytest.MonkeyPatch) -> None:
    approving = step("write", stamp=["approving_at"])
    its = Pass(monkeypatch, plan(approving), plan(step("approve", event_ids=["E1"], approve_for=["vm1"])))
    assert (its.begin()["contact"], list(its.state["actions"])) == (["vm1", "vm2"], ["vm1"])
    assert [one["action"] for one in its.go_on()["actions"]["vm1"]] == ["approve"]


def test_who_takes_no_part_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("write"), involved=["vm1"]))
    its.observed["vm2"] = observation("vm2", events=[event()])
    state = its.begin()
    assert (state["contact"], state["staying"]) == (["vm1"], ["vm1", "vm2"])
    state = its.go_on()
    assert (its.asked_for, [one["host"] for one in state["observations"]], list(state["vms"])) == (["vm1"], ["vm1"], ["vm1"])
    (_first, second) = its.planned[-1][0]
    assert (second["host"], second["state"], second["observation"], second["last_observation"]["events"]) == ("vm2", "resting", None, [])
    its.go_on()
    assert its.planned[-1][0][1] == second


def test_the_plan_gets_all_hosts_in_the_order_of_the_play(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = ("vm1", "vm2", "vm3", "vm4")
    its = Pass(monkeypatch, plan(step("write", "vm3"), involved=["vm3", "vm2"]), hosts=hosts)
    its.begin()
    its.go_on()
    assert [[one["host"] for one in found] for found, _now in its.planned] == [list(hosts)] * 2
    assert [one["state"] for one in its.planned[-1][0]] == ["resting", "ok", "ok", "resting"]


def test_hosts_that_take_no_part_cost_an_iteration_no_value_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ansible visits every value of a registered result, in each iteration."""
    few, many = ([f"vm{number}" for number in range(1, size)] for size in (4, 200))
    counts = []
    for hosts in (few, many):
        its = Pass(monkeypatch, plan(step("write"), involved=["vm1"]), hosts=hosts)
        its.begin()
        counts.append(_values(its.go_on()))
    assert counts[0] == counts[1]


def _values(value: object) -> int:
    """Return how many values are in a value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return 1 + sum(map(_values, inner))


def test_who_is_involved_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step("write"), involved=["vm1"]), plan(step("acquire", expired=[]), involved=["vm1", "vm2"]))
    its.begin()
    assert its.go_on()["involved"] == ["vm1"]


# By the planner


def test_an_event_is_drained_and_approved_by_the_real_plans() -> None:
    its = Pass(hosts=("vm1", "vm2"))
    its.observed["vm1"] = observation("vm1", events=[event()])
    leased = {"events": [event()], "leases": [lease("E1")]}
    seen: list[tuple[str, list[str]]] = []

    def take(state: pass_loop.State) -> None:
        actions = state["actions"].get("vm1", [])
        acts = [one["action"] for one in actions]
        seen.append((state["do"], acts))
        if "drain" in acts:
            its.observed["vm1"] = observation("vm1", record("drained"), **leased)
        elif "approve" in acts:
            its.observed["vm1"] = observation("vm1", record("approved", revision=5, approving_at=at(0), approved_at=at(0)), **leased)
        elif any("approving_at" in one.get("stamp", ()) for one in actions):
            its.observed["vm1"] = observation("vm1", record("drained", revision=4, approving_at=at(0)), **leased)
        elif "acquire" in acts:
            its.observed["vm1"] = observation("vm1", **leased)
        if actions:
            its.answer(state, "vm1", *({"leases": ["x"], "approved": one.get("event_ids"), "failed": False} for one in actions))

    its.begin(wait=False)
    its.play(take)
    assert seen[0][0] == "acquire"
    assert [act for _do, acts in seen for act in acts if act in ("acquire", "drain", "approve")] == ["acquire", "drain", "approve"]
    assert its.state["plan"]["events"][0]["phase"] == "approved"
    # The lease that the run does not need any more.
    assert seen[-1][0] == "release"


LIMITS = settings(max_examples=150, deadline=None, derandomize=True)


@LIMITS
@given(FLEETS, st.booleans())
def test_a_pass_whose_observations_never_change_ends(fleet: list[dict[str, Any]], is_slow: bool) -> None:
    its = Pass(hosts=[one["host"] for one in fleet])
    its.observed = {one["host"]: one["observation"] or SILENT for one in fleet}
    its.begin(wait=False)
    # At most a minute of them confirms the end of events.
    assert len(its.play(lambda state: setattr(its, "now", its.now + 40 * is_slow))) <= 20


# --- The end of an event ---------------------------------------------------------------------------------------------------


def ending(confirms_in: float | None) -> dict[str, Any]:
    return plan(requeue={**waiting(300), "confirms_in": confirms_in})


def test_a_pass_that_does_not_wait_still_confirms_the_end_and_recovers(monkeypatch: Any) -> None:
    its = Pass(monkeypatch, ending(9.3))
    assert (its.begin(wait=False)["do"], its.state["pause"]) == ("pause", 10)
    its.now += 10
    its.plans = [plan(step("write"))]
    assert its.go_on()["do"] == "act"


@pytest.mark.parametrize("more", [{"confirm_end": False}, {"check_mode": True}])
def test_where_nobody_wants_it_the_end_is_left_to_the_next_run(monkeypatch: Any, more: dict[str, Any]) -> None:
    assert Pass(monkeypatch, ending(9.3)).begin(wait=False, **more)["do"] == "end"


def test_a_vm_whose_event_is_never_confirmed_keeps_the_pass_for_a_minute_only(monkeypatch: Any) -> None:
    its = Pass(monkeypatch, ending(9.3))
    its.begin(wait=False)
    began = its.now
    while its.state["do"] != "end":
        its.now += its.state["pause"]
        its.go_on()
    assert pass_loop.CONFIRM_SECONDS <= its.now - began <= pass_loop.CONFIRM_SECONDS + 10


@LIMITS
@given(st.lists(st.fixed_dictionaries({"vm1": JUNK, "vm2": JUNK, "acted": JUNK, "facts": JUNK}), min_size=1, max_size=3), FLEETS, st.booleans(), st.data())
def test_whatever_the_hosts_register_a_pass_goes_on_and_ends(iterations: list[dict[str, Any]], fleet: list[dict[str, Any]], wait: bool, data: Any) -> None:
    its = Pass(hosts=[one["host"] for one in fleet])
    its.observed = {one["host"]: one["observation"] or SILENT for one in fleet}
    its.begin(wait=wait, wait_timeout=50.0)

    def lie(state: pass_loop.State) -> None:
        for host in its.hosts[:2]:
            junk = data.draw(st.sampled_from(iterations))
            good = its.observed[host] if isinstance(its.observed[host], dict) else {}
            # An observation in which something is junk, all of it, or a result that does not fit.
            its.observed[host] = data.draw(st.sampled_from([junk.get(host), {**good, "records": junk["acted"]}, {**good, "results": junk["acted"]}, good]))
            its.acted[host] = junk["acted"]
            its.facts[host] = data.draw(st.sampled_from([None, junk["facts"], EVIL]))

    its.play(lie)


def test_the_documented_values_are_those_of_the_roles() -> None:
    assert set(DO) > {"act", "end"}
    its = Pass()
    check(its.begin())
    assert its.state["request"] == request()
