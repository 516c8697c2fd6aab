# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher of a VM of the lab, as the archive that role watch builds. systemd's part, which starts its units, is played by a loop here;
tests/guests/test_watch.py has the real one."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import threading
import typing as t

from ansible_collections.maintenance.azure.plugins.plugin_utils._watcher.drain_content import drain_content

from .lab import ROOT, Lab

GLOB = "-".join("?" * length for length in (8, 4, 4, 4, 12))


class Watcher:
    """The watcher of one VM. With ``drains`` it drains by itself for those types, by the methods that the lab gives the VM."""

    def __init__(self, lab: Lab, vm: str, drains: t.Sequence[str] = (), policy: t.Any = "default", **settings: t.Any) -> None:
        self.folder = lab.folder / f"watcher-{vm}"
        for name in ("runtime", "state", "seen", "drain"):
            (self.folder / name).mkdir(parents=True, mode=0o700)
        folders = {f"{name}_folder": str(self.folder / name) for name in ("runtime", "state", "seen", "drain")}
        content = {
            "endpoint": lab.simulator.endpoints[vm],
            "records_path": lab.hosts[vm]["respond_records_path"],
            "drain_types": list(drains),
            "drain_file": str(self._drain_file(lab.hosts[vm]["drain_methods"], vm, policy)),
            **folders,
            **settings,
        }
        (self.folder / "watch.json").write_text(json.dumps(content))
        pack = [str(ROOT / "plugins/plugin_utils/_controller/pack.py"), str(ROOT / "plugins/module_utils/_scheduled_events")]
        subprocess.run([sys.executable, *pack, str(self.folder / "watch.pyz"), "_scheduled_events.watch.main"], check=True)
        self.journal = self.folder / "journal"
        self.asker = self._start("ask")
        self.ended = threading.Event()
        self.threads = [threading.Thread(target=work) for work in (self._tell, self._drain)]
        for thread in self.threads:
            thread.start()

    def _drain_file(self, methods: t.Any, vm: str, policy: t.Any) -> pathlib.Path:
        path = self.folder / "drain.json"
        path.write_text(json.dumps(drain_content({"policy": policy, "methods": methods, "former": None, "host": vm, "folders": (), "places": ()})))
        path.chmod(0o600)
        return path

    def _start(self, word: str) -> subprocess.Popen[bytes]:
        with self.journal.open("ab") as journal:
            return subprocess.Popen([sys.executable, "-I", str(self.folder / "watch.pyz"), word, str(self.folder / "watch.json")], stderr=journal)

    def waiting(self) -> list[str]:
        return sorted(path.suffix for path in (self.folder / "state").iterdir() if path.suffix in (".waiting", ".accepted"))

    def lines(self) -> list[str]:
        """What its units have written to the journal."""
        return self.journal.read_text().splitlines()

    def _tell(self) -> None:
        """Start the teller while messages wait, as the path unit does."""
        while not self.ended.wait(0.1):
            if self.waiting():
                self._start("seen").wait(30)
                self._run("tell")

    def _drain(self) -> None:
        """Start the draining unit while events are named, as the path unit does."""
        while not self.ended.wait(0.1):
            if any((self.folder / "drain").glob(GLOB)):
                self._run("drain")

    def _run(self, word: str) -> None:
        process = self._start(word)
        while process.poll() is None and not self.ended.wait(0.1):
            pass
        process.terminate()
        process.wait(10)

    def end(self) -> None:
        self.ended.set()
        for thread in self.threads:
            thread.join(30)
        self.asker.kill()
        self.asker.wait(10)
