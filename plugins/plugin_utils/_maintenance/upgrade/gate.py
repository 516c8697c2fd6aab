# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The gate: decide whether the next batch of an upgrade may be taken out of service now. A pure function over the planner's parts.

An upgrade gives way to events: they are served first, and when both back off, the upgrade retries last. The batch may go only
by an observation of all VMs that is newer than the lease on every VM of the batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ....module_utils._scheduled_events.core.types import Data, Values
from ..._core.wrong_input import WrongInput
from .. import planner as planning
from ..act import replicas
from ..budget import allocation
from ..budget.budget import Budget
from ..config import settings as settings_module
from ..config.settings import Settings
from ..core import timestamps
from ..core.actions import Action, MarkProgress, RestoreRecord, serialise
from ..core.blocker import Blocker
from ..core.model import Host
from ..decide import leases
from ..report import printable_plan
from . import gate_blockers, gate_request
from .gate_request import GateRequest

# Bounds of the pause before the next observation while the batch is blocked.
LONGEST_WAIT = 30.0
LEAST_WAIT = 1.0
CHANGED_TASKS = (
    "{}: upgrade {!r} was done here with another tasks file, or with an earlier version of it. Give the new one a name of its own (upgrade_name). "
    "Or set upgrade_allow_changed_tasks to true: then the upgrade goes on with the VMs that are not done"
)
BEGUN, UPGRADED, DONE = "begun", "upgraded", "done"


def make_gate(observations: Any, ask: Any, policy: Any = "default", settings: Any = None, now: Any = None, seen: Any = None) -> Data:
    """Return the whole decision, as plain lists and dictionaries. Raise WrongInput."""
    asked = gate_request.load(ask)
    chosen = settings_module.load(settings)
    # Every event counts, whichever ones a run of respond would act on.
    chosen = replace(chosen, only_events=(), run=replace(chosen.run, kind="upgrade"))
    observed_state = planning.observe(observations, policy, chosen, now)
    hosts = {host.name: host for host in observed_state.hosts}
    board = leases.read(observed_state.hosts, chosen, observed_state.now)
    if not board.own:
        # Before anything is leased: a VM that changes its mark later is only left out itself.
        _check_tasks(asked, hosts)
    todo, done = _split(asked, hosts)
    asked = replace(asked, batch=todo)
    event_states, budget = planning.allocate(observed_state.event_states, observed_state.hosts, board, chosen, observed_state.now)
    observed_state = replace(observed_state, event_states=event_states)
    found = _blockers(asked, observed_state, hosts, board, budget, seen or {}, chosen)
    batch = [hosts[name] for name in todo if name in hosts]
    leased = bool(todo) and not found and leases.leased(board, asked.lease_id, batch, add=True)
    gave_way = bool(found) and any(leases for leases in board.own.values())
    leases.tidy(board, observed_state.hosts)
    lost = [] if found or not chosen.run.id else _restorations(asked, batch, board)
    answer = GateAnswer(asked, todo, done, found, leased, gave_way, [action.host for action in lost])
    involved = allocation.involved(chosen, set(todo))
    actions: list[Action] = [*board.actions, *lost, *(_marks(asked, hosts, board) if answer.go else [])]
    decided = {
        "go": answer.go,
        "nothing_to_do": not todo,
        "never": allocation.never_fits(chosen, todo),
        "upgrade": asked.upgrade,
        "batch": list(todo),
        "done": list(done),
        "upgraded": [name for name in todo if asked.marks and _mark(asked, hosts.get(name)) == UPGRADED],
        "keepers": {host.name: _keeper(asked, host, observed_state, chosen) for host in batch},
        "blockers": [gate_blockers.shown(one) for one in found],
        "why": answer.why,
        "leased_until": _leased_until(asked, board) if answer.go else None,
        "actions": [serialise(action) for action in actions],
        "requeue": {"seconds": _wait(answer, board), "why": answer.why[0] if answer.why else ""},
        "capacity": allocation.shown(budget, chosen),
        "leases": leases.shown(observed_state.hosts, chosen),
        "involved": [host.name for host in observed_state.hosts if host.name in involved],
        "seen": gate_blockers.remember(seen or {}, observed_state.event_states, asked, observed_state.now),
    }
    return printable_plan.screened(decided)


@dataclass(frozen=True, slots=True)
class GateAnswer:
    """The result of the gate's checks."""

    ask: GateRequest
    todo: Sequence[str]
    done: Sequence[str]
    blockers: Sequence[Blocker]
    leased: bool
    gave_way: bool
    lost: Sequence[str]

    @property
    def go(self) -> bool:
        """Return whether the batch may be taken out of service now."""
        return bool(self.todo) and not self.blockers and self.leased and not self.lost

    @property
    def why(self) -> list[str]:
        """Return why not, as sentences; empty if it may go."""
        if not self.todo:
            return [f"upgrade {self.ask.upgrade!r} is done on {', '.join(self.done)}"]
        if self.blockers:
            return [one.text for one in self.blockers]
        if not self.leased:
            return [f"{', '.join(self.todo)} must be leased first, and then checked once more"]
        return [f"{name} has lost the record of its drain; it is written back from the copy on another VM first" for name in self.lost]


def _leased_until(ask: GateRequest, board: leases.Leases) -> str | None:
    """Return when the first of this run's leases on the batch expires unless renewed, by its VM's clock; None for a run that leases nothing."""
    limits = [lease.limit for name in ask.batch for lease in board.own.get(name, {}).values() if lease.limit is not None]
    return timestamps.to_the_second(min(limits)) if limits else None


