# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""VMs that only their health checks have out of service: more of them than a group allows are no reason to take more out. The check may be wrong."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.budget import budget as budgets
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.status import status
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import acts, at, event, method, no_room, noted, plan, record, vm
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.world import Machine, World

NAMES = ("vm1", "vm2", "vm3", "vm4")
PAUSE = {"event_type": "Freeze", "duration_in_seconds": 5}
LET_IT_COME = [{"drain": True, "approve": "after_drain", "hold_at_deadline": "let_it_come"}]
REFUSED = "port 8498 of 127.0.0.1 does not accept connections: [Errno 111] Connection refused"
DOUBT = (
    "4 of 4 members of capacity group 'web' are not in service by their health checks alone, and at most 1 may be;"
    f" is respond_health right? The checks say: vm1, vm2, vm3, vm4: {REFUSED}"
)


def web(limit: Any = 1, members: tuple[str, ...] = NAMES) -> dict[str, Any]:
    return {"capacity": [{"name": "web", "members": list(members), "max_unavailable": limit}]}


def alike(members: tuple[str, ...] = NAMES) -> dict[str, Any]:
    return {"alike": [{"name": "alike web", "members": list(members), "what": "service: name app"}]}


def refused(name: str, *events: dict[str, Any], records: Any = (), **more: Any) -> dict[str, Any]:
    """A VM whose port is closed, or whose health check asks for the wrong one."""
    return vm(name, events, records, in_service=False, in_service_why=REFUSED, **more)


def an_event_each(due: float = 900, **more: Any) -> list[dict[str, Any]]:
    return [event(f"E{number}", (name,), due=due, **more) for number, name in enumerate(NAMES, start=1)]


def an_event_of(*names: str, **more: Any) -> dict[str, Any]:
    return event("E0", names, **more)


def reason(found: dict[str, Any]) -> str:
    return str(found["events"][0]["reason"])


def is_red_for_all(found: dict[str, Any]) -> bool:
    """Whether one sentence fails the run for all four."""
    return [line.partition(": ")[0] for line in found["fails"]] == [", ".join(NAMES)]


# --- A wrong check -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [web(), web(3), web(0), web("25%"), alike()], ids=["one", "three", "none", "a quarter", "alike"])
@pytest.mark.parametrize("more", [{}, PAUSE], ids=["drained", "approved undrained"])
def test_a_wrong_check_lets_no_vm_go_and_the_run_is_red(groups: dict[str, Any], more: dict[str, Any]) -> None:
    found = plan(*(refused(name, its) for name, its in zip(NAMES, an_event_each(**more), strict=True)), **groups)
    assert acts(found) == []
    (line,) = found["fails"]
    assert line.startswith("vm1, vm2, vm3, vm4: ") and line.endswith("Connection refused"), "once, and not once for each of them"
    assert [one["kind"] for one in found["events"][0]["blockers"]][:2] == ["failed", "capacity"]


def test_the_reason_is_what_the_check_said_of_each_vm() -> None:
    found = plan(*(refused(name, its) for name, its in zip(NAMES, an_event_each(), strict=True)), **web())
    assert reason(found) == DOUBT
    assert [line for line in status(found) if line.startswith("FAILED")] == [f"FAILED: vm1, vm2, vm3, vm4: {DOUBT}."]
    # The events' own lines, and no line of the group beside them.
    assert len([line for line in status(found) if DOUBT in line]) == 5 and f"{DOUBT}." not in status(found)
    assert "Next: correct respond_health, or wait for room in capacity group 'web', or drain without it in " in status(found)[0]
    others = [vm("vm1", [event()], in_service=False, in_service_why="http://vm1/ answers with status 503"), vm("vm2", in_service=False)]
    found = plan(*others, **web(members=("vm1", "vm2")))
    assert reason(found).endswith("The checks say: vm1: http://vm1/ answers with status 503, vm2: no reason given")


def test_many_reasons_are_few() -> None:
    names = tuple(f"vm{number}" for number in range(1, 31))
    seen = [vm(name, [event()] if name == "vm1" else (), in_service=False, in_service_why=f"{name} " + "x" * 5000) for name in names]
    said = reason(plan(*seen, **web(1, names)))
    assert said.startswith("30 of 30 members") and said.endswith(" and 25 more")
    assert len(said) < 1300 and "vm5: vm5 x" in said and "vm6:" not in said


