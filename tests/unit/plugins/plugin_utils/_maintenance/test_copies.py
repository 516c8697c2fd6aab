# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of records: who keeps them, and what a VM gets back that has lost its own."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import (
    acts,
    event,
    method,
    plan,
    record,
    vm,
)

E1 = event("E1", ("vm1",))
OUTSIDE = {"id": "1-haproxy", "method": "haproxy", "outside": True, "before": {"server": "vm1"}}


def outside(*given: Any, **more: Any) -> dict[str, Any]:
    return {**vm(*given, methods=["haproxy"], **more), "outside": True}


def drained(phase: str = "drained", state: str = "drained", **more: Any) -> dict[str, Any]:
    return record(phase, E1, methods=[method(state, **OUTSIDE)], **more)


def mirror(its: dict[str, Any], name: str = "vm1", vm_id: str | None = None) -> dict[str, Any]:
    return {"vm": name, "vm_id": vm_id, "record": its}


def step(found: dict[str, Any], act: str, host: str = "vm1") -> dict[str, Any]:
    (only,) = [one for one in found["steps"] if one["act"] == act and one["host"] == host]
    return dict(only)


def restored(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in found["steps"] if one["act"] == "note" and one.get("restore")]


# --- Who keeps a copy ----------------------------------------------------------------------------------------------------


def test_a_member_of_the_group_that_no_event_hits_keeps_it() -> None:
    group = {"name": "web", "members": ["vm1", "vm2", "vm3", "vm4"], "max_unavailable": 3}
    others = [vm("vm5"), vm("vm2", state="unreachable"), vm("vm3", [event("E2", ("vm3",), due=90_000)]), vm("vm4")]
    found = plan(outside("vm1", [E1]), *others, capacity=[group])
    assert step(found, "drain")["mirror"] == "vm4"
    assert {"vm1", "vm4"} <= set(found["involved"])
    # Somebody else where the group has nobody, and one that another event hits where there is nobody else.
    assert step(plan(outside("vm1", [E1]), vm("vm5"), *others[1:3], capacity=[{**group, "members": ["vm1", "vm2", "vm3"]}]), "drain")["mirror"] == "vm5"
    assert step(plan(outside("vm1", [E1]), *others[1:3]), "drain")["mirror"] == "vm3"


def test_nobody_is_said_and_the_drain_goes_on() -> None:
    both = event("E1", ("vm1", "vm2"))
    found = plan(outside("vm1", [both]), vm("vm2", [both]), vm("vm3", state="failed"), vm("vm4", state="excluded"))
    given = step(found, "drain")
    assert given["mirror"] is None and "no other VM can keep a copy" in given["reason"]


def test_without_a_change_outside_there_is_no_copy() -> None:
    found = plan(vm("vm1", [E1]), vm("vm2"))
    assert "mirror" not in step(found, "drain") and "vm2" not in found["involved"]
    assert acts(plan(vm("vm1", [E1], [record("drained", E1)]), vm("vm2"))) == acts(plan(vm("vm1", [E1], [record("drained", E1)])))


def test_who_has_a_copy_goes_on_keeping_it() -> None:
    its = drained("draining", "begun")
    found = plan(outside("vm1", [E1], [its]), vm("vm2"), vm("vm3", mirrors=[mirror(its)]))
    assert step(found, "drain")["mirror"] == "vm3"


@pytest.mark.parametrize(("phase", "intent"), [("failed", "undo"), ("gone", "recover")])
def test_what_puts_back_carries_it_too(phase: str, intent: str) -> None:
    its = drained(phase, "drained", outcome="completed" if phase == "gone" else None, reason="x")
    found = plan(outside("vm1", [E1] if intent == "undo" else [], [its]), vm("vm2"))
    assert step(found, intent)["mirror"] == "vm2", found["steps"]


def test_a_copy_that_is_missing_or_behind_is_made_up_for_and_one_that_is_over_removed() -> None:
    its = drained()
    assert step(plan(outside("vm1", [E1], [its]), vm("vm2")), "mirror", "vm2")["vm"] == "vm1"
    behind = mirror(drained("draining", "begun", revision=2))
    assert step(plan(outside("vm1", [E1], [its]), vm("vm2"), vm("vm3", mirrors=[behind])), "mirror", "vm3")["vm"] == "vm1"
    # A note changed the revision, and nothing of what has to be put back.
    current = mirror({**its, "revision": 2, "phase": "draining"})
    assert "mirror vm2 E1" not in acts(plan(outside("vm1", [E1], [its]), vm("vm2", mirrors=[current])))
    over = drained("recovered", "undone", outcome="completed")
    found = plan(outside("vm1", [], [over]), vm("vm2", mirrors=[current]), vm("vm3", mirrors=[behind]))
    assert acts(found) == ["mirror vm2 E1", "mirror vm3 E1"]
    assert plan(outside("vm1", [], [over]), vm("vm2"))["steps"] == []


