# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nodes of a real cluster as VMs: drained by the role alone, a look of all of them in one run, or by a whole event."""

from __future__ import annotations

import os
import pathlib
import re
import time
import typing as t

from fleet import EVENT, Fleet, Host, environment
from lab import kubernetes_core
from lab.control_plane import ControlPlane
from lab.lab import Lab
from objects import Scene

OURS = (True, EVENT["event_id"])
FREE = (False, None)


def surroundings(folder: pathlib.Path, tree: str) -> dict[str, str]:
    """Return the environment of a controller that has kubernetes.core and the Python client, and knows no cluster by itself."""
    found = kubernetes_core.installed()
    paths = [part for part in (os.environ.get("PYTHONPATH"), str(found.packages)) if part]
    (folder / "tmp").mkdir(exist_ok=True)
    return {
        "ANSIBLE_COLLECTIONS_PATH": f"{tree}:{found.collections}", "PYTHONPATH": ":".join(paths), "TMPDIR": str(folder / "tmp"),
        "KUBECONFIG": "/nowhere", "HOME": str(folder),
    }  # fmt: skip


class Drains:
    """One look of the role at any number of nodes."""

    def __init__(self, folder: pathlib.Path, plane: ControlPlane) -> None:
        self.plane, self.fleet = plane, Fleet(folder)
        self.env = surroundings(folder, environment(folder)["ANSIBLE_COLLECTIONS_PATH"])
        self.config = plane.kubeconfig(folder / "kubeconfig")

    def add(self, scene: Scene, **options: t.Any) -> Host:
        """A VM that is the scene's first node."""
        given = {"method": "kubernetes", "node": scene.nodes[0], "kubeconfig": str(self.config), **options}
        return self.fleet.add(scene.name, [{key: value for key, value in given.items() if value is not None}])

    def drain(self, *hosts: Host, **more: t.Any) -> str:
        run = self.fleet.drain(*(host.name for host in hosts), env=self.env, **more)
        return run.stdout + run.stderr

    def recover(self, *hosts: Host) -> str:
        run = self.fleet.recover(*(host.name for host in hosts), env=self.env)
        return run.stdout + run.stderr

    def undo(self, host: Host) -> None:
        """Put back what a drain that has failed has set."""
        host.variables["test_undo_failed"] = True
        self.recover(host)

    def drained(self, *hosts: Host, looks: int = 8) -> None:
        """Look until all are drained."""
        for _look in range(looks):
            self.drain(*[host for host in hosts if not host.result or host.state != "drained"])
            if all(host.state == "drained" for host in hosts):
                return
            time.sleep(0.5)
        raise AssertionError({host.name: host.result.get("error") for host in hosts if host.state != "drained"})


class EventLab(Lab):
    """VMs with a simulated endpoint, each of them a node, and respond as an operator runs it."""

    def __init__(self, folder: pathlib.Path, plane: ControlPlane, nodes: t.Mapping[str, str], **options: t.Any) -> None:
        super().__init__(folder, list(nodes))
        self._more = surroundings(folder, os.environ["ANSIBLE_COLLECTIONS_PATH"])
        config = plane.kubeconfig(folder / "kubeconfig")
        for vm, node in nodes.items():
            self.hosts[vm]["drain_methods"] = [{"method": "kubernetes", "node": node, "kubeconfig": str(config), **options}]

    def environment(self, **more: str) -> dict[str, str]:
        return super().environment(**{**self._more, **more})

    def record(self, vm: str) -> dict[str, t.Any]:
        (found,) = self.records(vm)
        return found


def plain(words: str, most: int = 400) -> bool:
    """Return whether people can read it: one line, none of a client's headers, no traceback, no chain of exceptions."""
    return len(words) <= most and "\n" not in words and not re.search(r"Traceback|HTTPHeaderDict|Max retries|HTTPSConnectionPool|Audit-Id", words)
