# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said of a group that has no room, and when somebody looks again. Who waits must know for whom."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.budget import allocation
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.budget.budget import Budget
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import load
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import acts, at, event, method, no_room, noted, plan, record, vm

NAMES = tuple(f"vm{number}" for number in range(1, 10))
PAUSE = {"event_type": "Freeze", "duration_in_seconds": 5}
LET_IT_COME = [{"drain": True, "approve": "after_drain", "hold_at_deadline": "let_it_come"}]


def group(limit: Any = 1, members: tuple[str, ...] = NAMES, **more: Any) -> list[dict[str, Any]]:
    return [{"name": "web", "members": list(members), "max_unavailable": limit, **more}]


def reason(found: dict[str, Any], event_id: str = "E1") -> str:
    return str(next(one for one in found["events"] if one["event_id"] == event_id)["reason"])


def fleet(out: int, *hit: dict[str, Any]) -> list[dict[str, Any]]:
    """Nine VMs: those that are given, as many others out of service, the rest serving."""
    names = [name for name in NAMES if name not in {one["host"] for one in hit}]
    return [*hit, *[vm(name, in_service=number >= out) for number, name in enumerate(names)]]


@pytest.mark.parametrize(
    ("out", "text"),
    [
        (1, "vm2 (not in service)"),
        (5, ", ".join(f"vm{number} (not in service)" for number in range(2, 7))),
        (6, ", ".join(f"vm{number} (not in service)" for number in range(2, 7)) + " and 1 more"),
        (8, ", ".join(f"vm{number} (not in service)" for number in range(2, 7)) + " and 3 more"),
    ],
)
def test_five_of_those_that_are_out_are_named_and_the_rest_counted(out: int, text: str) -> None:
    found = plan(*fleet(out, vm("vm1", [event()])), capacity=group(out))
    assert reason(found) == f"capacity group 'web' lets {out} of its 9 members be unavailable; vm1 would exceed it, together with {text}"
    assert acts(plan(*fleet(out, vm("vm1", [event()])), capacity=group(out + 1))) == ["drain vm1 E1"]


@pytest.mark.parametrize(("count", "text"), [(3, "vm1, vm2, vm3"), (6, "vm1, vm2, vm3, vm4, vm5 and 1 more")])
def test_an_event_that_takes_more_than_ever_fit_is_said_to(count: int, text: str) -> None:
    large = event(resources=NAMES[:count])
    found = plan(*fleet(0, *[vm(name, [large]) for name in NAMES[:count]]), capacity=group(2))
    assert reason(found) == f"capacity group 'web' lets 2 of its 9 members be unavailable, and the event takes {text} together"
    assert acts(plan(*fleet(0, *[vm(name, [large]) for name in NAMES[:count]]), capacity=group(count))) == [f"drain {name} E1" for name in NAMES[:count]]


def test_a_group_that_is_not_whole_lets_nobody_out() -> None:
    sliced = plan(vm("vm1", [event()]), vm("vm2"), capacity=group(1, ("vm1", "vm2", "vm3")))
    assert reason(sliced).startswith("capacity group 'web' is held: vm3 of its members are not in this run")
    assert reason(sliced).endswith("run it for all members, or correct their names")
    smaller = plan(vm("vm1", [event()]), vm("vm2"), capacity=group(1, ("vm1", "vm2"), size=3))
    assert reason(smaller).startswith("capacity group 'web' is held: it has 3 members, and this run's inventory names 2 of them")
    assert acts(sliced) == acts(smaller) == []
    assert acts(plan(vm("vm1", [event()]), vm("vm2"), capacity=group(1, ("vm1", "vm2"), size=2))) == ["drain vm1 E1"]


STARTED = event("E0", ("vm2",), "Started")


@pytest.mark.parametrize(
    ("second", "why"),
    [
        (vm("vm2", [STARTED]), "hit by E0, which has started"),
        (vm("vm2", [event("E0", ("vm2",), "Started", **PAUSE)]), None),
        (
            vm("vm2", [event("E0", ("vm2",), "Started", **PAUSE)], [record("noticed", STARTED, approved_at=at(-5), methods=[])]),
            "hit by E0, which has started",
        ),
        (vm("vm2", [event("E0", ("vm2",), **PAUSE)], [record("noticed", event("E0", ("vm2",), **PAUSE), approving_at=at(-5))]), "noticed for E0"),
        (vm("vm2", [], [record("recovered", STARTED, outcome="completed")]), None),
        (vm("vm2", in_service=False), "not in service"),
        (vm("vm2", state="unreachable"), "not read"),
        (vm("vm2", state="failed"), "not read"),
        (vm("vm2", state="excluded"), "left alone, so not read"),
    ],
)
def test_why_a_member_counts_as_out(second: dict[str, Any], why: str | None) -> None:
    found = plan(vm("vm1", [event()]), second, vm("vm3"), capacity=group(1, ("vm1", "vm2", "vm3")))
    assert found["capacity"][0]["out"] == ({} if why is None else {"vm2": why})
    assert ("drain vm1 E1" in acts(found)) is (why is None)