def test_of_vms_that_are_drained_alike_it_says_the_same() -> None:
    found = plan(*(refused(name, its) for name, its in zip(NAMES, an_event_each(), strict=True)), **alike())
    assert reason(found).startswith("4 of 4 VMs that are drained alike (service: name app) are not in service by their health checks alone, and at most 1 may")


def test_an_event_of_all_vms_that_are_drained_alike_does_not_go_either() -> None:
    """Such an event may take more than the limit where no other member is out: that none serves is no reason."""
    its = an_event_of(*NAMES)
    assert len(acts(plan(*(vm(name, [its]) for name in NAMES), **alike()))) == 4
    found = plan(*(refused(name, its) for name in NAMES), **alike())
    assert acts(found) == [] and found["fails"]
    # Nor one that takes the only VM that serves, too.
    seen = [*(refused(name, its) for name in NAMES[:3]), vm("vm4", [its], in_service=True)]
    assert acts(plan(*seen, **alike())) == []


def test_who_serves_waits_as_before_and_the_reason_is_the_check() -> None:
    found = plan(vm("vm1", [event()], in_service=True), *(refused(name) for name in NAMES[1:]), **web())
    assert acts(found) == []
    assert reason(found).startswith("3 of 4 members") and "vm2, vm3, vm4: port 8498" in reason(found) and found["fails"]


def test_without_an_event_status_has_a_line_and_nothing_is_red() -> None:
    for groups in (web(), alike()):
        found = plan(*(refused(name) for name in NAMES), **groups)
        (line,) = [line for line in status(found) if "by their health checks alone" in line]
        assert line.endswith(f"is respond_health right? The checks say: vm1, vm2, vm3, vm4: {REFUSED}.")
        assert found["fails"] == []


# --- What still goes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "out", "goes"), [(1, 1, True), (1, 2, False), (2, 2, True), (2, 3, False), (0, 1, True), (0, 2, False), ("50%", 2, True)])
def test_a_vm_that_has_crashed_may_be_drained(limit: Any, out: int, goes: bool) -> None:
    """As many as a group allows, and one of a group that allows none."""
    seen = [refused("vm1", event()), *(refused(name) if number < out else vm(name, in_service=True) for number, name in enumerate(NAMES[1:], start=1))]
    found = plan(*seen, **web(limit))
    assert (acts(found) == ["drain vm1 E1"]) is goes and bool(found["fails"]) is not goes


OTHERS = {
    "not read": [vm(name, state="unreachable", error="no route") for name in NAMES[1:]],
    "failed": [vm(name, state="failed", error="HTML") for name in NAMES[1:]],
    "excluded": [vm(name, state="excluded") for name in NAMES[1:]],
    "serving": [vm(name, in_service=True) for name in NAMES[1:]],
    "not asked": [vm(name) for name in NAMES[1:]],
    "drained": [refused(name, event("E9", (name,)), records=[record("drained", event("E9", (name,)))]) for name in NAMES[1:]],
    "recovering": [refused(name, records=[record("recovering", event("E9", (name,)), outcome="completed", methods=[])]) for name in NAMES[1:]],
    "approved": [refused(name, event("E9", (name,)), records=[record("approved", event("E9", (name,)), methods=[], approved_at=at(-5))]) for name in NAMES[1:]],
    "hit by an event": [refused(name, event("E9", (name,), "Started")) for name in NAMES[1:]],
    "in the middle of an upgrade": [refused(name, upgrades=[{"name": "Kernel", "state": "begun"}]) for name in NAMES[1:]],
}


@pytest.mark.parametrize("others", OTHERS.values(), ids=OTHERS.keys())
def test_these_do_not_count_with_the_one_that_has_crashed(others: list[dict[str, Any]]) -> None:
    """A dead zone, a slice of the inventory, events that are under way and upgrades are not the word of a health check."""
    found = plan(refused("vm1", event()), *others, **web())
    assert "drain vm1 E1" in acts(found) and found["fails"] == [] and found["capacity"][0]["doubted"] is None


