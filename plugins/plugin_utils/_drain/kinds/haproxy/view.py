# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What method haproxy makes of how the balancers have a VM's server: what is set next, and how far a drain or an undo is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from ...._core import plain_values
from ...answers import Answer

READY, DRAIN, MAINT = STATES = ("ready", "drain", "maint")
# By balancer and backend the state to set.
States = dict[str, dict[str, str]]


class View(TypedDict):
    """What a stage of the method does next."""

    lost: list[str]
    """In words, which balancers did not answer or did not do as asked."""
    found: dict[str, dict[str, Any]]
    """What undo needs: for each balancer and backend the state, and whether HAProxy called the server up."""
    to_drain: States
    to_maint: States
    to_put_back: States
    checked: Answer
    undone: Answer


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
        return f"{self.backend} on {self.balancer}"

    @property
    def is_back(self) -> bool:
        """Whether it gets sessions, although it is drained. What was in maintenance before is not ours to drain."""
        return self.state == READY and self.before in (READY, DRAIN)

    @property
    def is_to_come_back(self) -> bool:
        """Whether undo has something to set. A state that neither we nor the drain left there was set by an operator since, and is left."""
        return (self.before == READY and self.state != READY) or (self.before == DRAIN and self.state == MAINT)


def view(observations: Any, before: Any, options: Any) -> View:
    """Return what follows from one observation of each balancer, the recorded finding (empty before there is one) and the options."""
    given = plain_values.mapping(options)
    answers = [plain_values.mapping(observation) for observation in plain_values.items(observations)]
    lost = [_lost(observation) for observation in answers if "backends" not in observation]
    servers = [server for observation in answers if "backends" in observation for server in _servers(observation, plain_values.mapping(before))]
    allowed = plain_values.whole(given.get("sessions")) or 0
    is_back = any(server.is_back for server in servers)
    to_maint = [] if is_back or not plain_values.flag(given.get("maintenance")) else [one for one in servers if one.state == DRAIN and one.sessions <= allowed]
    return {
        "lost": lost,
        "found": _found(servers),
        "to_drain": _states((server, DRAIN) for server in servers if server.is_back),
        "to_maint": _states((server, MAINT) for server in to_maint),
        "to_put_back": _states((server, server.before) for server in servers if server.before and server.is_to_come_back),
        "checked": _checked(servers, allowed),
        "undone": _undone(servers, lost),
    }


def _lost(observation: Mapping[str, Any]) -> str:
    how = " cannot be reached: " if plain_values.flag(observation.get("unreachable")) else ": "
    return f"load balancer {observation.get('__drain_balancer')}{how}{observation.get('msg') or 'no reason given'}"


def _servers(observation: Mapping[str, Any], before: Mapping[str, Any]) -> list[Server]:
    balancer = str(observation.get("__drain_balancer"))
    known = plain_values.mapping(plain_values.mapping(before.get("balancers")).get(balancer))
    return [_server(balancer, str(name), plain_values.mapping(one), known) for name, one in plain_values.mapping(observation["backends"]).items()]


def _server(balancer: str, backend: str, one: Mapping[str, Any], known: Mapping[str, Any]) -> Server:
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


def _found(servers: Sequence[Server]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for server in servers:
        found.setdefault(server.balancer, {})[server.backend] = {"state": server.state, "up": server.up}
    return found


def _states(wanted: Iterable[tuple[Server, str]]) -> States:
    found: States = {}
    for server, state in wanted:
        found.setdefault(server.balancer, {})[server.backend] = state
    return found


def _checked(servers: Sequence[Server], allowed: int) -> Answer:
    unknown = [server.place for server in servers if server.before is None]
    if unknown:
        return {"state": "failed", "error": f"the record does not say how it was before: {', '.join(unknown)}"}
    back = [server.place for server in servers if server.is_back]
    if back:
        return {"state": "lost", "error": f"HAProxy gives it sessions again: {', '.join(back)}"}
    busy = [f"{server.sessions} of {server.place}" for server in servers if server.sessions > allowed]
    return {"state": "draining", "error": f"sessions left: {', '.join(busy)}"} if busy else {"state": "drained", "error": None}


def _undone(servers: Sequence[Server], lost: Sequence[str]) -> Answer:
    missing = [*lost, *(words for words in map(_missing, servers) if words)]
    return {"state": "undoing", "error": "; ".join(missing)} if missing else {"state": "undone", "error": None}


def _missing(server: Server) -> str | None:
    if server.before is None:
        return f"the record does not say how {server.place} was before"
    if server.is_to_come_back:
        return f"{server.place} waits for HAProxy's check, {server.status}"
    if server.before == READY and server.was_up and not server.up:
        return f"{server.place} is not up yet, {server.status}"
    return None
