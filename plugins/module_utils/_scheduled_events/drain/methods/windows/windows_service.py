# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Method service on Windows: stop services. It puts back which of them ran, or were paused; start modes are not touched."""

from __future__ import annotations

import typing as t

from ....core.types import Data, Values
from ....host.machine.machine import Machine
from ....host.machine.services import ServiceState
from ..method import DRAINED, DRAINING, LOST, UNDOING, Answer, Method, MethodError, Option, Task
from ..pasted import listed, quoted
from ..service import doubt_of, how_undone, names_of

STOPPED = "stopped"
GOES_DOWN = (STOPPED, "stop_pending")
PAUSED = ("paused", "pause_pending")
UP = ("started", "start_pending", "continue_pending")
IS_BACK = ("started", "paused")
# ERROR_SERVICE_NEVER_STARTED, 1077: it was not started since the boot.
NO_ERRORS = (0, 1077)


class WindowsServiceMethod(Method):
    """Stop services without waiting. One that was paused is paused again."""

    name = "service"
    options: t.ClassVar[t.Mapping[str, Option]] = {
        "names": Option("texts", required=True, description="a list of Windows services by their names (as in Get-Service), such as [W3SVC]."),
        "may_be_stopped": Option("truth", default=False),
    }
    doubt = staticmethod(doubt_of)

    def find(self, machine: Machine, task: Task) -> Data:
        found = machine.services.states(task.listed("names"))
        unknown = [one.name for one in found if not one.known]
        if unknown:
            raise MethodError(
                f"The option names holds {', '.join(unknown)}, which Windows does not know on this VM. It takes the names of services "
                "(as in Get-Service), not their display names."
            )
        disabled = [one.name for one in found if one.state != STOPPED and one.start_mode == "disabled"]
        if disabled:
            # A start mode is never touched, so this one could not be put back.
            raise MethodError(f"Disabled, and running: {', '.join(disabled)}. Windows would not start it again; set its start mode to manual.")
        return {one.name: one.state for one in found}

    def begin(self, machine: Machine, task: Task) -> None:
        names = task.listed("names")
        needed = machine.services.stop([name for name in names if task.present.get(name) not in GOES_DOWN])
        listed = {str(name).lower() for name in names}
        for one in machine.services.states(needed):
            # Those that are listed stop as well, and the next observation asks again.
            others = [name.lower() for name in one.needed_by if name.lower() not in listed]
            if others:
                raise MethodError(f"{one.name} is needed by services that run. List before it in names those that may be stopped: {', '.join(others)}")

    def check(self, machine: Machine, task: Task) -> Answer:
        running = [one for one in machine.services.states(task.listed("names")) if one.known and one.state != STOPPED]
        if not running:
            return Answer(DRAINED)
        # Runs, and is not stopping: a person, a trigger or a reboot has started it again, or it waits for one that needs it.
        started = any(one.state not in GOES_DOWN for one in running)
        return Answer(LOST if started else DRAINING, f"still running: {names_of(running)}")

    def undo(self, machine: Machine, task: Task) -> Answer:
        names = [name for name in task.listed("names") if task.finding.get(name) not in (None, *GOES_DOWN)]
        present = machine.services.states(names)
        # One that ended with an error code was started in this attempt already and is not started again: the next attempt does.
        broken = [one.name for one in present if _is_broken(one)] if task.state == UNDOING else []
        # The last that was stopped comes first.
        down = [one.name for one in reversed(present) if one.known and one.state == STOPPED and one.name not in broken]
        if down:
            machine.services.start(down)
            present = machine.services.states(names)
        machine.services.pause([one.name for one in present if task.finding[one.name] in PAUSED and one.state == "started"])
        return _undone(present, task.state == UNDOING)

    def by_hand(self, finding: Values, options: Values) -> str:
        names = listed(finding, options, "names")
        # The last that was stopped comes first.
        started = [quoted(name, "NAME") for name in reversed(names) if finding[name] in (*UP, *PAUSED)]
        paused = [quoted(name, "NAME") for name in names if finding[name] in PAUSED]
        calls = [f"Start-Service -Name {', '.join(started)}"] if started else []
        return "; ".join(calls + ([f"Suspend-Service -Name {', '.join(paused)}"] if paused else []))


def _undone(present: t.Sequence[ServiceState], again: bool) -> Answer:
    # One that was deleted meanwhile cannot come back.
    down = [one for one in present if one.known and one.state not in IS_BACK]
    return how_undone(down, [one for one in down if again and _is_broken(one)], "the System event log")


def _is_broken(one: ServiceState) -> bool:
    return one.known and one.state == STOPPED and one.exit_code not in NO_ERRORS
