# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Method probe_file: a flag file tells a load balancer's probe that the VM is out of service."""

from __future__ import annotations

import typing as t

from ...host.machine.machine import Machine
from ...host.system import seconds_between
from .method import DRAINED, DRAINING, LONGEST_MESSAGE, LOST, UNDONE, Answer, Method, MethodError, Option, Task

POSITIONS = ("in", "out")
# What host/machine/flag_files.py finds.
KINDS = ("file", "link", "absent")


class ProbeFileMethod(Method):
    """Remove or create a flag file, wait until the load balancer must have seen it, and until the connections are gone."""

    name = "probe_file"
    options: t.ClassVar[t.Mapping[str, Option]] = {
        "path": Option("text", "the path of the flag file on the VM.", required=True),
        "present_means": Option(
            "text", "in (the file exists while the VM is in service; removed to drain) or out (created to drain).", default="in", choices=POSITIONS
        ),
        "interval": Option("whole", "seconds between two probes of the load balancer, a whole number.", default=5),
        "threshold": Option("whole", "how many probes in a row must fail before the load balancer sends nothing more, a whole number.", default=2),
        "ports": Option("wholes", "a list of TCP ports whose connections must be gone, such as [443]; [] asks for none.", default=[]),
        "mode": Option("mode", 'the mode of a file that is created, such as "0644".', default="0644"),
    }

    def find(self, machine: Machine, task: Task) -> dict[str, t.Any]:
        return dict(machine.flag_files.describe(task.options["path"]))

    def begin(self, machine: Machine, task: Task) -> None:
        absent = task.present.get("kind") == "absent"
        if _removes(task) and not absent:
            machine.flag_files.set_aside(task.options["path"])
        elif not _removes(task) and absent:
            machine.flag_files.create(task.options["path"], str(task.options["mode"]))

    def check(self, machine: Machine, task: Task) -> Answer:
        path = task.options["path"]
        if machine.flag_files.exists(path) == _removes(task):
            return Answer(LOST, f"{path} says again that the VM is in service")
        left = _seconds_left(machine, task)
        if left > 0:
            return Answer(DRAINING, f"the load balancer may not have noticed yet, {left} s to wait")
        ports = [int(port) for port in task.listed("ports")]
        busy = machine.connections.count(ports) if ports else 0
        if busy > 0:
            return Answer(DRAINING, f"{busy} connection(s) open on port(s) {', '.join(map(str, ports))}")
        return Answer(DRAINED)

    def undo(self, machine: Machine, task: Task) -> Answer:
        kind = task.finding.get("kind")
        if kind not in KINDS:
            raise MethodError(f"the record does not say what was at {task.options['path']} before: its kind is {kind!r}"[:LONGEST_MESSAGE])
        absent = kind == "absent"
        # Nothing was changed where the file stood in the other position before.
        if _removes(task) and not absent:
            machine.flag_files.restore(task.options["path"], {key: str(value) for key, value in task.finding.items()})
        elif not _removes(task) and absent:
            machine.flag_files.remove(task.options["path"])
        return Answer(UNDONE)


def _removes(task: Task) -> bool:
    position = task.options["present_means"]
    if position not in POSITIONS:
        raise MethodError(f"option present_means must be in or out, and is {position!r}"[:LONGEST_MESSAGE])
    return bool(position == "in")


def _seconds_left(machine: Machine, task: Task) -> int:
    """Return the whole seconds until a load balancer that probes as configured has seen the file. Once drained, it has."""
    wait = int(task.options["interval"]) * int(task.options["threshold"])
    if task.state == DRAINED or wait == 0:
        return 0
    passed = seconds_between(task.since, machine.now())
    if passed is None:
        raise MethodError("the record does not say since when the load balancer may have noticed")
    # A probe may have begun right before; hence one second more.
    return max(int(wait + 1 - passed), 0)
