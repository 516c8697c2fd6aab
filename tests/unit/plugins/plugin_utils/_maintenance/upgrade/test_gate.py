# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gate: each blocker with its message, and the leases acquired and released."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_schema import event_digest
from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import leases
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.upgrade.gate import make_gate
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import SETTINGS, at, event, method, plan, record, vm

RUN = {"id": "run000mine", "who": "alice on deploy1"}
GROUP = {"name": "web", "members": ["vm1", "vm2", "vm3"], "max_unavailable": 1}
NAME = "Kernel November"
OURS = f"upgrade:{NAME}"


def lease(event_id: str = OURS, run: str = "run000mine", *, left: float = 100, **more: Any) -> dict[str, Any]:
    found = {
        "name": f"claim-{run}-{event_digest(event_id)}.1.json",
        "run": run,
        "digest": event_digest(event_id),
        "event_id": event_id,
        "kind": "upgrade" if event_id.startswith("upgrade:") else "events",
        "who": "bob on deploy2" if run != "run000mine" else "alice on deploy1",
        "groups": {},
        "limit": at(left),
        "expired": left < 0,
    }
    return {**found, **more}


UNTIL = f", until {at(100)[:10]} {at(100)[11:19]} UTC unless renewed (100 s from now)"


def lease_of_other_run(event_id: str = "E9", **more: Any) -> dict[str, Any]:
    return lease(event_id, "run00other", **more)


def leased_vm(host: str = "vm1", *events: dict[str, Any], leases: Any = None, **more: Any) -> dict[str, Any]:
    """Return a VM with this run's acknowledged lease for the upgrade."""
    return {**vm(host, list(events), leases=[lease()] if leases is None else leases, **more), "acknowledged": [OURS.lower()]}


def gate_decision(
    *seen: dict[str, Any], batch: Any = ("vm1",), now: float = 0, memory: Any = None, capacity: Any = (), run: Any = None, **more: Any
) -> dict[str, Any]:
    given = {"upgrade": NAME, "batch": list(batch), **more}
    return make_gate(list(seen), given, settings={**SETTINGS, "capacity": list(capacity), "run": RUN if run is None else run}, now=at(now), seen=memory)


def kinds(found: dict[str, Any]) -> list[str]:
    return [one["kind"] for one in found["blockers"]]


def steps(found: dict[str, Any]) -> list[str]:
    return [f"{step['action']} {step['host']} {step['event_id']}" for step in found["actions"]]


def ended_event(seconds: float, outcome: str = "completed") -> dict[str, Any]:
    """Return a record of an event that ended and recovered this many seconds ago."""
    its = event()
    return {**record("recovered", its, ago=seconds), "outcome": outcome, "missing_since": at(-seconds - 10), "methods": [method("undone")]}


# --- Leases first, then an observation, then the batch -------------------------------------------------------------------


def test_an_open_gate_says_until_when_its_batch_is_leased() -> None:
    found = gate_decision(leased_vm("vm1", leases=[lease(left=90)]), leased_vm("vm2"), batch=("vm1", "vm2"))
    assert (found["go"], found["leased_until"]) == (True, f"{at(90)[:19]}Z"), "the first that expires"
    assert gate_decision(vm("vm1"))["leased_until"] is None
    assert gate_decision(vm("vm1"), run={})["leased_until"] is None, "a run without an id leases nothing"


def test_the_batch_is_leased_before_it_goes() -> None:
    found = gate_decision(vm("vm1"), vm("vm2"), batch=("vm1", "vm2"))
    assert (found["go"], steps(found), found["requeue"]["seconds"]) == (False, [f"acquire vm1 {OURS}", f"acquire vm2 {OURS}"], 0)
    assert found["actions"][0]["lease"] == {"run": "run000mine", "who": "alice on deploy1", "kind": "upgrade", "seconds": 180.0, "groups": {}}
    assert found["why"] == ["vm1, vm2 must be leased first, and then checked once more"]


def test_the_batch_goes_by_an_observation_newer_than_all_leases() -> None:
    assert not gate_decision(leased_vm("vm1"), vm("vm2"), batch=("vm1", "vm2"))["go"]
    assert not gate_decision(leased_vm("vm1"), {**leased_vm("vm2"), "acknowledged": []}, batch=("vm1", "vm2"))["go"]
    found = gate_decision(leased_vm("vm1"), leased_vm("vm2"), batch=("vm1", "vm2"))
    assert (found["go"], found["why"], found["actions"], found["blockers"]) == (True, [], [], [])


