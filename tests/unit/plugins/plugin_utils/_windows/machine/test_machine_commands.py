# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands of an operator on a Windows VM, by a fake Calls."""

from __future__ import annotations

import signal
import time
import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.machine.commands import TimeIsUp, WindowsCommands, time_limit
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._windows.machine.fake_calls import FakeCalls


def run(line: t.Any, answer: t.Any, seconds: float = 10) -> tuple[FakeCalls, t.Any]:
    calls = FakeCalls(win_command=answer)
    return calls, WindowsCommands(calls).run(line, {"A": "{{ b }}"}, seconds)


def test_a_text_is_the_line_and_words_are_arguments() -> None:
    ended = {"rc": 0, "stdout": "done", "stderr": ""}
    calls, result = run('leave.exe "a b"', ended)
    assert (calls.made, calls.variables) == ([("win_command", {"cmd": 'leave.exe "a b"'})], [{"A": "{{ b }}"}])
    assert result == (0, "done", "")
    assert run(["leave.exe", 5], ended)[0].made == [("win_command", {"argv": ["leave.exe", "5"]})]


def test_an_exit_code_is_no_failure_here() -> None:
    answer = {"failed": True, "msg": "non-zero return code", "rc": 75, "stdout": "busy", "stderr": "why"}
    assert run("x", answer)[1] == (75, "busy", "why")


def test_one_that_does_not_start_says_why() -> None:
    _calls, result = run("x", {"failed": True, "rc": 2, "msg": "Failed to run: 'x': not found"})
    assert (result.code, result.errors) == (2, "Failed to run: 'x': not found")


@pytest.mark.parametrize("code", [None, True, "0"])
def test_without_an_exit_code_nothing_is_known(code: t.Any) -> None:
    with pytest.raises(OSError, match="the command did not run: broken"):
        run("x", {"failed": True, "rc": code, "msg": "broken"})


def test_one_that_outlasts_its_time_is_waited_for_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{WindowsCommands.__module__}.CONNECTION_SECONDS", 0)
    before, began = signal.getsignal(signal.SIGALRM), time.monotonic()
    calls, result = run("x", lambda arguments: time.sleep(60), seconds=1)
    assert (result.code, calls.resets) == (124, 1) and "within 1 s" in result.errors
    assert time.monotonic() - began < 30
    assert signal.getsignal(signal.SIGALRM) == before and signal.alarm(0) == 0


class TaskIsUp(BaseException):
    """The timeout of the task itself."""


@pytest.fixture(name="task")
def _task() -> t.Iterator[None]:
    def up(_number: int, _frame: t.Any) -> None:
        raise TaskIsUp

    before = signal.signal(signal.SIGALRM, up)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("task")
def test_the_timeout_of_the_task_goes_on() -> None:
    signal.alarm(100)
    with time_limit(30):
        assert signal.alarm(30) in (29, 30)
    assert 98 <= signal.alarm(0) <= 100
    signal.alarm(100)
    with pytest.raises(TimeIsUp), time_limit(1):
        time.sleep(60)
    assert 97 <= signal.alarm(0) <= 99


@pytest.mark.usefixtures("task")
def test_the_timeout_of_the_task_ends_first_where_it_is_shorter() -> None:
    signal.alarm(1)
    with pytest.raises(TaskIsUp), time_limit(30):
        time.sleep(60)
