# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of records: who keeps them, and what a VM gets back that has lost its own."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.records.replicas import replica_of, targets_of
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import (
    acts,
    at,
    event,
    method,
    plan,
    record,
    vm,
)

E1 = event("E1", ("vm1",))
READY = {"state": "ready", "up": True}
BEFORE = {"server": "vm1", "balancers": {"lb1": {"app": READY}}}
OUTSIDE = {"id": "1-haproxy", "method": "haproxy", "outside": True, "before": BEFORE}
TARGETS = targets_of([{"method": "haproxy", "balancers": ["lb1"]}], [], "vm1")


def outside(*given: Any, targets: Any = None, **more: Any) -> dict[str, Any]:
    seen = vm(*given, methods=["haproxy"], **more)
    if seen["observation"]:
        seen["observation"]["identity"] = {**seen["observation"]["identity"], "vm_id": seen["observation"]["identity"].get("vm_id", "id-vm1")}
    return {**seen, "outside": True, "targets": TARGETS if targets is None else targets}


def keeper(name: str, *replicas: dict[str, Any], own: str | None = None, **more: Any) -> dict[str, Any]:
    """A VM with copies."""
    own = own or f"id-{name}"
    return vm(name, identity={"name": name, "resource_group": "RG", "subscription_id": "S", "vm_id": own}, replicas=list(replicas), **more)


def drained(phase: str = "drained", state: str = "drained", **more: Any) -> dict[str, Any]:
    return record(phase, E1, methods=[method(state, **OUTSIDE)], **more)


def replica(its: dict[str, Any], name: str = "vm1", vm_id: str | None = "id-vm1", kept_by: str | None = "id-vm2") -> dict[str, Any]:
    return {"vm": name, "vm_id": vm_id, "keeper_vm_id": kept_by, "record": its}


def finding(state: str = "ready", **more: Any) -> dict[str, Any]:
    return {"server": "vm1", "balancers": {"lb1": {"app": {"state": state, "up": True}}}, **more}


def step(found: dict[str, Any], act: str, host: str = "vm1") -> dict[str, Any]:
    (only,) = [one for one in found["actions"] if one["action"] == act and one["host"] == host]
    return dict(only)


def restored(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in found["actions"] if one["action"] == "write" and one.get("restore")]


# --- Who keeps a copy ----------------------------------------------------------------------------------------------------


def test_a_member_of_the_group_that_no_event_hits_keeps_it() -> None:
    group = {"name": "web", "members": ["vm1", "vm2", "vm3", "vm4"], "max_unavailable": 3}
    others = [vm("vm5"), vm("vm2", state="unreachable"), vm("vm3", [event("E2", ("vm3",), due=90_000)]), vm("vm4")]
    found = plan(outside("vm1", [E1]), *others, capacity=[group])
    assert step(found, "drain")["keeper"] == "vm4"
    assert {"vm1", "vm4"} <= set(found["involved"])
    # Somebody else where the group has nobody, and one that another event hits where there is nobody else.
    assert step(plan(outside("vm1", [E1]), vm("vm5"), *others[1:3], capacity=[{**group, "members": ["vm1", "vm2", "vm3"]}]), "drain")["keeper"] == "vm5"
    assert step(plan(outside("vm1", [E1]), *others[1:3]), "drain")["keeper"] == "vm3"


def test_nobody_is_said_and_the_drain_goes_on() -> None:
    both = event("E1", ("vm1", "vm2"))
    found = plan(outside("vm1", [both]), vm("vm2", [both]), vm("vm3", state="failed"), vm("vm4", state="excluded"))
    given = step(found, "drain")
    assert given["keeper"] is None and "no other VM can keep a copy" in given["reason"]


def test_without_a_change_outside_there_is_no_copy() -> None:
    found = plan(vm("vm1", [E1]), vm("vm2"))
    assert "keeper" not in step(found, "drain") and "vm2" not in found["involved"]
    assert acts(plan(vm("vm1", [E1], [record("drained", E1)]), vm("vm2"))) == acts(plan(vm("vm1", [E1], [record("drained", E1)])))


def test_a_retry_has_a_keeper_where_the_first_try_found_nothing_outside() -> None:
    """A balancer that did not answer: the method failed before it knew what it would change."""
    its = record("failed", E1, ago=300, methods=[method("undone", **{**OUTSIDE, "outside": False, "before": None})])
    assert step(plan(outside("vm1", [E1], [its]), vm("vm2")), "drain")["keeper"] == "vm2"


def test_who_has_a_copy_goes_on_keeping_it() -> None:
    its = drained("draining", "begun")
    found = plan(outside("vm1", [E1], [its]), vm("vm2"), vm("vm3", replicas=[replica(its)]))
    assert step(found, "drain")["keeper"] == "vm3"


