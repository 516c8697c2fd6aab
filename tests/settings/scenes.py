# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each playbook, and each role in a user's own play, played against three VMs of which one is dead (web3: nothing listens where ssh would connect).

What a run did is read from the simulator's log, the VMs' files and the exit code; from what is printed only whether the dead VM is named.
"""

from __future__ import annotations

import configparser
import dataclasses
import json
import os
import pathlib
import subprocess
import time
import typing as t

import evidence
import rows
import yaml
from lab import warm
from lab.lab import Lab

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import stem
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._report.entries import START, entry

DEAD = {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1, "ansible_ssh_common_args": "-o ConnectTimeout=2"}
VMS, LONG = ("web1", "web2", "web3"), 36000
SECONDS = 200
# What role respond does beside its main tasks.
PARTS = {"status": "status.yml", "decide": "decide.yml", "report": "history.yml"}
WORK = """
- name: Work on the VM
  ansible.builtin.copy:
    dest: "{{ folder }}/worked-{{ inventory_hostname }}"
    content: "{{ 'in' if serves else 'out of' }} service"
    mode: "0600"
  vars:
    serves: "{{ (folder ~ '/' ~ inventory_hostname ~ '/in_rotation') is file and not (folder ~ '/left-' ~ inventory_hostname) is file }}"
"""
ROLE = "maintenance.azure."


@dataclasses.dataclass(frozen=True)
class Setting:
    """What is set in one run: of a user's own play, of ansible.cfg, of the command line."""

    play: t.Mapping[str, t.Any] = dataclasses.field(default_factory=dict)
    role: t.Mapping[str, t.Any] = dataclasses.field(default_factory=dict)
    environment: t.Mapping[str, str] = dataclasses.field(default_factory=dict)
    configuration: t.Mapping[tuple[str, str], str] = dataclasses.field(default_factory=dict)
    arguments: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Done:
    """The end of one run. ``did`` is all that was done, in words that compare."""

    code: int | None  # None: it did not end
    did: tuple[str, ...]
    tells: bool  # the dead VM is named as one that did not answer
    output: str

    def same(self) -> tuple[t.Any, ...]:
        return self.code, self.did


