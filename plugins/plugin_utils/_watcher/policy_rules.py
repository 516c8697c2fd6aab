# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Compile a policy into the rules that the watcher of a VM checks without JMESPath (module_utils/_scheduled_events/watch/drain/rules.py)."""

from __future__ import annotations

from typing import Any, TypedDict

from ...module_utils._scheduled_events.watch.drain.rules import FIELDS, LONGEST, OPERATORS
from .._maintenance.config.policy import PolicyError, Rule, label_of, load
from .conditions import Alternatives, CannotCompile, compile_condition

INSTEAD = f"use {', '.join([*FIELDS][:-1])} and {[*FIELDS][-1]} with {', '.join(OPERATORS)}, &&, ||, ! and contains, or set watch_drain: []"


class Row(TypedDict):
    """One rule, as JSON holds it."""

    name: str
    drain: bool
    approve: str
    when: list[list[dict[str, Any]]] | None
    """Alternatives, each a list of comparisons (field, is, value, negated); None matches every event."""
    late: bool
    """Whether its drain is not for the last minute before NotBefore alone to decide: it has a drain_at, or hold_at_deadline lets the event come."""


def compile_rules(policy: Any) -> list[Row]:
    """Return the rules of a policy, given as load() of policy.py takes it, up to the first that matches every event.

    Raise PolicyError for a policy that is wrong, or that only JMESPath can check.
    """
    rows: list[Row] = []
    for place, rule in enumerate(load(policy).rules, start=1):
        if place > LONGEST:
            raise PolicyError(f"the policy has more than {LONGEST} rules, which are too many for the watcher: use fewer, or set watch_drain: []")
        rows.append(_row(rule, place))
        if rule.when is None:
            break
    return rows


def _row(rule: Rule, place: int) -> Row:
    decision = rule.decision
    return {
        "name": decision.name,
        "drain": decision.drain,
        "approve": decision.approve,
        "when": _when(rule, place),
        "late": isinstance(decision.drain_at, float) or decision.hold_at_deadline == "let_it_come",
    }


def _when(rule: Rule, place: int) -> list[list[dict[str, Any]]] | None:
    if rule.when is None:
        return None
    try:
        return _as_json(compile_condition(rule.when))
    except CannotCompile as error:
        label = label_of(rule.source, place)
        raise PolicyError(f"{label}: when cannot be checked by the watcher, because {error}: {INSTEAD}. It is: {rule.when.source}") from error


def _as_json(alternatives: Alternatives) -> list[list[dict[str, Any]]]:
    return [[{"field": one.field, "is": one.operator, "value": one.value, "negated": one.negated} for one in every] for every in alternatives]
