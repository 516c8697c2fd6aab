# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A wall clock that is ahead, in a process that is started and in one that is forked from another (tests/tools/code_cache/shifted_clock.py)."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import time

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tools" / "code_cache"
HOUR = 3600.0
SHOW = """
import datetime as module, json, os, time
from datetime import datetime, timezone
def show():
    moment = datetime(2026, 1, 1)
    kinds = isinstance(moment, module.datetime) and type(moment) is type(datetime.fromisoformat("2026-01-01"))
    return [time.time(), time.time_ns() / 1e9, datetime.now(timezone.utc).timestamp(), datetime.now().timestamp(), kinds]
"""
FORKED = """
import shifted_clock
def forked(shift):
    os.environ.pop("CLOCK_SHIFT", None)
    os.environ.update(shift)
    shifted_clock.use_if_wanted()
    return show()
print(json.dumps([show(), forked({"CLOCK_SHIFT": "7200"}), forked({})]))
"""


def times(program: str, **more: str) -> list[list[float]]:
    environment = {**os.environ, "PYTHONPATH": str(FOLDER), **more}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True, timeout=60)
    return list(json.loads(done.stdout))


def test_a_shifted_clock_is_ahead_and_what_is_forked_has_its_own_shift() -> None:
    shifts = [round((one - time.time()) / HOUR, 1) for found in times(SHOW + FORKED, CLOCK_SHIFT="3600") for one in found[:4]]
    assert shifts == [1.0] * 4 + [2.0] * 4 + [0.0] * 4


def test_without_a_shift_nothing_is_replaced_and_kinds_stay_alike() -> None:
    (found,) = times(SHOW + "print(json.dumps([show() + [module.datetime.__module__]]))")
    assert abs(found[0] - time.time()) < 60 and found[4:] == [True, "datetime"]
    (shifted,) = times(SHOW + "print(json.dumps([show() + [hasattr(module.datetime, 'real')]]))", CLOCK_SHIFT="3600")
    assert shifted[4:] == [True, True]