def test_the_run_that_has_leased_a_member_first_is_named() -> None:
    leases = [
        {"name": f"claim-run0000{number}-{'0' * 16}.1.json", "run": f"run0000{number}", "digest": "0" * 16, "event_id": "E9", "kind": "events", "who": who}
        | {"groups": {}, "made_at": at(-10), "limit": at(100), "expired": False}
        for number, who in ((1, "bob on deploy2"), (2, "carol on deploy3"))
    ]
    found = plan(vm("vm1", [event()], [record("noticed")]), vm("vm2", leases=leases), vm("vm3"), capacity=group(1, ("vm1", "vm2", "vm3")))
    assert "bob on deploy2" in reason(found) and "carol" not in reason(found)


# --- When it looks again ------------------------------------------------------------------------------------------------


def crowded(due: float | None, **given: Any) -> dict[str, Any]:
    """What vm1 hears when vm2 takes the only place, the second time it asks."""
    its = event(due=due)
    seen = [vm("vm1", [its], [no_room(its)]), vm("vm2", in_service=False)]
    return plan(*seen, capacity=group(1, ("vm1", "vm2")), longest_requeue=1e6, **given)


@pytest.mark.parametrize(("due", "seconds"), [(None, 15), (900, 15), (166, 15), (165, 15), (164, 14), (151, 1), (150.5, 0.5)])
def test_room_is_looked_for_every_quarter_of_a_minute_and_at_the_last_moment(due: float | None, seconds: float) -> None:
    found = crowded(due)
    assert acts(found) == []
    assert found["requeue"]["seconds"] == seconds


def test_after_its_last_moment_what_is_let_come_still_looks_for_room() -> None:
    for due in (150, 149, 100):
        assert crowded(due, policy=LET_IT_COME)["requeue"]["seconds"] == 15, due


@pytest.mark.parametrize(
    ("due", "policy", "text"),
    [
        (900, "default", "wait for room in capacity group 'web', or drain without it in 12 min"),
        (900, LET_IT_COME, "wait for room in capacity group 'web'; otherwise Azure starts it undrained in 15 min"),
        (None, "default", "wait for room in capacity group 'web'"),
    ],
)
def test_what_comes_next_is_said(due: float | None, policy: Any, text: str) -> None:
    assert crowded(due, policy=policy)["events"][0]["next"] == text


def test_at_its_deadline_a_drain_without_room_is_for_now() -> None:
    (told,) = [one for one in crowded(100)["events"][0]["blockers"] if one["kind"] == "capacity"]
    assert told["way_out"] == "wait for room in capacity group 'web', or drain without it now"


def test_what_is_approved_undrained_waits_for_room_or_for_azure() -> None:
    its = event(**PAUSE)
    seen = [vm("vm1", [its], [no_room(its)]), vm("vm2", in_service=False)]
    found = plan(*seen, capacity=group(1, ("vm1", "vm2")))
    assert acts(found) == []
    assert found["events"][0]["next"] == "wait for room in capacity group 'web'; otherwise Azure starts it in 15 min"


def test_the_plan_shows_each_group_as_it_is() -> None:
    found = plan(vm("vm1"), vm("vm2", in_service=False), capacity=group(1, ("vm1", "vm2", "vm3"), size=3))
    (shown,) = found["capacity"]
    assert shown["name"] == "web" and shown["members"] == ["vm1", "vm2", "vm3"] and shown["max_unavailable"] == 1
    assert shown["out"] == {"vm2": "not in service", "vm3": "not in this run"}
    assert shown["missing"] == ["vm3"] and shown["disputed"] == {} and "not in this run" in shown["held"]


