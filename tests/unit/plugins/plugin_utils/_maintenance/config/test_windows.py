# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Windows by the clock of a time zone: changes of clocks, dates, weekdays of a month, and what is refused."""

from __future__ import annotations

import calendar
import functools
from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest
import zoneinfo
from hypothesis import example, given, settings
from hypothesis import strategies as some

from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config import windows, zone_data
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.policy import Decision, load, strictest
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps

# Europe/Berlin's clock jumps from 02:00 to 03:00 at 01:00 UTC on 2026-03-29, and back from 03:00 to 02:00 at 01:00 UTC on 2026-10-25.
BERLIN = {"time_zone": "Europe/Berlin"}
# With gaps of 30 minutes, one and two hours, at midnight too, offsets of 45 minutes, and a winter time that is the exception.
ZONES = (
    *("UTC", "Europe/Berlin", "America/New_York", "America/St_Johns", "America/Havana", "Africa/Casablanca", "Africa/Cairo", "Asia/Beirut"),
    *("Asia/Kathmandu", "Pacific/Chatham", "Australia/Lord_Howe", "Antarctica/Troll"),
)
FIRST = datetime(2024, 1, 1, tzinfo=timezone.utc).timestamp()
YEARS = 5 * 366


def moment(text: str) -> float:
    found = timestamps.parse(text)
    assert found is not None
    return found


def open_minutes(given: dict[str, Any], begin: str, end: str) -> list[str]:
    """Return the spans in UTC in which a window is open, as the clock in UTC shows them, minute by minute."""
    (one,) = windows.load_windows(given)
    minutes = range(int(moment(begin)), int(moment(end)) + 60, 60)
    spans, opened = [], False
    for at in minutes:
        if one.contains(at) is not opened:
            opened = not opened
            spans.append(f"{'open' if opened else 'closed'} {timestamps.as_datetime(at):%d %H:%M}")
    return spans


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        # Clocks forward, at 01:00 UTC: 02:00 to 03:00 is never shown.
        ({"from": "01:30", "to": "03:30"}, ["open 29 00:30", "closed 29 01:30"]),
        ({"from": "02:30", "to": "04:00"}, ["open 29 01:00", "closed 29 02:00"]),
        ({"from": "01:00", "to": "02:30"}, ["open 29 00:00", "closed 29 01:00"]),
        ({"from": "02:10", "to": "02:50"}, []),
        ({"from": "22:00", "to": "02:30", "days": ["sat"]}, ["open 28 21:00", "closed 29 01:00"]),
    ],
    ids=str,
)
def test_what_falls_in_the_gap_is_left_out(window: dict[str, Any], expected: list[str]) -> None:
    days = {"days": ["sun"]}
    assert open_minutes({**days, **BERLIN, **window}, "2026-03-28T00:00Z", "2026-03-29T23:00Z") == expected


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        # Clocks back, at 01:00 UTC: 02:00 to 03:00 is shown twice, at 00:00 and at 01:00 UTC.
        ({"from": "01:30", "to": "03:30"}, ["open 24 23:30", "closed 25 02:30"]),
        ({"from": "02:30", "to": "04:00"}, ["open 25 00:30", "closed 25 01:00", "open 25 01:30", "closed 25 03:00"]),
        ({"from": "01:00", "to": "02:30"}, ["open 24 23:00", "closed 25 00:30", "open 25 01:00", "closed 25 01:30"]),
        ({"from": "02:10", "to": "02:50"}, ["open 25 00:10", "closed 25 00:50", "open 25 01:10", "closed 25 01:50"]),
        ({"from": "22:00", "to": "02:30", "days": ["sat"]}, ["open 24 20:00", "closed 25 00:30", "open 25 01:00", "closed 25 01:30"]),
    ],
    ids=str,
)
def test_what_is_shown_twice_counts_twice(window: dict[str, Any], expected: list[str]) -> None:
    assert open_minutes({"days": ["sun"], **BERLIN, **window}, "2026-10-24T12:00Z", "2026-10-25T12:00Z") == expected


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ({"only_dates": ["2026-12-05"]}, ["open 05 23:00", "closed 06 03:00"]),
        # A window that begins on the date, and the rest of the one before.
        ({"except_dates": ["2026-12-05"]}, ["open 04 23:00", "closed 05 00:00", "open 06 23:00", "closed 07 03:00", "open 07 23:00", "closed 08 03:00"]),
        ({"only_dates": ["2026-12-05", "2026-12-07"], "except_dates": "2026-12-05"}, ["open 07 23:00", "closed 08 03:00"]),
        ({"only_dates": ["2026-12-05"], "days": ["sun"]}, []),
        ({"days": ["sat", "mon"], "nth": 1}, ["open 05 23:00", "closed 06 03:00", "open 07 23:00", "closed 08 03:00"]),
        ({"days": ["sat"], "nth": [2, "last"]}, []),
    ],
    ids=str,
)
def test_dates_and_weekdays_of_a_month(window: dict[str, Any], expected: list[str]) -> None:
    assert open_minutes({"from": "23:00", "to": "03:00", **window}, "2026-12-04T12:00Z", "2026-12-08T12:00Z") == expected


