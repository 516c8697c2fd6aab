# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The controller: ansible in the lab's namespace, over ssh, as a person would run it."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import typing as t

from .balancer import Balancer
from .commands import run
from .guest import Guest
from .killing import kill

CALLBACKS = pathlib.Path(__file__).resolve().parents[1] / "callback_plugins"
# A machine that is paused or dead does not close its connections: ssh has to find out by itself, within seconds.
SSH_OPTIONS = (
    *("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "ConnectTimeout=3"),
    *("-o", "ServerAliveInterval=3", "-o", "ServerAliveCountMax=2", "-o", "ControlMaster=auto", "-o", "ControlPersist=60s"),
)
# Nginx goes last and comes back first.
SERVICE = {"method": "service", "names": ["nginx.service"]}
# The balancer asks every second and needs two misses; one more is for a busy machine.
PROBE_FILE = {"method": "probe_file", "path": "/srv/www/health", "interval": 1, "threshold": 3, "ports": [8080]}
HAPROXY = {"method": "haproxy", "balancers": ["lb1"], "backends": ["web"]}
# Every second guest is taken out by its health file, the others by the balancer's runtime socket.
DRAIN_METHODS = ([PROBE_FILE, SERVICE], [HAPROXY, SERVICE])
DRAIN_EVERYTHING = [{"name": "everything drains", "drain": True, "approve": "after_drain"}]


class Controller:
    def __init__(self, work: pathlib.Path, guests: dict[str, Guest], balancer: Balancer) -> None:
        self.folder = work / "controller"
        self._guests, self._balancer = guests, balancer
        self.folder.mkdir()
        self._runs: list[subprocess.Popen[bytes]] = []
        self._key = self.folder / "key"
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self._key))
        self.public_key = self._key.with_suffix(".pub").read_text()
        self.hosts: dict[str, dict[str, t.Any]] = {
            vm: {"ansible_host": guest.address, "drain_methods": DRAIN_METHODS[number % 2]} for number, (vm, guest) in enumerate(guests.items())
        }
        self.all: dict[str, t.Any] = {
            "ansible_user": "root",
            # The guests have no sudo, and root needs none.
            "ansible_become": False,
            "ansible_python_interpreter": "/usr/bin/python3",
            "ansible_ssh_private_key_file": str(self._key),
            "respond_health": {"url": "http://127.0.0.1:8080/health"},
            "respond_drain_seconds": 120,
            "respond_pass_interval": 10,
        }

    def ask(self, vm: str, command: str) -> str:
        """What a command says on a guest, whatever its exit code. Not over a connection that ansible has."""
        words = ["ssh", "-i", str(self._key), *SSH_OPTIONS[: SSH_OPTIONS.index("ControlMaster=auto") - 1]]
        return run(*words, f"root@{self._guests[vm].address}", command, check=False, seconds=20).strip()

    def start(self, playbook: str, log: pathlib.Path, stop_at: str = "", known: str = "known_boundaries", **variables: t.Any) -> subprocess.Popen[bytes]:
        """A playbook as a process. It stands still at a task when it is told so (see callback_plugins/boundary.py).

        ``known`` is the file of those at which a run was stopped before.
        """
        inventory = self.folder / f"{log.stem}.inventory.json"
        inventory.write_text(json.dumps({"all": {"children": self._groups()}}))
        command = ["nice", "-n", "5", "ansible-playbook", "-i", str(inventory), playbook, "-e", json.dumps({"respond_hosts": "web", **variables})]
        environment = dict(
            self.environment(),
            ANSIBLE_LOG_PATH=str(log.with_suffix(".times")),
            ANSIBLE_SSH_CONTROL_PATH_DIR=str(self.folder / f"cp-{log.stem}"),
            BOUNDARY_FILE=str(log.with_suffix(".boundaries")),
            BOUNDARY_AT=stop_at,
            BOUNDARY_KNOWN=str(self.folder / known),
        )
        with log.open("ab") as output:
            run = subprocess.Popen(command, env=environment, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
        self._runs.append(run)
        return run

    def _groups(self) -> dict[str, t.Any]:
        balancer = {
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
            "drain_haproxy_socket": self._balancer.socket_path,
        }
        return {"web": {"hosts": self.hosts, "vars": self.all}, "balancers": {"hosts": {"lb1": balancer}}}

    def end_runs(self) -> None:
        """What a test that failed has left at work would spoil the next one."""
        for process in self._runs:
            if process.poll() is None:
                kill(process)
        self._runs.clear()

    def environment(self) -> dict[str, str]:
        return dict(
            os.environ,
            ANSIBLE_HOME=str(self.folder / "ansible"),
            ANSIBLE_LOCAL_TEMP=str(self.folder / "ansible" / "tmp"),
            ANSIBLE_SSH_ARGS=" ".join(SSH_OPTIONS),
            ANSIBLE_PIPELINING="1",
            ANSIBLE_FORKS="10",
            ANSIBLE_NOCOLOR="1",
            ANSIBLE_TIMEOUT="5",
            ANSIBLE_CALLBACK_PLUGINS=str(CALLBACKS),
            ANSIBLE_CALLBACKS_ENABLED="boundary",
        )