class Scene:
    """One playbook, or with ``own`` its role in a user's play. One of respond that ``waits`` goes on until the VMs are put back."""

    def __init__(self, playbook: str, own: bool, waits: bool = False) -> None:
        self.playbook, self.own, self.waits = playbook, own, waits
        self.name = ("own play of " if own else "") + playbook + (" that waits" if waits else "")

    def play(self, folder: pathlib.Path, setting: Setting) -> Done:
        lab = Lab(folder, VMS)
        try:
            return self._play(lab, setting)
        finally:
            lab.close()

    def _play(self, lab: Lab, setting: Setting) -> Done:
        self._prepare(lab)
        event = ""
        if self.playbook == "report":
            for vm in VMS:
                _past_event(lab, vm)
        if self.playbook in ("respond", "status", "decide"):
            event = lab.simulator.event("Reboot", VMS[:2], notice=LONG, started_seconds=120 if self.waits else LONG)
        playbook = f"{ROLE}{'rolling_upgrade' if self.playbook == 'upgrade' else self.playbook}"
        if self.own:
            playbook = str(lab.folder / "site.yml")
            (lab.folder / "site.yml").write_text(yaml.safe_dump([self._own_play(setting)]))
        _configure(lab.folder, setting.configuration)
        environment = {key: value.replace("{folder}", str(lab.folder)) for key, value in setting.environment.items()}
        command = lab.command(playbook, *setting.arguments, **self._variables(lab, event))
        code, output = self._run(command, lab.environment(**core_path(), **environment), lab.folder)
        return Done(code, tuple(evidence.did(lab, output)), "web3" in output and "Failed to connect" in output, output)

    def _prepare(self, lab: Lab) -> None:
        lab.hosts["web3"].update(DEAD)
        if self.waits:
            # The pauses are longer than the time limits of tasks that are tried.
            lab.hosts["web1"]["drain_methods"][0]["interval"] = 5
            lab.all["respond_timing"]["check_interval"] = 2
        # A gate in check mode waits for nothing, and an empty list would prove nothing yet.
        lab.all["respond_timing"]["enabling_seconds"] = 0
        # One VM is drained by tasks of the operator, which the loop includes.
        for name, tasks in {**TASKS, "work": WORK}.items():
            (lab.folder / f"{name}.yml").write_text(tasks)
        lab.hosts["web2"]["drain_methods"] = [{"method": "tasks", **{name: str(lab.folder / f"{name}.yml") for name in TASKS}}]
        lab.all.update(folder=str(lab.folder), gate_quiet_seconds=0, gate_wait_seconds=60, upgrade_interval=1)
        lab.all["respond_capacity"] = [{"name": "web", "members": "{{ groups['all'] }}", "max_unavailable": 3}]

    @staticmethod
    def _run(command: list[str], environment: dict[str, str], folder: pathlib.Path) -> tuple[int | None, str]:
        try:
            done = subprocess.run(
                command, env=warm.playbooks(environment), cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False
            )  # fmt: skip
        except subprocess.TimeoutExpired as late:
            return None, (late.stdout or b"").decode()
        return done.returncode, done.stdout + done.stderr

    def _variables(self, lab: Lab, event: str) -> dict[str, t.Any]:
        hosts = ",".join(VMS[:2])
        return {
            "respond": {"respond_wait": self.waits},
            "decide": {"decide_event_id": event, "decide_action": "hold", "decide_who": "alice", "decide_why": "later"},
            "status": {"status_format": "json", "status_file": str(lab.folder / "status.json")},
            "report": {"report_file": str(lab.folder / "report.json"), "report_archive_path": str(lab.folder / "archive")},
            "gate": {"gate_hosts": hosts},
            "upgrade": {"upgrade_hosts": hosts, "upgrade_name": "Kernel", "upgrade_tasks": str(lab.folder / "work.yml")},
        }.get(self.playbook, {})

    def _own_play(self, setting: Setting) -> dict[str, t.Any]:
        include = {"name": ROLE + ("respond" if self.playbook in PARTS else self.playbook)}
        if self.playbook in PARTS:
            include["tasks_from"] = PARTS[self.playbook]
        role: dict[str, t.Any] = {"block": [{"ansible.builtin.import_role": include}], **setting.role}
        tasks = [role]
        if self.playbook == "gate":
            tasks += yaml.safe_load(WORK)
        return {"hosts": "web1,web2" if self.playbook in ("gate", "upgrade") else "all", "gather_facts": False, "tasks": tasks, **setting.play}


TASKS = {
    "begin": """
- name: Leave
  ansible.builtin.copy: {dest: "{{ folder }}/left-{{ inventory_hostname }}", content: left, mode: "0600"}

- name: Say that it leaves
  ansible.builtin.set_fact: {drain_tasks_state: draining}
""",
    "check": """
- name: Say that it has left
  ansible.builtin.set_fact: {drain_tasks_state: drained}
""",
    "undo": """
- name: Come back
  ansible.builtin.file: {path: "{{ folder }}/left-{{ inventory_hostname }}", state: absent}

- name: Say that it is back
  ansible.builtin.set_fact: {drain_tasks_state: undone}
""",
}


def _past_event(lab: Lab, vm: str) -> None:
    """Give a VM a history: an event of yesterday."""
    folder = pathlib.Path(lab.hosts[vm]["respond_records_path"]) / "history"
    folder.mkdir(mode=0o700, parents=True)
    name = f"past-{vm}"
    (folder / f"{stem(name)}.json").write_text(json.dumps(entry(name, begin=time.time() - 86400 - START, event={"resources": [vm]})))


def _configure(folder: pathlib.Path, options: t.Mapping[tuple[str, str], str]) -> None:
    if not options:
        return
    written = configparser.RawConfigParser()
    for (section, key), value in options.items():
        written.read_dict({section: {key: value}})
    with open(folder / "ansible.cfg", "w") as file:
        written.write(file)


def core_path() -> dict[str, str]:
    """Programs of another ansible-core than the one that runs the tests: SETTINGS_CORE is the folder of its environment."""
    folder = os.environ.get("SETTINGS_CORE")
    return {"PATH": f"{folder}/bin{os.pathsep}{os.environ['PATH']}"} if folder else {}


SCENES = [Scene(playbook, own) for playbook in rows.PLAYBOOKS for own in (False, True)]
WAITING = {own: Scene("respond", own, waits=True) for own in (False, True)}
