# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Any history of answers, kills, boots and undos: what was found is recorded before anything is changed, and comes back as it was."""

from __future__ import annotations

import os
import pathlib
import tempfile
from unittest import mock

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain import registry
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import Answer, Method
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import Killed, Vm, step

OUT = "out"
ANSWERS = st.sampled_from(["drained", "drained", "draining", "lost", "error", "kill"])
MOVES = st.one_of(
    st.tuples(st.just("drain"), st.lists(ANSWERS, max_size=4), st.sampled_from(["", "before", "after"]), st.booleans(), st.booleans()),
    st.tuples(
        st.just("undo"), st.lists(st.sampled_from(["undone", "undone", "undoing", "error", "kill"]), max_size=2), st.just(""), st.booleans(), st.just(False)
    ),
    st.tuples(st.just("boot"), st.just([]), st.just(""), st.booleans(), st.just(False)),
)
NAMES = ("a", "b")


class Switch(Method):
    """Something on the VM that is as it was, or out. What is found after it has acted is not what was before."""

    def __init__(self, world, name, vm):
        self.world, self.name, self.vm = world, name, vm
        self.answers, self.kill = [], ""
        # Not raised: the engine takes whatever a method raises for its failure.
        self.broken = []

    def find(self, machine, task):
        return {"value": self.world[self.name]}

    def begin(self, machine, task):
        entry = self.vm.entry(self.name)
        if entry["state"] != "found" or entry["before"] != {"value": "as before " + self.name}:
            self.broken.append(f"{self.name} acted before its finding was recorded: {entry}")
        if self.kill == "before":
            raise Killed
        self.world[self.name] = OUT
        if self.kill == "after":
            raise Killed

    def check(self, machine, task):
        answer = self._answer("drained")
        # A method says drained only of what is out.
        return Answer("lost") if answer.state == "drained" and self.world[self.name] != OUT else answer

    def undo(self, machine, task):
        later = [other for other in NAMES if other > self.name and self.world[other] == OUT]
        if later:
            self.broken.append(f"{self.name} came back before {later}")
        answer = self._answer("undone")
        if answer.state == "undone":
            self.world[self.name] = task.finding["value"]
        return answer

    def _answer(self, usual):
        answer = self.answers.pop(0) if self.answers else usual
        if answer == "kill":
            raise Killed
        if answer == "error":
            raise OSError("broken")
        return Answer(answer)


def undo_orders(vm):
    """As the controller makes them of the record."""
    record = vm.record()
    return [step(entry["method"], entry["id"]) for entry in reversed(record["methods"] if record else []) if entry["state"] != "undone"]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(MOVES, min_size=1, max_size=8))
@example([("drain", [], "", False, False), ("undo", ["error"], "", False, False), ("undo", ["undoing"], "", False, False)])
@example([("drain", [], "after", False, False), ("boot", [], "", False, False), ("drain", ["lost", "kill"], "", True, True)])
def test_any_history_comes_back_to_what_was(moves):
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(os, "fsync"):
        vm = Vm(pathlib.Path(folder))
        world = {name: "as before " + name for name in NAMES}
        switches = {name: Switch(world, name, vm) for name in NAMES}
        with mock.patch.dict(registry.METHODS, switches):
            for kind, answers, kill, late, verify in moves:
                for switch in switches.values():
                    switch.answers, switch.kill = list(answers), kill
                take(vm, kind, late, verify)
                recorded = {entry["id"]: entry for entry in (vm.record() or {"methods": []})["methods"]}
                for name in NAMES:
                    # Whatever is out is in the record, with what was before: an undo finds its way.
                    assert world[name] != OUT or (recorded[name]["before"] == {"value": "as before " + name} and recorded[name]["state"] != "undone")
                if vm.record() and vm.record()["phase"] == "drained":
                    assert set(world.values()) == {OUT}
            for switch in switches.values():
                switch.answers, switch.kill = [], ""
            if vm.record():
                assert vm.undo(*undo_orders(vm)).state == "undone"
                assert vm.record()["undone"] is True
            assert [switch.broken for switch in switches.values()] == [[], []]
            assert world == {name: "as before " + name for name in NAMES}


def take(vm, kind, late, verify):
    if kind == "boot":
        vm.boot += "+"
        return
    try:
        if kind == "undo":
            # The controller keeps a phase only of a drain that has failed.
            failed = vm.record() is not None and vm.record()["phase"] == "failed"
            outcome = vm.undo(*undo_orders(vm), keep_phase=late and failed)
            assert outcome.state in ("undone", "undoing", "failed")
        else:
            outcome = vm.drain(*(step(name, name) for name in NAMES), late=late, deadline="2026-11-21T20:55:00Z", verify=verify)
            assert outcome.state in ("drained", "draining", "failed")
            assert outcome.state != "draining" or not late or vm.record()["phase"] in ("approved", "started")
            assert vm.record()["phase"] == outcome.state and outcome.record == vm.record()
    except Killed:
        pass
