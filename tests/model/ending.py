# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The fair end: from any shared state one fresh run goes on alone, as after the death of the others, and everything is put back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import split_name
from ansible_collections.maintenance.azure.tests.model.fleet import NOTICE, BrokenRule, Case, Contents, Fleet, State
from ansible_collections.maintenance.azure.tests.model.run import Run

ITERATIONS = 400
# Between two turns of which the first did nothing.
PAUSE = 20


class Survivor:
    """Ends every state that it is given, and says so if one does not end well."""

    def __init__(self, case: Case, contents: Contents) -> None:
        self.case = replace(case, jumps=0, misses=(), fine_observations=False, any_order=False)
        self.contents = contents
        self.fleet = Fleet(self.case, contents)
        self.run = Run(self.case, contents, "run9")
        self._ended: set[Any] = set()

    def end_all(self, states: Iterable[State]) -> int:
        """Go on from each; those that differ only in what nobody acts on are one. Returns from how many."""
        found = 0
        for state in states:
            key = self._key(state)
            if key not in self._ended:
                self._ended.add(key)
                found += 1
                self.end(state)
        return found

    def _key(self, state: State) -> Any:
        """What the survivor sees of it: of each record the highest revision, without its number and who wrote before."""
        seen = []
        for files in state.files:
            highest: dict[str, tuple[int, int]] = {}
            leases = []
            for name, content in files:
                place = split_name(name)
                if place is None:
                    leases.append(name)
                else:
                    highest[place[0]] = max(highest.get(place[0], (0, 0)), (place[1], content))
            seen.append((tuple(leases), tuple((one, self._plain(content)) for one, (_revision, content) in sorted(highest.items()))))
        return tuple(seen), state.serving, state.events, state.clock

    def _plain(self, content: int) -> str:
        record = json.loads(self.contents.known[content])
        return json.dumps({key: value for key, value in record.items() if key not in ("revision", "lineage")}, sort_keys=True)

    def end(self, state: State) -> None:
        """Turn after turn until all is as it was."""
        node = self.run.first
        for _iteration in range(ITERATIONS):
            state, node, acted = self._iteration(state, node)
            if self._over(state) and not acted:
                return
            state = self._time(state, 1 if acted else PAUSE)
        raise BrokenRule(f"never over: {state.events}, serving {state.serving}; " + "; ".join(self._records(state)))

    def _iteration(self, state: State, node: int) -> tuple[State, int, bool]:
        """Looks at all VMs, then all acts."""
        acted = False
        while True:
            step = self.run.steps(node)[0]
            acted = acted or self.run.nodes[node][0] == "action"
            state, result = self.fleet.apply(state, step)
            node = self.run.after(node, 0, state.clock, result)
            kind, _carry, *rest = self.run.nodes[node]
            if kind == "observation" and all(observation is None for observation in rest[0]):
                return state, node, acted

    def _time(self, state: State, seconds: int) -> State:
        """Azure hits what was approved at once, and what was not when its time has come."""
        clock = state.clock + seconds
        late = [status == "scheduled" and clock < NOTICE + place for place, status in enumerate(state.events)]
        return state._replace(clock=clock, events=tuple(status if waits else "over" for status, waits in zip(state.events, late)))

    def _over(self, state: State) -> bool:
        if not all(state.serving) or set(state.events) != {"over"}:
            return False
        return all(said.endswith(" recovered") for said in self._records(state))

    def _records(self, state: State) -> list[str]:
        found = []
        for vm, files in enumerate(state.files):
            for one in {place[0] for name, _content in files if (place := split_name(name))}:
                highest = max((place[1], content) for name, content in files if (place := split_name(name)) and place[0] == one)
                found.append(f"VM {vm + 1} {one} {json.loads(self.contents.known[highest[1]])['phase']}")
        return found
