# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""The one flat shape that a rulebook sees below C(event.maintenance), whatever the message was."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import texts

# Where a message comes from: a watcher (or event source scheduled_events), or Azure Event Grid.
WATCHER = "watcher"
EVENT_GRID = "event_grid"
# Event source scheduled_events: an endpoint does not answer, or answers again.
ENDPOINT = "endpoint"
UNKNOWN = "unknown"
# A report about messages that were not passed on.
DROPPED = "dropped"

Shape = dict[str, Any]


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
