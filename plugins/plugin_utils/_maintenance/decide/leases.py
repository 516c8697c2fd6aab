# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Decide which run may act on which VM (design: several runs at once).

A run acquires the leases of all readable VMs of an event, or none, and acts only by a plan whose observations are newer than the
acknowledgement of all these leases. No run ignores a live lease of another. So of two runs that want the same VM, or the last place
in a budget, at least one observes the other's lease before it acts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ....module_utils._scheduled_events.core.names import folded
from ....module_utils._scheduled_events.lease.lease_schema import event_digest
from ..config.settings import Settings
from ..core import timestamps
from ..core.actions import AcquireLease, ReleaseLease
from ..core.blocker import Blocker
from ..core.model import Host, Lease
from ..state.event_state import EventState, with_participants
from ..state.participant import Participant
from . import deadlines

LIVE_INTENTS = ("drain", "verify", "undo")
# A run that backed off retries after a random part of this.
PAUSE = 30.0
# Runs that have met look again within their passes, after so many seconds: the one that keeps its leases, and the others, which release theirs.
KEEPING, RELEASING = 1.0, 2.0
# So often at most: a run that is dead, or a VM that makes one up, never releases.
MOST_LOOKS = 8


@dataclass(slots=True)
class Leases:
    """All leases that were observed."""

    settings: Settings
    now: float
    others: dict[str, list[Lease]] = field(default_factory=dict)
    own: dict[str, dict[str, Lease]] = field(default_factory=dict)
    kept: set[tuple[str, str]] = field(default_factory=set)
    """Leases of this run that something needs: host and digest."""
    asked: set[tuple[str, str]] = field(default_factory=set)
    """Leases that this plan acquires: host and digest."""
    actions: list[AcquireLease | ReleaseLease] = field(default_factory=list)
    meets_in: float | None = None
    """Seconds until a run that has met another one looks again; None if it has met none."""


def read(hosts: Iterable[Host], settings: Settings, now: float) -> Leases:
    """Return the leases of this run and of the others. A run that only reports counts no expired lease."""
    board = Leases(settings, now)
    for host in hosts:
        for lease in host.observation.leases if host.observation else ():
            if settings.run.id and lease.run == settings.run.id:
                board.own.setdefault(host.name, {})[lease.digest] = lease
            elif settings.run.id or not lease.expired:
                board.others.setdefault(host.name, []).append(lease)
    return board


def arrange(
    board: Leases, event_states: Sequence[EventState], approvers: Mapping[str, list[Host]], hosts: Iterable[Host]
) -> tuple[list[EventState], dict[str, list[Host]]]:
    """Acquire missing leases, and hold participants without a lease.

    Return the event states, in which only participants act whose VMs this run has leased, and the approvers of the events on which no other run is at work.
    """
    found, free = [], dict(approvers)
    for event_state in event_states:
        if event_state.ours:
            served = _whole_event(board, event_state, approvers.get(event_state.key))
            if served.lost:
                free.pop(event_state.key, None)
            found.append(_recoveries(board, served.event_state))
        else:
            found.append(event_state)
    tidy(board, hosts)
    return found, free


def tidy(board: Leases, hosts: Iterable[Host]) -> None:
    """Release the leases that this run no longer needs, and remove expired ones."""
    if board.settings.run.id:
        going = {action.host for action in board.actions if isinstance(action, AcquireLease)}
        for host in hosts:
            _tidy(board, host, going)


def meet(board: Leases, event_id: str, names: Iterable[str], others: Iterable[str]) -> None:
    """Keep the leases of this run on these VMs, or let them be released, where other runs have live leases that it may not pass.

    The rank, which no clock is in, decides only who releases. Who keeps its leases acts when no other live lease is left.
    """
    run, digest = board.settings.run, event_digest(event_id)
    met = [(lease.kind, lease.run) for name in others for lease in board.others.get(name, ()) if not lease.expired]
    own = [(name, digest) for name in names if digest in board.own.get(name, {})]
    if not met or not (own or run.looks) or run.looks >= MOST_LOOKS:
        return
    keeps = bool(own) and (run.kind, run.id) < min(met)
    board.kept.update(own if keeps else ())
    board.meets_in = min(KEEPING if keeps else RELEASING, board.meets_in or RELEASING)


