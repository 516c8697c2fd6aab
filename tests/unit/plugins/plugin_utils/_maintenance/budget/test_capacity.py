# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rule 4: no drain and no approval starts that puts more of a group out than it allows. Each test tries to get one more out."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.capacity_groups import load
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.status import status
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import (
    acts,
    at,
    event,
    method,
    no_room,
    noted,
    plan,
    record,
    vm,
)

ALL = ("vm1", "vm2", "vm3")
E1, E2 = event("E1", ("vm1",)), event("E2", ("vm2",), due=950)
PAUSE = {"event_type": "Freeze", "duration_in_seconds": 5}
LET_IT_COME = [{"drain": True, "approve": "after_drain", "hold_at_deadline": "let_it_come"}]


def web(limit: Any = 1, members: tuple[str, ...] = ALL, name: str = "web") -> dict[str, Any]:
    return {"name": name, "members": list(members), "max_unavailable": limit}


def held(*observations: dict[str, Any], groups: Any = None, **given: Any) -> dict[str, Any]:
    return plan(*observations, capacity=[web()] if groups is None else groups, **given)


def entry(found: dict[str, Any], event_id: str = "E1") -> dict[str, Any]:
    return next(one for one in found["events"] if one["event_id"] == event_id)


# --- Loading -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "limit"),
    [(0, 0), (2, 2), ("2", 2), (" 2 ", 2), ("0%", 0), ("25%", 0), ("34%", 1), ("66%", 1), ("67%", 2), ("100 %", 3), (7, 7)],
)
def test_the_limit_is_a_count_or_a_percentage_rounded_down(given: Any, limit: int) -> None:
    (group,) = load([web(given)])
    assert group.limit == limit


def test_a_member_named_twice_is_one() -> None:
    (group,) = load([web("50%", ("a", "b", "a", "b"))])
    assert group.members == ("a", "b")
    assert group.limit == 1


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("web", "a list of groups, not text"),
        ({}, "a list of groups, not a dictionary"),
        ([web(), 5], "group 2 of the capacity: must be a dictionary"),
        ([{**web(), "name": " "}], "group 1 of the capacity: needs a name"),
        ([web(), web()], r"group 2 of the capacity \('web'\): group 1 has the same name"),
        ([{**web(), "keep": []}], "keep must be a JMESPath expression or a list of such, not"),
        ([{**web(), "membres": 1}], "unknown keys membres .did you mean members..; there are name, members, size, max_unavailable, keep"),
        ([web(members=())], r"\('web'\): members must be a list"),
        ([{**web(), "members": "vm1"}], "members must be a list"),
        ([{**web(), "members": ["vm1", 7]}], "member 2 must be the name of an inventory host, not 7"),
        ([{"name": "web", "members": ["vm1"]}], "max_unavailable must be a number .* not None"),
        *[([web(wrong)], "max_unavailable must be a number") for wrong in (True, -1, 1.5, "", "many", "101%", "-5%", [1])],
    ],
)
def test_groups_that_cannot_be_used(given: Any, text: str) -> None:
    with pytest.raises(WrongInput, match=text):
        load(given)
    with pytest.raises(WrongInput, match=text):
        plan(capacity=given)


# --- One more ------------------------------------------------------------------------------------------------------------


def test_room_is_used() -> None:
    assert acts(held(vm("vm1", [E1]), vm("vm2"), vm("vm3"))) == ["drain vm1 E1"]


