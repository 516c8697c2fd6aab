# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Access to time in one place, so that tests can replace it."""

from __future__ import annotations

import datetime
import time


class Clock:
    """The machine's clocks. Durations use the monotonic one: a VM's wall clock may jump or stop."""

    def monotonic(self) -> float:
        """Return the seconds of a clock that never jumps."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Sleep; return at once for zero or less."""
        if seconds > 0:
            time.sleep(seconds)

    def now(self) -> datetime.datetime:
        """Return the wall clock in UTC, to compare with times in Azure's documents."""
        return datetime.datetime.now(datetime.timezone.utc)
