# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The state that the watcher of a VM writes, as others read it: whether it is alive. A user without rights writes it, so it decides nothing."""

from __future__ import annotations

import os
import typing as t

from ..core.bounded_json import load_bounded
from ..core.printable_text import printable
from ..core.types import Values
from . import file_access

FOLDER = "/run/azure-maintenance-watch"
WINDOWS_FOLDER = "%ProgramData%\\azure-maintenance-watch\\runtime"
NAME = "state.json"
FORMAT = 1
# The file is written after each change, and at least this often.
HEARTBEAT_SECONDS = 10.0
# Three heartbeats, and the time that an observation takes.
STALE_SECONDS = 3 * HEARTBEAT_SECONDS + 5.0
# A heartbeat may be so far ahead of a clock that was read in another moment.
AHEAD_SECONDS = 5.0
STATE_BYTES = 1024 * 1024
LONGEST_COUNT = 10**9


class WatcherState(t.NamedTuple):
    """What is known of a VM's watcher."""

    age_seconds: float | None
    """Seconds since its last heartbeat, by the uptime of the VM, on Windows by its clock; None where the file does not say so, or is of an earlier boot."""
    problem: str | None
    """What the watcher reports, or why its state cannot be read."""
    messages_waiting: int | None
    messages_dropped: int | None


Age = t.Callable[[Values], t.Optional[float]]


def read_watcher(folder: str, age: Age) -> WatcherState | None:
    """Return the state of the watcher, or None where there is none."""
    try:
        with file_access.open_to_read(os.path.join(folder, NAME)) as stream:
            content = stream.read(STATE_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        return _unreadable(str(error.strerror or "it is not a regular file"))
    return parse_watcher(content, age)


def parse_watcher(content: bytes, age: Age) -> WatcherState:
    """Return the state that the file's content says."""
    try:
        data = load_bounded(content[: STATE_BYTES + 1].decode("utf-8"), lambda digits: None)
    except (ValueError, RecursionError, OverflowError):
        return _unreadable("it is not JSON")
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        return _unreadable("it has another format")
    problem = data.get("problem")
    return WatcherState(
        age(data),
        printable(problem, 500) if isinstance(problem, str) else None,
        _count(data.get("messages_waiting")),
        _count(data.get("messages_dropped")),
    )


def _unreadable(why: str) -> WatcherState:
    return WatcherState(None, f"the state of the watcher cannot be read: {why}", None, None)


def age_by_uptime(boot_id: str | None, uptime: float | None) -> Age:
    """Return how to calculate the age by a clock that never jumps, within one boot."""

    def age(data: Values) -> float | None:
        at = data.get("uptime")
        if boot_id is None or data.get("boot_id") != boot_id or uptime is None or isinstance(at, bool) or not isinstance(at, (int, float)):
            return None
        # A heartbeat of the future is none.
        return round(uptime - at, 1) if 0 <= at <= uptime else None

    return age


def age_by_clock(seconds_since: t.Callable[[t.Any], float | None]) -> Age:
    """Return how to calculate the age by the VM's clock, for a system without a boot id: ``seconds_since`` takes a time in the form of utc_text."""

    def age(data: Values) -> float | None:
        passed = seconds_since(data.get("at"))
        return round(max(passed, 0.0), 1) if passed is not None and passed >= -AHEAD_SECONDS else None

    return age


def _count(value: t.Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LONGEST_COUNT else None
