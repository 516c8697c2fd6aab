# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The one flat shape that a rulebook sees below C(event.maintenance), whatever the message was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from ....module_utils._scheduled_events.core.argument_specs import API_VERSIONS
from ....module_utils._scheduled_events.core.errors import ScheduledEventsError
from ....module_utils._scheduled_events.core.printable_text import printable
from ....module_utils._scheduled_events.core.types import Data
from ....module_utils._scheduled_events.imds.document import EVENT_FIELDS, parse_document
from ....module_utils._scheduled_events.watch.message import ID_DIGITS, VM_FIELDS, source_of
from . import texts

# Where a message comes from: a watcher (or event source scheduled_events), or Azure Event Grid.
WATCHER = "watcher"
EVENT_GRID = "event_grid"
# Event source scheduled_events: an endpoint does not answer, or answers again.
ENDPOINT = "endpoint"
UNKNOWN = "unknown"
# A report about messages that were not passed on.
DROPPED = "dropped"

Shape = Data


class Reading(NamedTuple):
    """What was read out of one message, and how many resources in it were too many."""

    shapes: list[Shape]
    dropped: int = 0


EMPTY: Shape = {
    "form": UNKNOWN,
    "news": False,
    "new_event": False,
    "new_run": False,
    "problem": None,
    "message_id": None,
    "sender": None,
    "sent_at": None,
    "change": None,
    "event_id": None,
    "run": None,
    "event_type": None,
    "event_status": None,
    "event_source": None,
    "resource_type": None,
    "resources": [],
    "resource_ids": [],
    "vms": [],
    "not_before": None,
    "duration_in_seconds": None,
    "description": None,
    "document_incarnation": None,
    "dropped": 0,
}
"""All keys, always.

form: watcher, event_grid, endpoint, dropped or unknown.
news: whether it is news of an event, for which a run may be started. Only then event_id is set, and has the form of a GUID in lower case.
new_event: whether it is the first news of this event since the rulebook was started.
new_run: whether it is the first news of its run: that of a new event, and after a minute one for VMs that the run at work may not look at.
run: the key of the run that serves the event; null where it is not news. One run of a key is at work at a time.
problem: why it is not news; null where it is.
change: listed, changed or gone; for form endpoint failing or answering.
resources, resource_ids: what the message says. It proves nothing.
vms: the names of VMs in all messages about this event so far. A run looks at these first; what it does comes from what it sees. Empty where they are unknown,
or too many: then it looks at all.
dropped: how many messages were not passed on, for form dropped.
"""


def shaped(**values: Any) -> Shape:
    """Return the shape with these values."""
    return {**EMPTY, "resources": [], "resource_ids": [], "vms": [], **values}


def unknown(problem: str, sender: str | None = None) -> Shape:
    """Return what stands for a message that is not one about scheduled events."""
    return shaped(problem=texts.text(problem), sender=sender)


def about_drops(problem: str, sender: str | None, dropped: int) -> Shape:
    """Return a report about messages that were not passed on."""
    return shaped(form=DROPPED, problem=texts.text(problem), sender=sender, dropped=dropped)


# --- Messages of event source scheduled_events about an endpoint that does not answer, and that answers again ------------


FAILING = "failing"
ANSWERING = "answering"
ENDPOINT_PREFIX = "maintenance.azure.endpoint."
ENDPOINT_TYPES = {ENDPOINT_PREFIX + change: change for change in (FAILING, ANSWERING)}


def endpoint_message(change: str, vm: Mapping[str, str | None], problem: str | None, noticed_at: str) -> Data:
    """Return the message, in the form of those about events."""
    source = source_of(vm)
    return {
        "specversion": "1.0",
        "id": hashlib.sha256(f"{source.lower()} {change} {noticed_at}".encode()).hexdigest()[:ID_DIGITS],
        "source": source,
        "type": ENDPOINT_PREFIX + change,
        "time": noticed_at,
        "datacontenttype": "application/json",
        "data": {
            "vm": {field: vm.get(field) for field in VM_FIELDS},
            "problem": None if problem is None else printable(problem),
            "noticed_at": noticed_at,
        },
    }


# --- The fields of an event in a message, read by the code that reads them out of a document of Azure --------------------


WORDS = ("event_type", "event_status", "event_source", "resource_type")


def from_wire(raw: Any) -> Data:
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


def from_keys(event: Any) -> Data:
    """Read an event with the keys of this collection, as a watcher sends it. Raise ValueError with the reason if it is none."""
    if not isinstance(event, Mapping):
        raise ValueError("it has no event")
    return from_wire({field.wire: event.get(key) for key, field in EVENT_FIELDS.items()})
