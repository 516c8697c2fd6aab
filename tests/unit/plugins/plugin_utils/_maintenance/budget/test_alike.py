# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""VMs that are drained alike stand in for each other: without a declared group, a quarter of them is out at once, and at least one."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.status import status
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import acts, at, event, plan, record, vm
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.world import World

PAUSE = {"event_type": "Freeze", "duration_in_seconds": 5}
LET_IT_COME = [{"drain": True, "approve": "after_drain", "hold_at_deadline": "let_it_come"}]
# Without a time that is known, a drain that is held begins so many seconds before NotBefore: 120 and a margin of 30.
LAST = 150


def alike(*names: str, name: str = "alike web") -> list[dict[str, Any]]:
    return [{"name": name, "members": list(names), "what": "haproxy: backend web; resource group shop"}]


def held(*observations: dict[str, Any], members: tuple[str, ...] = ("vm1", "vm2"), **given: Any) -> dict[str, Any]:
    return plan(*observations, alike=alike(*members), **given)


def an_event_each(number: int, **more: Any) -> list[dict[str, Any]]:
    return [event(f"E{one}", (f"vm{one}",), due=900 + one, **more) for one in range(1, number + 1)]


def names(number: int) -> tuple[str, ...]:
    return tuple(f"vm{one}" for one in range(1, number + 1))


# --- One more ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "at_once"), [(2, 1), (3, 1), (4, 1), (7, 1), (8, 2), (40, 10)])
def test_a_quarter_goes_at_once_and_at_least_one(number: int, at_once: int) -> None:
    events = an_event_each(number)
    found = held(*(vm(name, [its]) for name, its in zip(names(number), events)), members=names(number))
    assert sorted(acts(found)) == sorted(f"drain vm{one} E{one}" for one in range(1, at_once + 1))


def test_what_is_out_is_told_and_how_one_ends_it() -> None:
    e1, e2 = an_event_each(2)
    found = held(vm("vm1", [e1], [record("draining", e1)]), vm("vm2", [e2]))
    (line,) = [line for line in status(found) if "E2" in line]
    assert "1 of 2 VMs that are drained alike (haproxy: backend web; resource group shop) is out already or next: vm1 (draining for E1)" in line
    assert found["fails"] == []


def test_freezes_that_are_approved_undrained_take_a_place() -> None:
    events = an_event_each(3, **PAUSE)
    seen = [vm(name, [its]) for name, its in zip(names(3), events)]
    assert acts(held(*seen, members=names(3))) == ["approve vm1 E1"]


def test_without_it_all_go_together() -> None:
    events = an_event_each(3)
    seen = [vm(name, [its]) for name, its in zip(names(3), events)]
    assert acts(plan(*seen)) == ["drain vm1 E1", "drain vm2 E2", "drain vm3 E3"]


# --- Never worse than before ---------------------------------------------------------------------------------------------


def test_one_event_may_take_more_where_no_other_is_out() -> None:
    both = event("E1", ("vm1", "vm2"))
    seen = [vm("vm1", [both]), vm("vm2", [both])]
    assert acts(held(*seen, vm("vm3"), members=names(3))) == ["drain vm1 E1", "drain vm2 E1"]
    assert acts(held(*seen, vm("vm3", in_service=False), members=names(3))) == []


@pytest.mark.parametrize("state", ["unreachable", "failed", None])
def test_who_is_not_read_or_not_in_this_run_holds_for_a_while_alone(state: str | None) -> None:
    its = event(due=3000)
    others = [] if state is None else [vm("vm2", state=state, error="no route")]
    for ago, goes in ((599, False), (601, True)):
        noticed = record("noticed", its, ago=ago - 2)
        assert (acts(held(vm("vm1", [its], [noticed]), *others)) == ["drain vm1 E1"]) is goes, ago
    # One that answers and does not serve is out for as long as that.
    assert acts(held(vm("vm1", [its], [record("noticed", its, ago=2900)]), vm("vm2", in_service=False))) == []


def test_one_vm_of_the_event_alone_does_not_say_how_long_it_has_waited() -> None:
    its = event(due=3000, resources=("vm1", "liar"))
    away = [vm(f"vm{one}", state="unreachable", error="no route") for one in (2, 3, 4)]
    liar = vm("liar", [its], [record("noticed", its, ago=100_000)])
    for ago, goes in ((7, False), (700, True)):
        seen = [vm("vm1", [its], [record("noticed", its, ago=ago)]), *away, *(vm(f"vm{one}") for one in range(5, 9)), liar]
        assert ("drain vm1 E1" in acts(held(*seen, members=names(8)))) is goes


def test_in_the_enabling_window_one_vms_word_drains_one_alone() -> None:
    """Their own lists prove nothing yet, so only another VM's document names them: a made-up event must not drain all that are alike."""
    made_up = event("E1", names(8))
    seen = [vm("liar", [made_up]), *(vm(name, enabled_at=at(-30), enabled_recently=True) for name in names(8))]
    assert acts(held(*seen, members=names(8))) == ["drain vm1 E1"]