OUT = {
    "unreachable": vm("vm3", state="unreachable", error="no route"),
    "failed": vm("vm3", state="failed", error="HTML"),
    "excluded": vm("vm3", state="excluded"),
    "not in service": vm("vm3", in_service=False),
    "still changed": vm("vm3", records=[record("held", event("E0", ("vm3",)), methods=[method()])]),
    "undone, not recovered": vm("vm3", records=[record("recovering", event("E0", ("vm3",)), outcome="completed", methods=[method("undone")])]),
    "gone": vm("vm3", records=[record("gone", event("E0", ("vm3",)), outcome="completed")]),
    "failed drain": vm("vm3", records=[record("failed", event("E0", ("vm3",)))]),
    "named by a started event": vm("vm3", [event("E0", ("vm3",), "Started")]),
    **{phase: vm("vm3", [event("E0", ("vm3",))], [record(phase, event("E0", ("vm3",)))]) for phase in ("draining", "drained", "approved")},
    "approved without a drain": vm("vm3", [event("E0", ("vm3",), **PAUSE)], [record("approved", event("E0", ("vm3",)), methods=[])]),
}


@pytest.mark.parametrize("third", OUT.values(), ids=OUT.keys())
def test_one_is_out_so_no_other_begins(third: dict[str, Any]) -> None:
    known = [record("noticed", E1)]
    found = held(vm("vm1", [E1], known), vm("vm2"), third)
    assert not [word for word in acts(found) if "vm1" in word]
    assert noted(found) == {key: no_room(E1)[key] for key in ("phase", "reason", "blocker")}
    assert not found["done"]
    assert "vm3 (" in entry(found)["reason"]
    # The same for an approval without a drain, and both go on where there is room for two.
    short = event("E1", ("vm1",), **PAUSE)
    assert not [word for word in acts(held(vm("vm1", [short], known), vm("vm2"), third)) if "vm1" in word]
    for events, word in ((E1, "drain vm1 E1"), (short, "approve vm1 E1")):
        assert word in acts(held(vm("vm1", [events], known), vm("vm2"), third, groups=[web(2)]))


IN = {
    "idle": vm("vm3"),
    "serving": vm("vm3", in_service=True),
    "recovered": vm("vm3", records=[record("recovered", event("E0", ("vm3",)), outcome="completed")]),
    "held": vm("vm3", records=[record("held", event("E0", ("vm3",)))]),
    "failed drain undone": vm("vm3", records=[record("failed", event("E0", ("vm3",)), outcome=None, methods=[method("undone")])]),
    "a short pause that nobody approved": vm("vm3", [event("E0", ("vm3",), "Started", **PAUSE)]),
}


@pytest.mark.parametrize("third", IN.values(), ids=IN.keys())
def test_who_is_back_leaves_room(third: dict[str, Any]) -> None:
    assert "drain vm1 E1" in acts(held(vm("vm1", [E1]), vm("vm2"), third))


def test_an_approved_event_has_all_its_vms_out_whatever_their_own_records_say() -> None:
    """Killed right after the approval: only the approver wrote it down. That it was about to be approved stands on all of them."""
    both = event("E0", ("vm3", "db1"), **PAUSE)
    approver = vm("db1", [both], [record("approved", both, methods=[], approved_at=at(-5))])
    third = vm("vm3", [both], [record("noticed", both, approving_at=at(-6))])
    assert not [word for word in acts(held(vm("vm1", [E1]), vm("vm2"), third, approver)) if "vm1" in word]


def test_another_vms_word_that_an_event_was_approved_puts_nobody_out() -> None:
    both = event("E0", ("vm3", "db1"), **PAUSE)
    for lie in ({"approved_at": at(-5)}, {"started_at": at(-5)}):
        liar = vm("db1", [both], [record("approved", both, methods=[], **lie)])
        assert "drain vm1 E1" in acts(held(vm("vm1", [E1]), vm("vm2"), vm("vm3", [both]), liar))


def test_held_it_observations_again_soon_and_not_at_once() -> None:
    known = [no_room(E1)]
    assert held(vm("vm1", [E1], known), vm("vm2", in_service=False), vm("vm3"))["requeue"]["seconds"] == 15
    soon = event("E1", ("vm1",), due=156)
    known = [no_room(soon)]
    assert held(vm("vm1", [soon], known), vm("vm2", in_service=False), vm("vm3"))["requeue"]["seconds"] == 6


