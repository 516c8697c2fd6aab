# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""A message of a watcher, or of event source scheduled_events: CloudEvents 1.0 in structured JSON."""

from __future__ import annotations

from ....module_utils._scheduled_events.core.types import Values
from ....module_utils._scheduled_events.watch.message import TYPE_PREFIX, TYPES
from . import texts
from .shape import ENDPOINT, ENDPOINT_TYPES, WATCHER, Shape, from_keys, shaped

WHOLE = 10**18


def is_watcher(message: Values) -> bool:
    """Return whether it claims to be one of this collection's messages."""
    kind = message.get("type")
    return "specversion" in message and isinstance(kind, str) and (kind.startswith(TYPE_PREFIX) or kind in ENDPOINT_TYPES)


def read_watcher(message: Values) -> Shape:
    """Return the shape. Raise ValueError with the reason if it is not readable."""
    kind, data = str(message["type"]), message.get("data")
    common = {
        "message_id": texts.word(message.get("id")),
        "sender": sender_of(message),
        "sent_at": texts.word(message.get("time")),
        "resource_ids": [found for found in [texts.resource_id(texts.member(data, "vm", "resource_id"))] if found],
    }
    if kind in ENDPOINT_TYPES:
        return shaped(form=ENDPOINT, change=ENDPOINT_TYPES[kind], problem=texts.text(texts.member(data, "problem")), **common)
    if kind not in TYPES:
        raise ValueError(f"its type {kind[:100]} is not known to this version of the collection")
    incarnation = texts.member(data, "document_incarnation")
    known = isinstance(incarnation, int) and not isinstance(incarnation, bool) and abs(incarnation) < WHOLE
    event = from_keys(texts.member(data, "event"))
    return shaped(form=WATCHER, news=True, change=TYPES[kind], document_incarnation=incarnation if known else None, **common, **event)


def sender_of(message: Values) -> str | None:
    """Return who says that it sends. It is no proof: a credential for each sender is what proves it."""
    return texts.text(message.get("source"), texts.LONGEST_RESOURCE_ID)
