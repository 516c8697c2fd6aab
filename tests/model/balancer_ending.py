# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The fair end of a search with a balancer: what waits for another server to come back waits until its deadline, and time is all that passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ansible_collections.maintenance.azure.tests.model.balancer_fleet import SHARE, BalancerFleet
from ansible_collections.maintenance.azure.tests.model.balancer_run import BalancerRun
from ansible_collections.maintenance.azure.tests.model.ending import Survivor
from ansible_collections.maintenance.azure.tests.model.fleet import MARGIN, NOTICE, Case, Contents, State

# Nothing happens for most of the notice. Near its end every look may matter.
LONG, NEAR = 900, NOTICE - SHARE - MARGIN - 20


class BalancerSurvivor(Survivor):
    """Ends every state that it is given."""

    def __init__(self, case: Case, contents: Contents) -> None:
        super().__init__(replace(case, own=False, toggles=()), contents)
        self.fleet = BalancerFleet(self.case, contents)
        self.run = BalancerRun(self.case, contents, "run9")
        self.run.patient = True

    def end_some(self, states: list[State], most: int) -> str:
        """End about so many of the states, from the first to the last; return how many it were, of how many."""
        different = list({self._key(state): state for state in states}.values())
        return f"ended from {self.end_all(different[:: max(1, len(different) // most)])} of {len(different)}"

    def _key(self, state: State) -> Any:
        return super()._key(state), state.balancer

    def _time(self, state: State, seconds: int) -> State:
        waits = seconds > 1 and "scheduled" in state.events and state.clock < NEAR
        return super()._time(state, min(LONG, NEAR - state.clock) if waits else seconds)
