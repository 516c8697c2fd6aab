# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose turn it is in the capacity groups. No drain and no approval starts that puts more VMs out than a group allows.

What goes on anyway is counted first, then what is under way, then new events by their time. An event gets all its VMs
or none, and what waits keeps its place: younger events do not pass it, so that it is served in the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ansible_collections.maintenance.azure.plugins.plugin_utils._core import plain_values
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.budget import full_groups
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.capacity_groups import Group
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import Settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Host, Record
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import deadlines, leases, unproven_drains
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide.leases import Board
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state import overrides
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import Case, Part

OUT_PHASES = ("draining", "drained", "approved", "started", "gone", "recovering")
# While something waits for room, the members of its groups are looked at this often.
ROOM_CHECK = 15.0


class Tally:
    """Some members with the reason why they count, and how many that makes in each group."""

    def __init__(self, of: Mapping[str, list[Group]], why: Mapping[str, str]) -> None:
        self._of = of
        self.why: dict[str, str] = {}
        self.counts: dict[Group, int] = defaultdict(int)
        for name, words_ in why.items():
            self.add((name,), words_)

    def add(self, names: Iterable[str], why: str) -> None:
        """Count these too; who counts already is not counted twice."""
        for name in names:
            if name not in self.why:
                self.why[name] = why
                for group in self._of[name]:
                    self.counts[group] += 1


@dataclass(slots=True)
class Rooms:
    """The groups, and who of them is out and why."""

    groups: tuple[Group, ...] = ()
    of: dict[str, list[Group]] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    short: frozenset[Group] = frozenset()
    """Groups with missing members, or that are only a part of what they are said to be."""
    out: dict[str, str] = field(default_factory=dict)
    """Members that are out now, before anything of this plan starts."""
    stuck: dict[str, str] = field(default_factory=dict)
    """Those of them that no event's end brings back."""
    claimed: dict[str, str] = field(default_factory=dict)
    """Members that another run is about to take out, or may be."""
    hosts: dict[str, Host] = field(default_factory=dict)
    serving: frozenset[str] = frozenset()
    """Members that count as out for what is over, has failed or may end any moment, and that are not drained for it: a drain that
    begins takes them out for longer."""
    disputed: dict[Group, dict[str, str]] = field(default_factory=dict)
    """Groups of which another run, at work on a VM, declares other members: by that VM, and who it is."""
    taken: dict[str, str] = field(default_factory=dict)
    """Members that are out, claimed by others, or needed by an event: whoever gives way to events counts all of them."""


def arrange(cases: Sequence[Case], hosts: Iterable[Host], board: Board, settings: Settings, now: float) -> Rooms:
    """Hold what does not fit. Comes before anything is put back: a VM is not kept out for what is held."""
    if not settings.capacity:
        unproven_drains.one_at_a_time(cases, Rooms().of)
        return Rooms()
    rooms = _open(settings.capacity, cases, hosts)
    _see_claims(rooms, board)
    taken, stuck = Tally(rooms.of, {**rooms.claimed, **rooms.out}), Tally(rooms.of, rooms.stuck)
    units = [unit for case in cases if case.ours for unit in _units(case) if _wants(rooms, unit)]
    for unit in sorted(units, key=lambda one: _turn(one, settings, now)):
        _serve(rooms, unit, taken, stuck, board)
    rooms.taken = taken.why
    unproven_drains.one_at_a_time(cases, rooms.of)
    return rooms


def no_room(rooms: Rooms, names: Iterable[str], coming: Mapping[str, str]) -> str | None:
    """Why these cannot go out beside all that events need, and what is coming to others; nothing where there is room."""
    wanted = [name for name in names if name in rooms.of]
    taken = Tally(rooms.of, {**rooms.taken, **{name: why for name, why in coming.items() if name in rooms.of and name not in rooms.taken}})
    full = _full(rooms, wanted, taken, total=True)
    return None if full is None else full_groups.words(rooms, wanted, full, taken, full_groups.BATCH)


