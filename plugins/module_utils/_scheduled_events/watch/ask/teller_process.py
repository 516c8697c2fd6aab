# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The teller as a process that the asker starts, where no systemd starts it. TLS and its memory live in that process, as on Linux.

It ends by itself, a minute after its start at the latest unless a receiver is slow, also when the asker is killed meanwhile. A new asker may then start a
second one beside it: a message may be delivered twice, with the same id.
"""

from __future__ import annotations

import subprocess
import sys
import typing as t

from ...core.clock import Clock
from ..spool import Spool

# After a teller that failed, or that could not be started.
PAUSE_SECONDS = 10.0


class Process(t.Protocol):
    """As far as subprocess.Popen is needed."""

    def poll(self) -> int | None:
        """Return the exit code of a process that has ended."""


Start = t.Callable[[t.Sequence[str]], Process]


class TellerProcess:
    """Starts the teller while messages wait and none runs."""

    def __init__(self, spool: Spool, command: t.Sequence[str], clock: Clock, log: t.Callable[[str], None], start: Start | None = None) -> None:
        self._spool = spool
        self._command = command
        self._clock = clock
        self._log = log
        self._start = start or start_quietly
        self._running: Process | None = None
        self._due = clock.monotonic()
        self._works = True

    def serve(self) -> None:
        """Start the teller if it is due. What goes wrong is one line, however long it lasts: it must not end the asking."""
        try:
            if self._is_free() and self._clock.monotonic() >= self._due and self._spool.entries():
                self._running = self._start(self._command)
        except OSError as error:
            self._failed(f"the teller cannot be started: {error}")

    def _is_free(self) -> bool:
        """Return whether no teller runs. Note how the last one ended."""
        if self._running is None:
            return True
        code = self._running.poll()
        if code is None:
            return False
        self._running = None
        if code == 0:
            self._works = True
        else:
            self._failed(f"the teller ended with {code}; its own log says why")
        return True

    def _failed(self, why: str) -> None:
        self._due = self._clock.monotonic() + PAUSE_SECONDS
        if self._works:
            self._log(why)
        self._works = False


if sys.platform == "win32":
    # No window, and no console that could be closed.
    FLAGS = subprocess.CREATE_NO_WINDOW
else:
    FLAGS = 0


def start_quietly(command: t.Sequence[str]) -> Process:
    """Start a process that inherits nothing. Raise OSError."""
    nothing = subprocess.DEVNULL
    return subprocess.Popen(  # pylint: disable=ansible-bad-function
        list(command), stdin=nothing, stdout=nothing, stderr=nothing, close_fds=True, creationflags=FLAGS
    )
