# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Count the TCP connections of a VM that may still carry data for a client."""

from __future__ import annotations

import typing as t

TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
# Established, being made, closing with data on the way (include/net/tcp_states.h). Not listening, not TIME_WAIT, and not those that only
# wait for the other side.
BUSY = frozenset(("01", "03", "04", "08", "0C"))


class Connections(t.Protocol):
    """The connections of one VM."""

    def count(self, ports: t.Collection[int]) -> int:
        """Return how many busy connections the local ports have. Raise OSError where the table of connections cannot be read."""


class LocalConnections:
    """The connections in this machine's network namespace."""

    def __init__(self, tables: t.Sequence[str] = TABLES) -> None:
        self._tables = tables

    def count(self, ports: t.Collection[int]) -> int:
        lines = [line for table in self._tables for line in _read(table)]
        # The header proves that a table could be read at all.
        if not any("local_address" in line for line in lines):
            raise OSError("the table of connections cannot be read: {}".format(", ".join(self._tables)))
        return sum(1 for line in lines if _is_busy(line, ports))


def _read(table: str) -> list[str]:
    try:
        with open(table, encoding="ascii", errors="replace") as stream:
            return stream.read().splitlines()
    except OSError:
        return []


def _is_busy(line: str, ports: t.Collection[int]) -> bool:
    # sl  local_address rem_address   st ...
    columns = line.split()
    if len(columns) < 4 or columns[3] not in BUSY:
        return False
    try:
        return int(columns[1].rpartition(":")[2], 16) in ports
    except ValueError:
        return False
