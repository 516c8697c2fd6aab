# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a drain took is kept on its VM: once for each drain, whoever does the methods, and nothing fails without it."""

from __future__ import annotations

import os

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import Answer, NotYet
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.drain_times import NAME, DrainTimes
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_changes import RecordChange
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import RecordStore
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import Killed, Vm, step
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import EVENT, FakeHost

TASKS = {"where": "controller", "outside": True}


@pytest.fixture
def vm(tmp_path):
    """A VM whose clock the test moves."""
    found = Vm(tmp_path)
    found.host = FakeHost()
    found.records = RecordStore(found.files, found.host)
    return found


def times(vm):
    return DrainTimes(vm.files, vm.host).present()


def seconds(vm):
    return (times(vm) or {"seconds": []})["seconds"]


def drained_in(vm, method, took, *steps):
    """Drain, with a last method that takes this long."""
    method.checks = ["draining"]
    assert vm.drain(*(steps or [step()])).state == "draining"
    vm.host.pass_time(took)
    outcome = vm.drain(*(steps or [step()]))
    assert outcome.state == "drained"
    return outcome


def put_back(vm, *steps):
    assert vm.undo(*(steps or [step()])).state == "undone"
    vm.records.write(EVENT, RecordChange(changes={"phase": "failed"}))


def test_a_time_that_cannot_be_written_fails_no_drain_and_is_a_warning(vm, method, monkeypatch):
    write = vm.files.rename

    def full(old, new):
        if new == NAME:
            raise OSError(28, "No space left on device")
        write(old, new)

    monkeypatch.setattr(vm.files, "rename", full)
    outcome = drained_in(vm, method, 20)
    assert outcome.error is None and "No space left" in outcome.warning and vm.record()["phase"] == "drained"
    assert times(vm) is None and [name for name in os.listdir(vm.files.where) if name.startswith("temporary-")] == []


def test_where_the_record_cannot_be_written_nothing_more_is_said_or_kept(vm, method, monkeypatch):
    method.checks = ["draining"]
    vm.drain(step())

    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(vm.files, "write_exclusive", full)
    outcome = vm.drain(step())
    assert outcome.state == "failed" and "No space left" in outcome.error and outcome.warning is None
    assert times(vm) is None


def test_killed_before_it_is_kept_only_the_time_is_lost(vm, method, monkeypatch):
    def killed(old, new):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(vm.files, "rename", killed)
        with pytest.raises(Killed):
            drained_in(vm, method, 20)
    assert vm.record()["phase"] == "drained" and times(vm) is None
    assert vm.drain(step()).state == "drained"
    assert times(vm) is None, "it was drained before, and a verification is no drain"


def test_it_is_the_time_from_the_first_finding_to_the_last_method(vm, method):
    one, two = step(identifier="1-scripted"), step(identifier="2-scripted")
    method.checks = ["draining", "drained", "draining"]
    vm.drain(one, two)
    vm.host.pass_time(7)
    vm.drain(one, two)
    vm.host.pass_time(5.5)
    assert vm.drain(one, two).state == "drained"
    assert times(vm) == {"methods": ["scripted", "scripted"], "seconds": [12.5]}


def test_a_verification_is_not_counted(vm, method):
    drained_in(vm, method, 20)
    vm.host.pass_time(1000)
    vm.drain(step())
    vm.drain(step(), verify=True)
    assert seconds(vm) == [20.0]


def test_what_drains_again_after_a_boot_is_not_counted(vm, method):
    drained_in(vm, method, 20)
    vm.boot = "boot-2"
    vm.host.pass_time(300)
    method.checks = ["lost", "draining"]
    assert vm.drain(step()).state == "draining"
    vm.host.pass_time(3)
    assert vm.drain(step()).state == "drained"
    assert seconds(vm) == [20.0]


def test_what_begins_anew_after_an_undo_is_counted_from_there(vm, method):
    drained_in(vm, method, 20)
    put_back(vm)
    vm.host.pass_time(500)
    drained_in(vm, method, 8)
    assert seconds(vm) == [20.0, 8.0]


def test_time_that_a_method_waits_before_it_finds_anything_is_not_counted(vm, method):
    def waits(machine, task):
        raise NotYet("no quorum")

    found, method.find = method.find, waits
    assert vm.drain(step(), deadline="2086-11-21T20:00:00Z").state == "draining"
    vm.host.pass_time(3000)
    method.find = found
    drained_in(vm, method, 4)
    assert seconds(vm) == [4.0]


def test_the_last_five_are_kept(vm, method):
    for took in range(1, 8):
        drained_in(vm, method, took)
        put_back(vm)
    assert seconds(vm) == [3.0, 4.0, 5.0, 6.0, 7.0]


def test_other_methods_begin_a_list_of_their_own(vm, method):
    drained_in(vm, method, 20)
    put_back(vm)
    vm.records.remove(EVENT)
    vm.drain(step("none"))
    assert times(vm) == {"methods": ["none"], "seconds": [0.0]}


def test_what_another_list_left_in_the_record_is_not_of_this_drain(vm, method):
    """A method that was undone has no part in it."""
    drained_in(vm, method, 20, step(identifier="9-scripted"))
    put_back(vm, step(identifier="9-scripted"))
    vm.host.pass_time(100)
    vm.drain(step("none"))
    assert times(vm) == {"methods": ["none"], "seconds": [0.0]}


def test_methods_of_the_controller_are_counted_over_all_of_their_calls(vm, method):
    first, last = step("haproxy", "1-haproxy", **TASKS), step(identifier="2-scripted")
    vm.drain({**first, "finding": {"was": "ready"}}, complete=False)
    vm.host.pass_time(30)
    vm.drain({**first, "answer": {"state": "draining", "error": "3 sessions"}}, complete=False)
    vm.host.pass_time(30)
    assert vm.drain({**first, "answer": {"state": "drained"}}, complete=False).state == "drained"
    assert times(vm) is None, "a method is left"
    vm.host.pass_time(2)
    vm.drain(last)
    assert times(vm) == {"methods": ["haproxy", "scripted"], "seconds": [62.0]}


def test_all_at_once_and_after_the_start_it_is_counted_too(vm, method):
    vm.records.write(EVENT, RecordChange(changes={"phase": "started"}))
    one, two = step(identifier="1-scripted"), step(identifier="2-scripted")
    method.checks = ["drained", "draining"]
    vm.drain(one, two, at_once=True)
    vm.host.pass_time(6)
    assert vm.drain(one, two, at_once=True).state == "drained" and vm.record()["phase"] == "started"
    assert seconds(vm) == [6.0]


def test_a_failed_drain_leaves_no_time(vm, method):
    method.checks = [Answer("failed", "no")]
    assert vm.drain(step()).state == "failed"
    assert times(vm) is None


@pytest.mark.parametrize("took", [-5, 86400.5])
def test_a_clock_that_was_set_leaves_no_time(vm, method, took):
    drained_in(vm, method, took)
    assert times(vm) is None


def test_a_record_of_another_version_without_times_leaves_none(vm, method):
    method.checks = ["draining"]
    vm.drain(step())
    vm.damage(lambda data: data["methods"][0].update(times=None))
    assert vm.drain(step()).state == "drained"
    assert times(vm) is None


def test_check_mode_leaves_nothing(vm, method):
    vm.would(step())
    assert not os.path.exists(vm.files.where)
