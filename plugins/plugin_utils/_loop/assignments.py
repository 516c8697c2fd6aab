# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Assign the actions of an iteration to hosts, and decide whether they made progress."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypedDict

from ...module_utils._scheduled_events.core.names import folded
from ...module_utils._scheduled_events.core.types import Data, Values
from ...module_utils._scheduled_events.journal.record_store import DEFAULT_PATH
from .._core import plain_values
from .._drain.orders import vm_actions
from .._drain.orders.vm_actions import Taken
from .._drain.records.matching import read_recorded
from .._maintenance.act import stages
from .observations import Observation
from .vm_settings import VMSettings


class NextActions(TypedDict):
    """What the next iteration does."""

    do: str
    """Its kind; C(end) ends the loop."""
    assignments: dict[str, Taken]
    """The actions of each host: those that maintenance_act takes on the VM, and those that tasks take."""
    actions: dict[str, list[Data]]
    """The former, as maintenance_act takes them."""
    stages: list[Data]
    """The stages of the latter, in order."""
    contact: list[str]
    """The hosts that are observed in the next iteration."""
    pause: int
    """The seconds that the next iteration waits first."""


class LoopState(NextActions):
    """What the states of a pass and of a batch have in common. The tasks of the loop read it."""

    vms: dict[str, VMSettings]
    observations: list[Observation]
    plan: Data
    began: float
    planned_at: float
    """When the last actions were given."""
    number: int
    """The number of the iteration."""
    listeners: list[str]
    """The hosts that listen for news during a pause."""
    waited: int
    """The seconds since the begin."""
    involved: list[str]
    """The hosts that act or wait."""


def nothing() -> NextActions:
    """Return an iteration without any action, which is the last one."""
    return {"do": "end", "assignments": {}, "actions": {}, "stages": [], "contact": [], "pause": 0}


def assign(plan: Values, observed: Iterable[Values], vms: Mapping[str, VMSettings], places: Sequence[str], iteration: str, now: str) -> dict[str, Taken]:
    """Return for each host with actions those that run on the VM, and those that tasks take for it."""
    observations = {str(one["host"]): one.get("observation") or {} for one in observed}
    systems = {host: str(plain_values.mapping(observations.get(host)).get("system") or settings["system"]) for host, settings in vms.items()}
    found = {}
    for host in dict.fromkeys(str(action["host"]) for action in plan["actions"]):
        settings, observation = vms[host], observations[host]
        vm: vm_actions.VM = {
            "host": host,
            "system": systems[host],
            "records": observation.get("records") or [],
            "methods": settings["drain_methods"],
            "former": settings["drain_methods_former"],
            "folders": settings["folders"],
            "places": places,
            "iteration": iteration,
            "now": now,
        }
        found[host] = vm_actions.split([action for action in plan["actions"] if action["host"] == host], vm)
        for action in found[host]["by_tasks"]:
            action["keeper_path"] = keeper_path(host, action.get("keeper"), vms, systems)
    return found


def keeper_path(host: str, keeper: Any, vms: Mapping[str, VMSettings], systems: Mapping[str, str]) -> str:
    """Return where the keeper of a host's replica has its records: a folder of the host's own means nothing there where the keeper has another system."""
    if keeper not in vms:
        return ""
    return vms[keeper]["records_path"] or (vms[host]["records_path"] if systems[keeper] == systems[host] else "") or DEFAULT_PATH


def stages_of(by_tasks: Mapping[str, Taken]) -> list[Data]:
    """Return the stages of the actions that tasks take."""
    return stages.stages((host, action["action"]) for host, taken in by_tasks.items() for action in taken["by_tasks"])


def moved(assigned: Mapping[str, Taken], before: Mapping[str, Values], after: Mapping[str, Values]) -> bool:
    """Return whether a drain or an undo has made progress on any host."""
    for host, taken in assigned.items():
        wanted = {folded(action["event_id"]) for action in (*taken["on_vm"], *taken["by_tasks"]) if action["action"] != "acquire"}
        earlier, later = dict(_progress(before[host])), dict(_progress(after[host]))
        if after[host].get("state") == "ok" and any(earlier.get(event_id) != later.get(event_id) for event_id in wanted):
            return True
    return False


def _progress(observed: Values) -> Iterator[tuple[str, Any]]:
    """Return the progress of each event in a VM's records."""
    observation = plain_values.mapping(observed.get("observation"))
    for record in map(plain_values.mapping, plain_values.items(observation.get("records"))):
        event_id = folded(plain_values.mapping(record.get("event")).get("event_id"))
        yield (
            event_id,
            (
                record.get("phase"),
                record.get("attempts"),
                record.get("verified_at"),
                record.get("undone"),
                [(method.identifier, method.state) for method in read_recorded(record)],
            ),
        )
