# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings: what a method found before it acted. They come from VMs, so their shape is checked and nothing else is taken from them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..._core import plain_values
from ..settings.configured import HAPROXY

# What HAProxy allows in the names of servers and backends, as haproxy_server checks it.
HAPROXY_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
STATES = ("ready", "drain", "maint")
MOST_BALANCERS, MOST_BACKENDS, MOST_WORDS, DEEPEST = 64, 1000, 64, 20
WORD = re.compile(r"[A-Za-z0-9_.:-]{0,100}")


@dataclass(frozen=True, slots=True)
class Place:
    """One server in one backend of one balancer, as it was before."""

    balancer: str
    backend: str
    state: str
    up: bool


@dataclass(frozen=True, slots=True)
class HAProxyFinding:
    """How the balancers had a VM's server."""

    server: str
    places: tuple[Place, ...]

    def values(self) -> dict[str, Any]:
        """The finding as method haproxy takes it."""
        balancers: dict[str, dict[str, Any]] = {}
        for place in self.places:
            balancers.setdefault(place.balancer, {})[place.backend] = {"state": place.state, "up": place.up}
        return {"server": self.server, "balancers": balancers}


def read_haproxy(before: Any) -> HAProxyFinding | None:
    """Read the finding of method haproxy, or return None for anything else."""
    given = plain_values.mapping(before)
    server, balancers = given.get("server"), given.get("balancers")
    if set(given) != {"server", "balancers"} or not _is_name(server) or not isinstance(balancers, Mapping) or len(balancers) > MOST_BALANCERS:
        return None
    places: list[Place] = []
    for balancer, backends in balancers.items():
        if not _is_host(balancer) or not isinstance(backends, Mapping) or len(places) + len(backends) > MOST_BACKENDS:
            return None
        for backend, one in backends.items():
            place = _place(str(balancer), backend, one)
            if place is None:
                return None
            places.append(place)
    return HAProxyFinding(str(server), tuple(places))


def _place(balancer: str, backend: Any, given: Any) -> Place | None:
    values = plain_values.mapping(given)
    state, up = values.get("state"), plain_values.flag(values.get("up"))
    if set(values) != {"state", "up"} or state not in STATES or up is None or not _is_name(backend):
        return None
    return Place(balancer, str(backend), str(state), up)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and HAPROXY_NAME.fullmatch(value) is not None


def _is_host(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 255 and value.isprintable()


def read_words(before: Any) -> dict[str, Any] | None:
    """Read a finding of names with true, false, numbers and single words, or return None: no path and no command fits into it."""
    if not isinstance(before, Mapping) or len(before) > MOST_WORDS:
        return None
    found: dict[str, Any] = {}
    for key, value in before.items():
        if not isinstance(key, str) or not key or not WORD.fullmatch(key) or not _is_word(value):
            return None
        found[str.__str__(key)] = plain_values.plain(value)
    return found


def _is_word(value: Any) -> bool:
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int):
        return abs(value) < 2**53
    return isinstance(value, str) and WORD.fullmatch(value) is not None


def for_replica(kind: str, before: Any) -> dict[str, Any] | None:
    """The part of a finding that another VM may keep, or None where there is none."""
    if kind == HAPROXY:
        finding = read_haproxy(before)
        return finding.values() if finding else None
    return read_words(before)


def data(value: Any, depth: int = 0) -> Any:
    """A value of a record as plain data that ansible-core 2.18 can pass on: no number without an end, nothing endlessly nested."""
    if depth > DEEPEST:
        return None
    if isinstance(value, Mapping):
        return {str(key): data(item, depth + 1) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if plain_values.items(value):
        return [data(item, depth + 1) for item in plain_values.items(value)]
    return plain_values.plain(value)


def shown(value: Any) -> str:
    """A text of a record in a message: as it is where it is a plain name, else quoted and short."""
    text = str(value)
    return text if HAPROXY_NAME.fullmatch(text) and len(text) <= 100 else ascii(text[:60])
