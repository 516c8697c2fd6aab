# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan in a closed loop: events come and go, VMs reboot and fall silent, the controller is killed, and all ends well."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.budget import allocation
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Record
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import approval, approval_blockers, intents, undo_order
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state import presence
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.participant import Participant
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.world import BrokenRule, World


def storm(seed: int, passes: int = 60, plan: Callable[..., dict[str, Any]] | None = None, **more: Any) -> World:
    """A random history, and its end."""
    machines = 1 + seed % 3
    world = World(seed, machines=machines, managed=2 if machines == 3 and seed % 2 else None, **more)
    world.plan_function = plan or world.plan_function
    dice = world.random
    world.cut_chance = dice.choice((0.0, 0.03, 0.2))
    for machine in world.machines.values():
        machine.drain_time = dice.choice((0.0, 3.0, 40.0))
        if dice.random() < 0.2:
            machine.enabled_at = world.now
    for _iteration in range(passes):
        _disturb(world)
        seen = world.run_pass()
        world.advance(dice.choice((0.0, 1.0, 3.0, 11.0, min(seen["requeue"]["seconds"], 60.0))))
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
    elif fate < 0.06:
        world.reboot(machine, 15.0)
    elif fate < 0.08:
        machine.stale_until = world.now + dice.uniform(5.0, 30.0)
    elif fate < 0.10:
        machine.drain_fails_until = world.now + dice.uniform(5.0, 60.0)
    elif fate < 0.12 and machine.whole_at > machine.flicker_until:
        # Two short gaps with nothing between them would look like one long one, to anybody.
        machine.flicker_until = world.now + dice.uniform(1.0, 9.0)
    elif fate < 0.13:
        machine.enabled_at = world.now


@pytest.mark.parametrize("block", range(5))
def test_every_fair_history_ends_with_all_machines_serving(block: int) -> None:
    approvals = drains = 0
    for seed in range(block * 24, block * 24 + 24):
        world = storm(seed)
        approvals += world.approvals
        drains += world.drains
    # The histories must be worth something: a plan that never does anything breaks no rule either.
    assert approvals > 5
    assert drains > 20


def calm(seed: int) -> World:
    """Enough notice and nothing that fails, but the controller may be killed."""
    world = World(seed, machines=3)
    dice = world.random
    world.cut_chance = dice.choice((0.0, 0.1))
    for machine in world.machines.values():
        machine.drain_time = dice.choice((0.0, 3.0, 40.0))
    for iteration in range(40):
        if iteration in (2, 9, 15):
            # No reboots: one that comes while another event starts ends its drain, whoever plans.
            world.create("Freeze", dice.sample(list(world.machines), dice.randint(1, 3)), 900.0)
        world.run_pass()
        world.advance(dice.choice((1.0, 5.0, 20.0)))
    world.settle()
    return world


def test_with_enough_notice_every_impact_finds_the_machines_drained() -> None:
    for seed in range(12):
        world = calm(seed)
        assert world.approvals >= 3
        assert world.undrained_starts == []


def crowd(seed: int) -> World:
    """A history of a group of which one may be out: events that come one upon the other, and some VM that is away."""
    group = {"name": "all", "members": ["vm1", "vm2", "vm3"], "max_unavailable": 1}
    world = World(seed, machines=3, capacity=[group], longest_requeue=60.0)
    dice = world.random
    world.cut_chance = dice.choice((0.0, 0.1))
    for machine in world.machines.values():
        machine.drain_time = dice.choice((0.0, 3.0, 40.0))
    for iteration in range(60):
        if iteration in (2, 4, 9, 20):
            world.create(dice.choice(("Freeze", "Reboot")), [dice.choice(list(world.machines))], dice.choice((900.0, 1500.0)))
        if dice.random() < 0.05:
            world.machines[dice.choice(list(world.machines))].silent_until = world.now + dice.uniform(5.0, 60.0)
        seen = world.run_pass()
        world.advance(dice.choice((1.0, 5.0, min(seen["requeue"]["seconds"], 30.0))))
    world.settle()
    return world


def test_a_group_with_a_limit_gets_through_one_after_the_other() -> None:
    approvals = beyond = 0
    for seed in range(14):
        world = crowd(seed)
        approvals += world.approvals
        beyond += len(world.taken_beyond)
    assert approvals > 40
    # With this notice room comes back in time.
    assert beyond < approvals // 10


def test_a_storm_with_a_limit_ends_well() -> None:
    for seed in range(2, 38, 3):
        managed = ["vm1", "vm2"] if seed % 2 else ["vm1", "vm2", "vm3"]
        storm(seed, capacity=[{"name": "all", "members": managed, "max_unavailable": 1}])


def test_a_plan_that_forgets_the_group_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation, "_full", lambda *given, **more: None)
    with pytest.raises(BrokenRule, match="rule 4"):
        for seed in range(20):
            crowd(seed)


def _no_wait_for_drain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approval, "_all_drained", lambda case, settings: True)


def _silent_is_drained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approval_blockers, "_unread", lambda case: None)
    monkeypatch.setattr(approval.approval_blockers, "counts_as_drained", lambda case, part: not part.ok)


def _unmanaged_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approval_blockers, "_unmanaged", lambda case, settings: None)


def _boots_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    def drained(part: Participant) -> bool:
        return part.record is not None and part.record.all_drained and part.record.phase in ("drained", "approved", "started")

    monkeypatch.setattr(intents, "drained_now", drained)
    monkeypatch.setattr(approval, "drained_now", drained)
    monkeypatch.setattr(approval, "fresh", lambda part, settings: drained(part))


def _missing_once_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    real = presence.conclude

    def absence(*given: Any) -> presence.Presence:
        found = real(*given)
        return presence.Presence(gone=True) if given[2] is not None and given[1].ok and not found.listed else found

    monkeypatch.setattr(presence, "conclude", absence)


def _a_just_enabled_list_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "_listed_since", lambda record, enabled_at: True)


def _other_events_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo_order, "_keeps", lambda part: False)


def _oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo_order, "_order", lambda part: -part.record.order if part.record else 0)


def _found_is_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Record, "needs_undo", property(lambda self: any(one.state not in ("found", "undone") for one in self.methods)))


def _never_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    real = presence.conclude
    monkeypatch.setattr(presence, "conclude", lambda *given: dataclasses.replace(real(*given), gone=False))


MUTANTS = [
    _no_wait_for_drain,
    _silent_is_drained,
    _unmanaged_does_not_matter,
    _boots_do_not_matter,
    _missing_once_is_gone,
    _a_just_enabled_list_counts,
    _other_events_do_not_matter,
    _oldest_first,
    _found_is_not_changed,
    _never_gone,
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__.strip("_"))
def test_a_broken_plan_is_caught(mutant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    mutant(monkeypatch)
    with pytest.raises(BrokenRule):
        for seed in range(40):
            storm(seed)
