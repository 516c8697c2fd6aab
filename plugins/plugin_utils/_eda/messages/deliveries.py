# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""What a source of Event-Driven Ansible puts into its queue: the messages in it, whatever they are wrapped in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import bounds, texts

# ansible.eda.webhook and others put a body below payload, ansible.eda.azure_service_bus below body.
WRAPPERS = ("payload", "body")
# A wrapper may hold a text, and the text a wrapper.
MOST_LAYERS = 4


def messages_in(delivery: Any, allowance: bounds.Allowance) -> list[Any]:
    """Return the messages of a delivery: one, or those of a list. Raise ValueError with the reason if it cannot be read."""
    bounds.check(delivery, allowance)
    from_text = False
    for _layer in range(MOST_LAYERS):
        if isinstance(delivery, (str, bytes)):
            if from_text:
                # Its characters are read once more.
                bounds.check(delivery, allowance)
            delivery, from_text = bounds.parse(delivery, allowance), True
        elif isinstance(delivery, Mapping) and (key := _wrapper(delivery)):
            delivery = delivery[key]
        else:
            break
    messages = list(delivery) if isinstance(delivery, (list, tuple)) else [delivery]
    if len(messages) > bounds.MESSAGES:
        raise ValueError(f"it has {len(messages)} messages, and no more than {bounds.MESSAGES} are read")
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