def never_fits(settings: Settings, names: Iterable[str]) -> bool:
    """Whether some group lets fewer be out than these, whoever else is."""
    wanted = set(names)
    return any(len(wanted.intersection(group.members)) > group.limit for group in settings.capacity)


def involved(settings: Settings, names: set[str]) -> set[str]:
    """With these VMs all members of their groups, and of the groups of those: whether one may go depends on the others."""
    found, left = set(names), list(settings.capacity)
    while touched := [group for group in left if not found.isdisjoint(group.members)]:
        left = [group for group in left if group not in touched]
        for group in touched:
            found.update(group.members)
    return found


def shown(rooms: Rooms) -> list[dict[str, Any]]:
    """The groups as the plan returns them: who is out now, and why."""
    return [
        {
            "name": group.name,
            "members": list(group.members),
            "max_unavailable": group.limit if group.said else None,
            "keep": [one.source for one in group.keep],
            "out": {member: rooms.out[member] for member in group.members if member in rooms.out},
            "missing": [member for member in group.members if member in rooms.missing],
            "held": full_groups.unusable(rooms, group, ()),
            "disputed": dict(rooms.disputed.get(group, {})),
        }
        for group in rooms.groups
    ]


# --- Who is out ----------------------------------------------------------------------------------------------------------


def _open(groups: tuple[Group, ...], cases: Iterable[Case], observed: Iterable[Host]) -> Rooms:
    of: dict[str, list[Group]] = {}
    for group in groups:
        for member in group.members:
            of.setdefault(member, []).append(group)
    hosts = {host.name: host for host in observed if host.name in of}
    missing = frozenset(of.keys() - hosts.keys())
    out: dict[str, str] = {}
    firmly: set[str] = set()
    for case in cases:
        for part in case.parts:
            if part.host.name in of and part.ok and _is_out(part):
                out.setdefault(part.host.name, f"{part.phase} for {case.event.event_id}")
                if _is_firmly_out(part):
                    firmly.add(part.host.name)
    for case in cases:
        for part in case.hit:
            why = _why_hit(case, part) if part.host.name in of and not part.over else None
            if why:
                out.setdefault(part.host.name, why)
    # What an event took out is not in service, and perhaps not read either; when the event is over it comes back.
    stuck = {name: why for name in of if name not in out and (why := _why_stuck(hosts.get(name)))}
    short = frozenset([group for name in missing for group in of[name]] + [group for group in groups if group.size not in (None, len(group.members))])
    return Rooms(groups, of, missing, short, {**out, **stuck}, stuck, hosts=hosts, serving=frozenset(out.keys() - firmly))


def _see_claims(rooms: Rooms, board: Board) -> None:
    """Everybody's claims count, those also whose time limit has passed: their run may be only slow, until they are removed."""
    for name, claims in board.others.items():
        if name in rooms.of:
            rooms.claimed[name] = f"claimed by {claims[0].words}"
        for claim in claims:
            for group in rooms.groups if not claim.expired else ():
                if claim.groups.get(group.name, group.hash) != group.hash:
                    rooms.disputed.setdefault(group, {}).setdefault(name, claim.words)


def _is_out(part: Part) -> bool:
    """A VM that approves for others writes that down as well, and goes on serving: what it names counts, and what is changed."""
    return part.record is not None and (part.record.needs_undo or (part.named and is_out(part.record)))


def _is_firmly_out(part: Part) -> bool:
    """Whether it does not serve now. After its event, a boot or a failed drain, and in an event that needs no drain, it may."""
    record, serves = part.record, part.host.look.in_service if part.host.look else None
    if serves is not None:
        return not serves
    return record is not None and (record.phase in ("draining", "drained") or (record.phase in ("approved", "started") and record.needs_undo))


def _why_stuck(host: Host | None) -> str | None:
    if host is None:
        return "not in this run"
    if host.state == "retired":
        return None
    if host.look is None:
        return "left alone, so not read" if host.state == "excluded" else "not read"
    if host.look.in_service is False:
        return "not in service"
    # Its upgrade was cut off, and no health check says that it serves all the same.
    begun = next((name for name, state in host.look.marks.items() if state != "done"), None)
    return f"in the middle of upgrade {begun!r}" if begun is not None and host.look.in_service is None else None


