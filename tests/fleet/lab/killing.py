# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ends a run as a power cut on the controller would: with everything that it started, and at once."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import time


def descendants(above: int) -> list[int]:
    """All processes below one. ansible's workers have sessions of their own, so that no process group has them all."""
    children: dict[int, list[int]] = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            number, _mark, rest = path.read_text().partition(" (")
        except OSError:
            continue
        children.setdefault(int(rest.rpartition(") ")[2].split(" ")[1]), []).append(int(number))
    found = [above]
    for process in found:
        found += children.get(process, [])
    return found


def kill(run: subprocess.Popen[bytes]) -> None:
    for process in descendants(run.pid):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
    run.wait(10)


def wait_for_boundary(run: subprocess.Popen[bytes], reached: pathlib.Path, seconds: float) -> str:
    """The task at which a run stands still; nothing when it ended, or went on for so long, without coming to it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and run.poll() is None:
        if reached.exists() and (text := reached.read_text()):
            return text.strip()
        time.sleep(0.1)
    return ""
