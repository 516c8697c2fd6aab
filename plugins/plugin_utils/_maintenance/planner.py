# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan: from what is, the next step for every VM and event. A pure function, and the only place that decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.act import notifications, record_writes, replicas, stages
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.budget import allocation
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config import policy as policies
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config import settings as settings_module
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import Settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Host
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import (
    approval,
    approval_blockers,
    deadlines,
    intents,
    leases,
    requeue,
    undo_order,
)
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.observe.directory import Directory
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.observe.reading import read_observations
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report import messages, printable_plan, summaries
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state import overrides
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import Case, Part, open_case
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.observed_event import collect

# VMs that are named in one line.
SHOWN = 5
PRUNE_AFTER = 86400.0
# All VMs of a group list its events, hundreds perhaps; a few of them tell as much as all.
WITNESSES = 3


class PlanError(ValueError):
    """What the plan was given cannot be used."""


def make_plan(observations: Any, policy: Any = "default", settings: Any = None, now: Any = None) -> dict[str, Any]:
    """The whole plan, in plain lists and dictionaries."""
    chosen = settings_module.load(settings)
    picture = look(observations, policy, chosen, now)
    cases, hosts, moment, directory = picture.cases, picture.hosts, picture.now, picture.directory
    decided = decide(cases, hosts, chosen, moment)
    phases = {case.key: messages.phase(case) for case in cases}
    keepers = replicas.Keepers(cases, hosts, chosen)
    steps = stages.this_turn(_steps(cases, hosts, decided, phases, chosen, moment, keepers))
    waiting = requeue.decide(cases, hosts, steps, chosen)
    cases.sort(key=_age)
    summary = summaries.summary(hosts, directory, cases, chosen, moment)
    found = {
        "events": [summaries.entry(case, phases[case.key]) for case in cases],
        "steps": steps,
        "stages": stages.stages(steps),
        "done": waiting.done,
        "wait": {"seconds": waiting.seconds, "watch": waiting.watch, "why": waiting.why},
        "differing": sorted({name for case in cases if case.ours for name in case.differing}),
        "failed": [
            {"event_id": case.event.event_id, "host": part.host.name, "reason": f"{part.host.name}: {part.failed}"}
            for case in cases
            for part in case.parts
            if part.failed and case.ours
        ],
        "hosts": summaries.of_hosts(hosts),
        "summary": {
            **summary,
            "retired": [host.name for host in hosts if host.state == "retired"],
            "problems": _unread(hosts) + summary["problems"] + _remarks(picture, decided.rooms),
        },
        "capacity": allocation.shown(decided.rooms),
        "claims": leases.shown(hosts, chosen),
        "involved": _involved(cases, hosts, steps, chosen, keepers),
        "counts": summaries.counts(phases, steps, hosts, summary),
        "fingerprint": summaries.fingerprint(hosts, steps),
    }
    return printable_plan.screened(found)


@dataclass(frozen=True, slots=True)
class Picture:
    """What is, before anything is decided."""

    cases: list[Case]
    hosts: list[Host]
    now: float
    directory: Directory
    unknown_retired: tuple[str, ...] = ()
    """Names in respond_retired that are known from nowhere else."""


def look(observations: Any, policy: Any, settings: Settings, now: Any) -> Picture:
    """All events and VMs, from what was observed."""
    moment = timestamps.parse(now)
    if moment is None:
        raise PlanError(f"now must be a time such as 2026-11-21T20:00:00Z, not {now!r}")
    observed = replicas.with_restored(read_observations(observations, moment))
    hosts = overrides.retire(observed, settings.retired)
    directory = Directory(hosts)
    rules = policies.load(policy)
    events = overrides.worth_a_case(collect(hosts), overrides.speaking(hosts, moment))
    # In an order that no VM chooses: who comes first would else depend on what the first VM lists first.
    events.sort(key=lambda seen: seen.key)
    cases = [open_case(seen, directory, rules, settings, moment) for seen in events]
    members = {name.lower() for group in settings.capacity for name in group.members}
    unknown = overrides.unknown_retired(hosts[len(observed) :], cases, members)
    return Picture(cases, hosts, moment, directory, unknown)


