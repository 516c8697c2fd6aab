# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A drain, one observation of a time: what fails, what is killed in between, what a boot and a deadline change."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain import registry
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.engine import said
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import Answer, Method, NoAnswer
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.daemons import DaemonError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_changes import RecordChange
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.recorded import Recorded, find_method
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import (
    ABOUT,
    Killed,
    Scripted,
    step,
)
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import EVENT

DEADLINE = "2026-11-21T20:55:00Z"


def killed_in_begin(_machine, _task):
    raise Killed


def test_one_observation_drains_what_drains_at_once(vm, method):
    outcome = vm.drain(step(), rule={"name": "all"}, deadline=DEADLINE)
    assert (outcome.state, outcome.error, method.calls) == ("drained", None, ["find", "begin", "check"])
    record = vm.record()
    assert outcome.record["revision"] == record["revision"]
    assert (vm.phases(), record["boot_id"], record["vm_id"], record["attempts"], record["deadline"]) == (["draining", "drained"], "boot-1", "VM-A", 1, DEADLINE)
    assert record["verified_at"] and record["rule"] == {"name": "all"} and record["event"]["description"] == ABOUT["description"]
    assert (vm.entry("1-scripted")["state"], vm.entry("1-scripted")["before"]) == ("drained", {"was": "in"})
    assert [line.rpartition(" ")[2] for line in map(str.strip, vm.log)] == ["draining", "drained"]


def test_what_is_found_is_in_the_record_before_the_method_acts(vm, method):
    seen = []
    method.on_begin = lambda machine, task: seen.append((vm.entry("1-scripted")["state"], vm.entry("1-scripted")["before"], vm.phases(), task.finding))
    vm.drain(step())
    assert seen == [("found", {"was": "in"}, ["draining"], {"was": "in"})]


def test_killed_while_it_acts_it_begins_again_and_keeps_what_was_found_first(vm, method):
    method.on_begin = killed_in_begin
    with pytest.raises(Killed):
        vm.drain(step())
    assert vm.entry("1-scripted")["state"] == "found"
    method.on_begin, method.finding = lambda machine, task: None, {"was": "out"}
    assert vm.drain(step()).state == "drained"
    assert method.calls == ["find", "begin", "find", "begin", "check"]
    assert (vm.entry("1-scripted")["before"], vm.record()["attempts"]) == ({"was": "in"}, 1)


def test_killed_before_the_record_is_written_nothing_has_happened(vm, method, monkeypatch):
    def killed(*_arguments):
        raise Killed

    monkeypatch.setattr(vm.files, "link", killed)
    with pytest.raises(Killed):
        vm.drain(step())
    assert "begin" not in method.calls and vm.record() is None


def test_what_cannot_be_recorded_is_not_begun(vm, method, monkeypatch):
    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(vm.files, "write_exclusive", full)
    outcome = vm.drain(step())
    assert (outcome.state, outcome.record) == ("failed", None) and "No space left" in outcome.error
    assert "begin" not in method.calls


def test_what_was_found_is_written_once_over_all_attempts(vm, method):
    for number in range(1, 4):
        method.checks, method.finding = [OSError("broken")], {"was": f"found {number}"}
        outcome = vm.drain(step())
        assert outcome.state == "failed" and "1-scripted: broken" in outcome.error
        assert (vm.entry("1-scripted")["before"], vm.record()["attempts"]) == ({"was": "found 1"}, number)
    assert vm.phases() == ["draining", "failed"] * 3


def test_each_refusal_counts_so_that_retries_are_limited_and_backed_off(vm, method):
    def refuse(_machine, _task):
        raise OSError("no other node")

    method.find = refuse
    for number in range(1, 4):
        assert vm.drain(step()).state == "failed"
        assert (vm.record()["attempts"], vm.phases(), vm.entry("1-scripted")["before"]) == (number, ["failed"] * number, None)


def test_a_drain_after_its_undo_finds_anew(vm, method):
    vm.drain(step())
    assert vm.undo(step()).state == "undone"
    method.finding = {"was": "other"}
    assert vm.drain(step()).state == "drained"
    assert (vm.entry("1-scripted")["before"], vm.record()["undone"]) == ({"was": "other"}, False)


