# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""The state that the watcher of a VM writes, as others read it: whether it is alive. A user without rights writes it, so it decides nothing."""

from __future__ import annotations

import os
import stat
import typing as t

from ..core.bounded_json import load_bounded
from ..core.printable_text import printable

FOLDER = "/run/azure-maintenance-watch"
NAME = "state.json"
FORMAT = 1
# The file is written after each change, and at least this often.
HEARTBEAT_SECONDS = 10.0
STATE_BYTES = 1024 * 1024
LONGEST_COUNT = 10**9


class WatcherState(t.NamedTuple):
    """What is known of a VM's watcher."""

    age_seconds: float | None
    """Seconds since its last heartbeat, by the uptime of the VM; None where the file does not say so, or is of an earlier boot."""
    problem: str | None
    """What the watcher reports, or why its state cannot be read."""
    messages_waiting: int | None
    messages_dropped: int | None


def read_watcher(folder: str, boot_id: str | None, uptime: float | None) -> WatcherState | None:
    """Return the state of the watcher, or None where there is none."""
    try:
        descriptor = os.open(os.path.join(folder, NAME), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        return _unreadable(str(error.strerror))
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return _unreadable("it is not a regular file")
        content = stream.read(STATE_BYTES + 1)
    try:
        data = load_bounded(content[: STATE_BYTES + 1].decode("utf-8"), lambda digits: None)
    except (ValueError, RecursionError, OverflowError):
        return _unreadable("it is not JSON")
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        return _unreadable("it has another format")
    problem = data.get("problem")
    return WatcherState(
        _age(data, boot_id, uptime),
        printable(problem, 500) if isinstance(problem, str) else None,
        _count(data.get("messages_waiting")),
        _count(data.get("messages_dropped")),
    )


def _unreadable(why: str) -> WatcherState:
    return WatcherState(None, f"the state of the watcher cannot be read: {why}", None, None)


def _age(data: t.Mapping[str, t.Any], boot_id: str | None, uptime: float | None) -> float | None:
    at = data.get("uptime")
    if boot_id is None or data.get("boot_id") != boot_id or uptime is None or isinstance(at, bool) or not isinstance(at, (int, float)):
        return None
    # A heartbeat of the future is none.
    return round(uptime - at, 1) if 0 <= at <= uptime else None


def _count(value: t.Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LONGEST_COUNT else None
