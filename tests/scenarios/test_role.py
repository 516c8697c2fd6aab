# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role simulator on this machine: foreseen, made, left alone when it is right, and taken away without a trace."""

from __future__ import annotations

import base64
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from simulator_process import COLLECTION, exchange

PLAYBOOK = [{"hosts": "localhost", "gather_facts": False, "tasks": [{"include_role": {"name": "maintenance.azure.simulator"}}]}]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Role:
    """Runs the role in a folder of its own; answers with what the recap counts."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "opt"
        self.control = f"127.0.0.1:{_free_port()}"
        self.endpoint = f"127.0.0.1:{_free_port()}"
        self.output = ""
        self._playbook = folder / "playbook.yml"
        self._playbook.write_text(json.dumps(PLAYBOOK))
        self._tree = folder / "tree"
        link = self._tree / "ansible_collections" / "maintenance" / "azure"
        link.parent.mkdir(parents=True)
        link.symlink_to(COLLECTION)

    def run(self, *words: str, **more: Any) -> dict[str, int]:
        values = {
            "simulator_path": str(self.path),
            "simulator_service_manager": "process",
            "simulator_python": sys.executable,
            "simulator_control": self.control,
            "simulator_vms": [{"name": "web1", "address": self.endpoint, "zone": "2"}],
            "simulator_switches": {"rate_limit": 0, "approve_body": "object"},
            "ansible_python_interpreter": sys.executable,
            **more,
        }
        command = [sys.executable, "-m", "ansible", "playbook", "-i", "localhost,", "-c", "local", str(self._playbook)]
        run = subprocess.run(
            [*command, "-e", json.dumps(values), *words],
            env=dict(os.environ, ANSIBLE_COLLECTIONS_PATH=str(self._tree), ANSIBLE_NOCOLOR="1", ANSIBLE_HOME=str(self._tree / "home")),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.output = run.stdout + run.stderr
        recap = {name: int(count) for name, count in re.findall(r"(\w+)=(\d+)", run.stdout.rpartition("PLAY RECAP")[2])}
        assert recap.get("failed", 1) == 0 and recap.get("unreachable", 1) == 0, run.stdout + run.stderr
        return recap

    def files(self) -> set[str]:
        return {path.name for path in self.path.iterdir()} if self.path.exists() else set()


@pytest.fixture
def role(tmp_path: Path) -> Role:
    pytest.importorskip("ansible.cli.playbook")
    return Role(tmp_path)


def test_the_whole_life(role: Role) -> None:
    assert role.run("--check")["changed"] > 0
    assert role.files() == set()
    try:
        assert role.run("-vvv")["changed"] > 0
        path = role.path / "control-token"
        token = path.read_text().strip()
        assert (path.stat().st_mode & 0o777, path.stat().st_uid) == (0o600, os.getuid())
        # The health check has sent it, and nothing that was printed has it.
        assert len(token) >= 40 and token not in role.output and base64.b64encode(f"{token}\n".encode()).decode() not in role.output
        assert exchange(f"http://{role.control}", "GET", "/state", {})[0] == 401
        status, _headers, body = exchange(f"http://{role.control}", "GET", "/state", {"Authorization": f"Bearer {token}"})
        state = json.loads(body)
        assert (status, state["vms"]["web1"]["zone"], state["switches"]["approve_body"]) == (200, "2", "object")
        # Nothing left to do, which check mode says as well as a second true run, and faster.
        assert role.run("--check")["changed"] == 0
        (role.path / "of-somebody-else").write_text("kept")
    finally:
        assert role.run(simulator_state="absent")["changed"] > 0
    assert role.files() == {"of-somebody-else"}
    with pytest.raises(ConnectionError):
        exchange(f"http://{role.control}", "GET", "/state", {})
