# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Method command: the operator's own programs on the VM."""

from __future__ import annotations

import typing as t

from ...core.types import Values
from ...host.machine.commands import TIMED_OUT, CommandResult
from ...host.machine.machine import Machine
from .method import DRAINED, DRAINING, LONGEST_MESSAGE, LOST, UNDOING, UNDONE, Answer, Method, MethodError, Option, Task

# EX_TEMPFAIL of sysexits.h: not yet.
NOT_YET = 75
LONGEST_REASON = 200
LONGEST_ERROR = 400


class CommandMethod(Method):
    """Run what is configured; its exit code says how far it is."""

    name = "command"
    can_tell = False
    undo_option = "undo"
    options: t.ClassVar[t.Mapping[str, Option]] = {
        "begin": Option("command", required=True),
        "check": Option("command", required=True),
        "undo": Option("command", required=True),
        "timeout": Option("whole", default=10),
    }

    def begin(self, machine: Machine, task: Task) -> None:
        _run(machine, task, "begin", (0,))

    def check(self, machine: Machine, task: Task) -> Answer:
        result = _run(machine, task, "check", (0, NOT_YET))
        if result.code == 0:
            return Answer(DRAINED)
        lines = result.output.strip().splitlines()
        reason = lines[-1][:LONGEST_REASON] if lines else f"check ended with exit code {NOT_YET}"
        return Answer(LOST if task.state == DRAINED else DRAINING, reason)

    def undo(self, machine: Machine, task: Task) -> Answer:
        result = _run(machine, task, "undo", (0, NOT_YET))
        return Answer(UNDONE) if result.code == 0 else Answer(UNDOING, f"undo ended with exit code {NOT_YET}")

    def by_hand(self, finding: Values, options: Values) -> str:
        return "run what its entry in drain_methods has as undo"


def _run(machine: Machine, task: Task, stage: str, expected: t.Sequence[int]) -> CommandResult:
    seconds = int(task.options.get("timeout") or 0) or 10
    line = task.options.get(stage)
    if not isinstance(line, (str, list, tuple)):
        raise MethodError(f"option {stage} must be a command line, and is {line!r}"[:LONGEST_MESSAGE])
    result = machine.commands.run(line, task.environment, seconds)
    if result.code not in expected:
        why = result.errors.strip()[-LONGEST_ERROR:]
        # The program may have set itself a limit with GNU timeout, which ends with the same code.
        how = f"reached a timeout (exit code {TIMED_OUT}; option timeout is {seconds} s)" if result.code == TIMED_OUT else f"ended with exit code {result.code}"
        raise MethodError(f"{stage} {how}{': ' + why if why else ''}")
    return result
