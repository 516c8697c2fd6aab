# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What method haproxy makes of how the balancers have a VM's server: how far a drain or an undo is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .....module_utils._haproxy_left import ANY
from .....module_utils._scheduled_events.core.printable_text import printable
from .....module_utils._scheduled_events.core.types import Data, Values
from .....module_utils._scheduled_events.journal.record_schema import NOT_YET
from ...._core import plain_values
from ...answers import AWAY_WITHIN, StageAnswer
from ..findings import shown
from .beside import MOST_TOLD, Beside, beside_of, status, told
from .calls import DRAIN, MAINT, READY, asked_of


@dataclass(frozen=True, slots=True)
class Server:
    """A VM's server in one backend of one balancer, now and before the drain."""

    balancer: str
    backend: str
    state: str
    up: bool
    sessions: int
    status: str
    before: str | None
    """Its state before; None where the record does not say it, and then nothing is set."""
    was_up: bool

    @property
    def place(self) -> str:
        """Where it is, for messages."""
        return f"{shown(self.backend)} on {self.balancer}"

    @property
    def is_back(self) -> bool:
        """Whether it gets sessions, although it is drained. What was in maintenance before is not ours to drain."""
        return self.state == READY and self.before in (READY, DRAIN)

    @property
    def is_to_come_back(self) -> bool:
        """Whether undo has something to set. A state that neither we nor the drain left there was set by an operator since, and is left."""
        return (self.before == READY and self.state != READY) or (self.before == DRAIN and self.state == MAINT)


def answer(stage: str, observations: Sequence[Values], method: Values) -> StageAnswer:
    """Return what follows from one observation of each balancer. C(method) has the recorded finding (empty before there is one) and the options."""
    before, options = plain_values.mapping(method.get("finding")), plain_values.mapping(method.get("options"))
    lost = [_lost(observation) for observation in observations if "backends" not in observation]
    answered = [observation for observation in observations if "backends" in observation]
    servers = [server for observation in answered for server in _servers(observation, before)]
    beside = [one for observation in answered for one in beside_of(observation, asked_of(method, "check" if method.get("hands_over") else stage))]
    if method.get("hands_over") and stage != "find":
        # What was left as it is has no state before. A role that was handed over need not come back.
        servers = [server for server in servers if server.before is not None]
    if stage == "undo":
        served = {(one.balancer, one.backend) for one in beside if one.entry["others"] and method.get("hands_over")}
        return _undone([server for server in servers if (server.balancer, server.backend) not in served or server.is_to_come_back], lost)
    refused = [one for one in observations if "backends" not in one and one.get("error_kind") == "refused"]
    if lost and not refused and (stage == "check" or (stage == "find" and method.get("state") in ("begun", "drained"))):
        # Each has answered in this drain: it restarts, perhaps, and nothing has to be put back for that.
        return {"state": "draining" if stage == "check" else NOT_YET, "error": printable(told(lost)), "away": AWAY_WITHIN}
    if lost or not answered:
        return {"state": "failed", "error": printable(told(lost) or "no load balancer was asked")}
    if stage == "find":
        there = {one.backend for one in beside}
        if unknown := [backend for backend in asked_of(method, stage) if backend not in (ANY, *there)]:
            return {
                "state": "failed",
                "error": f"servers_left names backend {unknown[0]}, in which no load balancer has the server; it is in {told(sorted(there))}",
            }
        return _found(servers, beside, method)
    if stage == "begin":
        return _begun(servers, beside, method)
    allowed = plain_values.whole(options.get("sessions")) or 0
    hold = "" if method.get("hands_over") else told(one.words for one in beside if one.is_held(before))
    checked = _checked(servers, allowed)
    if hold and checked["state"] in ("drained", "draining"):
        checked["hold"] = hold
    return checked