def test_a_run_without_an_id_acquires_nothing_and_gets_the_decision() -> None:
    found = gate_decision(vm("vm1"), run={})
    assert (found["go"], found["actions"]) == (True, [])
    assert not gate_decision(vm("vm1", [event()]), run={})["go"]


def test_another_run_on_the_batch_makes_it_give_its_leases_back_and_come_after_events() -> None:
    found = gate_decision(leased_vm("vm1"), leased_vm("vm2", leases=[lease(), lease_of_other_run()]), batch=("vm1", "vm2"))
    assert (found["go"], kinds(found)) == (False, ["lease"])
    assert steps(found) == [f"release vm1 {OURS}", f"release vm2 {OURS}"]
    assert found["why"] == ["run run00other of bob on deploy2 is at work on vm2 for E9" + UNTIL]
    assert found["requeue"]["seconds"] > leases.PAUSE


def test_another_upgrade_is_named() -> None:
    found = gate_decision(vm("vm1", leases=[lease_of_other_run("upgrade:Packages", kind="upgrade")]))
    dead = ". If you know that this run has ended, set gate_dead_run to its id"
    assert found["why"] == [f"run run00other of bob on deploy2 is at work on vm1 for upgrade 'Packages'{UNTIL}{dead}"]


def test_leases_of_a_killed_run_of_this_upgrade_are_named() -> None:
    """A run was killed between mark and release: the VM is done, in service, and counts until the lease expires."""
    done = vm("vm2", leases=[lease_of_other_run(OURS, kind="upgrade")], upgrades=[{"name": NAME, "state": "done"}])
    found = gate_decision(leased_vm("vm1"), done, capacity=[{"name": "web", "members": ["vm1", "vm2"], "max_unavailable": 1}])
    assert kinds(found) == ["capacity"]
    assert f"run run00other of bob on deploy2 holds vm2{UNTIL}" in found["why"][0]
    assert found["why"][0].endswith("set gate_dead_run to its id")


def test_respond_says_which_upgrade_holds_a_vm() -> None:
    found = plan(vm("vm1", [event()], leases=[lease_of_other_run("upgrade:Packages")]), run={"id": "runrespond"})
    assert found["events"][0]["reason"] == "run run00other of bob on deploy2 is at work on vm1 for upgrade 'Packages'"
    assert {step["action"] for step in found["actions"]} == {"write", "notify"}


def test_a_dead_runs_lease_is_removed_before_it_goes() -> None:
    found = gate_decision(leased_vm("vm1", leases=[lease(), lease_of_other_run(left=-1)]), vm("vm2", leases=[lease_of_other_run(left=-1)]))
    assert (found["go"], steps(found)) == (False, [f"acquire vm1 {OURS}", "release vm2 "])
    assert found["actions"][0]["expired"] == [lease_of_other_run()["name"]]


# --- Events --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [{}, {"status": "Started"}, {"due": None}, {"event_type": "Freeze", "duration_in_seconds": 0}, {"event_type": "Brew"}])
def test_a_listed_event_on_the_batch_is_in_the_way(more: dict[str, Any]) -> None:
    found = gate_decision(leased_vm("vm1", event(**more)))
    assert (found["go"], kinds(found), found["blockers"][0]["event_id"]) == (False, ["event"], "E1")
    assert steps(found) == [f"release vm1 {OURS}"]


def test_messages_name_the_event_and_the_time() -> None:
    assert gate_decision(vm("vm1", [event(due=600)]))["why"] == ["Reboot E1 names vm1; it starts in 10 min, or when it is approved"]
    assert gate_decision(vm("vm1", [event(status="Started")]))["why"] == ["Reboot E1 names vm1; it has started"]


def test_an_event_that_only_another_vm_lists_is_in_the_way_until_the_vm_was_read_once_more() -> None:
    assert kinds(gate_decision(leased_vm("vm1"), vm("vm2", [event()]))) == ["event"]
    again = {**leased_vm("vm1"), "listed_before": []}
    assert gate_decision(again, vm("vm2", [event()]))["go"]


def test_an_event_of_others_is_not_in_the_way_without_a_group() -> None:
    assert gate_decision(leased_vm("vm1", event(resources=("vm2",))), vm("vm2", [event(resources=("vm2",))]))["go"]


def test_two_names_of_one_vm_are_one_vm() -> None:
    alias = vm("alias", [event(resources=("vm1",))], identity={"name": "vm1", "resource_group": "RG", "subscription_id": "S"}, vm_name="vm1")
    assert kinds(gate_decision(vm("vm1", [event()]), alias, batch=["alias"])) == ["event"]


