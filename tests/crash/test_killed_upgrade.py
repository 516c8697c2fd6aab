# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Playbook rolling_upgrade killed at every point that leaves something else behind, and started again (see cuts.py): each VM upgraded once.

"Once" is exact: a kill between the end of a VM's tasks and the mark that says so repeats them, and a kill anywhere else does not.

Only with CRASH_UPGRADE=1 (and CRASH_POINTS=each for all of them): it takes up to half an hour. In CI
tests/playbooks/test_upgrade_killed.py kills an upgrade.
"""

from __future__ import annotations

import json
import os
import pathlib
import typing as t

import cuts
import pytest
from lab.lab import Lab

# How many serve when a VM's tasks are at work: a line more each time on that VM, so that a second time is seen.
WORK = """
- name: Upgrade
  ansible.builtin.shell: echo "beside $(ls {{ folder }}/web*/in_rotation | wc -l)" >> {{ folder }}/{{ inventory_hostname }}/worked
"""


class RollingUpgrade:
    def make_lab(self, folder: pathlib.Path) -> Lab:
        lab = Lab(folder, ["web1", "web2"], 60)
        for host in lab.hosts.values():
            host["ansible_python_interpreter"] = cuts.modules_python()
        lab.all["respond_capacity"] = [{"name": "web", "members": "{{ groups['all'] }}", "max_unavailable": 1}]
        lab.all.update(gate_quiet_seconds=0, gate_wait_seconds=120, upgrade_interval=1, folder=str(folder))
        (folder / "work.yml").write_text(WORK)
        return lab

    def command(self, lab: Lab) -> list[str]:
        given = {"upgrade_hosts": "all", "upgrade_name": "Kernel", "upgrade_tasks": "work.yml"}
        return lab.command("maintenance.azure.rolling_upgrade", **given, **dead(lab))

    def faults(self, lab: Lab, point: t.Mapping[str, str]) -> list[str]:
        found = []
        for vm in lab.vms:
            worked = times_worked(lab, vm)
            if worked != ["beside 1"] * expected(point, vm):
                found.append(f"{vm} was upgraded {expected(point, vm)} times too many or too few, or not alone: {worked}")
            if lab.flag(vm).read_text() != "yes\n":
                found.append(f"{vm} is not as it was")
            if [record["phase"] for record in lab.records(vm)] != ["recovered"]:
                found.append(f"{vm}: {lab.records(vm)}")
            states = [mark["state"] for mark in marks(lab, vm)]
            if states != ["done"]:
                found.append(f"{vm} is marked as {states}")
            if claims := [path.name for path in lab.records_folder(vm).glob("claim-*")]:
                found.append(f"{vm} is still claimed: {claims}")
        return found


def times_worked(lab: Lab, vm: str) -> list[str]:
    path = lab.folder / vm / "worked"
    return path.read_text().splitlines() if path.exists() else []


def marks(lab: Lab, vm: str) -> list[dict[str, t.Any]]:
    return [json.loads(path.read_text()) for path in lab.records_folder(vm).glob("upgrade-*.json")]


def dead(lab: Lab) -> dict[str, str]:
    """What a person says who knows that the killed run is dead: which one it was, the claims say."""
    runs = {path.name.split("-")[1] for vm in lab.vms for path in lab.records_folder(vm).glob("claim-*")}
    assert len(runs) <= 1
    return {"gate_dead_run": runs.pop()} if runs else {}


def expected(point: t.Mapping[str, str], vm: str) -> int:
    """How often a VM's tasks are done, from what lay there when the run was killed."""
    left = json.loads(point.get("state", "{}"))
    unmarked = [content["state"] for name, content in left.items() if name.startswith(f"{vm}/upgrade-")] == ["begun"]
    return 2 if unmarked and f"{vm}/worked" in left else 1


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Lab]:
    job = RollingUpgrade()
    lab = job.make_lab(tmp_path_factory.mktemp("whole") / "lab")
    done = cuts.run(job, lab)
    assert done.returncode == 0, done.stdout[-5000:]
    assert job.faults(lab, {}) == []
    yield lab
    lab.close()


# A test that is skipped counts as failed: where nobody asks for it there is none.
if os.environ.get("CRASH_UPGRADE") == "1":

    def test_killed_anywhere_and_started_again_upgrades_each_once(uninterrupted: Lab, tmp_path: pathlib.Path) -> None:
        every = cuts.points(uninterrupted)
        assert {"before a mark is written", "after a mark is written", "before a claim is renewed"} <= {point["name"] for point in every}
        faults = cuts.kill_everywhere(RollingUpgrade(), every, tmp_path)
        assert not faults, "\n".join(faults)
