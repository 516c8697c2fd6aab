# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A method of nothing but find: it waits for a member that has not handed over yet."""

from __future__ import annotations

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import NotYet
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.none import NoMethod


class WaitingMethod(NoMethod):
    """Begin when ``ready`` says so, or when it must."""

    name = "waiting"
    needs_seconds = 60.0

    def __init__(self):
        self.ready = lambda task: False
        self.tasks = []

    def find(self, machine, task):
        self.tasks.append(task)
        if not self.ready(task):
            raise NotYet("db2 has not handed over")
        return {}