def test_another_runs_list_of_other_members_holds_nothing() -> None:
    lease = {"name": "lease-x", "run": "other", "digest": "d", "event_id": "E9", "kind": "events", "expired": False, "groups": {"alike web": "another"}}
    seen = [vm("vm1", [event(due=3000)]), vm("vm2", leases=[lease]), *(vm(f"vm{one}") for one in range(3, 9))]
    # One of eight is leased by the other run, and counts for itself alone.
    assert acts(held(*seen, members=names(8))) == ["drain vm1 E1"]
    # The leases of this run name no such group: a run with another inventory is not held by them.
    found = held(*seen, members=names(8), run={"id": "abcd", "who": "me"})
    assert [step["lease"]["groups"] for step in found["actions"] if step["action"] == "acquire"] == [{}]


def test_at_its_deadline_it_drains_whatever_the_policy_lets_come_and_is_not_approved() -> None:
    for policy in ("default", LET_IT_COME):
        early, near = event(due=LAST + 1), event(due=LAST)
        assert acts(held(vm("vm1", [early]), vm("vm2", in_service=False), policy=policy)) == []
        found = held(vm("vm1", [near]), vm("vm2", in_service=False), policy=policy)
        assert acts(found) == ["drain vm1 E1"]
        (ask,) = [step for step in found["actions"] if step["action"] == "drain"]
        drained = record("drained", near, rule=ask["rule"])
        assert acts(held(vm("vm1", [near], [drained]), vm("vm2", in_service=False), policy=policy)) == []


def test_a_crashed_vm_may_be_drained() -> None:
    its = event("E2", ("vm2",))
    assert acts(held(vm("vm1"), vm("vm2", [its], in_service=False))) == ["drain vm2 E2"]


def test_a_declared_group_and_a_derived_one_hold_each_their_own() -> None:
    events = an_event_each(4)
    groups = [{"name": "db", "members": ["vm3", "vm4"], "max_unavailable": 1}]
    found = plan(*(vm(name, [its]) for name, its in zip(names(4), events)), capacity=groups, alike=alike("vm1", "vm2"))
    assert acts(found) == ["drain vm1 E1", "drain vm3 E3"]


# --- Many, to their end --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("machines", "events"), [(2, 2), (4, 2), (40, 10)])
def test_all_are_done_and_never_more_than_a_quarter_is_out(machines: int, events: int) -> None:
    """A VM is out from its drain until it serves again. Each event has an hour of notice, and lasts a minute."""
    limit = max(1, machines // 4)
    its = World(1, machines, pass_interval=0, alike=[{"name": "alike", "members": list(names(machines)), "what": "service"}])
    for number in range(1, events + 1):
        its.create("Reboot", [f"vm{number}"], 3600.0)
    most = 0
    while not all(event.over for event in its.events) or any(not machine.serving for machine in its.machines.values()):
        assert its.now < 1_800_000_000.0 + 3500, "nothing may wait for its deadline"
        its.run_pass()
        its.advance(5.0)
        most = max(most, sum(not machine.serving or its.now < machine.down_until for machine in its.machines.values()))
    assert most <= limit and its.undrained_starts == []


def test_with_the_usual_notice_one_of_four_is_out_in_each_minute() -> None:
    """With 2.5.0, whose deadline goes by the longest drain: 4, 4, 4, and 3 until Azure takes them (docs/figures.md)."""
    group = [{"name": "web", "members": list(names(4)), "max_unavailable": 1}]
    its, minutes = World(1, 4, pass_interval=10, drain_seconds=900, capacity=group), [0] * 20
    for name in names(4):
        its.machines[name].drain_time = 20.0
        its.create("Reboot", [name], 900.0)
    for second in range(0, 1200, 10):
        its.run_pass()
        its.advance(10.0)
        out = sum(not machine.serving or its.now < machine.down_until for machine in its.machines.values())
        minutes[second // 60] = max(minutes[second // 60], out)
    assert (minutes, its.undrained_starts, its.taken_beyond) == ([1] * 10 + [0] * 10, [], [])


# --- What could hold nothing ---------------------------------------------------------------------------------------------


def test_a_group_that_could_hold_no_event_of_the_usual_notice_is_told() -> None:
    def lines(**given: Any) -> list[str]:
        return [line for line in status(plan(vm("vm1"), vm("vm2"), **given)) if "are more than 15 min" in line]

    web = [{"name": "web", "members": ["vm1", "vm2"], "max_unavailable": 1}]
    assert lines(capacity=web, pass_interval=300) == [] and lines(alike=alike("vm1", "vm2"), pass_interval=750) == []
    assert lines(capacity=web, pass_interval=751) == [
        "120 s for a drain, 30 s and 751 s between passes are more than 15 min: capacity group 'web' holds no such event; set respond_pass_interval."
    ]
    (line,) = lines(alike=alike("vm1", "vm2"), pass_interval=751)
    assert line.endswith("VMs that are drained alike (haproxy: backend web; resource group shop) hold no such event; set respond_pass_interval.")
