# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Which actions of a plan, and which methods of a drain or an undo, maintenance_act takes on a VM, all at once, and which are left to tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from ....module_utils._scheduled_events.core.types import Data, Values
from ..._core import plain_values
from ..kinds.registry import kind_of
from ..records.matching import find_record, read_recorded
from ..settings import validation
from .method_orders import SETTLED, MethodOrder, drain_orders, undo_orders

# What needs nothing but the VM and its endpoint.
ALWAYS = ("acquire", "release", "write", "approve", "prune")
# What goes on to the VM of an action as the plan has it.
DRAIN_KEYS = ("action", "event_id", "event", "lease", "rule", "verify", "deadline")
UNDO_KEYS = ("action", "event_id", "lease")
LONGEST_TIME = 19


class Taken(TypedDict):
    """The actions of one VM in one iteration."""

    iteration: str
    """Which run and iteration they are of. Each action says it, and with it the answer: none is read twice."""
    on_vm: list[Data]
    by_tasks: list[Data]


class VM(TypedDict):
    """What is known of the VM that they are for."""

    host: str
    system: str
    records: Sequence[Values]
    methods: Any
    former: Any
    folders: Sequence[str]
    """Where the methods that are tasks are, as validation.problems() takes them."""
    places: Sequence[str]
    """Where task files are looked for."""
    iteration: str
    now: str
    """The controller's clock, UTC, ISO 8601."""


def split(actions: Sequence[Values], vm: VM) -> Taken:
    """Return the actions as maintenance_act takes them, in the order of the plan, and the others as they are."""
    taken: Taken = {"iteration": vm["iteration"], "on_vm": [], "by_tasks": []}
    for action in actions:
        name = action["action"]
        prepared: Data | None = None
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


def _drain(action: Values, vm: VM) -> Data | None:
    record = find_record(vm["records"], action.get("event_id"))
    orders = drain_orders(record, vm["methods"], vm["former"], vm["host"], vm["system"])
    settled = record.get("phase") in SETTLED and any(method.state != "undone" for method in read_recorded(record))
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


def _undo(action: Values, vm: VM) -> Data | None:
    record = find_record(vm["records"], action.get("event_id"))
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


def _all_on_vm(orders: Sequence[MethodOrder], record: Values, system: str) -> bool:
    """Return whether the engine takes all of them, and another host neither acts first nor has a copy of the record that must follow it."""
    elsewhere = any(map(stops, orders)) or any(method.outside for method in read_recorded(record))
    return not elsewhere and all(is_on_vm(order, system) for order in orders)


class Segment(TypedDict):
    """Methods that follow one another."""

    on_vm: bool
    """Whether maintenance_act takes them, all at once; otherwise it is one method, and role drain includes its tasks."""
    methods: list[MethodOrder]
    last: bool
    """Whether no method follows."""


def segments(orders: Sequence[MethodOrder], system: str) -> list[Segment]:
    """Return the segments in order.

    A method that changes something outside the VM stands alone, because its finding is copied before it acts, and so does one that another host
    may have to act for.
    """
    found: list[Segment] = []
    for order in orders:
        on_vm = is_on_vm(order, system)
        present = found[-1] if found else None
        if present is not None and on_vm and present["on_vm"] and not stops(order) and not stops(present["methods"][-1]):
            present["methods"].append(order)
        else:
            found.append({"on_vm": on_vm, "methods": [order], "last": False})
    if found:
        found[-1]["last"] = True
    return found


def stops(order: MethodOrder) -> bool:
    """Return whether a drain stops between what the method finds and what it does, so that something is done elsewhere."""
    return order["outside"] or needs_failover(order)


def is_on_vm(order: MethodOrder, system: str) -> bool:
    """Return whether the engine takes a method. What is only reported it records, too."""
    return kind_of(order["kind"]).runs_on_vm(system) or not order["runs"]


# --- Failovers that a drain needs on other hosts -------------------------------------------------------------------------


# Where, of what and from whom, the settings alone say, and never a VM's record or answer. A VM's claim that it is primary may only narrow this: the host
# that takes over sees for itself which node is (module maintenance_act).


class Failover(TypedDict):
    """One availability group that another host takes over."""

    host: str
    """The inventory host, as the settings name it."""
    instance: str
    """Its SQL Server."""
    group: str
    primary: list[str]
    """The names that the drained VM's node may have. Where the cluster has the group elsewhere, nothing takes over."""


def needs_failover(order: MethodOrder) -> bool:
    """Return whether a drain may need a failover, which another host does: only then maintenance_act stops before the method acts."""
    asked, settings = kind_of(order["kind"]).asked_of_hosts, _settings_of(order)
    return order["runs"] and any(plain_values.texts(settings.get(name)) for name, option in asked.items() if option.takeover)


def failovers(handover: Any, order: MethodOrder, drained: str) -> list[Failover]:
    """Return what other hosts do before the method acts. Raise ValueError for what the settings do not name. C(drained) is the host of the VM."""
    settings = _settings_of(order)
    groups, replicas = plain_values.texts(settings.get("availability_groups")), plain_values.mapping(settings.get("replicas"))
    found: list[Failover] = []
    for group, replica in sorted(plain_values.mapping(handover).items()):
        host = plain_values.text(replicas.get(plain_values.text(replica) or ""))
        if group not in groups or host is None:
            raise ValueError(f"the settings of method {order['id']} do not name availability group {str(group)[:100]} on replica {str(replica)[:100]}")
        found.append({"host": host, "instance": str(replica), "group": str(group), "primary": _nodes(settings, drained)})
    return found


def _nodes(settings: Values, drained: str) -> list[str]:
    """Return the names of the drained VM's node, as the settings have them; where they have none, it is named as its inventory host is."""
    replicas = plain_values.mapping(settings.get("replicas"))
    named = [str(replica).partition("\\")[0] for replica, host in replicas.items() if plain_values.text(host) == drained]
    return named or [plain_values.text(settings.get("node")) or drained.split(".")[0]]


def failover_failure(answers: Any) -> str:
    """Return what failed, from the results of the loop over failovers, or an empty text.

    A host that cannot be reached has failed nothing: the VM is still primary, which the next observation says.
    """
    found = []
    for answer in map(plain_values.mapping, plain_values.items(answers)):
        if plain_values.flag(answer.get("unreachable")):
            continue
        results = [plain_values.mapping(one) for one in plain_values.items(answer.get("results"))]
        wrong = next((one for one in results if plain_values.flag(one.get("failed")) is not False), None) if results else answer
        if wrong is not None:
            found.append(str(wrong.get("msg") or "no reason was given"))
    return "; ".join(found)


def _settings_of(order: MethodOrder) -> Data:
    return {**order["given"], **order["override"]}
