# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Playbook respond killed at every point that leaves something else behind, and run again: the same end every time (see cuts.py)."""

from __future__ import annotations

import pathlib
import subprocess
import typing as t

import cuts
import pytest
from lab.lab import Lab

# A service that notes each change of its state, so that the tests see whether something was done that was not undone.
SERVICE = """#!/bin/sh
case $1 in
  stop) test -e {home}/running && echo stopped >> {home}/changes; rm -f {home}/running ;;
  start) test -e {home}/running || echo started >> {home}/changes; touch {home}/running ;;
  drained) test ! -e {home}/running ;;
esac
exit $?
"""


class Respond:
    def make_lab(self, folder: pathlib.Path) -> Lab:
        lab = Lab(folder, ["web1"], 60)
        home = folder / "web1"
        service = home / "service"
        service.write_text(SERVICE.format(home=home))
        service.chmod(0o755)
        (home / "running").touch()
        lab.hosts["web1"]["ansible_python_interpreter"] = cuts.modules_python()
        lab.hosts["web1"]["drain_methods"].append({"method": "command", "begin": f"{service} stop", "check": f"{service} drained", "undo": f"{service} start"})
        # Long enough before its time that a drain may be begun twice, and long enough after its start that every run sees it started.
        lab.simulator.event("Reboot", ["web1"], notice=9000, started_seconds=900, event_id="C7061BAC-AFDC-4513-B24B-AA5F13A16123")
        return lab

    def command(self, lab: Lab) -> list[str]:
        return lab.command("maintenance.azure.respond", respond_wait=True)

    def faults(self, lab: Lab, _point: t.Mapping[str, str]) -> list[str]:
        home = lab.folder / "web1"
        found = []
        if not (home / "running").exists():
            found.append("the service was not started again")
        if not lab.flag("web1").exists() or lab.flag("web1").read_text() != "yes\n":
            found.append("the flag file is not as it was")
        changes = (home / "changes").read_text().split() if (home / "changes").exists() else []
        if changes != ["stopped", "started"]:
            found.append(f"the service was changed otherwise than once each way: {changes}")
        if not lab.simulator.approvals():
            found.append("the event was never approved")
        records = lab.records("web1")
        if [record["phase"] for record in records] != ["recovered"]:
            found.append(f"records: {[record['phase'] for record in records]}")
        return found


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[tuple[Lab, subprocess.CompletedProcess[str]]]:
    lab = Respond().make_lab(tmp_path_factory.mktemp("whole") / "lab")
    # That the points found here come again in the runs below says that both Pythons do the same.
    lab.hosts["web1"]["ansible_python_interpreter"] = cuts.started_anew(lab)
    yield lab, cuts.run(Respond(), lab)
    lab.close()


def test_a_run_that_nobody_kills_ends_well(uninterrupted: tuple[Lab, subprocess.CompletedProcess[str]]) -> None:
    lab, done = uninterrupted
    assert done.returncode == 0, done.stdout[-5000:]
    assert Respond().faults(lab, {}) == []
    names = {point["name"] for point in cuts.points(lab)}
    assert {"before a record is written", "after a record is written", "before a POST", "after a POST"} <= names


def test_killed_anywhere_and_run_again_ends_the_same(uninterrupted: tuple[Lab, subprocess.CompletedProcess[str]], tmp_path: pathlib.Path) -> None:
    every = cuts.points(uninterrupted[0])
    assert len(every) > 60
    faults = cuts.kill_everywhere(Respond(), every, tmp_path)
    assert not faults, "\n".join(faults)
