# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An undo: the last method first, only what this VM's own record says, and nothing without the lease."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain import registry
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import Answer
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import Killed, Scripted, step


@pytest.fixture
def methods(monkeypatch):
    """Two kinds, so that each has calls of its own."""
    first, second = Scripted(), Scripted()
    monkeypatch.setitem(registry.METHODS, "first", first)
    monkeypatch.setitem(registry.METHODS, "second", second)
    return first, second


BOTH = step("first"), step("second")
BACK = step("second"), step("first")


def drained(vm, methods):
    assert vm.drain(*BOTH).state == "drained"
    for method in methods:
        method.calls.clear()


def test_all_is_undone_in_one_observation(vm, methods):
    drained(vm, methods)
    outcome = vm.undo(*BACK)
    assert (outcome.state, outcome.error) == ("undone", None)
    assert (vm.record()["phase"], vm.record()["undone"]) == ("recovering", True)
    assert [entry["state"] for entry in vm.record()["methods"]] == ["undone", "undone"]
    assert methods[0].undone_with.finding == {"was": "in"}


def test_what_drained_first_waits_for_what_drained_after_it(vm, methods):
    drained(vm, methods)
    methods[1].undos = [Answer("undoing", "not yet running: a"), Answer("failed", "broken"), OSError("gone"), "undone"]
    assert vm.undo(*BACK)[:2] == ("undoing", "not yet running: a")
    assert (vm.record()["phase"], vm.entry("1-second")["state"]) == ("recovering", "undoing")
    assert vm.undo(*BACK)[:2] == ("failed", "broken")
    assert (vm.record()["phase"], vm.record()["reason"], vm.entry("1-second")["state"]) == ("failed", "broken", "failed")
    assert vm.undo(*BACK)[:2] == ("failed", "1-second: undo: gone")
    assert (methods[0].calls, vm.entry("1-first")["state"], vm.record()["undone"]) == ([], "drained", False)
    assert vm.undo(*BACK).state == "undone"
    assert (methods[0].calls, methods[1].calls) == (["undo"], ["undo"] * 4)


def test_killed_between_two_methods_it_goes_on_with_the_first(vm, methods):
    drained(vm, methods)
    methods[0].undos = [Killed()]
    with pytest.raises(Killed):
        vm.undo(*BACK)
    assert [entry["state"] for entry in vm.record()["methods"]] == ["drained", "undone"]
    # Made anew of the record, as the controller does: what is undone already is not named again.
    assert vm.undo(step("first")).state == "undone"
    assert (methods[0].calls, methods[1].calls) == (["undo", "undo"], ["undo"])


def test_nothing_is_undone_without_the_lease(vm, methods):
    drained(vm, methods)
    vm.take_lease()
    vm.lose_lease()
    outcome = vm.undo(*BACK)
    assert outcome.state == "failed" and "is gone" in outcome.error
    assert (methods[0].calls, methods[1].calls, vm.record()["phase"]) == ([], [], "drained")


def test_a_lease_lost_in_between_stops_before_the_next(vm, methods):
    drained(vm, methods)
    vm.take_lease()
    undo = methods[1].undo

    def losing(machine, task):
        vm.lose_lease()
        return undo(machine, task)

    methods[1].undo = losing
    assert vm.undo(*BACK).state == "failed"
    assert (methods[0].calls, methods[1].calls) == ([], ["undo"])
    assert [entry["state"] for entry in vm.record()["methods"]] == ["drained", "drained"]


def test_the_record_of_another_vm_is_not_undone(vm, methods):
    drained(vm, methods)
    vm.vm_id = "VM-B"
    outcome = vm.undo(*BACK)
    assert outcome.state == "failed" and "no record" in outcome.error and outcome.record is None
    assert (methods[0].calls, methods[1].calls) == ([], [])
    vm.vm_id = "vm-a"  # ids compare without case
    assert vm.undo(*BACK).state == "undone"


def test_without_a_record_there_is_nothing_to_undo(vm, methods):
    outcome = vm.undo(*BACK)
    assert outcome.state == "failed" and "no record of event" in outcome.error
    assert methods[1].calls == []


def test_what_never_found_anything_is_undone_without_being_run(vm, methods):
    methods[1].finding = None  # dict(None): it fails before it has found anything
    assert vm.drain(*BOTH).state == "failed"
    assert vm.entry("1-second")["before"] is None
    methods[1].calls.clear()
    assert vm.undo(*BACK).state == "undone"
    assert (methods[1].calls, methods[0].calls[-1]) == ([], "undo")


def test_what_has_begun_and_failed_is_undone(vm, methods):
    def broken(machine, task):
        raise OSError("half done")

    methods[0].on_begin = broken
    assert vm.drain(*BOTH).state == "failed"
    assert vm.undo(step("first")).state == "undone"
    assert methods[0].calls == ["find", "begin", "undo"]


@pytest.mark.parametrize("answer,phase", [("undone", "failed"), ("undoing", "failed"), (Answer("failed", "worse"), "failed")])
def test_the_undo_of_a_failed_drain_keeps_its_phase_and_reason(vm, methods, answer, phase):
    methods[0].checks = [OSError("first of all")]
    vm.drain(*BOTH)
    methods[0].undos = [answer]
    vm.undo(step("first"), keep_phase=True)
    assert (vm.record()["phase"], vm.record()["reason"]) == (phase, "1-first: first of all")
    assert vm.phases() == ["draining", "failed"]
    assert vm.record()["undone"] is (answer == "undone")