def _why_hit(case: Case, part: Part) -> str | None:
    """Why a VM is out for an event, whatever the phase of its record."""
    if part.started and (part.rule.drain or part.approved):
        return f"hit by {case.event.event_id}, which has started"
    if part.approved:
        return f"{case.event.event_id} was approved"
    return f"{case.event.event_id} is being approved" if part.intended else None


def is_out(record: Record) -> bool:
    """Recorded as out: from the beginning of a drain, or an approval, until recovered; and whatever is still changed."""
    return record.phase in OUT_PHASES or record.needs_undo or (record.approving_at is not None and record.phase != "recovered")


# --- Who wants to go out -------------------------------------------------------------------------------------------------


class Unit(NamedTuple):
    """VMs of an event that go out together: all that it names. Where they contradict each other each goes by itself."""

    case: Case
    parts: list[Part]


def _units(case: Case) -> list[Unit]:
    return [Unit(case, [part]) for part in case.hit] if case.divided else [Unit(case, case.hit)]


def _wants(rooms: Rooms, unit: Unit) -> bool:
    return bool(_needs(rooms, unit)) and (_begins(unit) or _approves(unit) or _beyond(unit))


def _needs(rooms: Rooms, unit: Unit) -> list[str]:
    """The members of groups among them."""
    return [part.host.name for part in unit.parts if part.host.name in rooms.of]


def _begins(unit: Unit) -> bool:
    return any(part.intent == "drain" for part in unit.parts)


def _approves(unit: Unit) -> bool:
    """Whether it would be approved without a drain of all its VMs. After a drain they are out already."""
    case = unit.case
    open_yet = case.listed and not case.started and not case.approved
    undrained = any(not part.decision.drain for part in unit.parts)
    return open_yet and undrained and case.decision.approve != "never" and not case.blockers


def _beyond(unit: Unit) -> bool:
    """Whether it drained at its deadline although there was no room."""
    return any(part.holds_changes and beyond_by_record(part) and not part.started and not part.approved for part in unit.parts)


def beyond_by_record(part: Part) -> bool:
    """Whether the record says so. It is kept with the rule, as all that was decided when the drain began."""
    return part.record is not None and plain_values.flag(part.record.rule.get("beyond_capacity")) is True


def _goes_anyway(part: Part, settings: Settings) -> bool:
    """An approval that was meant, and perhaps never sent, is no reason to overdraw a group: its event waits for room, or for its time.

    Nor is the word of another VM: what only others list drains within capacity, or not at all.
    """
    comes = part.started or part.approved or deadlines.out_of_time(part, settings)
    return part.intent == "drain" and comes and not part.presumed and part.decision.hold_at_deadline == "drain"


def _told_to_go(unit: Unit) -> bool:
    """Whether a person said that it is approved, and nothing else holds it: then capacity does not either."""
    return overrides.says_approve(unit.case.word) and _approves(unit)


def _under_way(unit: Unit) -> bool:
    return any(part.record is not None and is_out(part.record) and not part.over for part in unit.parts)


def _turn(unit: Unit, settings: Settings, now: float) -> tuple[bool, bool, float, str]:
    """What has no time is served by when it was noticed, so that it is not passed for ever."""
    # The latest of what its VMs say: none of them can bring the others forward.
    moment = max((part.event.not_before for part in unit.parts if part.event.not_before is not None), default=None)
    if moment is None:
        noticed = [part.record.history[0][1] for part in unit.parts if part.record and part.record.history]
        moment = min(noticed, default=now)
    goes = any(_goes_anyway(part, settings) for part in unit.parts) or _told_to_go(unit)
    return not goes, not _under_way(unit), moment, unit.case.key


# --- One event after the other -------------------------------------------------------------------------------------------


