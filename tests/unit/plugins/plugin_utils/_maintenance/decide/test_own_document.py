# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rule 9 for events: each VM goes by its own document. Each test has one VM say something about another."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.planner import make_plan
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.decide.test_leases import RUN, lease, theirs
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import SETTINGS, acts, at, event, noted, plan, record, vm

BOTH = event(resources=("vm1", "vm2"))
# Later than any drain has to begin.
LONG = event(resources=("vm1", "vm2"), due=5000)
PAUSE = {"event_type": "Freeze", "duration_in_seconds": 5}


def again(*observations: dict[str, Any]) -> list[dict[str, Any]]:
    """The same, looked at for the second time in this run."""
    return [{**one, "listed_before": one["observation"]["events"]} for one in observations]


@pytest.mark.parametrize(
    "said",
    [{"not_before": at(5)}, {"event_status": "Started", "not_before": None}, {"event_type": "Preempt"}, {"duration_in_seconds": 0}, {"resources": ["vm2"]}],
    ids=str,
)
def test_what_another_vm_says_of_an_event_does_not_move_this_one(said: dict[str, Any]) -> None:
    found = plan(*again(vm("vm1", [LONG]), vm("vm2", [{**LONG, **said}])))
    assert not [word for word in acts(found) if "vm1" in word]
    assert "started_at" not in noted(found)
    assert "contradict each other" in found["events"][0]["conflict"]


def test_a_reboot_is_not_approved_because_another_vm_calls_it_a_short_pause() -> None:
    found = plan(*again(vm("vm1", [BOTH]), vm("vm2", [{**BOTH, **PAUSE}])))
    assert not [word for word in acts(found) if word.startswith("approve")]


def test_an_invented_event_is_its_inventors_alone() -> None:
    found = plan(vm("vm1"), vm("vm2"), vm("vm3", [event("X", ("vm1", "vm2", "vm3"), status="Started")]))
    assert acts(found, notes=True) == ["write vm3 X", "drain vm3 X"]


def test_what_a_stranger_lists_otherwise_changes_nothing_and_is_said() -> None:
    honest = [vm("vm1", [BOTH], [record("drained", BOTH)]), vm("vm2", [BOTH], [record("drained", BOTH)])]
    found = plan(*honest, vm("vm3", [{**BOTH, "not_before": at(1), "resources": ["vm1", "ghost"]}]))
    assert acts(found) == ["approve vm1 E1"]
    assert "vm3 lists it otherwise than its VMs do" in found["summary"]["problems"][0]


@pytest.mark.parametrize("rule", [{"drain": False, "approve": "now"}, {"drain": True, "approve": "after_drain"}], ids=str)
def test_a_record_rules_its_own_vm_alone(rule: dict[str, Any]) -> None:
    its = record("drained", BOTH, rule={"name": "mine", **rule, "order": 1})
    assert acts(plan(vm("vm1", [BOTH]), vm("vm2", [BOTH], [its]))) == ["drain vm1 E1"]
    never = [{"drain": True, "approve": "never"}]
    seen = vm("vm1", [BOTH], [record("drained", BOTH, rule={"name": "r", "drain": True, "approve": "never", "order": 1})])
    assert not [word for word in acts(plan(seen, vm("vm2", [BOTH], [its]), policy=never)) if word.startswith("approve")]


@pytest.mark.parametrize(
    ("seen", "denying"),
    [
        # In service with a record, and a pause that needs no drain.
        ([vm("vm1", [], [record("held", BOTH | PAUSE)])], "vm1"),
        # One of two is drained, and the other has no record.
        ([vm("vm1", [], [record("drained", BOTH)]), vm("vm2")], "vm2"),
        # The same where the drained one cannot be read, and counts as drained.
        ([vm("vm1", state="unreachable", last_observation=vm("vm1", [], [record("drained", BOTH)])["observation"]), vm("vm2")], "vm2"),
    ],
)
def test_what_only_a_stranger_lists_is_not_approved_for_vms_in_service(seen: list[dict[str, Any]], denying: str) -> None:
    its = BOTH | PAUSE if denying == "vm1" else BOTH
    policy = [{"drain": denying != "vm1", "approve": "now" if denying == "vm1" else "after_drain", "unreachable": "drained"}]
    found = plan(*seen, vm("vm3", [its]), policy=policy, unmanaged="ignore")
    assert not [word for word in acts(found) if word.startswith("approve")]
    (entry,) = found["events"]
    assert f"listed by vm3 only, and not for themselves by VMs that it names ({denying})" in str(entry["reason"]), entry


