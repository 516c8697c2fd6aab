# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The plan: from the observed state, the next actions for every VM and event. A pure function, and the only place that decides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ...module_utils._scheduled_events.core.printable_text import printable
from ...module_utils._scheduled_events.core.types import Data
from .._core.shares import few_of_each
from .._core.short_forms import grouped
from .._core.wrong_input import WrongInput
from .act import method_actions, notifications, record_writes, replicas, stages
from .budget import allocation, cluster_order
from .budget.budget import Budget
from .config import policy as policies
from .config import settings as settings_module
from .config.settings import Settings
from .core import timestamps
from .core.actions import Action, Approve, serialise
from .core.model import Host
from .decide import approval, approval_blockers, intents, leases, requeue, start_holds, undo_order, unread
from .observe.directory import Directory
from .observe.reading import read_observations
from .report import messages, printable_plan, summaries
from .state import overrides
from .state.event_state import EventState, build_event_state
from .state.observed_event import collect

# Characters of a reason in the sentence with which a run fails.
LONGEST_REASON = 300
# Notices about events of one VM in a pass: eight targets are told of all phases of a few.
MOST_NOTICES = 200
# VMs that are named in one line.
SHOWN = 5
# Characters of the id of an event, which is a GUID.
WHOLE_ID = 36
# All VMs of a group, perhaps hundreds, list its events; a few of them are enough.
WITNESSES = 3


def make_plan(observations: Any, policy: Any = "default", settings: Any = None, now: Any = None) -> Data:
    """Make the whole plan, in plain lists and dictionaries."""
    chosen = settings_module.load(settings)
    observed_state = observe(observations, policy, chosen, now)
    hosts, moment = observed_state.hosts, observed_state.now
    decided = decide(observed_state.event_states, hosts, chosen, moment)
    event_states = decided.event_states
    phases = {event_state.key: messages.phase(event_state) for event_state in event_states}
    keepers = replicas.Keepers(event_states, hosts, chosen)
    every = [notice for one in event_states for notice in notifications.notices(one, phases[one.key], chosen)]
    untold = few_of_each(every, lambda notice: [notice.host], MOST_NOTICES)[0]
    told = [write for one in event_states for write in notifications.delivered(one, chosen)]
    actions = stages.this_iteration([*_actions(event_states, hosts, decided, phases, chosen, moment, keepers), *told])
    waiting = requeue.decide(event_states, hosts, actions, chosen, decided.board.meets_in)
    event_states = sorted(event_states, key=lambda event_state: _place(event_state, phases[event_state.key]))
    observed_state = replace(observed_state, event_states=event_states)
    summary = summaries.summary(hosts, event_states, chosen, moment)
    failed, not_answered = _failed(event_states), unread.failure(hosts, chosen)
    unserved = [
        *(f"wrong settings on {text.rstrip('.')}" for text in summary["wrong_settings"]),
        *_beginnings_of_ids(event_states, chosen),
        *([not_answered] if not_answered else []),
    ]
    pause = chosen.paused if chosen.paused is not None and chosen.paused.holds(moment) else None
    found = {
        "paused": None if pause is None else {"who": pause.who, "why": pause.why, "until": pause.ends, "line": pause.line},
        "events": [summaries.entry(event_state, phases[event_state.key], moment) for event_state in event_states],
        "actions": [serialise(action) for action in actions],
        "notices": [one._asdict() for one in untold if one.key not in chosen.notified],
        "stages": stages.stages((action.host, action.name) for action in actions),
        "begins": decided.begins,
        "done": waiting.done,
        "requeue": {"seconds": waiting.seconds, "watch": waiting.watch, "why": waiting.why, "confirms_in": waiting.confirms_in, "meets_in": waiting.meets_in},
        "next_look_in": waiting.next_look_in,
        "differing": sorted({name for event_state in event_states if event_state.ours for name in event_state.differing}),
        "failed": failed,
        "not_back": _not_back(event_states),
        "hosts": summaries.of_hosts(hosts),
        "summary": {
            **summary,
            "retired": [host.name for host in hosts if host.state == "retired"],
            "problems": summary["problems"] + _remarks(observed_state, decided.budget, phases, chosen),
        },
        "not_answered": not_answered,
        "unserved": unserved,
        "fails": [*_few_of_each(failed), *unserved, *unread.unusable(hosts)],
        "capacity": allocation.shown(decided.budget, chosen),
        "leases": leases.shown(hosts, chosen),
        "involved": _involved(event_states, hosts, actions, chosen, keepers, {one.host for one in untold}),
        "counts": summaries.counts(phases, actions, hosts, summary),
        "fingerprint": summaries.fingerprint(hosts, actions),
    }
    return printable_plan.screened(found)


