# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What the watcher of a VM needs to drain it by itself: the content of a file that only root can read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from ...module_utils._scheduled_events.core.types import Data
from ...module_utils._scheduled_events.drain.registry import is_safe_at_once
from ...module_utils._scheduled_events.watch.drain.rules import FIELDS, LONGEST, OPERATORS
from .._core.wrong_input import WrongInput
from .._drain.kinds.registry import kind_of
from .._drain.orders.method_orders import MethodOrder, drain_orders
from .._drain.settings import validation
from .._maintenance.config.policy import Rule, label_of, load
from .._maintenance.core.expression import SHORT_PAUSE_HURTS
from .conditions import OF_VM, CannotCompile, compile_condition, of_vm

# The watcher drains on Linux only.
SYSTEM = "linux"


class Content(TypedDict):
    """The content of the file."""

    rules: list[Row]
    methods: list[MethodOrder]
    """What the VM does by itself, in order."""
    elsewhere: list[str]
    """The ids of the methods that are left to the controller."""


class Settings(TypedDict):
    """The settings of a VM."""

    policy: Any
    methods: Any
    former: Any
    host: str
    folders: Sequence[str]
    """Where the methods that are tasks are, as validation.problems() takes them: the role's, then an operator's."""
    places: Sequence[str]
    """Where task files are looked for."""


def drain_content(settings: Settings) -> Content:
    """Return the content. It has no rules where no method runs on the VM: then the policy may be one that only the controller can check.

    Raise ValueError for wrong settings, with everything that is wrong with the drain methods, or WrongInput.
    """
    folders, methods, former = settings["folders"], settings["methods"], settings["former"]
    own_folder = folders[1] if len(folders) > 1 else ""
    if wrong := validation.problems(methods, former, SYSTEM, folders, settings["places"], own_folder):
        raise ValueError(" ".join(wrong))
    orders = drain_orders({}, methods, former, settings["host"], SYSTEM)
    own = [order for order in orders if _is_own(order)]
    elsewhere = [order["id"] for order in orders if not _is_own(order)]
    hurts = any(kind_of(order["kind"]).short_pause_hurts for order in orders)
    return {"rules": compile_rules(settings["policy"], hurts) if own else [], "methods": own, "elsewhere": elsewhere}


def approves(content: Content) -> bool:
    """Return whether the VM may approve something by itself."""
    return any(row["approve"] == "now" for row in content["rules"])


def without_approvals(content: Content) -> Content:
    """Return the content of a VM that approves nothing: it knows no other one, and others may be out that stand in for it."""
    rules: list[Row] = [{**row, "approve": "never"} if row["approve"] == "now" else row for row in content["rules"]]
    return {**content, "rules": rules}


def _is_own(order: MethodOrder) -> bool:
    """Return whether a VM begins a method by itself, as its watcher checks it: by its record, or, for what acts outside the VM, by the settings."""
    return order["runs"] and is_safe_at_once(order["kind"], order["outside"]) and (order["where"] == "own") is not order["outside"]


# --- The rules of a policy, which the watcher of a VM checks without JMESPath --------------------------------------------


INSTEAD = f"use {', '.join(FIELDS)} and {', '.join(OF_VM)} with {', '.join(OPERATORS)}, &&, ||, ! and contains, or set watch_drain: []"


class Row(TypedDict):
    """One rule, as JSON holds it."""

    name: str
    drain: bool
    approve: str
    when: list[list[Data]] | None
    """Alternatives, each a list of comparisons (field, is, value, negated); None matches every event."""
    late: bool
    """Whether its drain is not for the last minute before NotBefore alone to decide: it has a drain_at, or hold_at_deadline lets the event come."""


def compile_rules(policy: Any, short_pause_hurts: bool = False) -> list[Row]:
    """Return the rules of a policy, given as load() of policy.py takes it, up to the first that matches every event.

    Raise WrongInput for a policy that is wrong, or that only JMESPath can check.
    """
    rows: list[Row] = []
    for place, rule in enumerate(load(policy).rules, start=1):
        if place > LONGEST:
            raise WrongInput(f"the policy has more than {LONGEST} rules, which are too many for the watcher: use fewer, or set watch_drain: []")
        when = _when(rule, place, short_pause_hurts)
        rows.append(_row(rule, when))
        if when is None:
            break
    return rows


def _row(rule: Rule, when: list[list[Data]] | None) -> Row:
    decision = rule.decision
    return {
        "name": decision.name,
        "drain": decision.drain,
        # A VM may have no time zones, and a clock of its own: what has a window is approved by a run alone.
        "approve": "never" if decision.window and decision.approve == "now" else decision.approve,
        "when": when,
        "late": isinstance(decision.drain_at, float) or decision.hold_at_deadline == "let_it_come",
    }


def _when(rule: Rule, place: int, short_pause_hurts: bool) -> list[list[Data]] | None:
    """Return the alternatives, or None if the rule matches every event of this VM."""
    if rule.when is None:
        return None
    try:
        alternatives = of_vm(compile_condition(rule.when), {SHORT_PAUSE_HURTS: short_pause_hurts})
    except CannotCompile as error:
        label = label_of(rule.source, place)
        raise WrongInput(f"{label}: when cannot be checked by the watcher, because {error}: {INSTEAD}. It is: {rule.when.source}") from error
    if [] in alternatives:
        return None
    return [[{"field": one.field, "is": one.operator, "value": one.value, "negated": one.negated} for one in every] for every in alternatives]
