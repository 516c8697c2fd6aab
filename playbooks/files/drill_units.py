# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Play systemd for the watchers of a rehearsal: run each asker, and start the draining and the telling unit when files for them appear.

``drill_units.py FOLDER SECONDS VM...``: the folder has the archive, ``simulator.pid``, and for each VM a folder with its settings. It ends with the
simulator, or after the seconds, and all that it has started ends with it.
"""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time

# What role watch gives the path units: the names of events, and messages that wait.
EVENTS = "-".join("?" * length for length in (8, 4, 4, 4, 12))
MESSAGES = "*.waiting"
STEP = 0.1
PATIENCE = 5.0


class Units:
    """The units of one VM. Their journal is a file."""

    def __init__(self, archive: pathlib.Path, folder: pathlib.Path) -> None:
        self._archive = archive
        self._folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._start("ask")

    def look(self) -> None:
        """Start what has to run and does not."""
        if any((self._folder / "drain").glob(EVENTS)):
            self._start("drain")
        if any((self._folder / "state").glob(MESSAGES)):
            self._start("tell")

    def _start(self, command: str) -> None:
        if command in self._running and self._running[command].poll() is None:
            return
        words = [sys.executable, "-I", str(self._archive), command, str(self._folder / "watch.json")]
        with (self._folder / "journal").open("ab") as journal:
            self._running[command] = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=journal, stderr=journal)

    def end(self) -> None:
        """End all."""
        for process in self._running.values():
            process.terminate()
        for process in self._running.values():
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def main(where: str, seconds: str, *vms: str) -> None:
    """Play systemd until the simulator has ended."""
    signal.signal(signal.SIGTERM, lambda *_signal: sys.exit(0))
    folder, end = pathlib.Path(where), time.monotonic() + float(seconds)
    note = folder / "units.pid"
    note.write_text(f"{os.getpid()}\n")
    machines: list[Units] = []
    try:
        for vm in vms:
            machines.append(Units(folder / "watch.pyz", folder / vm))
        while (folder / "simulator.pid").exists() and time.monotonic() < end:
            for units in machines:
                units.look()
            time.sleep(STEP)
    finally:
        for units in machines:
            units.end()
        note.unlink(missing_ok=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
