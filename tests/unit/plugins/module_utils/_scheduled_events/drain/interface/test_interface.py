# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a method may use and say, each by a class of one file that needs it."""

from __future__ import annotations

import http.server
import json
import threading

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain import registry
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import (
    Answer,
    Event,
    MethodError,
    NotYet,
    Task,
    event_id_in,
    reason_of,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.tasks import event_of
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.daemons import LocalDaemons
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_changes import RecordChange
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.interface.asking import AskingMethod
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.interface.outside import OutsideMethod
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.interface.waiting import WaitingMethod
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import ABOUT, Killed, Scripted, Vm, step
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import EVENT

NOW, DEADLINE, EARLY, LATE = "2026-11-21T20:00:00Z", "2026-11-21T20:55:00Z", "2026-11-21T20:53:59Z", "2026-11-21T20:54:00Z"
WAITS = "1-waiting: not yet: db2 has not handed over"
FAILED = f"1-waiting: not begun before the deadline {DEADLINE}: db2 has not handed over"


@pytest.fixture
def vm(tmp_path):
    found = Vm(tmp_path)
    found.clock = NOW
    found.machine = found.machine._replace(now=lambda: found.clock, daemons=LocalDaemons)
    return found


def registered(monkeypatch, one):
    monkeypatch.setitem(registry.METHODS, one.name, one)
    return one


@pytest.fixture
def waiting(monkeypatch):
    return registered(monkeypatch, WaitingMethod())


@pytest.fixture
def scripted(monkeypatch):
    return registered(monkeypatch, Scripted())


# --- NotYet ---------------------------------------------------------------------------------------------------------------


def test_not_yet_is_a_drain_that_goes_on_and_uses_no_attempt(vm, waiting):
    revisions = []
    for _number in range(3):
        outcome = vm.drain(step("waiting"), deadline=DEADLINE, rule={"name": "all"})
        assert (outcome.state, outcome.error) == ("draining", WAITS)
        revisions.append(vm.record()["revision"])
    record = vm.record()
    assert (vm.phases(), record["reason"], record["attempts"], record["methods"], record["deadline"]) == (["draining"], WAITS, 0, [], DEADLINE)
    assert record["rule"] == {"name": "all"} and len(set(revisions)) == 1
    waiting.ready = lambda task: True
    assert vm.drain(step("waiting"), deadline=DEADLINE).state == "drained"
    assert (vm.phases(), vm.record()["reason"], vm.record()["attempts"]) == (["draining", "drained"], None, 1)


def test_it_ends_when_only_what_the_method_needs_is_left(vm, waiting):
    vm.clock = EARLY
    assert vm.drain(step("waiting"), deadline=DEADLINE).state == "draining"
    assert not waiting.tasks[-1].must_begin
    vm.clock = LATE
    outcome = vm.drain(step("waiting"), deadline=DEADLINE)
    assert (outcome.state, outcome.error, vm.phases(), vm.record()["attempts"]) == ("failed", FAILED, ["draining", "failed"], 1)
    assert waiting.tasks[-1].must_begin


def test_it_begins_when_it_must_if_it_can(vm, waiting):
    waiting.ready = lambda task: task.must_begin
    vm.clock = EARLY
    assert vm.drain(step("waiting"), deadline=DEADLINE).state == "draining"
    vm.clock = LATE
    assert vm.drain(step("waiting"), deadline=DEADLINE).state == "drained"


@pytest.mark.parametrize("keys", [{"deadline": DEADLINE, "late": True}, {"event": {**ABOUT, "not_before": None}}, {"deadline": "soon"}])
def test_without_a_time_that_is_known_nothing_waits(vm, waiting, keys):
    assert vm.drain(step("waiting"), **keys).state == "failed"


def test_without_a_deadline_notbefore_counts(vm, waiting):
    assert vm.drain(step("waiting")).state == "draining"
    vm.clock = "2026-11-21T20:59:01Z"
    assert vm.drain(step("waiting")).state == "failed"


@pytest.mark.parametrize("needs,calls", [(10.0, 1), (4000.0, 2)])
def test_a_call_may_need_less_or_more_than_its_class(vm, monkeypatch, needs, calls):
    found = []

    class Own(WaitingMethod):
        def find(self, machine, task):
            found.append(task.must_begin)
            raise NotYet("busy", needs)

    monkeypatch.setitem(registry.METHODS, "waiting", Own())
    vm.clock = LATE if needs < 60 else NOW
    assert vm.drain(step("waiting"), deadline=DEADLINE).state == ("draining" if needs < 60 else "failed")
    # One that is told only now that there is no time may still begin.
    assert found == ([True] if needs < 60 else [False, True]) and len(found) == calls


def test_the_next_methods_wait_and_those_before_it_stay_drained(vm, waiting, scripted):
    steps = step(identifier="a"), step("waiting"), step(identifier="c")
    for _number in range(2):
        assert vm.drain(*steps, deadline=DEADLINE).state == "draining"
    assert scripted.calls == ["find", "begin", "check", "check"] and [one["id"] for one in vm.record()["methods"]] == ["a"]
    assert (vm.record()["attempts"], vm.record()["reason"]) == (1, WAITS)
    waiting.ready = lambda task: True
    assert vm.drain(*steps, deadline=DEADLINE).state == "drained"
    assert (vm.record()["attempts"], vm.record()["reason"]) == (1, None)


def test_at_once_the_others_begin_and_the_failure_of_one_is_told_first(vm, waiting, scripted):
    assert vm.drain(step("waiting"), step(), at_once=True).state == "draining"
    assert (vm.entry("1-scripted")["state"], vm.record()["reason"], vm.phases()) == ("drained", WAITS, ["draining"])
    scripted.checks = [OSError("broken")]
    outcome = vm.drain(step("waiting"), step(), at_once=True)
    assert (outcome.state, outcome.error, vm.record()["phase"]) == ("failed", "1-scripted: broken", "failed")


def test_each_failure_counts_however_long_the_attempts_wait(vm, waiting):
    for number in range(1, 4):
        vm.clock = EARLY
        assert vm.drain(step("waiting"), deadline=DEADLINE).state == "draining"
        vm.clock = LATE
        assert vm.drain(step("waiting"), deadline=DEADLINE).state == "failed"
        assert (vm.record()["attempts"], vm.phases()) == (number, ["draining", "failed"] * number)


@pytest.mark.parametrize("phase", ["approved", "started"])
def test_after_a_boot_in_an_event_it_waits_as_long_as_the_event(vm, waiting, phase):
    waiting.ready = lambda task: True
    vm.drain(step("waiting"), deadline=DEADLINE)
    vm.records.write(EVENT, RecordChange(changes={"phase": phase}))
    vm.boot, vm.clock, waiting.ready = "boot-2", "2026-11-21T22:00:00Z", lambda task: False
    waiting.check = lambda machine, task: Answer("lost")
    assert vm.drain(step("waiting"), deadline=DEADLINE, late=True).state == "draining"
    assert (vm.record()["phase"], vm.entry("1-waiting")["state"]) == (phase, "drained")


def test_begin_may_wait_too_and_what_was_found_stays(vm, scripted):
    def not_yet(_machine, _task):
        raise NotYet("an election is under way")

    scripted.on_begin = not_yet
    for number in range(2):
        scripted.finding = {"was": number}
        assert vm.drain(step(), deadline=DEADLINE).error == "1-scripted: not yet: an election is under way"
    assert (vm.entry("1-scripted")["state"], vm.entry("1-scripted")["before"], vm.record()["attempts"]) == ("found", {"was": 0}, 1)
    scripted.on_begin = lambda machine, task: None
    assert vm.drain(step(), deadline=DEADLINE).state == "drained"
    assert (vm.record()["reason"], vm.record()["attempts"]) == (None, 1)


def test_killed_before_it_is_recorded_it_waits_again(vm, waiting, monkeypatch):
    def killed(*_arguments):
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(vm.files, "link", killed)
        vm.drain(step("waiting"), deadline=DEADLINE)
    assert vm.record() is None
    assert vm.drain(step("waiting"), deadline=DEADLINE).state == "draining"


def test_an_event_that_is_gone_while_a_method_waits_leaves_nothing_to_undo(vm, waiting):
    vm.drain(step("waiting"), deadline=DEADLINE)
    assert vm.undo().state == "undone"
    assert (vm.record()["phase"], vm.record()["undone"], waiting.tasks[1:]) == ("recovering", True, [])


def test_a_lost_lease_ends_it(vm, waiting):
    vm.take_lease()
    vm.lose_lease()
    assert vm.drain(step("waiting"), deadline=DEADLINE).state == "failed"
    assert vm.record() is None


def test_an_undo_may_wait_too(vm, scripted):
    vm.drain(step())
    scripted.undos = [NotYet("the rest is not in step"), "undone"]
    outcome = vm.undo(step())
    assert (outcome.state, outcome.error) == ("undoing", "not yet: the rest is not in step")
    assert vm.undo(step()).state == "undone"


# --- A daemon of the VM ---------------------------------------------------------------------------------------------------


@pytest.fixture
def daemon():
    """A daemon that leads until it is asked to hand over; what it was asked stands in ``asked``."""

    class Handler(http.server.BaseHTTPRequestHandler):
        leads, asked = True, []

        def do_GET(self):
            self.answer(200, {"leads": type(self).leads})

        def do_POST(self):
            self.asked.append((json.loads(self.rfile.read(int(self.headers["Content-Length"]))), self.headers["Authorization"]))
            type(self).leads = False
            self.answer(200, {})

        def answer(self, status, body):
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_given):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as found:
        thread = threading.Thread(target=found.serve_forever, daemon=True)
        thread.start()
        Handler.url = f"http://127.0.0.1:{found.server_port}"
        yield Handler
        found.shutdown()
        thread.join(5)


