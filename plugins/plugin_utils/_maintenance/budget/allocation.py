# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The allocation of places in the disruption budget. No drain and no approval starts that makes more VMs unavailable than a group allows.

Events that continue in any case are counted first, then those under way, then new events by their time. An event gets places for
all its VMs or for none. Held events are served first in, first out: a younger event does not pass an older one.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ....module_utils._scheduled_events.core.printable_text import printable
from ..._core import plain_values
from ..config import capacity_groups
from ..config.capacity_groups import Group
from ..config.settings import Settings
from ..core import timestamps
from ..core.blocker import Blocker, Kind
from ..core.model import Host, Observation, Record
from ..decide import deadlines, leases
from ..decide.leases import Leases
from ..state import overrides
from ..state.event_state import EventState, with_participants
from ..state.participant import Participant
from . import budget as budgets
from . import cluster_order
from .budget import Budget, Tally

OUT_PHASES = ("draining", "drained", "approved", "started", "gone", "recovering")
# The notice that Azure gives of most events (fact 72): with less than so many seconds none can be held.
USUAL_NOTICE = 900.0
# The key of a rule in a record: whether a VM that drained beyond capacity was out of service before, by its health check.
WAS_OUT = "was_out"
# Characters of what a health check says, in a sentence about several.
LONGEST_CHECK = 160
# While an event waits for room, the members of its groups are observed this often, in seconds.
ROOM_CHECK = 15.0


def arrange(event_states: Sequence[EventState], hosts: Iterable[Host], board: Leases, settings: Settings, now: float) -> tuple[list[EventState], Budget]:
    """Hold the events that do not fit. This comes before the undo order: a VM is not kept drained for an event that is held."""
    if not settings.capacity:
        return cluster_order.one_at_a_time(event_states, ()), Budget()
    budget = _open(settings.capacity, event_states, hosts, now)
    _count_leases(budget, board)
    taken, stuck = Tally(budget.of, {**budget.leased, **budget.out}), Tally(budget.of, budget.stuck)
    units = [unit for event_state in event_states if event_state.ours for unit in _units(event_state) if _wants(budget, unit)]
    served = {event_state.key: event_state for event_state in event_states}
    for unit in sorted(units, key=lambda one: _priority(one, settings, now)):
        key = unit.event_state.key
        # Units of one event have different participants; the event waits for whatever its last unit waits for.
        after = _allocate(budget, unit._replace(event_state=served[key]), taken, stuck, board)
        served[key] = with_participants(after.event_state, after.participants)
    budget.taken = taken.why
    # What VMs that are drained alike are allowed goes by what they list themselves.
    grouped = {name for name, groups in budget.of.items() if not all(group.alike for group in groups)}
    return cluster_order.one_at_a_time(served.values(), grouped), budget


def no_room(budget: Budget, names: Iterable[str], coming: Mapping[str, str]) -> str | None:
    """Return why these VMs cannot be taken beside all that events need now or soon, or None if there is room."""
    wanted = [name for name in names if name in budget.of]
    taken = Tally(budget.of, {**budget.taken, **{name: why for name, why in coming.items() if name in budget.of and name not in budget.taken}})
    full = _full(budget, wanted, taken, total=True, has_waited=False)
    return None if full is None else budgets.text(budget, wanted, full, taken, budgets.BATCH)


def never_fits(settings: Settings, names: Iterable[str]) -> bool:
    """Return whether a group never allows so many unavailable VMs."""
    wanted = set(names)
    return any(len(wanted.intersection(group.members)) > group.limit for group in settings.capacity)


def involved(settings: Settings, names: set[str]) -> set[str]:
    """Return these VMs with all members of their groups, and of the groups of those members, on which their places depend."""
    found, left = set(names), list(settings.capacity)
    while touched := [group for group in left if not found.isdisjoint(group.members)]:
        left = [group for group in left if group not in touched]
        for group in touched:
            found.update(group.members)
    return found


