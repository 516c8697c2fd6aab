# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Whether Scheduled Events is enabled: one flag for each group and zone. The first GET sets it, a day without GET or POST clears it."""

from __future__ import annotations

from typing import Optional

from imds_simulator.switches import Switches


class Feature:
    """The flag of one group in one zone."""

    def __init__(self, switches: Switches, enabled: bool, now: float) -> None:
        self._switches = switches
        self.enabled = enabled
        self.last_request = now
        self.ready_at: Optional[float] = None
        self.events_from = now

    def is_enabled(self, now: float) -> bool:
        """Return the flag. Clear it after a day without requests; checking on each use is early enough."""
        limit = self._switches.disable_after
        if self.enabled and limit and now - self.last_request > limit:
            self.enabled = False
        return self.enabled

    def count_get(self, now: float) -> bool:
        """Count a GET. Return whether it enabled the feature."""
        first = not self.is_enabled(now)
        if first:
            self.enabled = True
            self.ready_at = now + self._switches.first_call_delay
            self.events_from = now + self._switches.enabling_delay
        self.last_request = now
        return first

    def count_post(self, now: float) -> None:
        """Count a POST. It does not enable the feature, and keeps it enabled as a GET does."""
        if self.is_enabled(now):
            self.last_request = now

    def blocked_for(self, now: float) -> float:
        """Return the seconds until a GET that arrives now is answered."""
        return max(0.0, (self.ready_at or now) - now)

    def shows_events(self, now: float) -> bool:
        """Return whether documents show events yet."""
        return now >= self.events_from

    def state(self, now: float) -> str:
        """Return the state for the control API."""
        if not self.is_enabled(now):
            return "disabled"
        return "enabling" if self.blocked_for(now) or not self.shows_events(now) else "enabled"