def test_a_method_asks_a_daemon_to_hand_over_to_a_member_that_is_not_hit(vm, daemon, monkeypatch, tmp_path):
    registered(monkeypatch, AskingMethod())
    password = tmp_path / "password"
    password.write_text("x\n")
    password.chmod(0o600)
    given = {"url": daemon.url, "password_file": str(password), "members": {"a": "db1", "b": "db2", "c": "db3", "d": "db4"}}
    members = {"db1": "vm_0", "db2": "VM_1", "db4": "vm_4"}
    assert vm.drain(step("asking", given=given), members=members).state == "drained"
    assert vm.entry("1-asking")["before"] == {"leads": True, "to": "d"}
    assert daemon.asked == [({"candidate": "d", "reason": f"maintenance.azure {EVENT}"}, "Basic Ong=")]


def test_it_refuses_where_no_member_is_left(vm, daemon, monkeypatch):
    registered(monkeypatch, AskingMethod())
    outcome = vm.drain(step("asking", given={"url": daemon.url, "members": {"b": "db2", "c": "db3"}}), members={"db2": "vm_1"})
    assert outcome.error == "1-asking: b: its VM vm_1 is hit by the same event; c: the name of db3 in Azure is not known"
    assert daemon.asked == []


def test_only_the_settings_name_another_address(vm, monkeypatch):
    registered(monkeypatch, AskingMethod())
    given = {"url": "http://192.0.2.7:1", "members": {"b": "db2"}}
    assert "not asked" in vm.drain(step("asking", given=given), members={"db2": "x"}).error
    tried = []

    def refuse(address, timeout):
        tried.append(address)
        raise OSError("no route")

    monkeypatch.setattr("socket.create_connection", refuse)
    assert "no route" in vm.drain(step("asking", given=given, addresses=["http://192.0.2.7:1"]), members={"db2": "x"}).error
    assert tried == [("192.0.2.7", 1)]


