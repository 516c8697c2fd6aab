# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Which run of an event serves a message. Mostly there is one at a time, and what comes during it waits for its end.

A run may last for two hours, and it looks at the VMs that were named before it began. VMs of one availability set see each other's events, so one of them could
tell first, name itself alone, and list the event for as long as it likes: news of the VMs that are really hit would wait for the end of that run. So after a
minute a message that names other VMs starts a run beside it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

# Longer than a burst of messages about one event, and shorter than half of the shortest notice but a Preempt's, for which VMs drain themselves.
BESIDE_SECONDS = 60.0
# Of an event, at a time. The second has the names of all messages so far; the third is for VMs that told of the event later than that.
MOST_RUNS = 3
MOST_EVENTS = 10_000


class _Run(NamedTuple):
    number: int
    began: float
    vms: frozenset[str]
    """Empty for all."""
    sender: str
    """Whose message began it."""


class Runs:
    """The last run of each event, as far as messages have started it: its end is not known here. The events without news for longest are forgotten."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, _Run] = OrderedDict()

    def begin(self, event_id: str, vms: Sequence[str], sender: str, now: float) -> str:
        """Begin the first run of an event. Return its key, which is the EventId."""
        return self._begin(event_id, 1, vms, sender, now)

    def wants_another(self, event_id: str, vms: Sequence[str], sender: str, now: float) -> bool:
        """Return whether the last run has gone on for long, and does not look at all of these VMs. No sender begins both that are beside the first."""
        run = self._runs.get(event_id)
        if run is None or run.number >= MOST_RUNS or now - run.began < BESIDE_SECONDS or not run.vms:
            return False
        if run.number > 1 and run.sender == sender:
            return False
        return not vms or not run.vms.issuperset(vms)

    def begin_another(self, event_id: str, vms: Sequence[str], sender: str, now: float) -> str:
        """Begin a run beside the last one. Return its key."""
        return self._begin(event_id, self._runs[event_id].number + 1, vms, sender, now)

    def key(self, event_id: str) -> str:
        """Return the key of the last run."""
        run = self._runs.get(event_id)
        return event_id if run is None or run.number == 1 else f"{event_id}/{run.number}"

    def _begin(self, event_id: str, number: int, vms: Sequence[str], sender: str, now: float) -> str:
        self._runs[event_id] = _Run(number, now, frozenset(vms), sender)
        self._runs.move_to_end(event_id)
        while len(self._runs) > MOST_EVENTS:
            self._runs.popitem(last=False)
        return self.key(event_id)
