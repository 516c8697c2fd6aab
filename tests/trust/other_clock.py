# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Python of a VM whose wall clock is wrong: "other_clock.py SECONDS FILE ARGUMENT..." runs the file as if it were so much later."""

from __future__ import annotations

import datetime
import pathlib
import runpy
import sys
import time


def shift(seconds: float) -> None:
    """Move the wall clock of this process; the monotonic clock and the times of files stay."""
    real_time, real_time_ns = time.time, time.time_ns

    class Shifted(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:
            return cls.fromtimestamp(time.time(), tz)

        @classmethod
        def utcnow(cls) -> datetime.datetime:
            return cls.fromtimestamp(time.time(), datetime.timezone.utc).replace(tzinfo=None)

    time.time = lambda: real_time() + seconds
    time.time_ns = lambda: real_time_ns() + int(seconds * 1e9)
    datetime.datetime = Shifted  # type: ignore[misc]


def main() -> None:
    seconds, sys.argv = float(sys.argv[1]), sys.argv[2:]
    shift(seconds)
    sys.path[0] = str(pathlib.Path(sys.argv[0]).parent)
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
