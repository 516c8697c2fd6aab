# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How long a node of a real control plane takes to be empty, by method kubernetes and by `kubectl drain`, in turns. Prints; nothing fails for being slow."""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time
import typing as t

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / part) for part in ("kubernetes", "playbooks/drain", "")]
for variable in ("ANSIBLE_COLLECTIONS_PATH", "PYTHONPATH"):
    os.environ.setdefault(variable, str(ROOT / ".build" / "tree"))

import build  # noqa: E402  the folders of tests are no packages
from drains import Drains  # noqa: E402
from lab.control_plane import ControlPlane  # noqa: E402
from objects import Scene  # noqa: E402


def ours(plane: ControlPlane, scene: Scene, folder: pathlib.Path) -> None:
    """Look until the node is empty, each look a run of ansible-playbook."""
    drains = Drains(folder, plane)
    drains.drained(drains.add(scene), looks=60)


def kubectl(plane: ControlPlane, scene: Scene, _folder: pathlib.Path) -> None:
    done = plane.kubectl("drain", scene.nodes[0], timeout=600)
    assert done.returncode == 0, done.stderr


WAYS: dict[str, t.Callable[[ControlPlane, Scene, pathlib.Path], None]] = {"method kubernetes": ours, "kubectl drain": kubectl}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, nargs="+", default=[110])
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    if not build.built():
        print("skipped: the control plane is not built; python tests/kubernetes/build.py builds it")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        plane = ControlPlane(folder / "plane")
        try:
            for pods in given.pods:
                measure(plane, folder, pods, given.rounds)
        finally:
            plane.close()
    return 0


def measure(plane: ControlPlane, folder: pathlib.Path, pods: int, rounds: int) -> None:
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    for number in range(rounds):
        for way, drain in WAYS.items():
            scene = Scene(plane, f"{way.split()[0]}-{pods}-{number}")
            scene.workload(count=pods)
            place = folder / scene.name
            place.mkdir()
            began = time.monotonic()
            drain(plane, scene, place)
            seconds[way].append(time.monotonic() - began)
            assert scene.left() == []
            plane.remove(f"/api/v1/namespaces/{scene.name}")
    for way, found in seconds.items():
        print(f"{pods} pods leave, {way}: median {statistics.median(found):.1f} s ({', '.join(f'{one:.1f}' for one in found)})", flush=True)


if __name__ == "__main__":
    sys.exit(main())
