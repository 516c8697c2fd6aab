# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules 1, 3 and 5: nothing is approved that is not drained, not seen, or not ours. Each test tries to get an approval."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import acts, at, event, method, noted, plan, record, vm

DRAINED = record("drained")
TWO = event(resources=("vm1", "vm2"))
FREEZE = {"event_type": "Freeze", "duration_in_seconds": 5}


def drained(host: str, its_event: dict[str, Any] = TWO, **more: Any) -> dict[str, Any]:
    return vm(host, [its_event], [record("drained", its_event)], **more)


def approvals(*observations: dict[str, Any], **given: Any) -> list[str]:
    return [word for word in acts(plan(*observations, **given)) if word.startswith("approve")]


def test_drained_and_verified_is_approved() -> None:
    assert approvals(vm("vm1", [event()], [DRAINED])) == ["approve vm1 E1"]
    assert approvals(drained("vm1"), drained("vm2")) == ["approve vm1 E1"]


@pytest.mark.parametrize(
    "changes",
    [
        {"phase": "draining"},
        {"phase": "noticed"},
        {"phase": "held"},
        {"phase": "failed"},
        {"phase": "recovered"},
        {"methods": []},
        {"methods": [method("begun")]},
        {"methods": [method(), method("begun", id="2-probe_file")]},
        {"methods": [method(boot_id="the boot before")]},
        {"boot_id": "the boot before"},
        {"boot_id": None},
        {"verified_at": None},
        {"verified_at": at(-61)},
        {"verified_at": at(3600)},
        {"verified_at": "yesterday"},
        {"started_at": at(-5)},
        {"approved_at": at(-5)},
    ],
    ids=str,
)
def test_a_record_that_says_less_is_not_approved(changes: dict[str, Any]) -> None:
    assert approvals(vm("vm1", [event()], [{**DRAINED, **changes}])) == []


@pytest.mark.parametrize(
    "observation",
    [
        {"boot_id": None},
        {"boot_id": "another"},
        {"uptime_seconds": 5.0},
        {"events": []},
        {"methods": ()},
        {"state": "unreachable"},
        {"state": "failed"},
        {"state": "excluded"},
    ],
    ids=str,
)
def test_an_observation_that_says_less_is_not_approved(observation: dict[str, Any]) -> None:
    state = {"events": [event()], "records": [DRAINED], **observation}
    assert approvals(vm("vm1", **state)) == []


@pytest.mark.parametrize(
    "other",
    [
        vm("vm2", state="unreachable"),
        vm("vm2", state="unreachable", reached_before=True),
        vm("vm2", state="failed"),
        vm("vm2", state="excluded"),
        vm("vm2", [TWO]),
        vm("vm2", [TWO], [record("draining", TWO)]),
        vm("vm2", [TWO], [record("failed", TWO)]),
        vm("vm2", [TWO], [record("drained", TWO, boot_id="old")]),
        vm("vm2", [TWO], [record("drained", TWO)], methods=()),
        vm("vm2", [TWO], [record("drained", event("E2", ("vm2",)))]),
        vm("vm3"),
        vm("vm2", [TWO], identity={"name": "vm2", "resource_group": "another", "subscription_id": "S"}),
    ],
    ids=lambda other: str(sorted(other.items()))[:40],
)
def test_one_of_two_is_not_enough(other: dict[str, Any]) -> None:
    assert approvals(drained("vm1"), other) == []


def test_an_empty_list_of_methods_is_held_and_none_is_a_method() -> None:
    found = plan(vm("vm1", [event()], [record("noticed")], methods=()))
    assert acts(found) == []
    assert noted(found)["phase"] == "held"
    assert "drain_methods" in noted(found)["reason"]
    assert found["events"][0]["phase"] == "held"
    assert "drain_methods" in found["events"][0]["reason"]
    assert acts(plan(vm("vm1", [event()], [record("noticed")], methods=("none",)))) == ["drain vm1 E1"]


def test_what_the_policy_says_now_is_approved_undrained() -> None:
    short = event(**FREEZE)
    assert acts(plan(vm("vm1", [short]))) == ["approve vm1 E1"]
    both = event(resources=("vm1", "vm2"), **FREEZE)
    assert approvals(vm("vm1", [both]), vm("vm2", [both])) == ["approve vm1 E1"]
    assert approvals(vm("vm1", [both]), vm("vm2", state="unreachable")) == []
    assert approvals(vm("vm1", [both])) == []
    assert approvals(vm("vm1", [both]), unmanaged="ignore") == ["approve vm1 E1"]


@pytest.mark.parametrize("duration", [-1, 9, None, "9", "many"])
def test_other_freezes_are_drained(duration: Any) -> None:
    assert acts(plan(vm("vm1", [event(event_type="Freeze", duration_in_seconds=duration)]))) == ["drain vm1 E1"]


@pytest.mark.parametrize("strange", [{"event_type": "Meltdown"}, {"event_type": None}, {"event_type": ["Freeze"]}, {"event_source": 7}])
def test_what_is_unknown_is_impact(strange: dict[str, Any]) -> None:
    assert acts(plan(vm("vm1", [event(**strange)]))) == ["drain vm1 E1"]


