# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Overrides: what an operator decided about an event, as the record keeps it in its key decision. Pure functions."""

from __future__ import annotations

import typing as t

from ..core.types import Data, Values
from ..host.system import utc_seconds

Decision = Data

ACTIONS = ("approve", "hold", "release", "let_it_come", "retire_vm")
KEYS = ("action", "who", "why", "at", "until", "vm", "beside")
# To give up a VM or a drain needs a reason that the next operator can read.
NEEDS_WHY = ("approve", "retire_vm")
LONGEST_TEXT = 1000


class WrongDecision(ValueError):
    """A value is not a valid decision; the message completes "decision ...", as in "decision names no action"."""


def checked_decision(value: t.Any, nested: bool = False) -> Decision | None:
    """Return a decision with all its keys, or None for an empty value. Raise WrongDecision."""
    if value in (None, ""):
        return None
    if not isinstance(value, t.Mapping):
        raise WrongDecision(f"is {_short(value)} and not a dictionary")
    unknown = sorted(str(key) for key in value if key not in KEYS)
    if unknown:
        raise WrongDecision("has the unknown key {}; known are {}".format(unknown[0], ", ".join(KEYS)))
    action = value.get("action")
    if action not in ACTIONS:
        raise WrongDecision("has the action {}; known are {}".format(_short(action), ", ".join(ACTIONS)))
    checked: Decision = {"action": str(action), "who": _text(value, "who", True), "why": _text(value, "why", action in NEEDS_WHY)}
    checked["at"] = _time(value, "at", True)
    # A release ends the override before it. Nothing of it expires, so it needs no end.
    checked["until"] = _time(value, "until", action != "release")
    checked["vm"] = _text(value, "vm", action == "retire_vm")
    checked["beside"] = [] if nested else _beside(value.get("beside"))
    return checked


def _beside(value: t.Any) -> list[Decision]:
    """Return the other overrides that still apply: a VM that is retired stays retired when the event is held."""
    if value in (None, ""):
        return []
    if not isinstance(value, (list, tuple)):
        raise WrongDecision(f"has {_short(value)} and not a list in beside")
    return [decision for decision in (checked_decision(item, nested=True) for item in value) if decision]


def _text(value: Values, key: str, needed: bool) -> str | None:
    given = value.get(key)
    text = "" if given is None else str(given).strip()
    if needed and not text:
        raise WrongDecision("needs {} for {}".format(key, value["action"]))
    if len(text) > LONGEST_TEXT:
        raise WrongDecision(f"has more than {LONGEST_TEXT} characters in {key}")
    return text or None


def _time(value: Values, key: str, needed: bool) -> str | None:
    text = _text(value, key, needed)
    if text is not None and utc_seconds(text) is None:
        raise WrongDecision(f"has {_short(text)} in {key} and not a time such as 2026-11-22T08:00:00Z")
    return text


def _short(value: t.Any) -> str:
    return repr(value)[:100]