def test_types_that_were_left_out_do_not_count_and_unknown_ones_do() -> None:
    freeze = event(event_type="Freeze")
    assert gate_decision(leased_vm("vm1", freeze), types=["Reboot", "redeploy"])["go"]
    assert not gate_decision(leased_vm("vm1", freeze), types=["freeze"])["go"]
    assert not gate_decision(leased_vm("vm1", event(event_type="Brew")), types=["Reboot"])["go"]


@pytest.mark.parametrize(("due", "goes"), [(899, False), (901, True), (None, False), (-5, False)])
def test_observation_ahead_and_the_length_of_the_batch(due: float | None, goes: bool) -> None:
    assert gate_decision(leased_vm("vm1", event(due=due)), look_ahead=600, batch_seconds=300)["go"] is goes


def test_an_approved_event_counts_however_far_away_it_is() -> None:
    far = event(due=90_000)
    assert kinds(gate_decision(leased_vm("vm1", far, records=[record("approved", far, approved_at=at(-5))]), look_ahead=60)) == ["event"]


@pytest.mark.parametrize("phase", ["draining", "drained", "approved", "started", "gone", "recovering"])
def test_a_vm_that_is_out_for_an_event_is_not_taken(phase: str) -> None:
    found = gate_decision(leased_vm("vm1", records=[record(phase)]))
    assert (found["go"], kinds(found)) == (False, ["record"])
    assert found["why"][0] == f"vm1 is {phase} for Reboot E1, and not back yet"


@pytest.mark.parametrize(("seconds", "goes"), [(30, False), (59, False), (61, True)])
def test_quiet_time_after_the_last_event(seconds: float, goes: bool) -> None:
    found = gate_decision(leased_vm("vm1", records=[ended_event(seconds)]))
    assert found["go"] is goes
    assert kinds(found) == ([] if goes else ["recent"])


def test_at_least_ten_seconds_are_quiet() -> None:
    """One document without the event is not enough: two are needed."""
    noticed = {**record("noticed", ago=3), "methods": [], "history": [{"phase": "noticed", "at": at(-5)}]}
    assert kinds(gate_decision(leased_vm("vm1", records=[noticed]), quiet_seconds=0)) == ["recent"]
    noticed["history"] = [{"phase": "noticed", "at": at(-11)}]
    assert gate_decision(leased_vm("vm1", records=[noticed]), quiet_seconds=0)["go"]


def test_listed_events_without_a_record_are_remembered() -> None:
    before = gate_decision(vm("vm1", [event()]))
    assert before["seen"] == {"e1": {"event_id": "E1", "hosts": ["vm1"], "at": at(0)}}
    assert kinds(gate_decision(leased_vm("vm1"), memory=before["seen"], now=59)) == ["recent"]
    assert gate_decision(leased_vm("vm1"), memory=before["seen"], now=61)["go"]
    assert gate_decision(leased_vm("vm2"), batch=["vm2"], memory=before["seen"], now=1)["go"]


def test_drains_of_an_earlier_run_of_this_upgrade_are_continued() -> None:
    drained = record("drained", event(OURS, event_type="Upgrade"))
    assert gate_decision(leased_vm("vm1", records=[drained]))["go"]
    assert kinds(gate_decision(leased_vm("vm1", records=[record("drained", event("upgrade:Other", event_type="Upgrade"))]))) == ["record"]


def upgrading(leases: Any, **more: Any) -> dict[str, Any]:
    its = event("upgrade:Packages", event_type="Upgrade", due=None)
    return vm("vm1", records=[{**record("drained", its, ago=400), **more}], leases=leases)


def test_respond_keeps_an_upgrades_drain_while_its_lease_is_live() -> None:
    found = plan(upgrading([lease_of_other_run("upgrade:Packages")]), run={"id": "runrespond"}, notify=False)
    assert found["actions"] == []
    assert found["events"][0]["reason"] == "run run00other of bob on deploy2 is at work for upgrade 'Packages'"
    assert not found["failed"]


def test_a_failed_vm_marked_as_left_stays_without_a_lease() -> None:
    left = {**upgrading([]), "observation": {**upgrading([])["observation"], "upgrades": [{"name": "Packages", "state": "left"}]}}
    found = plan(left, run={"id": "runrespond"}, notify=False)
    assert found["actions"] == []
    assert found["events"][0]["reason"] == "upgrade 'Packages' failed on it, and it was left for an operator to inspect"
    other = {**left, "observation": {**left["observation"], "upgrades": [{"name": "Others", "state": "left"}]}}
    assert plan(other, run={"id": "runrespond"}, notify=False)["actions"] != []