def test_the_nth_and_the_last_weekday_of_each_month() -> None:
    def fridays(nth: Any) -> list[int]:
        (one,) = windows.load_windows({"days": ["fri"], "nth": nth})
        return [day for day in range(1, 32) if one.begins_on(date(2026, 5, day))]

    assert [fridays(nth) for nth in (1, "2", ["last"], 5, [5, "last"], [1, 4])] == [[1], [8], [29], [29], [29], [1, 22]]
    (fifth,) = windows.load_windows({"days": ["fri"], "nth": 5})
    assert not any(fifth.begins_on(date(2026, 2, day)) for day in range(1, 29))


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ({"timezone": "Europe/Berlin"}, "has unknown keys timezone (did you mean time_zone?); there are days, from, to, time_zone, nth, only_dates, exc"),
        ({"except_date": [], "tow": 1}, "has unknown keys except_date (did you mean except_dates?), tow (did you mean to?); there are"),
        ({"time_zone": "Europe/Berln"}, "time_zone 'Europe/Berln' is not known (did you mean Europe/Berlin?); it is a name such"),
        ({"time_zone": "europe/berlin"}, "is not known (did you mean Europe/Berlin?)"),
        ({"time_zone": "+02:00"}, "time_zone '+02:00' is not known"),
        ({"time_zone": "../../etc/passwd"}, "is not known"),
        ({"time_zone": "Europe"}, "is not known"),
        ({"time_zone": ""}, "time_zone '' is not known"),
        ({"time_zone": None}, "time_zone None is not known"),
        ({"time_zone": ["UTC"]}, "time_zone ['UTC'] is not known"),
        ({"days": ["sat", "saturn"]}, "days must be a list of mon, tue, wed, thu, fri, sat, sun, or of their full names such as saturday, not ['sat'"),
        ({"days": ["sat", 7]}, "days must be a list of mon, tue, wed, thu, fri, sat, sun, or of their full names such as saturday, not ['sat', 7]"),
        ({"days": "sat"}, "days must be a list of mon, tue, wed, thu, fri, sat, sun, or of their full names such as saturday, not 'sat'"),
        ({"nth": 2}, "nth needs days: it says which of these weekdays of the month"),
        ({"days": ["sat"], "nth": 6}, "nth must be a list of last, 1, 2, 3, 4, 5, not 6"),
        ({"days": ["sat"], "nth": [True]}, "nth must be a list"),
        ({"days": ["sat"], "nth": []}, "nth must be a list"),
        ({"only_dates": []}, "only_dates has no date, so it would never open"),
        ({"only_dates": ["24.12.2026"]}, "only_dates must be a list of dates such as 2026-12-24, not '24.12.2026'"),
        ({"except_dates": ["2026-02-30"]}, "except_dates must be a list of dates such as 2026-12-24, not '2026-02-30'"),
        ({"except_dates": {"a": 1}}, "except_dates must be a list of dates"),
        ({"from": "24:00", "to": "00:00"}, "from and to are the same time"),
    ],
    ids=str,
)
def test_a_window_that_is_wrong_is_refused(window: dict[str, Any], message: str) -> None:
    with pytest.raises(WrongInput) as caught:
        load([{"drain": True, "approve": "after_drain", "window": window}])
    assert message in str(caught.value)
    assert str(caught.value).startswith("rule 1 of the policy: window ")


def test_yaml_has_dates_of_its_own() -> None:
    (rule,) = load([{"drain": True, "approve": "after_drain", "window": {"only_dates": [date(2026, 12, 5)]}}]).rules
    assert rule.decision.window[0][0].only == {date(2026, 12, 5)}
    # What ansible-core 2.18 makes of such a policy.
    with pytest.raises(WrongInput, match="put the dates of a window in quotes"):
        load("[{'drain': True, 'window': {'only_dates': [datetime.date(2026, 12, 5)]}}]")


