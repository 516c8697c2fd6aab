# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Whether an availability group may leave its VM, and when it is in step here again. Pure: what SQL Server and the settings say goes in."""

from __future__ import annotations

import typing as t

from ..host.machine.failover_cluster import Replica

PRIMARY, SECONDARY, HEALTHY = "PRIMARY", "SECONDARY", "HEALTHY"


class Surroundings(t.NamedTuple):
    """What the controller says of other hosts. Whether an event hits one must be known: hence an inventory host for each replica."""

    hosts: t.Mapping[str, str]
    """The inventory host of each replica, by its name in SQL Server; the first that may takes over."""
    why_not: t.Callable[[str], str]
    """Return why no group may move to one of these hosts, or an empty text."""


def primary_here(groups: t.Sequence[str], replicas: t.Sequence[Replica]) -> list[str]:
    """Return those of these groups whose primary is the instance that was asked, as they are written in groups."""
    found = {one.group.lower() for one in replicas if one.here and one.role == PRIMARY}
    return [group for group in groups if group.lower() in found]


def unknown(groups: t.Sequence[str], replicas: t.Sequence[Replica]) -> list[str]:
    """Return those of these groups that the instance does not have."""
    known = {one.group.lower() for one in replicas}
    return [group for group in groups if group.lower() not in known]


def targets(groups: t.Sequence[str], replicas: t.Sequence[Replica], surroundings: Surroundings) -> dict[str, str]:
    """Return by group the replica that takes over; a group that none may take over is missing."""
    found = {}
    for group in groups:
        able = [name for name, why in candidates(group, replicas, surroundings).items() if not why]
        if able:
            found[group] = able[0]
    return found


def candidates(group: str, replicas: t.Sequence[Replica], surroundings: Surroundings) -> dict[str, str]:
    """Return why each replica may not take over, an empty text if it may, in the order of the settings."""
    others = {one.name.lower(): one for one in replicas if not one.here and one.group.lower() == group.lower()}
    return {name: _reason(others[name.lower()], host, surroundings) for name, host in surroundings.hosts.items() if name.lower() in others}


def refusal(group: str, chosen: str, reasons: t.Mapping[str, str]) -> str | None:
    """Return why a group cannot leave, or None. chosen is the replica that takes over, empty where there is none; reasons are of candidates()."""
    if chosen and reasons.get(chosen) == "":
        return None
    words = "; ".join(f"{name}: {why or 'may take over'}" for name, why in reasons.items())
    which = f"{chosen}, which was to take over, cannot" if chosen else "no replica may take over"
    return f"availability group {group} has its primary replica here, and {which} ({words or 'the option replicas names none of its replicas'})"


def out_of_step(groups: t.Iterable[str], replicas: t.Sequence[Replica]) -> list[str]:
    """Return in words which of these groups are not synchronised here again."""
    return [
        f"availability group {group} is not synchronised here yet ({one.role}, {one.health})"
        for group in groups
        for one in replicas
        if one.here and one.group.lower() == group.lower() and (one.role not in (PRIMARY, SECONDARY) or one.health != HEALTHY)
    ]


def _reason(one: Replica, host: str, surroundings: Surroundings) -> str:
    if one.mode != "SYNCHRONOUS_COMMIT" or not one.ready or one.health != HEALTHY or one.role != SECONDARY:
        return "not synchronised"
    return surroundings.why_not(host)
