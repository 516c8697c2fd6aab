# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A fleet whose VMs have watchers: each second every watcher takes one step, between the steps of the controllers.

What a watcher decides is the collection's own decision; what it does stands here, as the controllers' acts do. The oracle: from the moment at which a
watcher has drained a VM for a Preempt until that event is over, nobody puts the VM back; it drains in time; and never for what is over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import UNSEEN
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.drain import decision
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.drain.decision import Situation
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.drain.rules import Rule
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.tests.model.history_fleet import BrokenRule, Fleet
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.world import AzureEvent, Cut, Machine, World

RULE = Rule("everything else", True, "after_drain", None)
LEASE_SECONDS = 30.0
# To notice, acquire, pass, drain and see that it is drained, with a kill and ten seconds until it is named again.
IN_TIME = 25.0
KILLED_PAUSE = 10.0


@dataclass
class Watcher:
    """The draining unit of one VM: for which event it runs, and how far it is."""

    event_id: str = ""
    stage: str = "idle"
    run: str = ""
    wakes_at: float = 0.0


class WatchedFleet(Fleet):
    """A fleet with a watcher on each VM."""

    passes_leases = True

    def __init__(self, seed: int, machines: int, **more: Any) -> None:
        super().__init__(seed, machines, **more)
        self.watchers = {name: Watcher() for name in self.machines}
        self.starts = 0
        self.listed_at: dict[str, float] = {}
        self.watched_drains = 0
        self.kill_chance = 0.0
        # Since when nothing has kept the VM's watcher from its work.
        self.able_since: dict[str, float] = dict.fromkeys(self.machines, 0.0)
        self.drained_by_watcher: dict[str, set[str]] = {name: set() for name in self.machines}

    def advance(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            super().advance(min(1.0, end - self.now))
            for machine in self.machines.values():
                self._watch(machine)

    def create(self, *given: Any, **more: Any) -> AzureEvent:
        event = super().create(*given, **more)
        self.listed_at[event.event_id] = self.now
        return event

    # --- The watcher ------------------------------------------------------------------------------------------------

    def _watch(self, machine: Machine) -> None:
        """One step of a watcher. It is on the VM: whether controllers reach that does not matter to it."""
        watcher = self.watchers[machine.name]
        blind = self.now < max(machine.down_until, machine.broken_until, machine.stale_until, machine.flicker_until, machine.enabled_at + 50.0)
        if blind or self.now < machine.drain_fails_until:
            self.able_since[machine.name] = self.now
        if self.now < max(machine.down_until, machine.broken_until, watcher.wakes_at):
            if self.now < machine.down_until:
                self.watchers[machine.name] = Watcher()
            return
        if self.random.random() < self.kill_chance:
            self.watchers[machine.name] = Watcher(wakes_at=self.now + KILLED_PAUSE)
            self.able_since[machine.name] = self.now
            return
        getattr(self, "_stage_" + watcher.stage)(machine, watcher)

    def _stage_idle(self, machine: Machine, watcher: Watcher) -> None:
        for event in self.document(machine):
            if event["event_type"] == "Preempt" and machine.name in event["resources"] and self._decides(machine, event):
                self.starts += 1
                self._remove_dead(machine)
                self.watchers[machine.name] = Watcher(event["event_id"], "leased", f"watcher{self.starts}")
                self.leases[machine.name][(f"watcher{self.starts}", event["event_id"].lower())] = self.now + LEASE_SECONDS
                return

    def _decides(self, machine: Machine, event: dict[str, Any]) -> bool:
        record = machine.records.get(event["event_id"].lower())
        record = record if record and record["vm_id"] == machine.name else None
        seen = {"decision": None, "attempts": 0, **record} if record else None
        if seen is not None:
            seen["methods"] = [{**method, "boot_id": seen["boot_id"]} for method in seen["methods"]]
        found = decision.decide(Situation(event, seen, RULE, ["1-service"], f"{machine.name}-{machine.boot}", timestamps.form(self.now), None))
        return found.action == decision.DRAIN

    def _remove_dead(self, machine: Machine) -> None:
        for run, event_id in list(self.leases[machine.name]):
            if run.startswith("watcher"):
                del self.leases[machine.name][(run, event_id)]

    def _stage_leased(self, machine: Machine, watcher: Watcher) -> None:
        own = (watcher.run, watcher.event_id.lower())
        if self.passes_leases:
            self.leases[machine.name] = {key: limit for key, limit in self.leases[machine.name].items() if key == own}
        watcher.stage = "draining"

    def _stage_draining(self, machine: Machine, watcher: Watcher) -> None:
        own = (watcher.run, watcher.event_id.lower())
        if own not in self.leases[machine.name]:
            self.watchers[machine.name] = Watcher(wakes_at=self.now + KILLED_PAUSE)
            return
        self.leases[machine.name][own] = self.now + LEASE_SECONDS
        event = next(event for event in self.events if event.event_id == watcher.event_id)
        self._check_not_over(machine, event)
        present = machine.records.get(event.event_id.lower())
        own_records = [record for record in machine.records.values() if record["vm_id"] == machine.name]
        rule = decision.rule_of_record(RULE, present if present in own_records else None, own_records)
        step = {"event_id": event.event_id, "event": event.document(), "rule": rule, "deadline": timestamps.form(self.now + 1.0)}
        if present is not None and present["vm_id"] != machine.name:
            del machine.records[event.event_id.lower()]
        chance, self.cut_chance = self.cut_chance, 0.0
        try:
            if event.event_id.lower() not in machine.records:
                self.write(machine, event.event_id, {"phase": "noticed", "watcher": UNSEEN}, event=event.document())
            World._act_drain(self, machine, step)
        except Cut:
            raise AssertionError("nobody kills a watcher here") from None
        finally:
            self.cut_chance = chance
        if machine.records[event.event_id.lower()]["phase"] in ("drained", "failed"):
            if not machine.serving:
                self.watched_drains += 1
                self.drained_by_watcher[machine.name].add(event.event_id)
            self.leases[machine.name].pop(own, None)
            self.watchers[machine.name] = Watcher(wakes_at=self.now + KILLED_PAUSE)

    # --- The oracle -------------------------------------------------------------------------------------------------

    def _check_not_over(self, machine: Machine, event: AzureEvent) -> None:
        record = machine.records.get(event.event_id.lower())
        if record is not None and record["vm_id"] == machine.name and record["phase"] in ("recovering", "recovered"):
            raise BrokenRule(f"the watcher of {machine.name} drains for {event.event_id}, which is over for it\n" + "\n".join(self.log))

    def _start(self, event: AzureEvent) -> None:
        if event.event_type == "Preempt":
            for name in event.resources:
                self._check_in_time(self.machines[name], event)
        super()._start(event)
        if event.event_type == "Preempt":
            # Evicted, and allocated again later.
            for name in event.resources:
                self.reboot(self.machines[name], 20.0)

    def _check_in_time(self, machine: Machine, event: AzureEvent) -> None:
        """At the impact the VM is out of service, unless something kept its watcher from its work."""
        able = self.now - max(self.able_since[machine.name], self.listed_at[event.event_id]) >= IN_TIME
        quick = machine.drain_time <= 3.0 and event.status == "Scheduled" and not event.approved
        if able and quick and machine.serving and self.now >= machine.down_until:
            raise BrokenRule(f"{machine.name} served when {event.event_id} took it\n" + "\n".join(self.log))


__all__ = ["WatchedFleet"]