def test_drains_of_a_dead_upgrade_are_undone() -> None:
    late = plan(upgrading([lease_of_other_run("upgrade:Packages", left=-1)]), run={"id": "runrespond"}, notify=False)
    assert [step["action"] for step in late["actions"]] == ["write", "release"] or [step["action"] for step in late["actions"]] == ["release", "write"]
    gone = upgrading([], missing_since=at(-20), phase="gone", outcome="unknown")
    assert [step["action"] for step in plan(gone, run={"id": "runrespond"}, notify=False)["actions"]] == ["acquire"]


# --- Observations --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["unreachable", "failed", "excluded"])
def test_a_vm_that_was_not_seen_is_not_taken(state: str) -> None:
    assert kinds(gate_decision(vm("vm1", state=state))) == ["unread"]
    assert kinds(gate_decision(vm("vm2"))) == ["unread"]


def test_an_empty_list_just_after_enabling_is_waited_for() -> None:
    found = gate_decision(leased_vm("vm1", enabled_at=at(-100)))
    assert (kinds(found), found["blockers"][0]["wait"]) == (["enabling"], 200)
    assert found["requeue"]["seconds"] <= 60
    assert gate_decision(leased_vm("vm1", enabled_at=at(-301)))["go"]
    other = event(resources=("vm2",))
    assert gate_decision(leased_vm("vm1", other, enabled_at=at(-100)))["go"], "a list that has something shows that lists come"


def test_an_empty_list_of_a_member_of_its_group_is_waited_for_as_well() -> None:
    new = vm("vm2", enabled_at=at(-100))
    # It counts like an unreachable VM, but blocks no longer than that: it could repeat its answer for ever.
    assert kinds(gate_decision(leased_vm("vm1"), new, vm("vm3"), capacity=[GROUP])) == ["capacity"]
    assert gate_decision(leased_vm("vm1"), new, vm("vm3"), capacity=[{**GROUP, "max_unavailable": 2}])["go"]
    assert gate_decision(leased_vm("vm1"), new, vm("vm3"))["go"]


# --- Capacity ------------------------------------------------------------------------------------------------------------


def test_coming_events_of_other_vms_use_the_budget() -> None:
    other = event("E2", ("vm2",), due=90_000, event_type="Freeze")
    found = gate_decision(leased_vm("vm1"), vm("vm2", [other]), vm("vm3"), capacity=[GROUP])
    assert (found["go"], kinds(found)) == (False, ["capacity"])
    assert "vm2 (Freeze E2 is coming)" in found["why"][0]
    assert gate_decision(leased_vm("vm1"), vm("vm2", [other]), vm("vm3"), capacity=[{**GROUP, "max_unavailable": 2}])["go"]


@pytest.mark.parametrize(
    "second",
    [
        vm("vm2", state="unreachable"),
        vm("vm2", in_service=False),
        vm("vm2", [event("E2", ("vm2",))], [record("drained", event("E2", ("vm2",)))]),
        vm("vm2", records=[record("recovering", event("E2", ("vm2",)))]),
        vm("vm2", leases=[lease_of_other_run("upgrade:Packages")]),
        vm("vm2", leases=[lease_of_other_run("E2")]),
        vm("vm2", upgrades=[{"name": "Packages", "state": "begun"}]),
    ],
    ids=["unreachable", "not in service", "drained", "recovering", "another upgrade", "another run", "cut off"],
)
def test_unavailable_vms_use_the_budget(second: dict[str, Any]) -> None:
    found = gate_decision(leased_vm("vm1"), second, vm("vm3"), capacity=[GROUP])
    assert (found["go"], kinds(found)) == (False, ["capacity"])
    assert "the batch" in found["why"][0] or "vm1 would exceed it" in found["why"][0]


def test_a_batch_that_never_fits_says_so() -> None:
    found = gate_decision(leased_vm("vm1"), leased_vm("vm2"), vm("vm3"), batch=("vm1", "vm2"), capacity=[GROUP])
    said = "capacity group 'web' lets 1 of its 3 members be unavailable, and the batch takes vm1, vm2 together; it never fits: make the batch smaller"
    assert (found["why"], found["never"]) == ([said], True)


