# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What a source of Event-Driven Ansible puts into its queue: the messages in it, whatever they are wrapped in.

How large one may be is measured before anything is read out of it, without recursion.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ....module_utils._scheduled_events.core.bounded_json import load_bounded
from ....module_utils._scheduled_events.core.limits import DEPTH, DIGITS
from . import texts

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


def check_size(value: Any, allowance: Allowance) -> None:
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


def parse_json(body: str | bytes, allowance: Allowance) -> Any:
    """Return the JSON in a text. Raise ValueError with the reason for what is none, or is too large."""
    try:
        text = body.decode("utf-8-sig") if isinstance(body, bytes) else body.lstrip("\ufeff")
        # Its characters are counted by check_size.
        allowance.use(VALUE * sum(map(text.count, SEPARATORS)))
        return load_bounded(text, _out_of_range)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise ValueError("it is not JSON") from None
    except (RecursionError, OverflowError):
        raise ValueError(TOO_DEEP) from None


def _out_of_range(_digits: str) -> Any:
    raise ValueError(f"it has a number of more than {DIGITS} digits")


# ansible.eda.webhook and others put a body below payload, ansible.eda.azure_service_bus below body.
WRAPPERS = ("payload", "body")
# A wrapper may hold a text, and the text a wrapper.
MOST_LAYERS = 4


def messages_in(delivery: Any, allowance: Allowance) -> list[Any]:
    """Return the messages of a delivery: one, or those of a list. Raise ValueError with the reason if it cannot be read."""
    check_size(delivery, allowance)
    from_text = False
    for _layer in range(MOST_LAYERS):
        if isinstance(delivery, (str, bytes)):
            if from_text:
                # Its characters are read once more.
                check_size(delivery, allowance)
            delivery, from_text = parse_json(delivery, allowance), True
        elif isinstance(delivery, Mapping) and (key := _wrapper(delivery)):
            delivery = delivery[key]
        else:
            break
    messages = list(delivery) if isinstance(delivery, (list, tuple)) else [delivery]
    if len(messages) > MESSAGES:
        raise ValueError(f"it has {len(messages)} messages, and no more than {MESSAGES} are read")
    return messages


def unread_message(delivery: Any) -> Any:
    """Return the first message of a delivery as far as it lies there without reading a text, to ask it for its sender; None where it is in a text."""
    for _layer in range(MOST_LAYERS):
        if isinstance(delivery, Mapping) and (key := _wrapper(delivery)):
            delivery = delivery[key]
    if isinstance(delivery, (list, tuple)):
        delivery = delivery[0] if delivery else None
    return delivery if isinstance(delivery, Mapping) else None


def _wrapper(delivery: Mapping[Any, Any]) -> str | None:
    if "specversion" in delivery or "eventType" in delivery:
        return None
    return next((key for key in WRAPPERS if key in delivery), None)


def header_in(delivery: Any, header: str) -> str | None:
    """Return the value of a header of the request that brought a delivery, as a webhook puts it below meta; None where it has none, or more than one."""
    headers = texts.member(delivery, "meta", "headers")
    if not isinstance(headers, Mapping):
        return None
    found = [value for name, value in headers.items() if isinstance(name, str) and name.lower() == header.lower()]
    return texts.text(found[0].strip(), texts.LONGEST_RESOURCE_ID) or None if len(found) == 1 and isinstance(found[0], str) else None