def test_on_windows_it_is_refused_by_name(vm):
    with pytest.raises(MethodError, match="method asking talks to a daemon of its VM, which is not supported on Windows hosts"):
        AskingMethod().daemons(vm.machine._replace(daemons=None))


# --- Outside the VM -------------------------------------------------------------------------------------------------------


def test_what_is_outside_stops_for_a_copy_of_its_record_because_its_class_says_so(vm, monkeypatch):
    method = registered(monkeypatch, OutsideMethod())
    assert vm.drain(step("outside_node", where="controller"), stop_at_finding=True).state == "found"
    assert (method.nodes, vm.entry("1-outside_node")["outside"]) == ({}, True)
    assert vm.drain(step("outside_node", where="controller")).state == "drained"
    assert method.nodes == {"vm_0": f"maintenance.azure {EVENT}"}
    assert vm.undo(step("outside_node", where="controller")).state == "undone"
    assert method.nodes == {}


def test_another_ones_reason_stays(vm, monkeypatch):
    method = registered(monkeypatch, OutsideMethod())
    method.nodes["vm_0"] = "bad disk"
    vm.drain(step("outside_node"))
    vm.undo(step("outside_node"))
    assert method.nodes == {"vm_0": "bad disk"}


def test_the_watcher_takes_what_is_outside_only_if_its_class_is_safe_there(monkeypatch):
    one = registered(monkeypatch, OutsideMethod())
    assert registry.is_safe_at_once(one.name, True) and registry.is_safe_at_once(one.name, False)
    one.safe_at_once = False
    assert not registry.is_safe_at_once(one.name, True) and not registry.is_safe_at_once(one.name, False)
    assert registry.is_safe_at_once("none", False) and not registry.is_safe_at_once("none", True) and not registry.is_safe_at_once("haproxy", False)