def test_it_goes_on_without_beginning_again_and_writes_nothing_new(vm, method):
    method.checks = [Answer("draining", "two left"), Answer("draining", "one left")]
    first = vm.drain(step())
    assert (first.state, first.error) == ("draining", "two left")
    assert (vm.entry("1-scripted")["state"], vm.entry("1-scripted")["error"]) == ("begun", "two left")
    assert vm.drain(step()).error == "one left"
    assert vm.record()["revision"] == first.record["revision"]
    assert vm.drain(step()).state == "drained"
    assert method.calls == ["find", "begin", "check", "check", "check"]


def test_the_next_method_waits_for_the_one_before(vm, method):
    method.checks = ["draining"]
    steps = step(identifier="a"), step(identifier="b")
    vm.drain(*steps)
    assert [entry["id"] for entry in vm.record()["methods"]] == ["a"]
    assert vm.drain(*steps).state == "drained"
    assert [(entry["id"], entry["state"]) for entry in vm.record()["methods"]] == [("a", "drained"), ("b", "drained")]


@pytest.mark.parametrize("answer", ["draining", "lost"])
def test_what_has_not_drained_at_its_deadline_has_failed(vm, method, answer):
    method.checks = [Answer(answer, "two left")] * 2
    outcome = vm.drain(step(), deadline=DEADLINE, late=True)
    assert (outcome.state, outcome.error) == ("failed", f"Not drained before the deadline {DEADLINE}: two left")
    assert (vm.record()["phase"], vm.record()["reason"], vm.entry("1-scripted")["state"]) == ("failed", outcome.error, "failed")


def test_what_drains_at_its_deadline_has_drained(vm, method):
    assert vm.drain(step(), deadline=DEADLINE, late=True).state == "drained"


@pytest.mark.parametrize("phase", ["approved", "started"])
def test_no_deadline_counts_once_it_is_approved_or_started(vm, method, phase):
    vm.drain(step())
    vm.records.write(EVENT, RecordChange(changes={"phase": phase}))
    vm.boot, method.checks = "boot-2", ["draining"]
    assert vm.drain(step(), deadline=DEADLINE, late=True).state == "draining"
    assert (vm.record()["phase"], vm.record()["attempts"], vm.entry("1-scripted")["boot_id"]) == (phase, 1, "boot-2")


def test_a_drain_that_had_not_ended_begins_again_after_a_boot(vm, method):
    method.checks = ["draining", "draining"]
    vm.drain(step())
    vm.boot = "boot-2"
    vm.drain(step())
    assert method.calls == ["find", "begin", "check"] * 2
    assert vm.entry("1-scripted")["boot_id"] == "boot-2"
    assert vm.drain(step()).state == "drained"
    assert method.calls[-2:] == ["check", "check"]


def test_what_is_verified_is_checked_before_it_is_begun_again(vm, method):
    method.checks = ["draining"]
    vm.drain(step())
    vm.boot, method.calls[:] = "boot-2", []
    assert vm.drain(step(), verify=True).state == "drained"
    assert method.calls == ["check"]


def test_a_drained_vm_is_checked_after_a_boot_and_that_is_recorded(vm, method):
    vm.drain(step())
    vm.boot, method.calls[:] = "boot-2", []
    assert vm.drain(step()).state == "drained"
    assert (method.calls, vm.record()["boot_id"], vm.entry("1-scripted")["boot_id"]) == (["check"], "boot-2", "boot-2")


def test_what_is_lost_begins_again_in_the_same_observation(vm, method):
    vm.drain(step())
    method.calls[:], method.checks = [], [Answer("lost", "started again")]
    assert vm.drain(step()).state == "drained"
    assert method.calls == ["check", "find", "begin", "check"]
    assert vm.entry("1-scripted")["before"] == {"was": "in"}
    method.checks = [Answer("lost", "x"), Answer("lost", "again and again")]
    outcome = vm.drain(step())
    assert (outcome.state, outcome.error, vm.record()["phase"]) == ("draining", "again and again", "draining")


def test_verified_is_only_what_the_observation_of_the_last_method_has_checked(vm, method):
    vm.drain(step(identifier="a"), step(identifier="b"))
    stamp = vm.record()["verified_at"]
    vm.boot, method.checks = "boot-2", ["drained", "draining"]
    vm.drain(step(identifier="a"), step(identifier="b"))
    assert (vm.record()["verified_at"], vm.record()["boot_id"]) == (stamp, "boot-1")
    assert vm.drain(step(identifier="a"), step(identifier="b")).state == "drained"
    assert vm.record()["verified_at"] > stamp and vm.record()["boot_id"] == "boot-2"


