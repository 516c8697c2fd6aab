# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Playbook rolling_upgrade killed (SIGKILL to its whole process group) between two tasks, and started again: each VM is upgraded once.

One upgrade is killed at several tasks, one after the other, each run going on where the one before was killed. tests/crash kills a fresh
upgrade wherever a kill leaves something else behind, and tests/fleet at each task on real guests, both when asked for.
"""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import typing as t

from lab import warm
from lab.lab import Lab

Make = t.Callable[..., Lab]
HERE = pathlib.Path(__file__).resolve().parent
# Who is upgraded, and how many serve meanwhile: a line more each time, so that a second time is seen.
WORK = """
- name: Upgrade
  ansible.builtin.shell: echo "{{ inventory_hostname }} beside $(ls {{ folder }}/web*/in_rotation | wc -l)" >> {{ folder }}/log
"""
CHECK = """
- name: Check
  ansible.builtin.command: test ! -e {{ respond_health.file }}
"""


def make(make_lab: Make) -> Lab:
    lab = make_lab(["web1", "web2"])
    lab.all["respond_capacity"] = [{"name": "web", "members": "{{ groups['all'] }}", "max_unavailable": 1}]
    lab.all.update(gate_quiet_seconds=0, gate_wait_seconds=120, upgrade_interval=1, folder=str(lab.folder))
    (lab.folder / "work.yml").write_text(WORK)
    (lab.folder / "check.yml").write_text(CHECK)
    return lab


def run(lab: Lab, kill_at: str = "", **more: t.Any) -> subprocess.CompletedProcess[str]:
    """One run to its end, or to its kill."""
    (lab.folder / "killed").unlink(missing_ok=True)
    given = {"upgrade_hosts": "all", "upgrade_name": "Kernel", "upgrade_tasks": "work.yml", "upgrade_check_tasks": "check.yml", **more}
    callback = {"ANSIBLE_CALLBACK_PLUGINS": str(HERE / "callback_plugins"), "ANSIBLE_CALLBACKS_ENABLED": "kill_at"}
    environment = lab.environment(**callback, KILL_FOLDER=str(lab.folder), KILL_AT=kill_at)
    return warm.run_playbook(lab.command("maintenance.azure.rolling_upgrade", **given), environment, lab.folder, 400)


def killed(lab: Lab, point: str, **more: t.Any) -> None:
    done = run(lab, point, **more)
    assert (lab.folder / "killed").exists(), f"{point} never came:\n{done.stdout[-3000:]}"
    assert done.returncode == -9


def holders(lab: Lab) -> dict[str, str]:
    """Which VM is leased, and by which run."""
    return {vm: path.name.split("-")[1] for vm in lab.vms for path in lab.records_folder(vm).glob("claim-*")}


def dead(lab: Lab) -> dict[str, str]:
    """What a person says who knows that the killed run is dead."""
    runs = set(holders(lab).values())
    assert len(runs) <= 1
    return {"gate_dead_run": runs.pop()} if runs else {}


def faults(lab: Lab, times: int) -> list[str]:
    """What is not as it should be at the end. times: how often each VM should have been upgraded."""
    found = []
    lines = (lab.folder / "log").read_text().splitlines()
    for vm in lab.vms:
        count = sum(line.startswith(vm) for line in lines)
        if count != times:
            found.append(f"{vm} was upgraded {count} times")
        if lab.flag(vm).read_text() != "yes\n":
            found.append(f"{vm} is not as it was")
        if [record["phase"] for record in lab.records(vm)] != ["recovered"]:
            found.append(f"{vm}: {lab.records(vm)}")
        states = [json.loads(path.read_text())["state"] for path in lab.records_folder(vm).glob("upgrade-*.json")]
        if states != ["done"]:
            found.append(f"{vm} is marked as {states}")
    if any(not line.endswith(" beside 1") for line in lines):
        found.append(f"both were out at once, or none: {lines}")
    if holders(lab):
        found.append(f"leases are left: {holders(lab)}")
    return found


def test_killed_again_and_again_every_vm_is_upgraded_once(make_lab: Make) -> None:
    lab = make(make_lab)
    killed(lab, "web1|Methods | Plan what each VM does|1")
    # Whoever starts it again hears who holds the VM, until when, and what to say.
    waiting = run(lab, gate_wait_seconds=0)
    assert waiting.returncode == 2
    run_id = dead(lab)["gate_dead_run"]
    words = rf"run {run_id} of .+ is at work on web1 for upgrade 'Kernel', until [-0-9]+ [:0-9]+ UTC .+ set gate_dead_run to its id"
    assert re.search(words, waiting.stdout), waiting.stdout[-3000:]
    killed(lab, "web1|Upgrade|1", **dead(lab))
    assert not lab.flag("web1").exists()
    killed(lab, "web1|Work | Write down that it is upgraded|1", **dead(lab))
    # Its tasks are done: from here on they are not done again, whatever happens.
    killed(lab, "web1|Release | Write down that the upgrade is done|1", **dead(lab))
    assert lab.flag("web1").exists()
    killed(lab, "web2|Upgrade|1", upgrade_tasks_seconds=2, **dead(lab))
    # Nobody says that this run is dead: the time limit of its step does.
    done = run(lab)
    assert done.returncode == 0, done.stdout[-5000:]
    # Killed in its tasks, each was upgraded once more; and never after they had ended.
    assert faults(lab, 2) == []
    assert "Upgrade Kernel is done on web1, web2." in done.stdout
