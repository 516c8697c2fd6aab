# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Read the events that VMs list: each distinct list and each distinct event once, because hundreds of VMs list the same ones.

What is shared is found by its whole content, types included, and never by an id or a VM: a liar's document is read by itself.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ....module_utils._scheduled_events.core import limits
from ....module_utils._scheduled_events.core.names import folded
from ....module_utils._scheduled_events.core.types import Values
from ....module_utils._scheduled_events.imds import document
from ....module_utils._scheduled_events.lease.lease_schema import UPGRADE
from ..._core import plain_values
from ..core import timestamps
from ..core.model import Event

# Of marshal's formats the last in which equal values always have equal bytes: later ones refer to parts that are the same object.
VERSION = 2
EVENT_READERS: Mapping[str, Callable[[Any], Any]] = {
    "id": plain_values.text,
    "text": plain_values.text,
    "names": plain_values.texts,
    "time": plain_values.text,
    "whole": plain_values.whole,
}


class Listed(NamedTuple):
    """The events of one document by their ids, as ids compare."""

    events: Mapping[str, Event]
    problem: str | None = None
    """Why the document cannot be used."""


class Documents:
    """What the VMs of one plan list. Equal events are the same object, others never are."""

    def __init__(self) -> None:
        self._lists: dict[bytes, Listed] = {}
        self._events: dict[bytes, Event] = {}

    def read(self, events: Any) -> Listed:
        """Return the events of a VM's document."""
        if not isinstance(events, (list, Sequence)) or isinstance(events, (str, bytes)):
            return Listed({}, "the observation has no list of events")
        if len(events) > limits.EVENTS:
            return Listed({}, f"it has {len(events)} events, and no VM has more than {limits.EVENTS}; look at the VM and its records")
        content = _content(events)
        if content is None:
            # Values of templates have types of their own.
            events = plain_values.plain(events)
            content = marshal.dumps(events, VERSION)
        found = self._lists.get(content)
        if found is None:
            found = self._lists[content] = self._read(events)
        return found

    def _read(self, events: Sequence[Any]) -> Listed:
        listed: dict[str, Event] = {}
        for given in events:
            event_id = plain_values.mapping(given).get("event_id")
            if not isinstance(event_id, str) or not event_id.strip():
                return Listed({}, "the observation lists an event without an id")
            key = folded(event_id)
            if len(key) > limits.TEXT:
                return Listed({}, f"the observation lists an event whose id has more than {limits.TEXT} characters")
            if key.startswith(UPGRADE):
                return Listed({}, f"the observation lists an event whose id begins with {UPGRADE!r}, as only the records of upgrades do")
            listed[key] = self._event(given)
        return Listed(listed)

    def event(self, given: Any) -> Event | None:
        """Return the event of a record, or None without an id."""
        return self._event(given) if plain_values.text(plain_values.mapping(given).get("event_id")) is not None else None

    def _event(self, given: Any) -> Event:
        content = _content(given)
        found = None if content is None else self._events.get(content)
        if found is None:
            values = plain_values.plain(given)
            content = marshal.dumps(values, VERSION)
            found = self._events.get(content) or self._events.setdefault(content, _event_of(values))
        return found


def _content(value: Any) -> bytes | None:
    """Return what only equal values of the same types have, or None for values that are not plain. C code, ten times faster than a copy."""
    try:
        return marshal.dumps(value, VERSION)
    except ValueError:
        return None


def _event_of(given: Values) -> Event:
    """Return the event that plain values with an id mean. All of them stay, for policies that use fields unknown to this collection."""
    known = {key: EVENT_READERS[field.kind](given.get(key)) for key, field in document.EVENT_FIELDS.items()}
    return Event(folded(known["event_id"]), {**given, **known}, tuple(known["resources"]), timestamps.parse(known["not_before"]))