def test_two_events_on_one_group_do_not_both_start() -> None:
    seen = [vm("vm1", [E1, E2]), vm("vm2", [E1, E2]), vm("vm3")]
    found = held(*seen)
    assert acts(found) == ["drain vm1 E1"]
    assert "vm1 (E1 takes it now)" in entry(found, "E2")["reason"]
    assert acts(held(*seen, groups=[web(2)])) == ["drain vm1 E1", "drain vm2 E2"]
    assert acts(held(*seen, groups=[])) == ["drain vm1 E1", "drain vm2 E2"]


def test_two_approvals_on_one_group_do_not_both_start() -> None:
    short = [event("E1", ("vm1",), **PAUSE), event("E2", ("vm2",), due=950, **PAUSE)]
    found = held(vm("vm1", short), vm("vm2", short), vm("vm3"))
    assert acts(found) == ["approve vm1 E1"]
    mixed = [event("E1", ("vm1",), due=950), event("E2", ("vm2",), **PAUSE)]
    assert acts(held(vm("vm1", mixed), vm("vm2", mixed), vm("vm3"))) == ["approve vm2 E2"]


def test_an_event_gets_all_its_vms_or_none() -> None:
    two = event("E1", ("vm1", "vm2"))
    found = held(vm("vm1", [two]), vm("vm2", [two]), vm("vm3"))
    assert acts(found) == []
    assert "the event takes vm1, vm2 together" in entry(found)["reason"]
    assert acts(held(vm("vm1", [two]), vm("vm2", [two]), vm("vm3"), groups=[web(2)])) == ["drain vm1 E1", "drain vm2 E1"]


def test_a_vm_must_fit_all_its_groups() -> None:
    groups = [web(3), web(1, ("vm1", "db1"), "rack")]
    assert acts(held(vm("vm1", [E1]), vm("vm2"), vm("vm3"), vm("db1", in_service=False), groups=groups)) == []
    assert acts(held(vm("vm1", [E1]), vm("vm2", in_service=False), vm("vm3"), vm("db1"), groups=groups)) == ["drain vm1 E1"]


def test_who_is_out_already_is_not_counted_twice() -> None:
    assert acts(held(vm("vm1", [E1], in_service=False), vm("vm2"), vm("vm3"))) == ["drain vm1 E1"]
    assert acts(held(vm("vm1", [E1], in_service=False), vm("vm2", state="unreachable"), vm("vm3"))) == ["drain vm1 E1"]
    other = event("E0", ("vm1",))
    both = vm("vm1", [E1, other], [record("drained", other)])
    assert "drain vm1 E1" in acts(held(both, vm("vm2"), vm("vm3")))
    # Drained for it, and another fell out meanwhile: approving puts no more out, and ends it sooner.
    assert acts(held(vm("vm1", [E1], [record("drained")]), vm("vm2", in_service=False), vm("vm3"))) == ["approve vm1 E1"]
    # What was begun goes on.
    assert acts(held(vm("vm1", [E1], [record("draining")]), vm("vm2", in_service=False), vm("vm3"))) == ["drain vm1 E1"]


def test_a_group_of_which_none_may_be_out() -> None:
    for limit in (0, "0%", "25%"):
        found = held(vm("vm1", [E1]), vm("vm2"), vm("vm3"), groups=[web(limit)])
        assert acts(found) == []
        assert "lets none of its 3 members" in entry(found)["reason"]


@pytest.mark.parametrize("limit", [1, 2, 3, "100%"])
def test_a_sliced_inventory_holds_the_group(limit: Any) -> None:
    found = held(vm("vm1", [E1]), vm("vm2"), groups=[web(limit)])
    assert acts(found) == []
    assert "vm3 of its members are not in this run" in entry(found)["reason"]
    assert found["capacity"][0]["missing"] == ["vm3"]
    # Another group is not touched by it, nor what is out already.
    assert acts(held(vm("vm1", [E1]), vm("vm2"), groups=[web(limit, ("vm2", "vm3"))])) == ["drain vm1 E1"]
    assert acts(held(vm("vm1", [E1], [record("drained")]), vm("vm2"), groups=[web(limit)])) == ["approve vm1 E1"]


