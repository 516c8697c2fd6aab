# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every interleaving of a run of respond and upgrades, or of upgrades alone, and what is broken on purpose. MODEL_LARGE=1 explores more.

An upgrade that was killed and started again is two runs of one name: the first may stop anywhere, because a run may never be given another
step. From each case's shared states a fresh respond and the upgrade, started again, must come through.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from ansible_collections.maintenance.azure.tests.model import mutants, quick, upgrade_ending
from ansible_collections.maintenance.azure.tests.model import upgrade_mutants as broken
from ansible_collections.maintenance.azure.tests.model.ending import Survivor
from ansible_collections.maintenance.azure.tests.model.explorer import Explorer
from ansible_collections.maintenance.azure.tests.model.fleet import BrokenRule, Case, State
from ansible_collections.maintenance.azure.tests.model.upgrade_ending import UpgradeSurvivor
from ansible_collections.maintenance.azure.tests.model.upgrade_run import UpgradeRun

NOW = [{"name": "all", "drain": False, "approve": "now"}]
LARGE = os.environ.get("MODEL_LARGE") == "1"
KERNEL = ("kernel", (0,))


def case(name: str, *events: tuple[int, ...], responds: int = 1, upgrades: tuple[tuple[str, tuple[int, ...]], ...] = (KERNEL,), **more: object) -> Case:
    """Two VMs of which one may be out, and events that come at any moment."""
    given = {"machines": 2, "late": tuple(range(len(events))), **more}
    return Case(name, events, responds=responds, upgrades=upgrades, **given)  # type: ignore[arg-type]


MINE = case("an event of the VM that is upgraded", (0,))
OTHERS = case("an event of another VM", (1,))
AGAIN = case("an upgrade killed and started again", responds=0, upgrades=(KERNEL, KERNEL))
APART = case("two upgrades of two VMs", responds=0, upgrades=(KERNEL, ("web", (1,))))
OVER = case("an event of the VM that is over in the end", (0,), ends=True)
OTHERS_OVER = case("an event of another VM that is over in the end", (1,), ends=True)
ENDED = [MINE, OTHERS, AGAIN, APART, OVER, OTHERS_OVER]
# These come to their ends only with MODEL_LARGE: looking at every end of them takes minutes.
EXPLORED = [
    case("an event of both VMs, both may be out", (0, 1), limit=2),
    case("an event of the VM, approved at once", (0,), policy=NOW),
    case("an event of another VM, approved at once", (1,), policy=NOW),
    case("an event of both, approved at once", (0, 1), machines=3, limit=2, policy=NOW),
    case("two events and three VMs", (0,), (1,), machines=3),
    case("a batch of two", (0,), machines=3, limit=2, upgrades=(("kernel", (0, 1)),)),
]
WIDER = [
    case("two runs of respond", (0,), responds=2),
    case("two runs of the upgrade and one of respond", (0,), upgrades=(KERNEL, KERNEL)),
]
ASLEEP = [
    case("somebody sleeps, an event of the VM", (0,), jumps=1),
    case("somebody sleeps, an event of another VM", (1,), jumps=1),
    case("somebody sleeps, the upgrade is started again", responds=0, upgrades=(KERNEL, KERNEL), jumps=1),
]
ASLEEP_THREE = [
    case("somebody of three sleeps, an event of the VM", (0,), upgrades=(KERNEL, KERNEL), jumps=1),
    case("somebody of three sleeps, an event of another VM", (1,), upgrades=(KERNEL, KERNEL), jumps=1),
]
# Respond has no reason to touch the VM that is upgraded, but that no document lists what it was drained for.
UNTOUCHED = case("a cancelled event of another VM", (1,), late=(), limit=2, cancels=(0,), policy=[{"name": "none", "drain": False, "approve": "never"}])
CUT = case("cut off in the middle, and no health check", (1,), jumps=2, health=False, policy=NOW)


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for place, name, value in quick.patches():
        monkeypatch.setattr(place, name, value)
    yield


def come_through(explorer: Explorer) -> Callable[[State, tuple[int, ...]], bool]:
    """Whether every upgrade has ended, everything is done, and no event is left."""
    wanted = {vm for _name, batch in explorer.case.upgrades for vm in batch}

    def good(state: State, nodes: tuple[int, ...]) -> bool:
        if not all(run.ended(node) for run, node in zip(explorer.runs, nodes) if isinstance(run, UpgradeRun)):
            return False
        return all(state.serving) and set(state.events) <= {"over"} and all(state.upgrading[vm] == "done" for vm in wanted)

    return good


def explored(chosen: Case) -> Explorer:
    """All states, none of which breaks a rule."""
    explorer = Explorer(chosen)
    explorer.before = {} if chosen.ends or not chosen.events else None
    found = explorer.explore()
    assert found.broken is None, "\n".join([str(found.broken), *found.trace])
    assert found.cut == 0
    # A search in which nothing is ever upgraded, or approved, would break no rule either.
    assert any("done" in state.upgrading for state in explorer.states)
    assert found.posts > 0 or not chosen.events
    if explorer.before is not None:
        assert explorer.stuck(come_through(explorer)) == []
    print(f"\n{chosen.name}: {found.states} states, {found.steps} steps, {found.shared} shared states", end="")
    return explorer