@dataclass(frozen=True, slots=True)
class ObservedState:
    """All events and VMs, before anything is decided."""

    event_states: list[EventState]
    hosts: list[Host]
    now: float
    directory: Directory
    unknown_retired: tuple[str, ...] = ()
    """Names in respond_retired that occur nowhere else."""


def observe(observations: Any, policy: Any, settings: Settings, now: Any) -> ObservedState:
    """Return the observed state: all events and VMs of the observations."""
    moment = timestamps.parse(now)
    if moment is None:
        raise WrongInput(f"now must be a time such as 2026-11-21T20:00:00Z, not {now!r}")
    observed = replicas.with_restored(read_observations(observations))
    hosts = overrides.retire(observed, settings.retired)
    directory = Directory(hosts, settings.partial)
    rules = policies.load(policy)
    events = overrides.without_ended(collect(hosts), overrides.with_overrides(hosts, moment))
    # In an order that no VM chooses: else the first event would be the one that the first VM lists first.
    events.sort(key=lambda seen: seen.key)
    event_states = [build_event_state(seen, directory, rules, settings, moment) for seen in events]
    members = {name.lower() for group in settings.capacity for name in group.members}
    named = {name for event_state in event_states for name in event_state.event.names}
    unknown = overrides.unknown_retired(hosts[len(observed) :], named, members)
    return ObservedState(event_states, hosts, moment, directory, unknown)


@dataclass(frozen=True, slots=True)
class Decided:
    """The decisions for all participants together."""

    event_states: list[EventState]
    """The same events, each participant with its intent."""
    board: leases.Leases
    approvals: list[Approve]
    budget: Budget
    begins: list[str]
    """The ids of the events for which something begins that is not at its deadline."""


def decide(event_states: list[EventState], hosts: list[Host], settings: Settings, now: float) -> Decided:
    """Decide the intent of every participant, the leases to acquire and release, and the events to approve."""
    board = leases.read(hosts, settings, now)
    event_states, budget = allocate(event_states, hosts, board, settings, now)
    event_states = undo_order.arrange(event_states, settings)
    event_states, approvers = approval.ready(event_states, settings)
    event_states, approvers = leases.arrange(board, event_states, approvers, hosts)
    event_states = cluster_order.one_begins(event_states, settings)
    begins = start_holds.beginnings(event_states, approvers, settings)
    event_states, approvals = approval.actions(event_states, approvers, settings)
    return Decided(event_states, board, approvals, budget, begins)


def allocate(event_states: list[EventState], hosts: list[Host], board: leases.Leases, settings: Settings, now: float) -> tuple[list[EventState], Budget]:
    """Decide what each VM needs for its events by itself, then allocate the disruption budget."""
    served = []
    for event_state in event_states:
        if hold := start_holds.find(event_state, settings, now):
            event_state = replace(event_state, start_hold=hold)
        if found := approval_blockers.blockers(event_state, settings, now):
            event_state = replace(event_state, blockers=found)
        served.append(intents.decide(event_state, settings, now))
    return allocation.arrange(served, hosts, board, settings, now)


def _failed(event_states: list[EventState]) -> list[Data]:
    """Return the failures of VMs that fail the run."""
    return [
        {"event_id": event_state.event.event_id, "host": participant.host.name, "reason": f"{participant.host.name}: {participant.failed.text}"}
        for event_state in event_states
        for participant in event_state.participants
        if participant.failed and event_state.ours
    ]


def _not_back(event_states: list[EventState]) -> list[Data]:
    """Return the VMs that are out for an event of this run which is not over for them."""
    return [
        {"host": one.host.name, "event_id": event_state.event.event_id, "phase": one.record.phase}
        for event_state in event_states
        if requeue.is_alive(event_state)
        for one in event_state.participants
        if one.record is not None and not one.asleep and one.named and allocation.is_out(one.record)
    ]


def _few_of_each(failed: list[Data]) -> list[str]:
    """Return why the run fails, in few and short sentences for each VM: one VM's must not crowd out those of others."""
    of_host: dict[str, list[str]] = {}
    for item in failed:
        of_host.setdefault(item["host"], []).append(printable(item["reason"], LONGEST_REASON).rstrip("."))
    for host, reasons in of_host.items():
        left = len(reasons) - summaries.OF_ONE_VM
        of_host[host] = [*reasons[: summaries.OF_ONE_VM], *([f"{host}: {left} more"] if left > 0 else [])]
    # Each reason once.
    return grouped((host, dict.fromkeys(reason.removeprefix(f"{host}: ") for reason in reasons)) for host, reasons in of_host.items())


