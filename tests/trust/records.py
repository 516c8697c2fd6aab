# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files as an attacker writes them into a records folder. None of this asks the collection's code how they look."""

from __future__ import annotations

import datetime
import hashlib
import typing as t

EVENT = "0A77AC60-0000-4000-8000-0000000000"


def at(seconds: float = 0) -> str:
    """A time, seconds from now."""
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def event(number: int, vm: str, **more: t.Any) -> dict[str, t.Any]:
    """An event as a record has it."""
    return {
        "event_id": f"{EVENT}{number:02d}",
        "event_type": "Redeploy",
        "event_status": "Scheduled",
        "event_source": "Platform",
        "not_before": at(7200),
        "description": "Host server is undergoing maintenance.",
        "resources": [vm],
        "duration_in_seconds": -1,
        **more,
    }


def method(name: str, options: t.Mapping[str, t.Any], before: t.Any = None, **more: t.Any) -> dict[str, t.Any]:
    """A drain method as a record has it, drained."""
    found = {"id": f"1-{name}", "method": name, "options": dict(options), "before": {} if before is None else before, "state": "drained"}
    return {**found, "boot_id": None, "at": at(-3000), "error": None, "outside": False, **more}


def record(its_event: dict[str, t.Any], *methods: dict[str, t.Any], phase: str = "drained", **more: t.Any) -> dict[str, t.Any]:
    """A record of an event that is over: its undo is due at once."""
    history = [{"phase": name, "at": at(-3600 + place)} for place, name in enumerate(("noticed", "draining", "drained"))]
    if phase not in ("noticed", "draining", "drained"):
        history.append({"phase": phase, "at": at(-3000)})
    return {
        "format": 1,
        "revision": 4,
        "event": its_event,
        "phase": phase,
        "reason": None,
        "history": history,
        "vm_id": None,
        "vm_name": None,
        "boot_id": None,
        "rule": {"name": "everything else", "drain": True, "approve": "after_drain", "order": 1},
        "decision": None,
        "attempts": 1,
        "deadline": None,
        "verified_at": at(-3000),
        "approving_at": None,
        "approved_at": None,
        "started_at": None,
        "missing_since": at(-3000),
        "undone": False,
        "told": ["noticed", "held", "failed", "drained", "approved", "started", "gone", "recovered"],
        "outcome": "completed",
        "methods": list(methods),
        # Without it no later write stands on 1.3.1: item 11.
        "lineage": ["a11ce0000001"],
        **more,
    }


def record_name(value: t.Mapping[str, t.Any]) -> str:
    return f"event-{value['event']['event_id'].lower()}.{value['revision']}.json"


def replica(vm: str, vm_id: str | None, value: dict[str, t.Any]) -> tuple[str, dict[str, t.Any]]:
    """The name and the content of a copy of another VM's record."""
    digest = hashlib.sha256(vm.encode()).hexdigest()[:16]
    name = f"mirror-{digest}-event-{value['event']['event_id'].lower()}.json"
    return name, {"format": 1, "vm": vm, "vm_id": vm_id, "record": value}


def lease(number: int, event_id: str, groups: t.Mapping[str, str], seconds: float = 3000) -> tuple[str, dict[str, t.Any]]:
    """The name and the content of a lease that is live."""
    digest = hashlib.sha256(event_id.strip().lower().encode()).hexdigest()[:16]
    limit = int((datetime.datetime.now(datetime.timezone.utc).timestamp() + seconds) * 1000)
    content = {"format": 1, "event_id": event_id, "kind": "events", "who": "mallory", "groups": dict(groups), "made_at": at(-5)}
    return f"claim-liar{number:08d}-{digest}.{limit}.json", content


def word(action: str, vm: str | None = None, seconds: float = -60) -> dict[str, t.Any]:
    """What a person is said to have decided."""
    return {"action": action, "who": "mallory", "why": "because", "at": at(seconds), "until": "2200-01-01T00:00:00Z", "vm": vm, "beside": []}
