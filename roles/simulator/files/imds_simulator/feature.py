# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Is Scheduled Events switched on? One flag for each group and zone; the first GET sets it, a day of silence clears it."""

from __future__ import annotations

from typing import Optional

from imds_simulator.switches import Switches


class Feature:
    """Flag of one group in one zone."""

    def __init__(self, switches: Switches, enabled: bool, now: float) -> None:
        self._switches = switches
        self.enabled = enabled
        self.last_request = now
        self.ready_at: Optional[float] = None
        self.events_from = now

    def is_enabled(self, now: float) -> bool:
        """Also notices, late but in time for everybody who asks, that a day has passed in silence."""
        limit = self._switches.disable_after
        if self.enabled and limit and now - self.last_request > limit:
            self.enabled = False
        return self.enabled

    def ask(self, now: float) -> bool:
        """A GET came. True: it is the one that enabled the feature."""
        first = not self.is_enabled(now)
        if first:
            self.enabled = True
            self.ready_at = now + self._switches.first_call_delay
            self.events_from = now + self._switches.enabling_delay
        self.last_request = now
        return first

    def blocked_for(self, now: float) -> float:
        """Seconds until a GET that comes now is answered."""
        return max(0.0, (self.ready_at or now) - now)

    def shows_events(self, now: float) -> bool:
        return now >= self.events_from

    def state(self, now: float) -> str:
        if not self.is_enabled(now):
            return "disabled"
        return "enabling" if self.blocked_for(now) or not self.shows_events(now) else "enabled"
