# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The message about one change: CloudEvents 1.0 in JSON, one form for every sender."""

from __future__ import annotations

import json
import typing as t
from urllib.parse import quote

from ..core.types import Data
from ..imds.document import EVENT_FIELDS
from .changes import KINDS, Change, id_of, news

CONTENT_TYPE = "application/cloudevents+json"
TYPE_PREFIX = "maintenance.azure.scheduled_event."
TYPES = {TYPE_PREFIX + kind: kind for kind in KINDS}
# The source of a VM without a known resource id.
URN_PREFIX = "urn:maintenance.azure:vm:"
VM_FIELDS = ("name", "vm_id", "resource_id")
ID_DIGITS = 32

Vm = t.Mapping[str, t.Optional[str]]


def cloud_event(change: Change, vm: Vm, incarnation: int | None, noticed_at: str) -> Data:
    """Return the message. ``vm`` has name, vm_id and resource_id as far as they are known; ``noticed_at`` is ISO 8601 in UTC."""
    event = change.event
    source = source_of(vm)
    return {
        "specversion": "1.0",
        "id": message_id(change, source),
        "source": source,
        "type": TYPE_PREFIX + change.kind,
        "subject": event["event_id"],
        "time": noticed_at,
        "datacontenttype": "application/json",
        "data": {
            "vm": {field: vm.get(field) for field in VM_FIELDS},
            "event": {field: event.get(field) for field in EVENT_FIELDS},
            "document_incarnation": incarnation,
            "noticed_at": noticed_at,
        },
    }


def source_of(vm: Vm) -> str:
    """Return who speaks: the VM's resource id, or a URN with its name. CloudEvents wants a URI, so unusual characters are percent-encoded."""
    if vm.get("resource_id"):
        return quote(str(vm["resource_id"]), safe="/()", errors="replace")
    return URN_PREFIX + quote(str(vm.get("name") or vm.get("vm_id") or "unknown"), safe="", errors="replace")


def message_id(change: Change, source: str) -> str:
    """Return the same id for the same news, whenever and however often it is told: a receiver takes the second one for a repetition.

    The document's incarnation is left out: it also changes with other events, and it starts anew after the feature was off.
    """
    import hashlib  # here alone: OpenSSL takes four megabytes, and an asker without news needs none

    content = json.dumps([source.lower(), id_of(change.event), change.kind, news(change.event)], separators=(",", ":"))
    return hashlib.sha256(content.encode("ascii")).hexdigest()[:ID_DIGITS]
