# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""respond killed (SIGKILL, with all that it started) again and again in one maintenance, two runs at once, a cut link: all end well.

In CI one maintenance has all the kills: at the chosen tasks, and one after the approval, so that the next run may begin while the VMs are being hit.
Only with FLEET_LONG=1, because tests/crash kills at every point that leaves something else behind:
FLEET_KILLS=N: that many kills at random tasks and at random moments (2). FLEET_SEED repeats them.
FLEET_BOUNDARIES=N: that many kills, each at the first task at which no run was killed before (4); "all" until a run comes to its end.
"""

from __future__ import annotations

import os
import random
import time
import typing as t

import pytest

from .lab.commands import until
from .lab.controller import DRAIN_EVERYTHING
from .lab.killing import kill, wait_for_boundary
from .lab.lab import Lab
from .lab.storm import all_over

# In the order in which a maintenance comes to them: each run does what the one before was killed in. Stopping services, between two drains and an approval,
# with leases that the run has used, and starting services.
CHOSEN = (
    "On VM | Act and record",
    "On VM | Act and record > Act | On the VM",
    "Iteration | > Iteration | > Plan | ",
    "On VM | Act and record",
)
EVENTS: tuple[dict[str, t.Any], ...] = (
    # So long that a run which begins at the impact tries to reach the VMs within it.
    {"event_type": "Freeze", "resources": ["web1", "web2"], "duration_in_seconds": 20, "started_seconds": 27},
    {"event_type": "Reboot", "resources": ["web3"], "impact_seconds": 4, "started_seconds": 12},
)
SETTINGS: dict[str, t.Any] = {
    "respond_policy": DRAIN_EVERYTHING,
    "respond_wait": True,
    "respond_wait_timeout": 600,
    # A run that begins while a VM is being hit cannot read it, and leaves it to the next run. Here it is red, so that finish() starts that one.
    "respond_min_answered": 1,
    # How long others wait for a run that was killed, or is slow.
    "respond_timing": {"rehearsal": True, "lease_seconds": 25},
}


class Maintenance:
    """Events on some of the guests while users are there; and what must hold at the end, whatever happened to the runs.

    Runs manage the guests that are hit and one that is not. The others only serve: what a run does on one more is not what is tried here.
    """

    def __init__(self, lab: Lab, name: str, notice: int = 3000, events: t.Sequence[dict[str, t.Any]] = EVENTS, **settings: t.Any) -> None:
        self.lab, self.name, self._settings = lab, name, {**SETTINGS, **settings}
        self.began = time.monotonic()
        self._hit, self._approved = len(lab.platform.happened), len(lab.platform.approved)
        self._load = lab.load(name, 30)
        self.ids = [lab.simulator.ask("POST", "/events", {"notice": notice, **event})["event_id"] for event in events]
        self.vms = sorted(vm for event in events for vm in event["resources"])
        self._runs = 0

    def run(self, stop_at: str = "") -> t.Any:
        self._runs += 1
        log = self.lab.logs / f"{self.name}-{self._runs}.log"
        managed = [*self.vms, next(vm for vm in self.lab.guests if vm not in self.vms)]
        capacity = [{"name": "web", "members": managed, "max_unavailable": 3}]
        given = {"respond_hosts": ":".join(managed), "respond_capacity": capacity, **self._settings}
        return self.lab.controller.start("maintenance.azure.respond", log, stop_at, **given)

    def log(self) -> str:
        return (self.lab.logs / f"{self.name}-{self._runs}.log").read_text()[-5000:]

    def run_and_kill(self, stop_at: str, seconds: float = 150) -> str:
        """Where it was killed; nothing when it came to its end before."""
        run = self.run("" if stop_at == "moment" else stop_at)
        reached = self.lab.logs / f"{self.name}-{self._runs}.boundaries.reached"
        where = wait_for_boundary(run, reached, seconds)
        if not where and run.poll() is None and stop_at == "moment":
            where = f"after {seconds:.1f} s"
        over = run.poll() is not None
        kill(run)
        print(f"{self.name}: killed at {where}" if where else f"{self.name}: never came to {stop_at}", flush=True)
        assert where or over, f"neither at {stop_at} nor over after {seconds:.0f} s: {self.log()}"
        return where

    def kill_after_approval(self, event_id: str) -> None:
        """Kill a run that has approved an event, and wait until the impact, so that the next run begins in it. Not where one before has approved it."""
        platform = self.lab.platform
        if event_id not in [one["event_id"] for one in platform.approved]:
            run = self.run()
            until(lambda: event_id in [one["event_id"] for one in platform.approved], 300, "the event is approved")
            kill(run)
            print(f"{self.name}: killed after the approval", flush=True)
        until(lambda: event_id in [one["event_id"] for one in platform.happened], 60, "a VM is hit")

    def finish(self) -> int:
        """Run as a schedule does, until a run has read every VM. Return how many runs could not, because VMs were being hit."""
        for too_early in range(1 + len(self.ids)):
            if self.run().wait(600) == 0:
                return too_early
            assert "Unreachable: web" in self.log() and "respond_min_answered" in self.log(), self.log()
        raise AssertionError(f"no run has read every VM: {self.log()}")

    def ends_well(self, excused: t.Sequence[str] = ()) -> None:
        platform = self.lab.platform
        until(lambda: all_over(self.lab, self.ids), 60, "every event is over")
        self.lab.wait_until_all_serve(60)
        requests = self._load.stop()
        assert platform.faults == []
        hit, approved = platform.happened[self._hit :], platform.approved[self._approved :]
        assert sorted(one["vm"] for one in hit) == self.vms
        assert {one["event_id"] for one in approved} == set(self.ids)
        for one in approved:
            assert all(one[vm]["out"] for vm in one if vm != "event_id"), f"approved early: {one}"
        assert [one for one in hit if not one["out"]] == [], "hit while in service"
        assert self.lab.oracle.services() == self.lab.untouched
        failed = [request for request in requests if request.failed and request.server not in excused]
        print(f"{self.name}: {len(requests)} requests, {len(failed)} failed, {time.monotonic() - self.began:.0f} s", flush=True)
        assert failed == []


def by_chance(name: str) -> random.Random:
    seed = os.environ.get("FLEET_SEED", str(time.time_ns()))
    print(f"FLEET_SEED={seed}")
    return random.Random(f"{seed} {name}")


def test_killed_again_and_again_in_one_maintenance(lab: Lab) -> None:
    maintenance = Maintenance(lab, "killed")
    for task in CHOSEN:
        assert maintenance.run_and_kill(task), f"no run came to {task}: the test proves nothing there"
    maintenance.kill_after_approval(maintenance.ids[0])
    print(f"killed: {maintenance.finish()} runs could not read a VM that was being hit")
    maintenance.ends_well()


@pytest.mark.long
def test_killed_at_every_task(lab: Lab) -> None:
    """Each run takes up what the one before was killed in, so one maintenance comes by every task that it needs."""
    wanted = os.environ.get("FLEET_BOUNDARIES", "4")
    # The events must not begin by themselves before all the kills are over, and are drained for all the same.
    at_once = [{**rule, "drain_at": "now"} for rule in DRAIN_EVERYTHING]
    maintenance = Maintenance(lab, "every", 36000, respond_policy=at_once)
    kills = 0
    while wanted == "all" or kills < int(wanted):
        if not maintenance.run_and_kill("new", 400):
            break
        kills += 1
    # A run that nobody stops tells whether the one that came to its end did so well.
    maintenance.finish()
    print(f"killed at {kills} different tasks")
    assert kills > 0
    maintenance.ends_well()


@pytest.mark.long
@pytest.mark.parametrize("number", range((int(os.environ.get("FLEET_KILLS", "2")) + 1) // 2))
def test_killed_at_random(lab: Lab, number: int) -> None:
    chance = by_chance(str(number))
    maintenance = Maintenance(lab, f"random{number}")
    maintenance.run_and_kill(str(chance.randint(1, 250)))
    maintenance.run_and_kill("moment", chance.uniform(1, 60))
    maintenance.finish()
    maintenance.ends_well()


def test_two_runs_at_once_and_a_cut_link(lab: Lab) -> None:
    # One event: what two runs do on a second one is the same again.
    maintenance = Maintenance(lab, "two", events=EVENTS[:1])
    runs = [maintenance.run(), maintenance.run()]
    # Once somebody is at work, a machine that is about to be hit is out of reach for a while.
    until(lambda: lab.oracle.how_users_reach("web2")["out"], 400, "web2 is out of service")
    lab.guests["web2"].cable.cut()
    time.sleep(25)
    assert not any("web2" in one for one in lab.platform.approved[maintenance._approved :]), "approved while web2 could not be asked"
    lab.guests["web2"].cable.mend()
    assert [run.wait(600) for run in runs] == [0, 0], maintenance.log()
    maintenance.ends_well(excused=["web2"])
