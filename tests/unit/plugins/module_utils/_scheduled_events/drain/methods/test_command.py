# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Methods command and none, with real commands."""

from __future__ import annotations

import json
import os
import sys
import time

import pytest

from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import ABOUT, step

GOOD = {"begin": "true", "check": "true", "undo": "true"}


def command(**options):
    return step("command", given={**GOOD, **options})


def sh(script):
    return ["sh", "-c", script]


@pytest.mark.parametrize("code,state", [(0, "drained"), (75, "draining"), (1, "failed"), (124, "failed")])
def test_the_exit_code_of_check_says_how_far_it_is(vm, code, state):
    assert vm.drain(command(check=sh(f"exit {code}"))).state == state


@pytest.mark.parametrize("code,state", [(0, "undone"), (75, "undoing"), (1, "failed")])
def test_the_exit_code_of_undo_says_how_far_it_is(vm, code, state):
    vm.drain(command(undo=sh(f"echo why >&2; exit {code}")))
    outcome = vm.undo(step("command"))
    assert outcome.state == state
    assert outcome.error == {"undone": None, "undoing": "undo ended with exit code 75", "failed": "1-command: undo: undo ended with exit code 1: why"}[state]


@pytest.mark.parametrize("code", [1, 75])
def test_a_begin_that_fails_is_the_failure_with_the_end_of_what_it_said(vm, code):
    outcome = vm.drain(command(begin=sh(f"yes x | head -c 9000 >&2; echo at last >&2; exit {code}")))
    assert outcome.state == "failed" and outcome.error.startswith(f"1-command: begin ended with exit code {code}: ") and outcome.error.endswith("at last")
    assert len(outcome.error) < 500


def test_the_last_line_of_check_says_why_and_is_short(vm):
    assert vm.drain(command(check=sh("echo first; echo three left; echo; exit 75"))).error == "three left"
    assert len(vm.drain(command(check=sh("yes | tr -d '\\n' | head -c 9000; exit 75"))).error or "") <= 200
    vm.undo(step("command"))
    assert vm.drain(command(check=sh("exit 75"))).error == "check ended with exit code 75"


def test_drained_and_not_any_more_begins_again(vm, tmp_path):
    log, state = tmp_path / "log", tmp_path / "state"
    one = command(begin=sh(f"echo b >> {log}; touch {state}"), check=sh(f"echo c >> {log}; test -e {state} || exit 75"))
    assert vm.drain(one).state == "drained"
    state.unlink()
    assert vm.drain(one).state == "drained"
    assert log.read_text().split() == ["b", "c", "c", "b", "c"]


def test_a_command_that_hangs_fails_within_its_time(vm):
    began = time.monotonic()
    outcome = vm.drain(command(begin="sleep 60", timeout="1"))
    assert outcome.state == "failed" and outcome.error.endswith("begin reached a timeout (exit code 124; option timeout is 1 s)")
    assert time.monotonic() - began < 30
    assert vm.entry("1-command")["before"] == {}  # it may have acted: its undo runs


def test_the_event_is_in_the_environment_and_in_no_command(vm, tmp_path):
    where = tmp_path / "environment.json"
    hostile = {**ABOUT, "description": "$(touch hacked); `id`\n\0x", "resources": ["a b", None, 5, "\ud800"], "event_type": None, "not_before": ["x"]}
    dump = [
        sys.executable,
        "-c",
        f"import os, json; json.dump({{k: v for k, v in os.environ.items() if k.startswith('MAINTENANCE_')}}, open({str(where)!r}, 'w'))",
    ]
    outcome = vm.drain(command(begin=dump), event=hostile, deadline="2026-11-21T20:55:00Z")
    # The record refuses nothing of it: only the halves of letters are repaired.
    assert outcome.state == "drained", outcome.error
    given = json.loads(where.read_text())
    assert given == {
        "MAINTENANCE_EVENT_ID": ABOUT["event_id"],
        "MAINTENANCE_EVENT_TYPE": "",
        "MAINTENANCE_EVENT_STATUS": "Scheduled",
        "MAINTENANCE_EVENT_NOT_BEFORE": "['x']",
        "MAINTENANCE_EVENT_DESCRIPTION": "$(touch hacked); `id`\nx",
        "MAINTENANCE_EVENT_RESOURCES": "a b,,5,?",
        "MAINTENANCE_EVENT_DEADLINE": "2026-11-21T20:55:00Z",
        "MAINTENANCE_SECONDS_LEFT": "",
    }
    assert not os.path.exists("hacked") and not (tmp_path / "hacked").exists()


@pytest.mark.parametrize(("not_before", "left"), [("2026-11-21T21:00:30Z", "29"), ("2026-11-21T20:59:00Z", "0"), (None, ""), ("soon", "")])
def test_a_command_gets_the_seconds_that_are_left(vm, tmp_path, not_before, left):
    vm.machine = vm.machine._replace(now=lambda: "2026-11-21T21:00:00.500000Z")
    one = command(begin=sh(f'printf "%s" "$MAINTENANCE_SECONDS_LEFT" > {tmp_path}/left'))
    assert vm.drain(one, event={**ABOUT, "not_before": not_before}).state == "drained"
    assert (tmp_path / "left").read_text() == left


@pytest.mark.parametrize("resources", [5, "vm_0", {"a": 1}, None])
def test_resources_that_are_no_list_are_that_drains_failure_at_most(vm, resources):
    outcome = vm.drain(command(), event={**ABOUT, "resources": resources})
    assert outcome.state == "failed" and "not a list of names" in outcome.error


@pytest.mark.parametrize("line", [{"rm": 1}, 5, None, [], ""])
def test_damaged_command_lines_fail_and_run_nothing(vm, line):
    vm.drain(command())
    vm.damage(lambda data: data["methods"][0]["options"].update(undo=line, check=line))
    assert vm.undo(step("command")).state == "failed"
    assert vm.drain(command()).state == "failed"


def test_none_changes_nothing_and_is_recorded(vm):
    none = step("none")
    assert vm.drain(none).state == "drained"
    assert vm.entry("1-none")["before"] == {}
    assert vm.undo(none).state == "undone"
    assert vm.record()["undone"] is True


@pytest.mark.parametrize("options,seconds", [({}, 10), ({"timeout": 3}, 3), ({"timeout": "7"}, 7), ({"timeout": 0}, 10)])
def test_a_command_has_ten_seconds_unless_it_is_given_others(vm, monkeypatch, options, seconds):
    asked = []
    run = vm.machine.commands.run
    monkeypatch.setattr(vm.machine.commands, "run", lambda line, environment, limit: asked.append(limit) or run(line, environment, limit))
    assert vm.drain(command(**options)).state == "drained"
    assert vm.undo(command(**options)).state == "undone"
    assert asked == [seconds] * 3


def test_what_check_says_keeps_two_hundred_characters_and_an_error_its_last_four_hundred(vm):
    assert vm.drain(command(check=sh("yes | tr -d '\\n' | head -c 201; exit 75"))).error == "y" * 200
    vm.undo(step("command"))
    outcome = vm.drain(command(begin=sh("(printf b; yes | tr -d '\\n' | head -c 400) >&2; exit 1")))
    assert outcome.error == "1-command: begin ended with exit code 1: " + "y" * 400