@pytest.mark.parametrize("size", [3, "3", 1])
def test_a_list_that_a_slice_has_cut_holds_the_group(size: Any) -> None:
    """An expression such as groups['web'] has in a slice only the hosts of the slice: all that it names are there."""
    cut = {**web(1, ("vm1", "vm2")), "size": size}
    found = held(vm("vm1", [E1]), vm("vm2"), groups=[cut])
    assert acts(found) == []
    assert f"it has {size} members, and this run's inventory names 2 of them" in entry(found)["reason"]
    assert "drain vm1 E1" in acts(held(vm("vm1", [E1]), vm("vm2"), groups=[{**cut, "size": 2}]))


def test_a_part_of_an_inventory_is_told_when_nothing_happens() -> None:
    """Not only when an event comes: by then it is late to give the run the others."""
    declared, cut = held(vm("vm1"), vm("vm2")), held(vm("vm1"), vm("vm2"), groups=[{**web(1, ("vm1", "vm2")), "size": 3}])
    assert any(line.startswith("Capacity group 'web' is held: vm3 of its members are not in this run") for line in status(declared))
    assert any(line.startswith("Capacity group 'web' is held: it has 3 members") for line in status(cut))
    assert not any("is held" in line for line in status(held(vm("vm1"), vm("vm2"), vm("vm3"))))


@pytest.mark.parametrize("size", [0, -1, 2.5, True, "all", "25%", []])
def test_a_size_that_is_no_number_of_members_is_refused(size: Any) -> None:
    with pytest.raises(WrongInput, match="size must be the number of its members"):
        load([{**web(), "size": size}])


def test_events_of_others_take_no_room() -> None:
    seen = [vm("vm1", [E1, E2]), vm("vm2", [E1, E2]), vm("vm3")]
    assert acts(held(*seen, only_events=["E2"])) == ["drain vm2 E2"]


# --- Whose turn ----------------------------------------------------------------------------------------------------------


def test_what_waits_keeps_its_place() -> None:
    """E1 needs two and E0 has one: E2 must not take the second for ever."""
    first, older, younger = event("E0", ("vm3",), due=700), event("E1", ("vm1", "vm2"), due=800), event("E2", ("vm4",), due=900)
    group = [web(2, ("vm1", "vm2", "vm3", "vm4"))]
    seen = [vm("vm1", [older]), vm("vm2", [older]), vm("vm3", [first], [record("draining", first)]), vm("vm4", [younger])]
    found = held(*seen, groups=group)
    assert acts(found) == ["drain vm3 E0"]
    assert "vm1 (kept for E1, which is older)" in entry(found, "E2")["reason"]
    seen[2] = vm("vm3")
    assert acts(held(*seen, groups=group)) == ["drain vm1 E1", "drain vm2 E1"]


def test_what_can_never_fit_keeps_nobody_waiting() -> None:
    big, small = event("E1", ("vm1", "vm2"), due=800), event("E2", ("vm3",), due=900)
    assert acts(held(vm("vm1", [big]), vm("vm2", [big]), vm("vm3", [small]))) == ["drain vm3 E2"]
    stuck = [vm("vm1", [big]), vm("vm2", [big]), vm("vm3", [small]), vm("vm4", in_service=False)]
    assert acts(held(*stuck, groups=[web(2, (*ALL, "vm4"))])) == ["drain vm3 E2"]


def test_what_is_under_way_is_finished_first() -> None:
    """Killed between two drains: the second has its place, or two such events would wait for each other."""
    begun, older = event("E1", ("vm1", "vm2"), due=900), event("E0", ("vm3",), due=700)
    seen = [vm("vm1", [begun], [record("draining", begun)]), vm("vm2", [begun]), vm("vm3", [older])]
    assert acts(held(*seen, groups=[web(2)])) == ["drain vm1 E1", "drain vm2 E1"]


