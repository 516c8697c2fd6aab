# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The contract of every method: what the VM refuses is the error of what was reached, its message is short, and a call is one short thing."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import LONGEST_MESSAGE, MethodError, Task
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.registry import defaults, methods_of
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.commands import CommandResult
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.flag_files import FlagFileError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.machine import Machine
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.services import ServiceError, ServiceState

SYSTEMS = ["linux", "windows"]


class Refusing:
    """In place of services or flag files: what a test lets them answer; every other call is refused."""

    def __init__(self, error, **answers):
        self.error, self.answers, self.calls = error, answers, []

    def __getattr__(self, name):
        def call(*arguments):
            self.calls.append(name)
            if name not in self.answers:
                raise self.error
            return self.answers[name](*arguments)

        return call


class Commands:
    """In place of an operator's programs: one result, and what was asked for."""

    def __init__(self, code=0, output="", errors=""):
        self.result, self.asked = CommandResult(code, output, errors), []

    def run(self, line, environment, seconds):
        self.asked.append((line, dict(environment), seconds))
        return self.result


def machine(system="linux", **seams):
    seams = {"commands": None, "services": None, "flag_files": None, "connections": None, **seams}
    return Machine(now=lambda: "2026-11-21T20:00:00Z", system=system, **seams)


def task(name, system="linux", finding=None, state="found", present=None, **options):
    return Task({**defaults(name, system), **options}, finding or {}, state, "2026-11-21T20:00:00Z", {"MAINTENANCE_EVENT_ID": "E"}, present=present or {})


def states(*states_of_services):
    return lambda names: [ServiceState(name, True, state, False, "auto", 0, ()) for name, state in zip(names, states_of_services)]


@pytest.mark.parametrize("system,up,down", [("linux", "active", "inactive"), ("windows", "started", "stopped")])
@pytest.mark.parametrize("stage", ["find", "begin", "check", "undo"])
def test_services_that_refuse_say_why(system, up, down, stage):
    services = Refusing(ServiceError("denied"), **({"states": states(down)} if stage == "undo" else {}))
    one = task("service", system, {"a": up}, present={"a": up}, names=["a"])
    with pytest.raises(ServiceError, match="^denied$"):
        getattr(methods_of(system)["service"], stage)(machine(system, services=services), one)


def test_a_service_that_cannot_be_paused_again_says_why():
    services = Refusing(ServiceError("denied"), states=states("started"))
    with pytest.raises(ServiceError, match="^denied$"):
        methods_of("windows")["service"].undo(machine("windows", services=services), task("service", "windows", {"a": "paused"}, "undoing", names=["a"]))


