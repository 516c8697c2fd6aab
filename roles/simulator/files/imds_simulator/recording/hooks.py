# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Run a command at every transition, one after another, with the log entry as JSON on its standard input."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from typing import Any, Dict, List, Optional


class Hooks:
    """A queue of runs. A slow command delays later runs, never the simulation."""

    def __init__(self, command: Optional[str], seconds: float = 60.0) -> None:
        self._words: List[str] = shlex.split(command) if command else []
        self._seconds = seconds
        self._queue: "asyncio.Queue[Dict[str, Any]]" = asyncio.Queue()
        self._task: Optional["asyncio.Task[None]"] = None

    def add(self, entry: Dict[str, Any]) -> None:
        """Queue a run for a log entry."""
        if self._words:
            self._queue.put_nowait(entry)
            if self._task is None:
                self._task = asyncio.get_event_loop().create_task(self._work())

    async def finish(self, seconds: float = 10.0) -> None:
        """Wait for queued runs to end before the simulator exits."""
        if self._task is not None:
            try:
                await asyncio.wait_for(self._queue.join(), seconds)
            except asyncio.TimeoutError:
                sys.stderr.write("imds_simulator: the hook did not end within %d s\n" % seconds)
            self._task.cancel()

    async def _work(self) -> None:
        while True:
            entry = await self._queue.get()
            try:
                await self._run(entry)
            finally:
                self._queue.task_done()

    async def _run(self, entry: Dict[str, Any]) -> None:
        try:
            process = await asyncio.create_subprocess_exec(*self._words, stdin=asyncio.subprocess.PIPE, stdout=sys.stderr.fileno())
        except OSError as problem:
            sys.stderr.write("imds_simulator: the hook '%s' cannot run: %s\n" % (self._words[0], problem))
            return
        try:
            await asyncio.wait_for(process.communicate(json.dumps(entry).encode("utf-8")), self._seconds)
        except asyncio.TimeoutError:
            process.kill()
            sys.stderr.write("imds_simulator: the hook ran longer than %d s and was killed\n" % self._seconds)
            return
        if process.returncode:
            sys.stderr.write("imds_simulator: the hook ended with status %d\n" % process.returncode)
