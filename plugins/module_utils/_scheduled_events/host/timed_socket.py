# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""A socket with one deadline for a whole exchange, as http.client takes it."""

from __future__ import annotations

import io
import socket
import time
import typing as t


class TimedSocket:
    """A socket with one deadline for a whole exchange; the plain timeout restarts with each byte."""

    def __init__(self, plain: socket.socket) -> None:
        self._plain = plain
        self._deadline = 0.0
        self.ended = False

    def start(self, seconds: float) -> None:
        """Start the deadline of an exchange."""
        self.ended = False
        self._deadline = time.monotonic() + seconds

    def arm(self) -> None:
        """Set the socket's timeout to the time that is left. Raise socket.timeout if none is."""
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise socket.timeout("timed out")
        self._plain.settimeout(remaining)

    def sendall(self, data: bytes) -> None:
        self.arm()
        self._plain.sendall(data)

    def recv(self, size: int) -> bytes:
        self.arm()
        return self._plain.recv(size)

    def makefile(self, mode: str = "rb") -> io.BufferedReader:
        return io.BufferedReader(_TimedReader(self, self._plain.makefile("rb", buffering=0)))

    def close(self) -> None:
        self._plain.close()


class _TimedReader(io.RawIOBase):
    """Read from a socket, under the deadline of the exchange."""

    def __init__(self, guard: TimedSocket, raw: t.Any) -> None:
        super().__init__()
        self._guard = guard
        self._raw = raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: t.Any) -> int | None:
        self._guard.arm()
        count: int | None = self._raw.readinto(buffer)
        self._guard.ended = count == 0
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()
