# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Convert values from templates to plain Python.

Core 2.19 and later hand filters lazy and tagged containers, core 2.18 turns numbers in templates into text. Everything that enters the plan goes through here,
so the rest of the code sees plain Python only, and nothing that a VM or an inventory says can crash it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._scheduled_events.core import limits
from ...module_utils._scheduled_events.core.types import Values

LARGEST: int = 10**limits.DIGITS
# A float written out in full has up to 330 characters; a longer text is not a real number and only costs time.
LONGEST_NUMBER = 400
TOO_LARGE = f"(a number of more than {limits.DIGITS} digits)"
TOO_DEEP = f"(nested deeper than {limits.DEPTH} levels)"

TRUE_WORDS = frozenset(("true", "yes", "on", "1"))
FALSE_WORDS = frozenset(("false", "no", "off", "0", ""))


def plain(value: Any, depth: int = 0) -> Any:
    """Return a copy made of dict, list, str, int, float, bool and None only. Values nested too deep and numbers too large become text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value) if _fits(value) else TOO_LARGE
    if isinstance(value, float):
        return float(value)
    if depth >= limits.DEPTH:
        return TOO_DEEP
    # Lists and dictionaries first, because a check of an abstract class is ten times slower, and a fleet's observations need half a million.
    if not isinstance(value, list) and isinstance(value, (dict, Mapping)):
        return {text(key) or "": plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, Sequence, set, frozenset)) and not isinstance(value, (bytes, bytearray)):
        return [plain(item, depth + 1) for item in value]
    return str(value)


def _fits(value: int) -> bool:
    """Return whether a whole number is within the limit of digits. Python refuses to format very long ones."""
    return -LARGEST <= value <= LARGEST


JSON = "text (JSON?)"


def kind(value: Any) -> str:
    """Return what a value is, in words. Core's containers have types of its own."""
    if isinstance(value, Mapping):
        return "a dictionary"
    found = plain(value)
    # An extra variable that is not part of a whole JSON object, and a survey's answer, are text.
    if isinstance(found, str) and found.lstrip()[:1] in ("[", "{"):
        return JSON
    return {list: "a list", str: "text", bool: "true or false", type(None): "nothing"}.get(type(found), "a number")


def mapping(value: Any) -> Values:
    """Return the value if it is a mapping, else an empty one."""
    return value if value is not None and isinstance(value, (dict, Mapping)) else {}


def items(value: Any) -> Sequence[Any]:
    """Return the value if it is a list, else an empty one."""
    return value if value is not None and isinstance(value, (list, Sequence)) and not isinstance(value, (str, bytes, bytearray)) else ()


def texts(value: Any) -> list[str]:
    """Return the texts of a list; skip other items."""
    return [str.__str__(item) for item in items(value) if isinstance(item, str)]


def text(value: Any) -> str | None:
    """Return plain text, or None for None and for the empty text."""
    if value is None:
        return None
    if isinstance(value, str):
        return str.__str__(value) or None
    if isinstance(value, (bool, float)):
        return str(value)
    if isinstance(value, int):
        return str(value) if _fits(value) else TOO_LARGE
    return None


def number(value: Any) -> float | None:
    """Return a finite number, also from text (core 2.18), or None."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str) and len(value) > LONGEST_NUMBER:
        return None
    if isinstance(value, (int, float, str)):
        try:
            result = float(value)
        except (ValueError, OverflowError):
            return None
        return result if math.isfinite(result) else None
    return None


def whole(value: Any) -> int | None:
    """Return a whole number, or None."""
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value) if _fits(value) else None
    result = number(value)
    return None if result is None or not -LARGEST <= result <= LARGEST else int(result)


def flag(value: Any) -> bool | None:
    """Return a boolean, or None if unknown. Accept the words of YAML that Jinja leaves as text."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) or (isinstance(value, int) and value in (0, 1)):
        word = str(value).strip().lower()
        if word in TRUE_WORDS:
            return True
        if word in FALSE_WORDS and word:
            return False
    return None
