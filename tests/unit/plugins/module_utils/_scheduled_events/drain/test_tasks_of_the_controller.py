# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Methods that are tasks of the controller: the engine judges and records what they found and answered."""

from __future__ import annotations

import datetime

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.orders import OrderError, drain_order
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_changes import RecordChange
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import step
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import EVENT

HAPROXY = "1-haproxy"
PAST = "2026-11-21T20:55:00Z"


def told(answer=None, *, finding=None, **keys):
    """The order of a method whose tasks have been run."""
    more = {"answer": answer} if answer is not None else {"finding": finding}
    return step("haproxy", **{"where": "controller", "outside": True, "given": {"balancers": ["lb1"]}, **more, **keys})


def begun(vm, **keys):
    return vm.drain(told(finding={"was": "ready"}), **keys)


def test_a_finding_is_recorded_before_the_tasks_act(vm):
    outcome = begun(vm, deadline=PAST, rule={"name": "all"})
    assert (outcome.state, outcome.error, dict(outcome.handover)) == ("found", None, {})
    entry, record = vm.entry(HAPROXY), vm.record()
    assert {key: entry[key] for key in ("method", "options", "before", "state", "boot_id", "error", "outside")} == {
        "method": "haproxy", "options": {"balancers": ["lb1"]}, "before": {"was": "ready"}, "state": "found", "boot_id": "boot-1", "error": None,
        "outside": True,
    }  # fmt: skip
    assert (vm.phases(), record["attempts"], record["deadline"], record["rule"], record["verified_at"]) == (["draining"], 1, PAST, {"name": "all"}, None)


def test_the_first_finding_stays_and_it_is_one_attempt(vm):
    begun(vm)
    assert vm.drain(told(finding={"was": "drain"})).state == "found"
    assert (vm.entry(HAPROXY)["before"], vm.record()["attempts"]) == ({"was": "ready"}, 1)


def test_an_empty_finding_is_one(vm):
    vm.drain(told(finding={}))
    assert vm.drain(told({"state": "drained"})).state == "drained"
    assert vm.entry(HAPROXY)["before"] == {}


def test_a_finding_that_cannot_be_recorded_is_a_failed_drain(vm):
    vm.take_lease()
    vm.lose_lease()
    outcome = begun(vm)
    assert outcome.state == "failed" and "lease" in outcome.error and vm.record() is None


def test_what_drained_is_verified_only_when_it_is_the_last(vm):
    begun(vm)
    outcome = vm.drain(told({"state": "drained"}), complete=False)
    assert (outcome.state, vm.entry(HAPROXY)["state"], vm.record()["phase"], vm.record()["verified_at"]) == ("drained", "drained", "draining", None)
    assert vm.drain(told({"state": "drained"})).state == "drained"
    assert vm.record()["phase"] == "drained" and vm.record()["verified_at"]


def test_still_draining_is_recorded_once(vm):
    begun(vm)
    answer = told({"state": "draining", "error": "3 sessions"})
    assert vm.drain(answer)[:2] == ("draining", "3 sessions")
    assert (vm.entry(HAPROXY)["state"], vm.entry(HAPROXY)["error"]) == ("begun", "3 sessions")
    revision = vm.record()["revision"]
    assert vm.drain(answer)[:2] == ("draining", "3 sessions") and vm.record()["revision"] == revision


def test_what_is_lost_again_is_draining_and_not_begun_here(vm):
    begun(vm)
    assert vm.drain(told({"state": "lost", "error": "set to ready"}))[:2] == ("draining", "set to ready")
    assert vm.entry(HAPROXY)["state"] == "begun"


@pytest.mark.parametrize("state", ["draining", "lost"])
def test_after_the_deadline_it_has_failed(vm, state):
    begun(vm)
    outcome = vm.drain(told({"state": state, "error": "3 sessions"}), late=True, deadline=PAST)
    assert outcome[:2] == ("failed", f"Not drained before the deadline {PAST}: 3 sessions")
    assert (vm.record()["phase"], vm.record()["reason"], vm.entry(HAPROXY)["state"]) == ("failed", outcome.error, "failed")


AWAY = {"state": "draining", "error": "load balancer lb1 cannot be reached", "away": 120}


