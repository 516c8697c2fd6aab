# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a participant needs next: what was drained is verified, what failed is tried again in time, what is over comes back."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import acts, at, event, method, noted, plan, record, vm

OVER = {"outcome": "completed", "missing_since": at(-900), "started_at": at(-1000)}
UNDONE = [method("undone")]


def part(found: dict[str, Any], host: str = "vm1") -> dict[str, Any]:
    (its,) = [one for entry in found["events"] for one in entry["parts"] if one["host"] == host]
    return its


def verified(ago: float, **observation: Any) -> dict[str, Any]:
    return vm("vm1", [event()], [record("drained", ago=max(ago, 3), verified_at=at(-ago))], **observation)


@pytest.mark.parametrize(("ago", "approved"), [(60, True), (60.5, False), (0, True), (-2, True), (-2.5, False)])
def test_an_approval_relies_on_a_verification_of_the_last_minute_only(ago: float, approved: bool) -> None:
    assert (acts(plan(verified(ago))) == ["approve vm1 E1"]) is approved


def test_a_verification_from_before_the_boot_is_none() -> None:
    # Boot ids are what counts; the time of the boot catches one that does not change.
    assert acts(plan(verified(20, uptime_seconds=18.0))) == ["approve vm1 E1"]
    assert acts(plan(verified(20, uptime_seconds=17.0))) == ["drain vm1 E1"]


@pytest.mark.parametrize(
    ("in_service", "has_health", "why"),
    [
        (True, True, None),
        (True, False, None),
        (None, False, None),
        (None, True, "waiting for recovery: its health is not known"),
        (False, True, "waiting for recovery: its health check fails"),
        (False, False, "waiting for recovery: its health check fails"),
    ],
)
def test_recovered_is_in_service_by_its_health_check_where_there_is_one(in_service: bool | None, has_health: bool, why: str | None) -> None:
    found = plan(vm("vm1", [], [record("recovering", methods=UNDONE, **OVER)], in_service=in_service), has_health=has_health)
    assert part(found)["reason"] == why
    assert (noted(found).get("phase") == "recovered") is (why is None)


def test_what_the_health_check_says_is_repeated() -> None:
    found = plan(vm("vm1", [], [record("recovering", methods=UNDONE, **OVER)], in_service=False, in_service_why="port 80 is closed"))
    assert part(found)["reason"] == "waiting for recovery: port 80 is closed"


# --- An event that began on a failed drain ---------------------------------------------------------------------------------


def began_undrained(ended: float, *, failed: float = 100, started: float = 90) -> dict[str, Any]:
    """A VM that is back, whose event began after its drain had failed."""
    history = [{"phase": phase, "at": at(-ago)} for phase, ago in (("noticed", 400), ("draining", 390), ("failed", failed), ("recovered", ended))]
    its = record("recovered", history=history, reason="it hangs", methods=UNDONE, outcome="completed", started_at=at(-started), missing_since=at(-50))
    return vm("vm1", [], [its])


def test_a_failure_that_is_over_is_reported_for_a_minute_or_a_pass() -> None:
    text = "vm1: it began before the drain was done; its record says: it hangs"
    for ended, pass_interval, told in ((60, 0, True), (61, 0, False), (61, 300, True), (300, 300, True), (301, 300, False)):
        failed = plan(began_undrained(ended, failed=3000, started=2900), pass_interval=pass_interval)["failed"]
        assert [one["reason"] for one in failed] == ([text] if told else []), (ended, pass_interval)


def test_a_drain_that_failed_after_the_event_began_is_not_called_late() -> None:
    assert plan(began_undrained(10, failed=90, started=90))["failed"]
    assert not plan(began_undrained(10, failed=80, started=90))["failed"]


def test_a_vanished_event_whose_time_had_come_has_begun() -> None:
    history = [{"phase": phase, "at": at(-ago)} for phase, ago in (("noticed", 900), ("draining", 890), ("failed", 500), ("recovering", 9))]
    for due, began in ((-400, True), (-300, True), (-299, False), (None, False)):
        its = record("recovering", event(due=due), history=history, reason="it hangs", methods=UNDONE, outcome="unknown", missing_since=at(-300))
        failed = [one["reason"] for one in plan(vm("vm1", [], [its]))["failed"]]
        assert failed == (["vm1: it began before the drain was done; its record says: it hangs"] if began else []), due


