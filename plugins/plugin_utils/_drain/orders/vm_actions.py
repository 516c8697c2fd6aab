# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Which actions of a plan maintenance_act takes on a VM, all at once, and which are left to tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from ..._core import plain_values
from ..settings import validation
from .method_orders import SETTLED, MethodOrder, drain_orders, undo_orders
from .segments import is_on_vm, stops

# What needs nothing but the VM and its endpoint.
ALWAYS = ("acquire", "release", "write", "approve", "prune")
# What goes on to the VM of an action as the plan has it.
DRAIN_KEYS = ("action", "event_id", "event", "lease", "rule", "verify", "deadline")
UNDO_KEYS = ("action", "event_id", "lease")
# In this order on each VM: records first, approvals before what takes longer. The same as act/stages.py.
ORDER = ("acquire", "release", "write", "approve", "undo", "recover", "drain", "prune")
LONGEST_TIME = 19


class Taken(TypedDict):
    """The actions of one VM in one iteration."""

    iteration: str
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
    iteration: str
    now: str
    """The controller's clock, UTC, ISO 8601."""


def split(actions: Sequence[Mapping[str, Any]], vm: VM) -> Taken:
    """Return the actions as maintenance_act takes them, in order, and the others as they are."""
    taken: Taken = {"iteration": vm["iteration"], "on_vm": [], "by_tasks": []}
    for action in sorted(actions, key=_place):
        name = action["action"]
        prepared: dict[str, Any] | None = None
        if name in ALWAYS:
            prepared = {key: value for key, value in action.items() if value is not None}
        elif name == "drain":
            prepared = _drain(action, vm)
        elif name in ("undo", "recover"):
            prepared = _undo(action, vm)
        if prepared is None:
            taken["by_tasks"].append(dict(action))
        else:
            taken["on_vm"].append({**prepared, "iteration": vm["iteration"]})
    return taken


def _place(action: Mapping[str, Any]) -> int:
    return ORDER.index(action["action"]) if action["action"] in ORDER else len(ORDER)


def _drain(action: Mapping[str, Any], vm: VM) -> dict[str, Any] | None:
    record = _record(action, vm)
    orders = drain_orders(record, vm["methods"], vm["former"], vm["host"], vm["system"])
    settled = record.get("phase") in SETTLED and any(method.get("state") != "undone" for method in _methods(record))
    # Where the settings are wrong, role drain says what is wrong with them.
    wrong = not settled and bool(validation.problems(vm["methods"], vm["former"], vm["system"], vm["folders"], vm["places"]))
    if wrong or not _all_on_vm(orders, record, vm["system"]):
        return None
    deadline = action.get("deadline") or ""
    return {
        **{key: action.get(key) for key in DRAIN_KEYS},
        "late": bool(deadline) and vm["now"][:LONGEST_TIME] > str(deadline)[:LONGEST_TIME],
        "methods": orders,
    }


def _undo(action: Mapping[str, Any], vm: VM) -> dict[str, Any] | None:
    record = _record(action, vm)
    orders = undo_orders(record, vm["methods"], vm["former"], vm["host"], vm["system"])
    if not record or not _all_on_vm(orders, record, vm["system"]):
        return None
    return {
        **{key: action.get(key) for key in UNDO_KEYS},
        "event": plain_values.mapping(record.get("event")),
        "keep_phase": action["action"] == "undo",
        "methods": orders,
        "reports": [order["report"] for order in orders if order["report"]],
    }


def _all_on_vm(orders: Sequence[MethodOrder], record: Mapping[str, Any], system: str) -> bool:
    """Return whether the engine takes all of them, and another host neither acts first nor has a copy of the record that must follow it."""
    elsewhere = any(map(stops, orders)) or any(method.get("outside") is True for method in _methods(record))
    return not elsewhere and all(is_on_vm(order, system) for order in orders)


def _record(action: Mapping[str, Any], vm: VM) -> Mapping[str, Any]:
    # As in the names of the files: ids compare without case.
    wanted = str(action.get("event_id")).strip().lower()
    for record in vm["records"]:
        if str(plain_values.mapping(record.get("event")).get("event_id")).strip().lower() == wanted:
            return record
    return {}


def _methods(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [plain_values.mapping(method) for method in plain_values.items(record.get("methods"))]
