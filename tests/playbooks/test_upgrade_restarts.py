# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Restarts that an upgrade orders through Azure. The simulator plays Azure: it is told of the order by a task of the upgrade."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import time
import typing as t

from lab import warm
from lab.lab import Lab

Make = t.Callable[..., Lab]
LONG = 36000

# web1 and web2 go together, and one event hits both. The one of web3 also names a VM that nobody here manages.
WORK = """
- name: Order it
  ansible.builtin.uri:
    url: "{{ control }}/events"
    method: POST
    body_format: json
    body: "{{ order | combine({'resources': ansible_play_batch + (['stranger'] if 'web3' in ansible_play_batch else [])}) }}"
  run_once: true
  register: ordered

- name: Say so
  ansible.builtin.copy:
    content: "{{ ordered.json.event_id }}"
    dest: "{{ folder }}/ordered-{{ inventory_hostname }}"
    mode: "0600"

- name: Let others look at it
  ansible.builtin.wait_for:
    path: "{{ folder }}/looked"
    timeout: 240

- name: Approve it
  ansible.builtin.include_role:
    name: maintenance.azure.upgrade
    tasks_from: restarted.yml

- name: See that the boot has not put it back
  ansible.builtin.command: test ! -e {{ respond_health.file }}
"""
# At its start an event reboots its VMs: another boot, and what was drained serves again.
REBOOT = """
import json, pathlib, sys
entry = json.load(sys.stdin)
if entry["event"]["event_status"] == "Started":
    for vm in entry["event"]["resources"]:
        home = pathlib.Path(sys.argv[1]) / vm
        if home.is_dir() and not (home / "booted").exists():
            (home / "booted").touch()
            (home / "boot_id").write_text(f"boot-of-{vm}-2")
            (home / "in_rotation").write_text("yes\\n")
"""


def make(make_lab: Make, tmp_path: pathlib.Path, hook: pathlib.Path) -> Lab:
    hook.write_text(REBOOT)
    lab = make_lab(["web1", "web2", "web3"], 60, "--hook", f"{sys.executable} {hook} {tmp_path / 'lab0'}")
    lab.all["respond_capacity"] = [{"name": "web", "members": "{{ groups['all'] }}", "max_unavailable": 2}]
    lab.all.update(
        gate_quiet_seconds=0, gate_wait_seconds=240, upgrade_interval=1, folder=str(lab.folder), control=lab.simulator.control,
        order={"event_type": "Reboot", "event_source": "User", "notice": LONG, "started_seconds": 240},
    )  # fmt: skip
    for vm in lab.vms:
        lab.hosts[vm]["respond_boot_id"] = "{{ lookup('ansible.builtin.file', '" + str(lab.folder / vm / "boot_id") + "') }}"
    (lab.folder / "work.yml").write_text(WORK)
    return lab


def wait_for(path: pathlib.Path, process: subprocess.Popen[str], words: str = "") -> str:
    """What the file says, once it is there and says it."""
    end = time.monotonic() + 240
    while not (path.exists() and path.read_text() and words in path.read_text()):
        assert process.poll() is None and time.monotonic() < end, f"{path.name} never came"
        time.sleep(0.2)
    return path.read_text()


def test_a_restart_that_the_upgrade_ordered_is_approved_at_once_if_it_is_all_its_own(make_lab: Make, tmp_path: pathlib.Path) -> None:
    lab = make(make_lab, tmp_path, tmp_path / "hook.py")
    given = {"upgrade_hosts": "all", "upgrade_name": "Kernel", "upgrade_tasks": "work.yml", "upgrade_serial": 2}
    with open(lab.folder / "output", "w") as output:
        upgrade = subprocess.Popen(
            lab.command("maintenance.azure.rolling_upgrade", **given),
            env=warm.playbooks(lab.environment()),
            cwd=lab.folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
        )
    try:
        own = wait_for(lab.folder / "ordered-web2", upgrade)
        # Somebody else's event on a VM of the batch, at the same time: it is none of the upgrade's business.
        foreign = lab.simulator.event("Redeploy", ["web1"], notice=LONG)
        said = lab.respond(code=None)
        assert "at work on web1 for upgrade 'Kernel'" in said
        assert lab.simulator.approvals() == [], "respond has approved what hits VMs that an upgrade holds"
        lab.simulator.ask("POST", f"/events/{foreign}/cancel")
        (lab.folder / "looked").touch()
        # The second one nobody approves: Azure begins by itself in the end.
        strange = wait_for(lab.folder / "ordered-web3", upgrade)
        wait_for(lab.folder / "output", upgrade, f"{strange} is not approved: it also names stranger, which this upgrade has not drained")
        lab.simulator.ask("POST", f"/events/{strange}/start")
        assert upgrade.wait(240) == 0, (lab.folder / "output").read_text()[-6000:]
    finally:
        upgrade.kill()
        upgrade.wait(10)
    approved = [one["event_id"] for entry in lab.simulator.approvals() for one in approvals_in(entry)]
    assert approved == [own], "its own restart is approved once, by one VM for both, and nothing else is"
    for vm in ("web1", "web2"):
        (record,) = [one for one in lab.records(vm) if one["event"]["event_id"] == own]
        assert record["approving_at"] and record["phase"] == "recovered", record
        assert (lab.folder / vm / "booted").exists()
    first = [one for one in lab.records("web1") if one["event"]["event_id"] == own][0]
    second = [one for one in lab.records("web2") if one["event"]["event_id"] == own][0]
    assert max(first["approving_at"], second["approving_at"]) <= first["approved_at"], "approved before all had written it down"
    assert all(lab.flag(vm).read_text() == "yes\n" for vm in lab.vms)
    assert not [path for vm in lab.vms for path in lab.records_folder(vm).glob("claim-*")]


def approvals_in(entry: t.Mapping[str, t.Any]) -> list[dict[str, str]]:
    """The ids in one POST."""
    body = entry.get("body")
    sent = json.loads(body) if isinstance(body, str) else body
    return [{"event_id": one["EventId"]} for one in sent["StartRequests"]]
