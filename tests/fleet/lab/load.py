# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Users: a steady number of requests a second, each recorded, none repeated.

As a program (arguments: url, requests a second, file) it writes one line of JSON for each request, until it is ended.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import pathlib
import signal
import subprocess
import sys
import time
import typing as t
import urllib.parse

PATIENCE = 15.0


async def request(host: str, port: int) -> tuple[int, str, str, str]:
    """Status, server, the application's version, and what went wrong, of one request over a connection of its own."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        head, _mark, body = (await reader.read(-1)).partition(b"\r\n\r\n")
    finally:
        writer.close()
    lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _mark, value in (line.partition(":") for line in lines[1:])}
    status = int(lines[0].split(" ")[1]) if lines[0].startswith("HTTP/") else 0
    cut = len(body) != int(headers.get("content-length", len(body)))
    error = "the body is cut short" if cut else "" if status == 200 else lines[0] or "no answer"
    return status, headers.get("x-server", ""), headers.get("x-version", ""), error


async def user(host: str, port: int, output: t.TextIO) -> None:
    began = time.time()
    status, server, version, error = 0, "", "", ""
    try:
        status, server, version, error = await asyncio.wait_for(request(host, port), PATIENCE)
    except (OSError, ValueError, IndexError, asyncio.TimeoutError) as problem:
        error = f"{type(problem).__name__} {problem}".strip()
    line = {"at": began, "seconds": round(time.time() - began, 3), "status": status, "server": server, "version": version, "error": error}
    output.write(json.dumps(line) + "\n")
    output.flush()


async def generate(url: str, rate: float, path: str) -> None:
    address = urllib.parse.urlsplit(url)
    users: set[asyncio.Task[None]] = set()
    begun = time.monotonic()
    number = 0
    over = asyncio.Event()
    # Nobody is cut off in the middle: the load balancer would write down a request that failed.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
    with open(path, "w") as output:
        while not over.is_set():
            number += 1
            await asyncio.sleep(max(0.0, begun + number / rate - time.monotonic()))
            task = asyncio.create_task(user(address.hostname or "", address.port or 80, output))
            users.add(task)
            task.add_done_callback(users.discard)
        if users:
            await asyncio.wait(users)


@dataclasses.dataclass(frozen=True)
class Request:
    at: float
    seconds: float
    status: int
    server: str
    version: str
    error: str

    @property
    def failed(self) -> bool:
        return bool(self.error)


class Load:
    """The program above, as a process of the lab."""

    def __init__(self, url: str, rate: float, path: pathlib.Path) -> None:
        self._path = path
        command = ["nice", "-n", "-5", sys.executable, "-I", __file__, url, str(rate), str(path)]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL)

    def so_far(self) -> list[Request]:
        """Every request that is over."""
        lines = self._path.read_text().splitlines(keepends=True)
        return [Request(**json.loads(line)) for line in lines if line.endswith("\n")]

    def stop(self) -> list[Request]:
        """Ends it, after what is under way; every request."""
        time.sleep(5)
        if self._process.poll() is not None:
            raise RuntimeError("the load generator ended by itself")
        self._process.terminate()
        self._process.wait(PATIENCE + 10)
        return self.so_far()


if __name__ == "__main__":
    asyncio.run(generate(sys.argv[1], float(sys.argv[2]), sys.argv[3]))
