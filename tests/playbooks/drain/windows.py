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

WINDOWS = ROOT / "tests" / "lab" / "windows"


class WindowsHost(Host):
    """A folder that plays a Windows machine, below the one that plays the VM."""

    def __init__(self, folder: Path, name: str, methods: Any, **variables: Any) -> None:
        home = folder / name / "windows"
        super().__init__(folder, name, methods, **variables)
        self.home = home
        self.drive = home / "C"
        self.drive.mkdir(parents=True)
        self.variables = {
            **windows_variables(home),
            **self.variables,
            "test_records": "C:\\ProgramData\\azure-maintenance",
        }
        self.write("powershell.json", [{"contains": "", "run": [sys.executable, str(WINDOWS / "programs" / "powershell.py")]}])

    def write(self, name: str, content: Any) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))

    def read(self, name: str) -> Any:
        return json.loads((self.home / name).read_text())

    def calls(self, module: str) -> list[dict[str, Any]]:
        """The arguments of each run of a stand-in module, in order."""
        path = self.home / "calls.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return [line["arguments"] for line in lines if line["module"] == module]

    def services(self, **services: dict[str, Any]) -> None:
        for name, service in services.items():
            self.write(f"services/{name}.json", service)

    def state_of(self, service: str) -> str:
        return str(self.read(f"services/{service}.json")["state"])

    def boot(self) -> None:
        self.variables["test_boot_id"] = str(self.variables["test_boot_id"]) + "+"

    @property
    def record(self) -> dict[str, Any]:
        files = (self.home / "C" / "ProgramData" / "azure-maintenance").glob("event-*.json")
        newest = max(files, key=lambda file: int(file.name.split(".")[-2]), default=None)
        return json.loads(newest.read_text()) if newest else {}


def windows_variables(home: Path) -> dict[str, Any]:
    return {
        "ansible_connection": "windows_stand_in",
        # As an inventory of real Windows hosts has it; it tells the roles what the VM is.
        "ansible_shell_type": "powershell",
        "windows_stand_in_home": str(home),
    }


class WindowsFleet(Fleet):
    def add(self, name: str, methods: Any, **variables: Any) -> WindowsHost:  # type: ignore[override]
        host = WindowsHost(self.folder, name, methods, **variables)
        self.hosts[name] = host
        return host

    def _look(self, act: str, names: tuple[str, ...], more: dict[str, Any]) -> Any:
        tree = more.get("env", {}).get("ANSIBLE_COLLECTIONS_PATH") or os.environ.get("ANSIBLE_COLLECTIONS_PATH") or str(self.folder / "tree")
        added = {
            "ANSIBLE_COLLECTIONS_PATH": os.pathsep.join([tree, str(WINDOWS / "collections")]),
            "ANSIBLE_CONNECTION_PLUGINS": str(WINDOWS / "connection_plugins"),
        }
        return super()._look(act, names, {**more, "env": {**more.get("env", {}), **added}})