def shown(budget: Budget, settings: Settings) -> list[dict[str, Any]]:
    """Return the groups as the plan shows them: which members are unavailable now, and why."""
    out = {**budget.out, **budget.latest}
    return [
        {
            "name": group.name,
            "members": list(group.members),
            "alike": group.alike,
            "max_unavailable": group.limit if group.configured or group.alike else None,
            "keep": [one.source for one in group.keep],
            "out": {member: why for member in group.members if (why := out.get(member))},
            "missing": [member for member in group.members if member in budget.missing],
            "held": budgets.unusable(budget, group, ()),
            "disputed": dict(budget.disputed.get(group, {})),
            "doubted": budgets.doubt(budget, group),
            "holds_nothing": _holds_nothing(budget, group, settings),
        }
        for group in budget.groups
        # A fleet may have a cluster for every few VMs.
        if not capacity_groups.is_cluster(group) or not out.keys().isdisjoint(group.members) or group in budget.short or group in budget.disputed
    ]


def _holds_nothing(budget: Budget, group: Group, settings: Settings) -> str | None:
    """Return why a group can hold no event of the usual notice, or None: its VMs would be at their deadline when it is first observed."""
    share, host = max(((deadlines.drain_share(budget.hosts[name], settings), name) for name in group.members if name in budget.hosts), default=(0.0, ""))
    needed = share + settings.margin + settings.pass_interval
    if needed <= USUAL_NOTICE:
        return None
    whose = f" of {host}" if share > deadlines.LEAST_DRAIN else ""
    parts = f"{share:.0f} s for a drain{whose}, {settings.margin:.0f} s and {settings.pass_interval:.0f} s between passes"
    option = "respond_pass_interval" if settings.pass_interval > share else "respond_drain_seconds"
    return f"{parts} are more than {timestamps.duration(USUAL_NOTICE)}: {budgets.named(group)} hold{'' if group.alike else 's'} no such event; set {option}"


# --- Unavailable members ----------------------------------------------------------------------------------------------------------


def _open(groups: tuple[Group, ...], event_states: Sequence[EventState], observed: Iterable[Host], now: float) -> Budget:
    of: dict[str, list[Group]] = {}
    for group in groups:
        for member in group.members:
            of.setdefault(member, []).append(group)
    hosts = {host.name: host for host in observed if host.name in of}
    missing = frozenset(of.keys() - hosts.keys())
    out: dict[str, str] = {}
    firmly: set[str] = set()
    for event_state in event_states:
        for participant in event_state.participants:
            if participant.host.name in of and participant.ok and _is_out(participant):
                out.setdefault(participant.host.name, f"{participant.phase} for {event_state.event.event_id}")
                if _is_firmly_out(participant):
                    firmly.add(participant.host.name)
    for event_state in event_states:
        for participant in event_state.hit:
            why = _why_hit(event_state, participant) if participant.host.name in of and not participant.over else None
            if why:
                out.setdefault(participant.host.name, why)
    # A VM that an event made unavailable is not in service, and perhaps not read either; it returns when the event is over.
    stuck = {name: why for name in of if name not in out and (why := _why_stuck(hosts.get(name)))}
    unread = frozenset(name for name in stuck if name not in hosts or hosts[name].observation is None)
    few = [group for name in missing for group in of[name]] + [group for group in groups if group.size not in (None, len(group.members))]
    short = frozenset(group for group in few if not group.alike)
    unexplained = _unexplained(hosts, event_states)
    return Budget(
        groups,
        of,
        missing,
        short,
        unread,
        {**out, **stuck},
        stuck,
        latest=_latest(hosts.values(), event_states, now),
        hosts=hosts,
        serving=frozenset(out.keys() - firmly),
        unexplained=unexplained,
        doubted={group: found for group in groups if (found := budgets.doubted(group, unexplained))},
    )


