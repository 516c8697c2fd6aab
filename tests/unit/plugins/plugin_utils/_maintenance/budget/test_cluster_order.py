# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""At a deadline the VMs of a cluster begin one after the other: never two in one iteration, and none waits for one that cannot act."""

from __future__ import annotations

import random
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance import planner
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.budget.test_capacity_any import NAMES, fleet, observation
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import acts, event, method, plan, record, vm

PG = {"pg": ["vm1", "vm2", "vm3"]}
NEAR = event("E1", ("vm1", "vm2", "vm3"), due=60)


def look(*records: dict[str, Any] | None, states: tuple[str, ...] = ("ok",) * 3, clusters: Any = None) -> list[str]:
    seen = [
        vm(f"vm{number}", [NEAR], [] if found is None else [found], state=state)
        for number, (found, state) in enumerate(zip(records, states, strict=True), start=1)
    ]
    return [one for one in acts(plan(*seen, clusters=PG if clusters is None else clusters)) if one.startswith("drain")]


def test_one_begins_in_an_iteration() -> None:
    assert look(None, None, None) == ["drain vm1 E1"]
    begun = record("draining", NEAR)
    assert look(begun, None, None) == ["drain vm1 E1", "drain vm2 E1"]
    assert look(begun, begun, None) == ["drain vm1 E1", "drain vm2 E1", "drain vm3 E1"]


def test_without_a_cluster_all_begin_together() -> None:
    assert look(None, None, None, clusters={}) == ["drain vm1 E1", "drain vm2 E1", "drain vm3 E1"]


def test_one_that_is_not_read_keeps_no_other_waiting() -> None:
    assert look(None, None, None, states=("unreachable", "ok", "ok")) == ["drain vm2 E1"]


WAITS = record("draining", NEAR, methods=[], reason="1-x: not yet: busy", blocker={"kind": "not_yet", "subjects": []})


def test_one_that_waits_asks_in_turn_with_those_that_begin() -> None:
    assert look(WAITS, None, None) == ["drain vm1 E1"]


def test_of_two_clusters_each_begins_one() -> None:
    both = {"a": ["vm1", "vm2"], "b": ["vm3"], "c": ["vm2", "vm3"]}
    assert look(None, None, None, clusters=both) == ["drain vm1 E1", "drain vm3 E1"]


def begun_in_one_plan(dice: random.Random) -> list[str]:
    events, groups = fleet(dice)
    members = next((one["members"] for one in groups if one["name"] == "cluster c"), [])
    seen = [observation(dice, name, events) for name in NAMES]
    found = plan(*seen, capacity=[one for one in groups if one["name"] != "cluster c"], clusters={"c": members} if members else {})
    phases = {(one["host"], held["event"]["event_id"]): held["phase"] for one in seen for held in (one["observation"] or {}).get("records", ())}
    drains = [one for one in found["actions"] if one["action"] == "drain" and not one["verify"]]
    begins = dict.fromkeys(one["host"] for one in drains if phases.get((one["host"], one["event_id"])) != "draining")
    return [name for name in begins if name in members]


def search() -> int:
    """How often a VM of a cluster begins in random fleets; fails where two do."""
    dice, found = random.Random(4), 0
    for _number in range(1500):
        of_cluster = begun_in_one_plan(dice)
        assert len(of_cluster) <= 1, f"{of_cluster} begin together"
        found += len(of_cluster)
    return found


def test_in_any_fleet_no_two_begin_together() -> None:
    assert search() > 50


def test_the_search_would_see_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner.cluster_order, "one_begins", lambda event_states, settings: event_states)
    with pytest.raises(AssertionError, match="begin together"):
        search()


def test_the_reason_of_a_method_that_has_not_begun_is_told() -> None:
    later = event("E1", ("vm1", "vm2"))
    waits = record("draining", later, methods=[], reason="1-x: not yet: an election is under way", blocker={"kind": "not_yet", "subjects": []})
    found = plan(vm("vm1", [later], [waits]), vm("vm2", [later], [record("drained", later)]))
    (entry,) = found["events"]
    assert (entry["phase"], entry["reason"]) == ("draining", "vm1: its record says: 1-x: not yet: an election is under way")
    assert [one["kind"] for one in entry["blockers"]] == ["not_yet", "draining"] and entry["next"] == "drain vm1"
    # Words alone say nothing, and neither does a reason of an earlier phase.
    for more in ({"blocker": {}}, {"blocker": {"kind": "other"}}, {"phase": "recovering"}, {"reason": None}):
        (entry,) = plan(vm("vm1", [later], [{**waits, **more}]), vm("vm2", [later], [record("drained", later)]))["events"]
        assert "not_yet" not in [one["kind"] for one in entry["blockers"]]


def test_an_event_held_for_a_cluster_says_so_by_its_kind() -> None:
    one = event("E2", ("vm2",))
    seen = vm("vm1", [NEAR, one], [record("draining", NEAR, methods=[method("begun")])]), vm("vm2", [one]), vm("vm3", [one])
    entry = next(found for found in plan(*seen, clusters=PG)["events"] if found["event_id"] == "E2")
    assert {found["kind"] for found in entry["blockers"]} == {"cluster"} and entry["next"].startswith("wait for room in capacity group 'cluster pg'")


def test_one_that_was_asked_and_never_begins_goes_last() -> None:
    # vm1 lies: whatever it is asked, it answers that it has not begun.
    def begins(*asked: int) -> list[str]:
        seen = [{**vm(f"vm{number}", [NEAR]), "drains_asked": count} for number, count in enumerate(asked, start=1)]
        return [one for one in acts(plan(*seen, clusters=PG)) if one.startswith("drain")]

    assert begins(1, 0, 0) == ["drain vm2 E1"]
    assert begins(1, 1, 0) == ["drain vm3 E1"]
    assert begins(2, 1, 1) == ["drain vm2 E1"]


def test_who_waits_for_one_cluster_keeps_no_other_waiting() -> None:
    assert look(None, None, None, clusters={"c": ["vm2"], "a": ["vm1", "vm2"]}) == ["drain vm1 E1", "drain vm3 E1"]
