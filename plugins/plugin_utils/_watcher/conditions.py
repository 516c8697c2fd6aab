# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Compile the condition of a rule into what a VM without JMESPath can check: alternatives, each of comparisons."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._scheduled_events.core import limits
from ...module_utils._scheduled_events.core.types import Values
from ...module_utils._scheduled_events.watch.drain.rules import FIELDS, LONGEST, ORDERS, Comparison
from .._maintenance.core.expression import BUILT_IN, SHORT_PAUSE_HURTS, Expression, compiled

OPERATORS: Mapping[str, str] = {"eq": "==", "ne": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
# What is known of a VM before any event comes (of_vm).
OF_VM = (SHORT_PAUSE_HURTS,)
# The same comparison with its sides exchanged.
EXCHANGED: Mapping[str, str] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
Alternatives = list[list[Comparison]]
# Null has no order.
NEVER = Comparison("event_type", "<", None)


class CannotCompile(ValueError):
    """A condition that only JMESPath can check; the message says what in it."""


def compile_condition(condition: Expression) -> Alternatives:
    """Return alternatives that match the same events. Raise CannotCompile."""
    if condition.source in BUILT_IN:
        return [list(BUILT_IN[condition.source])]
    return _alternatives(compiled(condition.source).parsed, False)


def of_vm(alternatives: Alternatives, known: Mapping[str, bool]) -> Alternatives:
    """Return alternatives without the comparisons of what is known of the VM: an empty one matches every event."""
    possible = [one for one in alternatives if all(comparison.matches(known) for comparison in one if comparison.field in known)]
    return [[comparison for comparison in one if comparison.field not in known] for one in possible] or [[NEVER]]


def _alternatives(node: Values, negated: bool) -> Alternatives:
    kind, children = node["type"], node["children"]
    if kind == "not_expression":
        return _alternatives(children[0], not negated)
    if kind in ("and_expression", "or_expression"):
        left, right = (_alternatives(child, negated) for child in children)
        return _both(left, right) if (kind == "and_expression") is not negated else _any_of(left, right)
    if kind == "comparator":
        return [[_comparison(node, negated)]]
    if kind == "function_expression" and node["value"] == "contains":
        return _contains(children, negated)
    raise CannotCompile(_words(node))


def _refuse_many(count: int, what: str) -> None:
    if count > LONGEST:
        raise CannotCompile(f"it has more than {LONGEST} {what}")


def _both(left: Alternatives, right: Alternatives) -> Alternatives:
    _refuse_many(len(left) * len(right), "alternatives")
    return [_bounded([*one, *other]) for one in left for other in right]


def _any_of(left: Alternatives, right: Alternatives) -> Alternatives:
    _refuse_many(len(left) + len(right), "alternatives")
    return [*left, *right]


def _bounded(comparisons: list[Comparison]) -> list[Comparison]:
    _refuse_many(len(comparisons), "comparisons that must all be true")
    return comparisons


def _comparison(node: Values, negated: bool) -> Comparison:
    sign, (left, right) = OPERATORS[node["value"]], node["children"]
    if left["type"] == "literal":
        sign, left, right = EXCHANGED.get(sign, sign), right, left
    field = _field(left)
    if right["type"] != "literal":
        raise CannotCompile(f"it compares {field} with {'another field' if right['type'] == 'field' else 'what is no literal'}")
    value = right["value"]
    _refuse_value(field, value)
    if sign in ORDERS and _is_of_other_kind(field, value):
        raise CannotCompile(f"it compares {field} by {sign} with a {'text' if FIELDS[field] else 'number'}")
    return Comparison(field, sign, value, negated)


def _field(node: Values) -> str:
    if node["type"] != "field":
        raise CannotCompile(_words(node) if node["type"] == "function_expression" else "it compares what is no field of an event")
    if node["value"] not in FIELDS and node["value"] not in OF_VM:
        raise CannotCompile(f"it uses {node['value']}")
    return str(node["value"])


def _refuse_value(field: str, value: Any) -> None:
    """Refuse what is no single value, or what the VM would not read as it is written."""
    if isinstance(value, (list, dict)):
        raise CannotCompile(f"it compares {field} with a list or a dictionary")
    if isinstance(value, str) and (len(value) > limits.TEXT or not value.isprintable()):
        raise CannotCompile(f"it compares {field} with a text that is not printable, or longer than {limits.TEXT} letters")
    if isinstance(value, (int, float)) and (not math.isfinite(value) or abs(value) >= 10**limits.DIGITS):
        raise CannotCompile(f"it compares {field} with a number of more than {limits.DIGITS} digits")


def _is_of_other_kind(field: str, value: Any) -> bool:
    """Return whether JMESPath fails on the order of a field and a value, because one is a text and the other a number."""
    if value is None or isinstance(value, bool):
        return False
    return field in FIELDS and isinstance(value, str) is FIELDS[field]


def _contains(children: Sequence[Values], negated: bool) -> Alternatives:
    """Return what C(contains(list of texts, field)) means. For texts it is the same as ==; for 0 and 1 it would not be."""
    # An expression that is tried on an event may stop before a call with too few arguments.
    values = _texts(children[0]) if len(children) == 2 and children[1]["type"] == "field" else None
    if values is None:
        raise CannotCompile("contains() does not have a list of texts and then a field")
    field = _field(children[1])
    for value in values:
        _refuse_value(field, value)
    # Nothing is in an empty list: null has no order, so that comparison is never true.
    comparisons = [Comparison(field, "==", value, negated) for value in values] or [Comparison(field, "<", None, negated)]
    return [_bounded(comparisons)] if negated else _any_of([[one] for one in comparisons], [])


def _texts(node: Values) -> list[str] | None:
    """Return the texts of a literal list, or of a list of literals; None for anything else."""
    values = node.get("value") if node["type"] == "literal" else None
    if node["type"] == "multi_select_list":
        values = [child.get("value") if child["type"] == "literal" else None for child in node["children"]]
    return values if isinstance(values, list) and all(isinstance(value, str) for value in values) else None


def _words(node: Values) -> str:
    """Return what a part of an expression is that cannot be compiled."""
    kind = node["type"]
    if kind == "function_expression":
        return f"it calls {node['value']}()"
    if kind == "field":
        return f"{node['value']} stands without a comparison"
    return "it has a value without a comparison" if kind == "literal" else f"it has a part of kind {kind}"
