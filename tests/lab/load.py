# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Users of a web site: so many requests in a second, each with a connection of its own; and what HAProxy says meanwhile of who takes sessions."""

from __future__ import annotations

import concurrent.futures
import csv
import socket
import threading
import time
import typing as t

from lab.haproxy import HAProxy

# No request of these tests takes longer than HAProxy's own attempts.
PATIENCE = 8.0


class Answer(t.NamedTuple):
    """One request: when it began and ended by time.time(), through which port, the status (0: no answer), and what was said."""

    began: float
    ended: float
    port: int
    status: int
    text: str


def request(port: int, path: str = "/", patience: float = PATIENCE) -> Answer:
    """Ask once, with a connection of its own."""
    began = time.time()
    status, text = 0, ""
    try:
        with socket.create_connection(("127.0.0.1", port), patience) as connection:
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n".encode())
            parts = []
            while part := connection.recv(65536):
                parts.append(part)
        words = b"".join(parts).decode(errors="replace").split("\r\n\r\n", 1)
        status, text = int(words[0].split()[1]), words[-1]
    except (OSError, ValueError, IndexError) as error:
        text = repr(error)
    return Answer(began, time.time(), port, status, text)


class Load:
    """Requests from its start to its end, to each port in turn."""

    def __init__(self, ports: t.Sequence[int], rate: float = 50) -> None:
        self._ports, self._rate = list(ports), rate
        self.answers: list[Answer] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self.began = time.time()
        self._thread.start()

    def _work(self) -> None:
        began, number = time.monotonic(), 0
        with concurrent.futures.ThreadPoolExecutor(200) as pool:
            while not self._ended.wait(max(0.0, began + number / self._rate - time.monotonic())):
                pool.submit(self._ask, self._ports[number % len(self._ports)])
                number += 1

    def _ask(self, port: int) -> None:
        self.answers.append(request(port))

    def stop(self) -> list[Answer]:
        """End it, wait for the last answers, and return all of them."""
        self._ended.set()
        self._thread.join(PATIENCE * 3)
        return self.answers


class Sample(t.NamedTuple):
    """What one HAProxy said at a time: by (backend, server), "in" for one that takes new sessions, or why it takes none."""

    at: float
    balancer: str
    servers: dict[tuple[str, str], str]


class Sampler:
    """Asks each HAProxy by its socket, five times a second, without any code of the collection."""

    def __init__(self, balancers: t.Mapping[str, HAProxy]) -> None:
        self._balancers = balancers
        self.samples: list[Sample] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while not self._ended.wait(0.2):
            self.look()

    def look(self) -> list[Sample]:
        """Ask all of them now. One that does not answer, as during a reload, has no servers."""
        found = []
        for name, balancer in self._balancers.items():
            try:
                servers = taking(balancer.ask("show stat -1 4 -1"))
            except OSError:
                servers = {}
            found.append(Sample(time.time(), name, servers))
        self.samples += found
        return found

    def changes(self, since: float) -> list[str]:
        """Return a line for each change, with the second."""
        last: dict[str, dict[tuple[str, str], str]] = {}
        lines = []
        for sample in sorted(self.samples):
            if sample.servers and last.get(sample.balancer) != sample.servers:
                last[sample.balancer] = sample.servers
                words = ", ".join(f"{backend}/{server} {word}" for (backend, server), word in sorted(sample.servers.items()))
                lines.append(f"{sample.at - since:6.1f} s {sample.balancer}: {words}")
        return lines

    def stop(self) -> None:
        self._ended.set()
        self._thread.join(10)


def taking(answer: str) -> dict[tuple[str, str], str]:
    """Read "show stat": who takes new sessions."""
    found = {}
    for row in csv.DictReader(answer.removeprefix("# ").splitlines()):
        word = row["status"]
        if word.startswith(("UP", "no check")):
            word = "backup" if row["bck"] == "1" else "in" if int(row["weight"]) > 0 else "weight 0"
        found[row["pxname"], row["svname"]] = word
    return found