@pytest.mark.parametrize("means,kind", [("in", "file"), ("in", "link"), ("out", "absent")])
@pytest.mark.parametrize("stage", ["find", "undo"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_flag_file_that_cannot_be_used_says_why(system, stage, means, kind):
    files = Refusing(FlagFileError("is a directory"))
    one = task("probe_file", finding={"kind": kind}, path="/p", present_means=means)
    with pytest.raises(FlagFileError, match="^is a directory$"):
        getattr(methods_of(system)["probe_file"], stage)(machine(system, flag_files=files), one)


@pytest.mark.parametrize(
    "means,kind,begins,undoes",
    [
        ("in", "file", ["set_aside"], ["restore"]),
        ("in", "link", ["set_aside"], ["restore"]),
        ("in", "absent", [], []),
        ("out", "absent", ["create"], ["remove"]),
        ("out", "file", [], []),
        ("out", "link", [], []),
    ],
)
def test_a_flag_file_is_moved_only_out_of_the_position_it_was_in(means, kind, begins, undoes):
    method, asked = methods_of("linux")["probe_file"], []
    files = Refusing(FlagFileError("?"))
    for name in ("set_aside", "create", "restore", "remove"):
        files.answers[name] = lambda *arguments: asked.append(arguments)
    finding = {"kind": kind, "mode": 644}
    one = task("probe_file", finding=finding, present={"kind": kind}, path="/p", present_means=means, mode=644)
    method.begin(machine(flag_files=files), one)
    assert (files.calls, asked) == (begins, [("/p", "644") if call == "create" else ("/p",) for call in begins])
    files.calls.clear()
    asked.clear()
    assert method.undo(machine(flag_files=files), one) == ("undone", None, None, None)
    assert (files.calls, asked) == (undoes, [("/p", {"kind": kind, "mode": "644"}) if call == "restore" else ("/p",) for call in undoes])


@pytest.mark.parametrize(
    "interval,threshold,state,waits", [(5, 2, "begun", 11), (5, 2, "drained", 0), (0, 2, "begun", 0), (5, 0, "begun", 0), (1, 1, "begun", 2)]
)
def test_what_the_load_balancer_needs_is_waited_for_once(interval, threshold, state, waits):
    files = Refusing(FlagFileError("?"), exists=lambda path: False)
    one = task("probe_file", state=state, path="/p", interval=interval, threshold=threshold)
    answer = methods_of("linux")["probe_file"].check(machine(flag_files=files), one)
    words = f"the load balancer may not have noticed yet, {waits} s to wait"
    assert answer == (("draining", words, None, None) if waits else ("drained", None, None, None))


@pytest.mark.parametrize("means,exists,lost", [("in", True, True), ("in", False, False), ("out", False, True), ("out", True, False)])
def test_a_flag_file_in_the_position_of_service_is_lost(means, exists, lost):
    files = Refusing(FlagFileError("?"), exists=lambda path: exists)
    answer = methods_of("linux")["probe_file"].check(machine(flag_files=files), task("probe_file", path="/p", present_means=means, interval=0))
    assert answer == (("lost", "/p says again that the VM is in service", None, None) if lost else ("drained", None, None, None))


@pytest.mark.parametrize("busy,state", [(0, "drained"), (1, "draining"), (7, "draining")])
def test_connections_are_counted_on_all_ports_at_once(busy, state):
    asked = []
    connections = Refusing(OSError("?"), count=lambda ports: asked.append(ports) or busy)
    seams = {"flag_files": Refusing(FlagFileError("?"), exists=lambda path: False), "connections": connections}
    answer = methods_of("linux")["probe_file"].check(machine(**seams), task("probe_file", path="/p", interval=0, ports=["443", 80]))
    assert (answer.state, asked) == (state, [[443, 80]])
    assert answer.error == (f"{busy} connection(s) open on port(s) 443, 80" if busy else None)


@pytest.mark.parametrize(
    "state,code,expected", [("begun", 0, "drained"), ("begun", 75, "draining"), ("found", 75, "draining"), ("drained", 75, "lost"), ("drained", 0, "drained")]
)
def test_a_check_that_is_not_there_yet_is_lost_only_after_it_was(state, code, expected):
    commands = Commands(code, "one\ntwo left\n\n")
    answer = methods_of("linux")["command"].check(machine(commands=commands), task("command", state=state, begin="b", check="c", undo="u"))
    assert answer == (expected, None if expected == "drained" else "two left", None, None)
    assert commands.asked == [("c", {"MAINTENANCE_EVENT_ID": "E"}, 10)]


@pytest.mark.parametrize("stage", ["begin", "check", "undo"])
@pytest.mark.parametrize("code", [1, 2, 74, 76, 124, 127, 255, -9])
def test_any_other_exit_code_is_a_method_error_with_the_end_of_what_it_said(stage, code):
    one = task("command", begin="b", check="c", undo="u")
    for errors, words in (("", ""), ("  \n", ""), ("no such host\n", ": no such host"), ("a" + "b" * 400 + " ", ": " + "b" * 400)):
        with pytest.raises(MethodError) as caught:
            getattr(methods_of("linux")["command"], stage)(machine(commands=Commands(code, "output", errors)), one)
        how = "reached a timeout (exit code 124; option timeout is 10 s)" if code == 124 else f"ended with exit code {code}"
        assert str(caught.value) == f"{stage} {how}{words}"


def test_a_begin_that_is_not_there_yet_has_failed():
    with pytest.raises(MethodError, match="^begin ended with exit code 75$"):
        methods_of("linux")["command"].begin(machine(commands=Commands(75)), task("command", begin="b", check="c", undo="u"))


LONG = ["x" * 1000]
WRONG = [
    ("service", "linux", "find", {"names": "x" * 1000}),
    ("service", "windows", "find", {"names": {"x" * 1000: 1}}),
    ("probe_file", "linux", "begin", {"path": "/p", "present_means": LONG}),
    ("probe_file", "linux", "undo", {"path": "x" * 1000}),
    ("command", "linux", "begin", {"begin": {"x" * 1000: 1}, "check": "c", "undo": "u"}),
]


@pytest.mark.parametrize("name,system,stage,options", WRONG)
def test_a_message_about_a_damaged_option_keeps_to_its_length(name, system, stage, options):
    with pytest.raises(MethodError) as caught:
        getattr(methods_of(system)[name], stage)(machine(system, services=Refusing(ServiceError("unused"))), task(name, system, **options))
    assert len(str(caught.value)) == LONGEST_MESSAGE == 400


@pytest.mark.parametrize("known,state,expected", [
    ({"kind": "file"}, "new", {}), ({"kind": "file"}, "undone", {}), ({"kind": "file"}, "found", {"kind": "file"}),
    ({"kind": "file"}, "drained", {"kind": "file"}),
])  # fmt: skip
def test_before_a_drain_has_begun_nothing_is_known_of_it(known, state, expected):
    assert task("none", finding=known, state=state).known == expected


def test_none_says_drained_and_undone_at_once():
    for system in SYSTEMS:
        method = methods_of(system)["none"]
        assert (method.find(machine(system), task("none")), method.handover(machine(system), task("none"))) == ({}, {})
        assert method.begin(machine(system), task("none")) is None
        assert (method.check(machine(system), task("none")), method.undo(machine(system), task("none"))) == (
            ("drained", None, None, None),
            ("undone", None, None, None),
        )
