# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""What the VM itself knows: its clock, its boot, its services. Linux; another system brings its own class."""

from __future__ import annotations

import calendar
import datetime
import time
import typing as t

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.health import RunCommand, check

BOOT_ID_FILE = "/proc/sys/kernel/random/boot_id"
UPTIME_FILE = "/proc/uptime"
# "2026-11-22T08:00:00.123456Z", with room.
LONGEST_TIME = 40


class Host(t.Protocol):
    """A VM, as far as a look needs it."""

    system: str  # "linux" or "windows": how the VM is worked on

    def now(self) -> str:
        """The VM's clock, see utc_text."""

    def boot_id(self) -> str | None:
        """Another text after each boot; None when it cannot be known."""

    def uptime_seconds(self) -> float | None:
        """Seconds since the boot, sleep included; None when it cannot be known."""

    def check_health(self, health: t.Mapping[str, t.Any] | None) -> tuple[bool | None, str]:
        """Whether the application is in service, and why."""


def utc_text(seconds: float) -> str:
    """Seconds since 1970 as the one form of time that records use."""
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def utc_seconds(text: t.Any) -> float | None:
    """The reverse of utc_text, also without fraction; None for anything else."""
    # strptime also takes the digits of other scripts, and reads any length.
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
    """Seconds from one time text to another, negative when the order is reversed; None when one is no time."""
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


class LocalHost:
    """This machine."""

    system = "linux"

    def __init__(self, run_command: RunCommand | None = None, boot_id: str | None = None) -> None:
        self._run_command = run_command
        self._boot_id = boot_id or None

    def now(self) -> str:
        return utc_text(time.time())

    def boot_id(self) -> str | None:
        return self._boot_id or _first_line(BOOT_ID_FILE)

    def uptime_seconds(self) -> float | None:
        line = _first_line(UPTIME_FILE)
        try:
            return float((line or "").split()[0])
        except (IndexError, ValueError):
            return None

    def check_health(self, health: t.Mapping[str, t.Any] | None) -> tuple[bool | None, str]:
        return check(health, self._run_command)