def _latest(hosts: Iterable[Host], event_states: Iterable[EventState], now: float) -> dict[str, str | None]:
    """Return why each VM that is not observed again in this pass was unavailable when it was observed, and how long ago that was."""
    left = {host.name: host.latest for host in hosts if host.state == "resting" and host.latest is not None}
    why = {name: _why_not_serving(observation) for name, observation in left.items()}
    for event_state in event_states:
        for participant in event_state.participants:
            if participant.host.name in left and _is_out(participant):
                why[participant.host.name] = f"{participant.phase} for {event_state.event.event_id}"
    seen = {name: now if observation.answered_at is None else observation.answered_at for name, observation in left.items()}
    return {name: text and f"{text}, {timestamps.duration(now - seen[name])} ago" for name, text in why.items()}


def _count_leases(budget: Budget, board: Leases) -> None:
    """Count the leases of all runs, expired ones too: until they are removed, their run may only be slow."""
    for name, of_others in board.others.items():
        if name in budget.of:
            budget.leased[name] = f"leased by {of_others[0].text}"
        for lease in of_others:
            for group in budget.groups if not lease.expired else ():
                if not group.alike and lease.groups.get(group.name, group.hash) != group.hash:
                    budget.disputed.setdefault(group, {}).setdefault(name, lease.text)


def _is_out(participant: Participant) -> bool:
    """Return whether the VM is unavailable. A VM that approves for others has a record and serves: it counts only if named, or changed."""
    return participant.record is not None and (participant.record.needs_undo or (participant.named and is_out(participant.record)))


def _is_firmly_out(participant: Participant) -> bool:
    """Return whether the VM certainly does not serve. After its event, a boot or a failed drain, or in an event without a drain, it may."""
    record, serves = participant.record, participant.host.observation.in_service if participant.host.observation else None
    if serves is not None:
        return not serves
    return record is not None and (record.phase in ("draining", "drained") or (record.phase in ("approved", "started") and record.needs_undo))


def _why_stuck(host: Host | None) -> str | None:
    if host is None:
        return "not in this run"
    if host.state == "retired":
        return None
    if host.observation is None:
        return {"excluded": "left alone, so not read", "resting": "not observed again in this run"}.get(host.state, "not read")
    return _why_not_serving(host.observation)


def _why_not_serving(observation: Observation) -> str | None:
    if observation.in_service is False:
        return "not in service"
    # Its upgrade was interrupted, and no health check shows that it serves.
    begun = next((name for name, state in observation.marks.items() if state != "done"), None)
    return f"in the middle of upgrade {begun!r}" if begun is not None and observation.in_service is None else None


def _unexplained(hosts: Mapping[str, Host], event_states: Iterable[EventState]) -> dict[str, str]:
    """Return the VMs that their health checks alone have out of service, with what the checks say."""
    explained = {participant.host.name for event_state in event_states for participant in event_state.participants if _explains(event_state, participant)}
    return {name: said for name, host in hosts.items() if name not in explained and (said := _check_says(host.observation))}


def _explains(event_state: EventState, participant: Participant) -> bool:
    """Return whether an event explains why a VM is out of service: not one for which it was drained at its deadline, and was out of service before."""
    is_hit = participant.named and not participant.over and _why_hit(event_state, participant) is not None
    return (is_hit or (participant.ok and _is_out(participant))) and not _is_marked(participant, WAS_OUT)


def _check_says(observation: Observation | None) -> str | None:
    """Return what the health check of a VM says that has it out of service, while no upgrade is under way on it; or None."""
    if observation is None or observation.in_service is not False or any(state != "done" for state in observation.marks.values()):
        return None
    return printable(observation.in_service_why or "no reason given", LONGEST_CHECK)


def _why_hit(event_state: EventState, participant: Participant) -> str | None:
    """Return why a VM is unavailable for an event, whatever the phase of its record; or None."""
    if participant.started and (participant.rule.drain or participant.approved):
        return f"hit by {event_state.event.event_id}, which has started"
    if participant.approved:
        return f"{event_state.event.event_id} was approved"
    return f"{event_state.event.event_id} is being approved" if participant.intended else None


def is_out(record: Record) -> bool:
    """Return whether a record counts its VM as unavailable: from the begin of a drain or an approval until recovered, and while changes remain.

    A drain that waits has changed nothing: in a place that it took, the VM that it waits for could not be drained and cured.
    """
    in_phase = record.phase in OUT_PHASES and not record.waits
    return in_phase or record.needs_undo or (record.approving_at is not None and record.phase != "recovered")


