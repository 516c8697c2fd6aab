# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands of an operator: time limits, what is left behind, output, and texts of an event."""

from __future__ import annotations

import os
import shlex
import sys
import time

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine import commands as module
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.commands import LocalCommands


def run(line, seconds=10.0, **environment):
    return LocalCommands().run(line, environment, seconds)


def shell(script):
    return ["sh", "-c", script]


def is_alive(process):
    """Return whether the process runs. One that has ended does not run, even before it is waited for."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as stream:
            return stream.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


def gone_within(process, seconds=3.0):
    end = time.monotonic() + seconds
    while is_alive(process) and time.monotonic() < end:
        time.sleep(0.02)
    return not is_alive(process)


@pytest.mark.parametrize("code", [0, 1, 75, 255])
def test_the_exit_code_and_both_outputs(code):
    assert run(shell(f"echo out; echo err >&2; exit {code}")) == (code, "out\n", "err\n")


def test_a_text_is_split_as_a_shell_would_and_no_shell_sees_it(tmp_path):
    assert run("printf '%s|' 'a b' $HOME * $(id) ; true").output == "a b|$HOME|*|$(id)|;|true|"
    assert run(["printf", "%s|", "a b", 5]).output == "a b|5|"


@pytest.mark.parametrize(
    "line,code,words", [("", 127, "empty"), ([], 127, "empty"), ("sh 'x", 127, "cannot be split"), ("no-such-program-here", 127, "No such file")]
)
def test_what_cannot_be_run_is_an_exit_code(line, code, words):
    result = run(line)
    assert result.code == code and words in result.errors


def test_what_may_not_be_executed_is_an_exit_code(tmp_path):
    (tmp_path / "text").write_text("x")
    assert run([str(tmp_path / "text")]).code == 126
    assert run([str(tmp_path)]).code == 126
    assert run(["a\0b"]).code == 126


def test_past_its_time_all_that_it_has_started_is_ended(tmp_path):
    script = f"sleep 60 & echo $! > {shlex.quote(str(tmp_path / 'child'))}; echo half; wait"
    began = time.monotonic()
    result = run(shell(script), 1.5)
    assert (result.code, result.output) == (124, "half\n")
    assert time.monotonic() - began < 30
    assert gone_within(int((tmp_path / "child").read_text()))


def test_what_ignores_the_polite_signal_is_killed_with_its_children(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "GRACE_SECONDS", 0.3)
    script = f"trap '' TERM; sleep 60 & echo $! $$ > {shlex.quote(str(tmp_path / 'all'))}; while :; do sleep 0.1; done"
    assert run(shell(script), 0.3).code == 124
    assert all(gone_within(int(process)) for process in (tmp_path / "all").read_text().split())


def test_a_child_that_ignores_the_signal_is_killed_when_its_parent_has_ended(tmp_path):
    script = f"(trap '' TERM; echo $$ > /dev/null; exec sleep 60) & echo $! > {shlex.quote(str(tmp_path / 'child'))}; sleep 60"
    assert run(shell(script), 0.3).code == 124
    assert gone_within(int((tmp_path / "child").read_text()))


def test_a_child_that_is_left_behind_with_the_outputs_open_holds_up_nothing(tmp_path):
    began = time.monotonic()
    result = run(shell(f"sleep 60 & echo $! > {shlex.quote(str(tmp_path / 'child'))}; echo done"), 20)
    child = int((tmp_path / "child").read_text())
    try:
        assert (result.code, result.output) == (0, "done\n")
        assert time.monotonic() - began < 30
        assert is_alive(child)  # what it leaves behind on purpose, a daemon perhaps, stays
    finally:
        os.kill(child, 9)


def test_nothing_to_read_from(tmp_path):
    assert run("cat", 5).code == 0


def test_of_a_long_output_the_end_is_kept(tmp_path):
    result = run([sys.executable, "-c", "import sys; sys.stdout.write('x' * 3000000 + 'end'); sys.stderr.write('y' * 3000000 + 'END')"])
    assert (len(result.output), len(result.errors)) == (module.LONGEST_OUTPUT,) * 2
    assert result.output.endswith("xend") and result.errors.endswith("yEND")


def test_output_that_is_no_text_is_no_error():
    assert run(shell("printf '\\377ok'")).output == "\ufffdok"


@pytest.mark.parametrize("text", ["$(touch hacked) `id`; rm -rf x", "a\nb\r\n", "\u20ac \U0001f600", "-n", "", "'\"", "\ud800 half"])
def test_texts_of_an_event_arrive_as_they_are(text):
    result = run([sys.executable, "-c", "import os, sys; sys.stdout.buffer.write(os.environb[b'TEXT'])"], TEXT=text)
    assert (result.code, result.output) == (0, text.encode("utf-8", "replace").decode())


def test_the_rest_of_the_environment_stays(monkeypatch):
    monkeypatch.setenv("OF_THE_MACHINE", "x")
    assert run(shell('echo "$OF_THE_MACHINE $OURS"'), OURS="y").output == "x y\n"


def test_a_command_that_may_not_be_ended_is_given_up(monkeypatch):
    def refuse(*_arguments):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(module.os, "killpg", refuse)
    assert run("sleep 1", 0.1).code == 124


def test_no_descriptor_is_left_open():
    before = len(os.listdir("/proc/self/fd"))
    for line in ("true", "no-such-program-here", "sh 'x"):
        run(line)
    assert len(os.listdir("/proc/self/fd")) == before
