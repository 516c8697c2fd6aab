# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a record another VM may keep, and what a VM gets back from such a copy: findings at targets that the variables give it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..._core import plain_values
from ..settings.configured import HAPROXY, KIND, NAME, is_local, read_configured
from .findings import (
    STATES,
    HAProxyFinding,
    Place,
    for_replica,
    read_haproxy,
    read_words,
)
from .matching import read_recorded

DEFAULT_NAME = re.compile(r"[0-9]+-[a-z][a-z0-9_]*")
MOST_DISPUTES = 5
# No value of these methods is a word, or there is none.
WITHOUT_FINDING = ("tasks", "command", "none")


@dataclass(frozen=True, slots=True)
class Target:
    """A method of a host's variables that acts elsewhere, and where."""

    name: str
    kind: str
    server: str
    balancers: frozenset[str]
    backends: frozenset[str]

    def means(self, identifier: str, kind: str) -> bool:
        """Whether a method of a record may be this one: by name and kind, or by kind where its name is only its place."""
        return self.kind == kind and (not self.name or self.name == identifier or DEFAULT_NAME.fullmatch(identifier) is not None)

    def covers(self, server: str, place: Place) -> bool:
        """Whether the variables give this place to the host."""
        return self.kind == HAPROXY and self.server == server and place.balancer in self.balancers and (not self.backends or place.backend in self.backends)


@dataclass(frozen=True, slots=True)
class Kept:
    """One method in a copy, and who keeps it."""

    keeper: str
    identifier: str
    kind: str
    before: Any


@dataclass(frozen=True, slots=True)
class Restored:
    """What a VM gets back, and in words what the copies do not agree on."""

    methods: tuple[Mapping[str, Any], ...]
    disputes: tuple[str, ...]


def targets_of(methods: Any, former: Any, host: str) -> list[dict[str, Any]]:
    """The targets of a host's variables, as an observation carries them."""
    found = []
    for entry in read_configured(methods, former):
        if is_local(entry.kind, "windows") and not entry.outside:
            continue
        given = entry.given
        found.append(
            {
                "name": entry.name,
                "method": entry.kind,
                "server": plain_values.text(given.get("server")) or host if entry.kind == HAPROXY else "",
                "balancers": plain_values.texts(given.get("balancers")) if entry.kind == HAPROXY and not entry.by_hand else [],
                "backends": plain_values.texts(given.get("backends")) if entry.kind == HAPROXY else [],
            }
        )
    return found


def read_targets(value: Any) -> tuple[Target, ...]:
    """The targets of an observation."""
    found = []
    for item in plain_values.items(value):
        given = plain_values.mapping(item)
        kind = plain_values.text(given.get("method"))
        if kind is not None:
            found.append(
                Target(
                    name=plain_values.text(given.get("name")) or "",
                    kind=kind,
                    server=plain_values.text(given.get("server")) or "",
                    balancers=frozenset(plain_values.texts(given.get("balancers"))),
                    backends=frozenset(plain_values.texts(given.get("backends"))),
                )
            )
    return tuple(found)


def replica_of(record: Any) -> dict[str, Any]:
    """The part of a record that another VM keeps: no command, no option, no override."""
    given = plain_values.mapping(record)
    event = plain_values.mapping(given.get("event"))
    methods = []
    for one, values in zip(read_recorded(record), _items(record)):
        if not one.outside or not one.well_named:
            continue
        finding = _finding(one.kind, one.before)
        if one.before is not None and finding is None:
            continue
        at = plain_values.text(values.get("at"))
        methods.append({"id": one.identifier, "method": one.kind, "state": one.state, "before": finding, "at": at, "outside": True})
    return {
        "event": {"event_id": plain_values.text(event.get("event_id")) or ""},
        "phase": "recovered" if given.get("phase") == "recovered" else "draining",
        "revision": plain_values.whole(given.get("revision")) or 0,
        "history": _begin(given.get("history")),
        "undone": given.get("phase") == "recovered" or all(one["state"] == "undone" for one in methods),
        "methods": methods,
    }