def test_a_batch_that_never_fits_is_reported_beside_other_blockers() -> None:
    found = gate_decision(leased_vm("vm1"), vm("vm2", state="unreachable"), vm("vm3", [event(resources=("vm3",))]), batch=("vm1", "vm2"), capacity=[GROUP])
    assert found["never"]
    assert any("it never fits" in text for text in found["why"])


def test_a_batch_that_waits_for_others_may_fit_later() -> None:
    second = {"name": "db", "members": ["vm1", "vm9"], "max_unavailable": 0}
    assert not gate_decision(leased_vm("vm1"), vm("vm2", in_service=False), vm("vm3"), capacity=[GROUP])["never"]
    assert not gate_decision(leased_vm("vm1"), vm("vm2"), vm("vm3"), capacity=[GROUP])["never"]
    assert gate_decision(leased_vm("vm1"), vm("vm2"), vm("vm3"), vm("vm9"), capacity=[GROUP, second])["never"], "a host of two groups needs room in both"


# --- Identities ----------------------------------------------------------------------------------------------------------


def vm_named_web(host: str, group: str | None, *events: dict[str, Any]) -> dict[str, Any]:
    """Return a VM named web, a name that another resource group also has; of unknown identity without a group."""
    identity = {"name": "web", "resource_group": group, "subscription_id": "s", "vm_id": host} if group else {}
    return {**vm(host, list(events), leases=[lease()], identity=identity, vm_name="web" if group else None), "acknowledged": [OURS.lower()]}


def test_one_name_in_two_resource_groups_is_two_vms() -> None:
    named = event(resources=("web",))
    assert kinds(gate_decision(vm_named_web("a", "rg1", named), vm_named_web("b", "rg2"), batch=["a"])) == ["event"]
    assert gate_decision(vm_named_web("a", "rg1", named), vm_named_web("b", "rg2"), batch=["b"])["go"]
    assert kinds(gate_decision(vm_named_web("a", "rg1"), vm_named_web("b", "rg2", named), batch=["b"])) == ["event"]


def test_a_vm_of_unknown_name_may_be_named_by_an_event() -> None:
    assert kinds(gate_decision(vm_named_web("a", None, event(resources=("nobody",))), batch=["a"])) == ["event"]
    assert kinds(gate_decision(vm_named_web("a", None), vm("vm2", [event(resources=("nobody",))]), batch=["a"])) == ["event"]
    assert gate_decision(vm_named_web("a", None), vm("vm2", [event(resources=("vm2",))]), batch=["a"])["go"], "that one is known"


# --- Clocks --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("off", [-2_592_000, -7200, -60, 60, 7200, 2_592_000])
def test_a_vms_clock_that_is_off_changes_neither_quiet_time_nor_what_is_ahead(off: float) -> None:
    """Records use the VM's clock, and Azure's times the controller's."""
    its = {"now": at(off), "enabled_at": at(off - 9000)}
    for seconds, goes in ((30, False), (59, False), (61, True)):
        over = {**ended_event(seconds - off), "missing_since": at(off - seconds - 10)}
        assert gate_decision(leased_vm("vm1", records=[over], **its))["go"] is goes
    assert not gate_decision(leased_vm("vm1", event(due=50), **its), look_ahead=60)["go"]
    assert gate_decision(leased_vm("vm1", event(due=70), **its), look_ahead=60)["go"]
    assert gate_decision(leased_vm("vm1", **its))["go"]


def test_a_group_with_unobserved_members_is_held() -> None:
    found = gate_decision(leased_vm("vm1"), vm("vm2"), capacity=[GROUP])
    assert "1 of its members are not in this run" in found["why"][0] or "vm3" in found["why"][0]
    assert not found["go"]


def test_other_lists_of_members_hold_it_where_they_meet() -> None:
    wide = [{**GROUP, "max_unavailable": 2}]
    other = lease_of_other_run("E2", groups={"web": "another"})
    assert gate_decision(leased_vm("vm1"), vm("vm2", leases=[other]), vm("vm3"), capacity=wide)["go"]
    found = gate_decision(leased_vm("vm1", leases=[lease(), other]), vm("vm2"), vm("vm3"), capacity=wide)
    assert [text for text in found["why"] if "declares other members" in text]


# --- Marks ---------------------------------------------------------------------------------------------------------------