@dataclass(frozen=True, slots=True)
class Decided:
    """What came of all parts together."""

    claims: list[dict[str, Any]]
    approvals: list[dict[str, Any]]
    rooms: allocation.Rooms


def decide(cases: list[Case], hosts: list[Host], settings: Settings, now: float) -> Decided:
    """Fill in what every part does; claims and approvals come back as steps, and with them who is out."""
    board = leases.read(hosts, settings, now)
    rooms = serve(cases, hosts, board, settings, now)
    undo_order.arrange(cases, settings)
    approvers = approval.ready(cases, settings)
    leases.arrange(board, cases, approvers, hosts)
    return Decided(board.steps, approval.steps(cases, approvers, settings), rooms)


def serve(cases: list[Case], hosts: list[Host], board: leases.Board, settings: Settings, now: float) -> allocation.Rooms:
    """What each VM needs for its events, seen by itself, and then who has room."""
    for case in cases:
        case.blockers = approval_blockers.blockers(case, settings, now)
        case.hold = approval_blockers.lasting(case, settings, now)
        intents.decide(case, settings, now)
    return allocation.arrange(cases, hosts, board, settings, now)


def _unread(hosts: list[Host]) -> list[str]:
    """Why VMs could not be read, those with the same reason together."""
    found: dict[str, list[str]] = {}
    for host in hosts:
        if host.state == "failed":
            found.setdefault(host.error or "no reason given", []).append(host.name)
    return [f"{', '.join(names[:SHOWN])}{' and others' if len(names) > SHOWN else ''}: {error}" for error, names in found.items()]


def _remarks(picture: Picture, rooms: allocation.Rooms) -> list[str]:
    """What VMs say that does not count, or contradicts others; and names of retired VMs that are misspelt perhaps."""
    cases = picture.cases
    confused = [*picture.directory.contested.values(), *(part.contested for case in cases for part in case.parts if part.contested)]
    found = [f"{words}; events that name them are not approved" for words in dict.fromkeys(confused)]
    found += [
        f"{who}, at work on {name}, declares other members for capacity group {group.name!r}; give all runs the same list"
        for group, others in rooms.disputed.items()
        for name, who in list(others.items())[:1]
    ]
    found += _few_of_each_vm(cases)
    if picture.unknown_retired:
        names = ", ".join(picture.unknown_retired[:SHOWN]) + (" and others" if len(picture.unknown_retired) > SHOWN else "")
        found.append(f"respond_retired: {names}: no VM of this run, no member of a capacity group, and named by no event; correct the name, or remove it")
    return found + [f"event {case.event.event_id}: {words}" for case in cases for words in case.remarks]


def _few_of_each_vm(cases: list[Case]) -> list[str]:
    """What operators have to see to, a few lines for each VM: one VM's records must not bury the others."""
    said: dict[str, list[str]] = {}
    for case in cases:
        for part in case.parts:
            said.setdefault(part.host.name, []).extend(summaries.by_hand(part))
    return [line for lines in said.values() for line in lines[: summaries.OF_ONE_VM]]


def _steps(
    cases: list[Case], hosts: list[Host], decided: Decided, phases: dict[str, str], settings: Settings, now: float, keepers: replicas.Keepers
) -> list[dict[str, Any]]:
    """Claims and records first, approvals before what takes longer, people last: telling them delays nothing."""
    written, acts, tells = list(decided.claims), [], []
    orders = _orders(hosts)
    for case in cases:
        if not case.ours:
            continue
        for part in case.parts:
            restored = replicas.restoring(part)
            if restored:
                written.append(restored)
                continue
            noted = record_writes.note(case, part, settings)
            if noted:
                written.append(noted)
            act = _act(case, part, settings, now) if part.may_act else None
            if act and act["act"] == "drain":
                act["rule"]["order"] = _order(part, orders)
                if part.beyond_capacity or (part.holds_changes and allocation.beyond_by_record(part)):
                    act["rule"]["beyond_capacity"] = True
            if act:
                acts.append(keepers.for_step(case, part, act))
        if settings.tell:
            tells += notifications.steps(case, phases[case.key])
    return written + decided.approvals + acts + keepers.steps(cases) + tells + _forget(hosts)


