# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Read JSON of unknown origin: bounded in depth and digits, and always fit to be written as JSON again."""

from __future__ import annotations

import json
import math
import typing as t

from .limits import DEPTH, DIGITS, TEXT

# The replacement for a number that is out of range or has too many digits.
OutOfRange = t.Callable[[str], t.Any]


def load_bounded(text: str, out_of_range: OutOfRange, halves: bool = False) -> t.Any:
    """Parse JSON. Raise ValueError for text that is not JSON, RecursionError or OverflowError if it is nested too deep.

    Replace unpaired surrogates, which UTF-8 cannot hold, unless ``halves`` is true.
    """

    def whole(digits: str) -> t.Any:
        # Checked before int(): newer versions of Python refuse 5,000 digits, and older ones take long over them.
        return int(digits) if len(digits.lstrip("-")) <= DIGITS else out_of_range(digits)

    def fraction(digits: str) -> t.Any:
        number = float(digits) if len(digits) <= TEXT else math.inf
        return out_of_range(digits) if math.isinf(number) else number

    return _clean(json.loads(text, parse_int=whole, parse_float=fraction, parse_constant=_no_constant), 0, halves)


def _clean(value: t.Any, depth: int, halves: bool) -> t.Any:
    if depth > DEPTH:
        raise OverflowError(f"nested deeper than {DEPTH} levels")
    if isinstance(value, str):
        return value if halves or value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_clean(item, depth + 1, halves) for item in value]
    if isinstance(value, dict):
        return {_clean(key, depth, halves): _clean(item, depth + 1, halves) for key, item in value.items()}
    return value


def _no_constant(name: str) -> t.Any:
    raise ValueError(f"{name} is not JSON")
