# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Running programs: what failed, and what it said."""

from __future__ import annotations

import subprocess
import threading
import time
import typing as t


def run(*words: str, check: bool = True, seconds: float = 30, stdin: str | None = None) -> str:
    """What a program printed. An error says what was run and what came of it."""
    done = subprocess.run(words, text=True, capture_output=True, timeout=seconds, check=False, input=stdin)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-2000:]}")
    return done.stdout


def until(condition: t.Callable[[], t.Any], seconds: float, what: str | t.Callable[[], str]) -> t.Any:
    """Wait for a state; its value. ``what`` may be asked for once the time is over, to say what is there instead."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds:.0f} s: {what if isinstance(what, str) else what()}")
        time.sleep(0.2)


def in_background(work: t.Callable[[], None], name: str) -> threading.Thread:
    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    return thread
