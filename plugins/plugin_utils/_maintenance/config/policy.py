# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The policy: which events drain, and when they are approved. The two named policies are defined here only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..._core import plain_values
from ..._core.short_forms import suggestion
from ..core.expression import Expression, ExpressionError, MissingJMESPath
from . import approval_window as windows

_SHORT_PAUSE = "event_type == 'Freeze' && duration_in_seconds >= `0` && duration_in_seconds < `9`"

NAMED: dict[str, list[dict[str, Any]]] = {
    # No VM is interrupted undrained.
    "default": [
        {"name": "short pause", "when": _SHORT_PAUSE, "drain": False, "approve": "now"},
        {"name": "everything else", "drain": True, "approve": "after_drain"},
    ],
    # The sample policy of Microsoft's pages, with a drain where they say "custom handling".
    "documentation": [
        {"name": "already running", "when": "event_status == 'Started'", "drain": False, "approve": "never"},
        {"name": "asked for by user", "when": "event_source == 'User'", "drain": False, "approve": "now"},
        {"name": "short pause", "when": _SHORT_PAUSE, "drain": False, "approve": "now"},
        {"name": "everything else", "drain": True, "approve": "after_drain"},
    ],
}
CHOICES = {
    "approve": ("never", "after_drain", "now"),
    "unreachable": ("wait", "drained"),
    "on_drain_failure": ("hold", "retry"),
    "hold_at_deadline": ("drain", "let_it_come"),
}
KEYS = tuple(dict.fromkeys(("name", "when", "drain", "approve", "drain_at", "window", *CHOICES)))


class PolicyError(ValueError):
    """A policy that cannot be used; the message names the rule and its position."""


@dataclass(frozen=True)
class Decision:
    """What a rule decides about one event."""

    name: str
    drain: bool
    approve: str
    drain_at: float | str | None = None
    window: tuple[windows.Window, ...] = ()
    unreachable: str = "wait"
    on_drain_failure: str | None = None
    hold_at_deadline: str = "drain"
    problem: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the part that a record keeps."""
        return {"name": self.name, "drain": self.drain, "approve": self.approve}


# An event that matches no rule counts as impact and needs an operator.
NO_RULE = Decision("no rule matches", True, "never", problem="no rule of the policy matches it")


@dataclass(frozen=True)
class Rule:
    """One checked rule."""

    decision: Decision
    when: Expression | None
    source: dict[str, Any]


@dataclass(frozen=True)
class Policy:
    """Checked rules; the first that matches wins."""

    rules: tuple[Rule, ...]

    def decide(self, event: Mapping[str, Any]) -> Decision:
        """Return the decision about the event. A rule that fails on the event holds it, with the reason."""
        for rule in self.rules:
            try:
                if rule.when is None or rule.when.matches(event):
                    return rule.decision
            except ExpressionError as error:
                problem = f"rule {rule.decision.name!r} of the policy {error}"
                return Decision(rule.decision.name, True, "never", problem=problem)
        return NO_RULE


def strictest(decisions: Iterable[Decision]) -> Decision:
    """Combine several decisions about one event into the most protective one: draining by one does not weaken C(approve: never) of another."""
    every = list(decisions)
    first = min(every, key=lambda one: (not one.drain, CHOICES["approve"].index(one.approve), one.unreachable != "wait"))
    never = first if first.approve == "never" else next((one for one in every if one.approve == "never"), None)
    waits = next((one.unreachable for one in every if one.unreachable == "wait"), first.unreachable)
    if never not in (first, None):
        first = replace(first, approve="never", name=never.name, problem=never.problem)
    return first if first.unreachable == waits else replace(first, unreachable=waits)


def load(value: Any) -> Policy:
    """Load a policy from its name or its list of rules. Raise PolicyError."""
    if isinstance(value, Policy):
        return value
    if value is None:
        value = "default"
    if isinstance(value, str):
        if value not in NAMED:
            raise PolicyError(f"there is no policy named {str(value)!r}{suggestion(str(value), NAMED)}; there are {', '.join(NAMED)}, or give a list of rules")
        value = NAMED[str.__str__(value)]
    if isinstance(value, Mapping) or not isinstance(value, Sequence):
        raise PolicyError(f"respond_policy: a policy is a name or a list of rules, not {plain_values.kind(value)}")
    if not value:
        raise PolicyError("the policy has no rules; an event without a rule would wait for a person every time")
    return Policy(tuple(_rule(item, place) for place, item in enumerate(value, start=1)))


def _rule(given: Any, place: int) -> Rule:
    if not isinstance(given, Mapping):
        raise PolicyError(f"rule {place} of the policy: must be a dictionary, not {given!r}")
    source = plain_values.plain(given)
    label = label_of(source, place)
    if unknown := sorted(set(source) - set(KEYS)):
        shown = ", ".join(f"{key}{suggestion(key, KEYS)}" for key in unknown)
        raise PolicyError(f"{label}: unknown keys {shown}; there are {', '.join(KEYS)}")
    when = _when(source.get("when"), label)
    return Rule(_decision(source, place, label), when, source)


def label_of(source: Mapping[str, Any], place: int) -> str:
    """Return how messages name a rule: by its place, and by its name if it has one."""
    return f"rule {place} of the policy" + (f" ({source['name']!r})" if source.get("name") else "")


def _when(source: Any, label: str) -> Expression | None:
    if source is None:
        return None
    if not isinstance(source, str) or not source.strip():
        raise PolicyError(f"{label}: when must be a JMESPath expression, not {source!r}")
    try:
        return Expression(source)
    except MissingJMESPath as error:
        raise PolicyError(f"{label}: when {error}") from error
    except ExpressionError as error:
        place = f" at character {error.position}" if error.position else ""
        raise PolicyError(f"{label}: when{place} {error}: {source}") from error


def _decision(source: dict[str, Any], place: int, label: str) -> Decision:
    drain = plain_values.flag(source.get("drain"))
    if drain is None:
        raise PolicyError(f"{label}: drain must be true or false, not {source.get('drain')!r}")
    chosen: dict[str, Any] = {}
    for key, choices in CHOICES.items():
        if key in source or key == "approve":
            if source.get(key) not in choices:
                raise PolicyError(f"{label}: {key} must be one of {', '.join(choices)}, not {source.get(key)!r}")
            chosen[key] = source[key]
    if drain and chosen["approve"] == "now":
        raise PolicyError(f"{label}: approve: now does not wait for a drain; say drain: false, or approve: after_drain")
    if not drain and chosen["approve"] == "after_drain":
        raise PolicyError(f"{label}: approve: after_drain needs drain: true; without a drain say approve: now or never")
    if "window" in source:
        try:
            chosen["window"] = windows.load(source["window"])
        except windows.WindowError as error:
            raise PolicyError(f"{label}: window {error}") from error
    name = plain_values.text(source.get("name")) or f"rule {place}"
    return Decision(name=name, drain=drain, drain_at=_drain_at(source, label), **chosen)


def _drain_at(source: dict[str, Any], label: str) -> float | str | None:
    given = source.get("drain_at")
    if given is None or given == "now":
        return given
    seconds = plain_values.number(given)
    if seconds is None or seconds < 0:
        raise PolicyError(f"{label}: drain_at must be now, or seconds before NotBefore such as 900, not {given!r}")
    return seconds
