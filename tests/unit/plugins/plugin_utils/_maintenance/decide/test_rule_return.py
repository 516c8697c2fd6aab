# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules 2, 3 and 6, and what may be concluded: what was drained comes back, when it may, in the right order, and not before."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import acts, at, event, method, noted, plan, record, vm

STARTED = record("started", started_at=at(-15))
GONE = record("gone", missing_since=at(-40), outcome="completed", started_at=at(-60))


def test_one_document_without_the_event_is_noted_and_nothing_more() -> None:
    found = plan(vm("vm1", [], [STARTED]))
    assert acts(found) == []
    assert noted(found) == {"missing_since": True}


@pytest.mark.parametrize(("ago", "gone"), [(0.5, False), (10, False), (10.5, True), (500, True)])
def test_gone_needs_two_documents_over_ten_seconds_apart(ago: float, gone: bool) -> None:
    found = plan(vm("vm1", [], [{**STARTED, "missing_since": at(-ago)}]))
    assert (noted(found).get("phase") == "gone") is gone
    assert (acts(found) == ["recover vm1 E1"]) is gone
    if not gone:
        assert 0 < found["requeue"]["seconds"] <= 10.1


def test_listed_again_clears_it() -> None:
    found = plan(vm("vm1", [event(status="Started")], [{**STARTED, "missing_since": at(-500)}]))
    assert noted(found)["missing_since"] is None
    assert acts(found) == []


def test_listed_again_after_gone_drains_again() -> None:
    found = plan(vm("vm1", [event(status="Started")], [{**GONE, "methods": [method("undone")]}]))
    assert noted(found)["phase"] == "noticed"
    assert noted(found)["outcome"] is None
    assert acts(found) == ["drain vm1 E1"]


def test_a_clock_that_went_back_starts_again() -> None:
    found = plan(vm("vm1", [], [{**STARTED, "missing_since": at(100)}]))
    assert acts(found) == []
    assert noted(found) == {"missing_since": True}


@pytest.mark.parametrize(("ago", "gone"), [(30, False), (590, False), (601, True)])
def test_another_witness_keeps_it_listed_for_ten_minutes(ago: float, gone: bool) -> None:
    witness = vm("vm9", [event(status="Started")])
    found = plan(vm("vm1", [], [{**STARTED, "missing_since": at(-ago)}]), witness)
    assert (acts(found) == ["recover vm1 E1"]) is gone
    if gone:
        assert "still listed by vm9" in noted(found)["reason"]


@pytest.mark.parametrize("state", ["unreachable", "failed", "excluded"])
def test_a_silent_witness_says_nothing(state: str) -> None:
    found = plan(vm("vm1", [], [{**STARTED, "missing_since": at(-30)}]), vm("vm9", state=state))
    assert acts(found) == ["recover vm1 E1"]


@pytest.mark.parametrize("state", ["unreachable", "failed", "excluded"])
def test_a_vm_that_is_not_read_is_not_recovered(state: str) -> None:
    before = vm("vm1", [], [GONE])["observation"]
    found = plan(vm("vm1", state=state, reached_before=True, last_observation=before))
    assert acts(found, notes=True) == []
    assert found["done"] is (state == "excluded")


@pytest.mark.parametrize("observation", [None, {}, {"events": None}, {"events": {}}, {"events": "none"}, {"events": [{}]}, {"events": [], "now": "?"}, []])
def test_a_broken_observation_is_no_empty_list(observation: Any) -> None:
    found = plan({"host": "vm1", "state": "ok", "observation": observation, "methods": ["service"], "reached_before": True})
    assert found["hosts"]["vm1"]["state"] == "failed"
    assert found["hosts"]["vm1"]["error"]
    assert found["actions"] == []
    assert not found["done"]


