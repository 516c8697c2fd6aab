# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Passes that meet, in one process: the real loop, planner and actions over real folders of records; only the clock and the order are made."""

from __future__ import annotations

import heapq
import pathlib
import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.access import HostAccess
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_changes import RecordChange
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import RecordStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_store import LeaseStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.maintenance_act import Acting, act_arguments
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import pass_loop
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop.observations import HostResults
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import Vm
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import FakeHost
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._loop.passes import request
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._loop.registers import KEPT
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import NOW, SETTINGS, vm

NONE = {"method": "none"}


class Done(NamedTuple):
    """What a run did on a VM, for which event, and when."""

    run: str
    act: str
    vm: str
    event_id: str
    at: float


class Site:
    """VMs with folders of their own, one clock, and what was done to each VM in order."""

    def __init__(self, folder: pathlib.Path, names: Sequence[str], events: Sequence[dict[str, Any]], **settings: Any) -> None:
        self.names, self.events, self.settings = list(names), list(events), settings
        self.vms = {name: Vm(folder / name) for name in names}
        self.host = FakeHost("boot-1")
        for one in self.vms.values():
            one.host = self.host
        self.now = NOW
        self.done: list[Done] = []
        """Drains and approvals."""
        self.lies: dict[str, list[dict[str, Any]]] = {}
        """Leases that a VM makes up."""

    def at(self, now: float) -> None:
        """Set the clocks."""
        self.now = now
        self.host.seconds = now

    def observe(self, name: str) -> dict[str, Any]:
        """Return a good observation of a VM."""
        files, host = self.vms[name].files, self.vms[name].host
        leases = [*LeaseStore(files, host).read_all().leases, *self.lies.get(name, [])]
        records = RecordStore(files, host).read_all(None).records
        listed = [one for one in self.events if name in one["resources"] or one.get("everywhere")]
        return {**vm(name, listed, records, leases=leases, boot_id="boot-1", now=timestamps.form(self.now))["observation"], "changed": False}

    def act(self, run: str, name: str, actions: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Take the actions of a VM as maintenance_act does, but for what only Azure answers."""
        one = self.vms[name]
        options = {key: about.get("default") for key, about in act_arguments().items()}
        options.update(records_path=one.files.where, boot_id=one.boot, identity={"vm_id": None, "vm_name": name})
        access = HostAccess(False, print, files=lambda path: one.files, host=lambda boot_id: one.host, machine=lambda now: one.machine)
        acting, results = Acting(options, access), []
        for action in actions:
            if action["action"] == "approve":
                for event_id in action["event_ids"]:
                    acting._note(event_id, action, RecordChange(changes={"phase": "approved"}, stamp=("approving_at", "approved_at")))
                results.append({"action": "approve", "approved": action["event_ids"]})
            else:
                results.append(acting.take(action))
            if action["action"] in ("drain", "approve") and not results[-1].get("failed"):
                self.done.append(Done(run, action["action"], name, str(action["event_id"]), self.now))
        return {"asked": [{key: action.get(key) for key in KEPT} for action in actions], "results": results}

    def leases(self) -> list[str]:
        """Return the runs that still have leases."""
        return [lease["run"] for one in self.vms.values() for lease in LeaseStore(one.files, one.host).read_all().leases]


class Running:
    """One run: what its hosts have registered, and the seconds that each of its steps takes."""

    def __init__(self, site: Site, run: str, dice: random.Random, **more: Any) -> None:
        self.site, self.run, self.dice = site, run, dice
        self.state: Any = None
        chosen = {
            **SETTINGS,
            "notify": False,
            "enabling_seconds": 0,
            "run": {"id": run, "who": run, "kind": "events"},
            **site.settings,
            **more.pop("settings", {}),
        }
        self.request = request(**{"wait": False, "settings": chosen, **more})
        self.observed: dict[str, Any] = {}
        self.acted: dict[str, Any] = {}

    def _results(self, host: str) -> HostResults:
        return HostResults(self.observed.get(host), self.acted.get(host), {}, {})

    def observe(self, name: str) -> dict[str, Any]:
        """Observe a VM."""
        return self.site.observe(name)

    def _step(self) -> float:
        return self.dice.uniform(0.1, 0.6)

    def __iter__(self) -> Iterator[float]:
        """Go on to the end of the pass; each value is a number of seconds that pass."""
        given = {name: {"drain_methods": [NONE]} for name in self.site.names}
        for name in self.site.names:
            self.observed[name] = self.observe(name)
            yield self._step()
        self.state = pass_loop.begin(self.request, self.site.names, self.site.names, given, self._results, self.site.now)
        while self.state["do"] != "end":
            yield from self._iteration()
            self.state = pass_loop.go_on(self.state, self._results, self.site.now)

    def _check_rule_3(self) -> None:
        """No run begins while it observes a live lease of another on the VM."""
        live = {lease["host"] for lease in self.state["plan"]["leases"] if not lease["ours"] and not lease["expired"]}
        begun = {name for name, actions in self.state["actions"].items() for one in actions if one["action"] in ("drain", "approve")}
        assert not live & begun, f"{self.run} acts on {live & begun}, which another run has leased"

    def _iteration(self) -> Iterator[float]:
        state, apart = self.state, {}
        self.acted = {}
        self._check_rule_3()
        if state["do"] in pass_loop.WAITS:
            yield state["pause"]
        if state["do"] == "release":
            for name in state["contact"]:
                LeaseStore(self.site.vms[name].files, self.site.vms[name].host).withdraw(self.run)
            return
        names = self.dice.sample(sorted({*state["contact"], *state["actions"]}), len({*state["contact"], *state["actions"]}))
        for name in names if state["do"] == "acquire" else ():
            if state["actions"].get(name):
                self.acted[name] = self.site.act(self.run, name, state["actions"][name])
                yield self._step()
        for name in names:
            apart = {} if state["do"] == "acquire" or not state["actions"].get(name) else self.site.act(self.run, name, state["actions"][name])
            self.observed[name] = {**self.observe(name), **apart}
            yield self._step()


def play(site: Site, runs: Sequence[Running], within: float = 1.0) -> None:
    """Play runs that start within so many seconds to their ends, or for an hour."""
    dice, began = runs[0].dice, site.now
    due = [(began + dice.uniform(0, within), place, iter(run)) for place, run in enumerate(runs)]
    heapq.heapify(due)
    while due and due[0][0] < began + 3600:
        moment, place, steps = heapq.heappop(due)
        site.at(moment)
        seconds = next(steps, None)
        if seconds is not None:
            heapq.heappush(due, (moment + seconds, place, steps))
