# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A fleet with several controllers, for histories: each looks, plans, and takes its steps one by one, and may be slow or killed.

What Azure, the VMs and the roles do is C(World), as in the unit tests of the plan. Here leases are added, and what an oracle may
ask of a controller that was slow: it answers for what it knew, and for what its leases keep others from.
"""

from __future__ import annotations

from typing import Any

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_schema import event_digest
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.tests.model.acts import ORDER
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.world import (
    START,
    AzureEvent,
    BrokenRule,
    Cut,
    Machine,
    World,
    copied,
)


class ClaimLost(Exception):
    """The controller's lease is gone."""


class Controller:
    """One run: what it manages, and what it remembers from turn to turn."""

    def __init__(self, run: str, managed: list[str], settings: dict[str, Any]) -> None:
        self.run = run
        self.managed = managed
        self.settings = {**settings, "run": {"id": run, "who": "a history", "kind": "events"}}
        self.acknowledged: dict[str, set[str]] = {}
        self.failed: dict[str, set[str]] = {}
        self.reached: set[str] = set()
        self.steps: list[dict[str, Any]] = []
        self.looked = 0.0
        self.read: set[str] = set()
        self.wait = 1.0
        self.done = False


class Fleet(World):
    """Some VMs and the controllers that are at work on them."""

    def __init__(self, seed: int, machines: int, **more: Any) -> None:
        self.started: dict[str, float] = {}
        super().__init__(seed, machines, **more)
        self.settings.update(notify=False)
        self.leases: dict[str, dict[tuple[str, str], float]] = {name: {} for name in self.machines}
        self.disturbed: dict[str, float] = dict.fromkeys(self.machines, 0.0)
        # When a VM was drained at its event's deadline, past all leases: as little to be foreseen as a boot.
        self.taken_at: dict[str, float] = dict.fromkeys(self.machines, 0.0)
        # Events whose record was on a disk that is gone: that they were approved is written nowhere else.
        self.forgotten: set[str] = set()
        self.present: Controller | None = None
        self.runs = 0
        self.lost_leases = 0

    def controller(self, managed: list[str] | None = None, **more: Any) -> Controller:
        """A new run."""
        self.runs += 1
        return Controller(f"run{self.runs:04}", managed or self.managed, {**self.settings, **more})

    # --- Looks ------------------------------------------------------------------------------------------------------

    def observation(self, machine: Machine) -> dict[str, Any]:
        """With the leases, which are on the VM too."""
        leases = [
            {
                "name": f"{run} {event} {limit}",
                "run": run,
                "digest": event_digest(event),
                "event_id": event,
                "kind": "events",
                "who": "",
                "groups": {},
                "limit": timestamps.form(limit),
                "expired": limit < self.now,
            }
            for (run, event), limit in self.leases[machine.name].items()
        ]
        machine.records, records = {}, machine.records
        found = super().observation(machine)
        machine.records = records
        return {**found, "leases": leases, "records": copied(list(records.values()))}

    def plan(self, controller: Controller) -> dict[str, Any]:
        """Observe all VMs and decide. The steps are taken later, one by one."""
        found = []
        controller.read = set()
        for name in controller.managed:
            machine = self.machines[name]
            one: dict[str, Any] = {"host": name, "methods": ["service"], "reached_before": name in controller.reached, "observation": None}
            if self.now < max(machine.down_until, machine.silent_until):
                one.update(state="unreachable", error="no route")
            elif self.now < machine.broken_until:
                one.update(state="failed", error="HTML")
            else:
                one.update(state="ok", observation=self.observation(machine))
                controller.reached.add(name)
                controller.read.add(name)
            one["acknowledged"] = sorted(controller.acknowledged.get(name, ()))
            one["could_not_approve"] = sorted(controller.failed.get(name, ()))
            found.append(one)
        plan = self.plan_function(found, policy=self.policy, settings=controller.settings, now=timestamps.form(self.now))
        controller.steps = sorted(plan["actions"], key=lambda step: ORDER.get(step["action"], 9))
        controller.looked, controller.wait, controller.done = self.now, plan["requeue"]["seconds"], plan["done"]
        return plan

    # --- Steps ------------------------------------------------------------------------------------------------------

    def take(self, controller: Controller) -> None:
        """The next step of a plan that may be old by now."""
        step = controller.steps.pop(0)
        machine = self.machines[step["host"]]
        if machine.name not in controller.read:
            raise BrokenRule(f"a step for {machine.name}, which was not read")
        if self._away(machine):
            return
        self.present = controller
        try:
            getattr(self, "_act_" + step["action"])(machine, step)
        except ClaimLost:
            self.lost_leases += 1
            if step["action"] == "approve":
                controller.failed.setdefault(machine.name, set()).add(step["event_id"].lower())
        finally:
            self.present = None

    def iteration(self, controller: Controller) -> bool:
        """A whole turn at once. Returns whether there was anything to do."""
        self.plan(controller)
        acted = bool(controller.steps)
        while controller.steps:
            self.take(controller)
        return acted

    def _under(self, machine: Machine, step: dict[str, Any]) -> None:
        """Go on only under the lease, which has all of its time again."""
        lease = step.get("lease")
        if lease is None:
            return
        key = (lease["run"], step["event_id"].lower())
        if key not in self.leases[machine.name]:
            raise ClaimLost
        self.leases[machine.name][key] = self.now + lease["seconds"]

    def _act_acquire(self, machine: Machine, step: dict[str, Any]) -> None:
        self._act_expired(machine, step)
        self.maybe_cut()
        leases = self.leases[machine.name]
        leases[(step["lease"]["run"], step["event_id"].lower())] = self.now + step["lease"]["seconds"]
        if self.present is not None:
            self.present.acknowledged.setdefault(machine.name, set()).add(step["event_id"].lower())

    def _act_expired(self, machine: Machine, step: dict[str, Any]) -> None:
        leases = self.leases[machine.name]
        for (run, event), limit in list(leases.items()):
            if f"{run} {event} {limit}" in step.get("expired", ()) and limit < self.now:
                del leases[(run, event)]

    def _act_release(self, machine: Machine, step: dict[str, Any]) -> None:
        self._act_expired(machine, step)
        self.leases[machine.name].pop((step["lease"]["run"], step["event_id"].lower()), None)

    def _act_write(self, machine: Machine, step: dict[str, Any]) -> None:
        present = machine.records.get(step["event_id"].lower())
        revision = present["revision"] if present and present["vm_id"] == machine.name else 0
        if step.get("expected_revision") is not None and revision != step["expected_revision"]:
            return
        self._under(machine, step)
        super()._act_write(machine, {**step, "expected_revision": None})

    def _act_drain(self, machine: Machine, step: dict[str, Any]) -> None:
        self._under(machine, step)
        present = machine.records.get(step["event_id"].lower())
        if present is not None and present["vm_id"] != machine.name:
            del machine.records[step["event_id"].lower()]
        super()._act_drain(machine, step)

    def _act_undo(self, machine: Machine, step: dict[str, Any]) -> None:
        self._under(machine, step)
        if step["event_id"].lower() in machine.records:
            super()._act_undo(machine, step)

    def _act_recover(self, machine: Machine, step: dict[str, Any]) -> None:
        self._under(machine, step)
        if step["event_id"].lower() in machine.records:
            super()._act_recover(machine, step)

    def _act_approve(self, machine: Machine, step: dict[str, Any]) -> None:
        for event_id in step["event_ids"]:
            self._under(machine, {**step, "event_id": event_id})
            self.write(machine, event_id, {}, ("approving_at",))
        super()._act_approve(machine, step)

    def write(self, machine: Machine, event_id: str, changes: dict[str, Any], stamp: tuple[str, ...] = (), event: Any = None) -> dict[str, Any]:
        """What maintenance_record does: a record of another VM is set aside first."""
        present = machine.records.get(event_id.lower())
        if present is not None and present["vm_id"] != machine.name:
            del machine.records[event_id.lower()]
        return super().write(machine, event_id, changes, stamp, event)

    # --- What nobody of us does -------------------------------------------------------------------------------------

    def reboot(self, machine: Machine, seconds: float) -> None:
        """A boot that nobody planned cannot be foreseen by who is in the middle of an iteration."""
        super().reboot(machine, seconds)
        self.disturbed[machine.name] = self.now

    def lose_records(self, machine: Machine) -> None:
        """The VM was put on new hardware with a new disk: nothing is known of before, and it serves."""
        self.forgotten.update(machine.records)
        machine.records.clear()
        self.leases[machine.name].clear()
        machine.enabled_at = self.now
        self.reboot(machine, 10.0)

    def foreign_record(self, machine: Machine, event_id: str) -> None:
        """The VM was made from an image of another that was drained: its record came along."""
        record = {
            "format": 1,
            "revision": 4,
            "event": {"event_id": event_id, "event_type": "Reboot", "event_status": "Scheduled", "resources": ["another"]},
            "phase": "drained",
            "history": [{"phase": "drained", "at": timestamps.form(START)}],
            "methods": [{"id": "1-service", "method": "service", "state": "drained", "before": {"serving": False}, "boot_id": "x"}],
            "told": [],
            "outcome": None,
            "boot_id": "x",
            "rule": None,
            "vm_id": "another",
        }
        machine.records.setdefault(event_id.lower(), record)

    # --- The oracle -------------------------------------------------------------------------------------------------

    def approve(self, event_id: str) -> None:
        """The rules for an approval, by the VMs themselves at this moment."""
        event = next(event for event in self.events if event.event_id == event_id)
        controller = self.present
        if event.over or event.status != "Scheduled" or event.approved or controller is None:
            return
        self.approvals += 1
        managed = set(controller.managed)
        if not set(event.resources) <= managed:
            raise BrokenRule(f"rule 5: {event_id} names a VM that {controller.run} does not manage")
        for name in event.resources:
            machine = self.machines[name]
            if name not in controller.read:
                raise BrokenRule(f"rule 3: {event_id} was approved though {name} could not be read")
            if max(self.disturbed[name], machine.silent_until, machine.broken_until) >= controller.looked:
                continue  # it went away, or was booted, after the observation; nothing can see that
            if self._away(machine):
                raise BrokenRule(f"rule 3: {event_id} was approved while {name} could not be read")
            if machine.serving and self.policy == "default":
                raise BrokenRule(f"rule 1: {event_id} was approved while {name} served")
        if self.policy != "default":
            self._check_group(event, set(event.resources), f"the approval of {event_id}")
        event.approved = True
        event.starts_at = self.now + self.random.choice((0.0, 5.0, 30.0))

    def _start(self, event: AzureEvent) -> None:
        super()._start(event)
        self.started[event.event_id] = self.now

    def _check_room(self, machine: Machine, event_id: str) -> None:
        methods = machine.records.get(event_id.lower(), {}).get("methods") or [{"state": None}]
        if methods[0]["state"] in ("begun", "drained"):
            return  # a boot has put back what was drained: it goes on, and does not begin
        if machine.serving and machine.stops_at is None:
            event = next(event for event in self.events if event.event_id == event_id)
            self._check_group(event, {machine.name}, f"a drain of {machine.name} for {event_id}")

    def _check_group(self, event: AzureEvent, more: set[str], what: str) -> None:
        """Rule 4: whoever is stopped, stopping, or about to be hit is out, and so is who was away when this controller looked."""
        if event.approved or event.status != "Scheduled":
            return  # it comes in any case
        # What started by itself, and need not be drained by the policy, is hardly out.
        looked = self.present.looked if self.present else self.now
        begun = [one for one in self.events if self.policy == "default" and self.started.get(one.event_id, looked) < looked]
        counts = [one for one in self.events if not one.over and (one in begun or (one.approved and not self._is_forgotten(one)))]
        hit = {name for one in counts for name in one.resources if one not in begun or one.approved or not self._was_out_of_date(name, one, looked)}
        at_deadline = event.not_before - self.now <= self.settings["drain_seconds"] + 30 + 1
        if at_deadline:
            self.taken_at.update(dict.fromkeys(more, self.now))
        for group in self.settings.get("capacity", ()):
            members = set(group["members"])
            out = {name for name in members if name in hit or self._is_out(self.machines[name], looked)}
            if not more & members or more <= out or len(out | more & members) <= group["max_unavailable"]:
                continue
            if at_deadline:
                self.taken_beyond.append(what)
                continue
            raise BrokenRule(f"rule 4: {what} puts {', '.join(sorted(out | more))} out\n" + "\n".join(self.log))

    def _was_out_of_date(self, name: str, event: AzureEvent, looked: float) -> bool:
        """Return whether the VM's own document did not have the event yet when the controller looked: only others list it, and they speak for themselves."""
        machine = self.machines.get(name)
        return machine is not None and machine.stale_until >= looked and event.event_id not in {one["event_id"] for one in machine.shown}

    def _is_forgotten(self, event: AzureEvent) -> bool:
        name = event.event_id.lower()
        return name in self.forgotten and not any(name in machine.records for machine in self.machines.values())

    def _is_out(self, machine: Machine, looked: float) -> bool:
        if machine.serving and machine.stops_at is None:
            return False
        return self.disturbed[machine.name] <= looked and self.taken_at[machine.name] < looked

    def _shows_now(self, machine: Machine) -> bool:
        looked = self.present.looked if self.present else self.now
        return looked >= machine.stale_until

    # --- The end ----------------------------------------------------------------------------------------------------

    def settle(self, limit: int = 400) -> None:
        """No more faults: one controller that manages everything goes on alone, and everything is put back."""
        self.cut_chance = 0.0
        controller = self.controller()
        for machine in self.machines.values():
            machine.drain_fails_until = min(machine.drain_fails_until, self.now)
        idle = 0
        for _iteration in range(limit):
            acted = self.iteration(controller)
            if controller.done and all(event.over for event in self.events) and not any(map(self._away, self.machines.values())):
                break
            # Where only time helps, it passes faster and faster: a schedule may be as slow as that.
            idle = 0 if acted else idle + 1
            self.advance(min(max(controller.wait, 1.0) * 2.0**idle, 60.0))
        else:
            raise BrokenRule("never done:\n" + "\n".join(self.log))
        for name in self.managed:
            machine = self.machines[name]
            if not machine.serving:
                raise BrokenRule(f"{name} was left drained:\n" + "\n".join(self.log))
            left = [record["phase"] for record in machine.records.values() if record["vm_id"] == name and record["phase"] != "recovered"]
            if left:
                raise BrokenRule(f"{name} has a record in {left[0]}:\n" + "\n".join(self.log))


__all__ = ["BrokenRule", "Controller", "Cut", "Fleet"]