def long_ago(vm, monkeypatch, name, seconds):
    """The VM's clock goes on."""
    now = vm.machine.now()
    later = (datetime.datetime.fromisoformat(now.replace("Z", "+00:00")) + datetime.timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
    monkeypatch.setattr(vm, "machine", vm.machine._replace(now=lambda: later))
    assert vm.entry(name)["times"]["away"] < later


def test_what_is_away_is_waited_for_and_the_record_says_since_when(vm, monkeypatch):
    begun(vm)
    assert vm.drain(told({"state": "drained"})).state == "drained"
    # Right before the approval it cannot say that it is drained: nothing is approved, and nothing is put back.
    for _look in range(2):
        assert vm.drain(told(AWAY), verify=True)[:2] == ("draining", AWAY["error"])
    entry, revision = vm.entry(HAPROXY), vm.record()["revision"]
    assert (vm.record()["phase"], entry["state"], entry["error"], entry["error_kind"]) == ("draining", "begun", AWAY["error"], None)
    assert vm.drain(told(AWAY)).state == "draining" and vm.record()["revision"] == revision, "one write, whatever the number of looks"
    assert vm.drain(told({"state": "draining", "error": "3 sessions"})).state == "draining"
    assert "away" not in vm.entry(HAPROXY)["times"], "it has come back, and the next time counts anew"
    vm.drain(told(AWAY))
    long_ago(vm, monkeypatch, HAPROXY, 121)
    outcome = vm.drain(told(AWAY))
    assert outcome.state == "failed" and outcome.error.startswith(AWAY["error"] + "; that for 12")
    assert (vm.record()["phase"], vm.entry(HAPROXY)["state"], "away" in vm.entry(HAPROXY)["times"]) == ("failed", "failed", False)


def test_what_has_moved_is_waited_for_until_the_deadline(vm, monkeypatch):
    begun(vm)
    vm.drain(told({"state": "draining", "error": "3 pods", "moved": True}))
    vm.drain(told(AWAY))
    long_ago(vm, monkeypatch, HAPROXY, 3600)
    assert vm.drain(told(AWAY)).state == "draining"
    outcome = vm.drain(told(AWAY), late=True, deadline=PAST)
    assert outcome[:2] == ("failed", f"Not drained before the deadline {PAST}: {AWAY['error']}")


@pytest.mark.parametrize("phase", ["approved", "started"])
def test_what_is_away_after_the_approval_keeps_the_phase(vm, phase):
    begun(vm)
    vm.drain(told({"state": "drained"}))
    vm.damage(lambda record: record.update(phase=phase))
    assert vm.drain(told(AWAY), verify=True).state == "draining" and vm.record()["phase"] == phase


LAST = "web1 is the last server of backend web that takes sessions on lb1 (web2: DOWN)"
WAITS = {"state": "not_yet", "error": LAST}
BLOCKER = {"kind": "not_yet", "subjects": []}
NEEDED = {"kind": "needed", "subjects": []}


def test_one_that_may_not_begin_yet_waits_and_uses_no_attempt(vm):
    for _look in range(2):
        outcome = vm.drain(told(WAITS))
        assert outcome[:2] == ("draining", f"{HAPROXY}: not yet: {LAST}")
    record = vm.record()
    assert (record["phase"], record["reason"], record["blocker"]) == ("draining", f"{HAPROXY}: not yet: {LAST}", BLOCKER)
    assert (record["methods"], record["attempts"], record["revision"]) == ([], 0, 1), "one write, whatever the number of looks"
    begun(vm)
    assert (vm.record()["reason"], vm.record()["blocker"], vm.record()["attempts"]) == (None, None, 1)


def test_one_that_has_found_something_and_set_nothing_has_nothing_to_undo(vm):
    begun(vm)
    outcome = vm.drain(told(WAITS))
    record = vm.record()
    assert (outcome.state, vm.entry(HAPROXY)["state"]) == ("draining", "undone")
    assert (record["phase"], record["blocker"], record["attempts"]) == ("draining", BLOCKER, 1) and LAST in record["reason"]
    # It finds afresh: what it found before was never changed.
    vm.drain(told(finding={"was": "maint"}))
    assert (vm.entry(HAPROXY)["before"], vm.entry(HAPROXY)["state"], vm.record()["reason"]) == ({"was": "maint"}, "found", None)
    vm.drain(told({"state": "drained"}))
    assert vm.record()["phase"] == "drained" and vm.record()["attempts"] == 1


@pytest.mark.parametrize("phase", ["approved", "started"])
def test_after_the_approval_the_phase_stays(vm, phase):
    drained(vm)
    for each in ("approved", "started")[: 1 + (phase == "started")]:
        vm.records.write(EVENT, RecordChange(changes={"phase": each}))
    vm.drain(told(finding={"was": "ready"}))
    outcome = vm.drain(told(WAITS))
    assert (outcome.state, vm.record()["phase"], vm.entry(HAPROXY)["state"], vm.record()["blocker"]) == ("draining", phase, "undone", None)


@pytest.mark.parametrize("state", ["draining", "drained"])
def test_what_has_begun_cannot_wait(vm, state):
    begun(vm)
    vm.drain(told({"state": state}))
    outcome = vm.drain(told(WAITS))
    assert outcome.state == "failed" and "the method has begun" in outcome.error and vm.entry(HAPROXY)["state"] == "failed"


def test_after_the_deadline_one_that_waits_has_failed_by_name(vm):
    outcome = vm.drain(told(WAITS), late=True, deadline=PAST)
    assert outcome[:2] == ("failed", f"{HAPROXY}: not begun before the deadline {PAST}: {LAST}")


@pytest.mark.parametrize("state", ["draining", "drained"])
def test_a_hold_is_recorded_once_and_cleared(vm, state):
    hold = "no other server of backend web takes sessions on lb1 (web2: DOWN)"
    begun(vm)
    outcome = vm.drain(told({"state": state, "hold": hold}))
    record = vm.record()
    assert outcome[:2] == (state, hold)
    assert (record["phase"], record["reason"], record["blocker"]) == (state, f"{HAPROXY}: {hold}", NEEDED)
    if state == "draining":
        vm.drain(told({"state": state, "hold": hold}))
        assert vm.record()["revision"] == record["revision"]
    vm.drain(told({"state": state}))
    assert (vm.record()["phase"], vm.record()["reason"], vm.record()["blocker"], vm.entry(HAPROXY)["error"]) == (state, None, None, None)


def test_a_hold_of_one_that_others_follow_is_recorded_too(vm):
    begun(vm)
    vm.drain(told({"state": "drained"}), complete=False)
    vm.drain(told({"state": "drained", "hold": "why"}), complete=False)
    assert (vm.record()["phase"], vm.record()["blocker"]) == ("draining", NEEDED)
    # One that waits by itself keeps its own reason.
    vm.drain(told({"state": "drained"}), complete=False)
    assert (vm.record()["reason"], vm.record()["blocker"]) == (None, None)


def test_what_is_undone_after_a_hold_waits(vm):
    begun(vm)
    vm.drain(told({"state": "draining", "hold": "why"}))
    vm.undo(told({"state": "undone"}), keep_phase=True)
    record = vm.record()
    assert (record["phase"], record["blocker"], vm.entry(HAPROXY)["state"], record["undone"], record["attempts"]) == ("draining", NEEDED, "undone", True, 1)


def test_one_that_waits_because_too_few_serve_is_needed(vm):
    """Beside a method that has acted, the plan puts that one back; the kind is the last one that was said."""
    vm.drain(told(WAITS))
    assert vm.record()["blocker"] == BLOCKER
    vm.drain(told({**WAITS, "hold": LAST}))
    assert (vm.record()["phase"], vm.record()["blocker"]) == ("draining", NEEDED) and LAST in vm.record()["reason"]
    revision = vm.record()["revision"]
    vm.drain(told({**WAITS, "hold": LAST}))
    assert vm.record()["revision"] == revision, "the same is not recorded again"
    vm.drain(told({**WAITS, "error": "another is out", "hold": "another is out"}))
    assert "another is out" in vm.record()["reason"]


@pytest.mark.parametrize("answer", ["drained", {}, {"state": None}, {"state": "undone"}, {"state": "found"}, {"state": ["drained"]}, {"state": True}])
def test_an_answer_of_another_stage_is_a_failed_drain(vm, answer):
    begun(vm)
    outcome = vm.drain(told(answer))
    assert outcome.state == "failed" and "it must be drained, draining, lost, failed" in outcome.error
    assert (vm.record()["phase"], vm.record()["verified_at"]) == ("failed", None)


@pytest.mark.parametrize("state", ["drained", "draining", "lost"])
def test_an_answer_of_what_has_not_begun_is_a_failed_drain(vm, state):
    outcome = vm.drain(told({"state": state}))
    assert outcome[:2] == ("failed", f"the answer is {state!r}, and the method has not begun: it is new")
    assert vm.record()["phase"] == "failed"
    # Nothing was found, so nothing is undone.
    assert vm.entry(HAPROXY)["before"] is None


def test_what_is_undone_has_to_begin_before_it_answers(vm):
    begun(vm)
    vm.undo(told({"state": "undone"}))
    outcome = vm.drain(told({"state": "drained"}))
    assert outcome.state == "failed" and "it is undone" in outcome.error


def test_what_fails_before_it_found_anything_is_recorded_and_untouched(vm):
    assert vm.drain(told({"state": "failed", "error": "no route to lb1"}))[:2] == ("failed", "no route to lb1")
    assert (vm.entry(HAPROXY)["state"], vm.entry(HAPROXY)["method"], vm.entry(HAPROXY)["before"]) == ("failed", "haproxy", None)


def test_approved_stays_approved_when_it_drains_again_after_a_boot(vm):
    begun(vm)
    vm.drain(told({"state": "drained"}))
    vm.journal().write(RecordChange(changes={"phase": "approved"}))
    vm.boot = "boot-2"
    begun(vm)
    assert vm.drain(told({"state": "draining"}), late=True, deadline=PAST).state == "draining"
    assert vm.drain(told({"state": "drained"})).state == "drained"
    assert (vm.record()["phase"], vm.entry(HAPROXY)["boot_id"], vm.record()["boot_id"]) == ("approved", "boot-2", "boot-2")


def test_an_answer_that_cannot_be_recorded_is_a_failed_drain(vm):
    vm.take_lease()
    begun(vm)
    vm.lose_lease()
    outcome = vm.drain(told({"state": "failed", "error": "no route"}))
    assert outcome.state == "failed" and outcome.error.startswith("no route; ") and "lease" in outcome.error


def drained(vm):
    begun(vm)
    assert vm.drain(told({"state": "drained"})).state == "drained"


def test_the_last_answer_of_an_undo_ends_it(vm):
    drained(vm)
    assert vm.undo(told({"state": "undone"}), complete=False)[:2] == ("undone", None)
    assert (vm.entry(HAPROXY)["state"], vm.record()["undone"], vm.record()["phase"]) == ("undone", False, "recovering")
    drained(vm)
    assert vm.undo(told({"state": "undone"})).state == "undone"
    assert vm.record()["undone"] is True


def test_what_is_undoing_is_recorded_once(vm):
    drained(vm)
    answer = told({"state": "undoing", "error": "lb1: not up yet"})
    assert vm.undo(answer)[:2] == ("undoing", "lb1: not up yet")
    revision = vm.record()["revision"]
    assert vm.undo(answer).state == "undoing" and vm.record()["revision"] == revision
    assert (vm.entry(HAPROXY)["state"], vm.record()["undone"]) == ("undoing", False)


def test_a_part_that_is_undone_does_not_end_the_method(vm):
    drained(vm)
    report = "backend shop of lb2 is to be put back by hand"
    outcome = vm.undo(told({"state": "undone"}, ends=False, report=report), reports=[report])
    assert outcome[:2] == ("undoing", report)
    assert (vm.entry(HAPROXY)["state"], vm.entry(HAPROXY)["error"], vm.record()["undone"]) == ("undoing", report, False)


@pytest.mark.parametrize("state", ["drained", "draining", "lost", "", None])
def test_an_answer_of_another_stage_is_a_failed_undo(vm, state):
    drained(vm)
    outcome = vm.undo(told({"state": state}))
    assert outcome.state == "failed" and "it must be undone, undoing, failed" in outcome.error
    assert (vm.record()["phase"], vm.record()["undone"], vm.entry(HAPROXY)["state"]) == ("failed", False, "failed")


def test_the_undo_of_a_failed_drain_keeps_its_phase(vm):
    begun(vm)
    vm.drain(told({"state": "failed", "error": "no route"}))
    vm.undo(told({"state": "undone"}), keep_phase=True)
    assert (vm.record()["phase"], vm.record()["reason"], vm.record()["undone"]) == ("failed", "no route", True)


@pytest.mark.parametrize("finding", ["", "text", [], 0])
def test_a_finding_that_is_no_dictionary_is_refused(finding):
    with pytest.raises(OrderError, match="finding must be a dictionary"):
        drain_order({"methods": [told(finding=finding)]})
