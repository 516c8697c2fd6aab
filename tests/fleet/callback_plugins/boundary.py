# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Callback plugin: writes down each task as it begins, and stands still at one, so that the run can be killed there.

BOUNDARY_FILE is where they are written; BOUNDARY_AT a part of a task's name, or the number of a task. "this > that" is the first
"that" after a "this".
"""

from __future__ import annotations

import os
import time
import typing as t

from ansible.plugins.callback import CallbackBase


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "boundary"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self._number = 0
        self._path = os.environ["BOUNDARY_FILE"]
        self._way = [part for part in os.environ.get("BOUNDARY_AT", "").split(" > ") if part]

    def v2_playbook_on_task_start(self, task: t.Any, is_conditional: bool) -> None:
        self._number += 1
        name = task.get_name()
        with open(self._path, "a") as file:
            file.write(f"{self._number} {name}\n")
        if self._way and (self._way[0] == str(self._number) or (not self._way[0].isdigit() and self._way[0] in name)):
            self._way.pop(0)
            if self._way:
                return
            with open(self._path + ".reached", "w") as file:
                file.write(f"{self._number} {name}\n")
            # Every result of the tasks before is in, and nothing of this one has begun.
            time.sleep(3600)
