# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What the controller's variables say about drain methods: drain_methods, and drain_methods_former for undo only."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ....module_utils._scheduled_events.core.types import Values
from ..._core import plain_values
from ..kinds.registry import kind_of

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
KIND = re.compile(r"[a-z][a-z0-9_]{0,62}")
# Keys of an entry that are no options of its method; all but one may be in any entry of drain_methods.
OF_ANY_METHOD = ("method", "name", "outside", "cluster")
RESERVED = (*OF_ANY_METHOD, "by_hand")
CLUSTER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


@dataclass(frozen=True, slots=True)
class Configured:
    """One entry of the variables."""

    name: str
    """Its name, or its number and kind; empty where it has none."""
    named: bool
    """Whether the entry itself says its name."""
    kind: str
    outside: bool
    """Whether it changes something outside the VM."""
    former: bool
    """Whether it is accepted for undo only."""
    by_hand: bool
    """Whether an operator says that what it changed was put back by hand."""
    given: Values
    """Its options, without the defaults of the method."""
    problem: str | None = None
    """What is wrong with a former entry (validation.py)."""


def default_name(number: int, kind: str) -> str:
    """The name of an entry that has none: the ids that version 1.3.1 wrote."""
    return f"{number}-{kind}"


def read_configured(methods: Any, former: Any, wrong: Mapping[int, str] | None = None) -> tuple[Configured, ...]:
    """All entries that can be read: those in use, then the former ones. What is wrong is left out; see problems().

    C(wrong) has what is wrong with the options of former entries, by their numbers (validation.py).
    """
    used = [_entry(item, number, former=False) for number, item in enumerate(plain_values.items(methods), start=1)]
    left = [_entry(item, None, former=True, problem=(wrong or {}).get(number)) for number, item in enumerate(plain_values.items(former), start=1)]
    names = Counter(entry.name for entry in used if entry)
    # A name that two entries have says nothing: neither is chosen by it.
    return tuple(entry for entry in [*used, *left] if entry and (entry.former or names[entry.name] == 1))


def _entry(item: Any, number: int | None, *, former: bool, problem: str | None = None) -> Configured | None:
    given = plain_values.mapping(item)
    kind, name = plain_values.text(given.get("method")), plain_values.text(given.get("name"))
    if kind is None or not KIND.fullmatch(kind) or (name is not None and not NAME.fullmatch(name)):
        return None
    outside = plain_values.flag(given.get("outside"))
    return Configured(
        name=name or ("" if number is None else default_name(number, kind)),
        named=name is not None,
        kind=kind,
        outside=kind_of(kind).outside if outside is None else outside,
        former=former,
        by_hand=former and plain_values.flag(given.get("by_hand")) is True,
        given={str(key): plain_values.plain(value) for key, value in given.items() if str(key) not in RESERVED},
        problem=problem,
    )


def problems(methods: Any, former: Any) -> list[str]:
    """What is wrong with the names, and with the list of former methods, in words."""
    found = []
    names: dict[str, int] = {}
    for number, item in enumerate(plain_values.items(methods), start=1):
        entry = plain_values.mapping(item)
        place = f"drain_methods, entry {number}"
        found += _name_problems(entry, place)
        cluster = entry.get("cluster")
        if "cluster" in entry and not (isinstance(cluster, str) and CLUSTER.fullmatch(cluster)):
            shown = str(plain_values.plain(cluster))[:100] or "it is empty"
            found.append(f"{place}: cluster is wrong: {shown}. It must be a name of letters, digits, dots, - and _, at most 63.")
        if "by_hand" in entry:
            found.append(f"{place}: by_hand is for entries of drain_methods_former.")
        name = plain_values.text(entry.get("name")) or default_name(number, plain_values.text(entry.get("method")) or "")
        if name in names:
            found.append(f"{place}: entry {names[name]} has the name {name}, too. Each method needs its own.")
        names.setdefault(name, number)
    if former not in (None, "") and not plain_values.items(former) and not _is_empty(former):
        found.append(f"drain_methods_former must be a list of methods, and is {str(former)[:100]}.")
    for number, item in enumerate(plain_values.items(former), start=1):
        found += _former_problems(item, f"drain_methods_former, entry {number}")
    return found


def _is_empty(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, Mapping)) and len(value) == 0


def _former_problems(item: Any, place: str) -> list[str]:
    entry = plain_values.mapping(item)
    kind = plain_values.text(entry.get("method"))
    if kind is None or not KIND.fullmatch(kind):
        given = str(plain_values.plain(item))[:100]
        return [f"{place}: method must be the kind of a method that drain_methods had, such as haproxy, and this entry is {given}."]
    found = _name_problems(entry, place)
    if "by_hand" in entry and plain_values.flag(entry["by_hand"]) is None:
        found.append(f"{place}: by_hand must be true (what it changed was put back by hand) or false.")
    return found


def _name_problems(entry: Values, place: str) -> list[str]:
    name = entry.get("name")
    if "name" not in entry or (isinstance(name, str) and NAME.fullmatch(name)):
        return []
    return [f"{place}: name is wrong: {str(name)[:100]}. It must be small letters, digits, - and _, at most 63, and begin with a letter or digit."]
