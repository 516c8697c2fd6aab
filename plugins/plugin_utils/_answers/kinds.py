# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The kinds of values in an answer. Each takes any value and returns a plain copy that fits, or raises Unusable."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...module_utils._scheduled_events.core.types import Data, Values
from . import limits

Kind = Callable[[Any, str], Any]

# Core interprets a value under such a key: a tagged text, an error, an encrypted value.
RESERVED = "__ansible_"


class Unusable(ValueError):
    """A value that does not fit; the message names the key and the problem."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where or 'the answer'} {why}")


def name_of_type(value: Any) -> str:
    """Return the type of a value, as text for a message."""
    if value is None:
        return "null"
    for types, name in ((bool, "true or false"), ((int, float), "a number"), (str, "a text"), (Mapping, "a dictionary"), ((list, tuple), "a list")):
        if isinstance(value, types):
            return name
    return "no JSON value"


def printable(value: str, longest: int) -> str:
    """Return one line of text without control characters, shortened to ``longest`` characters."""
    found = "".join(letter if letter.isprintable() else " " for letter in str.__str__(value)[: longest + 1])
    return found if len(found) <= longest else found[: longest - 4] + " ..."


def text(value: Any, where: str) -> str:
    """Check a text of limited length: a plan repeats names and ids for each event, and one of 10 MB would fill the controller's memory."""
    found = _whole_text(value, where)
    if len(found) > limits.TEXT:
        raise Unusable(where, f"has {len(found)} characters, more than {limits.TEXT}")
    return found


def _whole_text(value: Any, where: str) -> str:
    """Return a text of any length. Replace unpaired surrogates, which no encoding can write."""
    if not isinstance(value, str):
        raise Unusable(where, f"is {name_of_type(value)}, not a text")
    return str.__str__(value).encode("utf-8", "replace").decode("utf-8")


def line(value: Any, where: str) -> str:
    """Check a message."""
    return printable(_whole_text(value, where), limits.LINE)


def short(value: Any, where: str) -> str:
    """Check a name or a word that messages repeat."""
    return printable(_whole_text(value, where), limits.WORD)


def output(value: Any, where: str) -> str:
    """Return the end of a program's output, where the reason mostly is."""
    return printable(_whole_text(value, where)[-limits.OUTPUT :].strip(), limits.OUTPUT)


def flag(value: Any, where: str) -> bool:
    """Check a boolean; texts and numbers that resemble one are refused."""
    if not isinstance(value, bool):
        raise Unusable(where, f"is {name_of_type(value)}, not true or false")
    return value


def whole(value: Any, where: str) -> int:
    """Check a whole number of limited size."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unusable(where, f"is {name_of_type(value)}, not a whole number")
    if abs(value) >= 10**limits.DIGITS:
        raise Unusable(where, f"is a number of more than {limits.DIGITS} digits")
    return int(value)


def number(value: Any, where: str) -> float | int:
    """Check a finite number."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Unusable(where, "is not a finite number")
        return float(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return whole(value, where)
    raise Unusable(where, f"is {name_of_type(value)}, not a number")


def between(low: float, high: float) -> Kind:
    """Check a number within its limits."""

    def check(value: Any, where: str) -> float | int:
        found = number(value, where)
        if not low <= found <= high:
            raise Unusable(where, f"is not between {low:g} and {high:g}")
        return found

    return check


def anything(value: Any, where: str, depth: int = 0) -> Any:
    """Check any JSON value that is not nested too deep, such as the options of a drain method."""
    if depth > limits.DEPTH:
        raise Unusable(where[:100], f"is nested deeper than {limits.DEPTH} levels")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _whole_text(value, where)
    if isinstance(value, (int, float)):
        return number(value, where)
    if isinstance(value, Mapping):
        return {key(name, where): anything(item, f"{where}.{printable(str(name), 60)}", depth + 1) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [anything(item, f"{where}[{place}]", depth + 1) for place, item in enumerate(value)]
    raise Unusable(where, f"is {name_of_type(value)}")


def key(value: Any, where: str) -> str:
    """Check a key of a dictionary with arbitrary keys."""
    name = text(value, f"a key of {where}")
    if name.startswith(RESERVED):
        raise Unusable(where, f"has the key {printable(name, 60)}, which only Ansible itself may use")
    return name


def maybe(kind: Kind) -> Kind:
    """Allow null as well."""
    return lambda value, where: None if value is None else kind(value, where)


def many(kind: Kind, most: int | None = None) -> Kind:
    """Check a list of values of this kind, of no more than C(most)."""

    def check(value: Any, where: str) -> list[Any]:
        if not isinstance(value, (list, tuple)):
            raise Unusable(where, f"is {name_of_type(value)}, not a list")
        if most is not None and len(value) > most:
            raise Unusable(where, f"has {len(value)} items, more than {most}")
        return [kind(item, f"{where}[{place}]") for place, item in enumerate(value)]

    return check


def naming(kind: Kind, event_of: Callable[[Values], Any]) -> Kind:
    """Check a list whose events together name a limited number of resources. C(event_of) returns the event of one item."""

    def check(value: Any, where: str) -> Any:
        found = [event_of(one) for one in value if isinstance(one, Mapping)] if isinstance(value, (list, tuple)) else []
        names = [one.get("resources") for one in found if isinstance(one, Mapping)]
        count = sum(len(one) for one in names if isinstance(one, (list, tuple)))
        if count > limits.NAMES:
            raise Unusable(where, f"names {count} resources, more than {limits.NAMES}")
        return kind(value, where)

    return check


def named(kind: Kind, most: int = limits.VALUES) -> Kind:
    """Check a dictionary with any keys and values of this kind, of no more than C(most)."""

    def check(value: Any, where: str) -> Data:
        if not isinstance(value, Mapping):
            raise Unusable(where, f"is {name_of_type(value)}, not a dictionary")
        if len(value) > most:
            raise Unusable(where, f"has {len(value)} items, more than {most}")
        return {key(name, where): kind(item, f"{where}.{printable(str(name), 60)}") for name, item in value.items()}

    return check


def fields(known: Mapping[str, Kind], needed: Iterable[str] = ()) -> Kind:
    """Check a dictionary with these keys. Drop other keys; refuse a dictionary that lacks a needed one."""
    wanted = tuple(needed)

    def check(value: Any, where: str) -> Data:
        if not isinstance(value, Mapping):
            raise Unusable(where, f"is {name_of_type(value)}, not a dictionary")
        for name in wanted:
            if name not in value:
                raise Unusable(where, f"has no {name}")
        before = where + "." if where else ""
        return {name: kind(value[name], before + name) for name, kind in known.items() if name in value}

    return check
