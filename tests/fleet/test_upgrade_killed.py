# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The controller of a rolling upgrade killed (SIGKILL, with all that it started) and started again: each guest upgraded once, none left out.

FLEET_UPGRADE_KILLS=N: that many kills, each at the first task at which no run was killed before, in an upgrade of all guests; "all" until a
run comes to its end. Without it: at the tasks below, in an upgrade of two guests. Only with FLEET_LONG=1: it takes some minutes, and
tests/playbooks/test_upgrade_killed.py kills an upgrade in CI.
"""

from __future__ import annotations

import os
import time

import pytest

from .lab.lab import Lab
from .lab.upgrading import MAX_OUT, Upgrade

# In the order in which an upgrade comes to them: among the user's tasks, and when all is done but nothing says so.
CHOSEN = ("Restart its service", "Write down that the upgrade is done")


@pytest.mark.long
def test_killed_at_every_task_of_an_upgrade(lab: Lab) -> None:
    wanted = os.environ.get("FLEET_UPGRADE_KILLS", "")
    began = time.monotonic()
    vms = list(lab.guests) if wanted else ["web1", "web2"]
    # What nobody declares dead is waited for: until its step's time limit has passed.
    upgrade = Upgrade(lab, "killed", vms, upgrade_tasks_seconds=30, upgrade_serial=1)
    load = lab.load("killed", 30)
    killed, repeated = kill_again_and_again(upgrade, wanted)
    last = upgrade.run(**declared_dead(upgrade, len(killed)))
    assert last.wait(900) == 0, upgrade.said()
    lab.wait_until_all_serve(60)
    requests = load.stop()
    stretch = upgrade.log.read(time.time())
    failed = [request for request in requests if request.failed]
    print(f"killed at {len(killed)} tasks: {len(requests)} requests, {len(failed)} failed, at most {stretch.most_out} out, {time.monotonic() - began:.0f} s")
    upgrade.each_exactly_once()
    begun = {vm: upgrade.history(vm).count("begun") for vm in vms}
    assert begun == {vm: 1 + repeated.count(vm) for vm in vms}, f"they were killed among their tasks {repeated}"
    assert failed == []
    assert stretch.most_out <= min(MAX_OUT, 1), "one at a time"
    assert lab.oracle.services() == lab.untouched


def kill_again_and_again(upgrade: Upgrade, wanted: str) -> tuple[list[str], list[str]]:
    """Where the runs were killed; and, for each kill among a guest's tasks, that guest: once begun, they begin again until their end is written down."""
    killed: list[str] = []
    repeated: list[str] = []
    while wanted in ("", "all") or len(killed) < int(wanted):
        if not wanted and len(killed) == len(CHOSEN):
            break
        stop_at = "new" if wanted else CHOSEN[len(killed)]
        before = {vm: upgrade.history(vm).count("begun") for vm in upgrade.vms}
        where = upgrade.run_and_kill(stop_at, **declared_dead(upgrade, len(killed)))
        if not where:
            assert wanted, f"no run came to {stop_at}: the test proves nothing there"
            break
        killed.append(where)
        repeated += [vm for vm in upgrade.vms if upgrade.history(vm).count("begun") > before[vm] and upgrade.mark(vm) == "begun"]
    return killed, repeated


def declared_dead(upgrade: Upgrade, kills: int) -> dict[str, str]:
    """After the first kill nobody says so."""
    return {"gate_dead_run": upgrade.last_id} if kills > 1 else {}
