# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The policy: which events drain, and when they are approved. The two named policies are defined here only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ....module_utils._scheduled_events.core.types import Data, Values
from ..._core import plain_values
from ..._core.short_forms import suggestion
from ..._core.wrong_input import WrongInput, refuse_unknown
from ..core.expression import HURTS, SHORT_PAUSE, SHORT_PAUSE_HURTS, Expression, ExpressionError, load_condition
from . import zone_data
from .windows import MOST_DAYS, Windows, have_zones, load_windows, never_open

NAMED: dict[str, list[Data]] = {
    # No VM is interrupted undrained; a database whose others wait for it is so even for seconds.
    "default": [
        {"name": "short pause that hurts", "when": HURTS, "drain": True, "approve": "after_drain"},
        {"name": "short pause", "when": SHORT_PAUSE, "drain": False, "approve": "now"},
        {"name": "everything else", "drain": True, "approve": "after_drain"},
    ],
    # The sample policy of Microsoft's pages, with a drain where they say "custom handling".
    "documentation": [
        {"name": "already running", "when": "event_status == 'Started'", "drain": False, "approve": "never"},
        {"name": "asked for by user", "when": "event_source == 'User'", "drain": False, "approve": "now"},
        {"name": "short pause", "when": SHORT_PAUSE, "drain": False, "approve": "now"},
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


@dataclass(frozen=True)
class Decision:
    """What a rule decides about one event."""

    name: str
    drain: bool
    approve: str
    drain_at: float | str | None = None
    window: Windows = ()
    unreachable: str = "wait"
    on_drain_failure: str | None = None
    hold_at_deadline: str = "drain"
    problem: str | None = None

    def as_dict(self) -> Data:
        """Return the part that a record keeps."""
        return {"name": self.name, "drain": self.drain, "approve": self.approve}


# An event that matches no rule counts as impact and needs an operator.
NO_RULE = Decision("no rule matches", True, "never", problem="no rule of the policy matches it")


@dataclass(frozen=True)
class Rule:
    """One checked rule."""

    decision: Decision
    when: Expression | None
    source: Data


@dataclass(frozen=True)
class Policy:
    """Checked rules; the first that matches wins."""

    rules: tuple[Rule, ...]

    def decide(self, event: Values, *, short_pause_hurts: bool = False) -> Decision:
        """Return the decision about the event for a VM. A rule that fails on the event holds it, with the reason."""
        values = {**event, SHORT_PAUSE_HURTS: short_pause_hurts}
        for rule in self.rules:
            try:
                if rule.when is None or rule.when.matches(values):
                    return rule.decision
            except ExpressionError as error:
                problem = f"rule {rule.decision.name!r} of the policy {error}"
                return Decision(rule.decision.name, True, "never", problem=problem)
        return NO_RULE

    def closed_for_good(self, now: float) -> list[str]:
        """Return which windows do not open in the next year: their rules never approve."""
        closed = [rule.decision.name for rule in self.rules if never_open(rule.decision.window, now)]
        return [
            f"respond_policy: the window of {name!r} does not open in the next {MOST_DAYS} days; correct its days and dates, or remove it" for name in closed
        ]

    @property
    def remarks(self) -> list[str]:
        """What its conditions compare with, and no event has; and newer time zone data that do not count."""
        found = [f"{rule.decision.name!r}: {text}" for rule in self.rules if rule.when for text in rule.when.remarks]
        older = zone_data.of_controller()[1] if any(have_zones(rule.decision.window) for rule in self.rules) else ""
        return [f"respond_policy: {text}" for text in (*found, older) if text]


def strictest(decisions: Iterable[Decision]) -> Decision:
    """Combine several decisions about one event into the most protective one: draining by one does not weaken C(approve: never) of another."""
    every = list(decisions)
    first = min(every, key=lambda one: (not one.drain, CHOICES["approve"].index(one.approve), one.unreachable != "wait"))
    never = first if first.approve == "never" else next((one for one in every if one.approve == "never"), None)
    waits = next((one.unreachable for one in every if one.unreachable == "wait"), first.unreachable)
    if never not in (first, None):
        first = replace(first, approve="never", name=never.name, problem=never.problem)
    # An approval starts the event for all of them, so each rule's windows count.
    windows = tuple(dict.fromkeys(alternatives for one in every for alternatives in one.window))
    return first if (first.unreachable, first.window) == (waits, windows) else replace(first, unreachable=waits, window=windows)


def load(value: Any) -> Policy:
    """Load a policy from its name or its list of rules. Raise WrongInput."""
    if isinstance(value, Policy):
        return value
    if value is None:
        value = "default"
    if isinstance(value, str):
        if "datetime.date(" in value:
            raise WrongInput('respond_policy: put the dates of a window in quotes, such as "2026-12-24": without, ansible-core 2.18 makes text of the policy')
        if plain_values.kind(value) != "text":
            raise WrongInput(f"respond_policy: a policy is a name or a list of rules, not {plain_values.kind(value)}")
        if value not in NAMED:
            raise WrongInput(f"there is no policy named {str(value)!r}{suggestion(str(value), NAMED)}; there are {', '.join(NAMED)}, or give a list of rules")
        value = NAMED[str.__str__(value)]
    if isinstance(value, Mapping) or not isinstance(value, Sequence):
        raise WrongInput(f"respond_policy: a policy is a name or a list of rules, not {plain_values.kind(value)}")
    if not value:
        raise WrongInput("the policy has no rules; an event without a rule would wait for a person every time")
    return Policy(tuple(_rule(item, place) for place, item in enumerate(value, start=1)))


def _rule(given: Any, place: int) -> Rule:
    if not isinstance(given, Mapping):
        raise WrongInput(f"rule {place} of the policy: must be a dictionary, not {given!r}")
    source = plain_values.plain(given)
    label = label_of(source, place)
    refuse_unknown(source, KEYS, label)
    when = _when(source.get("when"), label)
    return Rule(_decision(source, place, label), when, source)


def label_of(source: Values, place: int) -> str:
    """Return how messages name a rule: by its place, and by its name if it has one."""
    return f"rule {place} of the policy" + (f" ({source['name']!r})" if source.get("name") else "")


def _when(source: Any, label: str) -> Expression | None:
    if source is None:
        return None
    if not isinstance(source, str) or not source.strip():
        raise WrongInput(f"{label}: when must be a JMESPath expression, not {source!r}")
    return load_condition(Expression, source, f"{label}: when")


def _decision(source: Data, place: int, label: str) -> Decision:
    drain = plain_values.flag(source.get("drain"))
    if drain is None:
        raise WrongInput(f"{label}: drain must be true or false, not {source.get('drain')!r}")
    chosen: Data = {}
    for key, choices in CHOICES.items():
        if key in source or key == "approve":
            if source.get(key) not in choices:
                raise WrongInput(f"{label}: {key} must be one of {', '.join(choices)}, not {source.get(key)!r}")
            chosen[key] = source[key]
    if drain and chosen["approve"] == "now":
        raise WrongInput(f"{label}: approve: now does not wait for a drain; say drain: false, or approve: after_drain")
    if not drain and chosen["approve"] == "after_drain":
        raise WrongInput(f"{label}: approve: after_drain needs drain: true; without a drain say approve: now or never")
    if "window" in source:
        try:
            chosen["window"] = (load_windows(source["window"]),)
        except WrongInput as error:
            raise WrongInput(f"{label}: window {error}") from error
    name = plain_values.text(source.get("name")) or f"rule {place}"
    return Decision(name=name, drain=drain, drain_at=_drain_at(source, label), **chosen)


def _drain_at(source: Data, label: str) -> float | str | None:
    given = source.get("drain_at")
    if given is None or given == "now":
        return given
    seconds = plain_values.number(given)
    if seconds is None or seconds < 0:
        raise WrongInput(f"{label}: drain_at must be now, or seconds before NotBefore such as 900, not {given!r}")
    return seconds
