# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Points in time: seconds since 1970 inside, ISO 8601 in UTC outside."""

from __future__ import annotations

import math
from datetime import datetime, timezone
from typing import Any


def parse(value: Any) -> float | None:
    """Return seconds since 1970, or None for any other value. A time without a zone is UTC."""
    if not isinstance(value, (str, datetime)):
        return None
    try:
        moment = datetime.fromisoformat(str.__str__(value).strip()) if isinstance(value, str) else value
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc)).timestamp()
    except (OverflowError, OSError, ValueError):
        return None


def form(seconds: float) -> str:
    """Return ISO 8601 with microseconds and Z, as the records have it."""
    return as_datetime(seconds).isoformat(timespec="microseconds").replace("+00:00", "Z")


def to_the_second(seconds: float) -> str:
    """Return ISO 8601 with whole seconds and Z, for operators."""
    return as_datetime(seconds).isoformat(timespec="seconds").replace("+00:00", "Z")


def as_datetime(seconds: float) -> datetime:
    """Return a datetime in UTC; a time outside the calendar is moved to its edge."""
    try:
        return datetime.fromtimestamp(seconds, tz=timezone.utc)
    except (OverflowError, OSError, ValueError):
        return datetime(9999 if seconds > 0 else 1, 1, 1, tzinfo=timezone.utc)


def clock_time(seconds: float) -> str:
    """Return the time of day, for a line about what happens today."""
    return f"{as_datetime(seconds):%H:%M:%S} UTC"


def duration(seconds: float | None) -> str:
    """Return a number of seconds as text for operators; ? for None."""
    if seconds is None or not math.isfinite(seconds):
        return "?"
    amount = max(0, round(seconds))
    if amount < 120:
        return f"{amount} s"
    if amount < 2 * 3600:
        return f"{amount // 60} min"
    if amount < 2 * 86400:
        return f"{amount // 3600} h {amount % 3600 // 60:02d} min"
    return f"{amount // 86400} days"
