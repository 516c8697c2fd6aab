# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""What the asker has told already, so that each change is told once, across restarts and reboots."""

from __future__ import annotations

import json
import typing as t

from ...core.bounded_json import load_bounded
from ...imds.document import EVENT_FIELDS, Event
from ..changes import GONE, Change, by_id, changes, id_of
from ..shared_folder import SharedFolder

NAME = "known.json"
# An event counts as gone after two documents without it that are at least so many seconds apart (design: what may be concluded).
GONE_SECONDS = 10.0


class Known(t.NamedTuple):
    """The events that were told, by EventId in lower case, and since when some of them are missing (seconds of a clock that never jumps)."""

    events: t.Mapping[str, Event] = {}
    missing: t.Mapping[str, float] = {}


def compare(known: Known, document: t.Sequence[Event], now: float) -> tuple[list[Change], Known]:
    """Return what is to be told of a new document, and what is known after that. An event that is missing for a moment is no news."""
    found = changes(known.events, document)
    missing = {id_of(change.event): known.missing.get(id_of(change.event), now) for change in found if change.kind == GONE}
    waiting = {key for key, since in missing.items() if now - since < GONE_SECONDS}
    told = [change for change in found if change.kind != GONE or id_of(change.event) not in waiting]
    events = {**by_id(document), **{key: known.events[key] for key in waiting}}
    return told, Known(events, {key: missing[key] for key in waiting})


class KnownStore:
    """The told events on disk."""

    def __init__(self, folder: SharedFolder) -> None:
        self._folder = folder

    def read(self) -> Known:
        """Return what was told before; nothing where the file is missing or damaged: then every listed event is told once more."""
        try:
            data = load_bounded(self._folder.read(NAME).decode("utf-8"), lambda digits: None)
        except (OSError, ValueError, RecursionError, OverflowError):
            return Known()
        listed = data.get("events") if isinstance(data, dict) else None
        events = [event for event in (listed if isinstance(listed, list) else []) if isinstance(event, dict) and isinstance(event.get("event_id"), str)]
        return Known(by_id({field: event.get(field) for field in EVENT_FIELDS} for event in events))

    def write(self, known: Known) -> None:
        """Keep what was told. Raise OSError."""
        listed = [{field: event.get(field) for field in EVENT_FIELDS} for event in known.events.values()]
        self._folder.write(NAME, json.dumps({"events": listed}).encode("ascii"), durable=True)