def _found(servers: Sequence[Server], beside: Sequence[Beside], method: Values) -> StageAnswer:
    last, later = told(one.last for one in beside if one.is_short), method.get("hands_over")
    if last and not later:
        return {"state": NOT_YET, "error": last, "hold": last}
    # With the role go its sessions: HAProxy's own check takes them to where it is by then.
    kept = {(one.balancer, one.backend) for one in beside if one.is_short}
    balancers: dict[str, Data] = {}
    for server in servers:
        if (server.balancer, server.backend) in kept:
            continue
        balancers.setdefault(server.balancer, {})[server.backend] = {"state": server.state, "up": server.up}
    note = (
        f"{last}; it is left as it is, because method {later} hands its role over, and HAProxy's own check follows that"
        if last
        else told(one.alone for one in beside if one.is_alone)
    )
    own = [one for one in beside if not one.entry["tracks"]][:MOST_TOLD]
    addresses = {str(one.entry.get("address")): [f"server {shown(one.entry['server'])} of {one.place} on {one.balancer}", one.entry["server"]] for one in own}
    finding = {"server": method.get("server"), "balancers": balancers}
    return {"state": "found", "error": None, "finding": finding, "addresses": addresses, "note": note}


def _begun(servers: Sequence[Server], beside: Sequence[Beside], method: Values) -> StageAnswer:
    """Return that it may not begin yet where a balancer has refused: then nothing is set on any of them."""
    if method.get("must") or method.get("hands_over") or not any(server.is_back for server in servers):
        return {"state": "begun", "error": None}
    last = told(one.last for one in beside if one.is_short) or "another server has left at the same moment"
    return {"state": NOT_YET, "error": last, "hold": last}


def _lost(observation: Values) -> str:
    how = " cannot be reached: " if plain_values.flag(observation.get("unreachable")) else ": "
    return f"load balancer {observation.get('__drain_balancer')}{how}{observation.get('msg') or 'no reason given'}"


def _servers(observation: Values, before: Values) -> list[Server]:
    balancer = str(observation.get("__drain_balancer"))
    known = plain_values.mapping(plain_values.mapping(before.get("balancers")).get(balancer))
    return [_server(balancer, str(name), plain_values.mapping(one), known) for name, one in plain_values.mapping(observation["backends"]).items()]


def _server(balancer: str, backend: str, one: Values, known: Values) -> Server:
    was = plain_values.mapping(known.get(backend))
    return Server(
        balancer=balancer,
        backend=backend,
        state=str(one.get("state")),
        up=plain_values.flag(one.get("up")) is True,
        sessions=plain_values.whole(one.get("sessions")) or 0,
        status=str(one.get("status")),
        before=plain_values.text(was.get("state")),
        was_up=plain_values.flag(was.get("up")) is True,
    )


def _checked(servers: Sequence[Server], allowed: int) -> StageAnswer:
    unknown = [server.place for server in servers if server.before is None]
    if unknown:
        return {"state": "failed", "error": f"the record does not say how it was before: {told(unknown)}"}
    back = [server.place for server in servers if server.is_back]
    if back:
        return {"state": "lost", "error": f"HAProxy gives it sessions again: {told(back)}"}
    busy = [f"{server.sessions} of {server.place}" for server in servers if server.sessions > allowed]
    return {"state": "draining", "error": f"sessions left: {told(busy)}"} if busy else {"state": "drained", "error": None}


def _undone(servers: Sequence[Server], lost: Sequence[str]) -> StageAnswer:
    missing = [*lost, *(words for words in map(_missing, servers) if words)]
    return {"state": "undoing", "error": printable(told(missing))} if missing else {"state": "undone", "error": None}


def _missing(server: Server) -> str | None:
    if server.before is None:
        return f"the record does not say how {server.place} was before"
    if server.is_to_come_back:
        return f"{server.place} is {server.state} and not {server.before} yet"
    if server.before == READY and server.was_up and not server.up:
        return f"{server.place} waits for HAProxy's check, {status(server.status)}"
    return None
