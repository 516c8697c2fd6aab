# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small model of Azure, some VMs and the roles, to run plans against. Its oracle looks at the VMs, never at records."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.planner import make_plan

START = 1_800_000_000.0
SETTINGS = {"pass_interval": 0, "drain_seconds": 200, "undo_seconds": 30, "retries": 2, "has_health": True, "enabling_seconds": 60}


def copied(value: Any) -> Any:
    """A deep copy of plain data."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


class BrokenRule(AssertionError):
    """A rule of the design was broken."""


@dataclass
class AzureEvent:
    """An event as Azure keeps it."""

    event_id: str
    event_type: str
    resources: list[str]
    not_before: float
    lasts: float
    status: str = "Scheduled"
    approved: bool = False
    starts_at: float | None = None
    ends_at: float | None = None
    cancelled_at: float | None = None
    over: bool = False

    def document(self) -> dict[str, Any]:
        """The event as modules return it."""
        scheduled = self.status == "Scheduled"
        return {
            "event_id": self.event_id,
            "event_type": self.event_type,
            "event_status": self.status,
            "event_source": "Platform",
            "resource_type": "VirtualMachine",
            "resources": list(self.resources),
            "not_before": timestamps.form(self.not_before) if scheduled else None,
            "description": "",
            "duration_in_seconds": -1,
        }


@dataclass
class Machine:
    """A VM with one service."""

    name: str
    boot: int = 1
    booted_at: float = START - 1000.0
    down_until: float = 0.0
    silent_until: float = 0.0
    broken_until: float = 0.0
    stale_until: float = 0.0
    flicker_until: float = 0.0
    whole_at: float = START
    enabled_at: float = START - 100_000.0
    serving: bool = True
    stops_at: float | None = None
    drain_fails_until: float = 0.0
    drain_time: float = 5.0
    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    shown: list[dict[str, Any]] = field(default_factory=list)
    incarnation: int = 1


class Cut(Exception):
    """The controller was killed."""


class World:
    """Everything there is. Time moves only in C(advance)."""

    def __init__(self, seed: int, machines: int, policy: Any = "default", managed: int | None = None, **settings: Any) -> None:
        self.random = random.Random(seed)
        self.now = START
        self.machines = {f"vm{number}": Machine(f"vm{number}") for number in range(1, machines + 1)}
        self.managed = list(self.machines)[: managed or machines]
        self.events: list[AzureEvent] = []
        self.policy = policy
        self.settings = {**SETTINGS, **settings}
        self.reached: set[str] = set()
        self.plan_function: Callable[..., dict[str, Any]] = make_plan
        self.cut_chance = 0.0
        self.log: list[str] = []
        self.approvals = 0
        self.undrained_starts: list[str] = []
        self.drains = 0
        self.taken_beyond: list[str] = []
        """Drains that began at their deadline although the group had no room."""

    # --- Azure -------------------------------------------------------------------------------------------------------

    def create(self, event_type: str, resources: list[str], notice: float, lasts: float = 60.0, status: str = "Scheduled") -> AzureEvent:
        """A new event."""
        event = AzureEvent(f"E{len(self.events) + 1}-{self.random.randrange(10**6)}", event_type, resources, self.now + notice, lasts, status)
        if status == "Started":
            self._start(event)
        self.events.append(event)
        return event

    def _start(self, event: AzureEvent) -> None:
        event.status = "Started"
        self.undrained_starts += [f"{event.event_id} on {name}" for name in event.resources if self.machines[name].serving]
        event.ends_at = self.now + event.lasts
        if event.event_type == "Reboot":
            for name in event.resources:
                self.reboot(self.machines[name], 20.0)

    def reboot(self, machine: Machine, seconds: float) -> None:
        """The VM is away for some time; its service starts with it."""
        machine.down_until = self.now + seconds
        machine.boot += 1
        machine.booted_at = self.now + seconds
        machine.serving = True
        machine.stops_at = None

    def advance(self, seconds: float) -> None:
        """Let time pass, one second after the other at most."""
        end = self.now + seconds
        while self.now < end:
            self.now = min(self.now + 1.0, end)
            for event in self.events:
                self._tick(event)
            for machine in self.machines.values():
                if machine.stops_at is not None and self.now >= machine.stops_at:
                    machine.serving, machine.stops_at = False, None

    def _tick(self, event: AzureEvent) -> None:
        if event.over:
            return
        if event.status == "Scheduled":
            if event.cancelled_at is not None and self.now >= event.cancelled_at:
                event.over = True
            elif self.now >= event.not_before or (event.starts_at is not None and self.now >= event.starts_at):
                self._start(event)
        elif event.ends_at is not None and self.now >= event.ends_at:
            event.over = True

    def approve(self, event_id: str) -> None:
        """What a POST does. The oracle looks at the VMs themselves."""
        event = next(event for event in self.events if event.event_id == event_id)
        if event.over or event.status != "Scheduled":
            return
        self.approvals += 1
        if not set(event.resources) & set(self.managed):
            raise BrokenRule(f"rule 5: {event_id} names none of ours")
        if not set(event.resources) <= set(self.managed):
            raise BrokenRule(f"{event_id} names a VM that nobody manages")
        for name in event.resources:
            machine = self.machines[name]
            if self._away(machine):
                raise BrokenRule(f"rule 3: {event_id} was approved while {name} could not be read")
            if machine.serving:
                raise BrokenRule(f"rule 1: {event_id} was approved while {name} served")
        event.approved = True
        event.starts_at = self.now + self.random.choice((0.0, 5.0, 30.0))

    # --- What is seen ------------------------------------------------------------------------------------------------

    def _away(self, machine: Machine) -> bool:
        return self.now < max(machine.down_until, machine.silent_until, machine.broken_until)

    def observe(self) -> list[dict[str, Any]]:
        """One observation of every VM."""
        found = []
        for name in self.managed:
            machine = self.machines[name]
            one: dict[str, Any] = {"host": name, "methods": ["service"], "reached_before": name in self.reached, "observation": None}
            if self.now < max(machine.down_until, machine.silent_until):
                one.update(state="unreachable", error="no route")
            elif self.now < machine.broken_until:
                one.update(state="failed", error="HTML")
            else:
                one.update(state="ok", observation=self.observation(machine))
                self.reached.add(name)
            found.append(one)
        return found

    def document(self, machine: Machine) -> list[dict[str, Any]]:
        """What its metadata service lists now. Whoever gets it must not change it."""
        if self.now >= machine.stale_until:
            listed = [event.document() for event in self.events if not event.over]
            if self.now - machine.enabled_at < 50.0 or self.now < machine.flicker_until:
                listed = []
            if self.now >= machine.flicker_until:
                machine.whole_at = self.now
            if listed != machine.shown:
                machine.incarnation += 1
            machine.shown = listed
        return machine.shown

    def observation(self, machine: Machine) -> dict[str, Any]:
        """The result of maintenance_info."""
        self.document(machine)
        return {
            "vm_name": machine.name,
            "document_incarnation": machine.incarnation,
            "events": copied(machine.shown),
            "identity": {"name": machine.name, "resource_group": "rg", "subscription_id": "s", "vm_id": machine.name},
            "boot_id": f"{machine.name}-{machine.boot}",
            "now": timestamps.form(self.now),
            "enabled_at": timestamps.form(machine.enabled_at),
            "in_service": machine.serving,
            "records": copied(list(machine.records.values())),
            "uptime_seconds": self.now - machine.booted_at,
        }

    # --- The roles ---------------------------------------------------------------------------------------------------

    def run_pass(self) -> dict[str, Any]:
        """Look, plan, act."""
        plan = self.plan_function(self.observe(), policy=self.policy, settings=self.settings, now=timestamps.form(self.now))
        try:
            for step in plan["actions"]:
                if self._away(self.machines[step["host"]]):
                    raise BrokenRule(f"a step for {step['host']}, which was not read")
                getattr(self, "_act_" + step["action"])(self.machines[step["host"]], step)
        except Cut:
            self.log.append(f"{self.now - START:.0f} cut")
        return plan

    def maybe_cut(self) -> None:
        """Kill the controller here, sometimes."""
        if self.random.random() < self.cut_chance:
            raise Cut

    def write(self, machine: Machine, event_id: str, changes: dict[str, Any], stamp: tuple[str, ...] = (), event: Any = None) -> dict[str, Any]:
        """What maintenance_record does."""
        self.maybe_cut()
        key = event_id.lower()
        new = key not in machine.records
        record = machine.records.setdefault(
            key,
            {"format": 1, "revision": 0, "event": {"event_id": event_id, "resources": []}, "phase": "noticed", "history": []}
            | {"methods": [], "told": [], "outcome": None, "boot_id": None, "rule": None, "vm_id": machine.name},
        )
        if event:
            record["event"].update({key: value for key, value in event.items() if key != "raw"})
        phase = changes.get("phase", record["phase"])
        if new or phase != record["phase"]:
            record["history"].append({"phase": phase, "at": timestamps.form(self.now)})
            self.log.append(f"{self.now - START:.0f} {machine.name} {event_id} {phase} {changes.get('reason') or ''}")
        record.update(changes, told=list(dict.fromkeys([*record["told"], *changes.get("told", ())])))
        record.update({name: timestamps.form(self.now) for name in stamp})
        record["revision"] += 1
        self.maybe_cut()
        return record

    def _act_write(self, machine: Machine, step: dict[str, Any]) -> None:
        present = machine.records.get(step["event_id"].lower())
        if step.get("expected_revision") is not None and present and present["revision"] != step["expected_revision"]:
            return
        self.write(machine, step["event_id"], step["changes"], tuple(step["stamp"]), step["event"])

    def _act_notify(self, machine: Machine, step: dict[str, Any]) -> None:
        self.write(machine, step["event_id"], step["changes"])

    def _act_prune(self, machine: Machine, step: dict[str, Any]) -> None:
        machine.records = {key: record for key, record in machine.records.items() if record["phase"] != "recovered"}

    def _act_approve(self, machine: Machine, step: dict[str, Any]) -> None:
        listed = {event["event_id"]: event for event in machine.shown}
        for event_id in step["event_ids"]:
            if event_id in listed and set(listed[event_id]["resources"]) <= set(step["approve_for"]):
                self.maybe_cut()
                self.approve(event_id)
                self.write(machine, event_id, {"phase": "approved"}, ("approved_at",))

    def _act_drain(self, machine: Machine, step: dict[str, Any]) -> None:
        event_id = step["event_id"]
        self.drains += 1
        boot = f"{machine.name}-{machine.boot}"
        present = machine.records.get(event_id.lower(), {})
        method = (present.get("methods") or [None])[0]
        late = present.get("phase") not in ("approved", "started") and self.now > (timestamps.parse(step["deadline"]) or 0.0)
        lost = method is not None and machine.serving and machine.stops_at is None
        if method is None or method["state"] in ("undone", "failed") or lost:
            self._check_room(machine, event_id)
            again = method is None or method["state"] == "undone"
            before = {"serving": machine.serving and machine.stops_at is None} if again else method["before"]
            changes = {"phase": "draining", "rule": step["rule"], "verified_at": None, "boot_id": boot, "undone": False}
            method = {"id": "1-service", "method": "service", "state": "found", "before": before}
            self.write(machine, event_id, {**changes, "methods": [method]}, event=step["event"])
            if machine.serving and machine.stops_at is None and self.now >= machine.drain_fails_until:
                machine.stops_at = self.now + machine.drain_time
                if machine.drain_time == 0:
                    machine.serving, machine.stops_at = False, None
            self.maybe_cut()
        failed = self.now < machine.drain_fails_until and machine.serving
        state = "failed" if failed or late else "drained" if not machine.serving else "begun"
        phase = {"failed": "failed", "drained": "drained", "begun": "draining"}[state]
        stamp = ("verified_at",) if state == "drained" else ()
        changes = {"phase": phase, "boot_id": boot, "methods": [{**method, "state": state}]}
        if state == "failed":
            changes["reason"] = "it does not stop"
        self.write(machine, event_id, changes, stamp)

    def _check_room(self, machine: Machine, event_id: str) -> None:
        """Rule 4, by the machines themselves: who is away, stopped or stopping is out, and who is hit right now."""
        hit = any(one["event_status"] == "Started" and machine.name in one["resources"] for other in self.machines.values() for one in other.shown)
        if hit or not machine.serving or machine.stops_at is not None:
            return
        event = next(event for event in self.events if event.event_id == event_id)
        for group in self.settings.get("capacity", ()):
            members = [self.machines[name] for name in group["members"]]
            out = [one.name for one in members if one is machine or not one.serving or one.stops_at is not None or self._away(one)]
            if machine not in members or len(out) <= group["max_unavailable"]:
                continue
            # What is approved was drained, and is drained again after a boot.
            if event.status != "Scheduled" or event.approved:
                continue
            if event.not_before - self.now > self.settings["drain_seconds"] + 30 + 0.001:
                raise BrokenRule(f"rule 4: {', '.join(out)} are out for {event_id}\n" + "\n".join(self.log))
            self.taken_beyond.append(f"{event_id} on {machine.name}")

    def _shows_now(self, machine: Machine) -> bool:
        """Whether its document was up to date when it was observed."""
        return self.now >= machine.stale_until

    def _undo(self, machine: Machine, step: dict[str, Any], phase: dict[str, Any]) -> None:
        record = machine.records[step["event_id"].lower()]
        for event in self.events:
            # Whoever approved it relies on the VM being out; nothing may be put back before the event is over.
            if event.approved and not event.over and machine.name in event.resources and self._shows_now(machine):
                raise BrokenRule(f"rule 2: {machine.name} put back for {step['event_id']} while {event.event_id} needs it")
        for method in record["methods"]:
            if method["state"] != "undone":
                # Exactly as it was found, which is why the order matters.
                machine.serving, machine.stops_at = method["before"]["serving"], None
                self.maybe_cut()
                self.write(machine, step["event_id"], {"methods": [{**method, "state": "undone"}], "undone": True, **phase})

    def _act_undo(self, machine: Machine, step: dict[str, Any]) -> None:
        self._undo(machine, step, {})

    def _act_recover(self, machine: Machine, step: dict[str, Any]) -> None:
        for event in self.events:
            if event.event_id == step["event_id"] and not event.over and self._shows_now(machine):
                raise BrokenRule(f"recovered {machine.name} while {event.event_id} goes on")
        self._undo(machine, step, {"phase": "recovering"})

    # --- The end -----------------------------------------------------------------------------------------------------

    def settle(self, limit: int = 400) -> None:
        """No more faults, nobody is killed: passes until the plan says that it is done."""
        self.cut_chance = 0.0
        for machine in self.machines.values():
            machine.drain_fails_until = min(machine.drain_fails_until, self.now)
        idle = 0
        for _iteration in range(limit):
            plan = self.run_pass()
            if plan["done"] and all(event.over for event in self.events):
                break
            # Where only time helps, it passes faster and faster: a schedule may be as slow as that.
            idle = 0 if plan["actions"] else idle + 1
            self.advance(min(max(plan["requeue"]["seconds"], 1.0) * 2.0**idle, 30.0))
        else:
            raise BrokenRule("never done:\n" + "\n".join(self.log))
        for name in self.managed:
            machine = self.machines[name]
            if not machine.serving:
                raise BrokenRule(f"{name} was left drained:\n" + "\n".join(self.log))
            for record in machine.records.values():
                if record["phase"] != "recovered":
                    raise BrokenRule(f"{name} has a record in {record['phase']}:\n" + "\n".join(self.log))