# --- Requests for a place -------------------------------------------------------------------------------------------------


class Unit(NamedTuple):
    """The VMs of an event that are allocated together: all that it names. If their documents contradict each other, each VM is a unit.

    So is each VM whose drain waits for others to serve: it takes a place only when all others have theirs.
    """

    event_state: EventState
    participants: list[Participant]


def _units(event_state: EventState) -> list[Unit]:
    together = [] if event_state.divided else [participant for participant in event_state.hit if not participant.waits]
    alone = [participant for participant in event_state.hit if event_state.divided or participant.waits]
    return [Unit(event_state, participants) for participants in (together, *([one] for one in alone)) if participants]


def _wants(budget: Budget, unit: Unit) -> bool:
    return bool(_needs(budget, unit)) and (_begins(unit) or _approves(unit) or _beyond(unit))


def _needs(budget: Budget, unit: Unit) -> list[str]:
    """Return the VMs of a unit that are members of a capacity group."""
    return [participant.host.name for participant in unit.participants if participant.host.name in budget.of]


def _begins(unit: Unit) -> bool:
    return any(participant.intent == "drain" for participant in unit.participants)


def _approves(unit: Unit) -> bool:
    """Return whether the unit would be approved without a drain of all its VMs. After a drain they are unavailable already."""
    event_state = unit.event_state
    open_yet = event_state.listed and not event_state.started and not event_state.approved
    undrained = any(not participant.decision.drain for participant in unit.participants)
    return open_yet and undrained and event_state.decision.approve != "never" and not event_state.blockers


def _beyond(unit: Unit) -> bool:
    """Return whether the unit drained at its deadline without room."""
    return any(
        participant.holds_changes and beyond_by_record(participant) and not participant.started and not participant.approved
        for participant in unit.participants
    )


def beyond_by_record(participant: Participant) -> bool:
    """Return whether the record has the drain as beyond capacity. The record keeps that with the rule, as decided when the drain began."""
    return _is_marked(participant, "beyond_capacity")


def was_out(participant: Participant) -> bool:
    """Return whether its health check had a VM out of service before its drain changed anything; the record of a drain beyond capacity keeps that, too.

    Such a record does not explain why the VM is out: else the drains at their deadlines would let those of all other VMs go, and be approved.
    """
    if participant.holds_changes:
        return _is_marked(participant, WAS_OUT)
    return participant.host.observation is not None and participant.host.observation.in_service is False


def _is_marked(participant: Participant, mark: str) -> bool:
    return participant.record is not None and plain_values.flag(participant.record.rule.get(mark)) is True


def _goes_anyway(participant: Participant, settings: Settings, full: Group | None = None) -> bool:
    """Return whether a drain begins at its deadline without room, in the group that is full.

    An approval that is only announced in the record is no reason to exceed a budget: its event waits for room, or for its time.
    An event that only other VMs list drains within capacity, or not at all. What no operator has asked for lets no VM be hit undrained.
    """
    goes = deadlines.goes_alone(participant, settings, comes=participant.started or participant.approved)
    let_it_come = participant.decision.hold_at_deadline != "drain" and (full is None or not full.alike)
    return participant.intent == "drain" and goes and not participant.presumed and not let_it_come


def _is_approved_by_operator(unit: Unit) -> bool:
    """Return whether an override approves the event and nothing else blocks it: then capacity does not block it either."""
    return overrides.is_approval(unit.event_state.override) and _approves(unit)


def _under_way(unit: Unit) -> bool:
    return any(participant.record is not None and is_out(participant.record) and not participant.over for participant in unit.participants)


