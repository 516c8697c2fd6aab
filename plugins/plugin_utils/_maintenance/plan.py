# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan: from what is, the next step for every VM and event. A pure function, and the only place that decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance import (
    approving,
    claiming,
    deciding,
    due,
    fitting,
    gates,
    going_on,
    instants,
    mirrors,
    notes,
    parts,
    telling,
    undoing,
    wait,
    words,
)
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance import (
    policy as policies,
)
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance import (
    settings as settings_module,
)
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.case import Case, Part, clock_offset, open_case
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.model import Host
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.reading import read_observations
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.seen import collect
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.settings import Settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.who import Directory

PRUNE_AFTER = 86400.0
# All VMs of a group list its events, hundreds perhaps; a few of them tell as much as all.
WITNESSES = 3


class PlanError(ValueError):
    """What the plan was given cannot be used."""


def make_plan(observations: Any, policy: Any = "default", settings: Any = None, now: Any = None) -> dict[str, Any]:
    """The whole plan, in plain lists and dictionaries."""
    moment = instants.parse(now)
    if moment is None:
        raise PlanError(f"now must be a time such as 2026-11-21T20:00:00Z, not {now!r}")
    chosen = settings_module.load(settings)
    hosts = mirrors.with_restored(read_observations(observations, moment))
    said = deciding.collect(hosts, moment)
    hosts = deciding.retire(hosts, said)
    directory = Directory(hosts)
    rules = policies.load(policy)
    cases = [open_case(seen, directory, rules, chosen, moment, said.events.get(seen.key)) for seen in deciding.worth_a_case(collect(hosts), said)]
    decided = decide(cases, hosts, chosen, moment)
    phases = {case.key: words.phase(case) for case in cases}
    keepers = mirrors.Keepers(cases, hosts, chosen)
    steps = _steps(cases, hosts, decided, phases, chosen, moment, keepers)
    waiting = wait.decide(cases, hosts, steps, chosen)
    cases.sort(key=_age)
    return {
        "events": [_entry(case, phases[case.key]) for case in cases],
        "steps": steps,
        "done": waiting.done,
        "wait": {"seconds": waiting.seconds, "watch": waiting.watch, "why": waiting.why},
        "failed": [
            {"event_id": case.event.event_id, "host": part.host.name, "reason": f"{part.host.name}: {part.failed}"}
            for case in cases
            for part in case.parts
            if part.failed and case.ours
        ],
        "hosts": _hosts(hosts),
        "summary": {**_summary(hosts, directory, cases, chosen, moment), "retired": deciding.retired(said)},
        "capacity": fitting.shown(decided.rooms),
        "claims": claiming.shown(hosts, chosen),
        "involved": _involved(cases, hosts, steps, chosen, keepers),
        "counts": _counts(phases, steps),
        "fingerprint": _fingerprint(hosts, steps),
    }


@dataclass(frozen=True, slots=True)
class Decided:
    """What came of all parts together."""

    claims: list[dict[str, Any]]
    approvals: list[dict[str, Any]]
    rooms: fitting.Rooms


def decide(cases: list[Case], hosts: list[Host], settings: Settings, now: float) -> Decided:
    """Fill in what every part does; claims and approvals come back as steps, and with them who is out."""
    for case in cases:
        case.blockers = gates.blockers(case, settings, now)
        case.hold = gates.lasting(case, settings, now)
        parts.decide(case, settings, now)
    board = claiming.read(hosts, settings, now)
    rooms = fitting.arrange(cases, hosts, board, settings, now)
    undoing.arrange(cases, settings)
    approvers = approving.ready(cases, settings)
    claiming.arrange(board, cases, approvers, hosts)
    return Decided(board.steps, approving.steps(cases, approvers, settings), rooms)


