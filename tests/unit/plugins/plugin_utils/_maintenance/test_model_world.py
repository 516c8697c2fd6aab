# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan in a closed loop: events come and go, VMs reboot and fall silent, the controller is killed, and all ends well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance import approving, going_on, parts
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.plan import make_plan
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.world import BrokenRule, World


def storm(seed: int, passes: int = 60) -> World:
    """A random history, and its end."""
    world = World(seed, machines=1 + seed % 3)
    dice = world.random
    world.cut_chance = dice.choice((0.0, 0.03, 0.2))
    for machine in world.machines.values():
        machine.drain_time = dice.choice((0.0, 3.0, 40.0))
        if dice.random() < 0.2:
            machine.enabled_at = world.now
    for _turn in range(passes):
        _disturb(world)
        plan = world.run_pass()
        world.advance(dice.choice((0.0, 1.0, 3.0, 11.0, min(plan["wait"]["seconds"], 60.0))))
    world.settle()
    return world


def _disturb(world: World) -> None:
    dice = world.random
    names = list(world.machines)
    machine = world.machines[dice.choice(names)]
    if dice.random() < 0.08 and sum(not event.over for event in world.events) < 3:
        resources = dice.sample(names, dice.randint(1, len(names)))
        status = "Started" if dice.random() < 0.15 else "Scheduled"
        event = world.create(dice.choice(("Reboot", "Freeze")), resources, dice.choice((30.0, 300.0, 900.0)), dice.choice((15.0, 120.0)), status)
        if dice.random() < 0.2:
            event.cancelled_at = world.now + dice.uniform(0.0, 200.0)
    fate = dice.random()
    if fate < 0.02:
        machine.silent_until = world.now + dice.uniform(5.0, 100.0)
    elif fate < 0.04:
        machine.broken_until = world.now + dice.uniform(5.0, 60.0)
    elif fate < 0.05:
        world.reboot(machine, 15.0)
    elif fate < 0.07:
        machine.stale_until = world.now + dice.uniform(5.0, 30.0)
    elif fate < 0.09:
        machine.drain_fails_until = world.now + dice.uniform(5.0, 60.0)


@pytest.mark.parametrize("block", range(6))
def test_every_fair_history_ends_with_all_machines_serving(block: int) -> None:
    approvals = drains = 0
    for seed in range(block * 20, block * 20 + 20):
        world = storm(seed)
        approvals += world.approvals
        drains += world.drains
    # The histories must be worth something: a plan that never does anything breaks no rule either.
    assert approvals > 5
    assert drains > 20