# --- Enabled just now ----------------------------------------------------------------------------------------------------


def early(host: str, **more: Any) -> dict[str, Any]:
    return vm(host, [], enabled_at=at(-60), **more)


def test_while_its_own_list_proves_nothing_a_vm_drains_for_what_others_list() -> None:
    found = plan(vm("vm1", [BOTH]), early("vm2"))
    assert acts(found) == ["drain vm1 E1", "drain vm2 E1"]
    assert found["events"][0]["conflict"] is None


def test_without_a_group_one_at_a_time() -> None:
    three = event(resources=("vm1", "vm2", "vm3"))
    found = plan(vm("vm1", [three]), early("vm2"), early("vm3"))
    assert acts(found) == ["drain vm1 E1", "drain vm2 E1"]
    assert any("vm2 goes first" in str(part["reason"]) for part in found["events"][0]["parts"])
    # C(noticed) would say that its own document has listed it.
    phases = [{"phase": phase, "at": at(ago)} for phase, ago in (("held", -22), ("draining", -21), ("drained", -20))]
    done = early("vm2", records=[record("drained", three, history=phases)])
    assert acts(plan(vm("vm1", [three], [record("drained", three)]), done, early("vm3"))) == []


def test_within_capacity_and_never_beyond_it() -> None:
    group = [{"name": "web", "members": ["vm2", "vm3"], "max_unavailable": 1}]
    near = event(resources=("vm1", "vm2"), due=100)
    out = vm("vm3", in_service=False)
    assert acts(plan(vm("vm1", [near]), early("vm2"), vm("vm3"), capacity=group)) == ["drain vm1 E1", "drain vm2 E1"]
    assert "drain vm2 E1" not in acts(plan(vm("vm1", [near]), early("vm2"), out, capacity=group))
    # For what stands in its own document it would at its deadline.
    assert "drain vm2 E1" in acts(plan(vm("vm1", [near]), vm("vm2", [near]), out, capacity=group))


# --- Leases --------------------------------------------------------------------------------------------------------------


def leased(host: str, its: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**vm(host, [its], leases=[lease()], **more), "acknowledged": ["e1"]}


def test_a_vm_that_is_leased_for_ever_keeps_the_others_waiting_until_their_deadline_only() -> None:
    early_ = [leased("vm1", BOTH), vm("vm2", [BOTH], leases=[theirs()])]
    assert not [word for word in acts(plan(*early_, run=RUN)) if word.startswith("drain")]
    near = event(resources=("vm1", "vm2"), due=229)
    assert acts(plan(leased("vm1", near), vm("vm2", [near], leases=[theirs()]), run=RUN)) == ["drain vm1 E1"]
    # So does one that cannot be leased at all.
    assert "drain vm1 E1" in acts(plan(leased("vm1", near), vm("vm2", [near]), run=RUN))


def test_a_failed_drain_is_undone_whoever_has_leased_another_vm() -> None:
    failed = leased("vm1", LONG, records=[record("failed", LONG)])
    assert acts(plan(failed, vm("vm2", [LONG], leases=[theirs()]), run=RUN)) == ["undo vm1 E1"]


# --- Limits --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "count", "text"),
    [("events", 1001, "1001 events"), ("records", 501, "501 records"), ("leases", 201, "201 leases"), ("upgrades", 201, "201 progress marks")],
)
def test_more_than_any_vm_has_is_that_vms_failed_observation(key: str, count: int, text: str) -> None:
    one = {"events": lambda number: event(f"X{number}"), "records": lambda number: record("noticed", event(f"X{number}"))}
    seen = vm("vm2")
    seen["observation"][key] = [one[key](number) if key in one else {"name": f"n{number}", "run": "r"} for number in range(count)]
    found = make_plan([vm("vm1", [event()]), seen], settings=SETTINGS, now=at(0))
    assert text in found["hosts"]["vm2"]["error"]
    assert acts(found) == ["drain vm1 E1"]
    assert text in found["summary"]["unread"][0]["error"]


def test_events_of_upgrades_stand_in_no_document() -> None:
    found = plan(vm("vm1", [event("upgrade:November")]))
    assert "whose id begins with 'upgrade:'" in found["hosts"]["vm1"]["error"]
