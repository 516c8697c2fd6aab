# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Short ways to write observations and to read plans. Times are seconds from NOW."""

from __future__ import annotations

from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.planner import make_plan

NOW = 1_800_000_000.0
SETTINGS = {"pass_interval": 0, "drain_seconds": 200, "undo_seconds": 30}


def at(seconds: float) -> str:
    """A time."""
    return timestamps.form(NOW + seconds)


def event(event_id: str = "E1", resources: tuple[str, ...] = ("vm1",), status: str = "Scheduled", due: float | None = 900, **more: Any) -> dict[str, Any]:
    """An event as a module returns it."""
    found = {
        "event_id": event_id,
        "event_type": "Reboot",
        "event_status": status,
        "event_source": "Platform",
        "resource_type": "VirtualMachine",
        "resources": list(resources),
        "not_before": None if due is None or status == "Started" else at(due),
        "description": "text",
        "duration_in_seconds": -1,
        "affects_this_vm": True,
    }
    return {**found, **more}


def record(phase: str, its_event: dict[str, Any] | None = None, *, ago: float = 20, order: int = 1, **more: Any) -> dict[str, Any]:
    """A record that entered its phase some time ago."""
    changed = phase not in ("noticed", "held")
    state = {"draining": "begun", "recovered": "undone", "failed": "failed"}.get(phase, "drained")
    found = {
        "format": 1,
        "revision": 3,
        "event": its_event or event(),
        "phase": phase,
        "reason": None,
        "history": [{"phase": "noticed", "at": at(-ago - 2)}],
        "boot_id": "boot",
        "rule": {"name": "everything else", "drain": True, "approve": "after_drain", "order": order} if changed else None,
        "verified_at": at(-ago) if state == "drained" else None,
        "told": ["noticed", "held", "failed", "drained", "approved", "started", "gone", "recovered"],
        "methods": [method(state)] if changed else [],
    }
    if changed:
        found["history"].append({"phase": "draining", "at": at(-ago - 1)})
    if phase not in ("noticed", "draining"):
        found["history"].append({"phase": phase, "at": at(-ago)})
    return {**found, **more}


def method(state: str = "drained", **more: Any) -> dict[str, Any]:
    """A drain method in a record."""
    return {"id": "1-service", "method": "service", "state": state, "boot_id": "boot", "before": {"web.service": "active"}, "error": None, **more}


def vm(host: str = "vm1", events: Any = (), records: Any = (), *, state: str = "ok", methods: Any = ("service",), **observation: Any) -> dict[str, Any]:
    """An observation; further names go into the observation, or into the observation where it has them."""
    outside = {
        key: observation.pop(key)
        for key in ("identity_hint", "reached_before", "last_observation", "could_not_approve", "approved", "error")
        if key in observation
    }
    if "identity_hint" in outside:
        outside["identity"] = outside.pop("identity_hint")
    seen = {
        "vm_name": host,
        "document_incarnation": 3,
        "events": list(events),
        "identity": {"name": host, "resource_group": "RG", "subscription_id": "S"},
        "boot_id": "boot",
        "now": at(0),
        "enabled_at": at(-90_000),
        "in_service": None,
        "records": list(records),
        "uptime_seconds": 50_000.0,
    }
    return {"host": host, "state": state, "methods": list(methods), "observation": {**seen, **observation} if state == "ok" else None, **outside}


def plan(*observations: dict[str, Any], policy: Any = "default", now: float = 0, **settings: Any) -> dict[str, Any]:
    """The plan for some observations."""
    return make_plan(list(observations), policy=policy, settings={**SETTINGS, **settings}, now=at(now))


def acts(found: dict[str, Any], *, notes: bool = False) -> list[str]:
    """What is done, as words such as C(drain vm1 E1); notes and telling people are left out unless wanted."""
    return [
        f"{step['action']} {step['host']} {step['event_id']}"
        for step in found["actions"]
        if step["action"] != "notify" and (notes or step["action"] != "write")
    ]


def noted(found: dict[str, Any], host: str = "vm1", event_id: str = "E1") -> dict[str, Any]:
    """All that is written to one record: the changes, and the stamps as true."""
    result: dict[str, Any] = {}
    for step in found["actions"]:
        if step["action"] == "write" and step["host"] == host and step["event_id"] == event_id:
            result.update(step["changes"])
            result.update(dict.fromkeys(step["stamp"], True))
    return result
