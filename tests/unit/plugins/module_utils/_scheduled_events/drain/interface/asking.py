# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A method that asks a daemon of its VM over HTTP to hand over to a member that the event does not hit, as a database's would be."""

from __future__ import annotations

import json

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import (
    DRAINED,
    LOST,
    UNDONE,
    Answer,
    Method,
    MethodError,
    Option,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.daemons import Daemon


class AskingMethod(Method):
    """The daemon leads, or another member does."""

    name = "asking"
    options = {
        "url": Option("text", default="http://127.0.0.1:8008", address=True),
        "password_file": Option("text", default=""),
        "members": Option("mapping", default={}, hosts=True),
    }

    def find(self, machine, task):
        able = [member for member, host in task.options["members"].items() if not task.why_not(host)]
        if not able:
            raise MethodError("; ".join(f"{member}: {task.why_not(host)}" for member, host in task.options["members"].items()))
        return {"leads": self._ask(machine, task, "GET", "/cluster")["leads"], "to": able[0]}

    def begin(self, machine, task):
        if task.present["leads"]:
            self._ask(machine, task, "POST", "/switchover", {"candidate": task.present["to"], "reason": task.reason})

    def check(self, machine, task):
        return Answer(LOST, "it leads") if self._ask(machine, task, "GET", "/cluster")["leads"] else Answer(DRAINED)

    def undo(self, machine, task):
        return Answer(UNDONE)

    def _ask(self, machine, task, method, path, body=None):
        daemon = Daemon(task.options["url"], seconds=5.0, password_file=task.options["password_file"])
        reply = self.daemons(machine).request(daemon, method, path, None if body is None else json.dumps(body).encode())
        if reply.status != 200:
            raise MethodError(f"{daemon.url} refuses: {reply.text}")
        return reply.json()