def test_vms_marked_as_done_are_skipped() -> None:
    done = vm("vm1", upgrades=[{"name": NAME, "state": "done"}])
    found = gate_decision(done, leased_vm("vm2"), batch=("vm1", "vm2"), marks=True)
    assert (found["go"], found["batch"], found["done"]) == (True, ["vm2"], ["vm1"])
    assert steps(found) == [f"mark_progress vm2 {OURS}"]
    assert found["actions"][0]["state"] == "begun"
    everything = gate_decision(done, marks=True)
    assert (everything["go"], everything["nothing_to_do"], everything["why"]) == (False, True, [f"upgrade {NAME!r} is done on vm1"])


def test_a_begun_vm_continues_and_is_not_marked_again() -> None:
    found = gate_decision(leased_vm("vm1", upgrades=[{"name": NAME, "state": "begun"}]), marks=True)
    assert (found["go"], found["actions"]) == (True, [])


def test_an_upgraded_vm_recovers_without_its_tasks() -> None:
    found = gate_decision(leased_vm("vm1", upgrades=[{"name": NAME, "state": "upgraded"}]), marks=True)
    assert (found["go"], found["actions"], found["upgraded"]) == (True, [], ["vm1"])


def test_a_failed_vm_marked_as_left_begins_anew() -> None:
    found = gate_decision(leased_vm("vm1", upgrades=[{"name": NAME, "state": "left"}]), marks=True)
    assert (found["go"], steps(found), found["upgraded"]) == (True, [f"mark_progress vm1 {OURS}"], [])


@pytest.mark.parametrize("state", ["upgraded", "left"])
def test_vms_not_done_count_as_unavailable_for_other_runs(state: str) -> None:
    half = vm("vm2", upgrades=[{"name": NAME, "state": state}])
    found = gate_decision(leased_vm("vm1"), half, capacity=[{"name": "web", "members": ["vm1", "vm2"], "max_unavailable": 1}])
    assert kinds(found) == ["capacity"]
    assert "vm2 (in the middle of upgrade" in found["why"][0]


def test_replicas_are_kept_by_vms_that_stay_in_service() -> None:
    groups = [{"name": "web", "members": ["vm1", "vm2", "vm3"], "max_unavailable": 3}]
    hit = event("E7", ("vm2",))
    assert gate_decision(leased_vm("vm1"), vm("vm2"), vm("vm3"), capacity=groups)["keepers"] == {"vm1": "vm2"}
    assert gate_decision(leased_vm("vm1"), vm("vm2", [hit]), vm("vm3"), capacity=groups)["keepers"] == {"vm1": "vm3"}
    assert gate_decision(leased_vm("vm1"), leased_vm("vm2"), vm("vm3"), batch=("vm1", "vm2"), capacity=groups)["keepers"] == {"vm1": "vm3", "vm2": "vm3"}
    assert gate_decision(leased_vm("vm1"), leased_vm("vm2"), batch=("vm1", "vm2"))["keepers"] == {"vm1": "vm2", "vm2": "vm1"}
    assert gate_decision(leased_vm("vm1"))["keepers"] == {"vm1": None}
    kept = {"vm": "vm1", "vm_id": None, "record": record("drained", event(OURS, event_type="Upgrade"))}
    assert gate_decision(leased_vm("vm1"), vm("vm2"), vm("vm3", replicas=[kept]), capacity=groups)["keepers"] == {"vm1": "vm3"}


def test_a_restart_of_its_own_that_is_over_does_not_hold_the_next_run_of_the_upgrade() -> None:
    def approved(upgrade: str) -> dict[str, Any]:
        return leased_vm("vm1", records=[{**record("approved", event(event_source="User"), ago=900), "rule": {"upgrade": upgrade}, "methods": []}])

    assert gate_decision(approved(NAME))["go"]
    assert kinds(gate_decision(approved("Other"))) == ["record"]


def test_a_done_vm_that_is_still_out_recovers_without_its_tasks() -> None:
    drained = record("drained", event(OURS, event_type="Upgrade"))
    found = gate_decision(leased_vm("vm1", records=[drained], upgrades=[{"name": NAME, "state": "done"}]), marks=True)
    assert (found["go"], found["upgraded"], found["done"], found["actions"]) == (True, ["vm1"], [], [])


def upgraded_with(name: str, digest: str | None, state: str = "done", *, leased: bool = True) -> dict[str, Any]:
    return (leased_vm if leased else vm)(name, upgrades=[{"name": NAME, "state": state, "digest": digest}])


