# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times of the week in which an event may be approved. All times are UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from ..._core import plain_values
from ..core import timestamps

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MINUTES_OF_DAY = 24 * 60


class WindowError(ValueError):
    """A window that cannot be used; the message says why."""


@dataclass(frozen=True)
class Window:
    """From a minute of the day on certain days, to a minute of the same or the next day."""

    days: tuple[int, ...]
    begin: int
    end: int

    def contains(self, now: float) -> bool:
        """Return whether the window is open at this time (seconds since 1970)."""
        moment = timestamps.as_datetime(now)
        minute = moment.hour * 60 + moment.minute
        if self.begin < self.end:
            return moment.weekday() in self.days and self.begin <= minute < self.end
        yesterday = (moment - timedelta(days=1)).weekday() if moment.year > 1 else 6
        return (moment.weekday() in self.days and minute >= self.begin) or (yesterday in self.days and minute < self.end)


def load(value: Any) -> tuple[Window, ...]:
    """Load one window, or a list of them: C({days: [sat, sun], from: "22:00", to: "04:00"}). Raise WindowError."""
    if isinstance(value, Mapping):
        value = [value]
    given = plain_values.items(value)
    if not given:
        raise WindowError('must be {days: [sat, sun], from: "22:00", to: "04:00"} or a list of such')
    return tuple(_one(item) for item in given)


def _one(value: Any) -> Window:
    if not isinstance(value, Mapping):
        raise WindowError(f"must be a dictionary with days, from and to, not {value!r}")
    unknown = sorted(str(key) for key in value if key not in ("days", "from", "to"))
    if unknown:
        raise WindowError(f"has unknown keys {', '.join(unknown)}; there are days, from, to (UTC)")
    days = [str(day).strip().lower()[:3] for day in plain_values.texts(value.get("days", list(DAYS)))]
    if not days or any(day not in DAYS for day in days):
        raise WindowError(f"days must be a list of {', '.join(DAYS)}")
    begin, end = _minute(value.get("from", "00:00"), "from"), _minute(value.get("to", "24:00"), "to")
    if begin == end:
        raise WindowError("from and to are the same time")
    return Window(tuple(DAYS.index(day) for day in days), begin, end)


def _minute(value: Any, name: str) -> int:
    # YAML reads 22:00 without quotes as the number 1320, which is the minute of the day.
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MINUTES_OF_DAY:
        return int(value)
    hour, colon, minute = str(value).partition(":")
    if colon and hour.isdecimal() and minute.isdecimal() and int(minute) < 60:
        total = int(hour) * 60 + int(minute)
        if total <= MINUTES_OF_DAY:
            return total
    raise WindowError(f'{name} must be a time such as "22:00", not {value!r}')
