# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method service, over a stand-in for systemd: exactly what ran before runs again."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.service import RAN
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.windows.windows_service import PAUSED, UP
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.registry import METHODS, WINDOWS_METHODS
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import Killed, step

NAMES = ["a", "b"]
SERVICE = step("service", given={"names": NAMES})


def test_what_ran_is_stopped_and_started_again_and_nothing_else(vm):
    vm.services.present.update(a="active", b="inactive", c="active")
    assert vm.drain(SERVICE).state == "drained"
    assert vm.entry("1-service")["before"] == {"a": "active", "b": "inactive"}
    assert vm.undo(SERVICE).state == "undone"
    assert vm.services.present == {"a": "active", "b": "inactive", "c": "active"}
    assert vm.services.calls == [("stop", NAMES), ("start", ["a"])]


@pytest.mark.parametrize(
    "state,comes_back",
    [("active", True), ("activating", True), ("reloading", True), ("refreshing", True), ("failed", False), ("inactive", False), ("deactivating", False)],
)
def test_what_counts_as_having_run(vm, state, comes_back):
    vm.services.present["a"] = state
    vm.drain(step("service", given={"names": ["a"]}))
    assert vm.undo(step("service")).state == "undone"
    assert (vm.services.present["a"] == "active") is comes_back


def test_what_is_about_to_start_counts_as_having_run(vm):
    vm.services.present.update(a="inactive", b="inactive")
    vm.services.jobs.add("a")
    vm.drain(SERVICE)
    assert vm.entry("1-service")["before"] == {"a": "activating", "b": "inactive"}
    assert vm.services.calls[0] == ("stop", NAMES)
    vm.services.jobs.clear()
    assert vm.drain(SERVICE).state == "drained"
    assert vm.undo(SERVICE).state == "undone"
    assert vm.services.present == {"a": "active", "b": "inactive"}


def test_a_service_that_the_vm_does_not_have_is_named_before_anything_is_stopped(vm):
    vm.services.present["a"] = "active"
    outcome = vm.drain(SERVICE)
    assert outcome.state == "failed" and "holds b, which systemd does not know" in outcome.error
    assert (vm.services.calls, vm.entry("1-service")["before"]) == ([], None)
    assert vm.undo(SERVICE).state == "undone" and vm.services.calls == []


def test_killed_after_the_stop_what_ran_is_still_known(vm, monkeypatch):
    vm.services.present.update(a="active", b="active")
    stop = vm.services.stop

    def stop_and_be_killed(names):
        stop(names)
        raise Killed

    monkeypatch.setattr(vm.services, "stop", stop_and_be_killed)
    with pytest.raises(Killed):
        vm.drain(SERVICE)
    monkeypatch.undo()
    assert vm.services.present == {"a": "inactive", "b": "inactive"}
    assert vm.drain(SERVICE).state == "drained"
    assert vm.entry("1-service")["before"] == {"a": "active", "b": "active"}
    assert vm.undo(SERVICE).state == "undone" and vm.services.present == {"a": "active", "b": "active"}


@pytest.mark.parametrize(
    "state,job,answer",
    [
        ("deactivating", False, "draining"),
        ("deactivating", True, "draining"),
        ("active", True, "draining"),
        ("active", False, "lost"),
        ("activating", False, "lost"),
        ("failed", False, "drained"),
        # Its start waits for others, as after a boot.
        ("inactive", True, "lost"),
        ("failed", True, "lost"),
    ],
)
def test_how_far_a_stop_is(vm, monkeypatch, state, job, answer):
    vm.services.present.update(a="active", b="active")
    monkeypatch.setattr(vm.services, "stop", lambda names: vm.services.calls.append(("stop", names)))
    vm.services.jobs.update(NAMES)
    assert vm.drain(SERVICE)[:2] == ("draining", "still running: a, b")
    vm.services.present.update(a=state, b="inactive")
    vm.services.jobs = {"a"} if job else set()
    vm.services.calls.clear()
    assert vm.drain(SERVICE).state == ("drained" if answer == "drained" else "draining")
    assert vm.services.calls == ([("stop", NAMES)] if answer == "lost" else [])


def test_systemd_that_cannot_be_asked_is_the_failure(vm):
    vm.services.refuses = "systemctl show ended with exit code 1"
    assert vm.drain(SERVICE)[:2] == ("failed", "1-service: systemctl show ended with exit code 1")


def test_one_that_cannot_be_started_fails_and_is_started_again_in_the_next_attempt(vm, monkeypatch):
    vm.services.present.update(a="active", b="active")
    vm.drain(SERVICE)
    started = []

    def start(names):
        started.append(list(names))
        vm.services.present.update(dict.fromkeys(names, "failed"))

    monkeypatch.setattr(vm.services, "start", start)
    outcome = vm.undo(SERVICE)
    assert outcome.state == "failed" and "cannot be started, see journalctl -u UNIT: a, b" in outcome.error
    monkeypatch.undo()
    assert vm.undo(SERVICE).state == "undone" and started == [NAMES]


def test_while_it_starts_it_is_undoing_and_not_started_twice(vm, monkeypatch):
    vm.services.present.update(a="active", b="inactive")
    vm.drain(SERVICE)

    def start(names):
        vm.services.calls.append(("start", names))
        vm.services.present.update(dict.fromkeys(names, "activating"))
        vm.services.jobs.update(names)

    monkeypatch.setattr(vm.services, "start", start)
    for _again in range(2):
        assert vm.undo(SERVICE)[:2] == ("undoing", "not yet running: a")
    assert vm.services.calls.count(("start", ["a"])) == 1
    vm.services.present["a"], vm.services.jobs = "failed", set()
    assert vm.undo(SERVICE).state == "failed"
    assert vm.services.calls.count(("start", ["a"])) == 1


def test_check_mode_says_what_would_be_stopped(vm):
    vm.services.present.update(a="active", b="inactive")
    assert vm.would(step("service", given={"names": ["a", "b"]}), step("service", "2-service", given={"names": ["b"]})) == [
        "would stop a",
        "nothing of it runs",
    ]
    assert vm.services.calls == []


@pytest.mark.parametrize("method,ran,down", [
    (METHODS["service"], RAN, ("inactive", "failed", "deactivating")), (WINDOWS_METHODS["service"], (*UP, *PAUSED), ("stopped", "stop_pending"))
], ids=("linux", "windows"))  # fmt: skip
def test_only_one_that_ran_proves_that_the_vm_is_out(method, ran, down):
    for state in down:
        assert method.doubt({"a": state, "b": state}, {}) == "a, b did not run: is names right? If so, set may_be_stopped: true"
        assert method.doubt({"a": state}, {"may_be_stopped": "true"}) is None
        assert method.doubt({"a": state, "b": ran[0]}, {}) == ""
    for state in ran:
        assert method.doubt({"a": state}, {}) == ""


def test_which_methods_cannot_tell_whether_the_vm_is_out():
    assert {name for methods in (METHODS, WINDOWS_METHODS) for name, method in methods.items() if method.doubt({}, {}) is None} == {
        "command",
        "none",
        "silence",
    }


def test_check_mode_says_that_nothing_of_it_runs(vm):
    vm.services.present.update(a="active", b="inactive")
    one, two = step("service", given={"names": ["a", "b"]}), step("service", "2-service", given={"names": ["b"]})
    assert vm.preview(one, two).doubts == ["", "b did not run: is names right? If so, set may_be_stopped: true"]
