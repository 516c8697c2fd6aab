# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The fair end with upgrades: after the death of all runs, a fresh respond and each upgrade, started again, come through in turns."""

from __future__ import annotations

from typing import Any

from ansible_collections.maintenance.azure.tests.model.ending import ITERATIONS, PAUSE, Survivor
from ansible_collections.maintenance.azure.tests.model.fleet import BrokenRule, Case, Contents, State
from ansible_collections.maintenance.azure.tests.model.run import Run
from ansible_collections.maintenance.azure.tests.model.upgrade_fleet import RUN, UpgradeFleet
from ansible_collections.maintenance.azure.tests.model.upgrade_run import UpgradeRun

LONGEST_PAUSE = 160


class UpgradeSurvivor(Survivor):
    """Whatever was left: the events are over, everything is put back, and every VM is upgraded and marked as done."""

    def __init__(self, case: Case, contents: Contents) -> None:
        super().__init__(case, contents)
        self.fleet = UpgradeFleet(self.case, contents)
        names = dict(case.upgrades)
        self.upgrades = [UpgradeRun(self.case, contents, f"{RUN}9{place}", name, names[name]) for place, name in enumerate(names)]
        self.wanted = {vm for batch in names.values() for vm in batch}

    def _key(self, state: State) -> Any:
        marks = tuple((vm, name, content) for vm, files in enumerate(state.files) for name, content in files if name.startswith("upgrade-"))
        return super()._key(state), marks, state.upgrading

    def end(self, state: State) -> None:
        """An iteration of each, again and again, until nobody has anything to do any more."""
        runs: list[Run] = [self.run, *self.upgrades]
        nodes = [run.first for run in runs]
        pause = PAUSE
        for _iteration in range(ITERATIONS):
            acted = False
            for place, run in enumerate(runs):
                state, nodes[place], did = self._one_iteration(run, state, nodes[place])
                acted = acted or did
            if self._over(state) and not acted:
                return
            # Where only time helps, it passes faster and faster.
            pause = PAUSE if acted else min(2 * pause, LONGEST_PAUSE)
            state = self._time(state, 1 if acted else pause)
        raise BrokenRule(f"never over: {state.events}, serving {state.serving}, {state.upgrading}; " + "; ".join(self._records(state)))

    def _one_iteration(self, run: Run, state: State, node: int) -> tuple[State, int, bool]:
        """To the end of the iteration, or of the play. A play that failed is started again; one that came through is not."""
        acted = False
        while run.steps(node):
            acted = acted or run.nodes[node][0] == "action"
            state, result = self.fleet.apply(state, run.steps(node)[0])
            node = run.after(node, 0, state.clock, result)
            if node == run.first or self._new_iteration(run, node):
                break
        if not run.steps(node) and any(state.upgrading[vm] != "done" for vm in self.wanted):
            node = run.first
        return state, node, acted

    def _new_iteration(self, run: Run, node: int) -> bool:
        kind, _carry, *rest = run.nodes[node]
        return bool(kind == "observation" and all(observation is None for observation in rest[0]))

    def _over(self, state: State) -> bool:
        if not all(state.serving) or not set(state.events) <= {"over"} or not all(said.endswith(" recovered") for said in self._records(state)):
            return False
        return all(state.upgrading[vm] == "done" for vm in self.wanted)