# --- A failed recovery --------------------------------------------------------------------------------------------------


def unrecovered(ago: float, times: int = 1, **more: Any) -> dict[str, Any]:
    """A VM that some attempts could not put back."""
    history = [{"phase": "gone", "at": at(-3000)}]
    history += [{"phase": "failed", "at": at(-ago - 200 * number)} for number in reversed(range(times))]
    return vm("vm1", [], [record("failed", history=history, reason="it does not start", methods=[method("failed")], **{**OVER, **more})])


@pytest.mark.parametrize(("times", "pause"), [(1, 30), (2, 60), (3, 120)])
def test_a_failed_recovery_is_tried_again_after_a_pause_that_doubles(times: int, pause: float) -> None:
    waiting = plan(unrecovered(pause - 1, times))
    assert acts(waiting) == []
    assert waiting["requeue"]["seconds"] == pytest.approx(1, abs=0.1)
    assert waiting["events"][0]["next"] == "recover vm1 again in 1 s"
    assert acts(plan(unrecovered(pause, times))) == ["recover vm1 E1"]


def test_a_failed_recovery_is_tried_for_ever_and_at_last_without_waiting_for_it() -> None:
    assert acts(plan(unrecovered(959, 9))) == []
    assert acts(plan(unrecovered(960, 9))) == ["recover vm1 E1"]
    assert not plan(unrecovered(10, 2), retries=2)["done"]
    assert plan(unrecovered(10, 3), retries=2)["done"]
    assert plan(unrecovered(10, 1))["failed"][0]["reason"] == "vm1: recovery failed; its record says: it does not start"


def test_a_clock_that_went_back_does_not_delay_a_recovery() -> None:
    assert acts(plan(unrecovered(-500))) == ["recover vm1 E1"]


# --- A failed drain -----------------------------------------------------------------------------------------------------


def failed(ago: float, times: int) -> dict[str, Any]:
    history = [{"phase": "noticed", "at": at(-90_000)}]
    for number in reversed(range(times)):
        history += [{"phase": "draining", "at": at(-ago - 1 - 4 * number)}, {"phase": "failed", "at": at(-ago - 4 * number)}]
    return vm("vm1", [event(due=None)], [record("failed", event(due=None), history=history, reason="it hangs", methods=UNDONE)])


@pytest.mark.parametrize(("times", "pause"), [(1, 30), (2, 60), (3, 120), (4, 240), (11, 30_720), (12, 30_720)])
def test_a_retry_comes_when_its_pause_is_over_and_not_before(times: int, pause: float) -> None:
    early = plan(failed(pause - 1, times), retries=20, longest_requeue=100_000)
    assert acts(early) == []
    assert early["requeue"]["seconds"] == pytest.approx(1, abs=0.1)
    assert acts(plan(failed(pause, times), retries=20)) == ["drain vm1 E1"]


def test_three_retries_and_no_more() -> None:
    assert acts(plan(failed(80_000, 3))) == ["drain vm1 E1"]
    last = plan(failed(80_000, 4))
    assert acts(last) == []
    assert [one["reason"] for one in last["failed"]] == ["vm1: the drain failed 4 times at last; its record says: it hangs"]
    once = plan(failed(80_000, 1), retries=0)
    assert [one["reason"] for one in once["failed"]] == ["vm1: the drain failed; its record says: it hangs"]


@pytest.mark.parametrize("ago", [5, 80_000])
def test_a_drain_that_failed_is_red_from_its_first_failure_on(ago: float) -> None:
    found = plan(failed(ago, 1), vm("vm2", [event("E2", ("vm2",))]))
    assert found["fails"] == ["vm1: the drain failed; its record says: it hangs"]
    assert "drain vm2 E2" in acts(found), "other VMs are served"
    # The retry is under way: what failed is being done.
    again = record("draining", event(due=None), history=[*[{"phase": phase, "at": at(-9)} for phase in ("noticed", "failed", "draining")]])
    assert plan(vm("vm1", [event(due=None)], [again]))["fails"] == []


def test_a_failure_in_the_future_waits_its_pause_from_now() -> None:
    found = plan(failed(-500, 1), longest_requeue=100_000)
    assert acts(found) == []
    assert found["requeue"]["seconds"] == 30


