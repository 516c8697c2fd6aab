# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Histories in which each VM also drains by itself for a Preempt, beside controllers that are slow, killed or cut off."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.drain import decision
from ansible_collections.maintenance.azure.tests.model import quick
from ansible_collections.maintenance.azure.tests.model.histories import FATES
from ansible_collections.maintenance.azure.tests.model.history_fleet import BrokenRule, Controller, Cut
from ansible_collections.maintenance.azure.tests.model.watchers import WatchedFleet
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.world import START

COUNT = int(os.environ.get("MODEL_WATCHED", "100"))
# A mutant is looked for until it is caught, however few histories are asked for.
MOST = 3000


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    for place, name, value in quick.readings():
        monkeypatch.setattr(place, name, value)


def history(seed: int) -> WatchedFleet:
    """One history, drawn from one number, and its fair end."""
    fleet = _fleet(seed)
    dice = fleet.random
    controllers = [fleet.controller() for _controller in range(dice.choice((0, 1, 1, 2)))]
    for _iteration in range(16):
        _disturb(fleet)
        place = dice.randrange(len(controllers)) if controllers else 0
        try:
            if controllers:
                _go_on(fleet, controllers[place])
        except Cut:
            controllers[place] = fleet.controller()
        fleet.advance(dice.choice((0.0, 0.0, 1.0, 3.0, 11.0, 40.0)))
    fleet.kill_chance = 0.0
    fleet.settle()
    return fleet


def _fleet(seed: int) -> WatchedFleet:
    machines = 1 + seed % 3
    names = [f"vm{number + 1}" for number in range(machines)]
    more: dict[str, Any] = {"capacity": [{"name": "all", "members": names, "max_unavailable": 1}]} if seed % 2 else {}
    fleet = WatchedFleet(seed, machines, **more)
    fleet.cut_chance = fleet.random.choice((0.0, 0.02, 0.1))
    fleet.kill_chance = fleet.random.choice((0.0, 0.0, 0.05))
    for machine in fleet.machines.values():
        machine.drain_time = fleet.random.choice((0.0, 1.0, 3.0))
    return fleet


def _disturb(fleet: WatchedFleet) -> None:
    dice = fleet.random
    machine = fleet.machines[dice.choice(list(fleet.machines))]
    live = [event for event in fleet.events if not event.over]
    if dice.random() < 0.4 and len(live) < 3 and len(fleet.events) < 6:
        event_type = dice.choice(("Preempt", "Preempt", "Reboot", "Freeze"))
        # The controllers of some histories are cut off; there only a boot in the meantime asks for a second drain.
        notice = dice.choice((30.0, 90.0)) if event_type == "Preempt" else dice.choice((100.0, 600.0))
        event = fleet.create(event_type, [machine.name], notice, dice.choice((15.0, 60.0)))
        if dice.random() < 0.2:
            event.cancelled_at = fleet.now + dice.uniform(0.0, 60.0)
    fate = dice.random()
    for chance, happens in FATES:
        fate -= chance
        if fate < 0:
            happens(fleet, machine)
            return


def _go_on(fleet: WatchedFleet, controller: Controller) -> None:
    """A turn, in whose middle time may pass and a Preempt may come, and with them the watchers act."""
    dice = fleet.random
    if not controller.steps:
        fleet.plan(controller)
    for _step in range(len(controller.steps)):
        if dice.random() < 0.1 and len(fleet.events) < 8:
            fleet.create("Preempt", [controller.steps[0]["host"]], 30.0)
        if dice.random() < 0.3:
            fleet.advance(dice.choice((1.0, 2.0, 5.0)))
        fleet.take(controller)


def test_no_history_with_watchers_breaks_a_rule_and_every_one_ends_well() -> None:
    drains = lost = 0
    for seed in range(COUNT):
        try:
            fleet = history(seed)
        except BrokenRule as broken:
            raise AssertionError(f"history({seed}): {broken}") from broken
        drains += fleet.watched_drains
        lost += fleet.lost_leases
    # Both sides had something to do, and met.
    assert drains > COUNT // 2 and lost > 0
    print(f"{drains} drains by watchers, {lost} leases passed under way")


def _preempt_in_the_middle_of_a_recovery() -> WatchedFleet:
    """A run has observed that an event is over, and is about to put the VM back. A Preempt comes, and the watcher drains. Then the run goes on."""
    fleet = WatchedFleet(1, 1)
    machine = fleet.machines["vm1"]
    machine.drain_time = 0.0
    controller = fleet.controller()
    fleet.create("Freeze", ["vm1"], 600.0, 15.0)
    while not any(step["action"] == "recover" for step in controller.steps):
        assert fleet.now < START + 3600.0
        while controller.steps:
            fleet.take(controller)
        fleet.advance(5.0)
        fleet.plan(controller)
    fleet.create("Preempt", ["vm1"], 30.0)
    fleet.advance(6.0)
    while controller.steps:
        fleet.take(controller)
    return fleet


def test_a_run_that_was_about_to_recover_stops_when_the_watcher_drains() -> None:
    fleet = _preempt_in_the_middle_of_a_recovery()
    assert not fleet.machines["vm1"].serving and fleet.watched_drains == 1 and fleet.lost_leases == 1
    fleet.settle()


def test_without_passing_its_lease_it_would_put_the_vm_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WatchedFleet, "passes_leases", False)
    assert _preempt_in_the_middle_of_a_recovery().machines["vm1"].serving


def _a_drain_outlasts_a_boot(monkeypatch: pytest.MonkeyPatch) -> None:
    real = decision.is_drained
    monkeypatch.setattr(decision, "is_drained", lambda record, ids, boot_id: real(record, ids, record["boot_id"]))


def _gives_way_to_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """It drains only where no record of a run says that the VM is being drained."""
    real = decision.decide

    def decided(found: decision.Situation) -> decision.Decision:
        if found.record is not None and found.record["phase"] in ("noticed", "draining", "held"):
            return decision.Decision(decision.LEAVE, "a run does it")
        return real(found)

    monkeypatch.setattr(decision, "decide", decided)


def _forgets_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    real = decision.rule_of_record
    monkeypatch.setattr(decision, "rule_of_record", lambda *given: {**real(*given), "order": 0})


MUTANTS: list[Callable[[pytest.MonkeyPatch], None]] = [_a_drain_outlasts_a_boot, _gives_way_to_a_run, _forgets_the_order]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__.strip("_"))
def test_a_mutant_is_caught(mutant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    mutant(monkeypatch)
    with pytest.raises(BrokenRule):
        for seed in range(MOST):
            history(seed)