def test_each_observation_of_all_of_a_drained_vm_is_noted(vm, method):
    stamp = vm.drain(step()).record["verified_at"]
    assert vm.drain(step(), verify=True).record["verified_at"] > stamp
    assert vm.phases() == ["draining", "drained"]


def test_a_segment_that_is_not_the_last_does_not_end_the_drain(vm, method):
    assert vm.drain(step(), complete=False).state == "drained"
    assert (vm.phases(), vm.record()["verified_at"], vm.entry("1-scripted")["state"]) == (["draining"], None, "drained")


def test_nothing_is_touched_without_the_lease(vm, method):
    vm.take_lease()
    vm.lose_lease()
    outcome = vm.drain(step())
    assert outcome.state == "failed" and "is gone" in outcome.error
    assert "begin" not in method.calls and vm.record() is None


def test_a_lease_that_is_lost_while_the_record_is_written_stops_it_too(vm, method, monkeypatch):
    vm.take_lease()
    monkeypatch.setattr(vm.leases, "stands", lambda run, event_id: False)
    assert vm.drain(step()).state == "failed"
    assert "begin" not in method.calls


def test_a_lease_lost_between_two_methods_stops_before_the_second(vm, method):
    vm.take_lease()
    method.on_begin = lambda machine, task: vm.lose_lease()
    assert vm.drain(step(identifier="a"), step(identifier="b")).state == "failed"
    assert method.calls == ["find", "begin", "check"]
    assert [entry["id"] for entry in vm.record()["methods"]] == ["a"]


def test_each_write_renews_the_lease(vm, method):
    vm.take_lease(60.0)
    before = vm.leases.own("run1", EVENT)
    vm.drain(step())
    assert vm.leases.own("run1", EVENT) != before and len(vm.leases.own("run1")) == 1


def test_a_problem_with_the_settings_is_recorded_and_counted_and_nothing_is_done(vm, method):
    for number in (1, 2):
        outcome = vm.drain(step(), problem="drain_methods, entry 1: no")
        assert (outcome.state, outcome.error, method.calls) == ("failed", "drain_methods, entry 1: no", [])
        assert (vm.record()["reason"], vm.record()["attempts"], vm.phases()) == (outcome.error, number, ["failed"] * number)


def test_a_problem_that_cannot_be_recorded_is_said(vm, method):
    vm.take_lease()
    vm.lose_lease()
    outcome = vm.drain(step(), problem="no")
    assert (outcome.state, outcome.error, outcome.record) == ("failed", "no", None)


@pytest.mark.parametrize("complete", [True, False])
def test_no_method_is_no_drain(vm, complete):
    outcome = vm.drain(complete=complete)
    assert outcome.state == "failed" and "no drain method" in outcome.error
    assert vm.record()["phase"] == "failed"


def test_an_unknown_method_is_named(vm):
    outcome = vm.drain(step("teleport"))
    words = f"there is no method 'teleport' that runs on the VM; known are {', '.join(registry.METHODS)}"
    assert outcome.state == "failed" and words in outcome.error
    assert vm.record()["reason"] == outcome.error


def test_what_the_settings_do_not_name_is_reported_without_its_kind(vm):
    outcome = vm.drain(step("teleport", "x", runs=False, report="not configured any more"))
    assert (outcome.state, outcome.error) == ("failed", "not configured any more")
    assert (vm.entry("x")["before"], vm.entry("x")["method"], vm.record()["phase"]) == (None, "unknown", "failed")


def test_before_a_method_acts_outside_the_drain_stops_for_the_copy(vm, method):
    where = {"outside": True, "where": "controller"}
    outcome = vm.drain(step(**where), stop_at_finding=True)
    assert (outcome.state, method.calls, vm.entry("1-scripted")["state"]) == ("found", ["find"], "found")
    assert outcome.record["methods"][0]["before"] == {"was": "in"} and outcome.record["methods"][0]["outside"] is True
    assert vm.drain(step(**where)).state == "drained"
    method.checks = ["lost"]
    assert vm.drain(step(**where), stop_at_finding=True).state == "found"


def test_what_acts_here_alone_does_not_stop_at_its_finding(vm, method):
    assert vm.drain(step(), stop_at_finding=True).state == "drained"