def test_one_vm_fills_no_keeper_and_a_keeper_that_lies_is_only_passed_over() -> None:
    group = {"name": "web", "members": ["vm1", "vm2", "vm3"], "max_unavailable": 2}
    many = [replica({**drained(), "event": {"event_id": f"M{number}", "resources": ["vm1"]}}) for number in range(50)]
    its = drained("draining", "begun")
    seen = outside("vm1", [E1], [its])
    assert step(plan(seen, keeper("vm2", *many[1:]), keeper("vm3"), capacity=[group]), "drain")["keeper"] == "vm2"
    assert step(plan(seen, keeper("vm2", *many), keeper("vm3"), capacity=[group]), "drain")["keeper"] == "vm3"
    # The copy that it has already is kept up to date.
    assert step(plan(seen, keeper("vm2", *many, replica(its)), keeper("vm3"), capacity=[group]), "drain")["keeper"] == "vm2"


@pytest.mark.parametrize(("phase", "intent"), [("failed", "undo"), ("gone", "recover")])
def test_what_puts_back_carries_it_too(phase: str, intent: str) -> None:
    its = drained(phase, "drained", outcome="completed" if phase == "gone" else None, reason="x")
    found = plan(outside("vm1", [E1] if intent == "undo" else [], [its]), vm("vm2"))
    assert step(found, intent)["keeper"] == "vm2", found["actions"]


def test_a_copy_that_is_missing_or_behind_is_made_up_for_and_one_that_is_over_removed() -> None:
    its = drained()
    assert step(plan(outside("vm1", [E1], [its]), vm("vm2")), "replicate", "vm2")["vm"] == "vm1"
    behind = replica(drained("draining", "begun", revision=2), kept_by="id-vm3")
    assert step(plan(outside("vm1", [E1], [its]), vm("vm2"), keeper("vm3", behind)), "replicate", "vm3")["vm"] == "vm1"
    # A note changed the revision, and nothing of what has to be put back.
    current = replica({**its, "revision": 2, "phase": "draining"})
    assert "replicate vm2 E1" not in acts(plan(outside("vm1", [E1], [its]), keeper("vm2", current)))
    # One that does not say whose it is (1.3.1), or that came with another VM's disk, is written anew.
    for old in (None, "id-vm9"):
        assert "replicate vm2 E1" in acts(plan(outside("vm1", [E1], [its]), keeper("vm2", {**current, "keeper_vm_id": old})))
    over = drained("recovered", "undone", outcome="completed")
    found = plan(outside("vm1", [], [over]), keeper("vm2", current), keeper("vm3", behind))
    assert acts(found) == ["replicate vm2 E1", "replicate vm3 E1"]
    assert plan(outside("vm1", [], [over]), vm("vm2"))["actions"] == []


def test_a_copy_holds_findings_of_methods_outside_and_nothing_else() -> None:
    secret = {"undo": "curl -H 'token: SECRET'"}
    its = record(
        "approved",
        E1,
        methods=[method(options=secret), method(**{**OUTSIDE, "options": secret}), method(id="3-tasks", method="tasks", outside=True, options=secret)],
        decision={"action": "hold", "who": "x", "why": "SECRET"},
        reason="SECRET",
    )
    kept = replica_of(its)
    assert "SECRET" not in str(kept) and kept["phase"] == "draining"
    assert [(one["id"], one["before"]) for one in kept["methods"]] == [("1-haproxy", BEFORE), ("3-tasks", {})]
    assert set(kept) == {"event", "phase", "revision", "history", "undone", "methods"} and kept["event"] == {"event_id": "E1"}
    assert replica_of({**its, "methods": [method(**{**OUTSIDE, "before": {"server": "x; rm -rf /", "balancers": {}}})]})["methods"] == []
    for wrong in (None, [], "x", {"methods": "x", "event": 7}):
        assert replica_of(wrong)["methods"] == []


# --- What a VM gets back -------------------------------------------------------------------------------------------------


def test_a_vm_without_its_record_gets_back_what_was_changed_outside_and_nothing_else_is_done_before() -> None:
    its = drained("approved", approved_at="2027-01-15T08:00:00Z", decision={"action": "let_it_come"}, reason="told so", boot_id="x")
    for events in ([E1], []):
        found = plan(outside("vm1", events), keeper("vm2", replica(its)))
        (note,) = restored(found)
        assert note["restore"] == {
            "event": {"event_id": "E1", "resources": ["vm1"]},
            "phase": "draining",
            "history": [{"phase": "draining", "at": at(0)}],
            "methods": [{"id": "1-haproxy", "method": "haproxy", "before": BEFORE, "state": "begun", "at": at(0), "outside": True}],
        }
        assert (note["host"], note["event_id"], note["expected_revision"]) == ("vm1", "E1", 0)
        assert acts(found) == [], "it acts without the record"
        assert [one for one in found["actions"] if one["action"] == "write"] == [note]
        assert found["hosts"]["vm1"]["phase"] == "draining" and found["done"] is False


