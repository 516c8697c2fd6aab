# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method service on Windows, through the engine; the services are a stand-in."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.services import ServiceError, ServiceState
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import Killed, step


def raising(error):
    """Return a function that raises an error, whatever it is called with."""

    def fail(*_arguments):
        raise error

    return fail


class FakeServices:
    """In place of sc.exe and win_service_info: what a test sets, and the orders in order."""

    def __init__(self):
        self.present, self.orders, self.observations, self.slow = {}, [], 0, set()
        self.refuses = ""

    def set(self, **states):
        for name, state in states.items():
            self.present[name] = self.present.get(name, ServiceState(name, True, "", False, "auto"))._replace(state=state)

    def change(self, name, **values):
        self.present[name] = self.present[name]._replace(**values)

    def states(self, names):
        self.observations += len(names)
        if self.refuses == "states":
            raise ServiceError("cannot be asked for")
        return [self.present.get(name, ServiceState(name, False, "", False)) for name in names]

    def stop(self, names):
        self._order("stop", names)
        running = {name.lower() for name, one in self.present.items() if one.state == "started"}
        needed = [name for name in names if running & {other.lower() for other in self.present[name].needed_by}]
        self.set(**{name: "stop_pending" if name in self.slow else "stopped" for name in names if name not in needed})
        return needed

    def start(self, names):
        self._order("start", names)
        self.set(**{name: "start_pending" if name in self.slow else "started" for name in names if not self.present[name].exit_code})

    def pause(self, names):
        self._order("pause", names)
        self.set(**dict.fromkeys(names, "paused"))

    def _order(self, order, names):
        self.orders += [(order, name) for name in names]
        if self.refuses == order:
            raise ServiceError(f"sc.exe {order}: denied")


@pytest.fixture
def services():
    return FakeServices()


@pytest.fixture
def seams(services):
    return {"system": "windows", "services": services}


def service(*names):
    return step("service", given={"names": list(names)})


def test_what_runs_is_stopped_and_started_again_the_last_one_first(vm, services):
    services.set(A="started", B="started", Idle="stopped", Going="stop_pending")
    out = vm.drain(service("A", "B", "Idle", "Going"))
    assert (out.state, out.error) == ("draining", "still running: Going")
    assert vm.entry("1-service")["before"] == {"A": "started", "B": "started", "Idle": "stopped", "Going": "stop_pending"}
    services.set(Going="stopped")
    assert vm.drain(service("A", "B", "Idle", "Going")).state == "drained"
    services.orders.clear()
    assert vm.undo(service()).state == "undone"
    assert services.orders == [("start", "B"), ("start", "A")]


def test_no_more_observations_than_it_needs(vm, services):
    services.set(A="started", Idle="stopped")
    vm.drain(service("A", "Idle"))
    assert services.observations == 4  # found, checked
    services.observations = 0
    vm.undo(service())
    assert services.observations == 2  # A alone, before and after


def test_what_was_found_first_stays_and_what_was_started_again_is_stopped_again(vm, services):
    services.set(A="started")
    vm.drain(service("A"))
    services.set(A="started")
    assert vm.drain(service("A"), verify=True).state == "drained"
    assert services.orders == [("stop", "A"), ("stop", "A")]
    services.set(A="started")
    services.slow.add("A")
    out = vm.drain(service("A"), verify=True)
    assert (out.state, out.error) == ("draining", "still running: A")


def test_what_is_refused(vm, services):
    out = vm.drain(service("Gone", "Display name"))
    assert out.state == "failed" and out.error.startswith("1-service: The option names holds Gone, Display name, which Windows does not know on this VM.")
    services.set(A="started")
    services.change("A", start_mode="disabled")
    assert vm.drain(service("A")).error == "1-service: Disabled, and running: A. Windows would not start it again; set its start mode to manual."
    services.set(A="stopped")
    assert vm.drain(service("A")).state == "drained"
    assert services.orders == []


def test_one_that_is_needed_by_another_that_is_not_listed(vm, services):
    services.set(Back="started", Front="started")
    services.change("Back", needed_by=["Front"])
    out = vm.drain(service("Back"))
    assert out.error == "1-service: Back is needed by services that run. List before it in names those that may be stopped: front"


