# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""A message of Azure Event Grid about a scheduled event, in its own schema or as CloudEvents.

Two publishers are known: type microsoft.maintenance/scheduledevents/Write, with a list of resources, and
Microsoft.ResourceNotifications.MaintenanceResources.ScheduledEventEmitted, with one.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....module_utils._scheduled_events.core.types import Values
from ....module_utils._scheduled_events.watch.changes import CHANGED, GONE, LISTED
from . import deliveries, texts
from .shape import EVENT_GRID, Reading, Shape, from_wire, shaped

PUBLISHERS = ("microsoft.maintenance/", "microsoft.resourcenotifications.maintenanceresources.")
VALIDATION = "microsoft.eventgrid.subscriptionvalidationevent"
# Completed and Canceled are known to Event Grid alone: a VM's document no longer has such an event.
CHANGES = {"scheduled": LISTED, "started": CHANGED, "completed": GONE, "canceled": GONE, "cancelled": GONE}
# Where a resource has its id, by publisher.
ID_PLACES = (("resourceId",), ("id",), ("armResource", "id"))


def kind_of(message: Values) -> str:
    """Return the type of an Event Grid message, in lower case: its schema has it in eventType, CloudEvents in type."""
    kind = message.get("eventType", message.get("type"))
    return kind.lower() if isinstance(kind, str) else ""


def is_event_grid(message: Values) -> bool:
    """Return whether it claims to be about maintenance, or to be Event Grid's first message to a new subscriber."""
    return kind_of(message).startswith(PUBLISHERS) or kind_of(message) == VALIDATION


def read_event_grid(message: Values) -> Reading:
    """Return one shape for each EventId. Raise ValueError with the reason if it is not readable."""
    if kind_of(message) == VALIDATION:
        raise ValueError("Event Grid asks whether this subscriber wants its messages, which a webhook of Event-Driven Ansible cannot answer; use Service Bus")
    data = message.get("data")
    resources = texts.member(data, "resources")
    found = [resource for resource in resources if isinstance(resource, Mapping)] if isinstance(resources, list) else []
    single = texts.member(data, "resourceInfo")
    if isinstance(single, Mapping):
        found.append(single)
    if not found:
        raise ValueError("it names no resource")
    events: dict[str, list[Shape]] = {}
    for resource in found[: deliveries.RESOURCES]:
        shape = _shape(message, resource)
        if len(events) < deliveries.EVENTS or shape["event_id"] in events:
            events.setdefault(shape["event_id"], []).append(shape)
    return Reading([_merged(shapes) for shapes in events.values()], len(found) - sum(map(len, events.values())))


def sender_of(message: Values) -> str | None:
    """Return the VM that the message is about as far as it tells, else its topic: all messages of a subscription have the same topic."""
    for value in (message.get("subject"), texts.member(message, "data", "resourceInfo", "id")):
        if isinstance(value, str) and value.strip("/"):
            return texts.text(texts.EVENT_BELOW_VM.sub("", value) or value, texts.LONGEST_RESOURCE_ID)
    return texts.text(message.get("topic", message.get("source")), texts.LONGEST_RESOURCE_ID)


def _merged(shapes: list[Shape]) -> Shape:
    """Return what the resources of one event say together: the fields of the first, and the names of all."""
    # A resource without names leaves open which VMs the event is about, so the names of the others do not suffice.
    names = [shape["resources"] for shape in shapes] if all(shape["resources"] for shape in shapes) else []
    return {**shapes[0], "resources": _each_once(names), "resource_ids": _each_once([shape["resource_ids"] for shape in shapes])}


def _each_once(lists: list[list[str]]) -> list[str]:
    return list(dict.fromkeys(value for values in lists for value in values))[: texts.MOST_NAMES]


def _shape(message: Values, resource: Values) -> Shape:
    properties = texts.member(resource, "properties") or texts.member(resource, "armResource", "properties")
    event = from_wire(properties)
    ids = (texts.resource_id(texts.member(resource, *place)) for place in ID_PLACES)
    return shaped(
        form=EVENT_GRID,
        news=True,
        message_id=texts.word(message.get("id")),
        sender=sender_of(message),
        sent_at=texts.word(message.get("eventTime", message.get("time"))),
        change=CHANGES.get(str(event["event_status"]).lower(), CHANGED),
        resource_ids=list(dict.fromkeys(found for found in ids if found)),
        **event,
    )
