# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""The fields of an event in a message, read by the code that reads them out of a document of Azure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ....module_utils._scheduled_events.core.argument_specs import API_VERSIONS
from ....module_utils._scheduled_events.core.errors import ScheduledEventsError
from ....module_utils._scheduled_events.imds.document import EVENT_FIELDS, parse_document
from . import texts

WORDS = ("event_type", "event_status", "event_source", "resource_type")


def from_wire(raw: Any) -> dict[str, Any]:
    """Read an event with Azure's names of fields, as Event Grid sends it. Raise ValueError with the reason if it is none."""
    if not isinstance(raw, Mapping):
        raise ValueError("it has no event")
    body = json.dumps({"DocumentIncarnation": 0, "Events": [{field.wire: raw.get(field.wire) for field in EVENT_FIELDS.values()}]})
    try:
        event = parse_document(body, API_VERSIONS[0], source="the sender").events[0]
    except ScheduledEventsError as error:
        raise ValueError(f"its event is not readable: {error.message}") from None
    event_id = texts.event_id(event["event_id"])
    if event_id is None:
        raise ValueError("its EventId has not the form of a GUID")
    return {
        "event_id": event_id,
        **{key: texts.word(event[key]) for key in WORDS},
        "resources": texts.names(event["resources"]),
        "not_before": event["not_before"],
        "duration_in_seconds": event["duration_in_seconds"],
        "description": texts.text(event["description"]),
    }


def from_keys(event: Any) -> dict[str, Any]:
    """Read an event with the keys of this collection, as a watcher sends it. Raise ValueError with the reason if it is none."""
    if not isinstance(event, Mapping):
        raise ValueError("it has no event")
    return from_wire({field.wire: event.get(key) for key, field in EVENT_FIELDS.items()})
