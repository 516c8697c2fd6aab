# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A drain without time for an order: every method begins, whatever becomes of the others, and only all of them together are a drain."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain import registry
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import Killed, Scripted, step

NAMES = ("1-first", "2-second", "3-third")


@pytest.fixture
def methods(monkeypatch):
    found = [Scripted() for name in NAMES]
    for name, method in zip(NAMES, found):
        monkeypatch.setitem(registry.METHODS, name, method)
    return found


def drain(vm, **keys):
    return vm.drain(*(step(name, name) for name in NAMES), **{"at_once": True, **keys})


def states(vm):
    return [vm.entry(name)["state"] for name in NAMES]


def test_one_that_fails_to_begin_keeps_no_other_from_beginning(vm, methods):
    def refuse(machine, task):
        raise OSError("refused")

    methods[0].on_begin = refuse
    outcome = drain(vm)
    assert (outcome.state, outcome.error) == ("failed", "1-first: refused")
    assert [method.calls[:2] for method in methods] == [["find", "begin"]] * 3
    assert states(vm) == ["failed", "drained", "drained"]
    # The failure is what stays, although others were recorded in the same observation.
    assert (vm.record()["phase"], vm.record()["reason"]) == ("failed", "1-first: refused")


def test_one_that_is_not_drained_yet_keeps_no_other_from_beginning(vm, methods):
    methods[0].checks[:] = ["draining", "draining", "drained"]
    methods[2].checks[:] = ["draining", "drained", "drained"]
    assert [drain(vm).state for observation in range(3)] == ["draining", "draining", "drained"]
    assert [method.calls.count("begin") for method in methods] == [1, 1, 1]
    assert vm.phases() == ["draining", "drained"] and vm.record()["verified_at"]


@pytest.mark.parametrize("slow", range(3))
def test_drained_means_all_of_them(vm, methods, slow):
    methods[slow].checks[:] = ["draining"]
    assert drain(vm).state == "draining" and vm.phases() == ["draining"]
    assert drain(vm).state == "drained" and vm.phases() == ["draining", "drained"]


def test_drained_is_never_said_while_a_part_is_left_to_another(vm, methods):
    assert drain(vm, complete=False).state == "drained"
    assert (vm.phases(), vm.record()["verified_at"]) == (["draining"], None)


@pytest.mark.parametrize("killed", range(3))
def test_killed_while_one_begins_loses_no_finding(vm, methods, killed):
    def die(machine, task):
        raise Killed

    methods[killed].on_begin = die
    with pytest.raises(Killed):
        drain(vm)
    assert [vm.entry(name)["before"] for name in NAMES[: killed + 1]] == [{"was": "in"}] * (killed + 1)
    for method in methods:
        method.on_begin, method.finding = lambda machine, task: None, {"was": "changed by the drain"}
    assert drain(vm).state == "drained" and states(vm) == ["drained"] * 3
    assert [vm.entry(name)["before"] for name in NAMES[: killed + 1]] == [{"was": "in"}] * (killed + 1)


def test_without_its_lease_nothing_begins(vm, methods):
    vm.take_lease()
    vm.lose_lease()
    assert drain(vm).state == "failed"
    assert not any("begin" in method.calls for method in methods) and vm.record() is None


def test_a_lease_lost_in_between_is_no_drain(vm, methods):
    vm.take_lease()
    methods[2].on_begin = lambda machine, task: vm.lose_lease()
    assert drain(vm).state == "failed"
    assert vm.record()["phase"] == "draining" and states(vm) == ["found"] * 3
