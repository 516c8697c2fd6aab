# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""How a Redis master hands over under Sentinel: what is refused before, what is waited for, and what makes it an ordinary replica afterwards."""

from __future__ import annotations

import time
import typing as t

from ....host.machine.machine import Machine
from ....host.system import seconds_between
from ..method import LONGEST_MESSAGE, MethodError, NoAnswer, NotYet, Task
from .remaining import Remaining, why_not
from .servers import Copy, Redis, Server, Watch, observe_redis

# Writes are paused from begin() until the Sentinels have agreed, for so long at most in each attempt. Only between these two a call looks again by
# itself: the next observation may be seconds away, in which users would wait.
IN_STEP_SECONDS, FOLLOW_SECONDS, LOOK_AGAIN_SECONDS = 2.5, 7.5, 0.1
# A pause holds back what the Sentinels send, too: one that lasts as long as their patience makes them replace a master that is there. A replica acknowledges
# once a second, and Sentinel promotes it some 0.3 s after it was asked: a shorter pause hands nothing over.
LONGEST_PAUSE, SHORTEST_PAUSE, PROMOTION_SECONDS = 10000, 1800, 0.4
# How begin() hands over: Sentinel coordinates it with the master, or it is guarded from here; or a failover is under way that a killed run has asked for.
COORDINATED, GUARDED, UNDER_WAY = "coordinated", "guarded", "under way"
# The setting that keeps a master without its replicas from taking writes.
GUARD = "min-replicas-to-write"


def is_over(machine: Machine, began: str, seconds: float) -> bool:
    """Return whether so many seconds have passed, also where the clock went back."""
    passed = seconds_between(began, machine.now())
    return passed is None or not 0 <= passed < seconds


def way_to_hand_over(own: Redis, watches: t.Sequence[Watch], task: Task) -> str:
    """Return how a master hands over; after a run that was killed it may be under way, or over."""
    if own.failing_over or any(watch.fails_over or watch.master != task.known.get("master", watch.master) for watch in watches):
        return UNDER_WAY
    return COORDINATED if own.coordinates and watches[0].coordinates else GUARDED


def wait_for_sentinels(watches: t.Sequence[Watch], task: Task, under_way: bool) -> None:
    """Raise NotYet where the Sentinels would not agree on another master now: writes would be paused for nothing. Once it is under way that is no answer."""
    tilted, given = [watch.sentinel for watch in watches if watch.tilted], len(task.listed("sentinels"))
    if tilted:
        raise (NoAnswer if under_way else NotYet)(
            f"Sentinel {', '.join(tilted)} is in TILT mode: it stood still, or its clock has jumped, and it does not act for half a minute"
        )
    if under_way and 2 * len(watches) <= given:
        raise NoAnswer(f"{len(watches)} of {given} Sentinels answer")


def refuse(own: Redis, watches: t.Sequence[Watch], task: Task) -> None:
    """Raise MethodError or NotYet where a master cannot hand over, before anything is changed."""
    name, given = task.options["master"], task.listed("sentinels")
    if own.failing_over or any(watch.fails_over for watch in watches):
        raise NotYet(f"a failover of {name} is under way")
    strangers = [f"{watch.sentinel} has {watch.master}" for watch in watches if watch.run_id != own.run_id]
    if strangers:
        raise NotYet(f"this Redis is a master, and not the one that the Sentinels have for {name}: {', '.join(strangers)}")
    known = max(sum(watch.peers.values()) for watch in watches) + 1
    if known > len(given):
        raise MethodError(f"{known} Sentinels watch {name}, and option sentinels names {len(given)}: all must agree before a replica takes over")
    if watches[0].no_quorum:
        raise MethodError(f"Sentinel {watches[0].sentinel}: {watches[0].no_quorum}")
    _refuse_replicas(own, [copy for watch in watches for copy in watch.copies], task)