def test_an_unknown_status_counts_as_started() -> None:
    found = plan(vm("vm1", [event(event_status="Paused")], [DRAINED]))
    assert acts(found) == []
    assert noted(found)["phase"] == "started"


def test_an_event_that_names_nobody_of_ours_is_left_alone() -> None:
    for resources in (("other",), (), ("other", "another")):
        found = plan(vm("vm1", [event(resources=resources, **FREEZE)]), unmanaged="ignore")
        assert found["actions"] == []
        assert found["done"]
        assert found["events"][0]["phase"] == "foreign"


def test_an_unmanaged_name_holds_unless_ignored() -> None:
    one = event(resources=("vm1", "db9"))
    found = plan(vm("vm1", [one], [record("drained", one)]))
    assert acts(found) == []
    assert found["events"][0]["unmanaged"] == ["db9"]
    assert "db9" in found["events"][0]["reason"]
    ignored = plan(vm("vm1", [one], [record("drained", one)]), unmanaged="ignore")
    assert acts(ignored) == ["approve vm1 E1"]
    assert next(step for step in ignored["actions"] if step["action"] == "approve")["approve_for"] == ["vm1", "db9"]


def test_no_name_is_unmanaged_while_a_managed_vm_is_unknown() -> None:
    one = event(resources=("vm1", "db9"))
    found = plan(vm("vm1", [one], [record("drained", one)]), vm("host-of-db9", state="unreachable"), unmanaged="ignore")
    assert acts(found) == []
    assert found["events"][0]["unmanaged"] == []
    assert found["events"][0]["unknown"] == ["db9"]


def test_a_vm_that_is_known_by_hint_holds_until_it_is_read() -> None:
    one = event(resources=("vm1", "db9"))
    silent = vm("host9", state="unreachable", identity_hint={"name": "DB9", "resource_group": "rg", "subscription_id": "s"})
    found = plan(vm("vm1", [one], [record("drained", one)]), silent)
    assert found["events"][0]["hosts"] == ["vm1", "host9"]
    assert acts(found) == []
    lenient = [{"drain": True, "approve": "after_drain", "unreachable": "drained"}]
    assert acts(plan(vm("vm1", [one], [record("drained", one)]), silent, policy=lenient)) == ["approve vm1 E1"]
    broken = {**silent, "state": "failed"}
    assert acts(plan(vm("vm1", [one], [record("drained", one)]), broken, policy=lenient)) == []


def test_the_same_name_in_another_group_is_another_vm() -> None:
    other = {"name": "vm2", "resource_group": "other", "subscription_id": "S"}
    found = plan(drained("vm1"), vm("vm2", identity=other, events=[]))
    assert found["events"][0]["hosts"] == ["vm1"]
    assert found["events"][0]["unmanaged"] == ["vm2"]


def test_a_stale_verification_is_checked_once_more_first() -> None:
    found = plan(vm("vm1", [event()], [record("drained", ago=300)]))
    step = next(step for step in found["actions"] if step["action"] == "drain")
    assert step["verify"]
    assert acts(found) == ["drain vm1 E1"]
    assert step["rule"]["order"] == 1


def test_the_next_approver_is_asked_when_one_fails() -> None:
    assert approvals(drained("vm1", could_not_approve=["e1"]), drained("vm2")) == ["approve vm2 E1"]
    assert approvals(drained("vm1", could_not_approve=["E1"]), drained("vm2", could_not_approve=["E1"]), vm("vm3", [TWO])) == ["approve vm3 E1"]
    nobody = plan(drained("vm1", could_not_approve=["E1"]), drained("vm2", could_not_approve=["E1"]))
    assert acts(nobody) == ["approve vm1 E1"]
    assert [step["continues"] for step in nobody["actions"] if step["action"] == "approve"] == [True]
    assert nobody["requeue"]["seconds"] > 0
    # That it is vm1 of this group is the VM's own word; the inventory's goes into a command that is pasted.
    assert "--resource-group GROUP --resource-type virtualMachines --resource-name NAME" in nobody["events"][0]["reason"]
    known = {"expected_identity": {"name": "vm1", "group": "rg", "subscription": "s"}}
    nobody = plan({**drained("vm1", could_not_approve=["E1"]), **known}, drained("vm2", could_not_approve=["E1"]))
    assert "--resource-group rg --resource-type virtualMachines --resource-name vm1" in nobody["events"][0]["reason"]


def test_when_all_are_down_the_command_is_said() -> None:
    hints = [{"name": name, "resource_group": "rg", "subscription_id": "s", "scale_set": "web"} for name in ("vm1", "vm2")]
    down = [vm(hint["name"], state="unreachable", identity_hint=hint) for hint in hints]
    found = plan(*down, vm("vm3", [TWO]))
    assert acts(found) == []
    assert "--resource-type virtualMachineScaleSets --resource-name web --scheduled-events-id E1" in found["events"][0]["reason"]


