# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What two runs share: the files on each VM, the VMs themselves, Azure's events and the clock. Every step is atomic.

A step is a tuple. C(Fleet.apply) gives the state after it and what the run that took it learns. States are plain tuples, so
that equal ones are found again. Whether a rule is broken is decided here, by what the VMs and Azure are, never by a record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import utc_text

START = 1_800_000_000
NOTICE = 3500
# A drain takes so long at most, with the margin before NotBefore. At its deadline an event's own VMs drain in any case (rule 4).
DRAIN, MARGIN = 1500, 30
# Longer than any lease lasts.
JUMP = 400

Step = tuple[Any, ...]


class BrokenRule(AssertionError):
    """A rule of the design was broken."""


@dataclass(frozen=True)
class Case:
    """One small case: who is hit by what, under which policy, and what may go wrong."""

    name: str
    events: tuple[tuple[int, ...], ...]
    """For each event the VMs that it names."""
    policy: Any = "default"
    machines: int = 3
    limit: int = 1
    jumps: int = 0
    """How often the clock may pass every lease's limit, at any moment."""
    cancels: tuple[int, ...] = ()
    """Events that Azure may take back at any moment."""
    late: tuple[int, ...] = ()
    """Events that Azure announces at any moment; all others are there from the beginning."""
    ends: bool = False
    """Whether what was approved is over within the exploration, so that two runs put back at once; else the survivor does it."""
    misses: tuple[int, ...] = ()
    """VMs that the second run fails to read, once each."""
    fine_observations: bool = False
    """Each file that an observation reads is a step of its own; else an observation of one VM is one step."""
    any_order: bool = False
    """A run's looks come in any order; else in the order of the inventory, backwards for the second run."""
    upgrades: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Runs of upgrades: the name, and the VMs that go together. Two of one name are one upgrade that was started again."""
    responds: int = 2
    """Runs of respond."""
    health: bool = True
    """Whether a health check says that a VM serves; without one nobody knows."""
    servers_left: int = 0
    """How many servers a load balancer must have beside one that is drained (balancer_fleet.py); without it VMs stop a service."""
    down: tuple[int, ...] = ()
    """VMs whose application is down by the balancer's checks until their own event has cured them."""
    toggles: tuple[tuple[int, int], ...] = ()
    """VMs whose application may fall at any moment, and come back, and how often it changes in all."""
    own: bool = False
    """Whether each run takes only one event, as runs that an event has started do: the first run the first, the second the second."""
    drain_seconds: int = DRAIN
    """How long a drain may take."""
    revisions: int = 40
    """States in which a record has more revisions are not followed any further; they are counted."""

    @property
    def approves_undrained(self) -> bool:
        """Whether the policy says now."""
        return self.policy != "default"


class State(NamedTuple):
    """Everything that is shared."""

    files: tuple[tuple[tuple[str, int], ...], ...]
    """For each VM the names and the numbers of the contents, sorted."""
    serving: tuple[bool, ...]
    events: tuple[str, ...]
    """unknown, scheduled, approved or over."""
    clock: int
    jumps: int
    ticks: int
    upgrading: tuple[str, ...] = ()
    """How far an upgrade really is on each VM (upgrade_fleet.py)."""
    balancer: tuple[Any, ...] = ()
    """What a load balancer knows of each VM's server (balancer_fleet.py)."""


class Contents:
    """Contents by number: states stay small and compare fast."""

    def __init__(self) -> None:
        self.known: list[bytes] = []
        self._numbers: dict[bytes, int] = {}

    def number(self, content: bytes) -> int:
        """The same content has the same number."""
        found = self._numbers.get(content)
        if found is None:
            found = self._numbers[content] = len(self.known)
            self.known.append(content)
        return found


def begin(case: Case) -> State:
    """Nothing has happened yet: every VM serves, Azure has announced its events, nobody has looked."""
    ticks = 1 if case.ends or case.cancels else 0
    events = tuple("unknown" if place in case.late else "scheduled" for place in range(len(case.events)))
    upgrading = ("",) * case.machines if case.upgrades else ()
    return State(((),) * case.machines, (True,) * case.machines, events, 0, case.jumps, ticks, upgrading)


def time_text(state: State) -> str:
    """The one clock, as VMs and controllers read it."""
    return utc_text(START + state.clock)


