# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The two ways of one name: the module on a Linux VM, and the action plugin for a Windows VM, over stand-ins."""

from __future__ import annotations

import importlib
import json
import pathlib
import time
import typing as t

from ansible.errors import AnsibleError
from ansible.playbook.play_context import PlayContext
from ansible.plugins.loader import connection_loader, shell_loader

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import BOOT_ID_FILE
from ansible_collections.maintenance.azure.tests.contract.inside import Call, Result, Surroundings

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLLECTION = "maintenance.azure."
WINDOWS = ROOT / "tests" / "lab" / "windows"
STAND_INS = WINDOWS / "collections" / "ansible_collections" / "ansible" / "windows" / "plugins" / "modules"


def action_class(module: str) -> t.Any:
    return importlib.import_module(f"ansible_collections.maintenance.azure.plugins.action.{module}").ActionModule


class Way:
    """``records`` is what a case gives as records_path, ``folder`` where that lies on this machine, ``boot`` the VM's boot_id."""

    name: str

    def __init__(self, home: pathlib.Path) -> None:
        self.home = home
        home.mkdir()
        self.records = ""
        self.boot = ""
        self.folder = home
        self._surroundings: Surroundings

    def path_of_file(self, name: str) -> str:
        """A file for health checks, as the VM calls it."""
        return str(self.home / name)

    def make_file(self, name: str) -> None:
        (self.home / name).write_text("")

    def run(
        self,
        module: str,
        options: dict[str, t.Any],
        check_mode: bool = False,
        diff: bool = False,
        on_sleep: t.Callable[[], object] | None = None,
    ) -> Result:
        """Run one task. Nothing sleeps; ``on_sleep`` is called instead."""
        self._surroundings.on_sleep = on_sleep
        return self._surroundings.run(action_class(module), Call(COLLECTION + module, options, check_mode, diff))


class Linux(Way):
    name = "linux"

    def __init__(self, home: pathlib.Path) -> None:
        super().__init__(home)
        self.folder = home / "records"
        self.records = str(self.folder)
        self.boot = pathlib.Path(BOOT_ID_FILE).read_text().strip()
        connection = connection_loader.get("local", PlayContext())
        connection.set_options(var_options={"ansible_pipelining": True})
        self._surroundings = Surroundings(connection, _own_module)


def _own_module(name: str) -> pathlib.Path:
    return ROOT / "plugins" / "modules" / (name.removeprefix(COLLECTION) + ".py")


class Windows(Way):
    name = "windows"

    def __init__(self, home: pathlib.Path) -> None:
        super().__init__(home)
        connection_loader.add_directory(str(WINDOWS / "connection_plugins"))
        shell_loader.add_directory(str(WINDOWS / "shell_plugins"))
        self.records = "C:\\Records"
        self.folder = home / "C" / "Records"
        booted = time.time() - 86400
        (home / "boot.json").write_text(json.dumps({"booted": booted}))
        self.boot = time.strftime("%Y-%m-%d %H:%M:%SZ", time.localtime(booted))
        connection = connection_loader.get("windows_stand_in", PlayContext())
        connection.set_options(var_options={"windows_stand_in_home": str(home)})
        connection._connect()
        self._surroundings = Surroundings(connection, _stand_in, {"WINDOWS_STAND_IN": str(home)})

    def path_of_file(self, name: str) -> str:
        return "C:\\" + name

    def make_file(self, name: str) -> None:
        (self.home / "C").mkdir(exist_ok=True)
        (self.home / "C" / name).write_text("")


def _stand_in(name: str) -> pathlib.Path:
    path = STAND_INS / (name.rpartition(".")[2] + ".py")
    if not name.startswith("ansible.windows.") or not path.is_file():
        raise AnsibleError(f"The module {name} was not found in configured module paths")
    return path
