# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""What was passed on already: messages that came twice, and events with news before. In bounded memory."""

from __future__ import annotations

from collections import OrderedDict

MOST = 10_000


class Memory:
    """Keys and when each was passed on last; the oldest are forgotten."""

    def __init__(self, most: int = MOST) -> None:
        self._seen: OrderedDict[str, float] = OrderedDict()
        self._most = most

    def within(self, key: str, seconds: float, now: float) -> bool:
        """Return whether the key was passed on less than so many seconds ago."""
        at = self._seen.get(key)
        return at is not None and now - at < seconds

    def add(self, key: str, now: float) -> None:
        """Remember that the key was passed on now."""
        self._seen[key] = now
        self._seen.move_to_end(key)
        while len(self._seen) > self._most:
            self._seen.popitem(last=False)