def token(settings: Settings) -> dict[str, Any] | None:
    """Return the lease for an action of this run, or None for a run without an id."""
    return {"run": settings.run.id, "seconds": settings.lease_seconds} if settings.run.id else None


def pause(settings: Settings, now: float) -> float:
    """Return a random part of the pause, in seconds; the same for the same run and time, so that a plan stays a function of its input."""
    seed = hashlib.sha256(f"{settings.run.id} {now:.3f}".encode()).digest()
    return round(1.0 + (PAUSE - 1.0) * int.from_bytes(seed[:4], "big") / 2**32, 3)


class _Served(NamedTuple):
    """An event state with its leases decided, and whether another run is at work on what its approval needs."""

    event_state: EventState
    lost: bool = False


def _recoveries(board: Leases, event_state: EventState) -> EventState:
    for participant in event_state.participants:
        if participant.over and participant.intent == "recover":
            event_state = _one_vm(board, event_state, participant)
    return event_state


def _whole_event(board: Leases, event_state: EventState, approvers: Sequence[Host] | None) -> _Served:
    """Acquire the leases of all readable VMs of the event, which draining and approving need; an urgent action needs its own VM only."""
    every = [participant for participant in event_state.participants if participant.ok and not participant.over]
    divided = event_state.divided
    # A VM that the event no longer names needs its own lease only. So does each VM where the VMs' documents contradict each
    # other: the event is not approved in any case, its VMs are not known, and each VM goes by its own document.
    live = [participant for participant in every if participant.named and not divided]
    for participant in every:
        if (not participant.named or divided) and participant.intent in LIVE_INTENTS:
            event_state = _one_vm(board, event_state, participant)
    acting = [participant for participant in live if participant.intent in LIVE_INTENTS]
    if not acting and approvers is None:
        return _Served(event_state)
    wanted = {participant.host.name: participant.host for participant in live}
    wanted.update({host.name: host for host in approvers or ()})
    other = at_work(board, wanted)
    if other is not None:
        event_state = event_state.with_blocker(other)
        meet(board, event_state.event.event_id, wanted, wanted)
    if other is None and leased(board, event_state.event.event_id, wanted.values(), add=True):
        return _Served(event_state)
    return _Served(_held_back(board, with_participants(event_state, [replace(one, may_act=False) for one in live]), acting, other), other is not None)


def _held_back(board: Leases, event_state: EventState, acting: Iterable[Participant], other: Blocker | None) -> EventState:
    """Let only urgent participants act, each under its own lease; the others wait, for the other run if there is one."""
    for participant in acting:
        waiting = replace(participant, may_act=False)
        if _is_urgent(participant, board.settings):
            event_state = _one_vm(board, event_state, waiting)
        elif other is not None:
            event_state = with_participants(event_state, [_back_off(board, waiting, other)])
    return event_state


def _is_urgent(participant: Participant, settings: Settings) -> bool:
    """Return whether the participant acts under a lease on its own VM alone: at its deadline, and to undo a failed drain.

    Otherwise a VM that cannot be leased, or that reports an endless lease, would leave the others undrained when Azure takes them, or out of service.
    """
    return participant.intent == "undo" or (not participant.presumed and deadlines.must_drain(participant, settings))


def _one_vm(board: Leases, event_state: EventState, participant: Participant) -> EventState:
    """Acquire the lease of one VM. Recovery needs only its own VM: the others may be gone for good."""
    other = at_work(board, [participant.host.name])
    if other is None:
        may_act = leased(board, event_state.event.event_id, [participant.host], add=True)
        return with_participants(event_state, [replace(participant, may_act=may_act)])
    meet(board, event_state.event.event_id, [participant.host.name], [participant.host.name])
    if participant.named:
        event_state = event_state.with_blocker(other)
    return with_participants(event_state, [_back_off(board, participant, other)])