@pytest.mark.parametrize("state", ["done", "upgraded"])
def test_a_name_that_was_used_with_other_tasks_is_refused_and_the_vms_are_named(state: str) -> None:
    vms = upgraded_with("vm1", "old", state, leased=False), vm("vm2"), upgraded_with("vm3", "new", state, leased=False)
    with pytest.raises(WrongInput, match=r"^vm1: upgrade .* with another tasks file.*upgrade_name.*upgrade_allow_changed_tasks"):
        gate_decision(*vms, batch=("vm1", "vm2", "vm3"), marks=True, tasks_digest="new")


def test_a_mark_that_changes_under_the_leases_leaves_its_own_vm_out_alone() -> None:
    """An error would leave the leases on the other VMs."""
    found = gate_decision(upgraded_with("evil", "f" * 64), leased_vm("vm2"), batch=("evil", "vm2"), marks=True, tasks_digest="new")
    assert (found["batch"], found["done"]) == (["vm2"], ["evil"])


def test_every_vm_counts_by_its_own_mark() -> None:
    vms = upgraded_with("vm1", "new"), leased_vm("vm2")
    assert gate_decision(*vms, upgraded_with("vm3", "old"), batch=("vm1", "vm2"), marks=True, tasks_digest="new")["batch"] == ["vm2"]


@pytest.mark.parametrize("more", [{"tasks_digest": ""}, {}, {"tasks_digest": "new", "marks": False}])
def test_tasks_that_are_not_compared_change_nothing(more: dict[str, Any]) -> None:
    assert gate_decision(upgraded_with("vm1", "old"), leased_vm("vm2"), batch=("vm1", "vm2"), **{"marks": True, **more})["why"] == []


@pytest.mark.parametrize("state", ["begun", "left"])
def test_where_the_tasks_run_again_a_corrected_file_goes_on(state: str) -> None:
    assert gate_decision(upgraded_with("vm1", "old", state), marks=True, tasks_digest="new")["go"]


def test_a_mark_of_an_earlier_version_is_not_compared() -> None:
    found = gate_decision(upgraded_with("vm1", None), leased_vm("vm2"), batch=("vm1", "vm2"), marks=True, tasks_digest="new")
    assert (found["go"], found["done"]) == (True, ["vm1"])


def test_without_marks_no_vm_is_skipped() -> None:
    found = gate_decision(leased_vm("vm1", upgrades=[{"name": NAME, "state": "done"}]))
    assert (found["go"], found["actions"]) == (True, [])


# --- Lost records --------------------------------------------------------------------------------------------------------

FOUND = {"server": "vm1", "balancers": {"lb1": {"app": {"state": "ready", "up": True}}}}
ITS = {**record("drained", event(OURS, event_type="Upgrade")), "methods": [method("drained", id="1-haproxy", method="haproxy", outside=True, before=FOUND)]}
COPY = {"vm": "vm1", "vm_id": "id1", "record": ITS}


def behind_balancer(observation: dict[str, Any]) -> dict[str, Any]:
    """Return the VM of the replica, with the balancer of its finding as a target."""
    observation["observation"]["identity"] = {**observation["observation"]["identity"], "vm_id": "id1"}
    return {**observation, "targets": [{"name": "1-haproxy", "method": "haproxy", "server": "vm1", "balancers": ["lb1"], "backends": []}]}


def test_a_lost_record_is_restored_under_the_lease_first() -> None:
    found = gate_decision(behind_balancer(vm("vm1")), vm("vm2", replicas=[COPY]), marks=True)
    assert (found["go"], steps(found)) == (False, [f"acquire vm1 {OURS}", f"write vm1 {OURS}"])
    note = found["actions"][1]
    assert [(one["id"], one["before"], one["state"]) for one in note["restore"]["methods"]] == [("1-haproxy", FOUND, "begun")]
    assert (note["expected_revision"], note["lease"]) == (0, {"run": "run000mine", "seconds": 180.0})
    # The record is restored and observed: the batch goes, and its replica stays where it is.
    there = gate_decision(leased_vm("vm1", records=[ITS]), vm("vm2", replicas=[COPY]), vm("vm3"), marks=True)
    assert (there["go"], steps(there), there["keepers"]) == (True, [f"mark_progress vm1 {OURS}"], {"vm1": "vm2"})


def test_an_unrestored_record_keeps_the_gate_closed() -> None:
    found = gate_decision(behind_balancer(leased_vm("vm1")), vm("vm2", replicas=[COPY]), marks=True)
    assert (found["go"], steps(found), found["requeue"]["seconds"]) == (False, [f"write vm1 {OURS}"], 1.0)
    assert found["why"] == ["vm1 has lost the record of its drain; it is written back from the copy on another VM first"]