def pause_for(watches: t.Sequence[Watch]) -> int:
    """Return for how many milliseconds writes are paused: less than what each Sentinel waits for before it calls the master down."""
    return max(min(LONGEST_PAUSE, *(watch.down_after * 9 // 10 for watch in watches)), SHORTEST_PAUSE)


def refuse_pause(own: Redis, pause: int, task: Task) -> None:
    """Raise MethodError where the writes were paused too often for this event. The server itself counts its pauses: a killed run has told nobody."""
    counted = task.finding.get("paused")
    before = 0 if not isinstance(counted, int) else own.paused - counted if own.paused >= counted else own.paused
    if counted is not None and own.paused < 0:
        raise MethodError("writes may have been paused for this event already, and this Redis does not count its pauses, as 7.0 does: not paused again")
    if (before + 1) * pause > int(task.options["pause"]) * 1000:
        raise MethodError(f"writes were paused {before} times for this event, and option pause ({task.options['pause']} s) allows for no more")


def refuse_writes_without_replicas(left: Remaining) -> None:
    """Raise MethodError or NotYet where the master would refuse writes as long as the VMs of the event are gone: a person has set min-replicas-to-write."""
    if left.lacks and left.replicas + len(left.down) >= left.wanted:
        raise NotYet(left.lacks)
    if left.lacks:
        raise MethodError(f"{left.lacks}. No write is taken meanwhile; option allow_no_writes allows for that")


def _refuse_replicas(own: Redis, copies: t.Sequence[Copy], task: Task) -> None:
    able = {copy.address for copy in copies if copy.eligible}
    if not able:
        reasons = {copy.address: copy.excluded for copy in copies}
        words = "; ".join(f"{address}: {why}" for address, why in reasons.items()) or "there is none"
        raise MethodError(f"no replica may take over: {words}"[:LONGEST_MESSAGE])
    # Sentinel may choose each of them, so each has to be fit.
    for address in sorted(able):
        why = why_not(address, task) if address in own.copies else "it does not follow this master, or is not in step"
        if why:
            raise NotYet(f"Sentinel may choose {address}, and should not: {why}")


def wait_in_step(machine: Machine, task: Task, redis: Server) -> None:
    """Wait until each replica that Sentinel may choose has acknowledged all that was written. Replicas do that once a second."""
    began, seconds = machine.now(), min(IN_STEP_SECONDS, task.present["pause"] / 1000 - PROMOTION_SECONDS)
    while True:
        own = observe_redis(redis)
        behind = [
            f"{address} by {own.offset - own.copies.get(address, 0)} bytes" for address in task.present["replicas"] if own.copies.get(address) != own.offset
        ]
        if not behind:
            return
        if is_over(machine, began, seconds):
            raise MethodError(f"not all that was written is on the replicas after {seconds:.1f} s without new writes: {', '.join(behind)} behind")
        time.sleep(LOOK_AGAIN_SECONDS)


def agreed(named: t.Mapping[str, str], task: Task) -> str:
    """Return the new master that all Sentinels name, more than half of those in the settings; empty where they do not. Raise MethodError for a stranger."""
    masters = set(named.values())
    if len(masters) != 1 or masters == {task.finding.get("master")} or 2 * len(named) <= len(task.listed("sentinels")):
        return ""
    chosen = masters.pop()
    if chosen not in (task.finding.get("replicas") or ()):
        raise MethodError(f"the Sentinels name {chosen} as master, which was no replica of this Redis that may take over: it is not followed")
    return chosen


def settle(redis: Server, task: Task) -> None:
    """Make a master that has become a replica ordinary: its file says so for the next start, as after any failover, and without our settings of the drain."""
    redis.order("CONFIG", "SET", GUARD, str(task.finding.get("min_replicas")))
    redis.ask(("CONFIG", "REWRITE"))
    redis.order("CONFIG", "SET", "replica-priority", "0")
    redis.order("CLIENT", "UNPAUSE")
    redis.ask(("CLIENT", "KILL", "TYPE", "normal"))
