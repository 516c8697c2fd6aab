# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Between the method and a server: sees each exchange, and may be slow, change an answer, or end the run that asks."""

from __future__ import annotations

import contextlib
import os
import pathlib
import socket
import threading
import time
import typing as t


class Proxy:
    """One address that passes exchanges on to another. The method makes a connection for each, and sends all of it at once."""

    def __init__(self, host: str, port: int) -> None:
        self._target = host, port
        self._listener = socket.create_server((host, port + 1))
        self.address = f"{host}:{port + 1}"
        self.asked: list[bytes] = []
        self.answered: list[bytes] = []
        self.delay = 0.0
        self.before: t.Callable[[bytes], bool] = lambda data: True
        """Called with what was asked; returns whether it is passed on."""
        self.after: t.Callable[[bytes], object] = lambda data: None
        self.asker = 0
        """The process of the exchange that is under way."""
        self.change: t.Callable[[bytes, bytes], bytes] = lambda data, answer: answer
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=self._listener.accept()[:1], daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client:
            data = client.recv(65536)
            self.asked.append(data)
            self.asker = process_of(client.getpeername()[1])
            if not data or not self.before(data):
                return
            time.sleep(self.delay)
            with socket.create_connection(self._target, 10) as server:
                server.sendall(data)
                self.after(data)
                server.settimeout(0.2)
                answer = b""
                with contextlib.suppress(socket.timeout):
                    while piece := server.recv(65536):
                        answer += piece
                        if len(piece) < 65536 and piece.endswith(b"\r\n"):
                            server.settimeout(0.02)
                self.answered.append(answer)
                client.sendall(self.change(data, answer))

    def pauses(self) -> list[int]:
        """The milliseconds of each pause that was passed on or held back."""
        return [int(data.split(b"PAUSE\r\n")[1].split(b"\r\n")[1]) for data in self.asked if b"\r\nPAUSE\r\n" in data]

    def close(self) -> None:
        # The thread that waits for connections would keep it open.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def process_of(port: int) -> int:
    """The process whose connection comes from this port; 0 where there is none any more."""
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if int(words[1].partition(":")[2], 16) == port:
            wanted = f"socket:[{words[9]}]"
            for link in pathlib.Path("/proc").glob("[0-9]*/fd/*"):
                with contextlib.suppress(OSError):
                    if os.readlink(link) == wanted:
                        return int(link.parts[2])
    return 0