# --- What a VM gets back -------------------------------------------------------------------------------------------------


def test_a_vm_without_its_record_gets_it_back_and_nothing_else_is_done_before() -> None:
    its = drained("approved", approved_at="2027-01-15T08:00:00Z")
    for events in ([E1], []):
        found = plan(outside("vm1", events), vm("vm2", mirrors=[mirror(its)]))
        (note,) = restored(found)
        assert note["restore"]["methods"] == its["methods"] and note["restore"]["phase"] == "approved"
        assert (note["host"], note["event_id"], note["expected_revision"]) == ("vm1", "E1", 0)
        assert acts(found) == [], "it acts without the record"
        assert [one for one in found["steps"] if one["act"] == "note"] == [note]
        assert found["hosts"]["vm1"]["phase"] == "approved" and found["done"] is False


def test_it_goes_on_counting_as_out() -> None:
    group = {"name": "web", "members": ["vm1", "vm2", "vm3"], "max_unavailable": 1}
    other = event("E2", ("vm3",))
    found = plan(outside("vm1"), vm("vm2", mirrors=[mirror(drained())]), vm("vm3", [other]), capacity=[group])
    assert "drain vm3 E2" not in acts(found)
    assert "drain vm3 E2" in acts(plan(outside("vm1"), vm("vm2"), vm("vm3", [other]), capacity=[group]))


def test_what_was_verified_before_the_loss_is_not_approved() -> None:
    kept = plan(outside("vm1", [E1], [drained(ago=5)]), vm("vm2", mirrors=[mirror(drained(ago=5))]))
    assert [one["host"] for one in kept["steps"] if one["act"] == "approve"] == ["vm1"]
    lost = plan(outside("vm1", [E1]), vm("vm2", mirrors=[mirror(drained(ago=5))]))
    assert [one["act"] for one in lost["steps"] if one["act"] == "approve"] == []


def test_a_record_that_is_there_wins() -> None:
    found = plan(outside("vm1", [E1], [drained("draining", "begun")]), vm("vm2", mirrors=[mirror(drained())]))
    assert restored(found) == []


def test_the_newest_copy_counts() -> None:
    old, new = drained("draining", "begun", revision=4), drained(revision=5)
    for first, second in ((old, new), (new, old)):
        (note,) = restored(plan(outside("vm1"), vm("vm2", mirrors=[mirror(first)]), vm("vm3", mirrors=[mirror(second)])))
        assert note["restore"]["revision"] == 5


def test_only_a_vm_that_was_seen_gets_anything() -> None:
    for state in ("unreachable", "failed", "excluded"):
        assert restored(plan(outside("vm1", state=state), vm("vm2", mirrors=[mirror(drained())]))) == []
    assert restored(plan(outside("vm1"), vm("vm2", mirrors=[mirror(drained(), "another")]))) == []


def test_a_new_machine_of_that_name_gets_what_was_changed_outside_the_old_one() -> None:
    its = record("drained", E1, methods=[method(), method(**OUTSIDE)])
    identity = {"name": "vm1", "resource_group": "RG", "subscription_id": "S", "vm_id": "New"}

    def got(vm_id: str | None, **look: Any) -> list[str]:
        (note,) = restored(plan(outside("vm1", **look), vm("vm2", mirrors=[mirror(its, vm_id=vm_id)])))
        return [one["id"] for one in note["restore"]["methods"]]

    assert got("Old", identity=identity) == ["1-haproxy"]
    assert got("NEW", identity=identity) == ["1-service", "1-haproxy"]
    assert got(None, identity=identity) == got("Old") == ["1-service", "1-haproxy"]


def test_what_is_put_back_already_is_not_restored() -> None:
    its = record("recovering", E1, methods=[method(), method("undone", **{key: OUTSIDE[key] for key in OUTSIDE})])
    assert restored(plan(outside("vm1"), vm("vm2", mirrors=[mirror(its)]))) == []


@pytest.mark.parametrize("wrong", [None, 1, "x", [None], [{}], [{"vm": "vm1"}], [{"vm": "vm1", "record": {"event": 1}}], [{"vm": 1, "record": drained()}]])
def test_nonsense_is_no_copy(wrong: Any) -> None:
    assert restored(plan(outside("vm1"), vm("vm2", mirrors=wrong))) == []
