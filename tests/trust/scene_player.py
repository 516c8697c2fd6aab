# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All scenes in one lab, each in a group of VMs of its own: one run of respond for all, what each scene changes, and a run that waits."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import json
import pathlib
import shutil
import subprocess
import sys
import time
import typing as t

import requests
from lab import warm
from lab.haproxy import Backend, HAProxy
from lab.simulator import Simulator
from scene_data import VM, RecordChange, Scene
from victims import Victims

RESPOND = "maintenance.azure.respond"
OTHER_CLOCK = pathlib.Path(__file__).resolve().parent / "other_clock.py"
BACKEND = "shop"
# Fifty minutes at this speed: the runs are over before, on any machine, and it is not so far away that a drain would wait.
LONG = 180000
# A busy machine takes its time.
WAIT, RUN_LIMIT = 600, 700.0
# Whether an observation falls into the time between approval and end depends on how busy this machine is; which VM approves does not matter.
BY_CHANCE = ("approved", "started", "held")


@dataclasses.dataclass
class Run:
    """What there was to see after a run of respond."""

    code: int
    lines: list[str]
    began: float
    ended: float
    facts: dict[str, dict[str, t.Any]]
    """By VM and by event."""


class Player:
    """The lab of all scenes."""

    def __init__(self, folder: pathlib.Path, scenes: t.Sequence[Scene]) -> None:
        self.scenes = scenes
        self.folder = folder
        self.vms: dict[str, VM] = {name: vm for scene in scenes for name, vm in scene.vms.items()}
        self.events: dict[str, str] = {}
        self.runs: dict[str, Run] = {}
        self.troubles: dict[str, str] = {}
        """By scene: why a step of it could not be done, as when an event was to finish that nobody had approved."""
        self.boots = dict.fromkeys(self.vms, 1)
        # By VM: the hosts that keep copies of its records, and these.
        self.copies: dict[str, dict[pathlib.Path, str]] = {}
        folder.mkdir(parents=True)
        self.lab = Victims(folder / "lab", [], 60, "--disabled", "--vm-file", self._vm_file("vms", self._first_machines()))
        self.lab.add(list(self.vms))
        self.others = Simulator([], 60, "--switch", "rate_limit=0", "--vm-file", self._vm_file("others", self._later_machines()))
        self.servers = {name: Backend() for name, vm in self.vms.items() if vm.server}
        # One more, which is no VM here: scenes have the same backend, and none is kept by another one's drain.
        self.spare = Backend()
        ports = {"spare": self.spare.port, **{name: one.port for name, one in self.servers.items()}}
        self.balancer = HAProxy(folder / "lb1", {BACKEND: {name: (port, "check inter 200") for name, port in ports.items()}})
        self._prepare()

    # --- The lab -----------------------------------------------------------------------------------------------------

    def _vm_file(self, name: str, machines: list[dict[str, t.Any]]) -> str:
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(machines))
        (self.folder / "lab").mkdir(exist_ok=True)
        return str(path)

    def _first_machines(self) -> list[dict[str, t.Any]]:
        return [{"name": name, "group": scene.name, **vm.simulator} for scene in self.scenes for name, vm in scene.vms.items()]

    def _later_machines(self) -> list[dict[str, t.Any]]:
        """New VMs of a name that there was: in one simulator a name is unique, so they are in another one, where nothing is planned."""
        names = [str(step["new_vm"]) for scene in self.scenes for step in scene.between if "new_vm" in step]
        return [{"name": name, "vm_id": f"0a77ac60-0000-4000-8000-{number:012d}"} for number, name in enumerate(names, start=1)]

    def _prepare(self) -> None:
        lab = self.lab
        # The first run is within the time in which an empty document proves nothing.
        lab.all["respond_timing"]["enabling_seconds"] = 2 * RUN_LIMIT
        lab.all["respond_wait_timeout"] = WAIT
        local = {key: value for key, value in lab.hosts[next(iter(self.vms))].items() if key.startswith("ansible_")}
        lab.hosts["lb1"] = {**local, "drain_haproxy_socket": self.balancer.socket}
        for name, vm in self.vms.items():
            lab.hosts[name].update({"vm_folder": str(self._home(name)), **vm.variables})
            self._set_clock(name, vm.clock)
            if vm.enabled:
                requests.get(f"{lab.hosts[name]['respond_endpoint']}/metadata/scheduledevents?api-version=2020-07-01", headers={"Metadata": "true"}, timeout=10)
        lab.simulator.ask("POST", "/switches", {"enabling_delay": LONG})
        for scene in self.scenes:
            lab.all.update(scene.settings)
            for event, wishes in scene.events.items():
                self._event(name=event, **wishes)
        self.absent = {name: lab.hosts.pop(name) for name, vm in self.vms.items() if vm.joins}
        for name in self.servers:
            self.balancer.wait_for(functools.partial(self._is_up, name), f"{name} is not up")

    def _is_up(self, server: str) -> bool:
        return self.balancer.status(BACKEND, server) == "UP"

    def _home(self, vm: str) -> pathlib.Path:
        return self.lab.folder / vm

    def _records(self, vm: str) -> pathlib.Path:
        return self.lab.records_folder(vm)

    def _interpreter(self, vm: str, script: str) -> None:
        python = self._home(vm) / "python"
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(0o755)
        self.lab.hosts[vm]["ansible_python_interpreter"] = str(python)

    def _set_clock(self, vm: str, seconds: float) -> None:
        if seconds:
            self._interpreter(vm, f'exec "{sys.executable}" "{OTHER_CLOCK}" {seconds} "$@"')

    # --- What a scene may do, by the names of its steps --------------------------------------------------------------

    def do(self, scene: Scene, step: RecordChange) -> None:
        """Do one step. What goes wrong is that scene's, and no other's."""
        try:
            for verb, given in step.items():
                if verb != "after_observation_of":
                    getattr(self, f"_do_{verb}")(given)
        except (AssertionError, LookupError, OSError, ValueError, subprocess.SubprocessError) as error:
            self.troubles.setdefault(scene.name, f"{step}: {error}")

    def _event(self, name: str, **wishes: t.Any) -> None:
        wishes = {"event_type": "Redeploy", "notice": LONG, "started_seconds": LONG, **wishes}
        self.events[name] = self.lab.simulator.event(**wishes)

    def _do_event(self, wishes: dict[str, t.Any]) -> None:
        self._event(**wishes)

    def _do_finish(self, event: str) -> None:
        self.lab.simulator.ask("POST", f"/events/{self.events[event]}/finish")

    def _do_enable(self, _yes: bool) -> None:
        """Scheduled Events are enabled everywhere, and every document has what it should have."""
        self.lab.simulator.ask("POST", "/feature", {"enabled": True})

    def _do_variables(self, by_host: dict[str, dict[str, t.Any]]) -> None:
        for host, variables in by_host.items():
            (self.lab.all if host == "all" else self.lab.hosts[host]).update(variables)

    def _do_leave_inventory(self, vm: str) -> None:
        self.absent[vm] = self.lab.hosts.pop(vm)

    def _do_join_inventory(self, vm: str) -> None:
        self.lab.hosts[vm] = self.absent.pop(vm)

    def _do_lose_records(self, vm: str) -> None:
        shutil.rmtree(self._records(vm))

    def _do_reboot(self, vm: str) -> None:
        self.boots[vm] += 1
        self.lab.hosts[vm]["respond_boot_id"] = f"boot-of-{vm}-{self.boots[vm]}"

    def _do_new_vm(self, vm: str) -> None:
        """Another VM of the same name: an empty disk, another vmId."""
        self._do_lose_records(vm)
        self._do_reboot(vm)
        self.lab.hosts[vm]["respond_endpoint"] = self.others.endpoints[vm]

    def _do_keep_disk(self, vm: str) -> None:
        """A snapshot of the VM's disk: its records and whether it is in service."""
        shutil.copytree(self._home(vm), self.folder / "snapshots" / vm)

    def _do_put_back_disk(self, vm: str) -> None:
        """The disk of the snapshot, all but the log of what was done."""
        log = (self._home(vm) / "log").read_text()
        shutil.rmtree(self._home(vm))
        shutil.copytree(self.folder / "snapshots" / vm, self._home(vm))
        (self._home(vm) / "log").write_text(log)
        self._do_reboot(vm)

    def _do_copy_disk(self, vms: dict[str, str]) -> None:
        """A VM from an image of another one's disk."""
        for source, target in vms.items():
            shutil.rmtree(self._home(target))
            shutil.copytree(self._home(source), self._home(target))

    def _do_keep_copies_of(self, vm: str) -> None:
        """A snapshot of the copies that other VMs keep of a VM's records."""
        (record,) = self.lab.records(vm)
        name = f"event-{record['event']['event_id'].lower()}.json"
        found = [path for path in self.lab.folder.glob(f"*/records/mirror-*-{name}") if json.loads(path.read_text())["vm"] == vm]
        assert found, f"nobody keeps a copy of the record of {vm}"
        self.copies[vm] = {path: path.read_text() for path in found}

    def _do_put_back_copies_of(self, vm: str) -> None:
        for path, text in self.copies[vm].items():
            assert not path.exists(), f"the copy of what is over is still there: {path}"
            path.write_text(text)

    def _do_forget_record(self, vm: str) -> None:
        """The record is removed as a pass does it a day later, and by the same module."""
        (record,) = self.lab.records(vm)
        options = f"state=absent event_id={record['event']['event_id']} records_path={self._records(vm)}"
        command = ["ansible", "-i", str(self.lab.inventory()), vm, "-m", "maintenance.azure.maintenance_record", "-a", options]
        subprocess.run(command, env=self.lab.environment(), cwd=self.lab.folder, check=True, capture_output=True, timeout=60)

    def _do_set_server(self, states: dict[str, str]) -> None:
        """A person sets a server's state in HAProxy."""
        for server, state in states.items():
            self.balancer.ask(f"set server {BACKEND}/{server} state {state}")

    def _do_clock(self, clocks: dict[str, float]) -> None:
        for vm, seconds in clocks.items():
            self._set_clock(vm, seconds)

    def _do_hold_observation(self, vm: str) -> None:
        """Let the VM's next module wait until it is let go."""
        go = self._home(vm) / "go"
        wait = f'n=0; while [ ! -e "{go}" ] && [ $n -lt 400 ]; do sleep 0.05; n=$((n+1)); done'
        self._interpreter(vm, f'{wait}\nexec "{warm.python()}" "$@"')

    def _do_let_go(self, vm: str) -> None:
        (self._home(vm) / "go").touch()

    # --- The runs ----------------------------------------------------------------------------------------------------

    def play(self) -> None:
        self._run("first")
        self._change("between")
        self.lab.all["respond_timing"]["enabling_seconds"] = 2
        self._run("second", [(scene, step) for scene in self.scenes for step in scene.during], respond_wait=True)
        self._change("after")
        third = [scene for scene in self.scenes if "third" in scene.then]
        if not third:
            return
        hosts = {name for scene in third for name in scene.vms}
        hosts |= {path.parent.parent.name for kept in self.copies.values() for path in kept}
        self._run("third", hosts=hosts, respond_wait=True)

    def _change(self, when: str) -> None:
        for scene in self.scenes:
            for step in getattr(scene, when):
                self.do(scene, step)

    def _run(self, name: str, during: t.Sequence[tuple[Scene, RecordChange]] = (), hosts: t.Container[str] = (), **variables: t.Any) -> None:
        began = time.time()
        asked = self.lab.simulator.ask("GET", "/state")["requests"]
        chosen = [vm for vm in self.vms if vm in self.lab.hosts and (not hosts or vm in hosts)]
        output = self.folder / f"{name}.txt"
        with output.open("w") as stream:
            process = subprocess.Popen(
                self.lab.command(RESPOND, respond_hosts=",".join(chosen), **variables),
                env=warm.playbooks(self.lab.environment()), cwd=self.lab.folder, stdout=stream, stderr=subprocess.STDOUT,
            )  # fmt: skip
            try:
                code = self._watch(process, list(during), asked)
            finally:
                process.kill()
                process.wait(10)
        self.runs[name] = Run(code, output.read_text().splitlines(), began, time.time(), {})
        self.runs[name].facts.update({vm: self._facts_of_vm(vm, self.runs[name]) for vm in self.vms})
        self.runs[name].facts.update({event: self._facts_of_event(event) for event in self.events})

    def _watch(self, process: subprocess.Popen[bytes], pending: list[tuple[Scene, RecordChange]], asked: int) -> int:
        """Wait for the end of a run, and do what is to be done meanwhile."""
        limit = time.monotonic() + RUN_LIMIT
        while process.poll() is None and time.monotonic() < limit:
            for scene, step in [one for one in pending if self.lab.simulator.ask("GET", f"/requests?since={asked}&vm={one[1]['after_observation_of']}")]:
                self.do(scene, step)
                pending.remove((scene, step))
            time.sleep(0.1)
        return -9 if process.poll() is None else process.returncode

    # --- What is true after a run ------------------------------------------------------------------------------------

    def _facts_of_vm(self, vm: str, run: Run) -> dict[str, t.Any]:
        home, records = self._home(vm), self.lab.records(vm)
        history = [entry for record in records for entry in record["history"]]
        return {
            "in_service": (home / "in_rotation").exists(),
            "server": f"{self.balancer.admin_state(BACKEND, vm)} {self.balancer.status(BACKEND, vm)}" if vm in self.servers else None,
            "log": (home / "log").read_text().splitlines() if (home / "log").exists() else [],
            "records": len(records),
            # Of each record the last; where a VM has several records, all that differ.
            "phase": ", ".join(sorted({record["history"][-1]["phase"] for record in records})),
            "phases": [entry["phase"] for entry in history if entry["phase"] not in BY_CHANCE],
            "approved": any(entry["phase"] == "approved" for entry in history),
            "clock": self._clock_off(history[-1]["at"], run) if history else None,
            "leases": len(self.lab.leases(vm)),
            "set_aside": len(list(self._records(vm).glob("foreign-*"))),
        }

    @staticmethod
    def _clock_off(at: str, run: Run) -> str:
        """How far a VM's clock was from this machine's at its last entry, in words that do not depend on the length of the run."""
        moment = datetime.datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp()
        minutes = min(abs(moment - run.began), abs(moment - run.ended)) / 60
        if run.began - 1 <= moment <= run.ended + 1:
            return "right"
        return f"{'years' if minutes > 500_000 else 'minutes'} {'fast' if moment > run.ended else 'slow'}"

    def _facts_of_event(self, event: str) -> dict[str, t.Any]:
        event_id = self.events[event].lower()
        posts = [one for one in self.lab.simulator.approvals() if event_id in one["body"].lower()]
        return {"approvals": len(posts), "state": self.lab.simulator.ask("GET", f"/events/{event_id}")["state"]}

    def about(self, run: str, scene: Scene) -> list[str]:
        """The messages of a run, and the labels of what it did, that name a VM or an event of the scene."""
        names = [*scene.vms, *(self.events[event] for event in self.events_of(scene) if event in self.events)]
        told = [line for line in self.runs[run].lines if line.lstrip().startswith('"') or (" => (item=" in line and not line.startswith("included: "))]
        return [line for line in told if any(name in line for name in names)]

    @staticmethod
    def events_of(scene: Scene) -> list[str]:
        return [*scene.events, *(step["event"]["name"] for step in [*scene.between, *scene.during, *scene.after] if "event" in step)]

    def close(self) -> None:
        self.balancer.stop()
        for server in (self.spare, *self.servers.values()):
            server.stop()
        self.others.close()
        self.lab.close()