def _priority(unit: Unit, settings: Settings, now: float) -> tuple[bool, bool, bool, float, str]:
    """Return the sort key of a unit. A unit without a time is served by when it was noticed, so that it does not wait for ever."""
    # The latest time of its VMs: none of them can bring the others forward.
    moment = max((participant.event.not_before for participant in unit.participants if participant.event.not_before is not None), default=None)
    if moment is None:
        noticed = [participant.record.history[0][1] for participant in unit.participants if participant.record and participant.record.history]
        moment = min(noticed, default=now)
    goes = any(_goes_anyway(participant, settings) for participant in unit.participants) or _is_approved_by_operator(unit)
    return not goes, not _under_way(unit), any(participant.waits for participant in unit.participants), moment, unit.event_state.key


# --- One event after the other -------------------------------------------------------------------------------------------


def _allocate(budget: Budget, unit: Unit, taken: Tally, stuck: Tally, board: Leases) -> Unit:
    """Return the unit with its place in the budget taken, or with the reason why it waits."""
    settings = board.settings
    names = _needs(budget, unit)
    unit = _unsure(budget, unit, taken, settings)
    begins = _begins(unit)
    has_waited = _has_waited(unit, settings)
    full = None if _is_approved_by_operator(unit) else _full(budget, names, taken, total=_beyond(unit) and not begins, has_waited=has_waited)
    event_id = unit.event_state.event.event_id
    if full is None:
        taken.add(names, f"{event_id} takes it now")
        return unit
    room = _no_room(full, budgets.text(budget, names, full, taken))
    if anyway := [participant.host.name for participant in unit.participants if _goes_anyway(participant, settings, full)]:
        room = replace(room, detail=f"{room.detail}; the deadline has passed, so it drains without room and is not approved")
    if full in budget.doubted:
        room = replace(room, way_out=f"correct respond_health, or {room.way_out}")
        unit = _failing(unit, room)
    if anyway:
        taken.add([name for name in anyway if name in budget.of], f"{event_id} takes it at its deadline")
        return _hold(_beyond_capacity(unit, anyway), full, room, board)
    if begins or _approves(unit):
        _meet(budget, unit, names, full, taken, board)
        # Only a unit that fits once the events under way are over may keep others waiting.
        if _full(budget, names, stuck, total=False, has_waited=has_waited) is None:
            taken.add(names, f"kept for {event_id}, which is older")
        return _hold(unit, full, room, board)
    return unit._replace(event_state=unit.event_state.with_blocker(replace(room, way_out=f"{room.way_out} to be approved, or for Azure to start it")))


def _meet(budget: Budget, unit: Unit, names: Sequence[str], group: Group, taken: Tally, board: Leases) -> None:
    """Decide who releases where only the leases of other runs take the room."""
    certain = Tally(budget.of, {name: why for name, why in taken.why.items() if name in budget.out or name not in budget.leased})
    if _full(budget, names, certain, total=True, has_waited=False) is None:
        leases.meet(board, unit.event_state.event.event_id, [one.host.name for one in unit.participants], group.members)


def _no_room(group: Group, detail: str = "") -> Blocker:
    """Return the blocker of a group without room. The unavailable VMs change from one observation to the next; the reason in the record does not."""
    kind: Kind = "cluster" if capacity_groups.is_cluster(group) else "capacity"
    text = f"too many {budgets.named(group)} are out" if group.alike else f"{budgets.named(group)} has no room"
    return Blocker(kind, text, (group.name,), detail=detail, way_out=f"wait for room in {budgets.place(group)}")


def _failing(unit: Unit, room: Blocker) -> Unit:
    """Let the run fail for an event that waits because of what health checks say: a wrong one is an operator's to mend."""
    failed = replace(room, kind="failed", text=room.detail)
    return unit._replace(participants=[one if one.coming or one.failed else replace(one, failed=failed) for one in unit.participants])


def _has_waited(unit: Unit, settings: Settings) -> bool:
    """Return whether the event has waited so long that VMs which are not read keep it waiting no longer, by the clock of each of its VMs."""
    noticed = [(one.observed_at, one.record.history[0][1]) for one in unit.participants if one.record and one.record.history]
    return bool(noticed) and all(now - at > settings.recover_seconds for now, at in noticed)