# --- The task -------------------------------------------------------------------------------------------------------------


def test_a_task_has_the_event_and_the_time_for_the_undo_too(vm, scripted):
    seen = []
    scripted.on_begin = lambda machine, task: seen.append(task)
    about = {**ABOUT, "event_source": "Platform", "duration_in_seconds": 9}
    vm.drain(step(), event=about, deadline=DEADLINE, members={"db2": "vm_2"})
    vm.clock = "2026-11-21T21:00:01Z"
    vm.undo(step(), event=about, members={"db2": "vm_2"})
    begun, undone = seen[0], scripted.undone_with
    for task in (begun, undone):
        assert task.event == Event(EVENT, "Reboot", "Scheduled", "2026-11-21T21:00:00Z", 9, "Platform")
        assert (task.deadline, task.resources, task.members, task.reason) == (DEADLINE, ["vm_0", "vm_1"], {"db2": "vm_2"}, f"maintenance.azure {EVENT}")
    assert (round(begun.seconds_left), undone.seconds_left, begun.present, undone.present) == (3600, 0, {"was": "in"}, {})
    assert (begun.environment["MAINTENANCE_SECONDS_LEFT"][:2], undone.environment["MAINTENANCE_SECONDS_LEFT"]) == ("35", "0")


def test_a_method_may_look_before_its_undo(vm, scripted, monkeypatch):
    vm.drain(step())
    monkeypatch.setattr(Scripted, "finds_for_undo", True)
    scripted.finding = {"was": "out"}
    vm.undo(step())
    assert (scripted.undone_with.present, scripted.undone_with.finding) == ({"was": "out"}, {"was": "in"})


@pytest.mark.parametrize("given,duration", [(None, None), (-1, None), (0, 0), (9, 9), ("9", None), (True, None), (1.5, None)])
def test_an_unknown_duration_is_none(given, duration):
    assert event_of({"event_id": "a", "duration_in_seconds": given}).duration == duration


def test_what_azure_does_not_say_is_none():
    assert event_of({}) == event_of({"event_type": "", "not_before": None}) == Event()


def test_a_reason_is_made_and_found_again():
    assert event_id_in(reason_of(EVENT)) == event_id_in(f"{reason_of(EVENT)} [root@2026-11-26T11:40:53]") == EVENT
    for other in ("", "bad disk", "maintenance.azure", "maintenance.azure ", "maintenance.azure a;b", f"x maintenance.azure {EVENT}"):
        assert event_id_in(other) is None
    for wrong in ("", "a b", "a;rm", "x" * 65, "a\n"):
        with pytest.raises(ValueError, match="unusual form"):
            reason_of(wrong)
    with pytest.raises(ValueError, match="unusual form"):
        _reason = Task({}, {}, "new", None, {}, event=Event("$(x)")).reason
