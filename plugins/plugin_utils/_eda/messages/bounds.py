# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""How large a message may be: measured before anything is read out of it, without recursion."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.bounded_json import load_bounded
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.limits import DEPTH, DIGITS

# Event Grid and Service Bus (standard tier) deliver less, and so does the webhook.
BYTES = 1024 * 1024
# Messages in one delivery. Event Grid sends a batch of a few.
MESSAGES = 100
# EventIds in one message, and resources in it that are read. Event Grid sends one event, in a few resources. Each EventId may start a run.
EVENTS = 32
RESOURCES = 1000
# A number or an empty container counts as so many bytes, so that a million of them are too much as well.
LEAST = 2

TOO_LARGE = f"it is larger than {BYTES} bytes"
TOO_DEEP = f"it is nested deeper than {DEPTH} levels"


def excess(value: Any) -> str | None:
    """Return why a value is too large to be read, or None."""
    left = BYTES
    waiting: list[tuple[Any, int]] = [(value, 0)]
    while waiting:
        item, depth = waiting.pop()
        if depth > DEPTH:
            return TOO_DEEP
        left -= max(LEAST, len(item)) if isinstance(item, (str, bytes, bytearray, list, tuple, Mapping)) else LEAST
        if left < 0:
            return TOO_LARGE
        if isinstance(item, Mapping):
            waiting.extend((key, depth + 1) for key in item)
            waiting.extend((below, depth + 1) for below in item.values())
        elif isinstance(item, (list, tuple)):
            waiting.extend((below, depth + 1) for below in item)
    return None


def parse(body: str | bytes) -> Any:
    """Return the JSON in a text. Raise ValueError with the reason for what is none, or is too large."""
    if len(body) > BYTES:
        raise ValueError(TOO_LARGE)
    try:
        return load_bounded(body.decode("utf-8-sig") if isinstance(body, bytes) else body.lstrip("\ufeff"), _out_of_range)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise ValueError("it is not JSON") from None
    except (RecursionError, OverflowError):
        raise ValueError(TOO_DEEP) from None


def _out_of_range(_digits: str) -> Any:
    raise ValueError(f"it has a number of more than {DIGITS} digits")
