# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Upgrades and a run of respond at once, action by action in any order: no VM is taken twice, and no budget is exceeded.

Each act on a VM, and each observation of one, is a step of its own; whose step comes next is thrown with dice. This is a sample of all orders. The
exhaustive search, file by file, is tests/model.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_schema import event_digest
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.budget import allocation
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.planner import make_plan
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.upgrade import gate
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import SETTINGS, at, event, record, vm
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.upgrade.test_gate import lease

NAMES = ("vm1", "vm2", "vm3", "vm4")


class BrokenRule(AssertionError):
    """Two runs took one VM, or more VMs were unavailable than allowed."""


@dataclass
class World:
    """Four VMs, their leases and records, and the runs that upgrade them."""

    limit: int
    events: list[dict[str, Any]]
    leases: dict[str, dict[tuple[str, str], dict[str, Any]]] = field(default_factory=lambda: {name: {} for name in NAMES})
    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    upgraded: dict[str, str] = field(default_factory=dict)
    """By VM: the run that upgrades it now."""
    listed: bool = False

    def settings(self, run: str, kind: str) -> dict[str, Any]:
        group = {"name": "web", "members": list(NAMES), "max_unavailable": self.limit}
        return {**SETTINGS, "run": {"id": run, "kind": kind}, "capacity": [group], "notify": False}

    def observation(self, name: str, acknowledged: set[str]) -> dict[str, Any]:
        events = self.events if self.listed else []
        records = [self.records[name]] if name in self.records else []
        return {**vm(name, events, records, leases=list(self.leases[name].values()), in_service=None), "acknowledged": sorted(acknowledged)}

    def lease(self, run: str, step: dict[str, Any]) -> None:
        """Acquire or release the lease."""
        key = (run, event_digest(step["event_id"]))
        if step["action"] == "release":
            self.leases[step["host"]].pop(key, None)
        else:
            self.leases[step["host"]][key] = lease(step["event_id"], run, groups=step["lease"]["groups"], kind=step["lease"]["kind"])

    def check(self) -> None:
        out = set(self.upgraded) | set(self.records)
        if set(self.upgraded) & set(self.records):
            raise BrokenRule(f"{set(self.upgraded) & set(self.records)} is drained under an upgrade")
        if len(out) > self.limit:
            raise BrokenRule(f"{out} are out, and {self.limit} may be")


def observations(world: World, acknowledged: dict[str, set[str]], dice: random.Random) -> Iterator[list[dict[str, Any]]]:
    """Observe the VMs one after another, in any order; the last value has all of them."""
    found = []
    for name in dice.sample(NAMES, len(NAMES)):
        found.append(world.observation(name, acknowledged[name]))
        yield []
    yield found


def taken(world: World, run: str, steps: list[dict[str, Any]], acknowledged: dict[str, set[str]]) -> Iterator[None]:
    """Acquire the leases of a decision one after another."""
    for step in steps:
        if step["action"] in ("acquire", "release"):
            if step["action"] == "acquire":
                acknowledged[step["host"]].add(step["event_id"].lower())
            else:
                acknowledged[step["host"]].discard(step["event_id"].lower())
            world.lease(run, step)
            yield


def upgrade(world: World, run: str, batch: tuple[str, ...], dice: random.Random) -> Iterator[None]:
    """Play role gate, then the batch, then its release."""
    acknowledged: dict[str, set[str]] = {name: set() for name in NAMES}
    ask = {"upgrade": run, "batch": list(batch), "quiet_seconds": 0}
    while True:
        seen: list[dict[str, Any]] = []
        for seen in observations(world, acknowledged, dice):
            yield
        answer = gate.make_gate(seen, ask, settings=world.settings(run, "upgrade"), now=at(0))
        if answer["go"]:
            break
        yield from taken(world, run, answer["actions"], acknowledged)
        for _pause in range(dice.randint(0, 30) if answer["blockers"] else 0):
            yield
    for name in batch:
        if name in world.upgraded:
            raise BrokenRule(f"{name} is upgraded by {world.upgraded[name]} and {run}")
        world.upgraded[name] = run
        world.check()
        yield
    for name in batch:
        del world.upgraded[name]
        world.leases[name].pop((run, event_digest(f"upgrade:{run}")), None)
        yield


def respond(world: World, run: str, dice: random.Random) -> Iterator[None]:
    """Play role respond, up to the drain for an event that arrives at some time."""
    acknowledged: dict[str, set[str]] = {name: set() for name in NAMES}
    for _pause in range(dice.randint(0, 60)):
        yield
    world.listed = True
    wanted = {name for one in world.events for name in one["resources"]}
    while not wanted <= set(world.records):
        seen: list[dict[str, Any]] = []
        for seen in observations(world, acknowledged, dice):
            yield
        plan = make_plan(seen, settings=world.settings(run, "events"), now=at(0))
        yield from taken(world, run, plan["actions"], acknowledged)
        for step in plan["actions"]:
            if step["action"] == "drain":
                world.records[step["host"]] = record("drained", step["event"])
                world.check()
                yield
        for _pause in range(dice.randint(0, 10)):
            yield
    for name in NAMES:
        world.leases[name] = {key: one for key, one in world.leases[name].items() if key[0] != run}
    # The event is over, and the VM has recovered.
    world.listed = False
    world.records.clear()


def play(seed: int) -> None:
    """Play one order to its end: all runs must finish, in whichever order they back off."""
    dice = random.Random(seed)
    world = World(dice.choice((1, 2)), [event("E1", tuple(dice.sample(NAMES, 1)), due=3000)])
    size = dice.randint(1, world.limit)
    runs: list[Iterator[None]] = [upgrade(world, f"upgrade{number}", tuple(dice.sample(NAMES, size)), dice) for number in range(2)]
    runs.append(respond(world, "respond0", dice))
    for _step in range(6000):
        if not runs:
            return
        run = dice.choice(runs)
        try:
            next(run)
        except StopIteration:
            runs.remove(run)
    raise AssertionError(f"seed {seed}: {len(runs)} runs never came through: {world}")


@pytest.mark.parametrize("first", range(0, 300, 100))
def test_all_come_through_and_nothing_is_taken_twice(first: int) -> None:
    for seed in range(first, first + 100):
        play(seed)


def without_leases_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    real = gate.leases.read

    def read(*given: Any) -> Any:
        board = real(*given)
        board.others.clear()
        return board

    monkeypatch.setattr(gate.leases, "read", read)


def without_a_second_observation(monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[..., bool] = gate.leases.leased

    def leased(*given: Any, **more: Any) -> bool:
        real(*given, **more)
        return True

    monkeypatch.setattr(gate.leases, "leased", leased)


def without_room_for_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation, "_count_leases", lambda *given: None)


@pytest.mark.parametrize("mutant", [without_leases_of_others, without_a_second_observation, without_room_for_leases])
def test_each_rule_is_needed(mutant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    mutant(monkeypatch)
    with pytest.raises(BrokenRule):
        for seed in range(300):
            play(seed)
