# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""A bounded share for each VM of what people read: one that makes up hundreds of events must not crowd out those of others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Owners = Callable[[Item], Iterable[str]]


def places(items: Iterable[Item], owners: Owners[Item]) -> list[int]:
    """Return the place of each item among those of its owner, 0 for the first; of several owners the best one. Items without an owner have one together."""
    count: Counter[str] = Counter()
    found = []
    for item in items:
        names = list(owners(item)) or [""]
        found.append(min(count[name] for name in names))
        count.update(names)
    return found


def in_turn(items: Sequence[Item], owners: Owners[Item], most: int) -> list[Item]:
    """Return so many items, in their order: the first of each owner, then the second of each, and so on."""
    found = places(items, owners)
    chosen = sorted(range(len(items)), key=found.__getitem__)[:most]
    return [items[number] for number in sorted(chosen)]


def few_of_each(items: Sequence[Item], owners: Owners[Item], most: int) -> tuple[list[Item], list[Item]]:
    """Return the first few items of each owner, and those that are left."""
    found = places(items, owners)
    pairs = list(zip(items, found))
    return [item for item, place in pairs if place < most], [item for item, place in pairs if place >= most]
