# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Loaded by the modules' Python in the crash tests: ends the controller and the module before or after a record is written."""

from __future__ import annotations

import os
import signal
from pathlib import Path

if "CODE_CACHE_FOLDER" in os.environ:
    import code_cache

    # Python imports one sitecustomize only, and this one comes first.
    code_cache.use_if_wanted()

if "KILL_WRITE" in os.environ:
    _link, _wanted, _when = os.link, int(os.environ["KILL_WRITE"]), os.environ["KILL_WHEN"]
    _seen = 0

    def link(source, target, **more):  # type: ignore[no-untyped-def]
        global _seen  # noqa: PLW0603
        _seen += 1
        _kill(_when == "before")
        _link(source, target, **more)
        _kill(_when == "after")

    def _kill(now: bool) -> None:
        if now and _seen == _wanted:
            os.kill(int(Path(os.environ["KILL_FILE"]).read_text()), signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)

    os.link = link