def test_a_drain_whose_run_died_right_after_it_was_written_down_waits_for_room_and_is_not_put_back() -> None:
    begun = record("draining", event(), methods=[method("found")])
    seen = [vm("vm1", [event()], [begun]), vm("vm2", in_service=False)]
    found = plan(*seen, capacity=group(1, ("vm1", "vm2")))
    assert acts(found) == []
    assert found["requeue"]["seconds"] == 15
    assert noted(found).get("phase") in (None, "held")
    assert acts(plan(seen[0], vm("vm2"), capacity=group(1, ("vm1", "vm2")))) == ["drain vm1 E1"]
    # At its deadline there is no more time for room.
    near = event(due=149)
    late = vm("vm1", [near], [record("draining", near, methods=[method("found")])])
    assert acts(plan(late, seen[1], capacity=group(1, ("vm1", "vm2")))) == ["drain vm1 E1"]
    # One that has acted is out already, and goes on.
    acted = vm("vm1", [event()], [record("draining")])
    assert acts(plan(acted, seen[1], capacity=group(1, ("vm1", "vm2")))) == ["drain vm1 E1"]


@pytest.mark.parametrize(
    ("phase", "methods", "in_service", "goes"),
    [
        ("draining", [method("begun")], None, True),
        ("drained", [method()], None, True),
        ("approved", [method()], None, True),
        ("started", [method()], None, True),
        ("approved", [], None, False),
        ("started", [], None, False),
        ("approved", [], False, True),
        ("drained", [method()], True, False),
    ],
)
def test_a_vm_that_does_not_serve_may_drain_for_another_event_too(phase: str, methods: list[Any], in_service: bool | None, goes: bool) -> None:
    """vm2 is out as well, and one may be: what takes nobody out needs no room."""
    first = event("E0", status="Started" if phase == "started" else "Scheduled")
    known = record(phase, first, methods=methods, **({"approved_at": at(-9)} if phase == "approved" else {"started_at": at(-9)} if phase == "started" else {}))
    seen = [vm("vm1", [first, event()], [known], in_service=in_service), vm("vm2", in_service=False)]
    assert ("drain vm1 E1" in acts(plan(*seen, capacity=group(1, ("vm1", "vm2"))))) is goes


def test_a_vm_of_the_event_that_is_out_already_is_not_among_the_others() -> None:
    two = event(resources=("vm1", "vm9"))
    found = plan(*fleet(5, vm("vm1", [two], in_service=False), vm("vm9", [two])), capacity=group(6))
    others = ", ".join(f"vm{number} (not in service)" for number in range(2, 7))
    assert reason(found) == f"capacity group 'web' lets 6 of its 9 members be unavailable; vm1, vm9 would exceed it, together with {others}"


def leased(**more: Any) -> list[dict[str, Any]]:
    found = {
        "name": f"claim-run00other-{'0' * 16}.1.json",
        "run": "run00other",
        "digest": "0" * 16,
        "event_id": "E9",
        "kind": "events",
        "who": "bob on deploy2",
    }
    return [{**found, "groups": {}, "made_at": at(-10), "limit": at(100), "expired": False, **more}]


@pytest.mark.parametrize(("hashes", "same"), [({}, True), ({"other": "0"}, True), ({"web": "0"}, False), ({"web": "zzzz"}, False)])
def test_only_a_run_that_declares_other_members_is_in_dispute(hashes: dict[str, str], same: bool) -> None:
    seen = [vm("vm1", [event()]), vm("vm2", leases=leased(groups=hashes)), vm("vm3")]
    run = {"id": "run000mine", "who": "alice"}
    found = plan(*seen, capacity=group(2, ("vm1", "vm2", "vm3")), run=run)
    assert acts(found) == ["acquire vm1 E1"]
    assert found["capacity"][0]["disputed"] == ({} if same else {"vm2": "run run00other of bob on deploy2"})


@pytest.mark.parametrize(("count", "never"), [(0, False), (1, False), (2, False), (3, True), (4, True)])
def test_a_batch_never_fits_that_is_larger_than_a_group_allows(count: int, never: bool) -> None:
    settings = load({"capacity": group(2, ("vm1", "vm2", "vm3", "vm4"))})
    assert allocation.never_fits(settings, [*NAMES[:count], "vm9"]) is never


def test_a_group_that_must_keep_somebody_says_whom_even_where_there_is_a_place() -> None:
    found = plan(vm("vm1", [event()], in_service=True), vm("vm2", in_service=True), capacity=group(1, ("vm1", "vm2"), keep=["length(@) >= `2`"]))
    assert acts(found) == []
    assert reason(found) == "capacity group 'web' must keep length(@) >= `2`, which is not met without vm1"


