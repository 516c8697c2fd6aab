# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Bound what a connection plugin reads of a VM while it reads it.

ansible-core's plugins collect the whole output of a command before anything of this collection can look at it. Those that start a program (local, ssh, and
those of other collections that call kubectl, podman and the like) read its pipes. Between the program and the plugin a thread passes on so many bytes, and
ends the program then. How the plugin reads does not matter. A plugin that has a network client in its own process (winrm, psrp, paramiko_ssh, libssh) has no
such place: there the bound is that of memory.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pathlib
import resource
import selectors
import signal
import subprocess
import threading
import typing as t

from .._answers.kinds import Unusable

# Its first number is the address space in pages.
STATM = pathlib.Path("/proc/self/statm")


class MemoryBound(contextlib.AbstractContextManager["MemoryBound"]):
    """Within it this process may take so many bytes of address space more than it has.

    Beyond that Python raises MemoryError, where the kernel would otherwise end the largest process it finds. Only on Linux: the kernel of macOS takes such a
    limit and does not keep it.
    """

    def __init__(self, more: int) -> None:
        self._before, self._hard = resource.getrlimit(resource.RLIMIT_AS)
        self._within = self._before
        if STATM.exists():
            wanted = int(STATM.read_text().split()[0]) * resource.getpagesize() + more
            self._within = wanted if self._before == resource.RLIM_INFINITY else min(wanted, self._before)

    def __enter__(self) -> MemoryBound:
        self._set(self._within)
        return self

    def __exit__(self, *_error: object) -> None:
        self._set(self._before)

    @contextlib.contextmanager
    def lifted(self) -> t.Iterator[None]:
        """Start a program, which would inherit the bound."""
        self._set(self._before)
        try:
            yield
        finally:
            self._set(self._within)

    def _set(self, soft: int) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (soft, self._hard))


CHUNK = 64 * 1024


class Bound:
    """The bytes that each program may print, its errors included, and whether one has printed more."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.exceeded = False
        self._programs: list[subprocess.Popen[t.Any]] = []

    def check(self) -> None:
        """Raise Unusable if a program has printed more. What the plugin has got of it is a beginning only."""
        if self.exceeded:
            _end_process_group()
            raise Unusable("it", f"has more than {self.most} bytes")

    def relay(self, process: subprocess.Popen[t.Any]) -> Relay:
        """Put a thread between a program that was just started and the reader of its pipes."""
        self._programs.append(process)
        ways: dict[int, int] = {}
        try:
            for stream in filter(None, (process.stdout, process.stderr)):
                source = os.dup(stream.fileno())
                ways[source] = _instead_of(stream.fileno())
            relay = Relay(self, process, ways)
            if ways:
                threading.Thread(target=relay.pass_on, daemon=True).start()
        except BaseException:
            # Without a bound it is not read at all.
            _close(ways)
            process.kill()
            raise
        return relay

    def end_programs(self) -> None:
        """End what still runs where its plugin no longer waits for it, as after a time limit: an ssh to a VM that hangs would stay for ever."""
        for process in self._programs:
            _end(process)


class Relay:
    """What passes on the output of one program."""

    def __init__(self, bound: Bound, process: subprocess.Popen[t.Any], ways: dict[int, int]) -> None:
        self._bound, self._process, self._ways = bound, process, ways
        self._left = bound.most
        self._passing = threading.Lock()

    def is_done(self) -> bool:
        """Return whether all that the program has printed up to now is passed on. Never wait: the reader may be the one that asks."""
        if not self._passing.acquire(blocking=False):
            return False
        try:
            return not _readable(self._ways, seconds=0)
        finally:
            self._passing.release()

    def pass_on(self) -> None:
        """Pass on all output, in a thread of its own."""
        try:
            while self._ways:
                sources = _readable(self._ways)
                with self._passing:
                    for source in sources:
                        self._pass_chunk(source)
        finally:
            # The reader sees the end of the output, and what still writes to it, such as a grandchild, a closed pipe.
            with self._passing:
                _close(self._ways)
                self._ways.clear()

    def _pass_chunk(self, source: int) -> None:
        if source not in self._ways:
            return
        chunk = os.read(source, CHUNK)
        self._left -= len(chunk)
        if self._left < 0:
            self._bound.exceeded = True
            _end(self._process)
            chunk = b""
        if chunk and _written(self._ways[source], chunk):
            return
        ended = dict(self._ways) if self._left < 0 else {source: self._ways[source]}
        for one in ended:
            del self._ways[one]
        _close(ended)


def _readable(sources: t.Iterable[int], seconds: float | None = None) -> list[int]:
    """Return the descriptors that can be read now, or have ended."""
    with selectors.PollSelector() as selector:
        for source in sources:
            selector.register(source, selectors.EVENT_READ)
        return [key.fd for key, _events in selector.select(seconds)] if selector.get_map() else []


def _end(process: subprocess.Popen[t.Any]) -> None:
    # A program of another user, such as sudo, ends when its output is no longer read.
    with contextlib.suppress(PermissionError):
        process.kill()


def _instead_of(descriptor: int) -> int:
    """Make a descriptor the reading end of a new pipe, and return the writing end."""
    reading, writing = os.pipe()
    os.dup2(reading, descriptor, inheritable=False)
    os.close(reading)
    return writing


def _written(target: int, chunk: bytes) -> bool:
    """Write a chunk, and return whether there is still a reader."""
    rest = memoryview(chunk)
    try:
        while rest:
            rest = rest[os.write(target, rest) :]
    except OSError:
        return False
    return True


def _close(ways: t.Mapping[int, int]) -> None:
    for descriptor in (*ways, *ways.values()):
        os.close(descriptor)


def _end_process_group() -> None:
    """End all that the connection has started, where the worker has a process group of its own (ansible-core 2.19). Before, only the program is ended."""
    if multiprocessing.parent_process() is None or os.getpgrp() != os.getpid():
        return
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        os.killpg(0, signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def bounded(most: int, memory: int) -> t.Iterator[Bound]:
    """Bound the output of each program that this process starts, and the memory that it takes more.

    Each task of a host has a process of its own (a worker of ansible-core), so this changes nothing for any other task or host.
    """
    bound, bound_of_memory, popen = Bound(most), MemoryBound(memory), subprocess.Popen

    class BoundedPopen(popen):  # type: ignore[misc,valid-type]  # the class that is there now
        _relay: Relay | None = None

        def __init__(self, *given: t.Any, **named: t.Any) -> None:
            with bound_of_memory.lifted():
                super().__init__(*given, **named)
            self._relay = bound.relay(self)

        def poll(self) -> int | None:
            # Plugin ssh reads no further than the first pause after the program's end. Without the relay there is nothing more to come then.
            code: int | None = super().poll()
            return code if code is None or self._relay is None or self._relay.is_done() else None

    with bound_of_memory:
        subprocess.Popen = BoundedPopen  # type: ignore[misc]  # ansible-core's plugins take it from the module when they need it
        try:
            yield bound
        except BaseException as error:
            bound.end_programs()
            if isinstance(error, Exception):
                # A plugin that gets only the beginning of an output fails in ways of its own.
                bound.check()
            raise
        finally:
            subprocess.Popen = popen  # type: ignore[misc]
    bound.check()
