# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A "Windows" VM as tests see it: a folder that the stand-ins in tests/lab/windows act on. No Windows is involved."""

from __future__ import annotations

import json
import os
import pathlib
import time
import typing as t

from . import warm

STAND_INS = pathlib.Path(__file__).resolve().parent / "windows"
COLLECTIONS = STAND_INS / "collections" / "ansible_collections"


def stand_in_paths(environment: t.Mapping[str, str]) -> dict[str, str]:
    """What makes Ansible find the stand-ins, before anything else of their names."""
    first = {
        "ANSIBLE_COLLECTIONS_PATH": STAND_INS / "collections",
        "ANSIBLE_CONNECTION_PLUGINS": STAND_INS / "connection_plugins",
    }
    return {name: os.pathsep.join([str(path), *filter(None, [environment.get(name)])]) for name, path in first.items()}


class WindowsMachine:
    """One folder; see plugins/module_utils/machine.py of the stand-in collection for what is in it."""

    def __init__(self, home: pathlib.Path) -> None:
        self.home = home
        (home / "C").mkdir(parents=True)
        self.set("boot.json", {"booted": time.time() - 86400})

    def connection(self) -> dict[str, t.Any]:
        """The host's variables. The shell type is what inventories of real Windows hosts say; the stand-in has its own."""
        return {
            "ansible_connection": "windows_stand_in",
            "ansible_shell_type": "powershell",
            "ansible_become": False,
            "ansible_python_interpreter": warm.python(),
            "windows_stand_in_home": str(self.home),
        }

    def path(self, below: str) -> pathlib.Path:
        """A path on drive C:, by its path below it."""
        return self.home / "C" / below.replace("\\", "/")

    def set(self, name: str, content: t.Any) -> None:
        """A file of the machine itself, in one step."""
        path = self.home / name
        path.parent.mkdir(exist_ok=True)
        temporary = path.with_name(f"{path.name}.{os.getpid()}")
        temporary.write_text(json.dumps(content))
        temporary.replace(path)

    def get(self, name: str) -> t.Any:
        return json.loads((self.home / name).read_text())

    def lines(self, name: str) -> list[dict[str, t.Any]]:
        """What has been noted in a file that only grows, such as calls.jsonl or eventlog.jsonl."""
        path = self.home / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def calls(self, module: str) -> list[dict[str, t.Any]]:
        """The arguments of every run of a module."""
        return [call["arguments"] for call in self.lines("calls.jsonl") if call["module"] == module]

    def service(self, name: str, **description: t.Any) -> None:
        """Make a service, or change it: state, start_mode, display_name, dependencies, cannot."""
        path = self.home / "services" / f"{name}.json"
        known = json.loads(path.read_text()) if path.exists() else {"state": "started", "start_mode": "auto"}
        self.set(f"services/{name}.json", {**known, **description})

    def service_state(self, name: str) -> str:
        return str(self.get(f"services/{name}.json")["state"])

    def fault(self, module: str | None = None, when: str = "before", skip: int = 0, error: str = "connection") -> None:
        """Break the session at a call; see connection_plugins/windows_stand_in.py. Faults are used up in the order in which they were given."""
        path = self.home / "faults.json"
        faults = json.loads(path.read_text()) if path.exists() else []
        self.set("faults.json", [*faults, {**({"module": module} if module else {}), "when": when, "skip": skip, "error": error}])

    def go_down(self) -> None:
        """Whatever runs there is killed, and nobody reaches it."""
        (self.home / "off").touch()

    def come_up(self) -> None:
        """After a boot: services are what their start mode says, and every session from before is lost."""
        for path in (self.home / "services").glob("*.json"):
            mode = json.loads(path.read_text()).get("start_mode", "auto")
            self.service(path.stem, state="started" if mode in ("auto", "delayed") else "stopped")
        self.set("boot.json", {**self.get("boot.json"), "booted": time.time()})
        (self.home / "off").unlink(missing_ok=True)

    def reboot(self) -> None:
        self.go_down()
        self.come_up()