def test_who_is_retired_does_not_count_and_who_has_a_record_that_counts_for_nothing_does() -> None:
    seen = [refused("vm1", event()), *(refused(name) for name in NAMES[1:])]
    assert acts(plan(*seen, retired=list(NAMES[1:]), **web())) == ["drain vm1 E1"]
    idle = {phase: record(phase, event("E9", ("vm2",)), methods=[]) for phase in ("noticed", "held", "recovered")}
    for its in idle.values():
        assert acts(plan(seen[0], refused("vm2", records=[its]), *seen[2:], **web(3))) == []


def test_what_was_drained_goes_on_and_is_approved() -> None:
    """Its record explains it: to approve it makes no further VM unavailable, and ends it sooner."""
    others = [refused(name) for name in NAMES[1:]]
    for phase, word in (("draining", "drain vm1 E1"), ("drained", "approve vm1 E1")):
        found = plan(refused("vm1", event(), records=[record(phase)]), *others, **web())
        assert acts(found) == [word] and found["fails"] == []


def test_the_second_vm_of_an_event_that_is_half_drained_waits() -> None:
    both = an_event_of("vm1", "vm2")
    half = refused("vm1", both, records=[record("drained", both)])
    found = plan(half, refused("vm2", both), refused("vm3"), refused("vm4"), **web(2))
    assert acts(found) == [] and found["fails"]


def test_groups_with_keep_alone_stay_as_they_are() -> None:
    group = {"name": "web", "members": list(NAMES), "keep": ["length(@) >= `0`"]}
    seen = [refused(name, its) for name, its in zip(NAMES, an_event_each(), strict=True)]
    assert len(acts(plan(*seen, capacity=[group]))) == 4
    assert acts(plan(*seen, capacity=[{**group, "max_unavailable": 1}])) == []


def test_a_check_that_is_mended_lets_the_first_go() -> None:
    events = an_event_each()
    seen = [vm(name, [its], [no_room(its)], in_service=True) for name, its in zip(NAMES, events, strict=True)]
    found = plan(*seen, **web())
    assert acts(found) == ["drain vm1 E1"] and found["fails"] == []


def test_an_operators_override_approves() -> None:
    word = {"action": "approve", "who": "alice", "why": "agreed", "at": at(-5), "until": at(5000), "vm": None, "beside": []}
    seen = [refused("vm1", event(), records=[record("noticed", decision=word)]), *(refused(name) for name in NAMES[1:])]
    found = plan(*seen, **web())
    assert acts(found) == ["approve vm1 E1"] and found["fails"] == []


def test_an_upgrade_is_told_the_same() -> None:
    found = plan(*(refused(name) for name in NAMES), **web())
    assert found["capacity"][0]["doubted"] == DOUBT and budgets.BATCH not in DOUBT


# --- The deadline --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [web(), alike()], ids=["declared", "alike"])
def test_at_its_deadline_each_drains_and_none_is_approved_in_the_next_pass(groups: dict[str, Any]) -> None:
    events = an_event_each(due=150)
    found = plan(*(refused(name, its, records=[no_room(its)]) for name, its in zip(NAMES, events, strict=True)), **groups)
    drains = [step for step in found["actions"] if step["action"] == "drain"]
    assert [step["host"] for step in drains] == list(NAMES) and is_red_for_all(found)
    assert reason(found).endswith("Connection refused; the deadline has passed, so it drains without room and is not approved")
    for phase in ("draining", "drained"):
        records = [record(phase, its, rule=step["rule"]) for its, step in zip(events, drains, strict=True)]
        found = plan(*(refused(name, its, records=[one]) for name, its, one in zip(NAMES, events, records, strict=True)), **groups)
        assert not [word for word in acts(found) if word.startswith("approve")]
        assert is_red_for_all(found) and "is respond_health right?" in reason(found)