def test_a_drain_goes_on_with_the_options_that_its_undo_will_have(vm, tmp_path):
    given = {"begin": "true", "check": "sh -c 'exit 75'", "undo": "true"}
    assert vm.drain(step("command", given=given)).state == "draining"
    assert vm.entry("1-command")["options"] == {**given, "timeout": 10}
    assert vm.drain(step("command", given={**given, "check": "true"})).state == "draining"
    assert vm.drain(step("command", given={**given, "check": "true"}, where="controller")).state == "drained"


@pytest.mark.parametrize(
    "change",
    [
        lambda method: method.update(options=["x"]),
        lambda method: method.update(options={"begin": 5, "check": {"a": 1}, "undo": None}),
        lambda method: method.update(options={"begin": "true", "check": "true", "timeout": "soon"}),
        lambda method: method.update(options={"check": ""}),
        lambda method: method.update(before="x", state="drained"),
        lambda method: method.update(state=7, at=5, boot_id=[]),
    ],
)
def test_a_damaged_record_is_a_failure_at_most(vm, change):
    given = {"begin": "true", "check": "sh -c 'exit 75'", "undo": "true"}
    vm.drain(step("command", given=given))
    vm.damage(lambda data: change(data["methods"][0]))
    outcome = vm.drain(step("command", given=given))
    assert outcome.state in ("draining", "failed") and vm.record()["phase"] == outcome.state
    assert vm.undo(step("command", given=given)).state in ("undone", "failed")


def test_a_record_that_cannot_be_read_is_not_replaced(vm, method):
    vm.drain(step())
    vm.damage(lambda data: data.update(phase="sideways"))
    method.calls[:] = []
    with pytest.raises(Exception, match="unknown phase"):
        vm.drain(step())
    assert method.calls == []


def test_a_record_of_another_vm_is_set_aside_and_the_drain_begins_afresh(vm, method):
    vm.drain(step())
    vm.vm_id, method.finding = "VM-B", {"was": "mine"}
    assert vm.drain(step()).state == "drained"
    assert (vm.record()["vm_id"], vm.entry("1-scripted")["before"], vm.record()["attempts"]) == ("VM-B", {"was": "mine"}, 1)
    assert [name for name in vm.files.names() if name.startswith("foreign-")]


def test_what_a_broken_method_raises_reaches_the_record(vm, method):
    method.checks = [KeyError("x"), RecursionError()]
    assert vm.drain(step()).error == "1-scripted: KeyError: 'x'"
    assert vm.drain(step()).error == "1-scripted: RecursionError"
    assert vm.record()["reason"] == "1-scripted: RecursionError"


@pytest.mark.parametrize("forgotten", ["begin", "check", "undo"])
def test_a_method_without_one_of_its_functions_is_not_made(forgotten):
    every = {
        "begin": lambda self, machine, task: None,
        "check": lambda self, machine, task: Answer("drained"),
        "undo": lambda self, machine, task: Answer("undone"),
    }
    whole, partial = (type("Made", (Method,), {name: function for name, function in every.items() if name != left_out}) for left_out in ("", forgotten))
    # By itself a method finds nothing, and hands nothing over.
    assert (whole().find(None, None), whole().handover(None, None)) == ({}, {})
    with pytest.raises(TypeError, match=forgotten):
        partial()


def test_a_drain_whose_last_segment_was_drained_already_ends_with_it(vm, method):
    vm.drain(step(), complete=False)
    assert vm.drain(step()).state == "drained"
    assert vm.phases() == ["draining", "drained"] and vm.record()["verified_at"]


def test_an_approved_drain_keeps_its_phase_and_a_failure_ends_it(vm, method):
    vm.drain(step())
    vm.records.write(EVENT, RecordChange(changes={"phase": "approved", "reason": "said before"}))
    vm.boot = "boot-2"
    assert vm.drain(step()).state == "drained"
    assert (vm.record()["phase"], vm.record()["reason"], vm.record()["attempts"]) == ("approved", "said before", 1)
    method.checks = [OSError("broken")]
    assert vm.drain(step()).state == "failed"
    assert vm.record()["phase"] == "failed"


@pytest.mark.parametrize("phase,attempts", [("draining", 1), ("drained", 1), ("approved", 1), ("started", 1), ("failed", 2), ("held", 2), ("gone", 2)])
def test_what_is_under_way_is_one_attempt_and_what_begins_again_another(vm, method, phase, attempts):
    vm.drain(step())
    vm.records.write(EVENT, RecordChange(changes={"phase": phase}))
    method.checks = [Answer("lost", "x")]
    vm.drain(step())
    assert vm.record()["attempts"] == attempts