def _serve(rooms: Rooms, unit: Unit, taken: Tally, stuck: Tally, board: Board) -> None:
    settings, case = board.settings, unit.case
    names = _needs(rooms, unit)
    _unsure(rooms, unit, taken, settings)
    begins = _begins(unit)
    full = None if _told_to_go(unit) else _full(rooms, names, taken, total=_beyond(unit) and not begins)
    event_id = case.event.event_id
    if full is None:
        taken.add(names, f"{event_id} takes it now")
        return
    case.full = full_groups.words(rooms, names, full, taken)
    anyway = [part for part in unit.parts if _goes_anyway(part, settings)]
    if anyway:
        case.full += "; its time has come, so it drains all the same and is not approved"
        for part in anyway:
            part.beyond_capacity = True
        taken.add([part.host.name for part in anyway if part.host.name in rooms.of], f"{event_id} takes it at its deadline")
        _hold(unit, full, board)
    elif begins or _approves(unit):
        # Only what has a chance once the events under way are over may keep others waiting.
        if _full(rooms, names, stuck, total=False) is None:
            taken.add(names, f"kept for {event_id}, which is older")
        _hold(unit, full, board)
    else:
        case.waits_for = f"waits for room in capacity group {full.name!r} to be approved, or for Azure to start it"


def _unsure(rooms: Rooms, unit: Unit, taken: Tally, settings: Settings) -> None:
    """A run may have lost its claim right after it wrote that it begins, and have stopped there, while another took the room.

    Whether the drain has acted, or is about to, nobody can say. So it goes on counting as out, is not put back (its room would
    be given away), and goes on when there is room, or at its deadline.
    """
    if _told_to_go(unit):
        return
    for part in unit.parts:
        if _goes_anyway(part, settings) or part.coming:
            continue
        if part.intent == "drain" and part.phase == "draining" and _only_found(part):
            group = _full(rooms, _of_one(rooms, part), taken, total=True)
            if group is not None:
                part.intent, part.hold = "stay", f"capacity group {group.name!r} has no room"
                part.wait = ROOM_CHECK


def _only_found(part: Part) -> bool:
    return part.record is not None and all(method.state in ("found", "undone") for method in part.record.methods)


def _of_one(rooms: Rooms, part: Part) -> list[str]:
    return [part.host.name] if part.host.name in rooms.of else []


def _full(rooms: Rooms, names: Sequence[str], out: Tally, *, total: bool) -> Group | None:
    """The first group that would have too many out. An event whose VMs are all out already puts no more out."""
    for group in dict.fromkeys(group for name in names for group in rooms.of[name]):
        wanted = full_groups.members(rooms, names, group)
        more = any(name not in rooms.out or name in rooms.serving for name in wanted)
        together = out.counts[group] + sum(1 for name in wanted if name not in out.why)
        disputed = full_groups.dispute(rooms, group, names) is not None
        if (more or total) and (together > group.limit or group in rooms.short or disputed or full_groups.unkept(rooms, group, wanted, out)):
            return group
    return None


def _hold(unit: Unit, group: Group, board: Board) -> None:
    """Hold new drains. What was begun goes on: it is out already."""
    settings, case = board.settings, unit.case
    # Two runs that gave way to each other must not come back at the same moment.
    check = leases.pause(settings, board.now) if board.others else ROOM_CHECK
    left = min((found for part in unit.parts if (found := deadlines.latest(part, settings)) is not None), default=None)
    comes = case.decision.hold_at_deadline == "let_it_come" and case.decision.drain
    case.waits_for = f"waits for room in capacity group {group.name!r}"
    if case.decision.drain and not comes and left is not None:
        case.waits_for += f"; drains all the same in {timestamps.duration(left)}"
    elif case.left is not None:
        case.waits_for += f"; else Azure starts it{' undrained' if comes else ''} in {timestamps.duration(case.left)}"
    for part in unit.parts:
        begun = part.record is not None and is_out(part.record)
        if not part.ok or begun or part.beyond_capacity or part.intent not in ("drain", "none"):
            continue
        last = deadlines.latest(part, settings)
        part.intent = "none"
        # Who is out changes from look to look; what is written to the record does not.
        part.hold = part.hold or f"capacity group {group.name!r} has no room"
        part.reason = case.full
        part.wait = check if last is None or last <= 0 else min(check, last)
