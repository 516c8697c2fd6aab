# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A method that changes something outside its VM: a node in a scheduler's own state, with the reason that says whose drain it is."""

from __future__ import annotations

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import DRAINED, LOST, UNDONE, Answer, Method, event_id_in


class OutsideMethod(Method):
    """``nodes`` is the scheduler: the reason of each drained node."""

    name = "outside_node"
    outside = True
    safe_at_once = True

    def __init__(self):
        self.nodes = {}

    def find(self, machine, task):
        return {"reason": self.nodes.get("vm_0", "")}

    def begin(self, machine, task):
        self.nodes.setdefault("vm_0", task.reason)

    def check(self, machine, task):
        return Answer(DRAINED) if "vm_0" in self.nodes else Answer(LOST)

    def undo(self, machine, task):
        if event_id_in(self.nodes.get("vm_0", "")) == task.event.id:
            del self.nodes["vm_0"]
        return Answer(UNDONE)
