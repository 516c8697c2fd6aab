# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Progress: of runs that all go on, one acts. In every interleaving of two and of three runs; where three meet on four VMs, in a sample.

There is no progress where runs can go round: where all of them take steps for ever, and no VM is drained. So what is searched for is a circle of states, before
the first drain, with steps of every run in it. That one run stands still is no such circle: it may be dead, and then its leases expire.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import leases
from ansible_collections.maintenance.azure.tests.model import quick
from ansible_collections.maintenance.azure.tests.model.explorer import SHIFT, Explorer
from ansible_collections.maintenance.azure.tests.model.fleet import Case

CASES = [
    Case("the same VMs", ((0, 1),), machines=2, limit=2),
    Case("events that overlap", ((0, 1), (1, 2)), limit=3, own=True),
    Case("the last place of a group", ((0,), (1,)), machines=2, own=True),
    Case("three runs, the same VM", ((0,),), machines=1, responds=3),
    Case("three runs, the last place of a group", ((0,), (1,), (2,)), responds=3, own=True),
]
CHAIN = Case("three runs, events in a chain", ((0, 1), (1, 2), (2, 3)), machines=4, limit=4, responds=3, own=True)
# Rounds, each of as many steps as there are runs. One of them acts within some sixty.
ROUNDS = 200
SAMPLES = 60


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for place, name, value in quick.patches():
        monkeypatch.setattr(place, name, value)
    yield


def explorer_of(case: Case) -> Explorer:
    """Return the explorer of a case; each run handles one event where they have events of their own."""
    explorer = Explorer(case)
    for place, run in enumerate(explorer.runs):
        if case.own:
            run.settings["only_events"] = [f"E{place + 1}"]
    return explorer


class Circles:
    """All states before the first drain, and the steps between them."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.runs = len(explorer.runs)
        self.start = explorer._pack(explorer._number(explorer.fleet.begin()), [run.first for run in explorer.runs])
        self.after: dict[int, list[tuple[int, int]]] = {}
        """From each state the next ones, each with the run that steps."""

    def acted(self, present: int) -> bool:
        """Return whether a VM is out of service."""
        return not all(self.explorer.states[present >> SHIFT * self.runs].serving)

    def steps(self, present: int, place: int) -> list[int]:
        """Return the states after the next step of one run."""
        return [present + move for move in self.explorer._moves(present, present >> SHIFT * self.runs, place)]

    def search(self) -> None:
        """Find all states."""
        left = [self.start]
        while left:
            present = left.pop()
            if present in self.after:
                continue
            self.after[present] = [] if self.acted(present) else [(one, place) for place in range(self.runs) for one in self.steps(present, place)]
            left += [one for one, _place in self.after[present]]

    def fair(self) -> list[set[int]]:
        """Return the circles in which every run takes steps: components of states that all reach each other, by Tarjan."""
        index: dict[int, int] = {}
        low: dict[int, int] = {}
        stack: list[int] = []
        on_stack: set[int] = set()
        found = []
        for root in self.after:
            work = [] if root in index else [(root, iter(self.after[root]))]
            while work:
                node, following = work[-1]
                if node not in index:
                    index[node] = low[node] = len(index)
                    stack.append(node)
                    on_stack.add(node)
                for one, _place in following:
                    if one not in index:
                        work.append((one, iter(self.after[one])))
                        break
                    if one in on_stack:
                        low[node] = min(low[node], index[one])
                else:
                    work.pop()
                    if work:
                        low[work[-1][0]] = min(low[work[-1][0]], low[node])
                    if low[node] == index[node]:
                        circle = set(stack[stack.index(node) :]) if stack[-1] != node else {node}
                        del stack[-len(circle) :]
                        on_stack -= circle
                        found.append(circle)
        return [circle for circle in found if len({place for node in circle for one, place in self.after[node] if one in circle}) == self.runs]

    def play(self, seed: int) -> int | None:
        """Play one order, in rounds; return the round in which a run acted, or None."""
        dice, present = random.Random(seed), self.start
        for number in range(ROUNDS):
            # As they start in the same second, in step with each other; or as they come.
            for place in dice.sample(range(self.runs), self.runs) if seed % 2 else dice.choices(range(self.runs), k=self.runs):
                present = dice.choice(self.steps(present, place))
                if self.acted(present):
                    return number
        return None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_of_runs_that_go_on_one_acts(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    circles = Circles(explorer_of(case))
    circles.search()
    assert any(map(circles.acted, circles.after))
    assert circles.fair() == []
    with capsys.disabled():
        print(f"\n{case.name}: {len(circles.after)} states before the first drain")


def test_of_three_runs_that_meet_in_a_chain_one_acts(monkeypatch: pytest.MonkeyPatch) -> None:
    circles = Circles(explorer_of(CHAIN))
    assert None not in [circles.play(seed) for seed in range(SAMPLES)]
    monkeypatch.setattr(leases, "meet", lambda *given: None)
    circles = Circles(explorer_of(CHAIN))
    assert [circles.play(seed) for seed in range(SAMPLES)].count(None) > 0


@pytest.mark.parametrize("case", CASES[:3], ids=lambda case: case.name)
def test_that_all_give_way_to_each_other_is_caught(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was until 2.7.0: each releases, whatever the rank."""
    monkeypatch.setattr(leases, "meet", lambda *given: None)
    circles = Circles(explorer_of(case))
    circles.search()
    assert circles.fair() != []


def test_that_each_keeps_its_leases_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """No run passes another's lease, so where nobody releases none acts."""

    def meet(board: leases.Leases, event_id: str, names: object, others: object) -> None:
        board.kept.update((host, digest) for host, own in board.own.items() for digest in own)

    monkeypatch.setattr(leases, "meet", meet)
    circles = Circles(explorer_of(CASES[0]))
    circles.search()
    assert circles.fair() != []