def test_without_time_zone_data_utc_works_and_a_zone_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise zoneinfo.ZoneInfoNotFoundError(name)

    monkeypatch.setattr(zoneinfo, "ZoneInfo", missing)
    monkeypatch.setattr(zoneinfo, "available_timezones", set)
    assert windows.load_windows({"time_zone": "UTC"}) == windows.load_windows({})
    with pytest.raises(WrongInput) as caught:
        windows.load_windows(BERLIN)
    assert str(caught.value) == (
        "time_zone 'Europe/Berlin' cannot be used, because the controller has no time zone data: "
        "install the Python package tzdata on the controller, or in the execution environment"
    )


def test_operators_read_when_it_opens_and_closes_in_its_zone_and_in_utc() -> None:
    given = {**BERLIN, "days": ["sat"], "nth": ["2", "last"], "from": "22:00", "to": "04:00", "except_dates": ["2026-12-26"]}
    found = (windows.load_windows(given),)
    closed = windows.summary(found, moment("2026-11-27T12:00Z"))
    assert closed == {
        "text": "sat (2nd, last of the month) from 22:00 to 04:00 Europe/Berlin, not on 2026-12-26",
        "open": False,
        "changes": "opens Sat 2026-11-28 22:00 Europe/Berlin (2026-11-28 21:00 UTC)",
        "changes_at": "2026-11-28T21:00:00Z",
        "zone_data": zone_data.of_controller()[0],
    }
    opened = windows.summary(found, moment("2026-11-29T00:00:30Z"))
    assert opened is not None
    assert (opened["open"], opened["changes"]) == (True, "open until Sun 2026-11-29 04:00 Europe/Berlin (2026-11-29 03:00 UTC)")
    utc = windows.summary((windows.load_windows({"from": "01:00", "to": "02:00"}),), moment("2026-11-27T12:00Z"))
    assert utc is not None
    assert utc["zone_data"] is None
    assert (utc["text"], utc["changes"]) == ("every day from 01:00 to 02:00 UTC", "opens 2026-11-28 01:00 UTC")
    past, always = (windows.summary((windows.load_windows(one),), moment("2026-11-27T12:00Z")) for one in ({"only_dates": "2025-01-01"}, {}))
    assert past is not None
    assert always is not None
    assert (past["changes"], past["changes_at"]) == ("does not open in the next 400 days", None)
    assert (always["changes"], always["open"]) == ("open for the next two days", True)
    assert windows.summary((), 0.0) is None


def test_each_rule_of_an_event_must_have_an_open_window() -> None:
    early, late = (windows.load_windows({"from": begin, "to": end, **BERLIN}) for begin, end in (("01:00", "03:00"), ("02:00", "04:00")))
    both = strictest([Decision("a", True, "after_drain", window=(early,)), Decision("b", False, "now", window=(late,))])
    assert (both.name, both.window) == ("a", (early, late))
    assert strictest([Decision("a", True, "after_drain"), Decision("b", False, "now", window=(late,))]).window == (late,)
    times = ["2026-11-28T00:30Z", "2026-11-28T01:00Z", "2026-11-28T01:59Z", "2026-11-28T02:00Z"]
    assert [windows.are_open(both.window, moment(at)) for at in times] == [False, True, True, False]
    assert windows.next_change(both.window, moment(times[0])) == moment(times[1])
    assert windows.next_change(both.window, moment(times[1])) == moment(times[3])


@pytest.mark.parametrize("now", [-1e18, -62135596800.0, 253402300799.0, 1e18])
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/New_York", "UTC"])
def test_at_the_ends_of_the_calendar_it_is_closed_or_open_and_no_error(now: float, zone: str) -> None:
    found = (windows.load_windows({"days": ["mon"], "from": "12:00", "to": "11:00", "time_zone": zone, "nth": "last"}),)
    windows.summary(found, now)


# --- For any window and moment -------------------------------------------------------------------------------------------


@functools.cache
def changes_of_clocks(zone: str) -> list[float]:
    """Return the hours in which the clock of a zone changes, or a moment like any other where it never does."""
    where = zoneinfo.ZoneInfo(zone)
    hours = [FIRST + 3600.0 * hour for hour in range(YEARS * 24)]
    offsets = [timestamps.as_datetime(hour).astimezone(where).utcoffset() for hour in hours]
    return [hour for hour, before, after in zip(hours, offsets, offsets[1:]) if before != after] or [FIRST]


def clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


def minutes_of_day() -> some.SearchStrategy[int]:
    return some.one_of(some.integers(0, 240), some.integers(0, 1439), some.integers(1380, 1440))


