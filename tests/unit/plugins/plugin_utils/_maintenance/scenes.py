# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Short ways to write observations and to read plans. Times are seconds from NOW."""

from __future__ import annotations

from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.planner import make_plan
from ansible_collections.maintenance.azure.tests.unit.plugins import builders

NOW = 1_800_000_000.0
SETTINGS = {"pass_interval": 0, "drain_seconds": 200, "undo_seconds": 30}
# What the controller knows of a host beside its observation.
BESIDE = ("reached_before", "last_observation", "could_not_approve", "approved", "error", "short_pause_hurts", "targets", "drain_asked_at", "acknowledged")


def at(seconds: float) -> str:
    """A time."""
    return timestamps.form(NOW + seconds)


def event(event_id: str = "E1", resources: tuple[str, ...] = ("vm1",), status: str = "Scheduled", due: float | None = 900, **more: Any) -> dict[str, Any]:
    """An event as a module returns it."""
    not_before = None if due is None or status == "Started" else at(due)
    return builders.event(event_id, **{"resources": list(resources), "event_status": status, "not_before": not_before, **more})


def record(phase: str, its_event: dict[str, Any] | None = None, *, ago: float = 20, order: int = 1, **more: Any) -> dict[str, Any]:
    """A record that entered its phase some time ago."""
    changed = phase not in ("noticed", "held")
    state = {"draining": "begun", "recovered": "undone", "failed": "failed"}.get(phase, "drained")
    entries = [("noticed", at(-ago - 2))]
    if changed:
        entries.append(("draining", at(-ago - 1)))
    if phase not in ("noticed", "draining"):
        entries.append((phase, at(-ago)))
    found = {
        "revision": 3,
        "event": its_event or event(),
        "boot_id": "boot",
        "rule": {"name": "everything else", "drain": True, "approve": "after_drain", "order": order} if changed else None,
        "verified_at": at(-ago) if state == "drained" else None,
        "told": ["noticed", "held", "failed", "drained", "approved", "started", "gone", "recovered"],
        "methods": [method(state)] if changed else [],
    }
    return builders.record(phase, entries=entries, **{**found, **more})


def no_room(its_event: dict[str, Any]) -> dict[str, Any]:
    """A record that is held because group web has no room."""
    return record("held", its_event, reason="capacity group 'web' has no room", blocker={"kind": "capacity", "subjects": ["web"]})


def method(state: str = "drained", **more: Any) -> dict[str, Any]:
    """A drain method in a record."""
    return builders.method("service", state, **{"before": {"web.service": "active"}, **more})


def vm(host: str = "vm1", events: Any = (), records: Any = (), *, state: str = "ok", methods: Any = ("service",), **observation: Any) -> dict[str, Any]:
    """An observation; further names go beside what the VM says where the controller knows them, else into it."""
    outside = {key: observation.pop(key) for key in (*BESIDE, "identity_hint") if key in observation}
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