def test_an_empty_list_proves_nothing_just_after_enabling() -> None:
    missing = {**STARTED, "missing_since": at(-100)}
    assert acts(plan(vm("vm1", [], [missing], enabled_at=at(-10)))) == []
    assert noted(plan(vm("vm1", [], [STARTED], enabled_at=at(-10)))) == {}
    # Nor does one from before, or from those minutes: two documents after them are needed.
    assert noted(plan(vm("vm1", [], [{**missing, "history": []}], enabled_at=at(-301)))) == {"missing_since": True}
    later = {**STARTED, "missing_since": at(-20)}
    assert acts(plan(vm("vm1", [], [{**later, "history": []}], enabled_at=at(-321)))) == ["recover vm1 E1"]
    assert acts(plan(vm("vm1", [], [missing], enabled_at=None, enabled_recently=True))) == []
    # It listed the event itself after it was enabled: then it knows.
    assert acts(plan(vm("vm1", [], [missing], enabled_at=at(-25)))) == ["recover vm1 E1"]


def test_what_only_another_vm_listed_is_not_the_vms_own_word() -> None:
    told = event(resources=("vm1", "vm9"))
    found = plan(vm("vm1", [], []), vm("vm9", [told]))
    assert noted(found) == {}
    assert acts(found) == []
    # Just enabled, its own list proves nothing yet.
    early = plan(vm("vm1", [], [], enabled_at=at(-60)), vm("vm9", [told]))
    assert noted(early)["phase"] == "held"
    assert "drain vm1 E1" in acts(early)


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"started_at": at(-60)}, "completed"),
        ({"approved_at": at(-60)}, "completed"),
        ({}, "cancelled"),
        ({"event": event(due=-100)}, "unknown"),
        ({"event": event(due=None)}, "unknown"),
    ],
)
def test_outcomes(changes: dict[str, Any], outcome: str) -> None:
    found = plan(vm("vm1", [], [record("drained", **{"missing_since": at(-30), "its_event": changes.get("event"), **changes})]))
    assert noted(found)["outcome"] == outcome
    assert acts(found) == ["recover vm1 E1"]


def test_another_vm_saw_the_approval() -> None:
    two = event(resources=("vm1", "vm2"))
    first = record("approved", two, approved_at=at(-60), missing_since=at(-30))
    second = record("drained", two, missing_since=at(-30), approving_at=at(-61))
    assert noted(plan(vm("vm1", [], [first]), vm("vm2", [], [second])), "vm2")["outcome"] == "completed"
    second["approving_at"] = None
    assert noted(plan(vm("vm1", [], [first]), vm("vm2", [], [second])), "vm2")["outcome"] == "cancelled"


def test_recovered_needs_everything_undone_and_in_service() -> None:
    undone = {**GONE, "phase": "recovering", "methods": [method("undone")]}
    assert noted(plan(vm("vm1", [], [undone])))["phase"] == "recovered"
    assert noted(plan(vm("vm1", [], [undone], in_service=True), has_health=True))["phase"] == "recovered"
    for in_service in (False, None):
        found = plan(vm("vm1", [], [undone], in_service=in_service), has_health=True)
        assert acts(found, notes=True) == []
        assert not found["done"]
    half = {**undone, "methods": [method("undone"), method("drained", id="2")]}
    assert acts(plan(vm("vm1", [], [half]))) == ["recover vm1 E1"]
    # Killed between the record and the act: nobody knows, so it is put back.
    assert acts(plan(vm("vm1", [], [{**undone, "methods": [method("found")]}]))) == ["recover vm1 E1"]


def test_a_recovery_that_does_not_end_is_red() -> None:
    undone = {**GONE, "phase": "recovering", "methods": [method("undone")], "history": [{"phase": "recovering", "at": at(-601)}]}
    found = plan(vm("vm1", [], [undone], in_service=False), has_health=True)
    assert noted(found)["phase"] == "failed"
    failed = {**undone, "phase": "failed", "reason": "port closed", "history": [{"phase": "gone", "at": at(-700)}, {"phase": "failed", "at": at(-5)}]}
    found = plan(vm("vm1", [], [failed], in_service=False), has_health=True)
    assert "port closed" in found["failed"][0]["reason"]
    assert found["done"]
    assert noted(plan(vm("vm1", [], [failed], in_service=True), has_health=True))["phase"] == "recovered"


def test_the_policy_of_today_does_not_matter_for_what_is_drained() -> None:
    now = [{"drain": False, "approve": "now"}]
    never = [{"drain": False, "approve": "never"}]
    draining = vm("vm1", [event()], [record("draining")])
    assert acts(plan(draining, policy=now)) == ["drain vm1 E1"]
    assert acts(plan(draining, policy=never)) == ["drain vm1 E1"]
    assert acts(plan(vm("vm1", [event(status="Started")], [STARTED]), policy="documentation")) == []


