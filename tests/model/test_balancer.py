# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Two VMs behind one balancer, two runs: never fewer servers than asked by what we do, and one that waits takes no place and no time.

Every order of the runs' steps, of the applications' falls and of Azure's. MODEL_LARGE=1 explores more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from ansible_collections.maintenance.azure.tests.model import balancer_mutants as broken
from ansible_collections.maintenance.azure.tests.model import quick
from ansible_collections.maintenance.azure.tests.model.balancer_ending import BalancerSurvivor
from ansible_collections.maintenance.azure.tests.model.explorer import Explorer
from ansible_collections.maintenance.azure.tests.model.fleet import BrokenRule, Case, State

Mutant = Callable[[pytest.MonkeyPatch], None]
LARGE = os.environ.get("MODEL_LARGE") == "1"
# From how many shared states of a case a fresh run goes on alone; from all of them with MODEL_LARGE.
ENDED = 100
APART, TOGETHER = ((0,), (1,)), ((0, 1),)
FALLS, RISES = ((1, 1),), ((1, 2),)


def case(name: str, events: tuple[tuple[int, ...], ...], **more: object) -> Case:
    """No capacity group keeps one of the two in service: only the balancer does."""
    return Case(name, events, **{"machines": 2, "limit": 2, "health": False, "servers_left": 1, **more})  # type: ignore[arg-type]


OWN = case("an event each, a run for each", APART, own=True)
ALONE = case("an event each, one run", APART, responds=1)
OWN_FALLS = case("an event each, a run for each, and one may fall", APART, own=True, toggles=FALLS)
ONE = case("an event of one, and the other may fall", ((0,),), toggles=FALLS)
BOTH = case("one event of both", TOGETHER)
CURED = case("the other one is down until its own event has cured it, and one may be out", APART, own=True, limit=1, down=(1,), ends=True)
LONG = {"down": (1,), "toggles": FALLS, "jumps": 1, "drain_seconds": 300}
WAITS = case("the other one is down and comes back when a drain's time has passed", ((0,),), responds=1, **LONG)
CASES = [OWN, ALONE, OWN_FALLS, ONE, BOTH, CURED, WAITS]
WIDER = [
    case("an event each, a run for each, over in the end", APART, own=True, ends=True),
    case("the other one is down and comes back when a drain's time has passed, two runs", ((0,),), **LONG),
    case("an event each, a run for each, and one may fall and come back", APART, own=True, toggles=RISES),
    case("an event each, two runs for both", APART),
]


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for place, name, value in quick.patches():
        monkeypatch.setattr(place, name, value)
    yield


def come_through(chosen: Case) -> Callable[[State, tuple[int, ...]], bool]:
    """Nothing waits any more, long before its time; without an end of the events, of two one must."""

    def good(state: State, _nodes: tuple[int, ...]) -> bool:
        return "scheduled" not in state.events if chosen.ends else set(state.events) != {"scheduled"}

    return good


def explored(chosen: Case) -> Explorer:
    explorer = Explorer(chosen)
    explorer.before = {} if chosen.ends or chosen is OWN else None
    found = explorer.explore()
    assert found.broken is None, "\n".join([str(found.broken), *found.trace])
    assert found.cut == 0
    assert (found.posts > 0) is (chosen is not BOTH)
    print(f"\n{chosen.name}: {found.states} states, {found.steps} steps, {found.shared} shared states", end="")
    if explorer.before is not None:
        assert explorer.stuck(come_through(chosen)) == []
    # Azure takes both together, and the other one serves as long as it can.
    assert chosen is not BOTH or all(all(state.serving) for state in explorer.states)
    return explorer


@pytest.mark.parametrize("chosen", CASES + (WIDER if LARGE else []), ids=lambda one: one.name)
def test_no_interleaving_breaks_a_rule_and_all_end_well(chosen: Case, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        explorer = explored(chosen)
        print(", " + BalancerSurvivor(chosen, explorer.contents).end_some(explorer.states, 10**9 if LARGE else ENDED), end="")


CAUGHT = [
    (broken.find_is_trusted, ONE, "VM 1 is set to drain"),
    (broken.hold_is_ignored, ONE, "VM 1 is approved"),
    (broken.hold_keeps_no_approval, ONE, "VM 1 is approved"),
    (broken.away_is_ignored, OWN, "is set to drain"),
    (broken.leased_serve, OWN, "is set to drain"),
    (broken.all_begin_at_once, ALONE, "is set to drain"),
]


@pytest.mark.parametrize(("mutant", "chosen", "text"), CAUGHT, ids=lambda one: getattr(one, "__name__", None) or getattr(one, "name", ""))
def test_what_takes_the_last_server_is_caught(mutant: Mutant, chosen: Case, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant(monkeypatch)
    found = Explorer(chosen).explore(depth_first=True)
    assert str(found.broken).startswith("never fewer") and text in str(found.broken)


def test_to_take_one_of_an_event_before_its_time_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    broken.event_serves(monkeypatch)
    explorer = Explorer(BOTH)
    assert explorer.explore().broken is None
    assert not all(all(state.serving) for state in explorer.states)


def test_what_takes_the_last_server_after_a_kill_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this search found: the run that comes after the death of the others."""
    broken.found_has_begun(monkeypatch)
    explorer = Explorer(OWN)
    assert explorer.explore().broken is None
    with pytest.raises(BrokenRule, match="never fewer: .*is set to drain"):
        BalancerSurvivor(OWN, explorer.contents).end_all(explorer.states)


STUCK = [
    (broken.who_waits_is_out, CURED),
    (broken.who_waits_goes_first, CURED),
    (broken.others_begin_here, CURED),
    (broken.asked_all_the_time, OWN),
]


@pytest.mark.parametrize(("mutant", "chosen"), STUCK, ids=lambda one: getattr(one, "__name__", None) or getattr(one, "name", ""))
def test_what_waits_and_takes_a_place_is_caught(mutant: Mutant, chosen: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant(monkeypatch)
    explorer = Explorer(chosen)
    explorer.before = {}
    assert explorer.explore().broken is None
    assert "nobody comes through" in explorer.stuck(come_through(chosen))[-1]


def test_what_waits_and_takes_time_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    broken.time_runs(monkeypatch)
    assert str(Explorer(WAITS).explore().broken).startswith("no time: the drain of VM 1")