def test_own_vms_that_are_out_are_taken_from_the_count_of_the_others_once() -> None:
    two = event(resources=("vm1", "vm9"))
    found = plan(*fleet(7, vm("vm1", [two], in_service=False), vm("vm9", [two])), capacity=group(8))
    assert reason(found).endswith("vm6 (not in service) and 2 more")


def test_an_approval_of_what_is_out_already_needs_no_place() -> None:
    short = event(**PAUSE)
    seen = [vm("vm1", [short], in_service=False), vm("vm2", state="unreachable")]
    assert acts(plan(*seen, capacity=group(1, ("vm1", "vm2")))) == ["approve vm1 E1"]


def test_a_place_is_kept_for_an_older_event_beside_a_group_in_which_it_takes_no_place() -> None:
    """vm1 is out already and so takes no place of its group, which is over its limit; E1 waits for two places of the other group only."""
    first, second, under_way = event("E1", ("vm1", "vm2", "vm3")), event("E2", ("vm4",), due=950), event("E0", ("vm5",))
    seen = [vm("vm1", [first], in_service=False), vm("vm2", [first]), vm("vm3", [first]), vm("vm4", [second])]
    seen.append(vm("vm5", [under_way], [record("drained", under_way)]))
    groups = [*group(0, ("vm1",)), {**group(2, ("vm2", "vm3", "vm4", "vm5"))[0], "name": "db"}]
    found = plan(*seen, capacity=groups)
    assert not [word for word in acts(found) if word.startswith("drain")]
    assert "lets 2 of its 4 members be unavailable" in reason(found, "E1") and "kept for E1, which is older" in reason(found, "E2")
    # Without the older one there is room.
    assert "drain vm4 E2" in acts(plan(vm("vm1", in_service=False), vm("vm2"), vm("vm3"), *seen[3:], capacity=groups))


@pytest.mark.parametrize(("state", "in_service", "why"), [
    ("begun", None, "in the middle of upgrade 'Kernel'"), ("done", None, None), ("begun", True, None), ("begun", False, "not in service"),
    ("done", False, "not in service"),
])  # fmt: skip
def test_a_member_in_the_middle_of_an_upgrade_counts_as_out_unless_it_is_seen_to_serve(state: str, in_service: bool | None, why: str | None) -> None:
    marks = [{"name": "Before", "state": "done"}, {"name": "Kernel", "state": state}]
    found = plan(vm("vm1", [event()]), vm("vm2", upgrades=marks, in_service=in_service), vm("vm3"), capacity=group(1, ("vm1", "vm2", "vm3")))
    assert found["capacity"][0]["out"] == ({} if why is None else {"vm2": why})
    assert ("drain vm1 E1" in acts(found)) is (why is None)


@pytest.mark.parametrize(("limit", "batch", "text"), [
    (3, ["vm1"], None),
    (2, ["vm1"], "; vm1 would exceed it, together with vm2 (drained for E1), vm3 (E3 is coming)"),
    (2, ["vm2"], None),
    (1, ["vm2"], "; vm2 would exceed it, together with vm3 (E3 is coming)"),
    (0, ["vm9"], None),
    (0, [], None),
    (1, ["vm1", "vm4", "vm9"], ", and the batch takes vm1, vm4 together; it never fits: make the batch smaller"),
])  # fmt: skip
def test_a_batch_has_room_beside_what_is_taken_and_what_is_coming(limit: int, batch: list[str], text: str | None) -> None:
    groups = load({"capacity": group(limit, ("vm1", "vm2", "vm3", "vm4"))}).capacity
    budget = Budget(groups, {name: list(groups) for name in ("vm1", "vm2", "vm3", "vm4")}, taken={"vm2": "drained for E1"}, out={"vm2": "x"})
    # What is taken keeps its reason, and a VM of no group counts nowhere.
    coming = {"vm2": "E2 is coming", "vm3": "E3 is coming", "vm9": "E4 is coming"}
    expected = None if text is None else f"capacity group 'web' lets {limit} of its 4 members be unavailable{text}"
    assert allocation.no_room(budget, batch, coming) == expected


@pytest.mark.parametrize("limit", [1, 2])
def test_what_a_group_must_keep_is_said_with_the_last_place_and_with_more(limit: int) -> None:
    seen = [vm("vm1", [event()], in_service=True), vm("vm2", in_service=True)]
    found = plan(*seen, capacity=group(limit, ("vm1", "vm2"), keep=["length(@) >= `2`"]))
    assert reason(found) == "capacity group 'web' must keep length(@) >= `2`, which is not met without vm1"