# --- Several events on one VM -------------------------------------------------------------------------------------------


def test_what_keeps_a_vm_drained_is_named_and_the_rest_counted() -> None:
    others = [event(f"E{number}") for number in range(2, 9)]
    gone = record("gone", **OVER)
    for count, text in ((1, "E2"), (5, "E2, E3, E4, E5, E6"), (6, "E2, E3, E4, E5, E6 and 1 more"), (7, "E2, E3, E4, E5, E6 and 2 more")):
        listed = others[:count]
        records = [gone, *[record("drained", its, order=place) for place, its in enumerate(listed, 2)]]
        found = plan(vm("vm1", listed, records))
        (kept,) = [one for entry in found["events"] if entry["event_id"] == "E1" for one in entry["parts"]]
        assert kept["reason"] == f"kept drained for {text}"


@pytest.mark.parametrize(("ago", "late"), [(60, False), (60.5, True)])
def test_an_undo_that_takes_too_long_is_reported_and_goes_on(ago: float, late: bool) -> None:
    its = record("failed", event(due=None), ago=ago, methods=[method("failed", error="it does not start")])
    found = plan(vm("vm1", [event(due=None)], [its]))
    assert acts(found) == ["undo vm1 E1"]
    assert [one["reason"] for one in found["failed"]] == (
        ["vm1: what a failed drain changed could not be put back (service: it does not start)" if late else "vm1: the drain failed; no reason given"]
    )


@pytest.mark.parametrize(("over", "other"), [("E1", "E2"), ("E2", "E1")])
def test_what_is_over_waits_with_its_health_check_while_the_vm_is_out_for_another(over: str, other: str) -> None:
    listed, gone = event(other), event(over)
    records = [record("recovering", gone, methods=UNDONE, **OVER), record("drained", listed, order=2)]
    found = plan(vm("vm1", [listed], records, in_service=False), has_health=True)
    (its,) = [one for entry in found["events"] if entry["event_id"] == over for one in entry["parts"]]
    assert its["reason"] == f"waiting for recovery: it is out for {other}"
    assert not found["failed"]


def test_why_a_vm_could_not_be_read_is_repeated() -> None:
    two = event(resources=("vm1", "vm2"))
    for error, text in (("no route to host", "no route to host"), (None, "no reason given")):
        found = plan(
            vm("vm1", [two]), vm("vm2", state="unreachable", error=error, identity_hint={"name": "vm2", "resource_group": "RG", "subscription_id": "S"})
        )
        assert part(found, "vm2")["reason"] == f"vm2 could not be read: {text}"


WRONG = ("drain_methods, entry 1: method must be none.", "another")


def test_with_wrong_settings_no_drain_begins_and_its_retries_are_kept() -> None:
    two = event(resources=("vm1", "vm2"))
    found = plan({**vm("vm1", [two], [record("noticed", two)]), "wrong_settings": WRONG}, vm("vm2", [two], [record("noticed", two)]))
    assert acts(found) == ["drain vm2 E1"]
    assert found["events"][0]["reason"] == f"the settings of vm1 are wrong: {WRONG[0]}"
    assert found["summary"]["wrong_settings"] == [f"vm1: {fault}" for fault in WRONG]
    assert "drain vm1 E1" in acts(plan(vm("vm1", [event()], [record("noticed")])))
    once = [record("failed", ago=300, history=[{"phase": "failed", "at": at(-300)}], undone=True, methods=[])]
    assert acts(plan(vm("vm1", [event()], once))) != []
    assert acts(plan({**vm("vm1", [event()], once), "wrong_settings": WRONG})) == []


def test_where_drain_methods_cannot_be_read_none_is_said_to_be_missing() -> None:
    found = plan({**vm("vm1", [event()], [record("noticed")]), "wrong_settings": WRONG, "methods": []})
    assert (acts(found), found["events"][0]["reason"]) == ([], f"the settings of vm1 are wrong: {WRONG[0]}")


def test_with_wrong_settings_what_has_begun_goes_on() -> None:
    for phase in ("draining", "drained"):
        right = plan(vm("vm1", [event()], [record(phase)]))
        assert acts(right) == acts(plan({**vm("vm1", [event()], [record(phase)]), "wrong_settings": WRONG})) != []
