# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The commands of the pages that tests/unit/docs/commands.yml registers for this file, typed into a shell as they stand there.

Each test types all commands that are registered for it, in the order of the pages. What is a path of the system or a date is replaced, and nothing else.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import typing as t
from datetime import datetime, timedelta, timezone

import pytest
from lab import warm
from lab.lab import ROOT, Lab
from lab.page_commands import key, typed

Make = t.Callable[..., Lab]
EVENT = "C7061BAC-AFDC-4513-B24B-AA5F13A16123"
FILE = "tests/playbooks/test_documented_commands.py"


class Shell:
    """A folder in which an operator types, with the inventory of a lab beside it."""

    def __init__(self, folder: pathlib.Path, environment: t.Mapping[str, str], **replaced: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.environment, self.replaced = folder, {**environment, "HOME": str(folder)}, replaced

    def replace(self, text: str) -> str:
        return functools.reduce(lambda changed, pair: changed.replace(*pair), self.replaced.items(), text)

    def type(self, command: str) -> str:
        """Type one command, which must not fail; return what it printed."""
        command = self.replace(command)
        environment = warm.playbooks(self.environment)
        done = subprocess.run(["bash", "-ec", command], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def type_all(self, commands: t.Iterable[str]) -> dict[str, str]:
        """Type commands in their order; return what each printed, by the text of the command on one line."""
        return {key(command): self.type(command) for command in commands}


def registered(test: str) -> list[str]:
    """Return the commands of one test. An empty list would be a test that tests nothing."""
    found = typed(f"{FILE}::{test}")
    assert found, test
    return found


def site(lab: Lab, **replaced: str) -> Shell:
    """Return a shell with the inventory of a lab: its last VM is group web, and beside the VMs is a host that keeps the archive."""
    lab.hosts["bastion"] = {
        "ansible_connection": "local", "ansible_become": False, "ansible_python_interpreter": warm.python(), "respond_exclude": True,
    }  # fmt: skip
    shell = Shell(lab.folder / "typed", lab.environment(), **{"/srv/maintenance-archive": str(lab.folder / "archive"), **replaced})
    inventory = json.loads(lab.inventory().read_text())
    inventory["all"]["children"] = {"web": {"hosts": {lab.vms[-1]: {}}}}
    (shell.folder / "inventory").write_text(json.dumps(inventory))
    return shell


def printed_by(printed: t.Mapping[str, str], ending: str) -> str:
    """Return what the one command printed that ends so."""
    (found,) = [text for command, text in printed.items() if command.endswith(ending)]
    return found


def test_an_event_that_is_looked_at_and_held(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"])
    lab.simulator.event("Reboot", ["web1"], event_id=EVENT, notice=72000)
    printed = site(lab).type_all(registered("test_an_event_that_is_looked_at_and_held"))
    assert f"1. c706: Reboot {EVENT}" in printed_by(printed, ".status") and "2 of 2 VMs answered; 1 event." in printed_by(printed, ".status")
    assert EVENT in printed_by(printed, "status_event_id=c706")
    assert "release tonight" in printed_by(printed, "'decide_why=\"release tonight\"'")
    assert any(path.name.startswith("override") or "release tonight" in path.read_text() for path in lab.records_folder("web1").rglob("*.json"))


def test_an_event_from_the_check_to_its_report(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"])
    lab.simulator.event("Reboot", ["web1"], event_id=EVENT, notice=72000, started_seconds=60)
    later = (datetime.now(timezone.utc) + timedelta(days=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
    # The records belong to the user of the test.
    shell = site(lab, **{"2026-11-25T06:00:00Z": later, "sudo ": "", "/var/lib/azure-maintenance": str(lab.records_folder("web1"))})
    printed = shell.type_all(registered("test_an_event_from_the_check_to_its_report"))
    assert "would" in printed_by(printed, ".respond --check").lower()
    assert lab.phases("web1")[-1] == "recovered" and len(lab.simulator.approvals()) == 1
    for command, text in printed.items():
        if "maintenance.azure.report" in command and "month" not in command:
            assert EVENT in text, command
    assert sorted(path.name for path in shell.folder.glob("march.*")) == ["march.csv", "march.html", "march.json"]
    assert [path.name[:5] for path in (lab.folder / "archive").iterdir()] == ["web1-"]
    assert "Paused by alice until" in printed_by(printed, "}}'")
    assert "recovered Reboot" in printed_by(printed, 'method["before"])\'')


def test_upgrades_and_gates(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"])
    shell = site(lab)
    for name in ("kernel", "packages"):
        (shell.folder / f"{name}.yml").write_text("- name: Upgrade nothing\n  ansible.builtin.debug:\n    msg: upgraded\n")
    (shell.folder / "flash").write_text("#!/bin/sh\necho flashed $1\n")
    (shell.folder / "flash").chmod(0o700)
    for command in registered("test_upgrades_and_gates"):
        text = shell.type(command)
        if "rolling_upgrade" in command:
            assert lab.leases("web1") == lab.leases("web2") == []
        elif "./flash" in command:
            assert "flashed web1" in text and lab.leases("web1")
        elif "gate_action" not in command:
            # It prints the command that releases.
            assert lab.leases("web1")
            (release,) = set(re.findall(r"To release: (ansible-playbook [^\"\n]*gate_action=release)", text))
            shell.type(release)
        if "gate_action" in command:
            assert lab.leases("web1") == []


def test_a_drain_method_of_ones_own(tmp_path: pathlib.Path) -> None:
    kept = {**os.environ, "ANSIBLE_LOCALHOST_WARNING": "0", "ANSIBLE_PYTHON_INTERPRETER": sys.executable}
    shell = Shell(tmp_path / "playbooks", kept)
    shutil.copy(ROOT / "docs" / "contributing" / "own-drain-method.diff", shell.folder)
    printed = shell.type_all(registered("test_a_drain_method_of_ones_own"))
    assert "failed=0" in printed["ansible-playbook rehearse.yml"]


def test_the_simulator_by_hand() -> None:
    start, *asks = registered("test_the_simulator_by_hand")
    words = start.replace("python3 ", "").replace("127.0.0.1:8002", "127.0.0.1:0").split()
    with subprocess.Popen([sys.executable, *words], cwd=ROOT, stdout=subprocess.PIPE, text=True) as simulator:
        try:
            assert simulator.stdout
            listens = json.loads(simulator.stdout.readline())
            shown = {"http://127.0.0.1:41273": listens["control"], "http://127.0.0.1:36095": listens["vms"]["web1"]}
            shell = Shell(ROOT, os.environ, **shown)
            made, document = (json.loads(shell.type(command)) for command in asks)
        finally:
            simulator.terminate()
    assert [event["EventId"] for event in document["Events"]] == [made["event_id"]]
    assert document["Events"][0]["EventSource"] == "User"


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        return [stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _number in range(count)]


@pytest.fixture(name="checkout")
def _checkout(tmp_path: pathlib.Path) -> Shell:
    """A shell in a checkout, whose home is empty."""
    copy = subprocess.run([ROOT / "tests" / "tools" / "copy_tree.sh", tmp_path / "copy"], capture_output=True, text=True, check=True).stdout.strip()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PYTHON"))}
    # The guide's test has the same ports, and may be run beside this one.
    ports = {f":{port}": f":{free}" for port, free in zip(range(8100, 8105), free_ports(5))}
    kept.update(ANSIBLE_NOCOLOR="1", PYTHONPATH=str(ROOT / "tests" / "tools" / "code_cache"))
    shell = Shell(pathlib.Path(copy), kept, **ports)
    inventory = shell.folder / "docs" / "examples" / "local-rehearsal.yml"
    inventory.write_text(shell.replace(inventory.read_text()))
    shell.environment["HOME"] = str(tmp_path / "home")
    return shell


def test_from_a_checkout(checkout: Shell) -> None:
    """What is installed runs the rehearsal of the start page."""
    commands = registered("test_from_a_checkout")
    try:
        printed = checkout.type_all(commands)
    finally:
        stop = next(command for command in commands if "--stop" in command)
        subprocess.run(["bash", "-c", stop], cwd=checkout.folder, env=checkout.environment, capture_output=True, check=False)
    assert "was installed successfully" in printed["ansible-galaxy collection install ."]
    assert "was installed successfully" in printed_by(printed, "--upgrade")
    assert "4 of 4 VMs answered; 1 event." in printed_by(printed, "maintenance.azure.status")