def _items(record: Any) -> list[Mapping[str, Any]]:
    """The methods of a record, each name once, as read_recorded() has them."""
    found: dict[str, Mapping[str, Any]] = {}
    for item in plain_values.items(plain_values.mapping(record).get("methods")):
        given = plain_values.mapping(item)
        found.setdefault(plain_values.text(given.get("id")) or "?", given)
    return list(found.values())


def _begin(history: Any) -> list[dict[str, str]]:
    first = plain_values.mapping(next(iter(plain_values.items(history)), None))
    at = plain_values.text(first.get("at"))
    return [{"phase": "draining", "at": at}] if at else []


def _finding(kind: str, before: Any) -> dict[str, Any] | None:
    return for_replica(kind, {} if kind in WITHOUT_FINDING and before is not None else before)


def restore(copies: Iterable[Kept], targets: Iterable[Target]) -> Restored:
    """The methods that a VM gets back from the copies of one record."""
    known = tuple(targets)
    methods: list[Mapping[str, Any]] = []
    disputes: list[str] = []
    by_method: dict[tuple[str, str], list[Kept]] = {}
    for one in copies:
        if NAME.fullmatch(one.identifier) and KIND.fullmatch(one.kind):
            by_method.setdefault((one.identifier, one.kind), []).append(one)
    for (identifier, kind), kept in by_method.items():
        mine = tuple(target for target in known if target.means(identifier, kind))
        if not mine:
            disputes.append(f"method {identifier} ({kind}) is not in this host's variables, so what the copies say of it is not used")
            continue
        before, words = _agreed_places(kept, mine) if kind == HAPROXY else _agreed_words(kept)
        disputes += [f"method {identifier}: {text}" for text in words]
        if before is not None:
            methods.append({"id": identifier, "method": kind, "before": before})
    return Restored(tuple(methods), tuple(disputes[:MOST_DISPUTES]))


def _agreed_places(kept: Iterable[Kept], targets: tuple[Target, ...]) -> tuple[dict[str, Any] | None, list[str]]:
    """All places that a copy and the variables name, and at which the server was in service.

    A keeper may lie. Of a server that was out before nothing has to come back, and to take that from a copy would let a drain begin
    with nothing to do, or leave the server out for good. A copy that leaves out a balancer is no finding of this method.
    """
    found: dict[tuple[str, str, str], Place] = {}
    disputed: list[str] = []
    for one in kept:
        finding = read_haproxy(one.before)
        for place in finding.places if finding else ():
            if finding is None or not any(target.covers(finding.server, place) for target in targets):
                continue
            key = (finding.server, place.balancer, place.backend)
            if place.state != STATES[0]:
                disputed.append(f"a copy says that server {key[0]} of backend {key[2]} on balancer {key[1]} was {place.state}; that is left as it is")
                continue
            present = found.setdefault(key, place)
            found[key] = replace(present, up=present.up or place.up)
    servers = list(dict.fromkeys(server for server, _balancer, _backend in found))
    if not servers:
        return None, disputed
    wanted = {(balancer, backend) for one in targets if one.server == servers[0] for balancer in one.balancers for backend in one.backends or ("",)}
    has = {(balancer, backend) for server, balancer, backend in found if server == servers[0]}
    has |= {(balancer, "") for balancer, _backend in has}
    missing = sorted({f"{balancer} {backend}".strip() for balancer, backend in wanted - has})
    if missing:
        return None, [*disputed, f"no copy says how balancer {', '.join(missing)} had server {servers[0]}; nothing is restored, put it back by hand"]
    if len(servers) > 1:
        disputed.append(f"copies name the servers {', '.join(servers)}; {servers[0]} is put back")
    return HAProxyFinding(servers[0], tuple(place for key, place in found.items() if key[0] == servers[0])).values(), disputed


def _agreed_words(kept: Iterable[Kept]) -> tuple[dict[str, Any] | None, list[str]]:
    found = []
    for one in kept:
        finding = {} if one.kind in WITHOUT_FINDING else read_words(one.before)
        if finding is not None and finding not in found:
            found.append(finding)
    if len(found) > 1:
        return None, ["copies differ on what it found; none of them is used, put it back by hand"]
    return (found[0] if found else None), []
