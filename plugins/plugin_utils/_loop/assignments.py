# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Assign the actions of an iteration to hosts, and decide whether they made progress."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .._core import plain_values
from .._drain.orders import vm_actions
from .._drain.orders.vm_actions import Taken
from .._maintenance.act import stages
from .vm_settings import VMSettings

Action = Mapping[str, Any]


def assign(
    plan: Mapping[str, Any], observed: Iterable[Mapping[str, Any]], vms: Mapping[str, VMSettings], places: Sequence[str], iteration: str, now: str
) -> dict[str, Taken]:
    """Return for each host with actions those that run on the VM, and those that tasks take for it."""
    observations = {str(one["host"]): one.get("observation") or {} for one in observed}
    found = {}
    for host in dict.fromkeys(str(action["host"]) for action in plan["actions"]):
        settings, observation = vms[host], observations[host]
        vm: vm_actions.VM = {
            "host": host,
            "system": observation.get("system") or settings["system"],
            "records": observation.get("records") or [],
            "methods": settings["drain_methods"],
            "former": settings["drain_methods_former"],
            "folders": settings["folders"],
            "places": places,
            "iteration": iteration,
            "now": now,
        }
        found[host] = vm_actions.split([action for action in plan["actions"] if action["host"] == host], vm)
    return found


def stages_of(by_tasks: Iterable[Sequence[Action]]) -> list[dict[str, Any]]:
    """Return the stages of the actions that tasks take, each with the place of the action among those of a host."""
    lists = list(by_tasks)
    found = []
    for name, acts in stages.STAGES:
        most = max((sum(action["action"] in acts for action in actions) for actions in lists), default=0)
        places = range(min(most, 1) if name in stages.AT_ONCE else most)
        found += [{"name": name, "actions": list(acts), "place": place} for place in places]
    return found


def moved(assigned: Mapping[str, Taken], before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether a drain or an undo has made progress on any host."""
    for host, taken in assigned.items():
        wanted = {str(action["event_id"]).strip().lower() for action in (*taken["on_vm"], *taken["by_tasks"]) if action["action"] != "acquire"}
        earlier, later = dict(_progress(before[host])), dict(_progress(after[host]))
        if after[host].get("state") == "ok" and any(earlier.get(event_id) != later.get(event_id) for event_id in wanted):
            return True
    return False


def _progress(observed: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return the progress of each event in a VM's records."""
    observation = plain_values.mapping(observed.get("observation"))
    for record in map(plain_values.mapping, plain_values.items(observation.get("records"))):
        methods = [plain_values.mapping(method) for method in plain_values.items(record.get("methods"))]
        event_id = str(plain_values.mapping(record.get("event")).get("event_id")).strip().lower()
        yield (
            event_id,
            (
                record.get("phase"),
                record.get("attempts"),
                record.get("verified_at"),
                record.get("undone"),
                [(method.get("id"), method.get("state")) for method in methods],
            ),
        )
