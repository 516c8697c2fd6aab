# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Who takes new sessions beside a VM's server, as its load balancers answer it: whether too few would be left, and in which words that is told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .....module_utils._haproxy_left import Guard, is_short
from .....module_utils._scheduled_events.core.types import Values
from ...._core import plain_values
from ..findings import shown
from .calls import READY, was_up

MOST_TOLD = 3
# What HAProxy calls the status of a server.
STATUS = re.compile(r"(?:UP|DOWN|NOLB|MAINT|DRAIN|no check)(?: [0-9]+/[0-9]+)?(?: \((?:agent|resolution|via [A-Za-z0-9_.:/-]{1,100})\))?")
# Why a server does not count, where its status does not say it.
WHY = {
    "weight": "weight 0",
    "unchecked": "not checked yet",
    "failing": "its check fails",
    "unknown": "not known",
    "backup": "backup",
    "away": "drained at the same time",
}


@dataclass(frozen=True, slots=True)
class Beside:
    """Who takes new sessions beside a VM's server in one backend of one balancer."""

    balancer: str
    backend: str
    entry: Values
    """As haproxy_server returns it in C(left), with the number that the settings ask for."""

    @property
    def is_short(self) -> bool:
        """Whether the server takes new sessions now, and too few others would be left."""
        return plain_values.flag(self.entry["takes"]) is True and is_short(self.entry)

    def is_held(self, before: Values) -> bool:
        """Return whether it took sessions before the drain, and too few others do now."""
        places = plain_values.mapping(plain_values.mapping(before.get("balancers")).get(self.balancer))
        was = plain_values.mapping(places.get(self.entry["tracks"] or self.backend))
        return was.get("state") == READY and was_up(was) and plain_values.flag(self.entry["weighs"]) is True and is_short(self.entry)

    @property
    def is_alone(self) -> bool:
        """Whether nothing could stand in for it, so that there is nothing to wait for."""
        return plain_values.flag(self.entry["takes"]) is True and self.entry["asked"] > 0 and not self.entry["candidates"]

    @property
    def place(self) -> str:
        """Where it is, for messages."""
        return f"backend {shown(self.backend)}"

    @property
    def last(self) -> str:
        """Return that too few would be left."""
        if self.entry["asked"] > 1:
            return self.words
        return f"{shown(self.entry['server'])} is the last server of {self.place} that takes sessions on {self.balancer}{self._others}"

    @property
    def words(self) -> str:
        """Return that too few are left."""
        count, asked = self.entry["others"], self.entry["asked"]
        more = f", and servers_left asks for {asked}" if asked > 1 else ""
        more += f" of {self.entry['candidates']} that it has" if self.entry["candidates"] < asked else ""
        found = f"only {count} other server{'s' * (count > 1)}" if count else "no other server"
        return f"{found} of {self.place} take{'s' * (count < 2)} sessions on {self.balancer}{more}{self._others}"

    @property
    def alone(self) -> str:
        """Return that there is no other."""
        return f"{shown(self.entry['server'])} is the only server of {self.place} on {self.balancer}: nothing else is asked to serve meanwhile"

    @property
    def _others(self) -> str:
        out = [plain_values.mapping(one) for one in plain_values.items(self.entry["out"])]
        found = [f"{shown(one.get('name'))}: {', '.join(filter(None, (status(one.get('status')), WHY.get(str(one.get('why'))))))}" for one in out]
        more = [f"and {self.entry['missing'] - len(out)} more"] if self.entry["missing"] > len(out) else []
        return f" ({', '.join([*found, *more])})" if found else ""


def status(given: Any) -> str:
    """Return the status of a server as it is where it looks like HAProxy's own, such as "MAINT (via web/web1)", else quoted and short."""
    text = str(given)
    return text if STATUS.fullmatch(text) else shown(text)


def beside_of(observation: Values, asked: Mapping[str, int]) -> Iterable[Beside]:
    """Return who is beside a server, by one observation of one balancer. C(asked) is what the settings ask for, by backend."""
    guard = Guard(asked)
    for backend, one in plain_values.mapping(observation.get("left")).items():
        yield Beside(str(observation.get("__drain_balancer")), str(backend), {**plain_values.mapping(one), "asked": guard.asked(str(backend))})


def told(words: Iterable[str]) -> str:
    """Return the first of these in one text."""
    given = list(dict.fromkeys(words))
    return "; ".join(given[:MOST_TOLD]) + (f"; and {len(given) - MOST_TOLD} more" if len(given) > MOST_TOLD else "")
