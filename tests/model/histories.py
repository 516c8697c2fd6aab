# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Random histories of a fleet with two controllers. Each is drawn from one number, so that a failure can be played again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.maintenance.azure.tests.model.history_fleet import Controller, Cut, Fleet

NOW = [{"name": "now", "drain": False, "approve": "now"}]


def history(seed: int, plan: Callable[..., dict[str, Any]] | None = None, iterations: int = 18) -> Fleet:
    """One history and its fair end."""
    fleet = _fleet(seed)
    fleet.plan_function = plan or fleet.plan_function
    dice = fleet.random
    controllers = _controllers(fleet)
    for _iteration in range(iterations):
        _disturb(fleet)
        place = dice.randrange(len(controllers))
        try:
            _go_on(fleet, controllers[place])
        except Cut:
            # Killed; a schedule starts another with a new id, which knows nothing but what it looks at.
            controllers[place] = fleet.controller(controllers[place].managed)
        fleet.advance(dice.choice((0.0, 0.0, 1.0, 3.0, 11.0, 11.0, 40.0, min(controllers[place].wait, 60.0))))
        if dice.random() < 0.01:
            fleet.advance(200.0)  # the limits of all leases pass while somebody sleeps
    fleet.settle()
    return fleet


def _fleet(seed: int) -> Fleet:
    machines = 2 + seed % 3
    names = [f"vm{number + 1}" for number in range(machines)]
    managed = machines - 1 if machines > 2 and seed % 7 == 0 else machines
    more: dict[str, Any] = {"managed": managed}
    if seed % 4:
        more["capacity"] = [{"name": "all", "members": names[:managed], "max_unavailable": 1 + seed % 2}]
    if seed % 5 == 0:
        more["policy"] = NOW
    fleet = Fleet(seed, machines, **more)
    dice = fleet.random
    fleet.cut_chance = dice.choice((0.0, 0.02, 0.1))
    for machine in fleet.machines.values():
        machine.drain_time = dice.choice((0.0, 0.0, 3.0, 40.0))
        if dice.random() < 0.1:
            machine.enabled_at = fleet.now
    return fleet


def _controllers(fleet: Fleet) -> list[Controller]:
    """Two of the same inventory mostly; sometimes the second knows only some of the VMs, or only one is at work."""
    dice = fleet.random
    fate = dice.random()
    found = [fleet.controller()]
    if fate < 0.7:
        found.append(fleet.controller())
    elif fate < 0.85 and len(fleet.managed) > 1:
        found.append(fleet.controller(fleet.managed[:-1]))
    return found


def _go_on(fleet: Fleet, controller: Controller) -> None:
    """Mostly a whole turn. A slow controller takes some steps now, and the others when the VMs are as they may be then."""
    if not controller.steps:
        fleet.plan(controller)
    count = len(controller.steps)
    if fleet.random.random() < 0.3:
        count = min(count, fleet.random.randint(0, 3))
    for _step in range(count):
        fleet.take(controller)


def _disturb(fleet: Fleet) -> None:
    dice = fleet.random
    names = list(fleet.machines)
    machine = fleet.machines[dice.choice(names)]
    live = [event for event in fleet.events if not event.over]
    if dice.random() < 0.25 and len(live) < 3 and len(fleet.events) < 5:
        resources = dice.sample(names, min(len(names), dice.choice((1, 1, 1, 2, 3))))
        status = "Started" if dice.random() < 0.1 else "Scheduled"
        event = fleet.create(dice.choice(("Reboot", "Freeze")), resources, dice.choice((30.0, 300.0, 600.0)), dice.choice((15.0, 60.0)), status)
        if dice.random() < 0.2:
            event.cancelled_at = fleet.now + dice.uniform(0.0, 200.0)
    fate = dice.random()
    for chance, happens in FATES:
        fate -= chance
        if fate < 0:
            happens(fleet, machine)
            return


def _silent(fleet: Fleet, machine: Any) -> None:
    machine.silent_until = fleet.now + fleet.random.uniform(5.0, 100.0)


def _broken(fleet: Fleet, machine: Any) -> None:
    machine.broken_until = fleet.now + fleet.random.uniform(5.0, 60.0)


def _booted(fleet: Fleet, machine: Any) -> None:
    fleet.reboot(machine, 15.0)


def _stale(fleet: Fleet, machine: Any) -> None:
    machine.stale_until = fleet.now + fleet.random.uniform(5.0, 30.0)


def _drain_fails(fleet: Fleet, machine: Any) -> None:
    machine.drain_fails_until = fleet.now + fleet.random.uniform(5.0, 60.0)


def _withheld(fleet: Fleet, machine: Any) -> None:
    # Two short gaps with nothing between them would look like one long one, to anybody.
    if machine.whole_at > machine.flicker_until:
        machine.flicker_until = fleet.now + fleet.random.uniform(1.0, 9.0)


def _enabled(fleet: Fleet, machine: Any) -> None:
    machine.enabled_at = fleet.now


def _new_disk(fleet: Fleet, machine: Any) -> None:
    fleet.lose_records(machine)


def _from_image(fleet: Fleet, machine: Any) -> None:
    live = [event.event_id for event in fleet.events if not event.over]
    fleet.foreign_record(machine, fleet.random.choice([*live, "F1"]))


FATES = (
    (0.03, _silent),
    (0.03, _broken),
    (0.03, _booted),
    (0.03, _stale),
    (0.03, _drain_fails),
    (0.02, _withheld),
    (0.01, _enabled),
    (0.01, _new_disk),
    (0.01, _from_image),
)
