# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""respond from a schedule beside an upgrade with one long step. Only with FLEET_LONG=1: it takes some minutes.

The step lasts longer than every other time limit there is, and until respond has come by more than once; an event names the guest meanwhile.
Another guest is held by a run of respond that was killed.
"""

from __future__ import annotations

import time

import pytest

from .lab.commands import until
from .lab.killing import kill, wait_for_boundary
from .lab.lab import Lab
from .lab.storm import all_over
from .lab.upgrading import MAX_OUT, Schedule, Upgrade

POLICY = [{"name": "everything drains", "drain": True, "drain_at": "now", "approve": "after_drain"}]
LEASE, DRAIN, LONGEST = 20, 40, 60
LIMITS = {
    "respond_timing": {"rehearsal": True, "lease_seconds": LEASE, "enabling_seconds": 0},
    "respond_drain_seconds": DRAIN,
    "upgrade_recover_seconds": DRAIN,
    "gate_lease_seconds": LONGEST,
    "respond_policy": POLICY,
}
EVENT = {"notice": 36000, "started_seconds": 14}


def killed_run_of_respond(lab: Lab, settings: dict[str, object]) -> str:
    """An event of web3, leased and half drained by a run that is dead."""
    event = str(lab.simulator.ask("POST", "/events", {**EVENT, "event_type": "Freeze", "resources": ["web3"], "duration_in_seconds": 8})["event_id"])
    log = lab.logs / "beside-dead.log"
    run = lab.controller.start("maintenance.azure.respond", log, "On VM | Act and record", **settings)
    where = wait_for_boundary(run, log.with_suffix(".boundaries.reached"), 400)
    kill(run)
    assert where, log.read_text()[-3000:]
    return event


@pytest.mark.long
def test_respond_from_a_schedule_beside_a_long_step(lab: Lab) -> None:
    began, first = time.monotonic(), len(lab.platform.happened)
    over = lab.guests["web1"].root / "var/lib/step-over"
    upgrade = Upgrade(lab, "beside", ["web1"], **LIMITS, upgrade_tasks_seconds=600, application_wait="/var/lib/step-over")
    load = lab.load("beside", 30)
    settings = {**upgrade.common(), **LIMITS}
    ids = [killed_run_of_respond(lab, settings)]
    schedule = Schedule(lab, "beside", **settings)
    run = upgrade.run()
    until(lambda: "installed" in upgrade.history("web1") or run.poll() is not None, 600, "the step begins")
    assert run.poll() is None, upgrade.said()
    step = time.time()
    ids.append(str(lab.simulator.ask("POST", "/events", {**EVENT, "event_type": "Redeploy", "resources": ["web1"], "impact_seconds": 8})["event_id"]))
    schedule.wait_for_runs(3, 600)
    until(lambda: time.time() - step > LONGEST + LEASE, 200, "the step has lasted longer than every other limit")
    assert lab.oracle.how_users_reach("web1")["out"], "it was put back under the upgrade"
    assert not [one for one in lab.platform.approved if one["event_id"] == ids[1]], "approved under the upgrade"
    lasted = time.time() - step
    over.write_text("")
    assert run.wait(900) == 0, upgrade.said()
    until(lambda: all_over(lab, ids), 600, "every event is over: no deadlock, and web3 was taken over from the dead run")
    lab.wait_until_all_serve(400)
    schedule.stop()
    requests = load.stop()
    stretch = upgrade.log.read(time.time())
    failed = [request for request in requests if request.failed]
    print(
        f"beside: {len(requests)} requests, {len(failed)} failed, at most {stretch.most_out} out, a step of {lasted:.0f} s"
        f" where limits are {LONGEST} s and less, {len(schedule.codes)} runs of respond, {time.monotonic() - began:.0f} s",
        flush=True,
    )
    upgrade.each_exactly_once()
    assert set(schedule.codes) == {0}
    assert failed == []
    assert stretch.most_out <= MAX_OUT
    assert sorted((one["vm"], one["out"]) for one in lab.platform.happened[first:]) == [("web1", True), ("web3", True)]
    # web1 for the upgrade and for the event, web3 for the event: nobody drained twice, nobody put back in the middle.
    assert {vm: len(stretch.times_out(vm)) for vm in lab.guests if stretch.times_out(vm)} == {"web1": 2, "web3": 1}
    assert lab.oracle.services() == lab.untouched
