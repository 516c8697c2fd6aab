# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Role gate in a person's serial play, playbook gate, and playbook rolling_upgrade, over real HTTP."""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import typing as t

import pytest
from lab.lab import Lab

Make = t.Callable[..., Lab]

PLAY = """
- name: Upgrade one by one
  hosts: all
  serial: 1
  gather_facts: false
  pre_tasks:
    - name: Gate
      ansible.builtin.include_role:
        name: maintenance.azure.gate
  tasks:
    - name: Upgrade
      ansible.builtin.lineinfile:
        path: "{{ log }}"
        line: "{{ inventory_hostname }} {{ gate_result.batch | join(' ') }}"
        create: true
        mode: "0600"
  post_tasks:
    - name: Release
      ansible.builtin.include_role:
        name: maintenance.azure.gate
        tasks_from: release.yml
"""


def grouped(make_lab: Make, *vms: str) -> Lab:
    lab = make_lab(list(vms))
    lab.all["respond_capacity"] = [{"name": "web", "members": "{{ groups['all'] }}", "max_unavailable": 1}]
    lab.all["gate_quiet_seconds"] = 0
    (lab.folder / "play.yml").write_text(PLAY)
    return lab


def play(lab: Lab, code: int | None = 0, **variables: t.Any) -> str:
    return lab.play(str(lab.folder / "play.yml"), code=code, log=str(lab.folder / "log"), **variables)


def test_two_lines_in_a_serial_play(make_lab: Make) -> None:
    lab = grouped(make_lab, "web1", "web2", "web3")
    output = play(lab, gate_wait_seconds=60)
    assert (lab.folder / "log").read_text().splitlines() == ["web1 web1", "web2 web2", "web3 web3"]
    # Nobody had asked before: an empty list proved nothing for a while.
    assert "Scheduled Events were enabled just now on" in output
    assert [lab.leases(vm) for vm in lab.vms] == [[], [], []]
    assert lab.simulator.approvals() == []


def test_an_event_on_the_batch_stops_the_play(make_lab: Make) -> None:
    lab = grouped(make_lab, "web1", "web2")
    event = lab.simulator.event("Reboot", ["web1"], notice=36000)
    output = play(lab, code=2, gate_wait_seconds=0)
    assert f"Reboot {event} names web1; it starts in" in output
    assert not (lab.folder / "log").exists()
    assert lab.leases("web1") == []


def test_an_event_on_another_member_takes_the_room(make_lab: Make) -> None:
    lab = grouped(make_lab, "web1", "web2")
    event = lab.simulator.event("Reboot", ["web2"], notice=36000)
    output = play(lab, code=2, gate_wait_seconds=0)
    assert f"web2 (Reboot {event} is coming)" in output or f"web2 ({event} takes it now)" in output
    assert not (lab.folder / "log").exists()


