# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several runs at once: who may act on which VM (design: several runs at once).

A run claims all readable VMs of an event, or none, and acts only in a plan that is made from looks taken after all of
these claims were acknowledged. Nobody passes another's claim. So of two runs that want the same VM, or the last room of a
group, at least one sees the other before it acts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_schema import event_digest
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import Settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Claim, Host
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import deadlines
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import Case, Part

LIVE_ACTS = ("drain", "verify", "undo")
# A run that gave way tries again after a random part of this.
PAUSE = 30.0


@dataclass(slots=True)
class Board:
    """All claims that were seen."""

    settings: Settings
    now: float
    others: dict[str, list[Claim]] = field(default_factory=dict)
    own: dict[str, dict[str, Claim]] = field(default_factory=dict)
    kept: set[tuple[str, str]] = field(default_factory=set)
    """Own claims that something needs: host and digest."""
    asked: set[tuple[str, str]] = field(default_factory=set)
    """What is claimed in this plan: host and digest."""
    steps: list[dict[str, Any]] = field(default_factory=list)


def read(hosts: Iterable[Host], settings: Settings, now: float) -> Board:
    """Whose claims are where. Who only looks on counts no claim whose time limit has passed."""
    board = Board(settings, now)
    for host in hosts:
        for claim in host.look.claims if host.look else ():
            if settings.run.id and claim.run == settings.run.id:
                board.own.setdefault(host.name, {})[claim.digest] = claim
            elif settings.run.id or not claim.expired:
                board.others.setdefault(host.name, []).append(claim)
    return board


def arrange(board: Board, cases: Sequence[Case], approving: dict[str, list[Host]], hosts: Iterable[Host]) -> None:
    """Let no part act, and no event be approved, that this run has not claimed; what is missing is claimed."""
    for case in cases:
        if case.ours:
            _whole_event(board, case, approving)
            for part in case.parts:
                if part.over and part.intent == "recover":
                    _one_vm(board, case, part)
    tidy(board, hosts)


def tidy(board: Board, hosts: Iterable[Host]) -> None:
    """Give back what this run needs no more, and remove what runs have left whose time is over."""
    if board.settings.run.id:
        for host in hosts:
            _tidy(board, host)


def token(settings: Settings) -> dict[str, Any] | None:
    """What an act carries, so that it is done under the claim."""
    return {"run": settings.run.id, "seconds": settings.claim_seconds} if settings.run.id else None


def pause(settings: Settings, now: float) -> float:
    """A random part of the pause, in seconds; the same for the same run and time, so that a plan stays a function of its input."""
    seed = hashlib.sha256(f"{settings.run.id} {now:.3f}".encode()).digest()
    return round(1.0 + (PAUSE - 1.0) * int.from_bytes(seed[:4], "big") / 2**32, 3)


def _whole_event(board: Board, case: Case, approving: dict[str, list[Host]]) -> None:
    """Draining and approving need all VMs of the event that can be read; what cannot wait for them needs its own VM."""
    every = [part for part in case.parts if part.ok and not part.over]
    # Whom the event does not name any more has only itself to look after. And where the VMs' documents contradict each other, it is
    # not approved in any case, and whom it names nobody knows: each VM goes by its own document, under its own claim.
    live = [part for part in every if part.named and not case.divided]
    for part in every:
        if (not part.named or case.divided) and part.intent in LIVE_ACTS:
            _one_vm(board, case, part)
    acting = [part for part in live if part.intent in LIVE_ACTS]
    approvers = approving.get(case.key)
    if not acting and approvers is None:
        return
    wanted = {part.host.name: part.host for part in live}
    wanted.update({host.name: host for host in approvers or ()})
    other = at_work(board, wanted)
    complete = other is None and claimed(board, case.event.event_id, wanted.values(), add=True)
    if other is not None:
        case.claimed = other
        approving.pop(case.key, None)
    for part in live:
        part.may_act = part.may_act and complete
    for part in acting:
        if complete:
            continue
        if _is_urgent(part, board.settings):
            _one_vm(board, case, part)
        elif other is not None:
            _give_way(board, part, other)


