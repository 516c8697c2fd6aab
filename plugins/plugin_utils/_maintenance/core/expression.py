# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""JMESPath over an event, checked when it is loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from ....module_utils._scheduled_events.core.types import Data, Values
from ....module_utils._scheduled_events.imds import document
from ....module_utils._scheduled_events.watch.drain.rules import Comparison
from ..._core.wrong_input import WrongInput

try:
    import jmespath
    from jmespath.exceptions import JMESPathError
except ImportError:  # missing in the controller's environment: reported when a policy is loaded
    HAS_JMESPATH = False
else:
    HAS_JMESPATH = True

# Whether a short pause hurts what a drain method of the VM drains (Method.short_pause_hurts): of the VM's settings, and not of its document.
SHORT_PAUSE_HURTS = "short_pause_hurts"
EVENT_FIELDS = (*document.EVENT_FIELDS, "affects_this_vm", "raw", SHORT_PAUSE_HURTS)
OF_EVENT, TEXT = document.EVENT_FIELDS, document.Field("", "text")
# A condition is tried on this event when it is loaded, so that a misspelt function is found before an event comes.
OF_KIND: Data = {"id": "text", "text": "text", "names": ["vm"], "time": "2026-01-01T00:00:00Z", "whole": 5}
PROBE: Data = {
    **{key: OF_KIND[field.kind] for key, field in document.EVENT_FIELDS.items()},
    "event_type": "Freeze",
    "affects_this_vm": True,
    "raw": {},
    SHORT_PAUSE_HURTS: True,
}


class ExpressionError(ValueError):
    """An expression that cannot be used; C(position) counts characters from 1."""

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position


class MissingJMESPath(ExpressionError):
    """An expression that needs jmespath, which is not installed."""


Condition = TypeVar("Condition")


def load_condition(kind: Callable[[str], Condition], source: str, label: str) -> Condition:
    """Return a condition of this kind. Raise WrongInput, with the label of where it stands and the place in it."""
    try:
        return kind(source)
    except MissingJMESPath as error:
        raise WrongInput(f"{label} {error}") from error
    except ExpressionError as error:
        place = f" at character {error.position}" if error.position else ""
        raise WrongInput(f"{label}{place} {error}: {source}") from error


SHORT_PAUSE = "event_type == 'Freeze' && duration_in_seconds >= `0` && duration_in_seconds < `9`"
_SHORT_PAUSE = (Comparison("event_type", "==", "Freeze"), Comparison("duration_in_seconds", ">=", 0), Comparison("duration_in_seconds", "<", 9))
HURTS = f"{SHORT_PAUSE} && {SHORT_PAUSE_HURTS} == `true`"
# The conditions of the named policies, which thus work without jmespath, also on a VM; any other one is left to it.
BUILT_IN: Mapping[str, Sequence[Comparison]] = {
    SHORT_PAUSE: _SHORT_PAUSE,
    HURTS: (*_SHORT_PAUSE, Comparison(SHORT_PAUSE_HURTS, "==", True)),
    "event_status == 'Started'": [Comparison("event_status", "==", "Started")],
    "event_source == 'User'": [Comparison("event_source", "==", "User")],
}


class Expression:
    """A condition on an event."""

    remarks: Sequence[str] = ()
    """What it compares with, and no event has."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._built_in = BUILT_IN.get(source)
        if self._built_in is not None:
            return
        self._compiled = compiled(source)
        self._check_fields(source)
        compared = list(comparisons(self._compiled.parsed))
        for name, value in compared:
            if OF_EVENT.get(name, TEXT).kind == "whole" and isinstance(value, str):
                raise ExpressionError(f"compares {name}, a number, with a text; compare with a number in backticks, such as `9`", source.find(name) + 1)
        known = [(name, value, word) for name, value in compared for word in OF_EVENT.get(name, TEXT).words if str(value).lower() == word.lower()]
        self.remarks = [f"{name} is never {value!r}; Azure writes {word!r}" for name, value, word in known if value != word]
        self.matches(PROBE)

    def _check_fields(self, source: str) -> None:
        for name in root_fields(self._compiled.parsed):
            if name not in EVENT_FIELDS:
                place = source.find(name)
                message = f"names {name!r}, which events do not have; they have {', '.join(EVENT_FIELDS)}"
                raise ExpressionError(message, place + 1 if place >= 0 else None)

    def matches(self, event: Values) -> bool:
        """Return whether the condition is true, in JMESPath's sense of true."""
        if self._built_in is not None:
            try:
                return all(comparison.matches(event) for comparison in self._built_in)
            except TypeError as error:
                raise ExpressionError(f"cannot be evaluated: {error}") from error
        result = search(self._compiled, event)
        return not (result is None or result is False or (not isinstance(result, (int, float)) and len(result) == 0))


def compiled(source: str) -> Any:
    """Return the parsed expression."""
    if not HAS_JMESPATH:
        raise MissingJMESPath(f"is a JMESPath expression ({source}), and the Python package jmespath is missing on the controller: pip install jmespath")
    try:
        return jmespath.compile(source)
    except JMESPathError as error:
        raise ExpressionError(f"is not JMESPath: {_first_line(error)}", _position(error)) from error


def search(expression: Any, data: Any) -> Any:
    """Return the result of a parsed expression. Raise ExpressionError."""
    try:
        return expression.search(data)
    except JMESPathError as error:
        raise ExpressionError(f"cannot be evaluated: {_first_line(error)}") from error
    except (TypeError, ValueError, ArithmeticError) as error:  # JMESPath functions do not catch these
        raise ExpressionError(f"cannot be evaluated: {error}") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _position(error: Exception) -> int | None:
    place = getattr(error, "lex_position", None)
    return place + 1 if isinstance(place, int) and place >= 0 else None


def comparisons(node: Values) -> Iterator[tuple[str, Any]]:
    """Return the fields of the event itself that are compared with a literal, and the literals."""
    children = _of_event(node)
    if node.get("type") == "comparator":
        for one, other in (children, reversed(children)):
            if one["type"] == "field" and other["type"] == "literal":
                yield str(one["value"]), other.get("value")
    for child in children:
        yield from comparisons(child)


def root_fields(node: Values) -> list[str]:
    """Return the names that are looked up in the event itself, not in something inside it."""
    return [str(node.get("value"))] if node.get("type") == "field" else [name for child in _of_event(node) for name in root_fields(child)]


def _of_event(node: Values) -> list[Values]:
    """Return the parts of an expression that are evaluated in the event itself, not in something inside it."""
    kind, children = node.get("type"), node.get("children") or []
    if kind in ("subexpression", "index_expression", "projection", "value_projection", "filter_projection", "pipe"):
        children = children[:1]
    return [] if kind == "expref" else [child for child in children if isinstance(child, Mapping)]
