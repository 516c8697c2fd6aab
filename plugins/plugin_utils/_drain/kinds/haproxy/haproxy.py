# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Method haproxy, as the controller knows it. Its tasks are in roles/drain/tasks/methods/haproxy, and use module haproxy_server."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from .....module_utils._scheduled_events.core.types import Data, Values
from .....module_utils._scheduled_events.drain.methods.method import Option
from .....module_utils._scheduled_events.drain.methods.pasted import word
from ...._core import plain_values
from ...answers import StageAnswer
from ..findings import shown, way_out
from ..kind import NOT_ALLOWED, NOTHING, Agreed, Claim, KindInParts
from . import view
from .calls import MAINT, READY, STATES, away, calls

# What HAProxy allows in the names of servers and backends, as haproxy_server checks it.
NAME = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
MOST_BALANCERS, MOST_BACKENDS = 64, 1000


@dataclass(frozen=True, slots=True)
class Place:
    """One server in one backend of one balancer, as it was before."""

    server: str
    balancer: str
    backend: str
    state: str
    up: bool


def read_places(before: Any) -> tuple[str, tuple[Place, ...]] | None:
    """Return the server of a finding and its places, or None for anything else."""
    given = plain_values.mapping(before)
    server, balancers = given.get("server"), given.get("balancers")
    if set(given) != {"server", "balancers"} or not _is_name(server) or not isinstance(balancers, Mapping) or len(balancers) > MOST_BALANCERS:
        return None
    places: list[Place] = []
    for balancer, backends in balancers.items():
        if not _is_host(balancer) or not isinstance(backends, Mapping) or len(places) + len(backends) > MOST_BACKENDS:
            return None
        for backend, one in backends.items():
            place = _place_of(str(server), str(balancer), backend, one)
            if place is None:
                return None
            places.append(place)
    return str(server), tuple(places)


def finding_of(server: str, places: Iterable[Place]) -> Data:
    """Return a finding as the tasks take it."""
    balancers: dict[str, Data] = {}
    for place in places:
        balancers.setdefault(place.balancer, {})[place.backend] = {"state": place.state, "up": place.up}
    return {"server": server, "balancers": balancers}


def _place_of(server: str, balancer: str, backend: Any, given: Any) -> Place | None:
    found = plain_values.mapping(given)
    state, up = found.get("state"), plain_values.flag(found.get("up"))
    if set(found) != {"state", "up"} or state not in STATES or up is None or not _is_name(backend):
        return None
    return Place(server, balancer, str(backend), str(state), up)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and NAME.fullmatch(value) is not None


