# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""How many messages and new events a sender may send: counted by windows of time, in bounded memory."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict

WINDOW_SECONDS = 60.0
REPORT_SECONDS = 60.0
# Above it the sender that was quiet for longest is forgotten.
MOST_SENDERS = 10_000


@dataclasses.dataclass
class _Count:
    """What a sender sent since its window began."""

    began: float
    passed: int = 0
    dropped: int = 0
    reported_at: float | None = None


class Rate:
    """Messages or events of each sender, no more than a number in a window of time."""

    def __init__(self, window_seconds: float = WINDOW_SECONDS, most_senders: int = MOST_SENDERS) -> None:
        self._counts: OrderedDict[str, _Count] = OrderedDict()
        self._window_seconds = window_seconds
        self._most_senders = most_senders

    def admit(self, sender: str, most: int, now: float) -> bool:
        """Count a message, and return whether it is passed on. ``now`` is a clock's seconds that never go back."""
        count = self._count(sender, now)
        if count.passed < most:
            count.passed += 1
            return True
        count.dropped += 1
        return False

    def room(self, sender: str, most: int, now: float) -> int:
        """Return how many messages would be passed on, without counting one."""
        count = self._counts.get(sender)
        return most if count is None or now - count.began >= self._window_seconds else max(most - count.passed, 0)

    def use(self, sender: str, number: int, now: float) -> None:
        """Count what was passed on already."""
        self._count(sender, now).passed += number

    def take_back(self, sender: str) -> None:
        """Take back the last message that was admitted, because it is not passed on for another reason."""
        self._counts[sender].passed -= 1

    def drop(self, sender: str, number: int, now: float) -> None:
        """Count what was dropped for another reason than the rate, so that it is reported like the rest."""
        self._count(sender, now).dropped += number

    def to_report(self, sender: str, now: float) -> int:
        """Return how many messages of the sender were dropped since the last report; 0 if that was less than a minute ago."""
        count = self._counts.get(sender)
        if count is None or not count.dropped:
            return 0
        if count.reported_at is not None and now - count.reported_at < REPORT_SECONDS:
            return 0
        dropped, count.dropped, count.reported_at = count.dropped, 0, now
        return dropped

    def _count(self, sender: str, now: float) -> _Count:
        count = self._counts.setdefault(sender, _Count(now))
        self._counts.move_to_end(sender)
        while len(self._counts) > self._most_senders:
            self._counts.popitem(last=False)
        if now - count.began >= self._window_seconds:
            count.began, count.passed = now, 0
        return count