def _steps(
    cases: list[Case], hosts: list[Host], decided: Decided, phases: dict[str, str], settings: Settings, now: float, keepers: mirrors.Keepers
) -> list[dict[str, Any]]:
    """Claims and records first, approvals before what takes longer, people last: telling them delays nothing."""
    written, acts, tells = list(decided.claims), [], []
    orders = _orders(hosts)
    for case in cases:
        if not case.ours:
            continue
        for part in case.parts:
            restored = mirrors.restoring(part)
            if restored:
                written.append(restored)
                continue
            noted = notes.note(case, part, settings)
            if noted:
                written.append(noted)
            act = _act(case, part, settings, now) if part.may_act else None
            if act and act["act"] == "drain":
                act["rule"]["order"] = _order(part, orders)
                if case.beyond_capacity or (part.holds_changes and fitting.beyond_by_record(part)):
                    act["rule"]["beyond_capacity"] = True
            if act:
                acts.append(keepers.for_step(case, part, act))
        if settings.tell:
            tells += telling.steps(case, phases[case.key])
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
        "event_id": record.event.event_id if record else case.event.event_id,
        "claim": claiming.token(settings),
        "reason": part.reason or f"{case.event.event_type} {case.event.event_id}",
    }
    if part.intent in ("drain", "verify"):
        begins = part.phase != "draining"
        event = {key: value for key, value in case.event.values.items() if key != "raw"}
        event["event_id"] = step["event_id"]
        return {
            **step,
            "act": "drain",
            "event": event,
            "deadline": instants.form(due.deadline(case, part, settings, now, begins=begins)),
            "rule": case.rule.as_dict(),
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


def _entry(case: Case, phase: str) -> dict[str, Any]:
    event = case.event
    lead = telling.lead(case)
    outcomes = [part.record.outcome for part in case.parts if part.record and part.record.outcome]
    return {
        **event.for_record(),
        "hosts": [part.host.name for part in case.hit],
        "unmanaged": list(case.named.unmanaged),
        "unknown": [part.host.name for part in case.hit if not part.ok] + list(case.named.unsure),
        "listed": case.listed,
        "rule": case.rule.as_dict(),
        "decision": deciding.shown(case.word),
        "retired": list(case.retired),
        "phase": phase,
        "reason": words.reason(case, phase),
        "next": words.upcoming(case, phase),
        "starts_in": case.left,
        "outcome": outcomes[0] if outcomes else None,
        "approver": case.approver,
        "tell": telling.untold(case, phase) if lead and case.hit else [],
        "lead": lead.host.name if lead else None,
        "parts": [_part(part) for part in case.parts],
    }


def _part(part: Part) -> dict[str, Any]:
    methods = part.record.methods if part.record else ()
    return {
        "host": part.host.name,
        "phase": part.phase,
        "intent": part.intent,
        "reason": part.reason,
        "listed": part.listed,
        "changed": [{"method": method.method, "state": method.state, "before": method.before, "error": method.error} for method in methods],
    }


def _hosts(hosts: list[Host]) -> dict[str, dict[str, Any]]:
    return {
        host.name: {
            "state": host.state,
            "error": host.error,
            "in_service": host.look.in_service if host.look else None,
            "phase": _host_phase(host),
        }
        for host in hosts
    }


def _host_phase(host: Host) -> str | None:
    if host.look is None:
        return None
    open_records = [record for record in host.look.records.values() if record.phase != "recovered"]
    return max(open_records, key=lambda record: record.history[-1][1] if record.history else 0.0).phase if open_records else None


def _summary(hosts: list[Host], directory: Directory, cases: list[Case], settings: Settings, now: float) -> dict[str, Any]:
    seen = [(host.name, host.look or (host.last_look if host.state == "resting" else None)) for host in hosts]
    looks = [(name, look) for name, look in seen if look is not None]
    return {
        "answered": len(looks),
        "unreachable": [host.name for host in hosts if host.state == "unreachable"],
        "failed": [host.name for host in hosts if host.state == "failed"],
        "excluded": [host.name for host in hosts if host.state == "excluded"],
        "enabling": [name for name, look in looks if going_on.enabling(look, settings)],
        "spot": [name for name, look in looks if look.spot],
        "lost": [name for name, look in looks if look.in_service is False and not _explained(look.records.values())],
        "clocks": [host.name for host in hosts if clock_offset(host, now)],
        "problems": [f"{name}: {problem}" for name, look in looks for problem in look.problems]
        + [f"{problem}; only the first is used" for problem in directory.duplicates],
        "events": len(cases),
    }


def _explained(records: Any) -> bool:
    """Whether a record says why a VM is not in service."""
    return any(record.phase not in ("recovered", "noticed", "held") for record in records)


def _involved(
    cases: list[Case], hosts: list[Host], steps: list[dict[str, Any]], settings: Settings, keepers: mirrors.Keepers
) -> list[str]:
    """The VMs to look at again while something goes on, and some witnesses: an event that any of them lists is listed."""
    names = {step["host"] for step in steps}
    for case in cases:
        if wait.is_alive(case):
            names.update(part.host.name for part in case.parts)
            names.update(host.name for host in case.seen.listed_by[:WITNESSES])
            if case.named.unsure:
                names.update(host.name for host in hosts if host.unread)
    names.update(host.name for host in hosts if wait.may_come_back(host))
    names.update(keepers.involved(case for case in cases if wait.is_alive(case)))
    names = fitting.involved(settings, names)
    return [host.name for host in hosts if host.name in names and host.state != "retired"]


def _counts(phases: dict[str, str], steps: list[dict[str, Any]]) -> dict[str, int]:
    counts = {"events": len(phases), "steps": len(steps)}
    for phase in phases.values():
        counts[phase] = counts.get(phase, 0) + 1
    return counts


def _fingerprint(hosts: list[Host], steps: list[dict[str, Any]]) -> str:
    """Equal in two plans one after the other: the steps between them changed nothing, a full disk perhaps. Trying on is no progress."""
    kept = [f"{host.name} {key} {record.revision}" for host in hosts if host.look for key, record in sorted(host.look.records.items())]
    return "\n".join(kept + [f"{step['host']} {step['act']} {step['event_id']}" for step in steps])
