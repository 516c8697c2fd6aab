# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Findings: what a method found before it acted. They come from VMs, so their shape is checked and nothing else is taken from them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from ....module_utils._scheduled_events.core.types import Data
from ..._core import plain_values

MOST_WORDS, DEEPEST = 64, 20
WORD = re.compile(r"[A-Za-z0-9_.:-]{0,100}")


def read_words(before: Any) -> Data | None:
    """Read a finding of names with true, false, numbers and single words, or return None: no path and no command fits into it."""
    if not isinstance(before, Mapping) or len(before) > MOST_WORDS:
        return None
    found: Data = {}
    for key, value in before.items():
        if not isinstance(key, str) or not key or not WORD.fullmatch(key) or not _is_word(value):
            return None
        found[str.__str__(key)] = plain_values.plain(value)
    return found


def _is_word(value: Any) -> bool:
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int):
        return abs(value) < 2**53
    return isinstance(value, str) and WORD.fullmatch(value) is not None


def data(value: Any, depth: int = 0) -> Any:
    """A value of a record as plain data that ansible-core 2.18 can pass on: no number without an end, nothing endlessly nested."""
    if depth > DEEPEST:
        return None
    if isinstance(value, Mapping):
        return {str(key): data(item, depth + 1) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if plain_values.items(value):
        return [data(item, depth + 1) for item in plain_values.items(value)]
    return plain_values.plain(value)


def shown(value: Any) -> str:
    """A text of a record in a message: as it is where it is a plain name, else quoted and short."""
    text = str(value)
    return text if text and WORD.fullmatch(text) else ascii(text[:60])


def way_out(host: str) -> str:
    """What an operator does about something that only a VM's record says."""
    return (
        f"If it was a method of {host}, list it with its options in drain_methods_former of {host}, and with by_hand: true once you have put back by hand what "
        "it changed. If it never was, the record was tampered with: do nothing that it names."
    )
