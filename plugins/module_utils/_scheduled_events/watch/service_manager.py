# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Report that the asker is alive to what ends one that hangs: systemd on Linux, a timer of the process itself on Windows."""

from __future__ import annotations

import faulthandler
import os
import socket
import sys
import time
import typing as t

# The first answer may take two minutes. The units of role watch have the same limit.
HANGING_SECONDS = 150.0
# A timer is a thread, so it is not wound up every second.
WINDING_SECONDS = 10.0


class Systemd:
    """The systemd that started this process (sd_notify): one datagram, no library. Without NOTIFY_SOCKET nothing is sent."""

    def __init__(self) -> None:
        address = os.environ.get("NOTIFY_SOCKET", "")
        # A leading @ means an abstract address.
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._socket = _datagrams() if address else None

    def ready(self) -> None:
        """Report that the service has started."""
        self._send("READY=1")

    def alive(self, status: str) -> None:
        """Report that the service works; the watchdog ends one that does not."""
        line = status.replace("\n", " ")[:200]
        self._send(f"WATCHDOG=1\nSTATUS={line}")

    def _send(self, text: str) -> None:
        if self._socket is None:
            return
        try:
            self._socket.sendto(text.encode("utf-8", "replace"), self._address)
        except OSError:
            pass  # the manager is being restarted; the next message reaches it, or its watchdog ends this process


class Timer:
    """A timer that ends this process when it hangs. The scheduled task starts it again within a minute.

    Python's own (faulthandler) needs no working interpreter for that. The file gets the stack of what hung.
    """

    def __init__(self, file: t.BinaryIO, seconds: float = HANGING_SECONDS) -> None:
        self._file, self._seconds = file, seconds
        self._wound_at: float | None = None

    def ready(self) -> None:
        """Start the timer."""
        self.alive("")

    def alive(self, status: str) -> None:
        """Wind the timer up."""
        now = time.monotonic()
        if self._wound_at is None or now - self._wound_at >= min(WINDING_SECONDS, self._seconds / 2):
            faulthandler.dump_traceback_later(self._seconds + WINDING_SECONDS, exit=True, file=self._file)
            self._wound_at = now


if sys.platform == "win32":

    def _datagrams() -> socket.socket | None:
        """Return None: systemd is not there."""
        return None

else:

    def _datagrams() -> socket.socket | None:
        return socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
