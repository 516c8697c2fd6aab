# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Capacity groups: VMs of which only a limited number may be unavailable at once. budget/allocation.py counts the unavailable ones."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._core import plain_values
from ..._core.short_forms import suggestion
from ..core.expression import ExpressionError, MissingJMESPath
from .kept_members import Keep

KEYS = ("name", "members", "size", "max_unavailable", "keep")
# A template or a command line may turn a number into text (core 2.18).
LIMIT = re.compile(r"\s*([0-9]{1,9})\s*(%?)\s*")


class CapacityError(ValueError):
    """A group that cannot be used; the message names the group and its position."""


@dataclass(frozen=True, eq=False)
class Group:
    """A declared list of inventory hosts, and how many of them may be unavailable."""

    name: str
    members: tuple[str, ...]
    limit: int
    configured: str
    """The limit as configured; empty without max_unavailable, where only C(keep) limits."""
    keep: tuple[Keep, ...] = ()
    """Conditions on the members that stay in service."""
    size: int | None = None
    """The number of members, if configured: a part of an inventory names fewer."""

    @property
    def hash(self) -> str:
        """Return a hash of the members. Every lease carries it: runs that declare other members must not rely on each other's leases."""
        return hashlib.sha256("\n".join(sorted(self.members)).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def rule(self) -> str:
        """Return the limit as text."""
        percent = f" ({self.configured})" if self.configured.endswith("%") else ""
        return f"{self.limit or 'none'} of its {len(self.members)} members{percent}"


def load(value: Any) -> tuple[Group, ...]:
    """Load all groups in order. Raise CapacityError."""
    if value is None:
        return ()
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        raise CapacityError(f"capacity is a list of groups, not {plain_values.kind(value)}")
    groups = tuple(_group(item, place) for place, item in enumerate(value, start=1))
    names: dict[str, int] = {}
    for place, group in enumerate(groups, start=1):
        first = names.setdefault(group.name, place)
        if first != place:
            raise CapacityError(f"group {place} of the capacity ({group.name!r}): group {first} has the same name")
    return groups


def _group(given: Any, place: int) -> Group:
    label = f"group {place} of the capacity"
    if not isinstance(given, Mapping):
        raise CapacityError(f"{label}: must be a dictionary with {', '.join(KEYS)}, not {given!r}")
    source = plain_values.plain(given)
    name = plain_values.text(source.get("name"))
    if name is None or not name.strip():
        raise CapacityError(f"{label}: needs a name")
    label += f" ({name!r})"
    if unknown := sorted(set(source) - set(KEYS)):
        shown = ", ".join(f"{key}{suggestion(key, KEYS)}" for key in unknown)
        raise CapacityError(f"{label}: unknown keys {shown}; there are {', '.join(KEYS)}")
    members = _members(source.get("members"), label)
    size = _size(source.get("size"), label)
    kept = _keep(source.get("keep"), label)
    if kept and source.get("max_unavailable") is None:
        return Group(name, members, len(members), "", kept, size)
    limit, configured = _limit(source.get("max_unavailable"), len(members), label)
    return Group(name, members, limit, configured, kept, size)


def _size(given: Any, label: str) -> int | None:
    if given is None:
        return None
    found = None if isinstance(given, bool) else re.fullmatch(r"\s*([0-9]{1,9})\s*", str(given))
    if found is None or int(found[1]) == 0:
        raise CapacityError(f"{label}: size must be the number of its members, such as 12, not {given!r}")
    return int(found[1])


def _keep(given: Any, label: str) -> tuple[Keep, ...]:
    if given is None:
        return ()
    sources = [given] if isinstance(given, str) else given
    if not isinstance(sources, list) or not sources or not all(isinstance(source, str) and source.strip() for source in sources):
        raise CapacityError(f"{label}: keep must be a JMESPath expression or a list of such, not {given!r}")
    return tuple(_kept(source, place, label) for place, source in enumerate(sources, start=1))


def _kept(source: str, place: int, label: str) -> Keep:
    try:
        return Keep(source)
    except MissingJMESPath as error:
        raise CapacityError(f"{label}: keep {place} {error}") from error
    except ExpressionError as error:
        at = f" at character {error.position}" if error.position else ""
        raise CapacityError(f"{label}: keep {place}{at} {error}: {source}") from error


def _members(given: Any, label: str) -> tuple[str, ...]:
    if not isinstance(given, list) or not given:
        raise CapacityError(f"{label}: members must be a list of inventory hosts, such as groups['web'], not {given!r}")
    for place, member in enumerate(given, start=1):
        if not isinstance(member, str) or not member.strip():
            raise CapacityError(f"{label}: member {place} must be the name of an inventory host, not {member!r}")
    # Several inventory groups together may name a host twice; it is one VM.
    return tuple(dict.fromkeys(given))


def _limit(given: Any, members: int, label: str) -> tuple[int, str]:
    """Round a percentage down, to none if it is less than one VM: a limit must never allow more than it says."""
    configured = "" if given is None or isinstance(given, bool) else str(given).strip()
    found = LIMIT.fullmatch(configured)
    if not found or (found[2] and int(found[1]) > 100):
        expected = "must be a number of VMs such as 1, or a percentage of the members such as '25%'"
        raise CapacityError(f"{label}: max_unavailable {expected}, not {given!r}")
    amount = int(found[1])
    return (members * amount // 100 if found[2] else amount), configured.replace(" ", "")
