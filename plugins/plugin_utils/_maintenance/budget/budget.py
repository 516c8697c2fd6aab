# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The capacity groups, which of their members are unavailable, and why a group has no room: too many would be, or the rest would break a keep condition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from ..._core.short_forms import grouped, some
from ..config import capacity_groups
from ..config.capacity_groups import Group
from ..core.model import Host

SHOWN = 5
BATCH = "the batch"


class Tally:
    """Members that count as unavailable, each with the reason, and their number in each group."""

    def __init__(self, of: Mapping[str, list[Group]], why: Mapping[str, str]) -> None:
        self._of = of
        self.why: dict[str, str] = {}
        self.counts: dict[Group, int] = defaultdict(int)
        for name, words_ in why.items():
            self.add((name,), words_)

    def add(self, names: Iterable[str], why: str) -> None:
        """Count these members too, each only once."""
        for name in names:
            if name not in self.why:
                self.why[name] = why
                for group in self._of[name]:
                    self.counts[group] += 1


@dataclass(slots=True)
class Budget:
    """The groups, and which of their members are unavailable and why."""

    groups: tuple[Group, ...] = ()
    of: dict[str, list[Group]] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    short: frozenset[Group] = frozenset()
    """Groups with members that are not in this run, or with fewer members than their configured size. None of them is derived."""
    unread: frozenset[str] = frozenset()
    """Members that were not read, or are not in this run. In a derived group they keep no event waiting for long."""
    out: dict[str, str] = field(default_factory=dict)
    """Members that are unavailable now, before any action of this plan."""
    stuck: dict[str, str] = field(default_factory=dict)
    """Those of them that stay unavailable when their events end."""
    latest: dict[str, str | None] = field(default_factory=dict)
    """Members that are not observed again in this pass: why their latest observation has them unavailable, or None. For words only; C(out) has them all,
    because a drain or an approval needs a new observation of each member."""
    leased: dict[str, str] = field(default_factory=dict)
    """Members that another run has a lease on, and may make unavailable."""
    hosts: dict[str, Host] = field(default_factory=dict)
    serving: frozenset[str] = frozenset()
    """Members that count as unavailable for an event that is over, has failed or may end any moment, and that are not drained for it:
    a new drain makes them unavailable for longer."""
    unexplained: dict[str, str] = field(default_factory=dict)
    """Members that their health checks have out of service and nothing else does, no record above all: what the check said."""
    doubted: dict[Group, list[str]] = field(default_factory=dict)
    """Groups with more such members than they allow, and those members: none of them is a reason to take more out, and a wrong check may be."""
    disputed: dict[Group, dict[str, str]] = field(default_factory=dict)
    """Groups for which another run, active on a VM, declares other members: the other run, by that VM."""
    taken: dict[str, str] = field(default_factory=dict)
    """Members that are unavailable, leased by other runs, or needed by an event: an upgrade counts all of them, because events go first."""


def doubted(group: Group, unexplained: Container[str]) -> list[str]:
    """Return the unexplained members of a group that are more than it allows, else none. One may always be: a VM that has crashed may be drained."""
    found = [name for name in group.members if name in unexplained]
    return found if len(found) > max(group.limit, 1) else []


def is_full(budget: Budget, group: Group, wanted: Sequence[str], out: Tally, *, has_waited: bool) -> bool:
    """Return whether a group has no room for these members. C(has_waited) says that their event has waited as long as for VMs that may come back."""
    if not group.alike:
        return out.counts[group] + sum(1 for name in wanted if name not in out.why) > group.limit or unkept(budget, group, wanted, out) is not None
    # Azure takes the VMs of one event together, so one event may take more than the limit where no other member is out.
    others = _alike_out(budget, group, wanted, out, has_waited=has_waited)
    return bool(others) and len(others) + len(wanted) > group.limit


def _alike_out(budget: Budget, group: Group, wanted: Container[str], out: Tally, *, has_waited: bool) -> list[str]:
    """Return the members of a derived group that are unavailable, beside those that are wanted."""
    return [name for name in group.members if name in out.why and name not in wanted and not (has_waited and name in budget.unread)]


def named(group: Group) -> str:
    """Return what a group is called in a sentence."""
    return f"VMs that are drained alike ({group.alike})" if group.alike else f"capacity group {group.name!r}"


def place(group: Group) -> str:
    """Return where there must be room."""
    return "the group of VMs that are drained alike" if group.alike else named(group)


def unkept(budget: Budget, group: Group, wanted: Iterable[str], out: Tally) -> str | None:
    """Return the first keep condition of the group that is false of the members left in service, or None."""
    if not group.keep:
        return None
    gone = {*out.why, *wanted}
    return capacity_groups.broken(group.keep, [budget.hosts[name] for name in group.members if name in budget.hosts and name not in gone])


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
            " not known how many are unavailable; run it for all members, or correct their names"
        )
    other = dispute(budget, group, names)
    return f"capacity group {group.name!r} is held: {other} declares other members for it; give all runs the same list" if other else None


def doubt(budget: Budget, group: Group) -> str | None:
    """Return what the health checks of a group say that has more members out of service by them alone than it allows, or None."""
    found = budget.doubted.get(group)
    if not found:
        return None
    of = named(group) if group.alike else f"members of {named(group)}"
    said = some(grouped(((name, [budget.unexplained[name]]) for name in found), SHOWN), SHOWN)
    counted = f"{len(found)} of {len(group.members)} {of} are not in service by their health checks alone, and at most {max(group.limit, 1)} may be"
    return f"{counted}; is respond_health right? The checks say: {said}"


def text(budget: Budget, names: Sequence[str], group: Group, taken: Tally, who: str = "the event") -> str:
    if (held := unusable(budget, group, names) or doubt(budget, group)) is not None:
        return held
    own = members(budget, names, group)
    if group.alike:
        others = [f"{name} ({taken.why[name]})" for name in _alike_out(budget, group, own, taken, has_waited=False)]
        is_out = f"{len(others)} of {len(group.members)} {named(group)} {'is' if len(others) == 1 else 'are'} out already or next: {some(others, SHOWN)}"
        advice = "; run it for all of them" if not budget.missing.isdisjoint(group.members) else ""
        return f"{is_out}; at most {group.limit} at once{advice}"
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
