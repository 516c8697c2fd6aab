# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""When the VM drains by itself: always for a Preempt, and for other types only when no time is left for a controller. Pure functions."""

from __future__ import annotations

import typing as t

from ...host.system import seconds_between
from ...imds.document import Event
from ..settings import Settings

# 30 seconds of notice (fact 20): Azure takes the VM, whatever capacity others have.
PREEMPT = "Preempt"
STARTED = "Started"


def is_due(event: Event, settings: Settings, now: str) -> bool:
    """Return whether the VM drains for an event by itself at this time of its clock.

    Before its deadline an event of another type is the controller's: only a run knows how many members of a group are out of service.
    """
    if event["event_type"] not in settings.drain_types:
        return False
    if event["event_type"] == PREEMPT:
        return True
    if event["event_status"] == STARTED:
        return settings.drain_started
    left = seconds_between(now, event["not_before"])
    return left is not None and left <= settings.drain_before


def due_ids(events: t.Iterable[Event], settings: Settings, now: str) -> list[str]:
    """Return the EventIds for which the VM drains now. One that may name another VM is left to who knows this VM's name better."""
    return [str(event["event_id"]) for event in events if event.get("affects_this_vm") is not False and is_due(event, settings, now)]
