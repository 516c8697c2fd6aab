# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One event across a Linux and a "Windows" VM (stand-ins, see docs/TESTING.md), and the run killed.

tests/guests/test_mixed.py has the same with a real Linux VM over ssh, and nobody killed.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
import typing as t

import pytest
from lab.lab import Lab

from ansible_collections.maintenance.azure.tests.fleet.lab.killing import kill

Make = t.Callable[..., Lab]

VMS = ("web1", "win1")
TEXT = "{{ 7 * 7 }} %PATH% & 'quoted' \"twice\" <é>"
# Kills at so many moments, spread over the calls that the Windows VM gets in a run that nobody kills.
KILLS = int(os.environ.get("WINDOWS_KILLS", "2"))


def make(make_lab: Make) -> Lab:
    lab = make_lab(list(VMS), 60, windows=["win1"])
    lab.simulator.event("Redeploy", VMS, notice=36000, started_seconds=240, description=TEXT)
    return lab


def check_end(lab: Lab) -> None:
    # The same event in both records, text and all.
    (linux,), (windows,) = (lab.records(vm) for vm in VMS)
    assert linux["event"]["description"] == windows["event"]["description"] == TEXT
    for vm in VMS:
        assert lab.flag(vm).read_text() == "yes\n", f"{vm} is not in rotation again"
        assert lab.phases(vm)[-1] == "recovered"
    transitions = [entry["transition"] for entry in lab.simulator.log()]
    assert transitions.count("approved") == transitions.count("started") == 1, transitions


def test_check_mode_changes_nothing_on_windows(make_lab: Make) -> None:
    lab = make(make_lab)
    lab.respond("--check", "--diff")
    assert lab.flag("win1").exists()
    assert not lab.records_folder("win1").exists()
    assert lab.simulator.approvals() == []


@pytest.mark.parametrize("number", range(KILLS))
def test_killed_and_run_again_ends_the_same(make_lab: Make, number: int) -> None:
    lab = make(make_lab)
    calls = lab.windows["win1"].home / "calls.jsonl"
    # A run has drained after some 50 calls; the later ones are those of approving, of waiting and of putting back.
    after = 12 + number * (110 // max(KILLS - 1, 1))
    output = (lab.folder / "killed.txt").open("w")
    run = subprocess.Popen(
        lab.command("maintenance.azure.respond", respond_wait=True),
        env=lab.environment(), cwd=lab.folder, stdout=output, stderr=output, start_new_session=True,
    )  # fmt: skip
    try:
        end = time.monotonic() + 240
        while not calls.exists() or len(calls.read_bytes().splitlines()) < after:
            assert run.poll() is None, f"the run ended before call {after}: nothing is proven"
            assert time.monotonic() < end
            time.sleep(0.02)
    finally:
        if run.poll() is None:
            kill(run)
    # Every file with a record's or a lease's name is whole.
    for path in [*lab.records_folder("win1").glob("event-*.json"), *lab.records_folder("win1").glob("claim-*.json")]:
        json.loads(path.read_text())
    lab.respond(respond_wait=True)
    check_end(lab)
    assert not list(lab.records_folder("win1").glob("claim-*"))