def test_what_was_begun_goes_on_when_the_room_for_the_rest_is_lost() -> None:
    begun = event("E1", ("vm1", "vm2"))
    seen = [vm("vm1", [begun], [record("draining", begun)]), vm("vm2", [begun]), vm("vm3", in_service=False)]
    assert acts(held(*seen, groups=[web(2)])) == ["drain vm1 E1"]


def test_no_time_given_is_served_by_when_it_was_noticed() -> None:
    timeless, timed = event("E1", ("vm1",), due=None), event("E2", ("vm2",), due=400)
    known = [record("held", timeless)]
    assert acts(held(vm("vm1", [timeless], known), vm("vm2", [timed]), vm("vm3"))) == ["drain vm1 E1"]


# --- The deadline --------------------------------------------------------------------------------------------------------

NEAR = event("E1", ("vm1",), due=150)
NOT_YET = event("E1", ("vm1",), due=151)
AWAY = vm("vm2", in_service=False)


def test_at_its_deadline_it_drains_and_is_not_approved() -> None:
    assert acts(held(vm("vm1", [NOT_YET]), AWAY, vm("vm3"))) == []
    found = held(vm("vm1", [NEAR]), AWAY, vm("vm3"))
    assert acts(found) == ["drain vm1 E1"]
    (step,) = [step for step in found["actions"] if step["action"] == "drain"]
    assert step["rule"]["beyond_capacity"] is True
    drained = record("drained", NEAR, rule=step["rule"])
    found = held(vm("vm1", [NEAR], [drained]), AWAY, vm("vm3"))
    assert acts(found) == []
    assert "vm2 (not in service)" in entry(found)["reason"]
    # Until there is room.
    assert acts(held(vm("vm1", [NEAR], [drained]), vm("vm2"), vm("vm3"))) == ["approve vm1 E1"]


def test_what_drained_beyond_stays_so_while_it_is_drained_again() -> None:
    again = record("draining", NEAR, rule={"name": "r", "drain": True, "approve": "after_drain", "beyond_capacity": True})
    found = held(vm("vm1", [NEAR], [again]), AWAY, vm("vm3"))
    assert [step["rule"]["beyond_capacity"] for step in found["actions"] if step["action"] == "drain"] == [True]


def test_the_policy_may_let_it_come() -> None:
    found = held(vm("vm1", [NEAR]), AWAY, vm("vm3"), policy=LET_IT_COME)
    assert acts(found) == []
    assert "Azure starts it undrained" in entry(found)["next"]
    assert acts(held(vm("vm1", [NEAR]), vm("vm2"), vm("vm3"), policy=LET_IT_COME)) == ["drain vm1 E1"]


def test_a_short_pause_is_not_approved_at_its_deadline() -> None:
    short = event("E1", ("vm1",), due=5, **PAUSE)
    assert acts(held(vm("vm1", [short]), AWAY, vm("vm3"))) == []


def test_who_drains_anyway_is_counted_before_others() -> None:
    """A timeless event was noticed first, but the other one's machine goes out now whatever is decided."""
    timeless, near = event("E1", ("vm1",), due=None), event("E2", ("vm2",), due=100)
    assert acts(held(vm("vm1", [timeless], [record("held", timeless)]), vm("vm2", [near]), vm("vm3"))) == ["drain vm2 E2"]


def test_a_started_event_drains_beyond_the_limit() -> None:
    begun = event("E1", ("vm1",), "Started")
    assert acts(held(vm("vm1", [begun]), AWAY, vm("vm3"))) == ["drain vm1 E1"]


# --- What people see, and who is looked at -------------------------------------------------------------------------------