@pytest.mark.parametrize("other_phase", ["draining", "drained", "approved", "started"])
def test_kept_while_another_event_needs_it(other_phase: str) -> None:
    other = event("E2", status="Started" if other_phase == "started" else "Scheduled")
    found = plan(vm("vm1", [other], [GONE, record(other_phase, other, order=2)]))
    assert not any("recover" in word for word in acts(found))
    assert "E2" in next(entry for entry in found["events"] if entry["event_id"] == "E1")["reason"]


def test_kept_for_an_event_that_begins_to_drain_now() -> None:
    assert acts(plan(vm("vm1", [event("E2")], [GONE]))) == ["drain vm1 E2"]


def test_the_latest_drain_is_put_back_first() -> None:
    for first, second in ((1, 2), (2, 1)):
        other = {**GONE, "event": event("E2"), "rule": {**GONE["rule"], "order": second}}
        found = plan(vm("vm1", [], [{**GONE, "rule": {**GONE["rule"], "order": first}}, other]))
        assert acts(found) == ["recover vm1 E1" if first > second else "recover vm1 E2"]


def test_a_new_drain_takes_the_next_place_and_a_retry_keeps_its_own() -> None:
    found = plan(vm("vm1", [event(), event("E2"), event("E3")], [record("drained", order=4)]))
    orders = {step["event_id"]: step["rule"]["order"] for step in found["actions"] if step["action"] == "drain"}
    assert orders == {"E2": 5, "E3": 6}
    rebooted = plan(vm("vm1", [event()], [record("drained", order=4)], boot_id="new"))
    assert next(step for step in rebooted["actions"] if step["action"] == "drain")["rule"]["order"] == 4


@pytest.mark.parametrize("phase", ["drained", "approved", "started"])
def test_a_boot_drains_again_while_it_is_listed(phase: str) -> None:
    listed = event(status="Started" if phase == "started" else "Scheduled")
    found = plan(vm("vm1", [listed], [record(phase, listed, approved_at=at(-9))], boot_id="new"))
    assert acts(found) == ["drain vm1 E1"]
    assert not acts(plan(vm("vm1", [], [record(phase, listed, missing_since=at(-3))], boot_id="new")))


# --- Rule 6: a failed drain ------------------------------------------------------------------------------------------


def failed(ago: float = 5, times: int = 1, **more: Any) -> dict[str, Any]:
    history = [{"phase": "noticed", "at": at(-900)}]
    for number in range(times):
        history += [{"phase": "draining", "at": at(-ago - 1 - 40 * (times - 1 - number))}]
        history += [{"phase": "failed", "at": at(-ago - 40 * (times - 1 - number))}]
    return {**record("failed", history=history, reason="it hangs"), **more}


UNDONE = [method("undone")]


def test_a_failed_drain_is_undone_at_once_and_not_approved() -> None:
    found = plan(vm("vm1", [event()], [failed()]))
    assert acts(found) == ["undo vm1 E1"]
    assert found["events"][0]["phase"] == "failed"
    assert "it hangs" in found["events"][0]["reason"]


def test_not_undone_when_the_event_is_too_near() -> None:
    assert acts(plan(vm("vm1", [event(due=229)], [failed()]))) == []
    assert acts(plan(vm("vm1", [event(due=231)], [failed()]))) == ["undo vm1 E1"]
    assert acts(plan(vm("vm1", [event(status="Started")], [failed()]))) == []


def test_not_undone_while_another_event_needs_it() -> None:
    found = plan(vm("vm1", [event(), event("E2")], [failed(), record("drained", event("E2"), order=2)]))
    assert "undo vm1 E1" not in acts(found)


