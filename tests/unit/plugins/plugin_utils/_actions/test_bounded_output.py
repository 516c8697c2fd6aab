# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The bounds within which a worker reads a VM, with each way in which connection plugins read a program's output."""

from __future__ import annotations

import multiprocessing
import os
import resource
import selectors
import subprocess
import sys
import time
import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._actions import bounded_output
from ansible_collections.maintenance.azure.plugins.plugin_utils._actions.bounded_output import bounded
from ansible_collections.maintenance.azure.plugins.plugin_utils._answers.kinds import Unusable

MOST = 300_000
MEMORY = 512 * 1024 * 1024


def start(script: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def communicate(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    return process.communicate(b"input")


def read_as_it_comes(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """As plugin ssh does, which reads no further than the first pause after the program's end."""
    assert process.stdout and process.stderr and process.stdin
    found = {process.stdout: b"", process.stderr: b""}
    process.stdin.write(b"input")
    process.stdin.close()
    timeout = 30
    with selectors.DefaultSelector() as selector:
        for stream in found:
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            ended = process.poll() is not None
            events = selector.select(timeout)
            for key, _events in events:
                chunk = key.fileobj.read()
                found[key.fileobj] += chunk or b""
                if chunk == b"":
                    selector.unregister(key.fileobj)
            if ended and not events:
                break
            timeout = 0 if ended else timeout
    process.wait()
    return found[process.stdout], found[process.stderr]


WAYS = pytest.mark.parametrize("read", [communicate, read_as_it_comes])
ENDLESS = "import sys\nwhile True: sys.{}.write('x' * 65536)"


@WAYS
def test_within_the_bound_nothing_is_lost(read: t.Callable[..., t.Any]):
    with bounded(MOST, MEMORY):
        process = start(f"import sys; sys.stdout.write(sys.stdin.read() + 'x' * {MOST - 10}); sys.stderr.write('error'); sys.exit(3)")
        stdout, stderr = read(process)
    assert (stdout, stderr, process.returncode) == (b"input" + b"x" * (MOST - 10), b"error", 3)


@WAYS
def test_nothing_is_lost_where_the_relay_is_slower_than_the_program(read: t.Callable[..., t.Any], monkeypatch: pytest.MonkeyPatch):
    written = bounded_output._written
    monkeypatch.setattr(bounded_output, "_written", lambda *given: time.sleep(0.1) or written(*given))
    with bounded(MOST, MEMORY):
        process = start("import sys; sys.stdin.read(); sys.stdout.write('x' * 150000); sys.stderr.write('error')")
        stdout, stderr = read(process)
    assert (len(stdout), stderr, process.returncode) == (150_000, b"error", 0)


class OutOfTime(BaseException):
    """As the time limit of a task."""


def test_a_program_that_its_plugin_no_longer_waits_for_is_ended():
    with pytest.raises(OutOfTime), bounded(MOST, MEMORY):
        process = start("import time; time.sleep(600)")
        raise OutOfTime
    assert process.wait(timeout=60) == -9


@WAYS
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_beyond_it_the_program_is_ended_and_the_answer_refused(read: t.Callable[..., t.Any], stream: str):
    found: list[tuple[bytes, bytes]] = []
    with pytest.raises(Unusable, match="it has more than 300000 bytes"), bounded(MOST, MEMORY):
        process = start(ENDLESS.format(stream))
        found.append(read(process))
    assert sum(map(len, found[0])) <= MOST
    assert process.returncode == -9


def test_a_plugin_that_fails_on_a_mere_beginning_does_not_hide_the_reason():
    with pytest.raises(Unusable), bounded(MOST, MEMORY):
        communicate(start(ENDLESS.format("stdout")))
        raise ConnectionError("no end of the answer")


def test_what_fails_otherwise_fails_as_before():
    with pytest.raises(ConnectionError), bounded(MOST, MEMORY):
        communicate(start("print()"))
        raise ConnectionError


def test_a_grandchild_that_keeps_the_pipe_does_not_keep_the_reader():
    with pytest.raises(Unusable), bounded(MOST, MEMORY):
        process = subprocess.Popen(
            ["/bin/sh", "-c", f'"{sys.executable}" -c "$0"; :', ENDLESS.format("stdout") + "\n"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        process.communicate(timeout=30)


def test_memory_is_bounded_too_but_not_that_of_programs():
    before = resource.getrlimit(resource.RLIMIT_AS)
    with bounded(MOST, MEMORY):
        with pytest.raises(MemoryError):
            bytearray(2 * MEMORY)
        out, _error = communicate(start("import resource; print(resource.getrlimit(resource.RLIMIT_AS))"))
    assert out.decode().strip() == str(before)
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_afterwards_programs_are_read_as_before():
    popen = subprocess.Popen
    with bounded(MOST, MEMORY):
        assert subprocess.Popen is not popen
    assert subprocess.Popen is popen


def worker(answer: t.Any) -> None:
    """As a worker of ansible-core 2.19 and later, in a process group of its own."""
    os.setsid()
    sibling = None
    try:
        with bounded(MOST, MEMORY):
            sibling = start("import time; time.sleep(600)")
            communicate(start(ENDLESS.format("stdout")))
    except Unusable:
        answer.send(sibling and sibling.wait(timeout=60))


def test_the_workers_process_group_is_ended():
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=worker, args=(there,))
    process.start()
    assert here.poll(120) and here.recv() == -15
    process.join()
    assert process.exitcode == 0
