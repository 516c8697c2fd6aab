# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A rolling upgrade that reboots five guests, while maintenance comes and respond runs from a schedule: with the gate and without.

Who was out when, and which requests failed, is counted from HAProxy's own log.
FLEET_UPGRADE_SERIAL: how many guests go together (3, as many as may be out). Without the gate only with FLEET_LONG=1.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import time
import typing as t

import pytest

from .lab.balancer_log import Stretch
from .lab.commands import in_background, until
from .lab.lab import Lab
from .lab.load import Request
from .lab.storm import all_over
from .lab.upgrading import GATED, MAX_OUT, PLAIN, Schedule, Upgrade

SERIAL = int(os.environ.get("FLEET_UPGRADE_SERIAL", str(MAX_OUT)))
# Two batches, and as many are left in service as users need. The sixth guest shows nothing more, and each run would observe it.
UPGRADED = 5
# Far away, so that only an approval begins them, however slow the machine is.
NOTICE = 36000
POLICY = [
    {"name": "left to Azure", "when": "event_type == 'Reboot'", "drain": True, "drain_at": "now", "approve": "never"},
    {"name": "everything drains", "drain": True, "drain_at": "now", "approve": "after_drain"},
]
# All of them come while web1 is being upgraded. The last one is cancelled when its machine is out of service.
MIGRATION = {"event_type": "Freeze", "resources": ["web1"], "duration_in_seconds": 8, "started_seconds": 14}
REDEPLOY = {"event_type": "Redeploy", "resources": ["web2"], "impact_seconds": 8, "started_seconds": 14}
CANCELLED = {"event_type": "Reboot", "resources": ["web5"]}


@dataclasses.dataclass
class Outcome:
    upgrade: Upgrade
    stretch: Stretch
    requests: list[Request]
    hit: list[dict[str, t.Any]]
    codes: list[int]
    seconds: float

    @property
    def failed(self) -> list[Request]:
        return [request for request in self.requests if request.failed]

    def figures(self) -> str:
        return (
            f"{self.upgrade.name}: {len(self.requests)} requests, {len(self.failed)} failed (HAProxy's log: {self.stretch.requests}, {self.stretch.failed}),"
            f" at most {self.stretch.most_out} of {len(self.upgrade.lab.guests)} out ({MAX_OUT} for {self.stretch.seconds_with(MAX_OUT):.0f} s),"
            f" {len(self.codes)} runs of respond, {self.seconds:.0f} s"
        )


def upgrade_in_a_storm(lab: Lab, name: str, playbook: str) -> Outcome:
    """An event on a machine that is being upgraded, one on another that is not yet, and one that comes to nothing after its machine was drained."""
    began, first = time.monotonic(), len(lab.platform.happened)
    settled = lab.work / f"{name}.settled"
    vms = list(lab.guests)[:UPGRADED]
    managed = {"respond_hosts": ":".join(vms), "respond_capacity": [{"name": "web", "members": vms, "max_unavailable": MAX_OUT}], "respond_policy": POLICY}
    upgrade = Upgrade(lab, name, vms, **managed, upgrade_serial=SERIAL, upgrade_settled=str(settled))
    load = lab.load(name, 30)
    schedule = Schedule(lab, name, **{**upgrade.common(), **managed})
    run = upgrade.run(playbook)
    until(lambda: upgrade.history("web1") or run.poll() is not None, 600, "the upgrade of web1 begins")
    ids = [str(lab.simulator.ask("POST", "/events", {"notice": NOTICE, **one})["event_id"]) for one in (MIGRATION, REDEPLOY, CANCELLED)]
    until(lambda: lab.oracle.how_users_reach("web5")["out"], 600, "web5 is drained for what never comes")
    lab.simulator.ask("POST", f"/events/{ids[-1]}/cancel")
    # Without the gate the next batch begins now: as it may, for all that its play knows.
    in_background(lambda: settle(lab, settled), "settling")
    assert run.wait(900) == 0, upgrade.said()
    until(lambda: all_over(lab, ids), 400, "every event is over")
    lab.wait_until_all_serve(400)
    schedule.stop()
    requests = load.stop()
    # A user has an answer a moment before HAProxy writes it down.
    until(lambda: upgrade.log.read(time.time()).requests >= len(requests), 20, "HAProxy's log has every request")
    assert lab.platform.faults == []
    result = Outcome(upgrade, upgrade.log.read(time.time()), requests, lab.platform.happened[first:], schedule.codes, time.monotonic() - began)
    print(result.figures(), flush=True)
    return result


def settle(lab: Lab, settled: pathlib.Path) -> None:
    until(lambda: all(lab.oracle.how_users_reach(vm)["out"] for vm in ("web1", "web2")), 600, "web1 and web2 are drained for their events")
    settled.touch()


def test_an_upgrade_behind_the_gate_in_a_storm_is_noticed_by_nobody(lab: Lab) -> None:
    result = upgrade_in_a_storm(lab, "gated", GATED)
    result.upgrade.each_exactly_once()
    assert result.failed == []
    assert result.stretch.failed == 0
    assert result.stretch.most_out <= MAX_OUT
    assert set(result.codes) == {0}
    assert sorted(one["vm"] for one in result.hit) == ["web1", "web2"], "what was cancelled hits nobody"
    assert [one for one in result.hit if not one["out"]] == [], "hit while in service"
    for vm in result.upgrade.vms:
        versions = [request.version for request in result.requests if request.server == vm]
        assert versions[-1] == "gated", f"users still get the old version from {vm}"
        assert versions == sorted(versions, key=lambda version: version == "gated"), f"users got the old version from {vm} after the new one"
        # Out once for the upgrade, and once for its event: neither drained twice nor put back in the middle.
        assert len(result.stretch.times_out(vm)) == (2 if vm in ("web1", "web2", "web5") else 1), f"{vm}: {result.stretch.of(vm)}"
    assert lab.oracle.services() == lab.untouched


@pytest.mark.long
def test_the_same_upgrade_without_the_gate_is_noticed(lab: Lab) -> None:
    """The proof that what the test above counts can be seen at all."""
    result = upgrade_in_a_storm(lab, "plain", PLAIN)
    result.upgrade.each_exactly_once()
    assert len(result.failed) > 0
    assert result.stretch.failed > 0
    assert result.stretch.most_out > MAX_OUT