def _remarks(observed_state: ObservedState, budget: Budget, phases: dict[str, str], settings: Settings) -> list[str]:
    """Return what operators should know: contradictions between VMs, overrides that do not count, and retired VMs whose names may be misspelt."""
    event_states = observed_state.event_states
    confused = [
        *observed_state.directory.contested.values(),
        *(participant.contested for event_state in event_states for participant in event_state.participants if participant.contested),
    ]
    found = [f"{text}; events that name them are not approved" for text in dict.fromkeys(confused)]
    found += [
        f"{who}, at work on {name}, declares other members for capacity group {group.name!r}; give all runs the same list"
        for group, others in budget.disputed.items()
        for name, who in list(others.items())[:1]
    ]
    if settings.paused is not None and not settings.paused.holds(observed_state.now):
        found.append(f"respond_paused: the pause of {settings.paused.who} ended at {settings.paused.ends}, and nothing is paused; remove it")
    found += _few_of_each_vm(event_states)
    found += _beginnings_of_ids(event_states, settings)
    if observed_state.unknown_retired:
        names = ", ".join(observed_state.unknown_retired[:SHOWN]) + (" and others" if len(observed_state.unknown_retired) > SHOWN else "")
        found.append(f"respond_retired: {names}: no VM of this run, no member of a capacity group, and named by no event; correct the name, or remove it")
    for event_state in event_states:
        failed = notifications.remarks(event_state, phases[event_state.key], settings) if settings.notify else []
        found += [f"event {event_state.event.event_id}: {text}" for text in (*event_state.remarks, *failed)]
    return found


def _beginnings_of_ids(event_states: list[EventState], settings: Settings) -> list[str]:
    """Return which of respond_only_events are only the beginning of an event's id, and so select nothing."""
    return [
        f"respond_only_events: {given} is only the beginning of {event_state.event.event_id}; give the whole id"
        for given in settings.only_events
        for event_state in event_states
        # A whole id, of an event that is no longer listed, is the beginning of none that Azure makes.
        if len(given) < WHOLE_ID and event_state.key.startswith(given) and event_state.key != given
    ]


def _few_of_each_vm(event_states: list[EventState]) -> list[str]:
    """Return the manual work for operators, a few lines for each VM: one VM's records must not hide those of others."""
    said: dict[str, list[str]] = {}
    for event_state in event_states:
        for participant in event_state.participants:
            said.setdefault(participant.host.name, []).extend(summaries.left_by_hand(participant))
    return [line for lines in said.values() for line in lines[: summaries.OF_ONE_VM]]


def _actions(
    event_states: list[EventState], hosts: list[Host], decided: Decided, phases: dict[str, str], settings: Settings, now: float, keepers: replicas.Keepers
) -> list[Action]:
    """Return all actions: leases and records first, approvals before longer actions, notifications last, because they must not delay the others."""
    written: list[Action] = list(decided.board.actions)
    drains: list[Action] = []
    notices: list[Action] = []
    methods = method_actions.MethodActions(hosts, decided.board, settings, now)
    for event_state in event_states:
        if not event_state.ours:
            continue
        for participant in event_state.participants:
            if restored := replicas.restoring(participant):
                written.append(restored)
                continue
            if noted := record_writes.note(event_state, participant, settings):
                written.append(noted)
            if action := methods.of(event_state, participant):
                drains.append(keepers.add_to(event_state, participant, action))
        if settings.notify:
            notices += notifications.actions(event_state, phases[event_state.key], settings)
    return [*written, *decided.approvals, *drains, *keepers.actions(event_states), *notices, *record_writes.prune(hosts, settings)]


def _place(event_state: EventState, phase: str) -> tuple[bool, float, float, str]:
    """Return the sort key for operators: the oldest event first, then those that are over, the newest first."""
    if phase != "recovered":
        return (False, *_age(event_state))
    ended = max((at for one in event_state.participants if one.record and (at := one.record.last("recovered")) is not None), default=0.0)
    return True, -ended, 0.0, event_state.key


def _age(event_state: EventState) -> tuple[float, float, str]:
    """Return the sort key that puts the oldest event first: by when it was noticed, then by its time."""
    noticed = [participant.record.history[0][1] for participant in event_state.participants if participant.record and participant.record.history]
    infinite = float("inf")
    return min(noticed, default=infinite), event_state.event.not_before or infinite, event_state.key


def _involved(
    event_states: list[EventState], hosts: list[Host], actions: list[Action], settings: Settings, keepers: replicas.Keepers, told: set[str]
) -> list[str]:
    """Return the VMs to observe again in this pass, and some witnesses: an event that any of them lists is listed. C(told) keep what targets were told."""
    names = {action.host for action in actions} | told
    for event_state in event_states:
        if requeue.is_alive(event_state):
            names.update(participant.host.name for participant in event_state.participants)
            names.update(host.name for host in event_state.seen.listed_by[:WITNESSES])
            if event_state.named.unsure:
                names.update(host.name for host in hosts if host.unread)
    names.update(host.name for host in hosts if requeue.may_come_back(host))
    names.update(keepers.involved(event_state for event_state in event_states if requeue.is_alive(event_state)))
    names = allocation.involved(settings, names)
    return [host.name for host in hosts if host.name in names and host.state != "retired"]