@some.composite
def any_window(draw: some.DrawFn) -> tuple[str, dict[str, Any], float]:
    """Return a zone, a window as an operator writes it, and a moment: half of them near a change of clocks."""
    zone = draw(some.sampled_from(ZONES))
    near = some.builds(float.__add__, some.sampled_from(changes_of_clocks(zone)), some.floats(-40 * 3600, 40 * 3600))
    now = draw(some.one_of(near, some.floats(FIRST, FIRST + YEARS * 86400.0)))
    begin, end = draw(minutes_of_day()), draw(minutes_of_day())
    if begin - end in (0, 1440):
        begin, end = 0, 1440
    today = timestamps.as_datetime(now).date()
    dates = some.lists(some.integers(-3, 3).map(lambda days: str(today + timedelta(days=days))), max_size=3)
    found: dict[str, Any] = {"from": clock(begin), "to": clock(end), "time_zone": zone, "except_dates": draw(dates)}
    if only := draw(dates):
        found["only_dates"] = only
    if days := draw(some.lists(some.sampled_from(windows.DAYS), max_size=5)):
        found["days"] = days
        if nth := draw(some.lists(some.sampled_from([1, 2, 3, 4, 5, "last"]), max_size=3)):
            found["nth"] = nth
    return zone, found, now


def is_a_day(given: dict[str, Any], day: date) -> bool:
    """Return whether a window begins on a date, by counting the days of its month."""
    name = windows.DAYS[day.weekday()]
    same = [one for one in calendar.Calendar().itermonthdates(day.year, day.month) if one.month == day.month and one.weekday() == day.weekday()]
    nth = [same[-1] if one == "last" else same[one - 1] for one in given.get("nth", []) if one == "last" or one <= len(same)]
    wanted = str(day) in given["only_dates"] if "only_dates" in given else True
    return wanted and name in given.get("days", windows.DAYS) and str(day) not in given["except_dates"] and (day in nth or "nth" not in given)


def slowly_open(given: dict[str, Any], shown: datetime) -> bool:
    """Return whether what the clock shows is in the window: step through its minutes as that clock shows them, from each day's beginning."""
    if str(shown.date()) in given["except_dates"]:
        return False
    wanted = shown.replace(second=0, microsecond=0, tzinfo=None)
    for back in (0, 1):
        day = shown.date() - timedelta(days=back)
        if not is_a_day(given, day):
            continue
        begins, ends = (timedelta(hours=int(given[key][:2]), minutes=int(given[key][3:])) for key in ("from", "to"))
        minute = datetime(day.year, day.month, day.day) + begins
        end = datetime(day.year, day.month, day.day) + ends + timedelta(days=int(ends < begins))
        while minute < end:
            if minute == wanted:
                return True
            minute += timedelta(minutes=1)
    return False


@settings(max_examples=400, deadline=None)
@given(any_window())
def test_a_window_is_open_as_its_clock_shows_it(case: tuple[str, dict[str, Any], float]) -> None:
    zone, given, now = case
    (one,) = windows.load_windows(given)
    assert one.contains(now) is slowly_open(given, datetime.fromtimestamp(now // 60 * 60, zoneinfo.ZoneInfo(zone)))


@settings(max_examples=150, deadline=None)
@given(any_window())
# A part of a microsecond before midnight.
@example(("UTC", {"from": "00:00", "to": "24:00", "time_zone": "UTC", "except_dates": [], "only_dates": ["2029-01-04"]}, 1862179199.9999998))
def test_the_next_change_is_the_first_one_and_never_in_the_past(case: tuple[str, dict[str, Any], float]) -> None:
    zone, given, now = case
    (one,) = windows.load_windows(given)
    at, opened = windows.next_change(((one,),), now), one.contains(now)
    # Until the change, or for as long as is looked at slowly, nothing changes.
    minutes = range(int(now // 60) + 1, int((now + 4 * 86400 if at is None else min(at, now + 40 * 86400)) // 60))
    assert all(one.contains(minute * 60.0) is opened for minute in minutes if not (at is None and opened))
    if at is not None:
        assert at > now
        assert at % 60 == 0
        shown = datetime.fromtimestamp(at, zoneinfo.ZoneInfo(zone))
        assert slowly_open(given, shown) is one.contains(at) is not opened


def test_a_day_has_two_names() -> None:
    names = [windows.load_windows({"days": [name]})[0].days for name in ("sat", "Saturday", "SAT ", "monday", "sun")]
    assert names == [(5,), (5,), (5,), (0,), (6,)]
