# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What of a record another VM may keep, and what a VM gets back from such a copy: findings at targets that the variables give it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ....module_utils._scheduled_events.core.types import Data, Values
from ..._core import plain_values
from ..kinds.registry import kind_of
from ..settings.configured import KIND, NAME, read_configured
from .matching import is_well_named, read_recorded

DEFAULT_NAME = re.compile(r"[0-9]+-[a-z][a-z0-9_]*")
MOST_DISPUTES = 5


@dataclass(frozen=True, slots=True)
class Target:
    """A method of a host's variables that acts elsewhere, and where."""

    name: str
    kind: str
    given: Values
    """What its kind makes of the entry."""

    @property
    def asked_at(self) -> frozenset[str]:
        """Where its kind asks whether others serve."""
        return frozenset(kind_of(self.kind).asked_at(self.given))

    def means(self, identifier: str, kind: str) -> bool:
        """Whether a method of a record may be this one: by name and kind, or by kind where its name is only its place."""
        return self.kind == kind and (not self.name or self.name == identifier or DEFAULT_NAME.fullmatch(identifier) is not None)


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

    methods: tuple[Values, ...]
    disputes: tuple[str, ...]


def targets_of(methods: Any, former: Any, host: str) -> list[Data]:
    """The targets of a host's variables, as an observation carries them."""
    entries = [(entry, kind_of(entry.kind)) for entry in read_configured(methods, former)]
    return [
        {"name": entry.name, "method": entry.kind, **kind.target(entry.given, host, entry.by_hand)}
        for entry, kind in entries
        if entry.outside or not (kind.is_local("linux") or kind.is_local("windows"))
    ]


def read_targets(value: Any) -> tuple[Target, ...]:
    """The targets of an observation."""
    found = []
    for item in plain_values.items(value):
        given = plain_values.mapping(item)
        kind = plain_values.text(given.get("method"))
        if kind is not None:
            found.append(Target(plain_values.text(given.get("name")) or "", kind, given))
    return tuple(found)


def asked_with(own: Sequence[Target], others: Iterable[Target]) -> tuple[Values, ...]:
    """Return those targets of other VMs, as the stages of a method get them, that are asked about where a VM's own are."""
    where = frozenset[str]().union(*(target.asked_at for target in own))
    return tuple(target.given for target in others if target.asked_at & where) if where else ()


def replica_of(record: Any) -> Data:
    """The part of a record that another VM keeps: no command, no option, no override."""
    given = plain_values.mapping(record)
    event = plain_values.mapping(given.get("event"))
    methods = []
    for one in read_recorded(record):
        if not one.outside or not is_well_named(one):
            continue
        finding = kind_of(one.kind).for_replica(one.before)
        if one.before is not None and finding is None:
            continue
        methods.append({"id": one.identifier, "method": one.kind, "state": one.state, "before": finding, "at": one.since, "outside": True})
    return {
        "event": {"event_id": plain_values.text(event.get("event_id")) or ""},
        "phase": "recovered" if given.get("phase") == "recovered" else "draining",
        "revision": plain_values.whole(given.get("revision")) or 0,
        "history": _begin(given.get("history")),
        "undone": given.get("phase") == "recovered" or all(one["state"] == "undone" for one in methods),
        "methods": methods,
    }


def _begin(history: Any) -> list[dict[str, str]]:
    first = plain_values.mapping(next(iter(plain_values.items(history)), None))
    at = plain_values.text(first.get("at"))
    return [{"phase": "draining", "at": at}] if at else []


def restore(copies: Iterable[Kept], targets: Iterable[Target]) -> Restored:
    """The methods that a VM gets back from the copies of one record."""
    known = tuple(targets)
    methods: list[Values] = []
    disputes: list[str] = []
    by_method: dict[tuple[str, str], list[Kept]] = {}
    for one in copies:
        if NAME.fullmatch(one.identifier) and KIND.fullmatch(one.kind):
            by_method.setdefault((one.identifier, one.kind), []).append(one)
    for (identifier, kind), kept in by_method.items():
        mine = [target.given for target in known if target.means(identifier, kind)]
        if not mine:
            disputes.append(f"method {identifier} ({kind}) is not in this host's variables, so what the copies say of it is not used")
            continue
        before, words = kind_of(kind).agreed([one.before for one in kept], mine)
        disputes += [f"method {identifier}: {text}" for text in words]
        if before is not None:
            methods.append({"id": identifier, "method": kind, "before": before})
    return Restored(tuple(methods), tuple(disputes[:MOST_DISPUTES]))