def _orders(hosts: list[Host]) -> dict[str, int]:
    """The last place that is taken among the drains of each VM."""
    return {host.name: max((record.order for record in host.look.records.values()), default=0) for host in hosts if host.look}


def _order(part: Part, orders: dict[str, int]) -> int:
    """A drain keeps its place until it is undone. The steps of a VM are taken one after the other, so places can be given now."""
    if part.record is not None and part.record.needs_undo:
        return part.record.order
    orders[part.host.name] += 1
    return orders[part.host.name]


def _act(case: Case, part: Part, settings: Settings, now: float) -> dict[str, Any] | None:
    record = part.record
    step = {
        "host": part.host.name,
        "act": part.intent,
        "event_id": record.event.event_id if record else part.event.event_id,
        "claim": leases.token(settings),
        "reason": part.reason or f"{part.event.event_type} {part.event.event_id}",
    }
    if part.intent in ("drain", "verify"):
        begins = part.phase != "draining"
        # As this VM has it: what its methods and its record are told of the event does not come from another VM.
        event = {key: value for key, value in part.event.values.items() if key != "raw"}
        event["event_id"] = step["event_id"]
        return {
            **step,
            "act": "drain",
            "event": event,
            "deadline": timestamps.form(deadlines.deadline(part, settings, now, begins=begins)),
            "rule": part.rule.as_dict(),
            "verify": part.intent == "verify",
            "attempt": _attempt(part),
            "continues": not begins or _under_way(part, settings),
        }
    if part.intent in ("undo", "recover"):
        return {**step, "continues": part.phase == "recovering" or _under_way(part, settings)}
    return None


def _under_way(part: Part, settings: Settings) -> bool:
    """Whether the record has been where it is for a while: looking again at once would show nothing new."""
    history = part.record.history if part.record else ()
    return bool(history) and part.look_now - history[-1][1] > 2 * settings.check_interval


def _attempt(part: Part) -> int:
    record = part.record
    return 1 + sum(1 for phase, _at in record.since("noticed") if phase == "failed") if record else 1


def _forget(hosts: list[Host]) -> list[dict[str, Any]]:
    """Records are pruned a day after their undo was verified."""
    found = []
    for host in hosts:
        look = host.look
        if look is None:
            continue
        for record in look.records.values():
            recovered = record.last("recovered")
            if record.phase == "recovered" and recovered is not None and look.now - recovered > PRUNE_AFTER:
                step = {"host": host.name, "act": "forget", "event_id": record.event.event_id, "continues": False}
                found.append({**step, "reason": "it was over more than a day ago"})
                break
    return found


def _age(case: Case) -> tuple[float, float, str]:
    """Oldest first: by when it was noticed, then by its time."""
    noticed = [part.record.history[0][1] for part in case.parts if part.record and part.record.history]
    infinite = float("inf")
    return min(noticed, default=infinite), case.event.not_before or infinite, case.key


def _involved(
    cases: list[Case], hosts: list[Host], steps: list[dict[str, Any]], settings: Settings, keepers: replicas.Keepers
) -> list[str]:
    """The VMs to look at again while something goes on, and some witnesses: an event that any of them lists is listed."""
    names = {step["host"] for step in steps}
    for case in cases:
        if requeue.is_alive(case):
            names.update(part.host.name for part in case.parts)
            names.update(host.name for host in case.seen.listed_by[:WITNESSES])
            if case.named.unsure:
                names.update(host.name for host in hosts if host.unread)
    names.update(host.name for host in hosts if requeue.may_come_back(host))
    names.update(keepers.involved(case for case in cases if requeue.is_alive(case)))
    names = allocation.involved(settings, names)
    return [host.name for host in hosts if host.name in names and host.state != "retired"]
