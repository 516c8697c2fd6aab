# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gate for any fleet: the oracle computes from the observations alone whether a batch may go."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.upgrade import gate, gate_blockers
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.budget.test_capacity_any import NAMES, PAUSE, observation, out, some
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import SETTINGS, at, event
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.upgrade.test_gate import NAME, OURS, RUN, lease, lease_of_other_run


def fleet(dice: random.Random) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Up to two events on five VMs, and one or two groups."""
    events = [
        event(f"E{number}", some(dice, 2), dice.choice(["Scheduled"] * 5 + ["Started"]), dice.choice((None, 100, 900, 90_000))) | dice.choice(({}, {}, PAUSE))
        for number in range(dice.choice((0, 1, 1, 2)))
    ]
    groups = [{"name": f"g{place}", "members": list(some(dice, 5)), "max_unavailable": dice.choice((0, 1, 2, 3, "50%"))} for place in range(dice.randint(0, 2))]
    return events, groups


def with_leases(dice: random.Random, seen: dict[str, Any], batch: tuple[str, ...]) -> dict[str, Any]:
    """Add leases: mostly this run's on the batch, sometimes another run's, for an event or an upgrade, live or expired."""
    if seen["observation"] is None:
        return seen
    leases = []
    if seen["host"] in batch and dice.random() < 0.95:
        leases.append(lease())
    if dice.random() < 0.1:
        leases.append(lease_of_other_run(dice.choice(("E9", "upgrade:Packages")), left=dice.choice((100, -1))))
    acknowledged = [OURS.lower()] if seen["host"] in batch and dice.random() < 0.95 else []
    return {**seen, "acknowledged": acknowledged, "observation": {**seen["observation"], "leases": leases, "enabled_at": at(dice.choice((-100, *[-9000] * 9)))}}


def check(seen: list[dict[str, Any]], groups: list[dict[str, Any]], batch: tuple[str, ...], dice: random.Random) -> bool:
    """Return whether the batch goes; fail if it must not."""
    chosen = {**SETTINGS, "capacity": groups, "run": RUN}
    found = gate.make_gate(seen, {"upgrade": NAME, "batch": list(batch), "quiet_seconds": dice.choice((0, 60))}, settings=chosen, now=at(0))
    assert found["go"] or found["why"], "a batch that waits is told why"
    if not found["go"]:
        return False
    observations = {one["host"]: one["observation"] for one in seen}
    listed = [one for observation in observations.values() if observation for one in observation["events"]]
    hit = {name for one in listed for name in one["resources"]}
    assert not hit & set(batch), f"{batch} goes, and an event names {hit}"
    for name in batch:
        observation = observations.get(name)
        assert observation, f"{name} was not seen"
        assert observation["events"] or observation["enabled_at"] < at(-300), f"the empty list of {name} proves nothing"
        assert [one["run"] for one in observation["leases"]] == [RUN["id"]], f"{name} goes under {observation['leases']}"
        assert not any(out({"host": name, "observation": {**observation, "in_service": None}}, []) for name in batch), "it is out for an event"
    leased = {name for name, observation in observations.items() if observation and any(one["run"] != RUN["id"] for one in observation["leases"])}
    away = {name for name in NAMES if out(next((one for one in seen if one["host"] == name), None), listed)}
    for group in groups:
        members = set(group["members"])
        if members & set(batch):
            assert members <= set(observations), f"nobody knows who is out of {group}"
            limit = len(members) // 2 if group["max_unavailable"] == "50%" else group["max_unavailable"]
            assert len(members & (away | leased | set(batch))) <= limit, f"{batch} goes in {group}, beside {away} and {leased}"
    return True


def search(examples: int, phases: tuple[Phase, ...] = tuple(Phase)) -> list[bool]:
    """Play random fleets; return for each whether the batch went."""
    went = []

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None, phases=phases, report_multiple_bugs=False)
    @given(st.randoms(use_true_random=True))
    def one(dice: random.Random) -> None:
        events, groups = fleet(dice)
        batch = some(dice, 2)
        seen = [with_leases(dice, observation(dice, name, events), batch) for name in NAMES]
        if dice.random() < 0.1:
            seen.pop(dice.randrange(len(seen)))
        went.append(check(seen, groups, batch, dice))

    one()
    return went


def test_no_batch_goes_that_an_event_touches_or_that_overdraws_a_group() -> None:
    went = search(400)
    # A gate that never opens would also pass.
    assert sum(went) > 40


@pytest.mark.parametrize("mutant", ["of_events", "of_capacity", "of_observations"])
def test_the_oracle_detects_a_missing_blocker(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate_blockers, mutant, lambda *given: [])
    with pytest.raises(AssertionError, match="goes|was not seen|proves nothing|nobody knows|is out"):
        search(1500, (Phase.generate,))


def test_the_oracle_detects_a_missing_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate.leases, "leased", lambda *given, **more: True)
    with pytest.raises(AssertionError, match="goes under"):
        search(1500, (Phase.generate,))


def test_the_oracle_detects_ignored_leases_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    real = gate.leases.read

    def read(*given: Any) -> Any:
        board = real(*given)
        board.others.clear()
        return board

    monkeypatch.setattr(gate.leases, "read", read)
    with pytest.raises(AssertionError, match="goes"):
        search(1500, (Phase.generate,))
