# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An answer without end: two VMs send 600 MB each, by connection plugin local and by ssh, in one pass of respond."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import subprocess
import threading
import typing as t

import pytest
from victims import Victims

MEGABYTES = 600
# Of any process that the controller starts, the modules on its "VMs" included. A worker without such an answer has 120 MB.
MOST_RESIDENT = 400 * 1024 * 1024
LIMIT_SECONDS = 400.0
LIARS = ("liar-local", "liar-ssh")
HONEST = ("web1", "web2")
# Takes ssh's arguments, and runs the command, which is the last one, here.
SSH = '#!/bin/sh\nfor command; do :; done\nexec /bin/sh -c "$command"\n'


@dataclasses.dataclass
class Pass:
    code: int
    output: str
    largest: int
    """Resident bytes of the largest process: of ansible-playbook or any process below it."""
    approved: set[str]
    honest: set[str]


def run(lab: Victims) -> tuple[int, str, int]:
    """Run respond. The kernel itself keeps how large the largest process below it was."""
    output = lab.folder / "output"
    with output.open("wb") as file:
        process = subprocess.Popen(
            lab.command("maintenance.azure.respond", respond_hosts=",".join(lab.vms)),
            env=lab.environment(), cwd=lab.folder, stdout=file, stderr=subprocess.STDOUT,
        )  # fmt: skip
        timer = threading.Timer(LIMIT_SECONDS, process.kill)
        timer.start()
        _pid, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, output.read_text(errors="replace"), usage.ru_maxrss * 1024


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Pass]:
    lab = Victims(tmp_path_factory.mktemp("endless") / "lab", (*LIARS, *HONEST))
    try:
        for liar in LIARS:
            lab.lie(liar, any={"megabytes": MEGABYTES})
        by_ssh = {"ansible_connection": "ssh", "ansible_ssh_executable": stand_in(lab.folder), "ansible_ssh_pipelining": True}
        lab.hosts["liar-ssh"].update(ansible_host="127.0.0.1", **by_ssh)
        long = {"notice": 36000, "started_seconds": 36000}
        honest = {lab.simulator.event("Redeploy", [vm], **long) for vm in HONEST}
        lab.simulator.event("Redeploy", [LIARS[0]], **long)
        code, output, largest = run(lab)
        yield Pass(code, output, largest, lab.approved(), honest)
    finally:
        lab.close()


def stand_in(folder: pathlib.Path) -> str:
    """Return an ssh that reaches this machine without a server. What is bounded is how ansible-core reads its output."""
    path = folder / "ssh"
    path.write_text(SSH)
    path.chmod(0o755)
    return str(path)


def test_no_process_of_the_controller_grows(served: Pass) -> None:
    assert served.largest < MOST_RESIDENT, f"a process had {served.largest >> 20} MiB\n{served.output[-3000:]}"


@pytest.mark.parametrize("liar", LIARS)
def test_it_is_that_vms_failed_observation(served: Pass, liar: str) -> None:
    lines = [line for line in served.output.splitlines() if liar in line and "more than 16777216 bytes" in line]
    assert lines, served.output[-3000:]


def test_the_others_are_served(served: Pass) -> None:
    assert served.honest <= served.approved, served.output[-3000:]


def test_the_end_is_red(served: Pass) -> None:
    assert served.code not in (0, -9), served.output[-3000:]
