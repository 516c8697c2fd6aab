# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Control groups of the lab, one for each guest: what belongs to a guest, and how it is frozen.

Version 1 has a hierarchy of its own for freezing, which a guest cannot leave. Version 2 freezes with everything below. Both
really stop every process of the guest; there is no other way here, and the lab says so when neither is writable.
"""

from __future__ import annotations

import os
import pathlib
import signal

from .commands import until


def hierarchies() -> tuple[pathlib.Path, list[pathlib.Path]]:
    """The hierarchy that freezes, and all in which a guest gets a group of its own."""
    freezer: pathlib.Path | None = None
    unified: pathlib.Path | None = None
    named: list[pathlib.Path] = []
    for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
        _source, place, kind, options = line.split(" ")[:4]
        if kind == "cgroup" and "freezer" in options.split(","):
            freezer = pathlib.Path(place)
        elif kind == "cgroup" and "name=systemd" in options.split(","):
            named.append(pathlib.Path(place))
        elif kind == "cgroup2":
            unified = pathlib.Path(place)
    freezes = freezer or unified
    if freezes is None or not os.access(freezes, os.W_OK):
        raise RuntimeError("no writable control groups: the lab cannot freeze a guest on this machine")
    return freezes, [place for place in (freezer, unified, *named) if place is not None]


class Cgroup:
    """The group of one guest, in every hierarchy that matters."""

    def __init__(self, above: str, name: str) -> None:
        freezes, places = hierarchies()
        self._freezer = freezes / above / name
        self._folders = [place / above / name for place in places]

    def make(self) -> None:
        """A new and empty group: groups inside that an earlier boot has left would confuse the next systemd."""
        for folder in self._folders:
            for inner in sorted(folder.rglob("*"), key=lambda path: -len(path.parts)):
                if inner.is_dir():
                    inner.rmdir()
            folder.mkdir(parents=True, exist_ok=True)

    def entering(self, command: list[str]) -> list[str]:
        """A command line that runs a command inside the group."""
        script = 'while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs" || exit 1; shift; done; shift; exec "$@"'
        return ["sh", "-c", script, "enter", *map(str, self._folders), "--", *command]

    def processes(self) -> list[int]:
        found: list[int] = []
        for path in [self._freezer, *self._freezer.rglob("*")]:
            if path.is_dir():
                found += map(int, (path / "cgroup.procs").read_text().split())
        return [process for process in found if process]

    def kill(self) -> None:
        """Power off: nobody in there gets to do anything any more, also when it was frozen."""

        def all_dead() -> bool:
            for process in self.processes():
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.thaw()
            return not self.processes()

        until(all_dead, 15, f"the processes of {self._freezer.name} are dead")

    def freeze(self) -> None:
        if (self._freezer / "freezer.state").exists():
            (self._freezer / "freezer.state").write_text("FROZEN")
            until(lambda: (self._freezer / "freezer.state").read_text().strip() == "FROZEN", 5, f"{self._freezer.name} is frozen")
        else:
            (self._freezer / "cgroup.freeze").write_text("1")
            until(lambda: "frozen 1" in (self._freezer / "cgroup.events").read_text(), 5, f"{self._freezer.name} is frozen")

    def thaw(self) -> None:
        state = self._freezer / "freezer.state"
        if state.exists():
            state.write_text("THAWED")
        else:
            (self._freezer / "cgroup.freeze").write_text("0")
