# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explain why a group has no room for an event: too many members would be unavailable, or the rest would break a keep condition."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from ..._core.short_forms import some
from ..config import kept_members
from ..config.capacity_groups import Group

if TYPE_CHECKING:
    from .allocation import Budget, Tally

SHOWN = 5
BATCH = "the batch"


def unkept(budget: Budget, group: Group, wanted: Iterable[str], out: Tally) -> str | None:
    """Return the first keep condition of the group that is false of the members left in service, or None."""
    if not group.keep:
        return None
    gone = {*out.why, *wanted}
    return kept_members.broken(group.keep, [budget.hosts[name] for name in group.members if name in budget.hosts and name not in gone])


def members(budget: Budget, names: Iterable[str], group: Group) -> list[str]:
    return [name for name in names if group in budget.of[name]]


def dispute(budget: Budget, group: Group, names: Container[str]) -> str | None:
    """Return the holder of a lease on one of these VMs that declares other members for the group. A lease covers its own VM only."""
    return next((who for name, who in budget.disputed.get(group, {}).items() if name in names), None)


def unusable(budget: Budget, group: Group, names: Container[str]) -> str | None:
    """Return why a group has no room for any of these VMs because the number of its unavailable members is unknown, or None."""
    if group in budget.short:
        missing = [member for member in group.members if member in budget.missing]
        if not missing:
            return (
                f"capacity group {group.name!r} is held: it has {group.size} members, and this run's inventory names {len(group.members)} of them"
                " (a slice of it, or a source that failed?), so it is not known how many are unavailable; run it for all members"
            )
        return (
            f"capacity group {group.name!r} is held: {some(missing, SHOWN)} of its members are not in this run, so it is"
            " not known how many are unavailable; run it for all members"
        )
    other = dispute(budget, group, names)
    return f"capacity group {group.name!r} is held: {other} declares other members for it; give all runs the same list" if other else None


def text(budget: Budget, names: Sequence[str], group: Group, taken: Tally, who: str = "the event") -> str:
    if (held := unusable(budget, group, names)) is not None:
        return held
    own = members(budget, names, group)
    if taken.counts[group] + sum(1 for name in own if name not in taken.why) <= group.limit:
        return _keep_text(group, unkept(budget, group, own, taken) or "", own, taken)
    start = f"capacity group {group.name!r} lets {group.rule} be unavailable"
    if len(own) > group.limit:
        never = "; it never fits: make the batch smaller" if who == BATCH else ""
        return f"{start}, and {who} takes {some(own, SHOWN)} together{never}"
    return f"{start}; {some(own, SHOWN)} would exceed it, together with {_others(group, own, taken)}"


def _keep_text(group: Group, unkept: str, own: Sequence[str], taken: Tally) -> str:
    others = _others(group, own, taken)
    beside = f" and {others}" if others else ""
    return f"capacity group {group.name!r} must keep {unkept}, which is not met without {some(own, SHOWN)}{beside}"


def _others(group: Group, own: Sequence[str], taken: Tally) -> str:
    others = (f"{member} ({taken.why[member]})" for member in group.members if member in taken.why and member not in own)
    return some(list(islice(others, SHOWN)), SHOWN, taken.counts[group] - sum(1 for name in own if name in taken.why))
