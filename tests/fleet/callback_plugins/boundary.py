# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Callback plugin: writes down each task as it begins, and stands still at one, so that the run can be killed there.

BOUNDARY_FILE is where they are written; BOUNDARY_AT a part of a task's name, or the number of a task. "this > that" is the first
"that" after a "this". BOUNDARY_AT=new is the first task that is not yet in the file BOUNDARY_KNOWN, which then has it.
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
        if self._way == ["new"]:
            if self._is_new(task.get_path()):
                self._stand_still(name)
        elif self._way and (self._way[0] == str(self._number) or (not self._way[0].isdigit() and self._way[0] in name)):
            self._way.pop(0)
            if self._way:
                return
            self._stand_still(name)

    def _is_new(self, place: str) -> bool:
        """A task is known by its file and line: the same task in another iteration is the same boundary."""
        with open(os.environ["BOUNDARY_KNOWN"], "a+") as file:
            file.seek(0)
            if place in file.read().splitlines():
                return False
            file.write(place + "\n")
        return True

    def _stand_still(self, name: str) -> None:
        with open(self._path + ".reached", "w") as file:
            file.write(f"{self._number} {name}\n")
        # Every result of the tasks before is in, and nothing of this one has begun.
        time.sleep(3600)
