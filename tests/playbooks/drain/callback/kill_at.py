# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kill ansible-playbook, as a crash does, right before a task begins."""

from __future__ import annotations

import os
import signal
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: kill_at
type: aggregate
short_description: Kill ansible-playbook before a task
description: Kills this process before the task named in KILL_AT begins for the KILL_AT_COUNT-th time.
"""


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "kill_at"
    CALLBACK_NEEDS_ENABLED = True

    seen = 0

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:
        if task.name == os.environ["KILL_AT"]:
            self.seen += 1
            if self.seen == int(os.environ["KILL_AT_COUNT"]):
                os.kill(os.getpid(), signal.SIGKILL)
