# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What role gate can be told: quiet time, look-ahead, the machine that runs Ansible, signs of life; and what it refuses."""

from __future__ import annotations

import pathlib
import re
import subprocess
import time
import typing as t

from lab import warm
from lab.lab import Lab

Make = t.Callable[..., Lab]
LONG = 36000

PLAY = """
- name: Upgrade one by one
  hosts: all
  serial: 1
  gather_facts: false
  tasks:
    - name: Gate
      ansible.builtin.include_role:
        name: maintenance.azure.gate

    - name: Forget the lease
      ansible.builtin.file:
        path: "{{ item }}"
        state: absent
      loop: "{{ query('ansible.builtin.fileglob', respond_records_path ~ '/claim-*') if loses | default(false) else [] }}"

    - name: A sign of life
      ansible.builtin.include_role:
        name: maintenance.azure.gate
        tasks_from: renew.yml
      vars:
        gate_lease_seconds: 7200

    - name: Upgrade
      ansible.builtin.shell: echo "{{ inventory_hostname }} $(ls {{ respond_records_path }} | grep claim-)" >> "{{ log }}"

    - name: Release
      ansible.builtin.include_role:
        name: maintenance.azure.gate
        tasks_from: release.yml
"""


def make(make_lab: Make, play: str = PLAY, *arguments: t.Any) -> Lab:
    lab = make_lab(["web1", "web2", "admin1"], *arguments)
    lab.all["gate_quiet_seconds"] = 0
    lab.all["log"] = str(lab.folder / "log")
    lab.all["gate_controller_endpoint"] = lab.hosts.pop("admin1")["respond_endpoint"]
    (lab.folder / "play.yml").write_text(play)
    return lab


def play(lab: Lab, code: int = 0, **variables: t.Any) -> str:
    return lab.play(str(lab.folder / "play.yml"), code=code, **variables)


def wait_for(path: pathlib.Path, words: str, process: subprocess.Popen[str]) -> str:
    """Until the file says so."""
    end = time.monotonic() + 240
    while not (path.exists() and words in path.read_text()):
        assert process.poll() is None and time.monotonic() < end, f"{words!r} never came: {path.read_text()[-3000:] if path.exists() else ''}"
        time.sleep(0.2)
    return path.read_text()


def start(lab: Lab, playbook: str, **variables: t.Any) -> subprocess.Popen[str]:
    with open(lab.folder / "output", "w") as output:
        return subprocess.Popen(
            lab.command(playbook, **variables), env=warm.playbooks(lab.environment()), cwd=lab.folder, stdout=output, stderr=subprocess.STDOUT, text=True
        )


def test_quiet_time_after_an_event_and_events_that_are_too_far_away(make_lab: Make) -> None:
    lab = make(make_lab, PLAY, 1)
    near = lab.simulator.event("Reboot", ["web1"], notice=3000)
    far = lab.simulator.event("Reboot", ["web2"], notice=LONG)
    upgrade = start(lab, str(lab.folder / "play.yml"), gate_quiet_seconds=5, gate_look_ahead=3600, gate_batch_seconds=60, gate_wait_seconds=240)
    try:
        wait_for(lab.folder / "output", f"Reboot {near} names web1; it starts in", upgrade)
        lab.simulator.ask("POST", f"/events/{near}/cancel")
        assert upgrade.wait(240) == 0, (lab.folder / "output").read_text()[-5000:]
    finally:
        upgrade.kill()
        upgrade.wait(10)
    shown = (lab.folder / "output").read_text()
    # A person sees who waits for what, since when, and until when.
    assert "Waited " in shown and "next observation in " in shown
    assert [line.split()[0] for line in (lab.folder / "log").read_text().splitlines()] == ["web1", "web2"]
    assert far not in shown, "an event that is too far away is in the way"


def test_the_machine_that_runs_ansible_must_have_no_event_itself(make_lab: Make) -> None:
    lab = make(make_lab)
    event = lab.simulator.event("Redeploy", ["admin1"], notice=LONG)
    output = play(lab, code=2, gate_controller=True, gate_wait_seconds=0)
    assert f"The VM that runs Ansible has Redeploy {event} coming" in output
    assert not (lab.folder / "log").exists()
    lab.simulator.ask("POST", f"/events/{event}/cancel")
    play(lab, gate_controller=True, gate_wait_seconds=60)
    lines = (lab.folder / "log").read_text().splitlines()
    assert [line.split()[0] for line in lines] == ["web1", "web2"]
    # The sign of life has set the time limit anew: two hours, where the gate had said one.
    limit = int(lines[0].split()[1].rpartition(".json")[0].rpartition(".")[2]) / 1000
    assert limit - time.time() > 3600
    output = play(lab, code=2, loses=True, gate_wait_seconds=60)
    assert re.search(r"The lease of run \w+ for event upgrade:Upgrade one by one in \S+ is gone", output)
    assert len((lab.folder / "log").read_text().splitlines()) == 2
    assert not list(lab.records_folder("web1").glob("claim-*")), "what was no renewal stays"


def test_only_the_strategy_linear_is_good_enough(make_lab: Make) -> None:
    lab = make(make_lab, PLAY.replace("  serial: 1", "  strategy: free"))
    assert "Role gate needs the strategy linear" in play(lab, code=2, gate_wait_seconds=0)
    assert not (lab.folder / "log").exists()
    assert not list(lab.folder.rglob("claim-*"))
