# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""HAProxy's runtime socket: the state of a server, and the three states that an administrator can set."""

from __future__ import annotations

import csv
import re
import socket
import time
import typing as t

STATES = ("ready", "drain", "maint")
# Bits of srv_admin_state that were set by hand or in the configuration. A state that is inherited from a tracked server, or
# that comes from a name that does not resolve, is not this module's to change.
FORCED_MAINT, FORCED_DRAIN = 0x01, 0x08
CHECK_ENABLED = 0x04
# srv_op_state: 0 stopped, 1 starting (slowstart), 2 running, 3 stopping (its check asks for no new sessions).
OPERATIONAL = (1, 2)
# Server and backend names as HAProxy allows them. Any other text could contain a second command.
NAME = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
LARGEST_ANSWER = 64 * 1024 * 1024
# With "fall 1" the health counter proves nothing about the time after maintenance. A check that was due then has ended after these seconds.
SETTLED_SECONDS = 5


class RuntimeSocketError(Exception):
    """The socket cannot be used, or HAProxy refuses a command; the message names the socket and the reason."""


class Server(t.NamedTuple):
    """One server of one backend, as HAProxy reports it."""

    backend: str
    server: str
    state: str
    status: str
    up: bool
    checked: bool
    passed: bool
    sessions: int
    queued: int


class Runtime:
    """One runtime socket. Each command has its own connection, which HAProxy closes after the answer."""

    def __init__(self, address: str, timeout: float) -> None:
        self.address = address
        self.timeout = timeout

    def ask(self, command: str) -> str:
        """Send one command and return its complete answer. Raise RuntimeSocketError where the socket cannot be used."""
        until = time.monotonic() + self.timeout
        try:
            with self._connect() as connection:
                connection.sendall(command.encode("ascii") + b"\n")
                return self._receive(connection, until).decode("utf-8", "replace")
        except (OSError, ValueError) as error:
            raise RuntimeSocketError(
                f"HAProxy's runtime socket {self.address} cannot be used: {error}. It must be the path or the host:port of a "
                "'stats socket' with 'level admin' in the configuration of HAProxy, and this user must be allowed to use it."
            )

    def _connect(self) -> socket.socket:
        if self.address.startswith("/"):
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                connection.settimeout(self.timeout)
                connection.connect(self.address)
            except OSError:
                connection.close()
                raise
            return connection
        host, _colon, port = self.address.rpartition(":")
        if not host or not port.isdecimal():
            raise ValueError("it is neither an absolute path nor host:port")
        return socket.create_connection((host.strip("[]"), int(port)), self.timeout)

    def _receive(self, connection: socket.socket, until: float) -> bytes:
        parts: list[bytes] = []
        size = 0
        while True:
            left = until - time.monotonic()
            if left <= 0:
                raise OSError(f"no complete answer within {self.timeout} s")
            connection.settimeout(left)
            part = connection.recv(65536)
            if not part:
                return b"".join(parts)
            parts.append(part)
            size += len(part)
            if size > LARGEST_ANSWER:
                raise OSError(f"an answer of more than {LARGEST_ANSWER} bytes")

    def servers(self, server: str, backends: t.Sequence[str] = ()) -> dict[str, Server]:
        """Return the server by backend: every backend that has it, or the given ones. Raise RuntimeSocketError if one of those lacks it."""
        for name in [server, *backends]:
            if not NAME.fullmatch(name):
                raise RuntimeSocketError(f"{name!r} cannot be the name of a server or a backend in HAProxy.")
        states = _rows(_state_lines(self.ask("show servers state")), " ", "be_name", "srv_name")
        stats = _rows(self.ask("show stat -1 4 -1").splitlines(), ",", "pxname", "svname")
        found = {
            backend: _server(backend, server, row, stats[backend, name])
            for (backend, name), row in states.items()
            if name == server and (not backends or backend in backends) and (backend, name) in stats
        }
        missing = [backend for backend in backends if backend not in found] or ([] if found else ["any backend"])
        if missing:
            there = sorted({f"{backend}/{name}" for backend, name in states})
            raise RuntimeSocketError(
                f"HAProxy at {self.address} has no server {server} in {', '.join(missing)}. "
                f"It has: {', '.join(there[:20]) or 'no servers'}{' and others' if len(there) > 20 else ''}."
            )
        return found

    def set_state(self, backend: str, server: str, state: str) -> None:
        """Set one of STATES. HAProxy answers nothing on success."""
        answer = self.ask(f"set server {backend}/{server} state {state}").strip()
        if answer:
            raise RuntimeSocketError(f"HAProxy at {self.address} refuses to set {backend}/{server} to {state}: {answer[:200]}")


def _state_lines(answer: str) -> list[str]:
    """Return the lines after the first one, which is the version of the format."""
    lines = answer.splitlines()
    return lines[1:] if lines and lines[0].strip().isdecimal() else lines


def _rows(lines: t.Sequence[str], separator: str, backend: str, server: str) -> dict[tuple[str, str], dict[str, str]]:
    """Parse a table whose first line begins with # and names its columns; newer versions of HAProxy have more of them."""
    if not lines or not lines[0].startswith("# "):
        first_line = lines[0][:200] if lines else "nothing"
        raise RuntimeSocketError(f"HAProxy's answer has no table; it says: {first_line}")
    reader = csv.DictReader([lines[0][2:]] + [line for line in lines[1:] if line.strip()], delimiter=separator)
    if not {backend, server} <= set(reader.fieldnames or ()):
        raise RuntimeSocketError(f"HAProxy's answer has no columns {backend} and {server}; it has: {lines[0][:200]}")
    return {(row[backend], row[server]): row for row in reader}


def _number(row: t.Mapping[str, t.Any], key: str) -> int:
    value = str(row.get(key) or "0")
    return int(value) if value.lstrip("-").isdecimal() else 0


def _server(backend: str, name: str, state: t.Mapping[str, t.Any], stat: t.Mapping[str, t.Any]) -> Server:
    admin = _number(state, "srv_admin_state")
    up = _number(state, "srv_op_state") in OPERATIONAL
    checked = bool(_number(state, "srv_check_state") & CHECK_ENABLED or _number(state, "srv_agent_state") & CHECK_ENABLED)
    return Server(
        backend=backend,
        server=name,
        state="maint" if admin & FORCED_MAINT else "drain" if admin & FORCED_DRAIN else "ready",
        status=str(stat.get("status") or ""),
        up=up,
        checked=checked,
        passed=up and (not checked or _passed(state, stat)),
        sessions=_number(stat, "scur"),
        queued=_number(stat, "qcur"),
    )


def _passed(state: t.Mapping[str, t.Any], stat: t.Mapping[str, t.Any]) -> bool:
    """Return whether a check has succeeded since maintenance ended: HAProxy itself reports the server up at once, with its counter at rise."""
    rise, fall, health = (_number(stat, key) for key in ("check_rise", "check_fall", "check_health"))
    if fall > 1:
        return health > rise
    return _number(state, "srv_time_since_last_change") >= SETTLED_SECONDS


def next_state(server: Server, wanted: str, check_first: bool) -> str | None:
    """Return the state to set now; None if it is reached or a check has to pass first.

    A server that returns from maintenance would get sessions before HAProxy has checked it. In drain it is checked, and gets none.
    """
    if server.state == wanted:
        return None
    if wanted == "ready" and check_first and server.checked and not server.passed:
        return "drain" if server.state == "maint" else None
    return wanted