def _is_urgent(part: Part, settings: Settings) -> bool:
    """Whether it is done under a claim on its own VM alone: what is under way at the deadline, and what a failed drain has changed.

    Else a VM that cannot be claimed, or that says it is claimed for ever, would leave the others undrained when Azure takes them,
    or out of service.
    """
    return part.intent == "undo" or (not part.presumed and deadlines.must_drain(part, settings))


def _one_vm(board: Board, case: Case, part: Part) -> None:
    """To put back what an event left, its VM is enough: the others may be gone for good."""
    other = at_work(board, [part.host.name])
    if other is None:
        part.may_act = claimed(board, case.event.event_id, [part.host], add=True)
    else:
        case.claimed = other if part.named else case.claimed
        _give_way(board, part, other)


def at_work(board: Board, wanted: Iterable[str]) -> str | None:
    """Who else is at work there. A claim whose time limit has passed keeps nobody from claiming: it is removed with that."""
    for name in wanted:
        for claim in board.others.get(name, ()):
            if not claim.expired:
                what = f" for {claim.purpose}" if claim.purpose else ""
                return f"{claim.words} is at work on {name}{what}"
    return None


def _give_way(board: Board, part: Part, words: str) -> None:
    part.intent = "stay" if part.holds_changes else "none"
    part.reason = words
    part.wait = pause(board.settings, board.now)


def claimed(board: Board, event_id: str, hosts: Iterable[Host], *, add: bool) -> bool:
    """Whether all of them are this run's, and were so before they were looked at. What is missing is claimed."""
    if not board.settings.run.id:
        return True
    digest, key = event_digest(event_id), event_id.strip().lower()
    complete = True
    for host in hosts:
        board.kept.add((host.name, digest))
        expired = [claim.name for claim in board.others.get(host.name, ())]
        if digest in board.own.get(host.name, {}) and key in host.acknowledged and not expired:
            continue
        complete = False
        if add and (host.name, digest) not in board.asked:
            board.asked.add((host.name, digest))
            board.steps.append(_claim_step(board, event_id, host, expired))
    return complete


def _claim_step(board: Board, event_id: str, host: Host, expired: list[str]) -> dict[str, Any]:
    run = board.settings.run
    groups = {group.name: group.hash for group in board.settings.capacity if host.name in group.members}
    return {
        "host": host.name,
        "act": "claim",
        "event_id": event_id,
        "claim": {"run": run.id, "who": run.who, "kind": run.kind, "seconds": board.settings.claim_seconds, "groups": groups},
        "expired": expired,
        "reason": f"it is claimed for {event_id}",
        "continues": False,
    }


def _tidy(board: Board, host: Host) -> None:
    """What this run needs no more, and what runs have left whose time is over."""
    going = {step["host"] for step in board.steps if step["act"] == "claim"}
    expired = [claim.name for claim in board.others.get(host.name, ()) if claim.expired] if host.name not in going else []
    unneeded = [claim for digest, claim in board.own.get(host.name, {}).items() if (host.name, digest) not in board.kept]
    if expired and not unneeded:
        board.steps.append(_release(board, host, "", expired))
    for claim in unneeded:
        board.steps.append(_release(board, host, claim.event_id or "", expired))
        expired = []


def _release(board: Board, host: Host, event_id: str, expired: list[str]) -> dict[str, Any]:
    return {
        "host": host.name,
        "act": "release",
        "event_id": event_id,
        "claim": {"run": board.settings.run.id},
        "expired": expired,
        "reason": "the time limit of a claim has passed" if expired else "nothing is done here for now",
        # Removing a dead run's claim makes room; giving back one's own is no reason to look again.
        "continues": not expired,
    }


def shown(hosts: Iterable[Host], settings: Settings) -> list[dict[str, Any]]:
    """The claims as the plan returns them."""
    return [
        {
            "host": host.name,
            "run": claim.run,
            "who": claim.who,
            "event_id": claim.event_id,
            "kind": claim.kind,
            "limit": claim.limit,
            "expired": claim.expired,
            "ours": claim.run == settings.run.id,
        }
        for host in hosts
        for claim in (host.look.claims if host.look else ())
    ]