def _is_host(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 255 and value.isprintable()


MOST_PLACES = 5
DEFAULT_SOCKET = "/run/haproxy/admin.sock"


class HAProxy(KindInParts[Place]):
    """Its finding has a place for each backend of each balancer. What is done there, and where, the settings say."""

    name = "haproxy"
    options: ClassVar[Mapping[str, Option]] = {
        "balancers": Option("texts", required=True, hosts=True),
        "server": Option("text", default=""),
        "backends": Option("texts", default=[]),
        "socket": Option("text", default=DEFAULT_SOCKET),
        "sessions": Option("whole", default=0),
        "maintenance": Option("truth", default=True),
        "servers_left": Option("counts", default=1),
        "backups_serve": Option("truth", default=False),
    }
    outside = True
    known_by = ("backends", "balancers")
    names_tasks = False
    finds_in_check_mode = True
    answer_fact = "__drain_haproxy_calls"

    def target(self, given: Values, host: str, by_hand: bool) -> Data:
        balancers = [] if by_hand else plain_values.texts(given.get("balancers"))
        return {"server": _server(given, host), "balancers": balancers, "backends": plain_values.texts(given.get("backends"))}

    def asked_at(self, target: Values) -> Sequence[str]:
        return plain_values.texts(target.get("balancers"))

    def claims(self, given: Values, host: str) -> Sequence[Claim]:
        socket, backends = plain_values.text(given.get("socket")), plain_values.texts(given.get("backends"))
        process = f" ({socket})" if socket and socket != DEFAULT_SOCKET else ""
        return [Claim(_server(given, host), "server", f"on balancer {one}{process}", backends) for one in plain_values.texts(given.get("balancers"))]

    def used(self, before: Any, given: Values, host: str) -> Data:
        places = self.parts(before)
        return {} if places is None else finding_of(_server(given, host), self.named(places, given, host))

    def for_replica(self, before: Any) -> Data | None:
        found = read_places(before)
        return finding_of(*found) if found else None

    def agreed(self, copies: Iterable[Any], targets: Sequence[Values]) -> Agreed:
        """Return all places that a copy and the settings name, and at which the server was in service.

        A keeper may lie. Of a server that was out before nothing has to come back, and to take that from a copy would let a drain begin
        with nothing to do, or leave the server out for good. A copy that leaves out a balancer is no finding of this method.
        """
        found: dict[tuple[str, str, str], Place] = {}
        disputed: list[str] = []
        for place in (place for before in copies for place in self._allowed(self.parts(before) or (), targets)):
            key = (place.server, place.balancer, place.backend)
            if place.state != READY:
                disputed.append(f"a copy says that server {key[0]} of backend {key[2]} on balancer {key[1]} was {place.state}; that is left as it is")
                continue
            found[key] = replace(place, up=place.up or (key in found and found[key].up))
        servers = list(dict.fromkeys(place.server for place in found.values()))
        if not servers:
            return None, disputed
        mine = [place for place in found.values() if place.server == servers[0]]
        missing = _missing(mine, [target for target in targets if target.get("server") == servers[0]])
        if missing:
            return None, [*disputed, f"no copy says how balancer {', '.join(missing)} had server {servers[0]}; nothing is restored, put it back by hand"]
        if len(servers) > 1:
            disputed.append(f"copies name the servers {', '.join(servers)}; {servers[0]} is put back")
        return finding_of(servers[0], mine), disputed

    def by_hand(self, before: Values, options: Values, targets: Sequence[Values]) -> str:
        places = self.parts(before)
        if places is None:
            return "put its server back in HAProxy; the record does not say how it was" if targets else NOT_ALLOWED
        allowed = self._allowed(places, targets)
        address = DEFAULT_SOCKET if (options.get("socket") or DEFAULT_SOCKET) == DEFAULT_SOCKET else "SOCKET"
        lines = [
            f"on {word(place.balancer, 'BALANCER')}: echo 'set server {place.backend}/{place.server} state {place.state}' | socat stdio {address}"
            for place in allowed[:MOST_PLACES]
            if self.is_to_undo(place)
        ]
        if len(allowed) > MOST_PLACES:
            lines.append(f"and {len(allowed) - MOST_PLACES} more in the record")
        if len(allowed) < len(places):
            lines.append(NOT_ALLOWED)
        return ", then ".join(lines) or NOTHING

    def shown(self, before: Any) -> str:
        places = self.parts(before)
        return super().shown(before) if places is None else _listed(places)

    def would(self, before: Any) -> str:
        out, stay = (_listed([place for place in self.parts(before) or () if (place.state == READY) is ready]) for ready in (True, False))
        return "; ".join([f"would take out of service: {out}"] * bool(out) + [f"would leave as it is: {stay}"] * bool(stay)) or super().would(before)

    def prepared(self, stage: str, method: Values) -> Data:
        given = plain_values.mapping(method.get("options"))
        return {"server": _server(given, str(method.get("host"))), "calls": calls(stage, method)}

    def away(self, targets: Sequence[Values], given: Values, host: str) -> dict[str, dict[str, list[str]]]:
        return away(super().away(targets, given, host))

    def judge(self, said: Any, stage: str, method: Values) -> StageAnswer:
        observed = plain_values.mapping(said).get("results")
        answer = view.answer(stage, [plain_values.mapping(one) for one in plain_values.items(observed)], method)
        if answer["state"] == "found" and read_places(answer.get("finding")) is None:
            # Recorded, it would keep this drain from being undone, and from another try.
            return {"state": "failed", "error": "a load balancer has answered a state, or the name of a backend, that HAProxy does not have"}
        return answer

    # The parts of its finding.

    def parts(self, before: Any) -> tuple[Place, ...] | None:
        found = read_places(before)
        return found[1] if found else None

    def named(self, parts: Iterable[Place], given: Values, host: str) -> tuple[Place, ...]:
        server = _server(given, host)
        balancers, backends = (frozenset(plain_values.texts(given.get(key))) for key in ("balancers", "backends"))
        return tuple(part for part in parts if part.server == server and part.balancer in balancers and (not backends or part.backend in backends))

    def names_parts(self, given: Values) -> bool:
        return bool(plain_values.texts(given.get("balancers")))

    def narrowed(self, given: Values, parts: Sequence[Place], host: str) -> Data:
        balancers, backends = dict.fromkeys(part.balancer for part in parts), dict.fromkeys(part.backend for part in parts)
        return {**given, "server": _server(given, host), "balancers": list(balancers), "backends": list(backends)}

    def is_to_undo(self, part: Place) -> bool:
        # What was in maintenance before stays so.
        return part.state != MAINT

    def unnamed(self, parts: Sequence[Place], host: str) -> str:
        found = [
            f"server {shown(part.server)} of backend {shown(part.backend)} on balancer {shown(part.balancer)} was {part.state} before the drain"
            for part in parts[:MOST_PLACES]
        ]
        if len(parts) > MOST_PLACES:
            found.append(f"and {len(parts) - MOST_PLACES} more")
        return f"{host}: its record says that {'; '.join(found)}, and drain_methods does not name it; nothing was changed there. {way_out(host)}"

    def _allowed(self, places: Sequence[Place], targets: Sequence[Values]) -> list[Place]:
        allowed = {place for target in targets for place in self.named(places, target, "")}
        return [place for place in places if place in allowed]


def _listed(places: Sequence[Place]) -> str:
    """Return in words how places were."""
    found = [f"server {shown(one.server)} of backend {shown(one.backend)} on balancer {shown(one.balancer)} ({one.state})" for one in places[:MOST_PLACES]]
    return ", ".join(found) + (f" and {len(places) - MOST_PLACES} more" if len(places) > MOST_PLACES else "")


def _server(given: Values, host: str) -> str:
    """Return the name that the settings give a host's server."""
    return plain_values.text(given.get("server")) or host


def _missing(places: Iterable[Place], targets: Iterable[Values]) -> list[str]:
    """Return the balancers, with the backends that the settings name, of which no place is known."""
    has = {(place.balancer, backend) for place in places for backend in (place.backend, "")}
    wanted = {
        (balancer, backend)
        for target in targets
        for balancer in plain_values.texts(target.get("balancers"))
        for backend in plain_values.texts(target.get("backends")) or ("",)
    }
    return sorted({f"{balancer} {backend}".strip() for balancer, backend in wanted - has})
