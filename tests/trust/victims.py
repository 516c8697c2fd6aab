# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A lab in which some VMs lie, and what shows whether a lie did anything elsewhere: files, sockets and the simulator's own log."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import typing as t

import tree
from balancer import Balancer
from lab import warm
from lab.lab import Lab

FOREVER = "2200-01-01T00:00:00Z"


class Victims(Lab):
    """A lab over the tree that is attacked. The VMs whose name begins with ``liar`` are the attacker's."""

    def __init__(self, folder: pathlib.Path, vms: t.Sequence[str], speed: float = 60, *arguments: str, windows: t.Sequence[str] = ()) -> None:
        super().__init__(folder, vms, speed, "--switch", "rate_limit=0", *arguments, windows=windows)
        # A host without an endpoint of its own must never ask the real address.
        self.all["respond_endpoint"] = "http://127.0.0.1:9"
        self.canaries = folder / "canaries"
        self.canaries.mkdir()
        self.balancers: list[Balancer] = []
        self.more_environment: dict[str, str] = {}

    def environment(self, **more: str) -> dict[str, str]:
        kept = super().environment(**self.more_environment, **more)
        first = [place for place in kept["ANSIBLE_COLLECTIONS_PATH"].split(os.pathsep) if "lab/windows" in place]
        kept["ANSIBLE_COLLECTIONS_PATH"] = os.pathsep.join([*first, str(tree.TREE)])
        kept["PYTHONPATH"] = os.pathsep.join([str(tree.TREE), str(tree.ROOT / "tests" / "tools" / "code_cache")])
        return kept

    # --- What the attacker has ---------------------------------------------------------------------------------------

    def lie(self, vm: str, **lies: dict[str, t.Any]) -> None:
        """Give a VM the liar's interpreter; see liar.py. The name ``any`` stands for every module."""
        path = self.folder / vm / "lies.json"
        path.write_text(json.dumps({("*" if name == "any" else name): lie for name, lie in lies.items()}))
        python = self.folder / vm / "python"
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{tree.LIAR}" "{warm.python()}" "{path}" "$@"\n')
        python.chmod(0o755)
        self.hosts[vm]["ansible_python_interpreter"] = str(python)

    def plant(self, vm: str, name: str, content: t.Any) -> None:
        """Put a file into a VM's records folder."""
        folder = self.records_folder(vm)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))

    def canary(self, name: str) -> str:
        """A file that only an attack makes."""
        return str(self.canaries / name)

    def evil_tasks(self, name: str, state: str = "undone") -> str:
        """A task file on the controller that nobody asked for: it leaves a canary."""
        path = self.folder / f"{name}.yml"
        path.write_text(
            f"- ansible.builtin.command: touch {self.canary(name)}\n  delegate_to: localhost\n  connection: local\n"
            f"  vars: {{ansible_python_interpreter: '{sys.executable}'}}\n- ansible.builtin.set_fact: {{drain_tasks_state: {state}}}\n"
        )
        return str(path)

    def balancer(self, host: str, **servers: str) -> Balancer:
        """A load balancer that is a host of the inventory, and of no play."""
        one = Balancer(**servers)
        self.balancers.append(one)
        local = {"ansible_connection": "local", "ansible_become": False, "ansible_python_interpreter": warm.python()}
        self.hosts[host] = {**local, **self.hosts.get(host, {}), "drain_haproxy_socket": one.socket}
        return one

    # --- What was done -----------------------------------------------------------------------------------------------

    def found(self) -> list[str]:
        """The canaries that are there."""
        return sorted(path.name for path in self.canaries.iterdir())

    def approved(self) -> set[str]:
        """The events that Azure got an approval for."""
        return {entry["event_id"] for entry in self.simulator.log() if entry["transition"] == "approved"}

    def posts(self, vm: str) -> list[dict[str, t.Any]]:
        """The approvals that one VM sent."""
        return [entry for entry in self.simulator.approvals() if entry["vm"] == vm]

    def raw_play(self, playbook: str, *arguments: str, limit: float = 500, measured: bool = False, **variables: t.Any) -> tuple[int, bytes]:
        """A run over the VMs with its exact bytes, whatever its end; a run that must be killed counts as code -9. One that is ``measured`` is a child."""
        variables.setdefault("respond_hosts", ",".join(self.vms))
        command, environment = self.command(playbook, *arguments, **variables), self.environment()
        environment = environment if measured else warm.playbooks(environment)
        try:
            done = subprocess.run(command, env=environment, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit, check=False)
        except subprocess.TimeoutExpired as late:
            return -9, late.stdout or b""
        (self.folder / "output").write_bytes(done.stdout)
        return done.returncode, done.stdout

    def close(self) -> None:
        super().close()
        for one in self.balancers:
            one.close()