def _beyond_capacity(unit: Unit, anyway: Container[str]) -> Unit:
    """Mark the participants that drain at their deadline without room."""
    return unit._replace(participants=[replace(one, beyond_capacity=True) if one.host.name in anyway else one for one in unit.participants])


def _unsure(budget: Budget, unit: Unit, taken: Tally, settings: Settings) -> Unit:
    """Keep drained the VMs whose drain may have begun.

    A run may have lost its lease right after it wrote that its drain begins, and have stopped there, while another run took the
    room. Whether the drain has acted, or is about to, is not known. So the VM stays counted as unavailable, is not undone (another
    event would take its room), and its drain continues when there is room, or at its deadline.
    """
    if _is_approved_by_operator(unit):
        return unit
    return unit._replace(participants=[_unsure_one(budget, participant, taken, settings) for participant in unit.participants])


def _unsure_one(budget: Budget, participant: Participant, taken: Tally, settings: Settings) -> Participant:
    if _goes_anyway(participant, settings) or participant.coming:
        return participant
    if participant.intent != "drain" or participant.phase != "draining" or participant.waits or not _only_found(participant):
        return participant
    name = participant.host.name
    group = _full(budget, [name] if name in budget.of else [], taken, total=True, has_waited=False)
    if group is None:
        return participant
    return replace(participant, intent="stay", blocker=replace(_no_room(group), wait=ROOM_CHECK), wait=ROOM_CHECK)


def _only_found(participant: Participant) -> bool:
    return participant.record is not None and all(method.state in ("found", "undone") for method in participant.record.methods)


def _full(budget: Budget, names: Sequence[str], out: Tally, *, total: bool, has_waited: bool) -> Group | None:
    """Return the first group that would have too many unavailable members. An event whose VMs are all unavailable already adds none.

    That does not hold for VMs that only their health checks have out of service, where they are more than the group allows: the checks may be wrong.
    """
    for group in dict.fromkeys(group for name in names for group in budget.of[name]):
        wanted = budgets.members(budget, names, group)
        more = any(name not in budget.out or name in budget.serving for name in wanted)
        if group in budget.doubted and not budget.unexplained.keys().isdisjoint(wanted):
            return group
        unsure = group in budget.short or budgets.dispute(budget, group, names) is not None
        if (more or total) and (unsure or budgets.is_full(budget, group, wanted, out, has_waited=has_waited)):
            return group
    return None


def _hold(unit: Unit, group: Group, room: Blocker, board: Leases) -> Unit:
    """Hold new drains; running ones continue, since their VMs are unavailable already."""
    settings = board.settings
    # Two runs that backed off from each other must not return at the same moment.
    check = leases.pause(settings, board.now) if board.others else ROOM_CHECK
    event_state = unit.event_state.with_blocker(replace(room, way_out=_wait_for_room(unit, group, room.way_out, settings)))
    return Unit(event_state, [_hold_one(participant, room, check, settings) for participant in unit.participants])


def _wait_for_room(unit: Unit, group: Group, text: str, settings: Settings) -> str:
    event_state = unit.event_state
    left = min((found for participant in unit.participants if (found := deadlines.latest_held(participant, settings)) is not None), default=None)
    comes = event_state.decision.hold_at_deadline == "let_it_come" and event_state.decision.drain and not group.alike
    if event_state.decision.drain and not comes and left is not None:
        return f"{text}, or drain without it {f'in {timestamps.duration(left)}' if left > 0 else 'now'}"
    if event_state.left is not None:
        return f"{text}; otherwise Azure starts it{' undrained' if comes else ''} in {timestamps.duration(event_state.left)}"
    return text


def _hold_one(participant: Participant, room: Blocker, check: float, settings: Settings) -> Participant:
    begun = participant.record is not None and is_out(participant.record)
    if not participant.ok or begun or participant.beyond_capacity or participant.intent not in ("drain", "none"):
        return participant
    last = deadlines.latest_held(participant, settings)
    wait = check if last is None or last <= 0 else min(check, last)
    return replace(participant, intent="none", blocker=participant.hold or replace(room, wait=wait), reason=room.detail, wait=wait)
