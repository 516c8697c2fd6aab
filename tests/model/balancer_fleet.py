# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A load balancer with a backend of which each VM is a server, and what must hold there whatever the records say.

C(State.serving) is whether a server is ready; C(State.balancer) has of each what nobody sets. What falls or comes back between a question and what follows it
at once no run can know. So what the last question about a server has counted, right before it is set or approved, counts as well. It is approved with the
note in its record that the request follows.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from ansible_collections.maintenance.azure.tests.model.acts import write
from ansible_collections.maintenance.azure.tests.model.fleet import MARGIN, NOTICE, BrokenRule, Fleet, State, Step, _at
from ansible_collections.maintenance.azure.tests.model.machine import ERRORS, Replay

# What a drain is expected to take that nobody has measured: until so many seconds before NotBefore a server that is needed is not taken out.
SHARE = 120


class Server(NamedTuple):
    """One VM's server."""

    up: bool
    """Whether its application passes the balancer's checks."""
    toggles: int
    """How often that may still change by itself."""
    counted: tuple[int, ...] = ()
    """Who took sessions beside it when it was asked last, right before something was to be set or approved."""
    idle: bool = False
    """Whether it took no sessions itself then."""
    took: bool = False
    """Whether it took sessions when it was set to drain."""


class Whole(Replay):
    """A call of a module that nothing else comes into."""

    def __init__(self, fleet: Fleet, state: State, seed: str) -> None:
        super().__init__(seed, state.clock, (), fleet.contents, False)
        self._fleet = fleet
        self.state = state

    def perform(self, step: Step) -> Any:
        """Take the step."""
        self.state, result = self._fleet.apply(self.state, step)
        if isinstance(result, str):
            raise ERRORS[result](step)
        return result


class BalancerFleet(Fleet):
    """The steps of a drain method that asks a balancer who is left, of an application that falls, and the rule for both."""

    def begin(self) -> State:
        toggles = dict(self.case.toggles)
        return super().begin()._replace(balancer=tuple(Server(vm not in self.case.down, toggles.get(vm, 0)) for vm in range(self.case.machines)))

    @staticmethod
    def takes(state: State, vm: int) -> bool:
        """Whether the balancer gives a server new sessions."""
        return state.serving[vm] and state.balancer[vm].up

    def _call(self, state: State, vm: int, seed: str, given: str) -> tuple[State, Any]:
        """One call of maintenance_record. Its file operations come apart in the searches without a balancer (run.py)."""
        call = json.loads(given)
        event_id = call["step"].get("event_id", "")
        if "approving_at" in call["options"].get("stamp", ()) and state.balancer[vm].took and not self._noted(state, vm, event_id):
            # What falls after this note keeps no VM that is out from being approved: nothing puts it back any more.
            self._left(state, vm, int(event_id[1:]) - 1, "is approved")
        whole = Whole(self, state, seed)
        answer = write(whole, vm, call["step"], call["options"])
        return whole.state, answer

    def _noted(self, state: State, vm: int, event_id: str) -> bool:
        records = [content for name, content in state.files[vm] if name.startswith(f"event-{event_id.lower()}.")]
        return any(json.loads(self.contents.known[one])["approving_at"] for one in records)

    # --- What the method does ---------------------------------------------------------------------------------------

    def _ask(self, state: State, vm: int, stage: str, away: tuple[int, ...]) -> tuple[State, Any]:
        """One answer of the balancer: whether the server is ready, whether it is up, and who takes sessions beside it."""
        others = tuple(one for one in range(self.case.machines) if one != vm and self.takes(state, one))
        answer = (state.serving[vm], state.balancer[vm].up, tuple(one for one in others if one not in away))
        asked = _with(state, vm, counted=others, idle=stage == "begin" and not self.takes(state, vm)) if stage in ("begin", "check") else state
        return asked, answer

    def _stop(self, state: State, vm: int, event: int) -> tuple[State, Any]:
        """The server is set to drain."""
        takes = self.takes(state, vm) and not state.balancer[vm].idle
        if takes:
            self._left(state, vm, event, "is set to drain")
        after, _none = super()._stop(state, vm, event)
        return _with(after, vm, counted=(), idle=False, took=takes) if state.serving[vm] else after, None

    def _start(self, state: State, vm: int, event: int) -> tuple[State, Any]:
        after, _none = super()._start(state, vm, event)
        return _with(after, vm, counted=(), idle=False, took=False), None

    def _post(self, state: State, vm: int, events: tuple[int, ...]) -> tuple[State, Any]:
        for event in events:
            for one in self.case.events[event] if state.events[event] == "scheduled" else ():
                if state.balancer[one].took and not self._noted(state, one, f"E{event + 1}"):
                    self._left(state, one, event, "is approved")
        return super()._post(state, vm, events)

    def _left(self, state: State, vm: int, event: int, what: str) -> None:
        if self.is_due(state, event):
            return
        # Of those that were counted, one that has fallen since is excused, and so is what was set to drain after it had fallen.
        counted = [one for one in state.balancer[vm].counted if not state.balancer[one].took]
        left = [one for one in range(self.case.machines) if one != vm and (self.takes(state, one) or one in counted)]
        if len(left) < self.case.servers_left:
            raise BrokenRule(f"never fewer: VM {vm + 1} {what} for event {event + 1}, and {len(left)} other servers take sessions")

    def is_due(self, state: State, event: int) -> bool:
        """Whether a drain has no time left to wait for others to serve."""
        return state.clock >= NOTICE + event - SHARE - MARGIN

    def _late(self, state: State, vm: int, event: int) -> tuple[State, Any]:
        """A drain is given up for want of time, or may not wait any more."""
        if not self.is_due(state, event):
            raise BrokenRule(f"no time: the drain of VM {vm + 1} for event {event + 1} is late at {state.clock} s, and has only waited")
        return state, None

    # --- What happens by itself -------------------------------------------------------------------------------------

    def _toggle(self, state: State, vm: int) -> tuple[State, Any]:
        server = state.balancer[vm]
        return _with(state, vm, up=not server.up, toggles=server.toggles - 1), None

    def _end(self, state: State, event: int) -> tuple[State, Any]:
        """Azure has moved its VMs to another host: what was broken there is whole."""
        for vm in self.case.events[event]:
            state = _with(state, vm, up=True)
        return super()._end(state, event)

    def surroundings(self, state: State) -> list[Step]:
        """An application may fall, or come back."""
        return [*super().surroundings(state), *(("toggle", vm) for vm, server in enumerate(state.balancer) if server.toggles)]


def _with(state: State, vm: int, **changes: Any) -> State:
    return state._replace(balancer=_at(state.balancer, vm, state.balancer[vm]._replace(**changes)))