def test_retries_are_limited_and_backed_off() -> None:
    assert acts(plan(vm("vm1", [event()], [failed(29, methods=UNDONE)]))) == []
    assert acts(plan(vm("vm1", [event()], [failed(31, methods=UNDONE)]))) == ["drain vm1 E1"]
    assert acts(plan(vm("vm1", [event()], [failed(31, 2, methods=UNDONE)]))) == []
    assert acts(plan(vm("vm1", [event()], [failed(61, 2, methods=UNDONE)]))) == ["drain vm1 E1"]
    last = plan(vm("vm1", [event()], [failed(900, 4, methods=UNDONE)]))
    assert acts(last) == []
    assert last["failed"][0]["host"] == "vm1"
    assert acts(plan(vm("vm1", [event()], [failed(900, methods=UNDONE)]), on_drain_failure="hold")) == []
    waiting = plan(vm("vm1", [event()], [failed(10, methods=UNDONE)]))
    assert waiting["requeue"]["seconds"] == pytest.approx(20, abs=1)
    assert waiting["fails"] == ["vm1: the drain failed; its record says: it hangs"]


def test_what_is_near_is_tried_again_without_an_undo() -> None:
    assert acts(plan(vm("vm1", [event(due=100)], [failed(31)]))) == ["drain vm1 E1"]


def test_siblings_are_put_back_too() -> None:
    two = event(resources=("vm1", "vm2"))
    for phase in ("draining", "drained"):
        found = plan(vm("vm1", [two], [failed(event=two)]), vm("vm2", [two], [record(phase, two)]))
        assert acts(found) == ["undo vm1 E1", "undo vm2 E1"]
        assert noted(found, "vm2")["phase"] == "held"
        assert "vm1" in noted(found, "vm2")["reason"]
    idle = plan(vm("vm1", [two], [failed(event=two)]), vm("vm2", [two]))
    assert acts(idle) == ["undo vm1 E1"]


def test_siblings_are_kept_when_it_is_near_or_approved() -> None:
    near = event(resources=("vm1", "vm2"), due=200)
    assert acts(plan(vm("vm1", [near], [failed(event=near)]), vm("vm2", [near], [record("drained", near)]))) == []
    two = event(resources=("vm1", "vm2"))
    approved = record("approved", two, approved_at=at(-9))
    found = plan(vm("vm1", [two], [failed(event=two, approving_at=at(-10))]), vm("vm2", [two], [approved]))
    assert acts(found) == []


def test_what_is_approved_is_not_undone_and_tried_again() -> None:
    # After a boot its drain may fail again. Azure may start it any moment.
    bad = failed(5, approved_at=at(-60))
    assert acts(plan(vm("vm1", [event()], [bad]))) == []
    assert acts(plan(vm("vm1", [event()], [failed(31, approved_at=at(-60))]))) == ["drain vm1 E1"]


def test_all_try_again_together() -> None:
    two = event(resources=("vm1", "vm2"))
    held = record("held", two, methods=UNDONE)
    found = plan(vm("vm1", [two], [failed(31, methods=UNDONE, event=two)]), vm("vm2", [two], [held]))
    assert acts(found) == ["drain vm1 E1", "drain vm2 E1"]


def test_an_event_that_began_on_a_failed_drain_is_red_and_recovered_after_it() -> None:
    bad = failed(50, started_at=at(-40))
    assert acts(plan(vm("vm1", [], [{**bad, "missing_since": at(-20)}]))) == ["recover vm1 E1"]
    found = plan(vm("vm1", [], [{**bad, "outcome": "completed", "phase": "recovering", "methods": UNDONE}]))
    assert "before the drain was done" in found["failed"][0]["reason"]


def test_unreachable_alone_is_not_red() -> None:
    found = plan(vm("vm1", state="unreachable"), vm("vm2", state="failed"))
    assert found["failed"] == []
    assert found["done"]


def test_a_slow_schedule_does_not_call_failed_what_was_never_tried() -> None:
    """Found by the model: passes further apart than recover_seconds noted a failure, and put the VM back one pass later."""
    over = {"outcome": "completed", "missing_since": at(-1210), "approved_at": at(-1500)}
    found = plan(vm("vm1", [], [record("gone", ago=1200, **over)], in_service=False))
    assert acts(found, notes=True) == ["recover vm1 E1"]
    tried = [method("failed", error="it does not start")]
    found = plan(vm("vm1", [], [record("recovering", ago=1200, methods=tried, **over)], in_service=False))
    assert noted(found) == {"phase": "failed", "reason": "not everything could be put back (service: it does not start)"}
