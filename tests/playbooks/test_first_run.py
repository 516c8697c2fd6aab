# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first real run (docs/start.md): its example inventory as it is, under its simulated VMs, with the commands of the page in a real shell."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess

from lab import warm
from lab.haproxy import find_haproxy

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "start.md").read_text()
WAITS = "ansible-playbook -i inventory.yml -i simulated.yml maintenance.azure.respond -e respond_wait=true"


def blocks(step: str) -> list[str]:
    """Return the commands of a step of the page, block by block."""
    return re.findall(r"```console\n(.*?)```", PAGE.split(f"\n## {step}. ")[1].split("\n## ")[0], re.DOTALL)


def test_the_example_inventory_goes_through_a_reboot_on_simulated_vms(tmp_path: pathlib.Path) -> None:
    (copy,) = blocks("2")
    begin, announce, waits, end = blocks("3")
    assert waits.strip() == WAITS
    # Without what only shows: each run of a playbook costs seconds.
    begin, announce = ("\n".join(line for line in block.splitlines() if not line.startswith("ansible-playbook")) for block in (begin, announce))
    script = f"set -e\ncollection={ROOT}\n{copy}\ntrap '{end}' EXIT\n{begin}\n{announce}\n{WAITS} -e ansible_python_interpreter={warm.python()}"
    program, libraries = find_haproxy()
    environment = {**os.environ, "HOME": str(tmp_path), "ANSIBLE_STDOUT_CALLBACK": "maintenance.azure.maintenance_progress", "ANSIBLE_NOCOLOR": "1"} | libraries
    environment["PATH"] += f":{pathlib.Path(program).parent}"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for vm in ("web1", "db1"):
        phases = re.findall(rf"^{vm} +[0-9A-F]{{8}}  (\w+)", done.stdout, re.MULTILINE)
        # At 60 times the speed, on a machine that does much else, Azure may start the event before the run has approved it.
        assert [phase for phase in phases if phase != "approved"] == ["noticed", "draining", "drained", "started", "gone", "recovering", "recovered"]
    assert "web1, db1; no longer listed; recovered (completed). Next: nothing." in done.stdout
    assert "4 of 4 VMs answered" in done.stdout and "Left alone (respond_exclude): lb1." in done.stdout
    assert not list((tmp_path / "maintenance").glob("*.idle")), "db1 has its work back"
