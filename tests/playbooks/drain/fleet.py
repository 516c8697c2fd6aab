# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A few hosts on this machine, each with a folder of its own, and one observation of all of them by ansible-playbook."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from lab import warm

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
EVENT = {
    "event_id": "C7061BAC-AFDC-4513-B24B-AA5F13A16123",
    "event_type": "Freeze",
    "event_status": "Scheduled",
    "event_source": "Platform",
    "resource_type": "VirtualMachine",
    "resources": ["web1", "web2"],
    "not_before": "2026-11-21T20:15:00Z",
    "description": "Virtual machine is being paused",
    "duration_in_seconds": 5,
    "affects_this_vm": True,
}


class Host:
    """One VM, played by a folder."""

    def __init__(self, folder: Path, name: str, methods: Any, **variables: Any) -> None:
        self.name = name
        self.folder = folder / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.result: dict[str, Any] = {}
        self.event: dict[str, Any] = dict(EVENT)
        self.variables: dict[str, Any] = {
            "drain_methods": methods,
            "test_folder": str(self.folder),
            "test_records": str(self.folder / "records"),
            "test_boot_id": "boot-1",
            "test_undo_failed": False,
            **variables,
        }

    def path(self, name: str) -> Path:
        return self.folder / name

    @property
    def record(self) -> dict[str, Any]:
        """The newest record on the VM, {} if there is none."""
        files = self.path("records").glob("event-*.json")
        newest = max(files, key=lambda file: int(file.name.split(".")[-2]), default=None)
        return json.loads(newest.read_text()) if newest else {}

    @property
    def state(self) -> str:
        return str(self.result["state"])

    def method(self, position: int) -> dict[str, Any]:
        return dict(self.record["methods"][position])


class Fleet:
    """All hosts of a test. Every observation is one run of ansible-playbook over all of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hosts: dict[str, Host] = {}
        self.others: dict[str, dict[str, Any]] = {}
        """Hosts of the inventory that no play is for: tasks are delegated to them."""

    def add(self, name: str, methods: Any, **variables: Any) -> Host:
        self.hosts[name] = Host(self.folder, name, methods, **variables)
        return self.hosts[name]

    def drain(self, *names: str, **more: Any) -> subprocess.CompletedProcess[str]:
        return self._observation("drain", names, more)

    def recover(self, *names: str, **more: Any) -> subprocess.CompletedProcess[str]:
        return self._observation("recover", names, more)

    def _observation(self, act: str, names: tuple[str, ...], more: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        chosen = [self.hosts[name] for name in names] or list(self.hosts.values())
        for host in chosen:
            host.path("event.json").write_text(json.dumps(host.event))
            host.path("record.json").write_text(json.dumps(host.record))
            host.result = {}
        hosts = {**self.others, **{host.name: host.variables for host in chosen}}
        children = {"vms": {"hosts": {host.name: {} for host in chosen}}}
        inventory = {"all": {"hosts": hosts, "children": children, "vars": self._common(act, more)}}
        place = self.folder / "inventory.json"
        place.write_text(json.dumps(inventory))
        arguments = ["--check"] if more.get("check_mode") else []
        command = ["ansible-playbook", "-i", str(place), str(HERE / "observation.yml"), *arguments]
        run = warm.run_playbook(command, environment(self.folder, **more.get("env", {})), self.folder, 180)
        if not more.get("may_end_early"):
            assert run.returncode == 0, run.stdout + run.stderr
        for name, result in re.findall(r"RESULT (\S+) (\S+) END", run.stdout):
            self.hosts[name].result = json.loads(base64.b64decode(result))
        return run

    @staticmethod
    def _common(act: str, more: dict[str, Any]) -> dict[str, Any]:
        return {
            "ansible_connection": "local",
            "ansible_python_interpreter": warm.python(),
            "test_act": act,
            "drain_verify": more.get("verify", False),
        }


def environment(folder: Path, **more: str) -> dict[str, str]:
    """The collection as ansible finds it, and nothing of the developer's own configuration."""
    tree = next((place for place in os.environ.get("ANSIBLE_COLLECTIONS_PATH", "").split(":") if place), None)
    if tree is None:
        link = folder / "tree" / "ansible_collections" / "maintenance" / "azure"
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.exists():
            link.symlink_to(ROOT)
        tree = str(folder / "tree")
    return {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": tree,
        "ANSIBLE_CONFIG": str(HERE / "ansible.cfg"),
        "ANSIBLE_FORKS": "4",
        "ANSIBLE_HOME": str(folder / "home"),
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "ANSIBLE_NOCOLOR": "true",
        "ANSIBLE_REMOTE_TMP": str(folder / "remote"),
        "ANSIBLE_TIMEOUT": "3",
        **more,
    }
