# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Servers behind a load balancer that answer HTTP with their name, and can be killed with all that they have open."""

from __future__ import annotations

import contextlib
import socket
import threading

from lab.haproxy import Backend

HOLD = "/hold"


class WebServer(Backend):
    """Answers each request with its name and closes. A request of /hold is a session that stays open until release()."""

    def __init__(self, name: str, status: int = 200) -> None:
        self._answer = f"HTTP/1.1 {status} {name}\r\nConnection: close\r\nContent-Length: {len(name)}\r\n\r\n{name}".encode()
        self._open: set[socket.socket] = set()
        self._released = threading.Event()
        self.held = 0
        """How many sessions it was ever asked to keep open."""
        super().__init__()

    def _serve(self, connection: socket.socket) -> None:
        self._open.add(connection)
        with connection, contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                part = connection.recv(4096)
                if not part:
                    break
                head += part
            else:
                if head.startswith(f"GET {HOLD} ".encode()):
                    self.held += 1
                    self._released.wait(120)
                connection.sendall(self._answer)
        self._open.discard(connection)

    def release(self) -> None:
        """End the sessions that are open."""
        self._released.set()

    def stop(self) -> None:
        super().stop()
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class Agent(Backend):
    """What HAProxy's agent-check asks: it says one word, such as "up", "down" or "50%"."""

    def __init__(self, word: str) -> None:
        self.word = word
        super().__init__()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.sendall(f"{self.word}\n".encode())
