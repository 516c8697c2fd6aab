# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""HAProxy's own log of a stretch of time: who was out of service when, and which requests it could not serve."""

from __future__ import annotations

import dataclasses
import datetime
import pathlib
import re
import typing as t

# "2026-11-22T07:42:39.503238+00:00 Server web/web2 enters drain state. 5 active and 0 backup servers online. ..."
SERVER = re.compile(r"(?P<at>\S+T\S+) Server web/(?P<vm>\S+) (?P<words>.*)")
# "2026-11-22T07:42:40.725166+00:00 192.0.2.1:58242 [...] site web/web4 0/0/0/0/0 200 2208 - - ---- 1/1/0/0/0 0/0 "GET / HTTP/1.1""
REQUEST = re.compile(r"\S+T\S+ \S+ \[\S+\] site \S+/(?P<vm>\S+) \S+ (?P<status>-?\d+) \d+ - - (?P<end>\S{4}) ")
COUNT = re.compile(r"(\d+) active and \d+ backup servers (?:left|online)")
WENT = ("is DOWN", "is going DOWN", "enters drain state", "is stopping")
# In this order: "is UP/DRAIN" sends nobody there yet.
STAYS_OUT = ("is UP/DRAIN", "remains in")
CAME = ("is UP",)


@dataclasses.dataclass
class Change:
    """A server went or came; who was out then, and what HAProxy itself counted."""

    at: float
    vm: str
    out: frozenset[str]
    words: str


@dataclasses.dataclass
class Stretch:
    changes: list[Change]
    requests: int
    failed: int
    end: float

    @property
    def most_out(self) -> int:
        return max((len(change.out) for change in self.changes), default=0)

    def of(self, vm: str) -> list[Change]:
        return [change for change in self.changes if change.vm == vm]

    def times_out(self, vm: str) -> list[tuple[float, float]]:
        """From when until when users were not sent to a server."""
        found: list[tuple[float, float]] = []
        since: float | None = None
        for change in self.changes:
            if vm in change.out and since is None:
                since = change.at
            elif vm not in change.out and since is not None:
                found.append((since, change.at))
                since = None
        return [*found, (since, self.end)] if since is not None else found

    def seconds_with(self, many: int) -> float:
        """For how long so many, or more, were out together."""
        ends = [change.at for change in self.changes[1:]] + [self.end]
        return sum(end - change.at for change, end in zip(self.changes, ends) if len(change.out) >= many)


class BalancerLog:
    """The log from the moment at which this is made, with all servers in service."""

    def __init__(self, path: pathlib.Path, servers: t.Collection[str]) -> None:
        self._path, self._servers = path, servers
        self._begin = path.stat().st_size

    def read(self, end: float) -> Stretch:
        with self._path.open("rb") as file:
            file.seek(self._begin)
            lines = file.read().decode(errors="replace").splitlines()
        requests = [found for line in lines if (found := REQUEST.match(line))]
        # A status that is not 200, or an end that is not an ordinary one ("----").
        failed = [found for found in requests if found["status"] != "200" or found["end"] != "----"]
        return Stretch(self._changes(lines), len(requests), len(failed), end)

    def _changes(self, lines: t.Iterable[str]) -> list[Change]:
        out: set[str] = set()
        changes = []
        for line in lines:
            found = SERVER.match(line)
            if found is None:
                continue
            vm, words = found["vm"], found["words"]
            if words.startswith((*WENT, *STAYS_OUT)):
                out.add(vm)
            elif words.startswith(CAME):
                out.discard(vm)
            else:
                raise AssertionError(f"nobody knows what HAProxy says of {vm} there: {words}")
            self._compare(words, out)
            at = datetime.datetime.fromisoformat(found["at"]).timestamp()
            changes.append(Change(at, vm, frozenset(out), words))
        return changes

    def _compare(self, words: str, out: set[str]) -> None:
        """Where HAProxy says how many it has left, it must be the same number."""
        count = COUNT.search(words)
        if count and int(count[1]) != len(self._servers) - len(out):
            raise AssertionError(f"HAProxy counts {count[1]} active servers, and by its log {sorted(out)} are out: {words}")