def at_work(board: Leases, wanted: Iterable[str]) -> Blocker | None:
    """Return which other run is at work on these VMs, or None. Expired leases do not block: acquiring a lease removes them."""
    for name in wanted:
        for lease in board.others.get(name, ()):
            if not lease.expired:
                what = f" for {lease.purpose}" if lease.purpose else ""
                takes_over = "" if lease.limit is None else f"; if it is dead, the next run takes over at {timestamps.clock_time(lease.limit)}"
                way_out = f"wait for {lease.text}{takes_over}"
                return Blocker("lease", f"{lease.text} is at work on {name}{what}", tuple(filter(None, (name, lease.event_id))), way_out=way_out)
    return None


def _back_off(board: Leases, participant: Participant, other: Blocker) -> Participant:
    wait = pause(board.settings, board.now)
    return replace(participant, intent=participant.undrained_intent, reason=other.text, blocker=participant.blocker or replace(other, wait=wait), wait=wait)


def leased(board: Leases, event_id: str, hosts: Iterable[Host], *, add: bool) -> bool:
    """Return whether this run had the leases of all these hosts before the observation. With C(add) acquire the missing ones."""
    if not board.settings.run.id:
        return True
    digest, key = event_digest(event_id), folded(event_id)
    complete = True
    for host in hosts:
        board.kept.add((host.name, digest))
        expired = [lease.name for lease in board.others.get(host.name, ())]
        if digest in board.own.get(host.name, {}) and key in host.acknowledged and not expired:
            continue
        complete = False
        if add and (host.name, digest) not in board.asked:
            board.asked.add((host.name, digest))
            board.actions.append(_acquire(board, event_id, host, expired))
    return complete


def _acquire(board: Leases, event_id: str, host: Host, expired: list[str]) -> AcquireLease:
    run = board.settings.run
    groups = {group.name: group.hash for group in board.settings.capacity if host.name in group.members and not group.alike}
    return AcquireLease(
        host=host.name,
        # Without the spaces with which a liar may list it: a lease keeps no more of them than a text may have, and its id would be none.
        event_id=event_id.strip(),
        lease={"run": run.id, "who": run.who, "kind": run.kind, "seconds": board.settings.lease_seconds, "groups": groups},
        expired=expired,
        reason=f"leased by this run for {event_id}",
    )


def _tidy(board: Leases, host: Host, going: Container[str]) -> None:
    """Release the leases of one VM that this run no longer needs, and remove expired ones, unless it acquires one, which removes them too."""
    expired = [lease.name for lease in board.others.get(host.name, ()) if lease.expired] if host.name not in going else []
    unneeded = [lease for digest, lease in board.own.get(host.name, {}).items() if (host.name, digest) not in board.kept]
    if expired and not unneeded:
        board.actions.append(_release(board, host, "", expired))
    for lease in unneeded:
        board.actions.append(_release(board, host, lease.event_id or "", expired))
        expired = []


def _release(board: Leases, host: Host, event_id: str, expired: list[str]) -> ReleaseLease:
    return ReleaseLease(
        host=host.name,
        event_id=event_id,
        lease={"run": board.settings.run.id},
        expired=expired,
        reason="expired lease removed" if expired else "lease released",
        # Removing a dead run's lease makes room; releasing this run's own is no reason to observe again.
        continues=not expired,
    )


def shown(hosts: Iterable[Host], settings: Settings) -> list[dict[str, Any]]:
    """Return the leases as the plan shows them."""
    keys = ("run", "who", "event_id", "kind", "made_at", "limit", "expired")
    return [
        {"host": host.name, **{key: getattr(lease, key) for key in keys}, "ours": lease.run == settings.run.id}
        for host in hosts
        for lease in (host.latest.leases if host.latest else ())
    ]
