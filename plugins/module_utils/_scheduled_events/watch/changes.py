# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""What changed between two documents of one VM: the news that a watcher tells."""

from __future__ import annotations

import typing as t

from ..imds.document import Event

LISTED = "listed"
CHANGED = "changed"
GONE = "gone"
KINDS = (LISTED, CHANGED, GONE)

# What a policy or a person may act on. A new description alone is no news, so that it starts no run.
COMPARED = ("event_type", "event_status", "resources", "not_before", "event_source", "duration_in_seconds")


class Change(t.NamedTuple):
    """One difference between two documents."""

    kind: str
    """listed, changed or gone."""
    event: Event
    """The event as last seen: for a gone one, as it was before."""


def changes(before: t.Mapping[str, Event] | None, after: t.Sequence[Event]) -> list[Change]:
    """Return what is different in ``after``: first what is listed, in its order, then what is gone.

    ``before`` is ``by_id`` of the events before; None where none were read yet, and every event is then listed. Gone means missing from this one
    document. That is a hint: only a pass, with its two observations, concludes that an event is gone.
    """
    known = {id_of(event): event for event in (before or {}).values()}
    present = by_id(after)
    found = [Change(LISTED if key not in known else CHANGED, event) for key, event in present.items() if key not in known or news(known[key]) != news(event)]
    return found + [Change(GONE, event) for key, event in known.items() if key not in present]


def by_id(events: t.Iterable[Event]) -> dict[str, Event]:
    """Return the events by EventId in lower case; the first of several with the same one."""
    found: dict[str, Event] = {}
    for event in events:
        found.setdefault(id_of(event), event)
    return found


def id_of(event: Event) -> str:
    """Return the EventId in the form in which two of them are compared."""
    return str(event["event_id"]).strip().lower()


def news(event: Event) -> list[t.Any]:
    """Return the compared fields. Resources in another order or case are the same resources."""
    return [_names(event.get(key)) if key == "resources" else event.get(key) for key in COMPARED]


def _names(resources: t.Any) -> list[str]:
    return sorted({str(name).strip().lower() for name in resources or []})
