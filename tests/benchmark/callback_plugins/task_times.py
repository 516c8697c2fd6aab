# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes when each task of a run began, and how many hosts took part in it, as lines of JSON into the file TASK_TIMES."""

from __future__ import annotations

import json
import os
import resource
import time
import typing as t

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
    name: task_times
    type: aggregate
    short_description: When each task began, for measurements
    description: Only for tests/benchmark.
"""


class CallbackModule(CallbackBase):
    """One line for each task, written when the next one begins; the last line is the end of the run."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "task_times"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self._entry: dict[str, t.Any] | None = None
        self._file = open(os.environ["TASK_TIMES"], "w", encoding="utf-8")  # noqa: SIM115

    def _begin(self, name: str) -> None:
        if self._entry is not None:
            self._file.write(json.dumps(self._entry) + "\n")
        # Processor time holds the controller's processes and all that ran on the "VMs", which are this machine.
        parts = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        used = sum(part.ru_utime + part.ru_stime for part in parts)
        self._entry = {"task": name, "at": time.time(), "cpu": used, "hosts": []}

    def v2_playbook_on_task_start(self, task: t.Any, is_conditional: bool) -> None:
        self._begin(task.get_name())

    def _result(self, result: t.Any, *_rest: t.Any, **_more: t.Any) -> None:
        if self._entry is not None:
            self._entry["hosts"].append(result._host.get_name())

    v2_runner_on_ok = v2_runner_on_failed = v2_runner_on_skipped = v2_runner_on_unreachable = _result

    def v2_playbook_on_stats(self, stats: t.Any) -> None:
        self._begin("end")
        self._begin("end")
        self._file.close()
