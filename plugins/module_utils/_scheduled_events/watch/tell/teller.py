# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The telling part of the watcher: deliver the spool in order, and repeat what no record confirms. It runs only while messages wait."""

from __future__ import annotations

import typing as t

from ...core.clock import Clock
from ...core.printable_text import printable
from ...core.types import Values
from ..seen import Seen, is_seen
from ..spool import ACCEPTED, Entry, Spool
from .attempts import RECEIVER, Attempts
from .delivery import Delivery, NotDelivered

# The longest rest within one run: the next run reads anew which events the records show.
LONGEST_REST = 60.0
# systemd starts the teller for each message that waits, and gives up on a unit that starts too often. So a run stays for the next messages.
SHORTEST_RUN = 5.0
# How often a resting teller looks for a new message.
STEP = 0.5


class Teller:
    """One run of the teller. Its methods raise OSError where the spool cannot be read or written."""

    def __init__(self, spool: Spool, delivery: Delivery, attempts: Attempts, seen: Seen, clock: Clock, log: t.Callable[[str], None]) -> None:
        self._spool = spool
        self._delivery = delivery
        self._attempts = attempts
        self._seen = seen
        self._clock = clock
        self._log = log

    def run(self) -> None:
        """Deliver what is due, then rest until the next message is due or a new one comes. Take SHORTEST_RUN seconds at least."""
        began = self._clock.monotonic()
        left = self.deliver_due()
        while self._clock.monotonic() - began < (LONGEST_REST if left else SHORTEST_RUN):
            if self._has_more(left) or any(self._due(entry) <= self._clock.monotonic() for entry in left):
                left = self.deliver_due()
            else:
                self._clock.sleep(STEP)

    def _has_more(self, left: t.Sequence[Entry]) -> bool:
        known = {entry.id for entry in left}
        return any(entry.id not in known for entry in self._spool.entries())

    def deliver_due(self) -> list[Entry]:
        """Deliver every message that is due, oldest first. Return those that stay in the spool. A message that fails stops the later ones: order counts."""
        for entry in self._spool.entries():
            self._take(entry)
        # Without those that later news replaced.
        left = self._spool.entries()
        self._attempts.keep_only({entry.id for entry in left})
        self._attempts.write()
        return left

    def _take(self, entry: Entry) -> None:
        message = self._spool.read(entry)
        if message is None:
            self._log(f"{entry.name} holds no message; it is removed.")
            self._spool.remove(entry)
        elif entry.state == ACCEPTED and is_seen(message, self._seen):
            self._spool.remove(entry)
        elif self._clock.monotonic() >= self._due(entry):
            self._deliver(entry, message)

    def _due(self, entry: Entry) -> float:
        """Return when the message is due, by the boot's clock. While the receiver rests, none is."""
        return max(self._attempts.due(RECEIVER), self._attempts.due(entry.id) if entry.state == ACCEPTED else 0.0)

    def _deliver(self, entry: Entry, message: Values) -> None:
        try:
            self._delivery.deliver(message)
        except NotDelivered as error:
            self._log(printable(f"{message['type']} of event {message['subject']} was not delivered: {error}"))
            if error.refused:
                self._spool.remove(entry)
            else:
                self._attempts.failed(self._clock.monotonic())
            return
        self._attempts.accepted(entry.id, self._clock.monotonic())
        # First: the news that an event is gone confirms itself where no run has recorded it, and nothing else would end the repetition of what came before.
        self._remove_older(entry, str(message["subject"]))
        if not self._delivery.repeats or is_seen(message, self._seen):
            self._spool.remove(entry)
        elif entry.state != ACCEPTED:
            self._spool.accept(entry)

    def _remove_older(self, entry: Entry, subject: str) -> None:
        """Remove accepted messages about the same event: the receiver has the later news, so only that is repeated."""
        for older in self._spool.entries():
            if older.number < entry.number and older.state == ACCEPTED and (self._spool.read(older) or {}).get("subject") == subject:
                self._spool.remove(older)
