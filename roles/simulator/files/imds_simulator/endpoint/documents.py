# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Documents as sent: compact JSON, the keys in the order of real captures."""

from __future__ import annotations

import hashlib
import json
from email.utils import formatdate
from typing import Any, Dict, Iterable

from imds_simulator.clock import iso
from imds_simulator.endpoint import versions
from imds_simulator.events.event import Event
from imds_simulator.switches import Switches

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def document(version: str, incarnation: int, events: Iterable[Event], switches: Switches) -> bytes:
    """Return the document as an api-version shows it, as the bytes of the body."""
    number: Any = str(incarnation) if switches.incarnation_form == "text" else incarnation
    shown = [shown_event(version, event, switches) for event in events if versions.shows_type(version, event.event_type)]
    return json.dumps({"DocumentIncarnation": number, "Events": shown}, separators=(",", ":")).encode("utf-8")


def shown_event(version: str, event: Event, switches: Switches) -> Dict[str, Any]:
    """Return an event as an api-version shows it."""
    shown: Dict[str, Any] = {
        "EventId": event.event_id,
        "EventStatus": event.status,
        "EventType": event.event_type,
        "ResourceType": "VirtualMachine",
        "Resources": versions.resource_names(version, event.resources),
        "NotBefore": not_before(version, event, switches),
        "Description": event.description,
        "EventSource": event.event_source,
        "DurationInSeconds": event.duration,
    }
    if event.not_before_form == "absent":
        del shown["NotBefore"]
    shown = {key: value for key, value in shown.items() if versions.has_field(version, key)}
    shown.update(event.extra)
    return shown


def not_before(version: str, event: Event, switches: Switches) -> str:
    """Return NotBefore in the form of the event and the api-version; empty once started."""
    form = event.not_before_form
    if event.status == "Started" or form == "blank":
        return ""
    if version == versions.PREVIEW and form == "rfc1123":
        form = switches.preview_not_before
    # Whole seconds, rounded down: an event never starts before the date that it states.
    whole = int(event.not_before_date)
    if form == "iso8601":
        return iso(whole).replace(".000000Z", "Z")
    text = formatdate(whole, usegmt=True)
    if form == "wrong_weekday":
        day = _DAYS[(_DAYS.index(text[:3]) + 2) % 7]
        text = day + text[3:]
    return text


def etag(body: bytes) -> str:
    """Hash the bytes: the incarnation restarts, so the same number may stand for another document."""
    return '"%s"' % hashlib.sha256(body).hexdigest()[:16]
