# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The windows of a policy: when an event may be approved, by the clock of a time zone.

A window is open whenever that clock shows a time in it. So what falls in the gap of a change of clocks is left out, and what is shown twice counts twice.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Any

from ....module_utils._scheduled_events.core.types import Data
from ..._core import plain_values
from ..._core.short_forms import some, suggestion
from ..._core.wrong_input import WrongInput
from ..core import timestamps
from . import zone_data

FULL_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
DAYS = tuple(day[:3] for day in FULL_DAYS)
MINUTES_OF_DAY = 24 * 60
ONE_DAY = timedelta(days=1)
KEYS = ("days", "from", "to", "time_zone", "nth", "only_dates", "except_dates")
LAST = -1
NTH = {1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 5: "5th", LAST: "last"}
SHOWN_DATES = 6
# How far ahead an opening is looked for, in days, and a closing, in minutes.
MOST_DAYS, MOST_MINUTES = 400, 2 * MINUTES_OF_DAY
# No change of clocks moves a begin or an end by more seconds.
MARGIN = 3 * 3600


@dataclass(frozen=True)
class Window:
    """From a minute of the day on certain dates, to a minute of the same or the next day."""

    days: tuple[int, ...]
    begin: int
    end: int
    zone: tzinfo = timezone.utc
    nth: tuple[int, ...] = ()
    """Which of these weekdays of a month; each if empty."""
    only: frozenset[date] = frozenset()
    without: frozenset[date] = frozenset()

    def contains(self, now: float) -> bool:
        """Return whether the window is open at this time (seconds since 1970)."""
        try:
            # To the minute, as its openings are: a date has no smaller part of a second than a microsecond, and is rounded to it.
            moment = timestamps.as_datetime(now // 60 * 60).astimezone(self.zone)
        except OverflowError:
            return False
        day, minute = moment.date(), moment.hour * 60 + moment.minute
        # Nothing begins on an excluded date, in a window of the day before either.
        if day in self.without:
            return False
        if self.begin < self.end:
            return self.begin <= minute < self.end and self.begins_on(day)
        return self.begins_on(day) if minute >= self.begin else minute < self.end and day > date.min and self.begins_on(day - ONE_DAY)

    def begins_on(self, day: date) -> bool:
        """Return whether it begins on this date of its zone."""
        if day.weekday() not in self.days or day in self.without or (self.only and day not in self.only):
            return False
        is_last = calendar.monthrange(day.year, day.month)[1] - day.day < 7
        return not self.nth or (day.day - 1) // 7 + 1 in self.nth or (is_last and LAST in self.nth)

    def beginnings(self, day: date) -> Iterator[float]:
        """Return the moments at which it may open for this date: when it begins, or every minute around a change of clocks."""
        begin = (datetime(day.year, day.month, day.day) + timedelta(minutes=self.begin)).replace(tzinfo=self.zone)
        at = begin.timestamp()
        length = (self.end - self.begin) % MINUTES_OF_DAY or MINUTES_OF_DAY
        first, last = at - MARGIN, at + length * 60 + MARGIN
        before, after = (timestamps.as_datetime(one).astimezone(self.zone).utcoffset() for one in (first, last))
        if before == after:
            return iter((at,))
        return iter(first + 60.0 * minute for minute in range(int(last - first) // 60 + 1))

    def __str__(self) -> str:
        days = "every day" if len(set(self.days)) == len(DAYS) else ", ".join(DAYS[day] for day in self.days)
        nth = f" ({', '.join(NTH[one] for one in self.nth)} of the month)" if self.nth else ""
        only = f", only on {_dates(self.only)}" if self.only else ""
        without = f", not on {_dates(self.without)}" if self.without else ""
        return f"{days}{nth} from {_clock(self.begin)} to {_clock(self.end)} {self.zone}{only}{without}"


# Of each rule that decides about an event, alternatives: the event may be approved while of each rule one is open.
Windows = tuple[tuple[Window, ...], ...]


def are_open(windows: Windows, now: float) -> bool:
    """Return whether an event may be approved at this time."""
    return all(any(window.contains(now) for window in alternatives) for alternatives in windows)


def next_change(windows: Windows, now: float) -> float | None:
    """Return when they open or close next, to the minute; None if that is farther away than is looked for."""
    try:
        return _next_change(windows, int(now // 60))
    except (OverflowError, ValueError):
        # The end of the calendar.
        return None


def never_open(windows: Windows, now: float) -> bool:
    """Return whether they are closed, and stay so for longer than a year."""
    return not are_open(windows, now) and next_change(windows, now) is None


@lru_cache(maxsize=64)
def _next_change(windows: Windows, minute: int) -> float | None:
    if are_open(windows, minute * 60.0):
        return next((at * 60.0 for at in range(minute + 1, minute + MOST_MINUTES) if not are_open(windows, at * 60.0)), None)
    found = [_opening(windows, window, (minute + 1) * 60.0) for alternatives in windows for window in alternatives]
    return min((at for at in found if at is not None), default=None)


def _opening(windows: Windows, window: Window, start: float) -> float | None:
    """Return the first moment from C(start) on at which all are open because this window begins."""
    today = timestamps.as_datetime(start).astimezone(window.zone).date()
    days = (today + ONE_DAY * more for more in range(-1, MOST_DAYS))
    return next((at for day in days if window.begins_on(day) for at in window.beginnings(day) if at >= start and are_open(windows, at)), None)


def summary(windows: Windows, now: float) -> Data | None:
    """Return the windows of an event for operators: in words, whether they are open, and when that changes, or None without any."""
    if not windows:
        return None
    at, opened = next_change(windows, now), are_open(windows, now)
    # All of the rules must be open, so a line for several says so.
    words = "; and ".join("; or ".join(map(str, alternatives)) for alternatives in windows)
    changes_at = None if at is None else timestamps.to_the_second(at)
    data = zone_data.of_controller()[0] if have_zones(windows) else None
    return {"text": words, "open": opened, "changes": _change(windows, opened, at), "changes_at": changes_at, "zone_data": data}


def have_zones(windows: Windows) -> bool:
    """Return whether one of them goes by another clock than UTC."""
    return any(window.zone is not timezone.utc for alternatives in windows for window in alternatives)


def _change(windows: Windows, opened: bool, at: float | None) -> str:
    if at is None:
        return "open for the next two days" if opened else f"does not open in the next {MOST_DAYS} days"
    zones = dict.fromkeys(window.zone for alternatives in windows for window in alternatives if window.zone is not timezone.utc)
    utc = f"{timestamps.as_datetime(at):%Y-%m-%d %H:%M} UTC"
    local = some([f"{timestamps.as_datetime(at).astimezone(zone):%a %Y-%m-%d %H:%M} {zone}" for zone in zones], 2)
    return f"{'open until' if opened else 'opens'} " + (f"{local} ({utc})" if local else utc)


def _dates(dates: frozenset[date]) -> str:
    return some([str(one) for one in sorted(dates)], SHOWN_DATES)


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"


# --- What an operator writes ---------------------------------------------------------------------------------------------


def load_windows(value: Any) -> tuple[Window, ...]:
    """Load one window, or a list of them: C({days: [sat, sun], from: "22:00", to: "04:00"}). Raise WrongInput."""
    if isinstance(value, Mapping):
        value = [value]
    given = plain_values.items(value)
    if not given:
        raise WrongInput('must be {days: [sat, sun], from: "22:00", to: "04:00"} or a list of such')
    return tuple(_window(item) for item in given)


def _window(value: Any) -> Window:
    if not isinstance(value, Mapping):
        raise WrongInput(f"must be a dictionary with days, from and to, not {value!r}")
    unknown = sorted(f"{key}{suggestion(str(key), KEYS)}" for key in value if key not in KEYS)
    if unknown:
        raise WrongInput(f"has unknown keys {', '.join(unknown)}; there are {', '.join(KEYS)}")
    names = [str(day).strip().lower() for day in plain_values.items(value.get("days", DAYS))]
    days = [day[:3] for day in names if day in (*DAYS, *FULL_DAYS)]
    if not days or len(days) < len(names):
        raise WrongInput(f"days must be a list of {', '.join(DAYS)}, or of their full names such as saturday, not {value['days']!r}")
    begin, end = _minute_of_day(value.get("from", "00:00"), "from"), _minute_of_day(value.get("to", "24:00"), "to")
    if begin - end in (0, MINUTES_OF_DAY):
        raise WrongInput("from and to are the same time")
    nth = _nth(value["nth"]) if "nth" in value else ()
    if nth and "days" not in value:
        raise WrongInput("nth needs days: it says which of these weekdays of the month")
    if "only_dates" in value and not value["only_dates"]:
        raise WrongInput("only_dates has no date, so it would never open")
    only, without = (frozenset(_date(one, key) for one in _list(value.get(key))) for key in ("only_dates", "except_dates"))
    return Window(tuple(DAYS.index(day) for day in days), begin, end, _zone(value.get("time_zone", "UTC")), nth, only, without)


def _minute_of_day(value: Any, name: str) -> int:
    # YAML makes 1320 of 22:00 without quotes, and 64 of 0100: what was written, and what was meant, cannot be told from it.
    if isinstance(value, int):
        raise WrongInput(f"{name} must be a time in quotes, such as '22:00'; without them YAML makes a number of it, here {value}")
    hour, colon, minute = str(value).partition(":")
    if colon and hour.isdecimal() and minute.isdecimal() and int(minute) < 60:
        total = int(hour) * 60 + int(minute)
        if total <= MINUTES_OF_DAY:
            return total
    raise WrongInput(f'{name} must be a time such as "22:00", not {value!r}')


def _zone(name: Any) -> tzinfo:
    """Return a time zone. UTC needs no data; all others are read from the controller's, which minimal images lack."""
    if name == "UTC":
        return timezone.utc
    # A pass whose policy has no other zone does without.
    from zoneinfo import ZoneInfo, available_timezones

    try:
        return ZoneInfo(str(name))
    except (KeyError, ValueError, OSError):
        known = available_timezones()
    install = "install the Python package tzdata on the controller, or in the execution environment"
    if not known:
        raise WrongInput(f"time_zone {name!r} cannot be used, because the controller has no time zone data: {install}")
    raise WrongInput(f"time_zone {name!r} is not known{suggestion(str(name), known)}; it is a name such as Europe/Berlin. If it is right, {install}")


def _nth(value: Any) -> tuple[int, ...]:
    names = {"last": LAST, **{str(one): one for one in NTH if one != LAST}}
    found = [names.get(str(one)) for one in _list(value)]
    if not found or None in found:
        raise WrongInput(f"nth must be a list of {', '.join(names)}, not {value!r}")
    return tuple(one for one in found if one is not None)


def _date(value: Any, key: str) -> date:
    try:
        return date.fromisoformat(str(value))
    except ValueError as error:
        raise WrongInput(f"{key} must be a list of dates such as 2026-12-24, not {value!r}") from error


def _list(value: Any) -> list[Any]:
    """Return a list; a single value is a list of one, and nothing an empty one."""
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]
