# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The VM's clock, boot and health, on the VM itself. A Windows VM that is reached from the controller has a class of its own."""

from __future__ import annotations

import calendar
import datetime
import sys
import time
import typing as t

from ..core.types import Values
from .health import RunCommand, check
from .watcher_state import FOLDER, WatcherState, age_by_uptime, read_watcher

BOOT_ID_FILE = "/proc/sys/kernel/random/boot_id"
UPTIME_FILE = "/proc/uptime"
# The length of "2026-11-22T08:00:00.123456Z", with room.
LONGEST_TIME = 40


class Host(t.Protocol):
    """A VM, as far as an observation needs it."""

    system: str  # "linux" or "windows"

    def now(self) -> str:
        """Return the VM's clock in the form of utc_text."""

    def boot_id(self) -> str | None:
        """Return a text that changes with each boot, or None if it is unknown."""

    def uptime_seconds(self) -> float | None:
        """Return the seconds since the boot, sleep included, or None if unknown."""

    def check_health(self, health: Values | None) -> tuple[bool | None, str]:
        """Return whether the application is in service (None: unknown), and why."""

    def watcher(self) -> WatcherState | None:
        """Return what is known of the VM's watcher, or None where there is none."""


def utc_text(seconds: float) -> str:
    """Format seconds since 1970 as records do."""
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def utc_seconds(text: t.Any) -> float | None:
    """Parse a time of utc_text's form, with or without a fraction. Return None for anything else."""
    # The pattern comes first: strptime accepts the digits of other scripts, and text of any length.
    if not isinstance(text, str) or len(text) > LONGEST_TIME or not text.isascii():
        return None
    for form in ("%Y-%m-%dT%H:%M:%S.%fZ", "%Y-%m-%dT%H:%M:%SZ"):
        try:
            moment = datetime.datetime.strptime(text, form)
        except ValueError:
            continue
        return calendar.timegm(moment.timetuple()) + moment.microsecond / 1e6
    return None


def seconds_between(earlier: t.Any, later: t.Any) -> float | None:
    """Return the seconds from one time text to another, negative in reverse order, or None if either cannot be parsed."""
    start, end = utc_seconds(earlier), utc_seconds(later)
    if start is None or end is None:
        return None
    return end - start


def _first_line(path: str) -> str | None:
    try:
        with open(path, encoding="ascii") as stream:
            return stream.readline().strip() or None
    except (OSError, ValueError):
        return None


if sys.platform == "win32":
    SYSTEM = "windows"

    def _boot_id() -> str | None:
        """Return None: Windows has no boot id, and its time of boot moves whenever the clock is set."""
        return None

    def _uptime() -> float | None:
        """Return Python's monotonic clock, which counts from the boot: GetTickCount64, and from Python 3.13 on QueryPerformanceCounter."""
        return time.monotonic()

else:
    SYSTEM = "linux"

    def _boot_id() -> str | None:
        return _first_line(BOOT_ID_FILE)

    def _uptime() -> float | None:
        line = _first_line(UPTIME_FILE)
        try:
            return float((line or "").split()[0])
        except (IndexError, ValueError):
            return None


class LocalHost:
    """This machine, as a host."""

    system = SYSTEM

    def __init__(self, run_command: RunCommand | None = None, boot_id: str | None = None) -> None:
        self._run_command = run_command
        self._boot_id = boot_id or None

    def now(self) -> str:
        return utc_text(time.time())

    def boot_id(self) -> str | None:
        return self._boot_id or _boot_id()

    def uptime_seconds(self) -> float | None:
        return _uptime()

    def check_health(self, health: Values | None) -> tuple[bool | None, str]:
        return check(health, self._run_command)

    def watcher(self) -> WatcherState | None:
        return read_watcher(FOLDER, age_by_uptime(_boot_id(), self.uptime_seconds()))