class Fleet:
    """The steps that there are, each from a state to the next."""

    def __init__(self, case: Case, contents: Contents) -> None:
        self.case = case
        self.contents = contents
        self.posts = 0

    def begin(self) -> State:
        """The state in which nothing has happened yet."""
        return begin(self.case)

    def apply(self, state: State, step: Step) -> tuple[State, Any]:
        """Take one step. FileNotFoundError and FileExistsError come back as their names."""
        return getattr(self, "_" + step[0])(state, *step[1:])

    # --- Files: what others can see of them -------------------------------------------------------------------------

    def _names(self, state: State, vm: int, *only: str) -> tuple[State, Any]:
        return state, tuple(name for name, _content in state.files[vm] if name.startswith(only))

    def _read(self, state: State, vm: int, name: str) -> tuple[State, Any]:
        return state, next((content for present, content in state.files[vm] if present == name), "FileNotFoundError")

    def _link(self, state: State, vm: int, name: str, content: int) -> tuple[State, Any]:
        files = dict(state.files[vm])
        if name in files:
            return state, "FileExistsError"
        files[name] = content
        return _with_files(state, vm, files), None

    def _rename(self, state: State, vm: int, old: str, new: str) -> tuple[State, Any]:
        files = dict(state.files[vm])
        if old not in files:
            return state, "FileNotFoundError"
        files[new] = files.pop(old)
        return _with_files(state, vm, files), None

    def _replace(self, state: State, vm: int, name: str, content: int) -> tuple[State, Any]:
        """A file written anew under a name that may be taken: only mutants do that."""
        return _with_files(state, vm, {**dict(state.files[vm]), name: content}), None

    def _unlink(self, state: State, vm: int, name: str) -> tuple[State, Any]:
        files = dict(state.files[vm])
        if files.pop(name, None) is None:
            return state, "FileNotFoundError"
        return _with_files(state, vm, files), None

    # --- The VM and its metadata service ----------------------------------------------------------------------------

    def _now(self, state: State, vm: int) -> tuple[State, Any]:
        return state, None

    def _observation(self, state: State, vm: int) -> tuple[State, Any]:
        """An observation of one VM as a whole: what its files are, whether it serves, what its document lists."""
        return state, (state.files[vm], state.serving[vm], state.events, state.clock)

    def _document(self, state: State, vm: int) -> tuple[State, Any]:
        return state, state.events

    def _check(self, state: State, vm: int) -> tuple[State, Any]:
        return state, state.serving[vm]

    def _miss(self, state: State, vm: int) -> tuple[State, Any]:
        return state, None

    def _stop(self, state: State, vm: int, event: int) -> tuple[State, Any]:
        """A drain begins. It is done at once: what takes time only lies between this step and the next."""
        if state.serving[vm]:
            if state.clock < NOTICE + event - DRAIN - MARGIN:
                self._room(state, {vm}, f"a drain of VM {vm + 1} for event {event + 1}")
            state = state._replace(serving=_at(state.serving, vm, False))
        return state, None

    def _start(self, state: State, vm: int, event: int) -> tuple[State, Any]:
        if not state.serving[vm]:
            for other, status in enumerate(state.events):
                if status == "approved" and vm in self.case.events[other] and not self.case.approves_undrained:
                    raise BrokenRule(f"rule 2: VM {vm + 1} was put back for event {event + 1} while event {other + 1}, approved, needs it drained")
            state = state._replace(serving=_at(state.serving, vm, True))
        return state, None

    def _post(self, state: State, vm: int, events: tuple[int, ...]) -> tuple[State, Any]:
        for event in events:
            if state.events[event] != "scheduled":
                continue  # Azure takes no notice of an approval that is given twice
            names = self.case.events[event]
            serving = [one + 1 for one in names if state.serving[one]]
            if serving and not self.case.approves_undrained:
                raise BrokenRule(f"rule 1: event {event + 1} was approved while VM {serving[0]} served")
            if serving:
                self._room(state, set(names), f"the approval of event {event + 1}")
            state = state._replace(events=_at(state.events, event, "approved"))
            self.posts += 1
        return state, None

    def out(self, state: State) -> set[int]:
        """Who is really out: stopped, or named by what was approved and is not over."""
        stopped = {vm for vm, serves in enumerate(state.serving) if not serves}
        return stopped.union(*(names for names, status in zip(self.case.events, state.events) if status == "approved"))

    def _room(self, state: State, more: set[int], what: str) -> None:
        out = self.out(state)
        if not more <= out and len(out | more) > self.case.limit:
            names = ", ".join(f"VM {vm + 1}" for vm in sorted(out | more))
            raise BrokenRule(f"rule 4: {what} puts {names} out, and {self.case.limit} may be")

    # --- Azure and the clock ----------------------------------------------------------------------------------------

    def _announce(self, state: State, event: int) -> tuple[State, Any]:
        return state._replace(events=_at(state.events, event, "scheduled")), None

    def _cancel(self, state: State, event: int) -> tuple[State, Any]:
        return state._replace(events=_at(state.events, event, "over")), None

    def _end(self, state: State, event: int) -> tuple[State, Any]:
        return state._replace(events=_at(state.events, event, "over")), None

    def _tick(self, state: State) -> tuple[State, Any]:
        return state._replace(clock=state.clock + 1, ticks=state.ticks - 1), None

    def _jump(self, state: State) -> tuple[State, Any]:
        return state._replace(clock=state.clock + JUMP, jumps=state.jumps - 1), None

    def surroundings(self, state: State) -> list[Step]:
        """What may happen without any run."""
        steps: list[Step] = []
        for event, status in enumerate(state.events):
            if status == "unknown":
                steps.append(("announce", event))
            if status == "scheduled" and event in self.case.cancels:
                steps.append(("cancel", event))
            if status == "approved" and self.case.ends:
                steps.append(("end", event))
        if state.ticks and "over" in state.events:
            steps.append(("tick",))
        if state.jumps:
            steps.append(("jump",))
        return steps


def _at(values: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    return (*values[:place], value, *values[place + 1 :])


def _with_files(state: State, vm: int, files: dict[str, int]) -> State:
    return state._replace(files=_at(state.files, vm, tuple(sorted(files.items()))))