def test_a_failure_of_an_earlier_method_keeps_the_later_ones_from_beginning(vm, method):
    method.checks = [OSError("broken")]
    assert vm.drain(step(identifier="a"), step(identifier="b")).state == "failed"
    assert [entry["id"] for entry in vm.record()["methods"]] == ["a"]


@pytest.mark.parametrize("error", [DaemonError("127.0.0.1:8008 does not answer"), NoAnswer("the client was ended after 10 s")])
def test_what_does_not_answer_in_the_middle_is_waited_for_and_nothing_is_put_back(vm, method, error):
    method.checks = ["draining", error, error, "drained"]
    for words in (None, str(error), str(error)):
        assert vm.drain(step())[:2] == ("draining", words)
        assert (vm.entry("1-scripted")["error"], "away" in vm.entry("1-scripted")["times"]) == (words, words is not None)
    assert vm.drain(step()).state == "drained" and vm.entry("1-scripted")["error"] is None and "away" not in vm.entry("1-scripted")["times"]
    assert method.calls.count("begin") == 1 and vm.phases() == ["draining", "drained"]
    method.checks = [error]
    outcome = vm.drain(step(), late=True, deadline=DEADLINE, verify=True)
    assert outcome[:2] == ("failed", f"Not drained before the deadline {DEADLINE}: {error}")


@pytest.mark.parametrize("again", ["lost", "boot"])
def test_what_does_not_answer_when_it_begins_again_is_waited_for_too(vm, method, again):
    def away(machine, task):
        raise DaemonError("127.0.0.1:8008 does not answer")

    method.checks = ["draining", *([Answer("lost", "x")] if again == "lost" else []), "drained"]
    vm.drain(step())
    method.on_begin, vm.boot = away, vm.boot if again == "lost" else "another"
    assert vm.drain(step())[:2] == ("draining", "1-scripted: not yet: 127.0.0.1:8008 does not answer")
    method.on_begin = lambda machine, task: None
    assert vm.drain(step()).state == "drained" and vm.record()["attempts"] == 1


def scripted(*answers):
    """Return a function that raises or returns each of these in turn."""
    left = list(answers)

    def act(_machine, _task):
        said = left.pop(0)
        if isinstance(said, Exception):
            raise said
        return said

    return act


@pytest.mark.parametrize("error", [DaemonError("127.0.0.1:8008 does not answer"), NoAnswer("the client was ended after 10 s")])
def test_what_does_not_answer_at_its_begin_is_waited_for_and_begun_again(vm, method, error):
    method.on_begin = scripted(error, None)
    # It has answered in this drain, so the question before the step is waited for, too.
    method.find = scripted({}, error, error, {})
    said = ("draining", f"1-scripted: not yet: {error}")
    for _observation in range(2):
        assert vm.drain(step(), deadline="2099-11-21T20:55:00Z")[:2] == said
    # Something may have been set: the VM counts as out, with no kind of blocker.
    entry = vm.entry("1-scripted")
    assert (entry["error"], entry["state"], vm.record()["blocker"], vm.record()["attempts"], vm.phases()) == (said[1], "found", None, 1, ["draining"])
    assert vm.drain(step(), late=True, deadline=DEADLINE)[:2] == ("failed", f"Not drained before the deadline {DEADLINE}: {said[1]}")
    method.find = scripted({})
    assert vm.drain(step()).state == "drained" and method.calls == ["begin", "begin", "check"]


def test_what_has_never_answered_is_refused(vm, method):
    method.find = scripted(NoAnswer("the client was ended after 10 s"))
    assert vm.drain(step())[:2] == ("failed", "1-scripted: the client was ended after 10 s")


def test_no_reason_is_said_to_be_none(vm, method):
    method.checks = ["draining"]
    assert vm.drain(step(), deadline=DEADLINE, late=True).error == f"Not drained before the deadline {DEADLINE}: no reason known"


def test_without_a_boot_id_nothing_counts_as_another_boot(vm, method):
    method.checks = ["draining", "draining"]
    vm.drain(step())
    vm.boot = None
    vm.drain(step())
    assert method.calls == ["find", "begin", "check", "check"]


