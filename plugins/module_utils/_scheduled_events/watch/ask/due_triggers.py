# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The asker's only way to a drain: it names the events that are due, and the draining unit asks the endpoint itself."""

from __future__ import annotations

import typing as t

from ...core.clock import Clock
from ...host.system import Host
from ...imds.document import Event
from ..drain.due import due_ids
from ..drain.triggers import Triggers
from ..settings import Settings

# While an event is due it is named again: the drain may have been killed, or have failed.
AGAIN_SECONDS = 10.0
# An honest VM has a few events at once.
MOST_TRIGGERS = 32


class DueTriggers:
    """Which events were named, and when."""

    def __init__(self, triggers: Triggers, settings: Settings, host: Host, clock: Clock, log: t.Callable[[str], None]) -> None:
        self._triggers = triggers
        self._settings = settings
        self._host = host
        self._clock = clock
        self._log = log
        self._written: dict[str, float] = {}

    def write(self, events: t.Sequence[Event]) -> None:
        """Name the events that are due. Raise OSError."""
        now = self._clock.monotonic()
        due = due_ids(events, self._settings, self._host.now())
        # An event that is listed, gone and listed again is not named more often for that.
        self._written = {event_id: at for event_id, at in self._written.items() if event_id in due or now - at < AGAIN_SECONDS}
        for event_id in due[:MOST_TRIGGERS]:
            if now - self._written.get(event_id, now - AGAIN_SECONDS) < AGAIN_SECONDS:
                continue
            if not self._triggers.add(event_id) and event_id not in self._written:
                self._log(f"Event {event_id!r} has no GUID as its id, so only a run drains for it.")
            self._written[event_id] = now
