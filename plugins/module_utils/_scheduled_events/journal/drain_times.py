# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Drain times: how long the last drains of this VM took, for its present list of methods. It is a hint: nothing fails without it.

One file, replaced atomically. Of two writers at once the last one counts, and the other's time is lost.
"""

from __future__ import annotations

import math
import typing as t

from ..core.types import Data
from ..host.files import Folder
from ..host.system import utc_seconds
from .record_encoding import load, replace_file
from .record_schema import Record, Unreadable
from .recorded import method_of

FORMAT = 1
NAME = "drain-times.json"
# Times that are kept, methods of a list, characters of the name of a method, and seconds of a drain.
TIMES, KINDS, LONGEST_KIND, LONGEST_SECONDS = 5, 16, 64, 86400.0

Times = Data


class DrainTimes(Folder):
    """The drain times of one VM."""

    def present(self) -> Times | None:
        """Return the methods and their times, newest last, or None without any. A damaged file counts as none, and is replaced."""
        try:
            data = load(self.files.read(NAME))
        except (OSError, Unreadable):
            return None
        known = isinstance(data, dict) and data.get("format") == FORMAT and _are_kinds(data.get("methods")) and _are_times(data.get("seconds"))
        return {key: data[key] for key in ("methods", "seconds")} if known else None

    def note(self, record: Record) -> None:
        """Add the time of a drain that is over, by its record. Times of other methods go. Raise RecordsError where the file cannot be written."""
        methods = [method for method in map(method_of, record["methods"]) if method.state != "undone"]
        kinds, ended = [method.kind for method in methods], utc_seconds(record["verified_at"])
        begun = [at for at in (utc_seconds(method.set_at) for method in methods) if at is not None]
        seconds = ended - min(begun) if begun and ended is not None else None
        # A clock that was set, and a record that another program wrote, say nothing.
        if not _are_kinds(kinds) or not _is_time(seconds):
            return
        before = self.present()
        times = before["seconds"] if before and before["methods"] == kinds else []
        replace_file(self.files, NAME, {"format": FORMAT, "methods": kinds, "seconds": [*times, round(t.cast(float, seconds), 3)][-TIMES:]}, "The drain times")


def _are_kinds(value: t.Any) -> bool:
    return isinstance(value, list) and 0 < len(value) <= KINDS and all(isinstance(one, str) and 0 < len(one) <= LONGEST_KIND for one in value)


def _are_times(value: t.Any) -> bool:
    return isinstance(value, list) and 0 < len(value) <= TIMES and all(map(_is_time, value))


def _is_time(value: t.Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and 0 <= value <= LONGEST_SECONDS
