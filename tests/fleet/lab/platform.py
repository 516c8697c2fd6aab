# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Azure: the simulator, which decides when, and what really happens to a guest then."""

from __future__ import annotations

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
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                text = b""
                while part := connection.recv(65536):
                    text += part
            entry = json.loads(text)
            if entry["transition"] == "approved":
                self.approved.append({"event_id": entry["event_id"], **{vm: self._oracle.before_impact(vm) for vm in entry["resources"]}})
            if entry["transition"] in ("impact", "impact_ended"):
                for vm in entry["resources"]:
                    in_background(lambda vm=vm, entry=entry: self._carry_out(self._guests[vm], entry), f"{entry['transition']} of {vm}")

    def _carry_out(self, guest: Guest, entry: dict[str, t.Any]) -> None:
        try:
            kind = entry["event"]["impact_type"] if "impact_type" in entry["event"] else entry["event"]["event_type"]
            if entry["transition"] == "impact":
                # First of all, and without a look at any record: is it out of service?
                seen = self._oracle.before_impact(guest.name)
                began = time.time()
                guest.pause() if kind == "Freeze" else guest.power_off()
                self.happened.append({"event_id": entry["event_id"], "vm": guest.name, "kind": kind, "began": began, "ended": None, **seen})
            else:
                guest.resume() if kind == "Freeze" else guest.boot()
                for one in self.happened:
                    if one["event_id"] == entry["event_id"] and one["vm"] == guest.name and one["ended"] is None:
                        one["ended"] = time.time()
        except Exception as problem:  # a thread's error would be seen by nobody
            self.faults.append(f"{entry['transition']} of {guest.name}: {problem!r}")

    def close(self) -> None:
        self.simulator.close()
        self._listener.close()