def test_one_that_is_needed_by_another_behind_it_in_the_list_stops_in_the_next_begin(vm, services):
    services.set(Back="started", Front="started")
    services.change("Back", needed_by=["FRONT"])
    assert vm.drain(service("Back", "Front")).state == "drained"
    assert services.orders == [("stop", "Back"), ("stop", "Front"), ("stop", "Back")]


@pytest.mark.parametrize("refuses", ["states", "stop"])
def test_windows_that_does_not_answer_is_a_failure(vm, services, refuses):
    services.set(A="started")
    services.refuses = refuses
    out = vm.drain(service("A"))
    assert out.state == "failed" and out.error.startswith("1-service: ")


def test_one_that_was_paused_is_paused_again(vm, services):
    services.set(A="paused", B="started")
    assert vm.drain(service("A", "B")).state == "drained"
    services.orders.clear()
    assert vm.undo(service()).state == "undone"
    assert services.orders == [("start", "B"), ("start", "A"), ("pause", "A")] and services.present["A"].state == "paused"


def test_one_that_does_not_start_fails_this_attempt_and_is_started_in_the_next(vm, services):
    services.set(A="started")
    vm.drain(service("A"))
    services.change("A", exit_code=1067)
    assert vm.undo(service()).state == "undoing"
    out = vm.undo(service())
    assert (out.state, out.error) == ("failed", "cannot be started, see the System event log: A")
    services.orders.clear()
    vm.undo(service())
    assert services.orders == [("start", "A")]


def test_one_that_nobody_has_tried_since_the_boot_is_not_broken(vm, services):
    services.set(A="started")
    vm.drain(service("A"))
    services.change("A", exit_code=1077)
    vm.undo(service())
    out = vm.undo(service())
    assert (out.state, out.error) == ("undoing", "not yet running: A")


def test_one_that_was_deleted_meanwhile_does_not_hold_up_the_undo(vm, services):
    services.set(A="started", B="started")
    vm.drain(service("A", "B"))
    del services.present["A"]
    assert vm.undo(service()).state == "undone" and services.orders[-1] == ("start", "B")


def test_killed_before_the_order_it_is_given_by_the_next_observation(vm, services, monkeypatch):
    services.set(A="started")
    with monkeypatch.context() as patch:
        patch.setattr(services, "stop", raising(Killed))
        with pytest.raises(Killed):
            vm.drain(service("A"))
    assert vm.entry("1-service")["state"] == "found"
    assert vm.drain(service("A")).state == "drained" and vm.entry("1-service")["before"] == {"A": "started"}


class SessionLost(Exception):
    """The VM cannot be reached any more."""


@pytest.mark.parametrize("order", ["stop", "start"])
def test_a_session_that_is_lost_is_no_failure_of_the_method(vm, services, monkeypatch, order):
    vm.machine = vm.machine._replace(is_lost=lambda error: isinstance(error, SessionLost))
    services.set(A="started")
    runs = vm.drain if order == "stop" else vm.undo
    if order == "start":
        vm.drain(service("A"))
    with monkeypatch.context() as patch:
        patch.setattr(services, order, raising(SessionLost))
        with pytest.raises(SessionLost):
            runs(service("A"))
    assert vm.record()["phase"] != "failed"
    assert runs(service("A")).state in ("drained", "undone")


@pytest.mark.parametrize("code,state", [(0, "undone"), (1077, "undone"), (1, "failed"), (1076, "failed"), (1078, "failed")])
def test_one_that_stands_still_is_broken_only_with_an_error_of_its_own(vm, services, code, state):
    services.set(A="started", B="started")
    vm.drain(service("A", "B"))
    services.slow = {"A", "B"}
    assert vm.undo(service("A", "B")).state == "undoing"
    services.slow = set()
    services.set(A="stopped", B="started")
    services.change("A", exit_code=code)
    start, asked = services.start, []
    services.start = lambda names: asked.append(list(names)) or services.set(**dict.fromkeys(names, "started"))
    assert vm.undo(service("A", "B")).state == state
    assert asked == ([["A"]] if state == "undone" else [])
    services.start = start


def test_one_that_starts_is_waited_for_whatever_it_ended_with_before(vm, services):
    services.set(A="started")
    vm.drain(service("A"))
    services.slow = {"A"}
    vm.undo(service("A"))
    services.set(A="start_pending")
    services.change("A", exit_code=1067)
    assert vm.undo(service("A"))[:2] == ("undoing", "not yet running: A")
