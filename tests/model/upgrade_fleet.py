# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an upgrade does to VMs, and the rules for it. Whether one is broken is decided by what really was done to a VM, and when.

C(State.upgrading) has a word for each VM: nothing, C(out) (drained by the upgrade, not touched yet), C(inside) (its tasks have
begun, and not ended), C(new) (they have, and the VM is still out), C(marked) (and the mark says so), C(cut) (begun, and put back by somebody
else without that mark), C(back) (marked, and put back) and C(done) (and the mark says so). The tasks are never begun again after the first mark.

No command can be told to look at a lease in the moment in which it acts. A run that slept past its limit between its last observation at its lease
and what it does then is taken for dead if the lease is gone: that C(gate_lease_seconds) is longer is the user's to see to. A stop that comes late
must find its room kept even so, as in respond.
"""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_schema import LeaseName, split_lease_name
from ansible_collections.maintenance.azure.tests.model.fleet import START, BrokenRule, Fleet, State, _at

# How the ids of their runs begin.
RUN = "upg"
OUT = ("out", "inside", "new", "marked")
UPGRADED = ("marked", "back", "done")
# No lease that was ever made has passed its limit before this.
YOUNG = 180


class UpgradeFleet(Fleet):
    """The steps of respond, and those of upgrades."""

    def out(self, state: State) -> set[int]:
        """A VM whose upgrade was cut off in the middle may serve or not. Without a health check nobody knows, so it is out."""
        cut = () if self.case.health else (vm for vm, word in enumerate(state.upgrading) if word == "cut")
        return super().out(state).union(cut)

    # --- What the upgrade does --------------------------------------------------------------------------------------

    def _ustop(self, state: State, vm: int, run: str) -> tuple[State, Any]:
        before = state.upgrading[vm]
        if state.serving[vm]:
            self._room(state, {vm}, f"a drain of VM {vm + 1} for the upgrade")
        if not self._holds(state, vm, run):
            return state, None
        self._is_nobodys(state, vm, before)
        word = before if before in OUT else "out"
        return state._replace(serving=_at(state.serving, vm, False), upgrading=_at(state.upgrading, vm, word)), None

    def _is_nobodys(self, state: State, vm: int, before: str) -> None:
        if before in UPGRADED:
            raise BrokenRule(f"once: VM {vm + 1} is {before}, and is drained for the upgrade again")
        hit = [event + 1 for event, status in enumerate(state.events) if status == "approved" and vm in self.case.events[event]]
        if hit:
            raise BrokenRule(f"lease: the upgrade drains VM {vm + 1}, and event {hit[0]} of it is approved")
        if not state.serving[vm] and before not in OUT:
            raise BrokenRule(f"lease: the upgrade drains VM {vm + 1}, which respond has drained")

    def _install(self, state: State, vm: int, run: str) -> tuple[State, Any]:
        if not self._holds(state, vm, run):
            return state, None
        if state.upgrading[vm] in UPGRADED:
            raise BrokenRule(f"once: VM {vm + 1} is {state.upgrading[vm]}, and is upgraded again")
        self._is_out(state, vm, "begin")
        return state._replace(upgrading=_at(state.upgrading, vm, "inside")), None

    def _installed(self, state: State, vm: int, run: str) -> tuple[State, Any]:
        if not self._holds(state, vm, run):
            return state, None
        self._is_out(state, vm, "end")
        return state._replace(upgrading=_at(state.upgrading, vm, "new")), None

    def _is_out(self, state: State, vm: int, what: str) -> None:
        if state.serving[vm] or state.upgrading[vm] not in OUT:
            raise BrokenRule(f"lease: the tasks of the upgrade {what} on VM {vm + 1}, which serves or is {state.upgrading[vm] or 'nobodys'}")

    def _ustart(self, state: State, vm: int, run: str) -> tuple[State, Any]:
        if not self._holds(state, vm, run):
            return state, None
        if state.upgrading[vm] != "marked":
            raise BrokenRule(f"once: VM {vm + 1} is put back by its upgrade, and is {state.upgrading[vm]}")
        for event, status in enumerate(state.events):
            if status == "approved" and vm in self.case.events[event] and not self.case.approves_undrained:
                raise BrokenRule(f"rule 2: VM {vm + 1} was put back by its upgrade while event {event + 1}, approved, needs it drained")
        return state._replace(serving=_at(state.serving, vm, True), upgrading=_at(state.upgrading, vm, "back")), None

    def _replace(self, state: State, vm: int, name: str, content: int) -> tuple[State, Any]:
        """Marks are replaced in one step. What says that it is done must be."""
        mark = json.loads(self.contents.known[content]) if name.startswith("upgrade-") else {}
        if mark and not self._holds(state, vm, mark["run"]):
            return state, None
        if mark.get("state") == "upgraded":
            if state.upgrading[vm] != "new":
                raise BrokenRule(f"once: VM {vm + 1} is marked as upgraded, and is {state.upgrading[vm] or 'not'}")
            state = state._replace(upgrading=_at(state.upgrading, vm, "marked"))
        if mark.get("state") == "done":
            if state.upgrading[vm] not in ("back", "done") or not state.serving[vm]:
                raise BrokenRule(f"once: VM {vm + 1} is marked as done, and is {state.upgrading[vm] or 'not upgraded'}")
            state = state._replace(upgrading=_at(state.upgrading, vm, "done"))
        return super()._replace(state, vm, name, content)

    # --- What respond must not do meanwhile -------------------------------------------------------------------------

    def _stop(self, state: State, vm: int, event: int) -> tuple[State, Any]:
        self._leaves_alone(state, vm, "drained")
        if event >= len(self.case.events):
            raise BrokenRule(f"lease: respond drains VM {vm + 1} for the upgrade")
        return super()._stop(state, vm, event)

    def _start(self, state: State, vm: int, event: int) -> tuple[State, Any]:
        self._leaves_alone(state, vm, "put back")
        state, result = super()._start(state, vm, event)
        word = state.upgrading[vm]
        return state._replace(upgrading=_at(state.upgrading, vm, {"marked": "back", "new": "cut", "inside": "cut", "out": ""}.get(word, word))), result

    def _post(self, state: State, vm: int, events: tuple[int, ...]) -> tuple[State, Any]:
        for event in events:
            if state.events[event] == "scheduled":
                for one in self.case.events[event]:
                    self._leaves_alone(state, one, f"given to event {event + 1}, which was approved,")
        return super()._post(state, vm, events)

    def _leaves_alone(self, state: State, vm: int, what: str) -> None:
        leases = [lease for lease in self._leases(state, vm) if lease.run.startswith(RUN) and lease.limit / 1000 > START + state.clock]
        if state.upgrading[vm] in OUT and (leases or state.clock < YOUNG):
            raise BrokenRule(f"lease: VM {vm + 1} was {what} by respond, and is under an upgrade ({state.upgrading[vm]})")

    def _holds(self, state: State, vm: int, run: str) -> bool:
        """Whether the VM is this run's: no limit has passed yet since anything was leased, or its lease is there."""
        return state.clock < YOUNG or any(lease.run == run for lease in self._leases(state, vm))

    def _leases(self, state: State, vm: int) -> list[LeaseName]:
        return [lease for name, _content in state.files[vm] if (lease := split_lease_name(name)) is not None]
