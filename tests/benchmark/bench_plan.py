# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long one plan for 10,000 VMs and 1,000 events takes. Prints one line of JSON; with --limit it fails when slower."""

from __future__ import annotations

import argparse
import gc
import json
import time
from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.planner import make_plan

NOW = 1_800_000_000.0
GROUP = 100


def fleet(machines: int, events: int) -> list[dict[str, Any]]:
    """Groups of a hundred VMs, each listing all events of its group; half of the events are drained for already."""
    groups = max(machines // GROUP, 1)
    listed: list[list[dict[str, Any]]] = [[] for _group in range(groups)]
    for number in range(events):
        group = number % groups
        first = number // groups * 3 % GROUP
        listed[group].append(
            {
                "event_id": f"C7061BAC-AFDC-4513-B24B-{number:012d}",
                "event_type": ("Reboot", "Freeze", "Redeploy")[number % 3],
                "event_status": "Scheduled",
                "event_source": "Platform",
                "resource_type": "VirtualMachine",
                "resources": [f"web_{group}_{(first + place) % GROUP}" for place in range(3)],
                "not_before": timestamps.form(NOW + 800),
                "description": "Host server is undergoing maintenance.",
                "duration_in_seconds": 5 if number % 6 else -1,
            }
        )
    return [_observation(number // GROUP, number % GROUP, listed[number // GROUP % groups]) for number in range(machines)]


def capacity(machines: int) -> list[dict[str, Any]]:
    """One group of VMs that see the same events; members that fill no hundred are left out."""
    return [
        {"name": f"web {group}", "members": [f"web-{group}-{place}" for place in range(GROUP)], "max_unavailable": "10%"} for group in range(machines // GROUP)
    ]


def _observation(group: int, place: int, listed: list[dict[str, Any]]) -> dict[str, Any]:
    name = f"web_{group}_{place}"
    records = [_record(event, name) for number, event in enumerate(listed) if name in event["resources"] and number % 2]
    observation = {
        "vm_name": name,
        "document_incarnation": 7,
        "events": [dict(event, affects_this_vm=name in event["resources"]) for event in listed],
        "identity": {"name": name, "resource_group": "rg", "subscription_id": "s", "vm_id": name, "priority": "Regular"},
        "boot_id": "boot",
        "now": timestamps.form(NOW),
        "enabled_at": timestamps.form(NOW - 9999),
        "in_service": True,
        "records": records,
        "uptime_seconds": 100_000.0,
    }
    return {"host": name.replace("_", "-"), "state": "ok", "error": None, "observation": observation, "methods": ["service"]}


def _record(event: dict[str, Any], name: str) -> dict[str, Any]:
    at = timestamps.form(NOW - 20)
    return {
        "format": 1,
        "revision": 3,
        "event": event,
        "phase": "drained",
        "history": [{"phase": "noticed", "at": at}, {"phase": "draining", "at": at}, {"phase": "drained", "at": at}],
        "boot_id": "boot",
        "vm_id": name,
        "verified_at": at,
        "methods": [{"id": "1-service", "method": "service", "state": "drained", "before": {"state": "active"}}],
    }


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=1_000)
    parser.add_argument("--groups", action="store_true", help="with a capacity group for every hundred VMs, of which a tenth may be out")
    parser.add_argument("--limit", type=float, help="fail when the best of three takes longer, in seconds")
    chosen = parser.parse_args()
    observations = fleet(chosen.machines, chosen.events)
    settings = {"capacity": capacity(chosen.machines)} if chosen.groups else None
    times = []
    for _iteration in range(3):
        gc.collect()
        began = time.process_time()
        plan = make_plan(observations, settings=settings, now=timestamps.form(NOW))
        times.append(time.process_time() - began)
    found = {"machines": chosen.machines, "events": chosen.events, "actions": len(plan["actions"]), "cpu_seconds": round(min(times), 3)}
    print(json.dumps(found))
    if chosen.limit is not None and min(times) > chosen.limit:
        raise SystemExit(f"the plan took {min(times):.2f} s, over the limit of {chosen.limit} s")


if __name__ == "__main__":
    main()
