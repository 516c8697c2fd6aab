# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""HAProxy's runtime socket: the state of a server, and the three states that an administrator can set."""

from __future__ import annotations

import csv
import re
import socket
import time
import typing as t

from ._haproxy_left import CHECK_ENABLED, OPERATIONAL, Guard, Rows, left
from ._scheduled_events.core.types import Data, Values

STATES = ("ready", "drain", "maint")
# Bits of srv_admin_state that were set by hand or in the configuration. A state that is inherited from a tracked server, or
# that comes from a name that does not resolve, is not this module's to change.
FORCED_MAINT, FORCED_DRAIN = 0x01, 0x08
# Server and backend names as HAProxy allows them. Any other text could contain a second command.
NAME = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
LARGEST_ANSWER = 64 * 1024 * 1024
OUT = "out"


class RuntimeSocketError(Exception):
    """The socket cannot be used, or HAProxy refuses a command; the message names the socket and the reason."""

    kind = "refused"


class NotReached(RuntimeSocketError):
    """HAProxy cannot be asked, or has gone in the middle of its answer."""

    kind = "away"


class Server(t.NamedTuple):
    """One server of one backend, as HAProxy reports it."""

    backend: str
    server: str
    state: str
    status: str
    up: bool
    checked: bool
    """Whether it has a health check of its own, which can prove that it serves."""
    sessions: int
    queued: int


class Observed(t.NamedTuple):
    """One look at HAProxy."""

    servers: dict[str, Server]
    """The server, by backend."""
    left: dict[str, Data]
    """Who takes new sessions beside it, by backend: see _haproxy_left.py."""


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
            raise NotReached(
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

    def servers(self, server: str, backends: t.Sequence[str] = (), guard: Guard | None = None) -> Observed:
        """Return the server by backend: every backend that has it, or the given ones. Raise RuntimeSocketError if one of those lacks it."""
        for name in [server, *backends]:
            if not NAME.fullmatch(name):
                raise RuntimeSocketError(f"{name!r} cannot be the name of a server or a backend in HAProxy.")
        states = _rows(_state_lines(self.ask("show servers state")), " ", "be_name", "srv_name")
        stats = _rows(self.ask("show stat -1 4 -1").splitlines(), ",", "pxname", "svname")
        rows: Rows = {key: {**stats.get(key, {}), **row} for key, row in states.items()}
        found = {
            backend: _server(backend, server, rows[backend, name])
            for backend, name in rows
            if name == server and (not backends or backend in backends) and (backend, name) in stats
        }
        missing = [backend for backend in backends if backend not in found] or ([] if found else ["any backend"])
        if missing:
            there = sorted({f"{backend}/{name}" for backend, name in states})
            raise RuntimeSocketError(
                f"HAProxy at {self.address} has no server {server} in {', '.join(missing)}. "
                f"It has: {', '.join(there[:20]) or 'no servers'}{' and others' if len(there) > 20 else ''}."
            )
        return Observed(found, left(rows, server, found, guard or Guard()))

    def set_state(self, backend: str, server: str, state: str, proven: bool = False) -> None:
        """Set one of STATES. HAProxy answers nothing on success. C(proven): a server that becomes ready is down until its check has passed.

        In one line, so that no kill comes between: in drain it gets no sessions, down neither, and HAProxy itself takes it in when a check has brought
        it up. It needs no look of ours at the right moment, for any rise, fall and inter.
        """
        name = f"set server {backend}/{server}"
        line = f"{name} state {state}"
        answer = self.ask(f"{name} state drain; {name} health down; {line}" if proven else line).strip()
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
        raise NotReached(f"HAProxy's answer has no table; it says: {first_line}")
    reader = csv.DictReader([lines[0][2:]] + [line for line in lines[1:] if line.strip()], delimiter=separator)
    if not {backend, server} <= set(reader.fieldnames or ()):
        raise RuntimeSocketError(f"HAProxy's answer has no columns {backend} and {server}; it has: {lines[0][:200]}")
    return {(row[backend], row[server]): row for row in reader}


def _number(row: Values, key: str) -> int:
    value = str(row.get(key) or "0")
    return int(value) if value.lstrip("-").isdecimal() else 0


def _server(backend: str, name: str, row: Values) -> Server:
    admin = _number(row, "srv_admin_state")
    return Server(
        backend=backend,
        server=name,
        state="maint" if admin & FORCED_MAINT else "drain" if admin & FORCED_DRAIN else "ready",
        status=str(row.get("status") or ""),
        up=_number(row, "srv_op_state") in OPERATIONAL,
        # One that follows another by "track" has none, and an agent is asked about the load.
        checked=bool(_number(row, "srv_check_state") & CHECK_ENABLED),
        sessions=_number(row, "scur"),
        queued=_number(row, "qcur"),
    )


def next_state(server: Server, wanted: str, direction: str | None, sessions: int) -> str | None:
    """Return the state to set now; None if it is reached, or if it is not the server's to take in this direction.

    On its way out it goes from ready to drain, and from drain to maint once its sessions are gone; on its way in from maint to drain or to ready. Anything
    else is a state that an operator has set.
    """
    if server.state == wanted:
        return None
    if wanted == "ready" or direction is None:
        return wanted
    if direction == OUT:
        goes = server.state == "ready" if wanted == "drain" else server.state == "drain" and server.sessions <= sessions
    else:
        goes = server.state == "maint"
    return wanted if goes else None
