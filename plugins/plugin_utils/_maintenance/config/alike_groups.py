# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Alike groups: VMs that are drained alike stand in for each other, without being told. Each VM that no group of C(respond_capacity) names is in one.

They are derived from what the inventory has written, so that no template of thousands of hosts is evaluated, and no VM's answer counts.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from ....module_utils._scheduled_events.core.names import folded
from ....module_utils._scheduled_events.core.printable_text import printable
from ....module_utils._scheduled_events.core.types import Data, Values
from ..._core import plain_values
from ..._core.short_forms import some
from ..._drain.kinds.registry import kind_of
from .capacity_groups import Group

# A larger group is divided; of inventory groups with fewer members a quarter is less than one VM.
MOST, LEAST = 40, 4
# So much of a group may be unavailable: one in so many, and at least one.
SHARE = 4
TEMPLATE = "{"
SHOWN, LONGEST_WHAT = 2, 160


class Written(NamedTuple):
    """A host as the inventory has written it."""

    host: str
    methods: Any
    """Its C(drain_methods), as plain data."""
    groups: tuple[str, ...]
    """Its groups of the inventory."""
    place: tuple[str, str]
    """Its subscription and its resource group; empty where the inventory says neither."""
    names: frozenset[str]
    """Its names in lower case: in the inventory, and in Azure where the inventory says it."""

    @property
    def sameness(self) -> tuple[Any, ...]:
        """Return what is the same for hosts that are drained alike."""
        return json.dumps(self.methods, sort_keys=True), self.place, self.groups if _is_template(self.methods) else ()


def left_out(declared: Iterable[Group], retired: Iterable[str]) -> frozenset[str]:
    """Return names of no members, in lower case: those of groups of C(respond_capacity) have a limit of their own."""
    return frozenset(folded(member) for group in declared for member in group.members).union(retired)


def derive(hosts: Iterable[Written]) -> list[Data]:
    """Return the setting C(alike): the groups of at least two of these hosts, by their names."""
    found: dict[tuple[Any, ...], list[Written]] = defaultdict(list)
    for one in hosts:
        found[one.sameness].append(one)
    parts = sorted((part[0].host, part, group) for every in found.values() for group, part in _divided(sorted(every)) if len(part) > 1)
    return [{"name": f"alike {first}", "members": [one.host for one in part], "what": _what(part[0], group)} for first, part, group in parts]


def load_alike(value: Any) -> tuple[Group, ...]:
    """Return the groups of the setting C(alike), as derive() returns it. Any other value is no group: it says whether they are to be derived."""
    return tuple(map(_group, map(plain_values.mapping, plain_values.items(value))))


def _group(given: Values) -> Group:
    name, what, members = str(given.get("name")), str(given.get("what")), tuple(plain_values.texts(given.get("members")))
    return Group(name, members, max(1, len(members) // SHARE), "", alike=what)


def _is_template(methods: Any) -> bool:
    """Return whether nothing but a template says which methods there are."""
    return isinstance(methods, str) or all(isinstance(entry, str) for entry in methods)


# --- Groups that are too large -------------------------------------------------------------------------------------------


def _divided(every: list[Written]) -> list[tuple[str, list[Written]]]:
    """Divide hosts into parts of at most C(MOST): by a group of the inventory that each of them has, then by a hash of their names.

    Of its groups a host goes with the largest one that is small enough, else with the smallest one. Those that are left over are together.
    """
    if len(every) <= MOST:
        return [("", every)]
    sizes = Counter(group for one in every for group in one.groups)
    parts: dict[str, list[Written]] = defaultdict(list)
    for one in every:
        fit = [(sizes[group] > MOST, abs(sizes[group] - MOST), group) for group in one.groups if LEAST <= sizes[group] < len(every)]
        parts[min(fit)[2] if fit else ""].append(one)
    left = [group for group, part in parts.items() if group and len(part) < LEAST]
    rest = [one for group in ["", *left] for one in parts.pop(group, ())]
    if 0 < len(rest) < LEAST:
        # Too few to be a group of their own: beside the members of the smallest one.
        rest += parts.pop(min(parts, key=lambda group: (len(parts[group]), group)))
    return [(group, sorted(piece)) for group, part in [*parts.items(), ("", rest)] for piece in _pieces(part)]


def _pieces(part: list[Written]) -> list[list[Written]]:
    """Return a part in as few pieces as possible, which are about as large as each other."""
    number = -(-len(part) // MOST)
    by_hash = sorted(part, key=lambda one: hashlib.sha256(one.host.encode("utf-8", "surrogatepass")).digest())
    return [by_hash[place::number] for place in range(number)]


# --- What is the same, in words ------------------------------------------------------------------------------------------


def _what(one: Written, group: str) -> str:
    methods = ["the same template"] if _is_template(one.methods) else dict.fromkeys(_entry(plain_values.mapping(entry)) for entry in one.methods)
    group = group or (some(one.groups, SHOWN) if _is_template(one.methods) else "")
    words = [", ".join(methods), one.place[1] and f"resource group {one.place[1]}", group and f"group {group}"]
    return printable("; ".join(filter(None, words)), LONGEST_WHAT)


def _entry(entry: Values) -> str:
    """Return in words by what people recognise an entry of C(drain_methods)."""
    kind = plain_values.text(entry.get("method")) or "?"
    for option in kind_of(kind).known_by:
        names = [name for name in plain_values.texts(entry.get(option)) or plain_values.texts([entry.get(option)]) if name and TEMPLATE not in name]
        if names:
            return f"{kind}: {option if len(names) > 1 else option.removesuffix('s')} {some(names, SHOWN)}"
    return kind
