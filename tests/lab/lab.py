# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosts on this machine that believe to be Azure VMs, and the playbooks run against them."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import typing as t

from . import warm
from .simulator import ROOT, Simulator
from .windows_machine import WindowsMachine, stand_in_paths

# Tests do not wait for what only real machines need. The drill keeps the real values.
# A lease that a killed run has left is waited for; a run that is slower than its lease goes on, as long as nobody wants the VM.
SHORT = {"rehearsal": True, "lease_seconds": 3, "gone_seconds": 1, "check_interval": 1, "retry_pause": 1, "enabling_seconds": 2, "margin": 1, "undo_seconds": 1}


class Lab:
    """A folder, a simulator and an inventory; each VM has its own records, flag file and boot id.

    Those VMs that are named in ``windows`` are played by the stand-ins in tests/lab/windows.
    """

    def __init__(self, folder: pathlib.Path, vms: t.Sequence[str] = ("web1",), speed: float = 60, *arguments: str, windows: t.Sequence[str] = ()) -> None:
        self.folder = folder
        self.vms = list(vms)
        self.windows = {vm: WindowsMachine(folder / vm / "windows") for vm in windows}
        self.simulator = Simulator(self.vms, speed, *arguments)
        self.hosts: dict[str, dict[str, t.Any]] = {vm: self._host(vm) for vm in self.vms}
        # A host that is given no endpoint, such as a load balancer, must not ask the address of Azure's metadata service: this may be a cloud VM.
        self.all: dict[str, t.Any] = {"respond_timing": dict(SHORT), "respond_wait_timeout": 240, "respond_endpoint": "http://127.0.0.1:9"}

    def add(self, vms: t.Sequence[str]) -> None:
        """Take VMs in that the simulator plays by its own arguments, such as --vm-file."""
        self.vms += vms
        self.hosts.update({vm: self._host(vm) for vm in vms})

    def _host(self, vm: str) -> dict[str, t.Any]:
        if vm in self.windows:
            return self._windows_host(vm)
        home = self.folder / vm
        home.mkdir(parents=True)
        (home / "in_rotation").write_text("yes\n")
        (home / "boot_id").write_text(f"boot-of-{vm}-1")
        return {
            "ansible_connection": "local",
            "ansible_become": False,
            "ansible_python_interpreter": warm.python(),
            "respond_endpoint": self.simulator.endpoints[vm],
            "respond_records_path": str(home / "records"),
            "respond_boot_id": f"boot-of-{vm}-1",
            "respond_health": {"file": str(home / "in_rotation")},
            "drain_methods": [{"method": "probe_file", "path": str(home / "in_rotation"), "interval": 0, "threshold": 1}],
        }

    def _windows_host(self, vm: str) -> dict[str, t.Any]:
        self.flag(vm).parent.mkdir(parents=True)
        self.flag(vm).write_text("yes\n")
        flag = "C:\\app\\in_rotation"
        return {
            **self.windows[vm].connection(),
            "ansible_python_interpreter": warm.python(),
            "respond_endpoint": self.simulator.endpoints[vm],
            "respond_health": {"file": flag},
            "drain_methods": [{"method": "probe_file", "path": flag, "interval": 0, "threshold": 1}],
        }

    def flag(self, vm: str) -> pathlib.Path:
        if vm in self.windows:
            return self.windows[vm].path("app/in_rotation")
        return self.folder / vm / "in_rotation"

    def records_folder(self, vm: str) -> pathlib.Path:
        if vm in self.windows:
            return self.windows[vm].path("ProgramData/azure-maintenance")
        return self.folder / vm / "records"

    def inventory(self) -> pathlib.Path:
        path = self.folder / "inventory.json"
        path.write_text(json.dumps({"all": {"vars": self.all, "hosts": self.hosts}}))
        return path

    def environment(self, **more: str) -> dict[str, str]:
        kept = dict(os.environ)
        kept.setdefault("ANSIBLE_COLLECTIONS_PATH", str(ROOT / ".build" / "tree"))
        kept.update(ANSIBLE_HOME=str(self.folder / "ansible"), ANSIBLE_NOCOLOR="1", ANSIBLE_LOCALHOST_WARNING="0")
        kept.update(ANSIBLE_REMOTE_TMP=str(self.folder / "remote"))
        if self.windows:
            kept.update(stand_in_paths(kept))
        kept.update(more)
        return kept

    def command(self, playbook: str, *arguments: str, **variables: t.Any) -> list[str]:
        # The hosts of a play are chosen before the inventory's variables are known.
        variables.update({key: self.all[key] for key in ("respond_hosts",) if key in self.all and key not in variables})
        command = ["ansible-playbook", "-i", str(self.inventory()), playbook, *arguments]
        return command + (["-e", json.dumps(variables)] if variables else [])

    def play(self, playbook: str, *arguments: str, code: int | None = 0, **variables: t.Any) -> str:
        """Run a playbook to its end; its output. A code of None takes any exit code."""
        done = subprocess.run(
            self.command(playbook, *arguments, **variables),
            env=warm.playbooks(self.environment()), cwd=self.folder, capture_output=True, text=True, timeout=1000, check=False,
        )  # fmt: skip
        output = done.stdout + done.stderr
        if code is not None and done.returncode != code:
            raise AssertionError(f"{playbook} ended with {done.returncode}, not {code}:\n{output[-8000:]}")
        return output

    def respond(self, *arguments: str, code: int | None = 0, **variables: t.Any) -> str:
        return self.play("maintenance.azure.respond", *arguments, code=code, **variables)

    def status(self, **variables: t.Any) -> str:
        return self.play("maintenance.azure.status", **variables)

    def records(self, vm: str) -> list[dict[str, t.Any]]:
        """The newest revision of every record on a VM, read without any code of the collection."""
        newest: dict[str, tuple[int, pathlib.Path]] = {}
        for path in self.records_folder(vm).glob("event-*.json"):
            name, revision = path.name[: -len(".json")].rsplit(".", 1)
            newest[name] = max(newest.get(name, (0, path)), (int(revision), path))
        return [json.loads(path.read_text()) for _revision, path in newest.values()]

    def leases(self, vm: str) -> list[str]:
        """The names of the leases on a VM."""
        return sorted(path.name for path in self.records_folder(vm).glob("claim-*"))

    def phases(self, vm: str) -> list[str]:
        """The phases of the only record on a VM, in order."""
        (record,) = self.records(vm)
        return [entry["phase"] for entry in record["history"]]

    def close(self) -> None:
        self.simulator.close()
