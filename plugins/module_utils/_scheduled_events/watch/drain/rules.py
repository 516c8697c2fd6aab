# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The rules of the controller's policy, as role watch compiles them for a VM without JMESPath (plugin_utils/_watcher/drain_content.py)."""

from __future__ import annotations

import operator
import typing as t

from ...core.types import Data, Values

# The fields of an event that a rule may compare, and whether their values are numbers; otherwise they are texts.
FIELDS: t.Mapping[str, bool] = {"event_type": False, "event_source": False, "event_status": False, "duration_in_seconds": True}
ORDERS: t.Mapping[str, t.Callable[[t.Any, t.Any], bool]] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
OPERATORS = ("==", "!=", *ORDERS)
APPROVALS = ("never", "after_drain", "now")
# At most as many rules, alternatives of a rule, and comparisons of an alternative.
LONGEST = 64
KEYS = ("name", "drain", "approve", "when", "late")
COMPARISON_KEYS = ("field", "is", "value", "negated")


class RuleError(ValueError):
    """Rules that cannot be used; the message says which, and what is wrong."""


class Comparison(t.NamedTuple):
    """A field of an event compared with a value."""

    field: str
    operator: str
    value: t.Any
    """None, a boolean, a number or a text."""
    negated: bool = False

    def matches(self, event: Values) -> bool:
        """Return whether an event fits. Raise TypeError where JMESPath does: for the order of a text and a number."""
        return _is_true(event.get(self.field), self.operator, self.value) is not self.negated


Alternatives = t.Sequence[t.Sequence[Comparison]]


class Rule(t.NamedTuple):
    """One rule of the policy."""

    name: str
    drain: bool
    approve: str
    when: Alternatives | None
    """An event matches if it fits all comparisons of any alternative; None matches every event."""
    late: bool = False
    """Whether only a run knows when, or whether at all, it drains: the rule has a drain_at, or lets a held event come. A Preempt leaves no time for either."""

    def matches(self, event: Values) -> bool:
        """Return whether the rule is for this event. Raise TypeError as Comparison.matches does."""
        return self.when is None or any(all(comparison.matches(event) for comparison in every) for every in self.when)


def first_match(rules: t.Iterable[Rule], event: Values) -> Rule | None:
    """Return the first rule that matches, or None, for which the controller drains and never approves.

    A rule that fails on the event is returned as the controller decides then: it drains, and never approves.
    """
    for rule in rules:
        try:
            if rule.matches(event):
                return rule
        except TypeError:
            return rule._replace(drain=True, approve="never", late=False)
    return None


def _is_true(left: t.Any, sign: str, right: t.Any) -> bool:
    """Compare as the Python package jmespath does. Its null, for the order of what has none, counts as false."""
    if sign in ORDERS:
        return _has_order(left) and _has_order(right) and ORDERS[sign](left, right)
    # For Python, True is 1 and False is 0.
    equal = isinstance(left, bool) is isinstance(right, bool) and left == right
    return equal is (sign == "==")


def _has_order(value: t.Any) -> bool:
    return isinstance(value, (int, float, str)) and not isinstance(value, bool)


def parse_rules(data: t.Any) -> list[Rule]:
    """Return the rules of parsed JSON, in order. Raise RuleError."""
    rules = [_rule(given, f"rule {number}") for number, given in enumerate(_list(data, "the rules"), start=1)]
    if not rules:
        raise RuleError("the rules must have at least one entry")
    return rules


def _rule(given: t.Any, place: str) -> Rule:
    data = _dictionary(given, place, KEYS, {"late": False})
    name, drain, approve, late = data["name"], data["drain"], data["approve"], data["late"]
    if not isinstance(name, str) or not name:
        raise RuleError(f"{place}: name must be a text that is not empty, not {_short(name)}")
    if approve not in APPROVALS:
        raise RuleError(f"{place}: approve must be one of {', '.join(APPROVALS)}, not {_short(approve)}")
    return Rule(name, _truth(drain, f"{place}: drain"), approve, _alternatives(data["when"], place), _truth(late, f"{place}: late"))


def _alternatives(given: t.Any, place: str) -> Alternatives | None:
    if given is None:
        return None
    found = []
    for number, alternative in enumerate(_list(given, f"{place}: when"), start=1):
        where = f"{place}, alternative {number}"
        found.append([_comparison(one, f"{where}, comparison {index}") for index, one in enumerate(_list(alternative, where), start=1)])
    return found


def _comparison(given: t.Any, place: str) -> Comparison:
    data = _dictionary(given, place, COMPARISON_KEYS, {})
    for key, choices in (("field", FIELDS), ("is", OPERATORS)):
        if not isinstance(data[key], str) or data[key] not in choices:
            raise RuleError(f"{place}: {key} must be one of {', '.join(choices)}, not {_short(data[key])}")
    if not isinstance(data["value"], (type(None), bool, int, float, str)):
        raise RuleError(f"{place}: value must be null, true, false, a number or a text, not {_short(data['value'])}")
    return Comparison(data["field"], data["is"], data["value"], _truth(data["negated"], f"{place}: negated"))


def _list(given: t.Any, place: str) -> list[t.Any]:
    if not isinstance(given, list):
        raise RuleError(f"{place} must be a list, not {_short(given)}")
    if len(given) > LONGEST:
        raise RuleError(f"{place} must have at most {LONGEST} entries, not {len(given)}")
    return given


def _dictionary(given: t.Any, place: str, keys: t.Sequence[str], optional: Values) -> Data:
    if not isinstance(given, dict):
        raise RuleError(f"{place} must be a dictionary, not {_short(given)}")
    data = {**optional, **given}
    missing, unknown = [key for key in keys if key not in data], sorted(set(data) - set(keys))
    if missing or unknown:
        raise RuleError(f"{place}: {missing[0]} is missing" if missing else f"{place}: there is no key {_short(unknown[0])}")
    return data


def _truth(given: t.Any, place: str) -> bool:
    if not isinstance(given, bool):
        raise RuleError(f"{place} must be true or false, not {_short(given)}")
    return given


def _short(value: t.Any) -> str:
    return repr(value)[:100]