@pytest.mark.parametrize("groups", [web(), alike()], ids=["declared", "alike"])
def test_those_that_drained_at_their_deadlines_do_not_let_the_last_one_go(groups: dict[str, Any]) -> None:
    """By then they have records. One without any is left, and one may be out by its check alone."""
    near, far = an_event_each(due=150)[:3], event("E4", ("vm4",), due=3000)
    found = plan(*(refused(name, its) for name, its in zip(NAMES, near)), refused("vm4", far), **groups)
    drains = [step for step in found["actions"] if step["action"] == "drain"]
    assert [step["host"] for step in drains] == list(NAMES[:3])
    records = [record("drained", its, rule=step["rule"]) for its, step in zip(near, drains, strict=True)]
    found = plan(*(refused(name, its, records=[one]) for name, its, one in zip(NAMES, near, records)), refused("vm4", far), **groups)
    assert acts(found) == [] and is_red_for_all(found)
    # Nor while Azure has begun with them, and while they come back by a check that is still wrong.
    begun = [event(its["event_id"], its["resources"], "Started") for its in near]
    hit = [record("started", its, rule=step["rule"], started_at=at(-5)) for its, step in zip(begun, drains, strict=True)]
    found = plan(*(refused(name, its, records=[one]) for name, its, one in zip(NAMES, begun, hit)), refused("vm4", far), **groups)
    assert "E4" not in " ".join(acts(found)) and any(line.startswith("vm4: ") for line in found["fails"])
    over = [record("recovering", its, rule=step["rule"], outcome="completed", methods=[method("undone")]) for its, step in zip(near, drains, strict=True)]
    found = plan(*(refused(name, records=[one]) for name, one in zip(NAMES, over)), refused("vm4", far), **groups)
    assert "E4" not in " ".join(acts(found))


def test_one_that_served_before_it_drained_at_its_deadline_holds_no_other() -> None:
    """vm2 has crashed, vm1 drains beyond capacity: its record says why it is out, so that vm2 may be drained."""
    near = event(due=150)
    begins = plan(vm("vm1", [near], in_service=True), refused("vm2"), vm("vm3"), vm("vm4"), **web())
    (step,) = [step for step in begins["actions"] if step["action"] == "drain"]
    assert step["rule"]["beyond_capacity"] is True and "was_out" not in step["rule"]
    first = refused("vm1", near, records=[record("drained", near, rule=step["rule"])])
    found = plan(first, refused("vm2", event("E2", ("vm2",))), vm("vm3"), vm("vm4"), **web())
    assert acts(found) == ["drain vm2 E2"] and found["fails"] == []


def test_the_mark_stays_while_the_drain_goes_on() -> None:
    near = event(due=140)
    marked = {"name": "r", "drain": True, "approve": "after_drain", "beyond_capacity": True, "was_out": True}
    for rule, in_service, expected in ((marked, None, True), ({**marked, "was_out": False}, False, None)):
        seen = vm("vm1", [near], [record("draining", near, rule=rule)], in_service=in_service)
        found = plan(seen, *(refused(name) for name in NAMES[1:]), **web())
        (step,) = [step for step in found["actions"] if step["action"] == "drain"]
        assert step["rule"]["beyond_capacity"] is True and step["rule"].get("was_out") is expected


def test_what_is_let_come_is_red_and_not_drained() -> None:
    near = event(due=150)
    found = plan(refused("vm1", near), *(refused(name) for name in NAMES[1:]), policy=LET_IT_COME, **web())
    assert acts(found) == [] and found["fails"] and noted(found)["phase"] == "noticed"


def test_an_event_that_has_begun_is_drained_and_no_longer_red() -> None:
    found = plan(refused("vm1", event(status="Started")), *(refused(name) for name in NAMES[1:]), **web())
    assert acts(found) == ["drain vm1 E1"] and found["fails"] == []


# --- By the machines themselves ------------------------------------------------------------------------------------------


class Misled(World):
    """Every health check asks for the wrong port. The oracle looks at the VMs."""

    def observation(self, machine: Machine) -> dict[str, Any]:
        return {**super().observation(machine), "in_service": False, "in_service_why": REFUSED}


@pytest.mark.parametrize("groups", [web(), web(2), alike()], ids=["one", "two", "alike"])
@pytest.mark.parametrize("apart", [0.0, 60.0, 400.0])
def test_all_serve_until_their_deadlines_and_azure_begins_by_itself(groups: dict[str, Any], apart: float) -> None:
    its = Misled(1, 4, pass_interval=0, **groups)
    for number, name in enumerate(NAMES):
        its.create("Reboot", [name], 900.0 + apart * number)
    reds = 0
    while not all(event.over for event in its.events):
        before = sum(machine.serving for machine in its.machines.values())
        reds += bool(its.run_pass()["fails"])
        if its.now < 1_800_000_000.0 + 900.0 - 200 - 30:
            assert before == 4
        its.advance(15.0)
    assert its.approvals == 0 and reds > 30 and its.undrained_starts == []