def test_it_goes_on_counting_as_out() -> None:
    group = {"name": "web", "members": ["vm1", "vm2", "vm3"], "max_unavailable": 1}
    other = event("E2", ("vm3",))
    found = plan(outside("vm1"), keeper("vm2", replica(drained())), vm("vm3", [other]), capacity=[group])
    assert "drain vm3 E2" not in acts(found)
    assert "drain vm3 E2" in acts(plan(outside("vm1"), vm("vm2"), vm("vm3", [other]), capacity=[group]))


def test_what_was_verified_before_the_loss_is_not_approved() -> None:
    kept = plan(outside("vm1", [E1], [drained(ago=5)]), keeper("vm2", replica(drained(ago=5))))
    assert [one["host"] for one in kept["actions"] if one["action"] == "approve"] == ["vm1"]
    lost = plan(outside("vm1", [E1]), keeper("vm2", replica(drained(ago=5))))
    assert [one["action"] for one in lost["actions"] if one["action"] == "approve"] == []


def test_a_record_that_is_there_wins() -> None:
    found = plan(outside("vm1", [E1], [drained("draining", "begun")]), keeper("vm2", replica(drained())))
    assert restored(found) == []


def test_a_copy_says_where_the_server_was_in_service_and_nothing_else() -> None:
    """What was out before needs no drain, and does not come back: a keeper could say that of a server that serves."""
    closed, ready = drained(), drained(revision=999, history=[{"phase": "draining", "at": at(9_000)}])
    closed["methods"][0]["before"] = finding("maint")
    for first, second in ((closed, ready), (ready, closed)):
        found = plan(outside("vm1"), keeper("vm2", replica(first)), keeper("vm3", replica(second, kept_by="id-vm3")))
        (note,) = restored(found)
        assert note["restore"]["methods"][0]["before"] == finding("ready")
        assert "a copy says that server vm1 of backend app on balancer lb1 was maint; that is left as it is" in str(found)
    assert restored(plan(outside("vm1"), keeper("vm2", replica(closed)))) == []
    # A liar that says that it is over, or knows nothing, takes nothing away from the others.
    gone = replica(drained("recovered", "undone", revision=999), kept_by="id-vm3")
    assert len(restored(plan(outside("vm1"), keeper("vm2", replica(ready)), keeper("vm3", gone)))) == 1


def test_a_copy_that_leaves_out_a_balancer_restores_nothing() -> None:
    """Sessions would go on coming from the one that it leaves out."""
    both = targets_of([{"method": "haproxy", "balancers": ["lb1", "lb2"]}], [], "vm1")
    found = plan(outside("vm1", targets=both), keeper("vm2", replica(drained())))
    assert restored(found) == []
    assert "no copy says how balancer lb2 had server vm1" in str(found["summary"]["problems"])


def test_no_vm_gets_back_more_than_it_can_have_lost() -> None:
    flood = [{**replica(drained()), "record": {**drained(), "event": {**E1, "event_id": f"X{number}"}}} for number in range(300)]
    found = plan(outside("vm1"), keeper("vm2", *flood))
    assert len(restored(found)) == 5
    assert "name more lost records than are restored" in str(found["summary"]["problems"])


def test_no_vm_fills_another_one_with_copies() -> None:
    many = [record("drained", event(f"X{number}", ("vm1",)), methods=[method("drained", **OUTSIDE)], order=number) for number in range(300)]
    found = plan(outside("vm1", [], many), vm("vm2"))
    assert len([one for one in found["actions"] if one["action"] == "replicate"]) == 20


@pytest.mark.parametrize(
    "before",
    [
        {"server": "vm1", "balancers": {"localhost": {"app": READY}}},
        {"server": "vm1", "balancers": {"vm3": {"app": READY}}},
        {"server": "db1", "balancers": {"lb1": {"app": READY}}},
        {"server": "vm1", "balancers": {"lb1": {"app": {"state": "ready; shutdown sessions", "up": True}}}},
        {"server": "vm1", "balancers": {"lb1": {"app": READY}}, "socket": "evil:1"},
        {"undo": "/tmp/evil.yml"},
        None,
    ],
)
def test_a_finding_elsewhere_than_the_variables_say_is_not_restored(before: Any) -> None:
    its = record("drained", E1, methods=[method(**{**OUTSIDE, "before": before})])
    assert restored(plan(outside("vm1"), keeper("vm2", replica(its)))) == []


