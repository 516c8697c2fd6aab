# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Which sender told first of an event, and when the event was last counted for it.

A sender may tell of few new events within an hour, because each run holds a place until its event is over. Without this memory it could collect events for
hours, and start the runs of all of them in one minute.
"""

from __future__ import annotations

from collections import OrderedDict

MOST_EVENTS = 10_000


class Introducers:
    """The senders, by event. The events that were counted longest ago are forgotten: then they cost their sender nothing."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def count(self, event_id: str, sender: str, now: float) -> None:
        """Remember that an event of this sender is counted now."""
        self._known[event_id] = (sender, now)
        self._known.move_to_end(event_id)
        while len(self._known) > MOST_EVENTS:
            self._known.popitem(last=False)

    def has_to_count(self, event_id: str, sender: str, seconds: float, now: float) -> bool:
        """Return whether news of the event counts once more: the sender told first of it, and it was not counted for so many seconds."""
        introducer, counted = self._known.get(event_id, ("", now))
        return introducer == sender and now - counted >= seconds
