# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Incomplete observations: unreadable records, clocks that were set back, unobserved starts."""

from __future__ import annotations

from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.status import status
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import acts, at, event, noted, plan, record, vm

PAUSE = event(event_type="Freeze", duration_in_seconds=5)


def test_a_vm_whose_records_cannot_be_read_is_unknown() -> None:
    assert acts(plan(vm("vm1", [PAUSE]))) == ["approve vm1 E1"]
    found = plan(vm("vm1", [PAUSE], records_readable=False, records_problems=["permission denied"]))
    assert acts(found, notes=True) == []
    assert "permission denied" in found["hosts"]["vm1"]["error"]


def test_a_clock_that_was_set_back_hides_no_event_for_days() -> None:
    missing = record("approved", missing_since=at(-60))
    after = vm("vm1", [], [missing], enabled_at=at(5 * 86_400), enabled_recently=False)
    assert noted(plan(after))["phase"] == "gone"
    assert noted(plan(vm("vm1", [], [missing], enabled_at=at(5 * 86_400), enabled_recently=True))) == {}


def test_an_event_that_came_and_went_unseen_over_a_failed_drain_is_reported() -> None:
    failed = record("failed", event(due=-40), ago=60, missing_since=at(-30), reason="exit code 3")
    assert plan(vm("vm1", [], [failed]))["failed"][0]["reason"].endswith("exit code 3")
    cancelled = record("failed", event(due=900), ago=60, missing_since=at(-30), reason="exit code 3")
    assert plan(vm("vm1", [], [cancelled]))["failed"] == []


def resting(host: str, **observation: Any) -> dict[str, Any]:
    """Return a VM that was observed at the beginning of the run and no longer takes part."""
    seen = vm(host, **observation)
    return {**seen, "state": "resting", "observation": None, "last_observation": seen["observation"], "reached_before": True}


def test_a_resting_vm_has_answered_and_holds_events_that_name_it() -> None:
    both = event(resources=("vm1", "vm2"))
    ready = record("drained", both, ago=10)
    found = plan(vm("vm1", [both], [ready]), resting("vm2"))
    assert found["summary"]["answered"] == 2
    assert acts(found) == []
    assert "vm2 had no event when this run began" in found["events"][0]["reason"]
    assert found["events"][0]["unmanaged"] == []
    assert acts(plan(vm("vm1", [event()], [record("drained", event(), ago=10)]), resting("vm2"))) == ["approve vm1 E1"]


GROUPS = [{"name": "web", "members": ["vm1", "vm2"], "max_unavailable": 1}, {"name": "db", "members": ["db1", "db2"], "max_unavailable": 1}]


def test_a_group_that_is_not_observed_again_is_shown_as_it_was_observed() -> None:
    web = [vm("vm1", [event()], [record("draining")]), vm("vm2")]
    found = plan(*web, resting("db1", answered_at=at(-90)), resting("db2", in_service=False, answered_at=at(-90)), capacity=GROUPS, has_health=True)
    assert [(group["name"], group["out"]) for group in found["capacity"]] == [("web", {"vm1": "draining for E1"}), ("db", {"db2": "not in service, 90 s ago"})]
    assert [line for line in status(found) if "not read" in line] == []
    # What a record says counts, too; and one that was never read stays unread.
    drained = resting("db1", records=[record("drained", event("E2", ("db1",)))], answered_at=at(-90))
    found = plan(*web, drained, vm("db2", state="unreachable"), capacity=GROUPS, only_events=["E1"])
    assert found["capacity"][1]["out"] == {"db1": "drained for E2, 90 s ago", "db2": "not read"}


def test_an_old_observation_makes_no_room() -> None:
    # Words take it for what it was; whether vm2 serves now is not known, and a drain of vm1 may be the second one.
    found = plan(vm("vm1", [event()]), resting("vm2", in_service=True, answered_at=at(-90)), capacity=GROUPS[:1], has_health=True)
    assert acts(found) == []
    assert "vm1 would exceed it, together with vm2 (not observed again in this run)" in found["events"][0]["reason"]
    assert found["capacity"][0]["out"] == {}


def test_what_is_said_of_a_vm_is_its_latest_observation() -> None:
    kept = record("drained", event("E2", ("db1",)))
    lease = {"name": "claim-x", "run": "run000other", "digest": "d", "event_id": "E2", "kind": "events", "who": "bob", "groups": {}, "expired": False}
    seen = {"records": [kept], "in_service": False, "leases": [lease], "records_problems": ["one thing"], "now": at(3510), "answered_at": at(-90)}
    found = plan(vm("vm1"), resting("db1", **seen))
    assert found["hosts"]["db1"] == {"state": "resting", "error": None, "in_service": False, "phase": "drained"}
    assert (found["summary"]["clocks"], [one["run"] for one in found["leases"]]) == (["db1"], ["run000other"])
    assert found["events"][0]["remarks"] == ["db1: one thing"]


def test_events_that_ended_before_a_vm_rested_are_reported_as_over() -> None:
    over = record("recovered", approved_at=at(-600), missing_since=at(-500), outcome="completed")
    found = plan(resting("vm1", records=[over]))["events"][0]
    assert (found["phase"], found["reason"], found["next"]) == ("recovered", None, "nothing")
    left = record("approved", approved_at=at(-600), missing_since=at(-500))
    assert "no longer takes part in this run" in plan(resting("vm1", records=[left]))["events"][0]["reason"]


def test_some_witnesses_are_enough() -> None:
    listing = [vm(f"vm{number}", [event()]) for number in range(1, 50)]
    involved = plan(*listing)["involved"]
    assert "vm1" in involved
    assert 1 < len(involved) <= 4