def test_nothing_is_written_back_while_something_is_in_the_way_or_in_check_mode_or_for_others() -> None:
    assert steps(gate_decision(behind_balancer(leased_vm("vm1", event())), vm("vm2", replicas=[COPY]))) == [f"release vm1 {OURS}"]
    assert gate_decision(behind_balancer(vm("vm1")), vm("vm2", replicas=[COPY]), run={})["actions"] == []
    assert steps(gate_decision(behind_balancer(leased_vm("vm1")), vm("vm2", replicas=[{**COPY, "vm": "vm3"}]), vm("vm3"))) == []
    # No change is left to undo, so nothing is lost.
    over = {**COPY, "record": {**ITS, "methods": [method("undone", id="1-haproxy", method="haproxy", outside=True)]}}
    assert gate_decision(behind_balancer(leased_vm("vm1")), vm("vm2", replicas=[over]))["go"]


# --- The request ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"upgrade": ""}, "upgrade must be a name"),
        ({"upgrade": "a\nb"}, "upgrade must be a name"),
        ({"upgrade": "x" * 101}, "upgrade must be a name"),
        ({"batch": []}, "batch must be a list"),
        ({"batch": "vm1"}, "batch must be a list"),
        ({"batch": ["vm1", 5]}, "batch must be a list"),
        ({"quiet_seconds": -1}, "quiet_seconds must be"),
        ({"look_ahead": "soon"}, "look_ahead must be"),
        ({"types": 5}, None),
        ({"marks": "perhaps"}, "marks must be"),
        ({"party": 1}, "unknown keys party"),
    ],
)
def test_invalid_gate_requests_are_refused(given: dict[str, Any], message: str | None) -> None:
    with pytest.raises(WrongInput, match=message):
        make_gate([vm("vm1")], {"upgrade": NAME, "batch": ["vm1"], **given}, now=at(0))


def test_numbers_may_be_text_as_in_templates_of_core_2_18() -> None:
    assert gate_decision(leased_vm("vm1", event(due=901)), look_ahead="600", batch_seconds="300", marks="no")["go"]
    assert not gate_decision(leased_vm("vm1", event(due=901)), look_ahead="", batch_seconds="300")["go"]


# --- A pause of the fleet ------------------------------------------------------------------------------------------------


def paused_gate(*seen: dict[str, Any], until: float = 3600, **more: Any) -> dict[str, Any]:
    pause = {"who": "alice", "why": "release night", "until": at(until)}
    given = {"upgrade": NAME, "batch": [one["host"] for one in seen], **more}
    return make_gate(list(seen), given, settings={**SETTINGS, "run": RUN, "paused": pause}, now=at(0))


def test_no_batch_begins_while_the_fleet_is_paused() -> None:
    for seen in (vm("vm1"), leased_vm("vm1")):
        found = paused_gate(seen)
        assert (found["go"], kinds(found)) == (False, ["paused"])
        assert found["why"][0].startswith("paused by alice until ")
        assert found["why"][0].endswith(": release night; to begin the batch now, remove respond_paused")
        assert not [step for step in steps(found) if not step.startswith("release")]


def test_the_end_of_a_pause_opens_the_gate() -> None:
    assert paused_gate(leased_vm("vm1"), until=0)["go"]
    assert paused_gate(vm("vm1"), until=12)["requeue"]["seconds"] == 12


def test_a_batch_that_is_out_of_service_goes_on_while_the_fleet_is_paused() -> None:
    its = event(OURS, due=None)
    out, back = record("drained", its), record("recovered", its, ago=500)
    assert paused_gate(leased_vm("vm1", records=[out]))["go"]
    assert paused_gate(leased_vm("vm1", upgrades=[{"name": NAME, "state": "upgraded"}]), marks=True)["go"]
    # Not what was put back after a failure, nor a mark alone that says it was begun, nor that of another upgrade.
    assert kinds(paused_gate(leased_vm("vm1", records=[back])))[0] == "paused"
    for mark in ({"name": NAME, "state": "begun"}, {"name": "other", "state": "upgraded"}):
        assert kinds(paused_gate(leased_vm("vm1", upgrades=[mark]), marks=True))[0] == "paused"
    # One VM that is out does not take others along.
    both = paused_gate(leased_vm("vm1", records=[out]), leased_vm("vm2"))
    assert kinds(both) == ["paused"]
