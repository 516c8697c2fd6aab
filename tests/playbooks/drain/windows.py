# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts of a fleet that are "Windows" VMs: a folder, behind the stand-ins in tests/lab/windows. No Windows is involved."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from fleet import ROOT, Fleet, Host

sys.path.insert(0, str(ROOT / "tests"))

from lab.windows_machine import STAND_INS, WindowsMachine, stand_in_paths  # noqa: E402  the folder of tests is no package


class WindowsHost(Host):
    """One whose machine is played by the stand-ins."""

    def __init__(self, folder: Path, name: str, methods: Any, **variables: Any) -> None:
        self.windows = WindowsMachine(folder / name / "windows")
        # What of PowerShell is played is in one program; what it does not know fails.
        self.windows.set("powershell.json", [{"contains": "", "run": [sys.executable, str(STAND_INS / "programs" / "powershell.py")]}])
        records = {"test_records": "C:\\ProgramData\\azure-maintenance"}
        super().__init__(folder, name, methods, **self.windows.connection(), **records, **variables)

    def services(self, **services: dict[str, Any]) -> None:
        """Each exactly as described."""
        for name, service in services.items():
            self.windows.set(f"services/{name}.json", service)

    def boot(self) -> None:
        self.variables["test_boot_id"] = str(self.variables["test_boot_id"]) + "+"

    @property
    def record(self) -> dict[str, Any]:
        files = self.windows.path("ProgramData/azure-maintenance").glob("event-*.json")
        newest = max(files, key=lambda file: int(file.name.split(".")[-2]), default=None)
        return json.loads(newest.read_text()) if newest else {}


class WindowsFleet(Fleet):
    without_iis = False

    def add(self, name: str, methods: Any, **variables: Any) -> WindowsHost:  # type: ignore[override]
        host = WindowsHost(self.folder, name, methods, **variables)
        self.hosts[name] = host
        return host

    def _observation(self, act: str, names: tuple[str, ...], more: dict[str, Any]) -> Any:
        tree = os.environ.get("ANSIBLE_COLLECTIONS_PATH") or str(self.folder / "tree")
        added = stand_in_paths({"ANSIBLE_COLLECTIONS_PATH": tree})
        if self.without_iis:
            added["ANSIBLE_COLLECTIONS_PATH"] = os.pathsep.join([str(self._only_windows()), tree])
        return super()._observation(act, names, {**more, "env": {**more.get("env", {}), **added}})

    def _only_windows(self) -> Path:
        """A path of collections with ansible.windows and not microsoft.iis."""
        folder = self.folder / "only_windows"
        (folder / "ansible_collections").mkdir(parents=True, exist_ok=True)
        link = folder / "ansible_collections" / "ansible"
        if not link.exists():
            link.symlink_to(STAND_INS / "collections" / "ansible_collections" / "ansible")
        return folder