def test_the_inventory_gives_the_order_of_approvers() -> None:
    """Not Resources: a VM could choose by it who drains, approves and keeps notes for the others."""
    turned = event(resources=("vm2", "vm1"))
    assert approvals(drained("vm1", turned), drained("vm2", turned)) == ["approve vm1 E1"]
    assert approvals(drained("vm2", turned), drained("vm1", turned)) == ["approve vm2 E1"]


def test_what_another_vm_lists_changes_no_order() -> None:
    pair = event(resources=("vm2", "vm3"))
    others = [vm("vm2", [pair]), vm("vm3", [pair])]
    group = {"capacity": [{"name": "web", "members": ["vm2", "vm3"], "max_unavailable": 1}]}
    honest, turned = (plan(vm("vm1", [its_event]), *others, **group) for its_event in (pair, event(resources=("vm3", "vm2"))))
    assert acts(turned, notes=True) == acts(honest, notes=True) != []
    assert turned["events"][0]["lead"] == honest["events"][0]["lead"] == "vm2"


def test_one_post_for_all_events_of_an_approver() -> None:
    other = event("E2")
    found = plan(vm("vm1", [event(), other], [DRAINED, record("drained", other, order=2)]))
    (step,) = [step for step in found["actions"] if step["action"] == "approve"]
    assert step["event_ids"] == ["E1", "E2"]
    assert step["approve_for"] == ["vm1"]


def test_each_vm_approves_its_own_termination() -> None:
    both = {**TWO, "event_type": "Terminate"}
    assert approvals(drained("vm1", both), drained("vm2", both)) == ["approve vm1 E1", "approve vm2 E1"]


def test_what_was_approved_is_not_approved_again() -> None:
    approved = record("approved", TWO, approved_at=at(-5))
    found = plan(vm("vm1", [TWO], [approved]), drained("vm2"))
    assert acts(found) == []
    # Before an approval it is noted on all its VMs: without that note another VM's word is not this one's.
    assert "phase" not in noted(found, "vm2")
    announced = vm("vm2", [TWO], [record("drained", TWO, approving_at=at(-6))])
    assert noted(plan(vm("vm1", [TWO], [approved]), announced), "vm2")["phase"] == "approved"


def test_who_is_not_named_says_that_it_was_approved_only_when_this_run_has_asked_it() -> None:
    hit = [vm(name, [TWO], [record("drained", TWO, approving_at=at(-6))], could_not_approve=["E1"]) for name in ("vm1", "vm2")]
    leases_it = record("approved", TWO, methods=[], approved_at=at(-5))
    liar, other = vm("vm3", [], [leases_it]), vm("vm4", [TWO])
    assert approvals(*hit, liar, other) == ["approve vm4 E1"]
    # Nor does it keep those that could not from being asked again.
    retried = plan(*hit, liar)
    assert acts(retried) == ["approve vm1 E1"] and "phase" not in noted(retried, "vm2")
    asked = plan(*hit, vm("vm3", [TWO], [leases_it], approved=["E1"]))
    assert acts(asked) == [] and noted(asked, "vm2") == {"phase": "approved", "approved_at": at(-5)}


def test_never_is_never() -> None:
    policy = [{"drain": True, "approve": "never"}]
    # An event drained by this rule stays under it.
    held = record("drained", rule={"name": "rule 1", "drain": True, "approve": "never"})
    assert approvals(vm("vm1", [event(due=5)], [held]), policy=policy) == []
    assert approvals(vm("vm1", [event(due=5)], [held])) == []
    watch = [{"drain": False, "approve": "never"}]
    found = plan(vm("vm1", [event(due=5)]), policy=watch)
    assert acts(found) == []


def test_only_the_events_asked_for() -> None:
    found = plan(vm("vm1", [event()], [DRAINED]), only_events=["E2"])
    assert found["actions"] == []
    assert found["done"]
    assert acts(plan(vm("vm1", [event()], [DRAINED]), only_events=["e1"])) == ["approve vm1 E1"]


def test_ids_compare_without_case_and_are_sent_as_azure_wrote_them() -> None:
    upper = event("ABC")
    found = plan(vm("vm1", [upper], [record("drained", {**upper, "event_id": "abc"})]))
    (step,) = [step for step in found["actions"] if step["action"] == "approve"]
    assert step["event_ids"] == ["ABC"]


def test_each_vm_has_the_status_of_its_own_document_and_what_has_started_is_not_approved() -> None:
    started = event(resources=("vm1", "vm2"), status="Started")
    found = plan(drained("vm1"), vm("vm2", [started], [record("drained", TWO)]))
    assert acts(found) == []
    assert noted(found, "vm1") == {}
    assert noted(found, "vm2")["phase"] == "started"


def test_a_rule_that_fails_on_an_event_holds_it() -> None:
    policy = [{"when": "contains(description, 'x')", "drain": False, "approve": "now"}, {"drain": False, "approve": "now"}]
    found = plan(vm("vm1", [event(description=None)], [record("noticed")]), policy=policy)
    assert not approvals(vm("vm1", [event(description=None)]), policy=policy)
    assert "cannot be evaluated" in found["events"][0]["reason"]