def test_an_observation_of_what_is_drained_writes_once_however_many_methods_there_are(vm, method):
    steps = step(identifier="a"), step(identifier="b"), step(identifier="c")
    revision = vm.drain(*steps).record["revision"]
    assert vm.drain(*steps).record["revision"] == revision + 1


def test_methods_whose_names_do_not_come_in_the_order_of_the_alphabet_keep_their_own_entries(vm, method):
    method.checks = ["draining"]
    steps = step(identifier="b"), step(identifier="a")
    vm.drain(*steps)
    assert vm.drain(*steps).state == "drained"
    assert [(entry["id"], entry["state"]) for entry in vm.record()["methods"]] == [("b", "drained"), ("a", "drained")]
    assert method.calls == ["find", "begin", "check", "check", "find", "begin", "check"]


class Watched(Scripted):
    """It keeps what each of its functions is given."""

    def __init__(self):
        super().__init__()
        self.tasks = []

    def find(self, machine, task):
        self.tasks.append(("find", task))
        return super().find(machine, task)

    def begin(self, machine, task):
        self.tasks.append(("begin", task))
        super().begin(machine, task)

    def check(self, machine, task):
        self.tasks.append(("check", task))
        return super().check(machine, task)


@pytest.fixture
def watched(monkeypatch):
    method = Watched()
    monkeypatch.setitem(registry.METHODS, "scripted", method)
    return method


def test_each_function_is_given_the_event_and_how_far_the_method_is(vm, watched):
    given = {"names": ["a"], "more": 1}
    vm.drain(step(given=given, override={"more": 2}), deadline=DEADLINE, members={"web2": "vm_2"})
    assert [(name, task.state, task.finding, task.present) for name, task in watched.tasks] == [
        ("find", "new", {}, {}),
        ("begin", "found", {"was": "in"}, {"was": "in"}),
        ("check", "found", {"was": "in"}, {}),
    ]
    for name, task in watched.tasks:
        assert (task.options, task.resources, task.members) == ({"names": ["a"], "more": 2}, ["vm_0", "vm_1"], {"web2": "vm_2"})
        assert (task.environment["MAINTENANCE_EVENT_ID"], task.environment["MAINTENANCE_EVENT_DEADLINE"]) == (EVENT, DEADLINE)
        assert (task.since is None) is (name == "find")
    watched.tasks.clear()
    at = vm.entry("1-scripted")["at"]
    vm.drain(step(given=given, override={"more": 2}))
    assert [(name, task.state, task.since, task.environment["MAINTENANCE_EVENT_DEADLINE"]) for name, task in watched.tasks] == [("check", "drained", at, "")]


@pytest.mark.parametrize("where,found", [("own", {"a": 1, "b": 3}), ("controller", {"a": 2, "b": 3}), (None, {"a": 2, "b": 3})])
def test_the_options_of_the_record_count_on_the_vm_itself_and_an_override_everywhere(vm, watched, where, found):
    vm.drain(step(given={"a": 1, "b": 1}))
    watched.tasks.clear()
    vm.drain(step(given={"a": 2, "b": 2}, override={"b": 3}, where=where))
    assert [task.options for _name, task in watched.tasks] == [found]
    # What is undone begins with the options of the settings.
    vm.undo(step())
    watched.tasks.clear()
    vm.drain(step(given={"a": 2, "b": 2}, where=where))
    assert {name: task.options for name, task in watched.tasks} == dict.fromkeys(("find", "begin", "check"), {"a": 2, "b": 2})


def test_what_every_method_says_is_told(vm, method):
    method.checks = [Answer("drained", note="one."), Answer("drained"), Answer("draining", "wait")]
    outcome = vm.drain(step(identifier="a"), step(identifier="b"), step(identifier="c"))
    assert (outcome.state, outcome.error, outcome.warning) == ("draining", "wait", "one.")
    method.checks = [Answer("drained", note="one."), Answer("drained"), Answer("drained", note="three.")]
    assert vm.drain(step(identifier="a"), step(identifier="b"), step(identifier="c")).warning == "one. three."