def test_a_copy_brings_no_command_no_file_and_no_method_of_another_name() -> None:
    evil = {"outside": True, "options": {"undo": "/tmp/evil.yml"}, "before": {"path": "/tmp/evil.yml"}}
    for kind in ("tasks", "command", "probe_file", "../../x", "flagged"):
        its = record("drained", E1, methods=[method(**{**evil, "id": f"1-{kind}", "method": kind})])
        assert restored(plan(outside("vm1"), keeper("vm2", replica(its)))) == []
    targets = targets_of([{"method": "tasks", "name": "leave", "undo": "c.yml"}, {"method": "flagged"}], [], "vm1")
    its = record("drained", E1, methods=[method(**{**evil, "id": "leave", "method": "tasks"}), method(**{**evil, "id": "2-flagged", "method": "flagged"})])
    (note,) = restored(plan(outside("vm1", targets=targets), keeper("vm2", replica(its))))
    assert [(one["id"], one["before"]) for one in note["restore"]["methods"]] == [("leave", {})] and "evil" not in str(note)
    other = record("drained", E1, methods=[method(**{**evil, "id": "another", "method": "tasks"})])
    found = plan(outside("vm1", targets=targets), keeper("vm2", replica(other)))
    assert restored(found) == [] and "method another (tasks) is not in this host's variables" in str(found)


def test_a_keeper_made_from_another_vms_disk_has_no_copies() -> None:
    its = drained()
    assert restored(plan(outside("vm1"), keeper("vm2", replica(its), own="id-new"))) == []
    assert restored(plan(outside("vm1"), vm("vm2", replicas=[replica(its)]))) == [], "who it is, is not known"
    # What 1.3.1 wrote does not say: it counts for the machine of which it was made, whose own records say what is over.
    old = replica(its, kept_by=None)
    assert len(restored(plan(outside("vm1"), keeper("vm2", old)))) == 1
    new = {"name": "vm1", "resource_group": "RG", "subscription_id": "S", "vm_id": "id-recreated"}
    assert restored(plan(outside("vm1", identity=new), keeper("vm2", old))) == []
    assert restored(plan({**vm("vm1"), "outside": True, "targets": TARGETS}, keeper("vm2", replica(its, vm_id=None, kept_by=None)))) == []
    # Nor does a VM keep copies of itself.
    assert restored(plan({**keeper("vm1", replica(its, kept_by="id-vm1")), "outside": True, "targets": TARGETS})) == []


def test_a_tombstone_outweighs_every_copy() -> None:
    def found(*stones: Any) -> list[dict[str, Any]]:
        return restored(plan(outside("vm1", tombstones=list(stones)), keeper("vm2", replica(drained()))))

    assert found({"event_id": "e1 ", "vm_id": "ID-vm1", "at": at(-9)}) == found({"event_id": "E1", "vm_id": None, "at": at(-9)}) == []
    # Another event, another machine (an image of it): no tombstone of this.
    assert len(found({"event_id": "E2", "vm_id": "id-vm1"})) == len(found({"event_id": "E1", "vm_id": "id-other"})) == len(found(None, 7, {})) == 1


def test_only_a_vm_that_was_seen_gets_anything() -> None:
    for state in ("unreachable", "failed", "excluded"):
        assert restored(plan(outside("vm1", state=state), keeper("vm2", replica(drained())))) == []
    assert restored(plan(outside("vm1"), keeper("vm2", replica(drained(), "another")))) == []


def test_a_new_machine_of_that_name_gets_what_was_changed_outside_the_old_one() -> None:
    its = record("drained", E1, methods=[method(), method(**OUTSIDE)])
    for vm_id in ("id-vm1", "id-recreated"):
        identity = {"name": "vm1", "resource_group": "RG", "subscription_id": "S", "vm_id": vm_id}
        (note,) = restored(plan(outside("vm1", identity=identity), keeper("vm2", replica(its))))
        assert [one["id"] for one in note["restore"]["methods"]] == ["1-haproxy"]


def test_what_is_put_back_already_is_not_restored() -> None:
    its = record("recovering", E1, methods=[method(), method("undone", **{key: OUTSIDE[key] for key in OUTSIDE})])
    assert restored(plan(outside("vm1"), keeper("vm2", replica(its)))) == []


@pytest.mark.parametrize("wrong", [None, 1, "x", [None], [{}], [{"vm": "vm1"}], [{"vm": "vm1", "record": {"event": 1}}], [{"vm": 1, "record": drained()}]])
def test_nonsense_is_no_copy(wrong: Any) -> None:
    assert restored(plan(outside("vm1"), vm("vm2", replicas=wrong))) == []