def test_what_is_skipped_lets_the_next_batch_begin(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"])
    (lab.folder / "play.yml").write_text(PLAY)
    lab.simulator.event("Reboot", ["web1"], notice=36000)
    play(lab, gate_wait_seconds=20, gate_closed="skip")
    assert (lab.folder / "log").read_text().splitlines() == ["web2 web2"]


def test_playbook_gate_holds_respond_off_until_it_is_given_back(make_lab: Make) -> None:
    lab = grouped(make_lab, "web1", "web2")
    answer = lab.folder / "answer.json"
    opened = lab.play("maintenance.azure.gate", gate_hosts="web1", gate_run="tool0001", gate_output=str(answer), gate_name="Firmware")
    found = json.loads(answer.read_text())
    assert f"The gate is open for web1 (run tool0001). This run has leased it until {found['leased_until']}: until then no other run drains" in opened
    assert (found["go"], found["run"], found["batch"]) == (True, "tool0001", ["web1"])
    assert len(lab.leases("web1")) == 1
    assert lab.leases("web2") == []
    lab.simulator.event("Reboot", ["web1"], notice=36000)
    output = lab.respond(respond_drain_seconds=30)
    assert "upgrade 'Firmware'" in output
    assert lab.flag("web1").exists(), "it was drained under the upgrade"
    assert "The gate is closed" in lab.play("maintenance.azure.gate", code=2, gate_hosts="web1", gate_wait_seconds=0)
    (release,) = re.findall(r"To release: (ansible-playbook -i .+)\"", opened)
    done = subprocess.run(release, shell=True, env=lab.environment(), cwd=lab.folder.parent, capture_output=True, text=True, timeout=100, check=True)
    assert "web1: released the lease of run tool0001." in done.stdout
    assert lab.leases("web1") == []


def test_leases_of_ended_runs_are_removed_from_other_members_whatever_becomes_of_another_one(make_lab: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = grouped(make_lab, "web1", "web2", "web3")
    lab.play("maintenance.azure.gate", gate_hosts="web3", gate_run="dead0001", gate_lease_seconds=1)
    lab.play("maintenance.azure.gate", gate_hosts="web2", gate_run="dead0002", gate_dead_run="dead0001")
    assert [len(lab.leases(vm)) for vm in lab.vms] == [0, 1, 0]
    lab.play("maintenance.azure.gate", gate_hosts="web3", gate_run="dead0003", gate_dead_run="dead0002", gate_lease_seconds=1)
    assert [len(lab.leases(vm)) for vm in lab.vms] == [0, 0, 1]
    monkeypatch.setenv("ANSIBLE_ANY_ERRORS_FATAL", "True")
    endpoint, lab.hosts["web2"]["respond_endpoint"] = lab.hosts["web2"]["respond_endpoint"], "http://127.0.0.1:9"
    closed = lab.play("maintenance.azure.gate", code=2, gate_hosts="web1", gate_wait_seconds=0)
    assert "Could not be observed: web2" in closed and "web2 (not read), web3 (leased by run dead0003 " in closed
    # The gate was over at once, and this is the only iteration after it.
    assert [lab.leases(vm) for vm in lab.vms] == [[], [], []]
    lab.hosts["web2"]["respond_endpoint"] = endpoint
    assert "The gate is open for web1" in lab.play("maintenance.azure.gate", gate_hosts="web1")


def test_a_rolling_upgrade_goes_on_where_it_stopped(make_lab: Make) -> None:
    lab = grouped(make_lab, "web1", "web2", "web3")
    log, tasks = lab.folder / "log", lab.folder / "tasks.yml"
    line = {"path": str(log), "line": "{{ inventory_hostname }} {{ flag.stat.exists }}", "create": True}
    tasks.write_text(
        json.dumps(
            [
                {"name": "Look", "ansible.builtin.stat": {"path": "{{ respond_health.file }}"}, "register": "flag"},
                {"name": "Upgrade", "ansible.builtin.lineinfile": line},
                {"name": "Break", "ansible.builtin.fail": {"msg": "It broke."}, "when": "inventory_hostname == breaks | default('')"},
            ]
        )
    )
    given = {"upgrade_hosts": "all", "upgrade_name": "Kernel", "upgrade_tasks": str(tasks), "upgrade_interval": 1, "upgrade_on_failure": "undo"}
    output = lab.play("maintenance.azure.rolling_upgrade", code=2, breaks="web2", **given)
    assert "Upgrade Kernel failed on web2: It broke." in output
    assert log.read_text().splitlines() == ["web1 False", "web2 False"]
    # Nobody has to wait for anything: the lease was given back, and the mark says what is to be done.
    assert [lab.leases(vm) for vm in lab.vms] == [[], [], []]
    assert lab.flag("web2").exists()
    lab.play("maintenance.azure.rolling_upgrade", **given)
    # lineinfile writes a line once: web2 was upgraded again, web1 was not asked.
    assert log.read_text().splitlines() == ["web1 False", "web2 False", "web3 False"]
    assert all(lab.flag(vm).exists() for vm in lab.vms)
    assert [lab.leases(vm) for vm in lab.vms] == [[], [], []]
    states = [json.loads(next(lab.records_folder(vm).glob("upgrade-*.json")).read_text())["state"] for vm in lab.vms]
    assert states == ["done"] * 3
    assert all(record["phase"] == "recovered" for vm in lab.vms for record in lab.records(vm))


def test_in_check_mode_nothing_is_leased(make_lab: Make, tmp_path: pathlib.Path) -> None:
    lab = grouped(make_lab, "web1", "web2")
    (lab.folder / "none.yml").write_text("[]")
    output = lab.play("maintenance.azure.rolling_upgrade", "--check", upgrade_hosts="all", upgrade_name="Kernel", upgrade_tasks="none.yml")
    assert '"Batch 1 of 2: web1",' in output and '"Batch 2 of 2: web2"' in output
    assert not list(tmp_path.rglob("claim-*"))


def test_an_upgrade_whose_tasks_are_not_there_says_where_it_looked(make_lab: Make) -> None:
    lab = make_lab(["web1"])
    output = lab.play("maintenance.azure.rolling_upgrade", code=2, upgrade_hosts="all", upgrade_name="november", upgrade_tasks="upp.yml")
    assert f'upgrade_tasks is "upp.yml", and there is no such file. Relative paths start at {lab.folder.resolve()}' in output
    assert "upgrade_name is empty" not in output


@pytest.mark.parametrize(
    ("arguments", "hosts", "code", "words"),
    [
        ((), None, 2, "gate_hosts must name the VMs"),
        ((), "web9", 2, "it is web9"),
        (("--limit", "web2"), "web1", 4, "--limit must not leave localhost out"),
        (("--limit", "localhost,web2"), "web1", 2, "matches 'web1' and --limit localhost,web2, so nothing is known"),
        (("-e", "gate_action=release"), "web1", 2, "gate_action=release needs gate_run"),
        (("-e", "gate_action=relese"), "web1", 2, "gate_action must be one of ask, release, forget, and is relese"),
    ],
)
def test_an_answer_is_never_yes_because_nobody_was_asked(idle_lab: Lab, arguments: t.Sequence[str], hosts: str | None, code: int, words: str) -> None:
    given = {} if hosts is None else {"gate_hosts": hosts}
    assert words in idle_lab.play("maintenance.azure.gate", *arguments, code=code, gate_wait_seconds=0, **given)