def test_a_new_begin_takes_back_that_it_was_verified(vm, method):
    assert vm.drain(step(), rule={"name": "a"}, deadline=DEADLINE).record["verified_at"]
    seen = []
    method.checks = [Answer("lost", "x")]
    method.on_begin = lambda machine, task: seen.append({key: vm.record()[key] for key in ("verified_at", "phase", "reason", "rule", "deadline", "attempts")})
    assert vm.drain(step()).record["verified_at"]
    assert seen == [{"verified_at": None, "phase": "draining", "reason": None, "rule": None, "deadline": None, "attempts": 1}]


def test_the_first_failure_is_named_with_what_could_not_be_recorded(vm, method, monkeypatch):
    method.checks = [OSError("broken")]
    write = vm.files.write_exclusive
    writes = []

    def full(name, content):
        writes.append(name)
        if len(writes) > 1:
            raise OSError(28, "No space left on device")
        write(name, content)

    monkeypatch.setattr(vm.files, "write_exclusive", full)
    outcome = vm.drain(step())
    assert outcome.state == "failed" and outcome.error.startswith("1-scripted: broken; cannot write records to ") and "No space left" in outcome.error
    assert vm.entry("1-scripted")["state"] == "found"


@pytest.mark.parametrize("error,words", [
    (KeyError("x"), "KeyError: 'x'"), (TypeError("x"), "TypeError: x"), (ValueError("x"), "ValueError: x"), (ValueError(), "ValueError: "),
    (OSError("x"), "x"), (OSError(), "OSError"), (RuntimeError("x"), "x"), (RuntimeError(), "RuntimeError"),
])  # fmt: skip
def test_an_error_is_named_where_it_says_little(error, words):
    assert said(error) == words


@pytest.mark.parametrize("state,before,untouched", [
    ("new", None, True), ("new", {}, True), ("undone", {"a": 1}, True), ("failed", None, True), ("failed", {}, False), ("found", {"a": 1}, False),
    ("undoing", {}, False), ("begun", {}, False),
])  # fmt: skip
def test_a_method_is_untouched_before_it_has_found_anything_and_when_it_is_undone(state, before, untouched):
    record = {"methods": [{"id": "a", "state": "drained"}, {"id": "b", "state": state, "before": before, "options": None}]}
    entry = find_method(record, "b")
    assert (entry.untouched, entry.options) == (untouched, {})
    assert (find_method(record, "c"), find_method(None, "b")) == (Recorded("c", ""), Recorded("b", ""))


@pytest.mark.parametrize(
    "boot,entry_boot,begins",
    [("boot-2", "boot-1", True), ("boot-1", "boot-1", False), ("boot-2", None, True), ("boot-0", "boot-1", True), (None, "boot-1", False)],
)
def test_another_boot_is_any_other_than_the_one_it_began_in(vm, method, boot, entry_boot, begins):
    method.checks = ["draining", "draining"]
    vm.drain(step())
    vm.damage(lambda data: data["methods"][0].update(boot_id=entry_boot))
    vm.boot, method.calls[:] = boot, []
    vm.drain(step())
    assert method.calls == (["find", "begin", "check"] if begins else ["check"])


def test_what_is_lost_stops_for_its_copy_before_it_acts_outside_again(vm, method):
    where = {"outside": True, "where": "controller"}
    vm.drain(step(**where), stop_at_finding=True)
    vm.drain(step(**where))
    method.calls.clear()
    method.checks = ["lost"]
    outcome = vm.drain(step(identifier="0-scripted"), step(**where), stop_at_finding=True)
    assert (outcome.state, outcome.handover) == ("drained", {})
    method.checks = ["drained", "lost"]
    method.calls.clear()
    outcome = vm.drain(step(identifier="0-scripted"), step(**where), step(identifier="2-scripted"), stop_at_finding=True)
    assert (outcome.state, method.calls) == ("found", ["check", "check", "find"])


@pytest.mark.parametrize("state", ["drained", "draining"])
def test_why_a_vm_must_not_go_is_in_the_record_until_a_check_no_longer_says_so(vm, method, state):
    method.checks = [Answer(state, hold="2 of 3 votes are left: vm3 is down"), Answer(state)]
    outcome = vm.drain(step())
    assert (outcome.state, outcome.error) == (state, "2 of 3 votes are left: vm3 is down")
    record = vm.record()
    assert (record["phase"], record["blocker"]["kind"], record["reason"]) == (state, "needed", "1-scripted: 2 of 3 votes are left: vm3 is down")
    assert vm.drain(step(), verify=True).error is None
    assert (vm.record()["reason"], vm.record()["phase"]) == (None, state)
