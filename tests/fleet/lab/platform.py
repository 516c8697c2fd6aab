# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Azure: the simulator, which decides when, and what really happens to a guest then."""

from __future__ import annotations

import functools
import json
import pathlib
import socket
import sys
import time
import typing as t

from lab.simulator import Simulator

from .commands import in_background
from .guest import Guest
from .oracle import Oracle

# Run by the simulator at each transition; it gets the entry on its input and passes it on.
HOOK = """
import socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
    connection.connect(sys.argv[1])
    connection.sendall(sys.stdin.buffer.read())
"""


class Platform:
    """Plays out on the guests what the simulator says. ``happened`` lists it with real times,
    ``approved`` how each VM of an event stood when somebody approved it."""

    def __init__(self, guests: dict[str, Guest], oracle: Oracle, work: pathlib.Path) -> None:
        self._guests, self._oracle = guests, oracle
        self.happened: list[dict[str, t.Any]] = []
        self.approved: list[dict[str, t.Any]] = []
        self.faults: list[str] = []
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(work / "hook.socket"))
        self._listener.listen(64)
        (work / "hook.py").write_text(HOOK)
        hook = f"{sys.executable} -I -S {work / 'hook.py'} {work / 'hook.socket'}"
        self.simulator = Simulator(list(guests), 1, "--hook", hook)
        in_background(self._listen, "hook")

    def _listen(self) -> None:
        while True:
            try:
                connection, _address = self._listener.accept()
            except OSError:
                return
            with connection:
                text = b""
                while part := connection.recv(65536):
                    text += part
            self._pass_on(json.loads(text))

    def _pass_on(self, entry: dict[str, t.Any]) -> None:
        if entry["transition"] == "approved":
            self._attempt(entry, lambda: self._note_approval(entry))
        elif entry["transition"] in ("impact", "impact_ended"):
            act = self._hit if entry["transition"] == "impact" else self._bring_back
            for vm in entry["resources"]:
                work = functools.partial(self._attempt, entry, functools.partial(act, self._guests[vm], entry))
                in_background(work, f"{entry['transition']} of {vm}")

    def _attempt(self, entry: dict[str, t.Any], work: t.Callable[[], None]) -> None:
        """The error of a thread would be seen by nobody: tests look at ``faults``."""
        try:
            work()
        except Exception as problem:
            self.faults.append(f"{entry['transition']} of {entry['resources']}: {problem!r}")

    def _note_approval(self, entry: dict[str, t.Any]) -> None:
        self.approved.append({"event_id": entry["event_id"], **{vm: self._oracle.how_users_reach(vm) for vm in entry["resources"]}})

    def _hit(self, guest: Guest, entry: dict[str, t.Any]) -> None:
        kind = entry["event"]["impact_type"]
        # First of all, and without an observation at any record: is it out of service?
        seen = self._oracle.how_users_reach(guest.name)
        self.happened.append({"event_id": entry["event_id"], "vm": guest.name, "kind": kind, "began": time.time(), "ended": None, **seen})
        guest.pause() if kind == "Freeze" else guest.power_off()

    def _bring_back(self, guest: Guest, entry: dict[str, t.Any]) -> None:
        guest.resume() if entry["event"]["impact_type"] == "Freeze" else guest.boot()
        for one in self.happened:
            if one["event_id"] == entry["event_id"] and one["vm"] == guest.name and one["ended"] is None:
                one["ended"] = time.time()

    def close(self) -> None:
        self.simulator.close()
        self._listener.close()