def _split(ask: GateRequest, hosts: Mapping[str, Host]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the batch into hosts still to be done, and hosts that the upgrade's progress marks report as done."""
    done = tuple(name for name in ask.batch if ask.marks and _mark(ask, hosts.get(name)) == DONE)
    return tuple(name for name in ask.batch if name not in done), done


def _check_tasks(ask: GateRequest, hosts: Mapping[str, Host]) -> None:
    """Raise WrongInput where the upgrade's name was used with another tasks file: the mark would leave a VM out that has not got these tasks."""
    marked = [name for name in ask.batch if ask.marks and ask.tasks_digest and _mark(ask, hosts.get(name)) in (UPGRADED, DONE)]
    if changed := [name for name in marked if _digest(ask, hosts[name]) not in (None, ask.tasks_digest)]:
        raise WrongInput(CHANGED_TASKS.format(", ".join(changed), ask.upgrade))


def _digest(ask: GateRequest, host: Host) -> str | None:
    return host.observation.mark_digests.get(ask.upgrade) if host.observation else None


def _mark(ask: GateRequest, host: Host | None) -> str | None:
    observation = host.observation if host else None
    if observation is None:
        return None
    mark, record = observation.marks.get(ask.upgrade), observation.records.get(ask.lease_id.lower())
    # Done, and still out of service: an overdue run wrote one of the two. The tasks are done, and the VM must recover.
    return UPGRADED if mark == DONE and record is not None and allocation.is_out(record) else mark


def _blockers(
    ask: GateRequest,
    observed_state: planning.ObservedState,
    hosts: Mapping[str, Host],
    board: leases.Leases,
    budget: Budget,
    seen: Values,
    settings: Settings,
) -> list[Blocker]:
    if not ask.batch:
        return []
    batch = {name: hosts[name] for name in ask.batch if name in hosts}
    return [
        *gate_blockers.of_pause(ask, batch, settings, observed_state.now),
        *gate_blockers.of_observations(ask, hosts, settings),
        *gate_blockers.of_events(observed_state.event_states, batch, ask, settings),
        *gate_blockers.of_memory(seen, observed_state.event_states, ask, settings, observed_state.now),
        *gate_blockers.of_leases(board, ask.batch, hosts),
        *gate_blockers.of_capacity(budget, observed_state.event_states, ask, board, hosts),
    ]


def _marks(ask: GateRequest, hosts: Mapping[str, Host], board: leases.Leases) -> list[MarkProgress]:
    """Return the progress marks to write before anything is done to a VM, so that a killed run leaves it marked as begun."""
    if not ask.marks:
        return []
    token = leases.token(board.settings)
    return [
        MarkProgress(host=name, event_id=ask.lease_id, upgrade=ask.upgrade, state=BEGUN, lease=token, reason=f"upgrade {ask.upgrade!r} begins")
        for name in ask.batch
        if _mark(ask, hosts.get(name)) not in (BEGUN, UPGRADED)
    ]


def _restorations(ask: GateRequest, batch: Sequence[Host], board: leases.Leases) -> list[RestoreRecord]:
    """Return the restorations of lost records, under the lease. Without its record a drained VM would be left out of service for ever."""
    actions = [replicas.restoring_of(host, ask.lease_id.lower()) for host in batch]
    return [replace(action, lease=leases.token(board.settings)) for action in actions if action]


def _wait(answer: GateAnswer, board: leases.Leases) -> float:
    """Return the seconds until the next observation is useful."""
    if answer.go or not answer.todo or not answer.blockers:
        # The lease is held and the record is still lost: it could not be written, for example on a full disk.
        return LEAST_WAIT if answer.leased and answer.lost else 0.0
    if answer.gave_way or any(one.kind == "lease" for one in answer.blockers):
        # Events first: their runs return within the pause, an upgrade after it.
        return round(leases.PAUSE + leases.pause(board.settings, board.now), 3)
    # Requeue after the longest blocker, since all must end. Blockers of unknown duration are checked at an interval.
    longest = max((one.wait for one in answer.blockers if one.wait is not None), default=allocation.ROOM_CHECK)
    return round(min(max(longest, LEAST_WAIT), LONGEST_WAIT), 3)


def _keeper(ask: GateRequest, host: Host, observed_state: planning.ObservedState, settings: Settings) -> str | None:
    """Return the keeper of the VM's replica: a present one first, then a VM that stays in service. Return None if only this VM was observed."""
    readable = {other.name: other for other in observed_state.hosts if other.ok and other.name != host.name}
    hit = {participant.host.name for event_state in observed_state.event_states for participant in event_state.hit}
    # VMs of the batch may lose their disks in the same upgrade.
    for avoided in (hit | set(ask.batch), set(ask.batch), set()):
        for name in _candidates(ask, host, readable, settings):
            if name in readable and name not in avoided:
                return name
    return None


def _candidates(ask: GateRequest, host: Host, readable: dict[str, Host], settings: Settings) -> Iterator[str]:
    for name, other in readable.items():
        if other.observation and any(replica.vm == host.name and replica.record.event.key == ask.lease_id.lower() for replica in other.observation.replicas):
            yield name
    for group in settings.capacity:
        if host.name in group.members:
            # Start at a different VM for each host, so that replicas spread over many.
            place = group.members.index(host.name) + 1
            yield from (*group.members[place:], *group.members[:place])
    yield from readable
