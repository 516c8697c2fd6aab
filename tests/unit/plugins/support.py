# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Helpers of the client's tests: a fake clock, a scripted transport, and a small HTTP server on loopback."""

from __future__ import annotations

import contextlib
import datetime
import json
import pathlib
import socket
import struct
import threading
import time
import typing as t

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.clock import Clock
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.client import Client
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.transport import Answer

PAYLOADS = pathlib.Path(__file__).resolve().parents[1] / "payloads"
EVENT_ID = "9FC59CBD-3396-4649-8E55-3D5A4B28E103"


def payload(name: str) -> bytes:
    return (PAYLOADS / name).read_bytes()


def raw_event(**changes: t.Any) -> dict[str, t.Any]:
    event = {
        "EventId": EVENT_ID,
        "EventStatus": "Scheduled",
        "EventType": "Reboot",
        "ResourceType": "VirtualMachine",
        "Resources": ["vm_0"],
        "NotBefore": "Sat, 21 Nov 2026 21:00:00 GMT",
        "Description": "Host server is undergoing maintenance.",
        "EventSource": "Platform",
        "DurationInSeconds": -1,
    }
    event.update(changes)
    return {key: value for key, value in event.items() if value is not ...}


def started(**changes: t.Any) -> dict[str, t.Any]:
    return raw_event(EventStatus="Started", NotBefore="", **changes)


def document(incarnation: t.Any, *events: t.Any) -> str:
    return json.dumps({"DocumentIncarnation": incarnation, "Events": list(events)})


class FakeClock(Clock):
    """A clock that advances only by sleep. It begins an hour before raw_event's NotBefore."""

    def __init__(self) -> None:
        self.passed = 0.0
        self.sleeps: list[float] = []
        self.begin = datetime.datetime(2026, 11, 21, 20, 0, tzinfo=datetime.timezone.utc)

    def monotonic(self) -> float:
        return 1000.0 + self.passed

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.passed += seconds

    def now(self) -> datetime.datetime:
        return self.begin + datetime.timedelta(seconds=self.passed)


Reply = t.Union[str, bytes, t.Tuple[int, str], Exception, t.Callable[[], t.Any]]


class FakeTransport:
    """Answers from a script; its last step repeats. Instance metadata has a script of its own."""

    endpoint = "http://fake"
    hint = "Check the script."

    def __init__(self, *script: Reply, clock: FakeClock | None = None, instance: Reply = '{"compute":{"name":"vm_0"}}', takes: float = 0.0):
        self.script = list(script)
        self.posts: list[Reply] = [""]
        self.instance = instance
        self.requests: list[tuple[str, str, t.Any]] = []
        self.limits: list[tuple[float, float]] = []
        self.clock = clock
        self.takes = takes

    def request(self, method: str, path: str, body: str | None = None, connect_timeout: float = 5.0, request_timeout: float = 125.0) -> Answer:
        self.requests.append((method, path, None if body is None else json.loads(body)))
        self.limits.append((connect_timeout, request_timeout))
        if self.clock:
            self.clock.passed += self.takes
        if path.startswith("/metadata/instance"):
            return self._answer(self.instance)
        return self._answer(_next(self.posts if method == "POST" else self.script))

    def _answer(self, step: Reply) -> Answer:
        if callable(step):
            step = step()
        if isinstance(step, Exception):
            raise step
        status, body = step if isinstance(step, tuple) else (200, step)
        return Answer(status, {}, body if isinstance(body, bytes) else body.encode())

    def close(self) -> None:
        self.script = []

    def sent(self, method: str) -> list[t.Any]:
        return [body for used, path, body in self.requests if used == method and "scheduledevents" in path]


def _next(script: list[Reply]) -> Reply:
    return script.pop(0) if len(script) > 1 else script[0]


def fake_client(transport: FakeTransport, clock: FakeClock | None = None, **options: t.Any) -> tuple[Client, list[str]]:
    warnings: list[str] = []
    clock = clock or FakeClock()
    transport.clock = clock
    return Client(transport, clock=clock, warn=warnings.append, **options), warnings


class Request(t.NamedTuple):
    connection: int
    method: str
    path: str
    headers: t.Dict[str, str]
    body: str


def http(status: int = 200, body: str | bytes = "", length: int | None = None, **headers: str) -> bytes:
    data = body if isinstance(body, bytes) else body.encode()
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(data) if length is None else length}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


class Server:
    """Real HTTP on loopback. Each request takes the next step of the script; the last one repeats.

    A step is the bytes of an answer, or a function that gets the connection and returns whether to keep it.
    """

    def __init__(self, *script: bytes | t.Callable[[socket.socket], bool], instance: bytes | None = None):
        self.script = list(script)
        self.instance = instance or http(body='{"compute":{"name":"vm_0"}}')
        self.requests: list[Request] = []
        self.connections = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *unused: t.Any) -> None:
        # Closed alone, it listens on until accept() returns, and a later server may get the same port: then each answers some of the other's requests.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, unused = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection, self.connections), daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        with connection, connection.makefile("rb") as reader:
            try:
                while True:
                    request = _read_request(reader, number)
                    if request is None:
                        return
                    self.requests.append(request)
                    step = self.instance if "/instance" in request.path else _next(t.cast(t.Any, self.script))
                    if callable(step):
                        if not step(connection):
                            return
                    else:
                        connection.sendall(t.cast(bytes, step))
            except OSError:
                return


def _read_request(reader: t.Any, number: int) -> Request | None:
    first = reader.readline().decode().split()
    if len(first) != 3:
        return None
    headers: dict[str, str] = {}
    while True:
        line = reader.readline().decode().strip()
        if not line:
            break
        name, unused, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = reader.read(int(headers.get("content-length", 0))).decode()
    return Request(number, first[0], first[1], headers, body)


def reset(connection: socket.socket) -> bool:
    """Answer with a TCP reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    # The reader shares the descriptor, so shutdown alone would send FIN; detach closes for good.
    socket.socket(fileno=connection.detach()).close()
    return False


def hang_up(connection: socket.socket) -> bool:
    """Close without an answer."""
    return False


def then_close(data: bytes) -> t.Callable[[socket.socket], bool]:
    def step(connection: socket.socket) -> bool:
        connection.sendall(data)
        return False

    return step


def slowly(seconds: float, data: bytes) -> t.Callable[[socket.socket], bool]:
    def step(connection: socket.socket) -> bool:
        time.sleep(seconds)
        connection.sendall(data)
        return True

    return step


def drip(data: bytes, pause: float) -> t.Callable[[socket.socket], bool]:
    """Send one byte after another: each arrives in time, the whole does not."""

    def step(connection: socket.socket) -> bool:
        for byte in data:
            connection.sendall(bytes([byte]))
            time.sleep(pause)
        return True

    return step
