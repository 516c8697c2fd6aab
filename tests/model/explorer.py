# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The search: every state that two runs, Azure and the clock can reach, each looked at once.

A run that is dead needs no step of its own. That it is never given another step is one of the interleavings, and the
survivor's fair end is tried from every shared state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.maintenance.azure.tests.model.balancer_fleet import BalancerFleet
from ansible_collections.maintenance.azure.tests.model.balancer_run import BalancerRun
from ansible_collections.maintenance.azure.tests.model.fleet import BrokenRule, Case, Contents, Fleet, State, Step
from ansible_collections.maintenance.azure.tests.model.run import Run
from ansible_collections.maintenance.azure.tests.model.upgrade_fleet import RUN, UpgradeFleet
from ansible_collections.maintenance.azure.tests.model.upgrade_run import UpgradeRun

SHIFT = 24
MASK = (1 << SHIFT) - 1


@dataclass
class Found:
    """What a search has seen."""

    states: int = 0
    steps: int = 0
    shared: int = 0
    cut: int = 0
    ends: int = 0
    posts: int = 0
    broken: str | None = None
    trace: list[str] = field(default_factory=list)


class TooMany(Exception):
    """More states than allowed: the bounds of the case are too wide, or something grows for ever."""


class Explorer:
    """All interleavings of one case."""

    def __init__(self, case: Case, most: int = 20_000_000) -> None:
        self.case = case
        self.most = most
        self.contents = Contents()
        kind = UpgradeFleet if case.upgrades else BalancerFleet if case.servers_left else Fleet
        self.fleet = kind(case, self.contents)
        respond = BalancerRun if case.servers_left else Run
        self.runs: list[Run] = [
            respond(case, self.contents, f"run{place + 1}", backwards=bool(place % 2), misses=case.misses if place == 1 else ())
            for place in range(case.responds)
        ]
        self.runs += [UpgradeRun(case, self.contents, f"{RUN}{place + 1}", name, batch) for place, (name, batch) in enumerate(case.upgrades)]
        self.states: list[State] = []
        self._numbers: dict[State, int] = {}
        self._applied: dict[tuple[int, Step], tuple[int, int, Any]] = {}
        self._surroundings: dict[int, list[Step]] = {}
        self._too_long: dict[int, bool] = {}
        # A packed state is a number: the shared state, and under it the node of each run.
        self._width = SHIFT * len(self.runs)
        self._shifts = [SHIFT * (len(self.runs) - 1 - place) for place in range(len(self.runs))]
        # What a step adds to that number depends on the shared state and one node only, however many nodes of the others there are beside it.
        self._known_moves: list[dict[int, list[int]]] = [{} for _run in self.runs]
        self._known_around: dict[int, list[int]] = {}
        # For who asks what can still be reached: from each state to the next ones.
        self.before: dict[int, list[int]] | None = None
        self._seen: dict[int, int] = {}

    def _number(self, state: State) -> int:
        found = self._numbers.get(state)
        if found is None:
            found = self._numbers[state] = len(self.states)
            self.states.append(state)
        return found

    def _apply(self, shared: int, step: Step) -> tuple[int, int, Any]:
        """The state after it, the clock, and the result."""
        key = (shared, step)
        found = self._applied.get(key)
        if found is None:
            state, result = self.fleet.apply(self.states[shared], step)
            found = self._applied[key] = (self._number(state), state.clock, result)
        return found

    def explore(self, first: State | None = None, *, depth_first: bool = False) -> Found:
        """Everything. Depth first, what breaks a rule is mostly found early; breadth first, by one of the shortest ways."""
        found = Found()
        start = self._pack(self._number(first or self.fleet.begin()), [run.first for run in self.runs])
        seen: dict[int, int] = {start: -1}
        waiting = deque([start])
        present = start
        try:
            while waiting:
                present = waiting.pop() if depth_first else waiting.popleft()
                self._expand(present, seen, waiting, found)
                if len(seen) > self.most:
                    raise TooMany(f"{self.case.name}: more than {self.most} states")
        except BrokenRule as broken:
            found.broken = str(broken)
            found.trace = self._trace(present, seen)
        found.states, found.shared, found.posts = len(seen), len(self.states), self.fleet.posts
        self._seen = seen
        return found

    def stuck(self, good: Callable[[State, tuple[int, ...]], bool]) -> list[str]:
        """The way to a state from which nothing that these runs do, whoever goes on, leads to a good one; nothing where there is none."""
        runs = len(self.runs)
        reached = {one for one in self._seen if good(self.states[one >> SHIFT * runs], self._nodes(one))}
        left = list(reached)
        while left:
            for one in (self.before or {}).get(left.pop(), ()):
                if one not in reached:
                    reached.add(one)
                    left.append(one)
        # Where the only second there is has passed too early, the survivor sees to the end.
        asked = (one for one in self._seen if self.states[one >> SHIFT * runs].ticks or not self.case.ends)
        bad = next((one for one in asked if one not in reached), None)
        return [] if bad is None else [*self._trace(bad, self._seen), f"from here on nobody comes through: {self.states[bad >> SHIFT * runs]}"]

    def _nodes(self, packed: int) -> tuple[int, ...]:
        return tuple(packed >> SHIFT * (len(self.runs) - 1 - place) & MASK for place in range(len(self.runs)))

    def _pack(self, shared: int, nodes: list[int]) -> int:
        packed = shared
        for node in nodes:
            packed = packed << SHIFT | node
        return packed

    def _expand(self, present: int, seen: dict[int, int], waiting: deque[int], found: Found) -> None:
        shared = present >> self._width
        if self._grown(shared):
            found.cut += 1
            return
        for place in range(len(self.runs)):
            self._note(self._moves(present, shared, place), present, seen, waiting, found)
        self._note(self._around_moves(shared), present, seen, waiting, found)

    def _note(self, moves: list[int], present: int, seen: dict[int, int], waiting: deque[int], found: Found) -> None:
        found.steps += len(moves)
        for move in moves:
            packed = present + move
            if self.before is not None:
                self.before.setdefault(packed, []).append(present)
            if packed not in seen:
                seen[packed] = present
                waiting.append(packed)

    def _around_moves(self, shared: int) -> list[int]:
        found = self._known_around.get(shared)
        if found is None:
            found = self._known_around[shared] = [(self._apply(shared, step)[0] - shared) << self._width for step in self._around(shared)]
        return found

    def _around(self, shared: int) -> list[Step]:
        found = self._surroundings.get(shared)
        if found is None:
            found = self._surroundings[shared] = self.fleet.surroundings(self.states[shared])
        return found

    def _grown(self, shared: int) -> bool:
        found = self._too_long.get(shared)
        if found is None:
            revisions = [int(name.split(".")[-2]) for files in self.states[shared].files for name, _content in files if name.startswith("event-")]
            found = self._too_long[shared] = max(revisions, default=0) > self.case.revisions
        return found

    def explore_switching(self, switches: int) -> Found:
        """Every way for one run to be interrupted by the other, so many times, with whatever the clock and Azure do then.

        Far fewer states than all interleavings, and enough for a run that sleeps anywhere past its limit and wakes up.
        """
        found = Found()
        start = self._pack(self._number(self.fleet.begin()), [run.first for run in self.runs])
        waiting = [(start, place, switches) for place in range(len(self.runs))]
        seen = set(waiting)
        try:
            while waiting:
                for after in self._one_goes_on(*waiting.pop(), found):
                    if after not in seen:
                        seen.add(after)
                        waiting.append(after)
        except BrokenRule as broken:
            found.broken = str(broken)
        found.states, found.shared, found.posts = len(seen), len(self.states), self.fleet.posts
        return found

    def _one_goes_on(self, present: int, active: int, left: int, found: Found) -> list[tuple[int, int, int]]:
        shared = present >> SHIFT * len(self.runs)
        if self._grown(shared):
            found.cut += 1
            return []
        after = [(present + move, active, left) for move in self._moves(present, shared, active)]
        if left:
            nodes = present & ((1 << SHIFT * len(self.runs)) - 1)
            meanwhile = [nodes | one << SHIFT * len(self.runs) for one in self._meanwhile(shared)]
            after += [(one, other, left - 1) for other in range(len(self.runs)) if other != active for one in meanwhile]
        found.steps += len(after)
        return after

    def _meanwhile(self, shared: int) -> set[int]:
        """What the clock and Azure may have done while a run slept: nothing, or any of it."""
        reached, left = {shared}, [shared]
        while left:
            one = left.pop()
            for step in self._around(one):
                after = self._apply(one, step)[0]
                if after not in reached:
                    reached.add(after)
                    left.append(after)
        return reached

    def _moves(self, present: int, shared: int, place: int) -> list[int]:
        """What the next steps of one run add to the state."""
        shift = self._shifts[place]
        node = present >> shift & MASK
        found = self._known_moves[place].get(shared << SHIFT | node)
        if found is None:
            found = self._known_moves[place][shared << SHIFT | node] = []
            for choice, step in enumerate(self.runs[place].steps(node)):
                after, clock, result = self._apply(shared, step)
                new = self.runs[place].after(node, choice, clock, result)
                found.append((new - node << shift) + (after - shared << self._width))
        return found

    # --- How it came to it ------------------------------------------------------------------------------------------

    def _trace(self, present: int, seen: dict[int, int]) -> list[str]:
        path = [present]
        while seen[path[-1]] >= 0:
            path.append(seen[path[-1]])
        path.reverse()
        lines = [self._between(one, two) for one, two in zip(path, path[1:])]
        # The step that broke the rule has no state after it.
        shared = present >> SHIFT * len(self.runs)
        for place, run in enumerate(self.runs):
            node = present >> SHIFT * (len(self.runs) - 1 - place) & MASK
            for step in run.steps(node):
                try:
                    self.fleet.apply(self.states[shared], step)
                except BrokenRule:
                    lines.append(f"{run.identifier} {_said(step)}")
        return lines

    def _between(self, one: int, two: int) -> str:
        runs = len(self.runs)
        for place, run in enumerate(self.runs):
            shift = SHIFT * (runs - 1 - place)
            node, new = one >> shift & MASK, two >> shift & MASK
            for choice, step in enumerate(run.steps(node)):
                after, clock, result = self._apply(one >> SHIFT * runs, step)
                if after == two >> SHIFT * runs and run.after(node, choice, clock, result) == new and (node != new or after != one >> SHIFT * runs):
                    return f"{run.identifier} {_said(step)}"
        before, after = one >> SHIFT * runs, two >> SHIFT * runs
        return "time or Azure: " + next((_said(step) for step in self._around(before) if self._apply(before, step)[0] == after), "?")


def _said(step: Step) -> str:
    return " ".join(f"VM {word + 1}" if place == 1 else str(word) for place, word in enumerate(step))