def survivor(explorer: Explorer) -> Survivor:
    return UpgradeSurvivor(explorer.case, explorer.contents)


@pytest.mark.parametrize("chosen", ENDED + (EXPLORED if LARGE else []), ids=lambda one: one.name)
def test_no_interleaving_breaks_a_rule_and_all_end_well(chosen: Case, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        explorer = explored(chosen)
        print(f", ended from {survivor(explorer).end_all(explorer.states)}")


@pytest.mark.parametrize("chosen", WIDER if LARGE else EXPLORED, ids=lambda one: one.name)
def test_no_interleaving_breaks_a_rule(chosen: Case, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        explored(chosen)


@pytest.mark.parametrize("chosen", ASLEEP + (ASLEEP_THREE if LARGE else []), ids=lambda one: one.name)
def test_a_run_that_sleeps_anywhere_past_its_limit_breaks_no_rule(chosen: Case, capsys: pytest.CaptureFixture[str]) -> None:
    """With MODEL_LARGE also three runs, or one more switch between two."""
    switches = 3 if LARGE and chosen in ASLEEP else 2
    found = Explorer(chosen).explore_switching(switches)
    assert found.broken is None
    with capsys.disabled():
        print(f"\n{chosen.name}, {switches} switches: {found.states} states, {found.shared} shared states")


# With two switches nothing of it is seen, and three take half a minute; that it is needed is shown by the mutant below.
@pytest.mark.parametrize("switches", [3] if LARGE else [2])
def test_what_was_cut_off_counts_as_out_where_nobody_knows_better(switches: int) -> None:
    assert Explorer(CUT).explore_switching(switches).broken is None


CAUGHT = [
    (broken.no_second_observation, OTHERS, "rule 4|lease"),
    (broken.no_second_observation, APART, "rule 4"),
    (broken.gate_ignores_leases, APART, "rule 4"),
    (broken.gate_ignores_leases, AGAIN, "once|lease"),
    (broken.gate_ignores_events, MINE, "lease: the upgrade drains|rule"),
    (broken.gate_ignores_room, OTHERS, "rule 4"),
    (broken.done_is_forgotten, AGAIN, "once: VM 1 is done"),
    (broken.respond_passes_the_upgrade, MINE, "lease|once"),
    (mutants.leases_do_not_count, OTHERS, "rule 4"),
    (broken.released_before_the_tasks, MINE, "lease: VM 1 was drained by respond"),
    (broken.released_before_recovered, MINE, "lease: VM 1 was drained by respond"),
    (broken.done_before_it_is, AGAIN, "once: VM 1 is marked as done"),
    (broken.back_before_upgraded, AGAIN, "once: VM 1 is put back"),
    (broken.upgraded_before_it_is, AGAIN, "once: VM 1 is marked as upgraded"),
]


@pytest.mark.parametrize(("mutant", "chosen", "text"), CAUGHT, ids=lambda one: getattr(one, "__name__", None) or getattr(one, "name", ""))
def test_what_is_broken_is_caught(mutant: Callable[[pytest.MonkeyPatch], None], chosen: Case, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant(monkeypatch)
    found = Explorer(chosen).explore(depth_first=True)
    assert found.broken is not None
    with pytest.raises(AssertionError, match=text):
        raise AssertionError(found.broken)


def test_marks_that_take_no_room_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    broken.marks_take_no_room(monkeypatch)
    assert str(Explorer(CUT).explore_switching(3).broken).startswith("rule 4")


def test_to_adopt_what_is_not_dead_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Explorer(UNTOUCHED).explore_switching(3).broken is None
    broken.adopted_too_early(monkeypatch)
    assert str(Explorer(UNTOUCHED).explore_switching(3).broken).startswith("lease: VM 1 was put back")


def test_to_do_the_tasks_again_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first run is killed after its tasks, its lease's limit passes, and the upgrade is started again."""
    broken.upgraded_is_forgotten(monkeypatch)
    assert str(Explorer(ASLEEP[2]).explore_switching(2).broken).startswith("once: VM 1 is")


def test_to_take_what_is_made_anew_for_renewed_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this search found: renew.yml listed its lease, slept, and made another one beside the run that had taken over."""
    broken.renewed_though_gone(monkeypatch)
    assert Explorer(ASLEEP[2]).explore_switching(2).broken is not None


def test_to_act_without_renaming_the_own_lease_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    mutants.act_without_renaming(monkeypatch)
    assert str(Explorer(ASLEEP[1]).explore_switching(2).broken).startswith("rule 4")


@pytest.mark.parametrize("mutant", [broken.never_marked, broken.never_given_back], ids=lambda one: one.__name__)
def test_what_never_comes_to_its_end_is_caught(mutant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    mutant(monkeypatch)
    explorer = Explorer(APART)
    explorer.before = {}
    assert explorer.explore().broken is None
    assert "nobody comes through" in explorer.stuck(come_through(explorer))[-1]


def test_the_survivor_sees_what_is_never_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    broken.never_marked(monkeypatch)
    monkeypatch.setattr(upgrade_ending, "ITERATIONS", 40)
    explorer = Explorer(APART)
    explorer.explore()
    with pytest.raises(BrokenRule, match="never over"):
        survivor(explorer).end(explorer.states[0])
