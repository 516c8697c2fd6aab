# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Method service: stop services, and start again exactly those that ran."""

from __future__ import annotations

import typing as t

from ...core.types import Data, Doubt, Values
from ...host.machine.machine import Machine
from ...host.machine.services import ServiceState
from .method import DRAINED, DRAINING, FAILED, LOST, UNDOING, UNDONE, Answer, Method, MethodError, Option, Task, is_true
from .pasted import listed, word

# One that restarts all the time counts as running.
RAN = ("active", "activating", "reloading", "refreshing")
RUNS = ("active", "reloading", "refreshing")
STOPPED = ("inactive", "failed")
# The states, on both systems, of a service that has nothing to stop.
DOWN = ("inactive", "failed", "deactivating", "stopped", "stop_pending")


def doubt_of(finding: Values, options: Values) -> Doubt:
    """Return why the states in which services were found prove nothing: see Method.doubt()."""
    if any(state not in DOWN for state in finding.values()):
        return ""
    return None if is_true(options.get("may_be_stopped")) else f"{', '.join(finding)} did not run: is names right? If so, set may_be_stopped: true"


class ServiceMethod(Method):
    """Stop services without waiting. Whether they start at boot is not touched."""

    name = "service"
    options: t.ClassVar[t.Mapping[str, Option]] = {"names": Option("texts", required=True), "may_be_stopped": Option("truth", default=False)}
    doubt = staticmethod(doubt_of)

    def find(self, machine: Machine, task: Task) -> Data:
        found = machine.services.states(task.listed("names"))
        unknown = [one.name for one in found if not one.known]
        if unknown:
            raise MethodError(f"the option names holds {', '.join(unknown)}, which systemd does not know on this VM: correct names")
        return {one.name: "activating" if _starts(one) else one.state for one in found}

    def would(self, machine: Machine, task: Task) -> str:
        ran = [name for name, state in task.present.items() if state in RAN]
        return f"would stop {', '.join(ran)}" if ran else "nothing of it runs"

    def begin(self, machine: Machine, task: Task) -> None:
        machine.services.stop(task.listed("names"))

    def check(self, machine: Machine, task: Task) -> Answer:
        running = [one for one in machine.services.states(task.listed("names")) if one.state not in STOPPED or _starts(one)]
        if not running:
            return Answer(DRAINED)
        # Runs, and systemd has no job for it: a person, or a reboot, has started it again.
        started = any(_starts(one) or (one.state != "deactivating" and not one.has_job) for one in running)
        return Answer(LOST if started else DRAINING, f"still running: {names_of(running)}")

    def undo(self, machine: Machine, task: Task) -> Answer:
        names = [name for name in task.listed("names") if task.finding.get(name) in RAN]
        if not names:
            return Answer(UNDONE)
        present = machine.services.states(names)
        # One that failed to start is not started again in the same attempt.
        startable = ("inactive",) if task.state == UNDOING else ("inactive", "failed", "deactivating")
        down = [one.name for one in present if not one.has_job and one.state in startable]
        if down:
            machine.services.start(down)
            present = machine.services.states(names)
        return _undone(present)

    def by_hand(self, finding: Values, options: Values) -> str:
        ran = [word(name, "UNIT") for name in listed(finding, options, "names") if finding[name] in RAN]
        return f"systemctl start {' '.join(ran)}" if ran else ""


def _starts(one: ServiceState) -> bool:
    """Return whether a service that does not run is about to: after a boot its start may wait for others, and a stop takes it back."""
    return one.state in STOPPED and one.has_job


def _undone(present: t.Sequence[ServiceState]) -> Answer:
    down = [one for one in present if one.state not in RUNS]
    return how_undone(down, [one for one in down if one.state == "failed" and not one.has_job], "journalctl -u UNIT")


def how_undone(down: t.Sequence[ServiceState], broken: t.Sequence[ServiceState], log: str) -> Answer:
    """Return how far an undo is, by the services that do not run and those that cannot be started."""
    if not down:
        return Answer(UNDONE)
    if broken:
        return Answer(FAILED, f"cannot be started, see {log}: {names_of(broken)}")
    return Answer(UNDOING, f"not yet running: {names_of(down)}")


def names_of(states: t.Sequence[ServiceState]) -> str:
    """Return the names of services, for messages."""
    return ", ".join(one.name for one in states)
