# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Which actions of a plan maintenance_act takes on a VM, all at once, and which are left to tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from ansible_collections.maintenance.azure.plugins.plugin_utils._core import plain_values
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain import validation
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.segments import is_on_vm, stops
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.steps import SETTLED, Step, drain_steps, undo_steps

# What needs nothing but the VM and its endpoint.
ALWAYS = ("claim", "release", "note", "approve", "forget")
# What goes on to the VM of an action as the plan has it.
DRAIN_KEYS = ("act", "event_id", "event", "claim", "rule", "verify", "deadline")
UNDO_KEYS = ("act", "event_id", "claim")
# In this order on each VM: records first, approvals before what takes longer. The same as act/stages.py.
ORDER = ("claim", "release", "note", "approve", "undo", "recover", "drain", "forget")
LONGEST_TIME = 19


class Taken(TypedDict):
    """The actions of one VM in one iteration."""

    turn: str
    """Which run and iteration they are of. Each action says it, and with it the answer: none is read twice."""
    on_vm: list[dict[str, Any]]
    by_tasks: list[dict[str, Any]]


class VM(TypedDict):
    """What is known of the VM that they are for."""

    host: str
    system: str
    records: Sequence[Mapping[str, Any]]
    methods: Any
    former: Any
    folders: Sequence[str]
    """Where the methods that are tasks are, as validation.problems() takes them."""
    places: Sequence[str]
    """Where task files are looked for."""
    turn: str
    now: str
    """The controller's clock, UTC, ISO 8601."""


def split(actions: Sequence[Mapping[str, Any]], vm: VM) -> Taken:
    """Return the actions as maintenance_act takes them, in order, and the others as they are."""
    taken: Taken = {"turn": vm["turn"], "on_vm": [], "by_tasks": []}
    for action in sorted(actions, key=_place):
        act = action["act"]
        prepared: dict[str, Any] | None = None
        if act in ALWAYS:
            prepared = {key: value for key, value in action.items() if value is not None}
        elif act == "drain":
            prepared = _drain(action, vm)
        elif act in ("undo", "recover"):
            prepared = _undo(action, vm)
        if prepared is None:
            taken["by_tasks"].append(dict(action))
        else:
            taken["on_vm"].append({**prepared, "turn": vm["turn"]})
    return taken


def _place(action: Mapping[str, Any]) -> int:
    return ORDER.index(action["act"]) if action["act"] in ORDER else len(ORDER)


def _drain(action: Mapping[str, Any], vm: VM) -> dict[str, Any] | None:
    record = _record(action, vm)
    steps = drain_steps(record, vm["methods"], vm["former"], vm["host"], vm["system"])
    settled = record.get("phase") in SETTLED and any(method.get("state") != "undone" for method in _methods(record))
    # Where the settings are wrong, role drain says what is wrong with them.
    wrong = not settled and bool(validation.problems(vm["methods"], vm["former"], vm["system"], vm["folders"], vm["places"]))
    if wrong or not _all_on_vm(steps, record, vm["system"]):
        return None
    deadline = action.get("deadline") or ""
    return {
        **{key: action.get(key) for key in DRAIN_KEYS},
        "late": bool(deadline) and vm["now"][:LONGEST_TIME] > str(deadline)[:LONGEST_TIME],
        "steps": steps,
    }


def _undo(action: Mapping[str, Any], vm: VM) -> dict[str, Any] | None:
    record = _record(action, vm)
    steps = undo_steps(record, vm["methods"], vm["former"], vm["host"], vm["system"])
    if not record or not _all_on_vm(steps, record, vm["system"]):
        return None
    return {
        **{key: action.get(key) for key in UNDO_KEYS},
        "event": plain_values.mapping(record.get("event")),
        "keep_phase": action["act"] == "undo",
        "steps": steps,
        "reports": [step["report"] for step in steps if step["report"]],
    }


def _all_on_vm(steps: Sequence[Step], record: Mapping[str, Any], system: str) -> bool:
    """Return whether the engine takes all of them, and another host neither acts first nor has a copy of the record that must follow it."""
    elsewhere = any(map(stops, steps)) or any(method.get("outside") is True for method in _methods(record))
    return not elsewhere and all(is_on_vm(step, system) for step in steps)


def _record(action: Mapping[str, Any], vm: VM) -> Mapping[str, Any]:
    # As in the names of the files: ids compare without case.
    wanted = str(action.get("event_id")).strip().lower()
    for record in vm["records"]:
        if str(plain_values.mapping(record.get("event")).get("event_id")).strip().lower() == wanted:
            return record
    return {}


def _methods(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [plain_values.mapping(method) for method in plain_values.items(record.get("methods"))]
