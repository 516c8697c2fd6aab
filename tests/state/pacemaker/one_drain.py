# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One drain or one undo of this node by the method alone: "one_drain.py drain|undo COMMANDS". After so many commands it is killed (0: never)."""

from __future__ import annotations

import os
import pathlib
import sys
import time
import typing as t

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / ".build" / "tree"))
PACKAGE = "ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events"

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import Event, Task  # noqa: E402  see above
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.pacemaker.pacemaker import PacemakerMethod  # noqa: E402
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.registry import defaults  # noqa: E402
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.commands import CommandResult, LocalCommands  # noqa: E402
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.machine import local_machine  # noqa: E402

KILLED = 99
UNDER_WAY = ("draining", "undoing")


class Killing(LocalCommands):
    """The commands of this node, until so many have run."""

    def __init__(self, count: int) -> None:
        self._left = count

    def run(self, line: t.Any, environment: t.Mapping[str, str], seconds: float) -> CommandResult:
        result = super().run(line, environment, seconds)
        self._left -= 1
        if self._left == 0:
            # No finally, no flush: as a power cut.
            os._exit(KILLED)
        return result


def main() -> None:
    stage, count = sys.argv[1], int(sys.argv[2])
    machine = local_machine(lambda: "2026-11-21T20:00:00Z", lambda words: (1, "", ""))._replace(commands=Killing(count))
    method = PacemakerMethod()

    def task(state: str, **more: t.Any) -> Task:
        return Task(
            defaults("pacemaker"), more.pop("finding", {"lifetime": "forever"}), state, None, {}, resources=["vm1"], event=Event("EEEE-1", "Reboot"), **more
        )

    if stage == "drain":
        found = method.find(machine, task("new"))
        method.begin(machine, task("found", finding=found, present=found))
    while (answer := method.check(machine, task("begun", finding=found)) if stage == "drain" else method.undo(machine, task("drained"))).state in UNDER_WAY:
        time.sleep(1)
    print(answer.state)


if __name__ == "__main__":
    main()
