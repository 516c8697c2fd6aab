# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Item 2: what a VM's own record makes happen elsewhere. Every liar has a record of a drain that never was, all in one run of respond."""

from __future__ import annotations

import typing as t

import pytest
import records
from victims import Victims

LIARS = ("liar-tasks", "liar-balancer", "liar-server", "liar-name", "liar-local")
PIPE = "{{{{ lookup('ansible.builtin.pipe', 'touch {}') }}}}"


class Undone:
    """The lab after two passes."""

    def __init__(self, lab: Victims) -> None:
        self.lab = lab
        # Somebody has taken web1 out of service by hand, for a reason of their own.
        self.lb1, self.foreign = lab.balancer("lb1", web1="maint"), lab.balancer("lb2", web1="maint")
        self.secret = lab.balancer("unused", web1="maint")
        lab.hosts["liar-server"]["drain_methods"] = [{"method": "haproxy", "balancers": ["lb1"]}]
        lab.hosts["web1"] = {key: value for key, value in lab.hosts["lb1"].items() if key != "drain_haproxy_socket"}
        self._fake_systemctl()
        for number, (vm, methods) in enumerate(self._methods().items(), start=1):
            record = records.record(records.event(number, vm), *methods)
            lab.plant(vm, records.record_name(record), record)
        self.output = lab.raw_play("maintenance.azure.respond")[1].decode()

    def _methods(self) -> dict[str, list[dict[str, t.Any]]]:
        """What each record says was done; undone from the last to the first."""
        lab = self.lab

        def haproxy(*balancers: str, **options: t.Any) -> dict[str, t.Any]:
            found = {"server": "web1", "balancers": {name: {"shop": {"state": "ready", "up": False}} for name in balancers}}
            defaults = {"balancers": balancers, "server": "web1", "backends": [], "sessions": 0, "maintenance": True, "socket": "/run/haproxy/admin.sock"}
            return records.method("haproxy", {**defaults, **options}, found, outside=True)

        def command(number: int, undo: str, **more: t.Any) -> dict[str, t.Any]:
            options = {"begin": "true", "check": "true", "undo": undo, "timeout": 10}
            return records.method("command", options, **{"id": f"{number}-command", **more})

        tasks = lab.evil_tasks("tasks")
        folder = lab.folder / "elsewhere" / "evil"
        folder.mkdir(parents=True)
        (folder / "undo.yml").write_text((lab.folder / "tasks.yml").read_text().replace("canaries/tasks", "canaries/name"))
        (folder / "options.yml").write_text("{}\n")
        units = PIPE.format(lab.canary("units"))
        return {
            "liar-tasks": [records.method("tasks", {"begin": tasks, "check": tasks, "undo": tasks})],
            "liar-balancer": [haproxy("lb2", "web1", socket=self.secret.socket), command(2, f"touch {lab.canary('outside')}", outside=True)],
            "liar-server": [haproxy("lb1")],
            "liar-name": [records.method("../" * 20 + str(folder).lstrip("/"), {})],
            "liar-local": [
                records.method("service", {"names": [units]}, {units: "active"}),
                command(2, f"true {PIPE.format(lab.canary('template'))}"),
                command(3, f"touch {lab.folder}/liar-local/undone"),
            ],
        }

    def _fake_systemctl(self) -> None:
        folder = self.lab.folder / "bin"
        folder.mkdir()
        (folder / "systemctl").write_text(f'#!/bin/sh\necho "$@" >> {self.lab.folder}/systemctl.log\necho ActiveState=active\n')
        (folder / "systemctl").chmod(0o755)
        self.lab.more_environment["PATH"] = f"{folder}:{self.lab.environment()['PATH']}"


@pytest.fixture(scope="module")
def undone(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Undone]:
    lab = Victims(tmp_path_factory.mktemp("undo") / "lab", LIARS)
    try:
        yield Undone(lab)
    finally:
        lab.close()


def test_a_local_method_is_undone_there(undone: Undone) -> None:
    """Or nothing here proves anything."""
    assert (undone.lab.folder / "liar-local" / "undone").exists(), undone.output[-6000:]


@pytest.mark.parametrize(
    ("canary", "what"),
    [
        ("tasks", "a task file of the liar's choice ran on the controller"),
        ("name", "a method's name led to a task file outside the folders of methods, which ran on the controller"),
        ("outside", "a command of a record that calls itself outside ran, although no variable names it"),
        ("template", "a template in a recorded command ran on the controller"),
        ("units", "a template in a recorded unit name ran on the controller"),
    ],
)
def test_nothing_runs_because_a_record_says_so(undone: Undone, canary: str, what: str) -> None:
    assert canary not in undone.lab.found(), what


def test_no_balancer_is_touched_that_the_variables_do_not_name(undone: Undone) -> None:
    assert undone.foreign.commands == [], "a balancer that no variable names for this host was asked and changed"


def test_no_server_is_touched_that_the_variables_do_not_name(undone: Undone) -> None:
    assert undone.lb1.orders == [], "the server of another VM, out of service by hand, was put back into service"


def test_no_socket_is_opened_that_the_variables_do_not_name(undone: Undone) -> None:
    assert undone.secret.commands == [], "a module ran on web1 and opened a socket of the liar's choice"


@pytest.mark.parametrize("vm", ["liar-tasks", "liar-balancer", "liar-server", "liar-name"])
def test_what_is_not_undone_is_said(undone: Undone, vm: str) -> None:
    told = [line for line in undone.output.splitlines() if vm in line and ("by hand" in line or "drain_methods_former" in line)]
    assert told, f"nobody is told what to do about {vm}"


@pytest.mark.parametrize("part", ["set server", "socat", "{name:", "balancers: ["])
def test_no_line_to_paste_is_made_of_a_record(undone: Undone, part: str) -> None:
    assert part not in undone.output, "a person is told to do on a balancer, or to allow, what only a record names"