def test_a_segment_that_is_not_the_last_does_not_end_the_undo(vm, methods):
    drained(vm, methods)
    assert vm.undo(step("second"), complete=False, reports=["by hand"])[:2] == ("undone", None)
    assert (vm.record()["undone"], vm.entry("1-second")["state"]) == (False, "undone")
    assert vm.undo(step("first"), complete=False).state == "undone"
    assert (vm.record()["undone"], vm.entry("1-first")["state"]) == (False, "undone")
    assert vm.undo().state == "undone"
    assert vm.record()["undone"] is True


def test_what_cannot_be_done_here_is_reported_and_keeps_nothing_else_from_being_undone(vm, methods):
    drained(vm, methods)
    report = "server web1 in lb2: by hand"
    steps = step("second", runs=False, ends=False, report=report), step("first")
    for _again in range(2):
        assert vm.undo(*steps, reports=[report])[:2] == ("undoing", report)
        assert (vm.entry("1-second")["state"], vm.entry("1-second")["error"], vm.record()["undone"]) == ("undoing", report, False)
        steps = steps[:1]
    assert (methods[1].calls, vm.entry("1-first")["state"]) == ([], "undone")
    # Said once.
    revision = vm.record()["revision"]
    vm.undo(*steps, reports=[report])
    assert vm.record()["revision"] == revision


def test_a_part_that_is_undone_is_not_the_whole_method(vm, methods):
    drained(vm, methods)
    vm.undo(step("second", ends=False))
    assert vm.entry("1-second")["state"] == "undoing"


def test_what_is_reported_while_it_is_still_undone_is_recorded(vm, methods):
    drained(vm, methods)
    methods[1].undos = [Answer("undoing", "still at it")] * 2
    vm.undo(step("second"))
    vm.undo(step("second", ends=False, report="lb2: by hand"))
    found = vm.entry("1-second")
    assert (found["state"], found["error"], found["error_kind"]) == ("undoing", "still at it", None)
    vm.undo(step("second", ends=False, report="lb2: by hand"))
    assert (vm.entry("1-second")["error"], vm.entry("1-second")["error_kind"]) == ("lb2: by hand", "by_hand")


def test_with_nothing_to_undo_the_record_says_so(vm, methods):
    vm.drain(step("first"), problem="wrong")
    assert vm.undo().state == "undone"
    assert (vm.record()["undone"], vm.record()["phase"]) == (True, "recovering")


def test_with_nothing_but_reports_it_does_not_end(vm, methods):
    drained(vm, methods)
    assert vm.undo(reports=["by hand"])[:2] == ("undoing", "by hand")
    assert vm.record()["undone"] is False


def test_an_unknown_method_is_that_undos_failure(vm, methods):
    drained(vm, methods)
    outcome = vm.undo(step("teleport", "1-second"), step("first"))
    assert outcome.state == "failed" and "there is no method 'teleport'" in outcome.error
    assert methods[0].calls == []


@pytest.mark.parametrize("options", [{"names": "nginx"}, {"names": 5}, {"names": None}, {}])
def test_damaged_options_do_not_pass_for_an_undo(vm, options):
    vm.services.present["nginx"] = "active"
    assert vm.drain(step("service", given={"names": ["nginx"]})).state == "drained"
    vm.damage(lambda data: data["methods"][0].update(options=options or {"other": 1}))
    outcome = vm.undo(step("service"))
    assert outcome.state == "failed" and "option names must be a list" in outcome.error
    assert vm.services.present["nginx"] == "inactive" and vm.record()["phase"] == "failed"


@pytest.mark.parametrize(
    "before",
    [{}, {"kind": None}, {"kind": ["file"]}, {"kind": "file"}, {"kind": "file", "content": "%", "mode": "644", "owner": "0", "group": "0"}]
    + [{"kind": "file", "content": "", "mode": mode, "owner": "0", "group": "0"} for mode in ("9", "7" * 30, None)]
    + [{"kind": "file", "content": "", "mode": "644", "owner": owner, "group": "0"} for owner in ("root", "9" * 30)],
)
@pytest.mark.parametrize("means", ["in", "out"])
def test_a_damaged_finding_of_a_flag_file_does_not_pass_for_an_undo(vm, tmp_path, before, means):
    flag = tmp_path / "ready"
    if means == "in":
        flag.write_text("x")
    assert vm.drain(step("probe_file", given={"path": str(flag), "interval": 0, "present_means": means})).state == "drained"
    vm.damage(lambda data: data["methods"][0].update(before=before))
    outcome = vm.undo(step("probe_file"))
    known = before.get("kind") == "file"
    # A file that was there already, where its presence means out, was not touched and is not.
    assert outcome.state == ("undone" if known and means == "out" else "failed")
    assert flag.exists() is (means == "out")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("ready.")] == []


def test_while_it_is_still_at_it_nothing_new_is_written(vm, methods):
    drained(vm, methods)
    methods[1].undos = [Answer("undoing", "two left"), Answer("undoing", "one left")]
    revision = vm.undo(step("second")).record["revision"]
    assert vm.undo(step("second"))[:2] == ("undoing", "one left")
    assert vm.record()["revision"] == revision


def test_a_part_that_is_left_to_an_operator_is_recorded_of_what_was_undone_already(vm, methods):
    drained(vm, methods)
    assert vm.undo(step("second")).state == "undone"
    vm.undo(step("second", ends=False))
    assert vm.entry("1-second")["state"] == "undoing"


def test_what_a_method_has_to_tell_is_in_the_outcome(vm, methods):
    drained(vm, methods)
    methods[1].undos = [Answer("undoing", "wait", note="one."), Answer("undone", note="two.")]
    methods[0].undos = [Answer("undone", note="three.")]
    assert vm.undo(*BACK)[1::2] == ("wait", "one.")
    assert vm.undo(*BACK).warning == "two. three."
    assert vm.undo(*BACK).warning is None
