# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Which hosts a run looks at for an event that a message is about: those that it names, their capacity groups, and those that keep copies of records.

A message is a hint. What it names decides only who is asked: names are compared with those of the inventory, and no pattern is made of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ....module_utils._scheduled_events.core.names import folded
from ..._core.short_forms import some

SHOWN_NAMES = 5
# Hosts after each one that is named, in the order of the inventory: the first of them keeps the copy of its record if its groups have no other VM
# (act/replicas.py), and the next ones do where the first is hit as well.
KEEPERS = 3


@dataclass(frozen=True)
class Known:
    """A host of the inventory."""

    name: str
    names: frozenset[str]
    """The names by which a document may name it, in lower case."""
    groups: tuple[tuple[str, ...], ...] = ()
    """The members of each capacity group of its variables."""


@dataclass(frozen=True)
class Chosen:
    """The hosts to look at, in the order of the inventory."""

    hosts: tuple[str, ...]
    why_all: str
    """Why all hosts are looked at; empty where fewer are."""


def choose(names: Sequence[str], hosts: Sequence[Known]) -> Chosen:
    """Return the hosts to look at for an event whose messages name these VMs; all of them where a name is unknown, because any host may have it."""
    everyone = tuple(host.name for host in hosts)
    # Rulebooks put a comma before the names.
    names = [name for name in names if name.strip()]
    if not names:
        return Chosen(everyone, "respond_only_vms names no VM")
    by_name: dict[str, list[int]] = defaultdict(list)
    for place, host in enumerate(hosts):
        for name in host.names:
            by_name[name].append(place)
    unknown = [name for name in names if folded(name) not in by_name]
    if unknown:
        return Chosen(everyone, f"no host of the inventory has the name {some(unknown, SHOWN_NAMES)}")
    named = sorted({place for name in names for place in by_name[folded(name)]})
    found = {*(hosts[place].name for place in named), *_keepers(named, everyone), *_members(hosts[place] for place in named)}
    return Chosen(tuple(name for name in everyone if name in found), "")


def _keepers(named: Iterable[int], everyone: Sequence[str]) -> set[str]:
    return {everyone[(place + step) % len(everyone)] for place in named for step in range(1, KEEPERS + 1)}


def _members(named: Iterable[Known]) -> set[str]:
    return {member for host in named for group in host.groups if host.name in group for member in group}


def names_of(host: str, variables: Mapping[str, str | None]) -> frozenset[str]:
    """Return the names by which a document may name a host: its own in the inventory, without its domain too, and those that its variables know."""
    given = (host, host.partition(".")[0], *variables.values())
    return frozenset(folded(name) for name in given if name and name.strip())
