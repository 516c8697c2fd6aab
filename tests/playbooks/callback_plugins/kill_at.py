# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Callback plugin: ends the whole process group when a task ends on a host, and writes down in KILL_FOLDER that it did.

KILL_AT says at which: HOST|TASK|NUMBER. The number counts the times that this task ended on this host.
"""

from __future__ import annotations

import collections
import os
import pathlib
import signal
import typing as t

from ansible.plugins.callback import CallbackBase


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "kill_at"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self._counts: collections.Counter[str] = collections.Counter()

    def _point(self, result: t.Any) -> None:
        task = getattr(result, "task", None) or result._task
        host = getattr(result, "host", None) or result._host
        place = f"{host.get_name()}|{task.get_name().rpartition(' : ')[2]}"
        self._counts[place] += 1
        point = f"{place}|{self._counts[place]}"
        if os.environ.get("KILL_AT") == point:
            (pathlib.Path(os.environ["KILL_FOLDER"]) / "killed").write_text(point)
            os.killpg(os.getpgid(0), signal.SIGKILL)

    def v2_runner_on_ok(self, result: t.Any) -> None:
        self._point(result)

    def v2_runner_on_failed(self, result: t.Any, ignore_errors: bool = False) -> None:
        self._point(result)

    def v2_runner_on_unreachable(self, result: t.Any) -> None:
        self._point(result)

    def v2_runner_on_skipped(self, result: t.Any) -> None:
        # Nothing was done: a kill here leaves what a kill at the task before leaves.
        return
