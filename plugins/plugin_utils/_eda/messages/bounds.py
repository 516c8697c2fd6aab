# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""How large a message may be: measured before anything is read out of it, without recursion."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ....module_utils._scheduled_events.core.bounded_json import load_bounded
from ....module_utils._scheduled_events.core.limits import DEPTH, DIGITS

# Event Grid and Service Bus (standard tier) deliver less, and so does the webhook.
BYTES = 1024 * 1024
# Messages in one delivery. Event Grid sends a batch of a few.
MESSAGES = 100
# EventIds in one message, and resources in it that are read. Event Grid sends one event, in a few resources. Each EventId may start a run.
EVENTS = 32
RESOURCES = 1000
# A value counts as so many bytes, however short it is, beside the characters of a text: reading a value costs what reading so much text does.
VALUE = 16
SEPARATORS = ",:[{"

TOO_DEEP = f"it is nested deeper than {DEPTH} levels"


class TooLarge(ValueError):
    """Larger than what may be read."""


class Allowance:
    """How many bytes may still be read, of a delivery or of all from one sender."""

    def __init__(self, most: int = BYTES) -> None:
        self.most = most
        self.used = 0

    def use(self, size: int) -> None:
        """Use so many bytes before they are read, or raise TooLarge. Then all are used."""
        if size > self.most - self.used:
            self.used = self.most
            raise TooLarge(f"it is larger than {self.most} bytes")
        self.used += size


def check(value: Any, allowance: Allowance) -> None:
    """Raise ValueError with the reason if a value is too large to be read."""
    waiting: list[tuple[Any, int]] = [(value, 0)]
    while waiting:
        item, depth = waiting.pop()
        if depth > DEPTH:
            raise ValueError(TOO_DEEP)
        if isinstance(item, (str, bytes, bytearray)):
            allowance.use(len(item))
        elif isinstance(item, Mapping):
            allowance.use(2 * VALUE * len(item))
            waiting.extend((below, depth + 1) for pair in item.items() for below in pair)
        elif isinstance(item, (list, tuple)):
            allowance.use(VALUE * len(item))
            waiting.extend((below, depth + 1) for below in item)


def parse(body: str | bytes, allowance: Allowance) -> Any:
    """Return the JSON in a text. Raise ValueError with the reason for what is none, or is too large."""
    try:
        text = body.decode("utf-8-sig") if isinstance(body, bytes) else body.lstrip("\ufeff")
        # Its characters are counted by check.
        allowance.use(VALUE * sum(map(text.count, SEPARATORS)))
        return load_bounded(text, _out_of_range)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise ValueError("it is not JSON") from None
    except (RecursionError, OverflowError):
        raise ValueError(TOO_DEEP) from None


def _out_of_range(_digits: str) -> Any:
    raise ValueError(f"it has a number of more than {DIGITS} digits")