def test_status_says_who_is_out_and_what_comes() -> None:
    e0 = event("E0", ("vm3",))
    found = held(vm("vm1", [E1]), vm("vm2"), vm("vm3", [e0], [record("draining", e0)]))
    lines = status(found)
    assert any(
        "held: capacity group 'web' lets 1 of its 3 members be unavailable; vm1 would exceed it, together with vm3 (draining for E0)" in line for line in lines
    )
    assert any("Next: wait for room in capacity group 'web', or drain without it in 12 min." in line for line in lines)
    assert "Capacity group 'web': 1 of 3 unavailable, limit 1: vm3 (draining for E0)." in lines
    assert status(held(vm("vm1"), vm("vm2"), vm("vm3"))) == status(plan(vm("vm1"), vm("vm2"), vm("vm3")))


def test_the_record_is_not_written_anew_when_somebody_else_is_out() -> None:
    seen = vm("vm1", [E1], [no_room(E1)])
    for third in OUT.values():
        assert noted(held(seen, vm("vm2"), third)) == {}


def test_all_members_are_looked_at_again_and_those_of_their_groups() -> None:
    groups = [web(1, ("vm1", "vm2")), web(1, ("vm2", "vm3"), "rack"), web(1, ("vm4", "vm5"), "far")]
    seen = [vm("vm1", [E1]), *[vm(f"vm{number}") for number in range(2, 7)]]
    assert held(*seen, groups=groups)["involved"] == ["vm1", "vm2", "vm3"]
    assert held(*seen, groups=[])["involved"] == ["vm1"]


def test_a_vm_is_not_kept_out_for_what_is_held() -> None:
    """vm1 comes back from E0 although E1 wants it: E1 has no room for its other VM."""
    old, two = event("E0", ("vm1",)), event("E1", ("vm1", "vm2"))
    over = record("gone", old, outcome="completed", missing_since=at(-30))
    found = held(vm("vm1", [two], [over]), vm("vm2", [two]), vm("vm3"))
    assert acts(found) == ["recover vm1 E0"]


def test_who_only_approved_for_others_serves_and_does_not_count_as_out() -> None:
    noted = {**record("noticed", event("E1", ()), ago=5), "methods": [], "approving_at": at(-5)}
    asked = vm("vm2", [E1, E2], [noted])
    found = held(vm("vm1", [E1, E2], [record("drained", E1)], in_service=False), asked, vm("vm3", [E1, E2]))
    assert "drain vm2 E2" not in acts(found)
    assert sorted(found["capacity"][0]["out"]) == ["vm1"]


def test_what_failed_and_is_over_counts_as_out_but_a_drain_takes_it_out_all_the_same() -> None:
    """vm2 serves: its drain for E9 never came to anything, and E9 is over. vm1 is out, and one may be."""
    over = record("gone", event("E9", ("vm2",)), outcome="completed", started_at=at(-30), methods=[method("failed")])
    first = vm("vm1", [E1, E2], [record("drained", E1)], in_service=False)
    found = held(first, vm("vm2", [E1, E2], [over], in_service=True), vm("vm3", [E1, E2], in_service=True))
    assert sorted(found["capacity"][0]["out"]) == ["vm1", "vm2"]
    assert not [one for one in acts(found) if one.startswith("drain vm2")]
    assert "recover vm2 E9" in acts(found)


def test_what_is_hit_right_now_gives_no_room_to_another_event() -> None:
    """A started event may be over a second later; what another drains now stays out."""
    hit = event("E1", ("vm1",), status="Started")
    later = event("E2", ("vm1",), due=36000)
    started = {**record("started", hit), "methods": []}
    away = vm("vm2", [event("E3", ("vm2",))], [record("drained", event("E3", ("vm2",)))])
    group = {"name": "web", "members": ["vm1", "vm2"], "max_unavailable": 1}
    found = plan(vm("vm1", [hit, later], [started]), away, capacity=[group])
    assert "drain vm1 E2" not in acts(found)
    assert "drain vm1 E1" in acts(found)
