# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan shows of events and VMs, in plain lists and dictionaries. Nothing is decided here."""

from __future__ import annotations

from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.act import notifications
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import Settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import PHASES, Host
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.observe.directory import Directory
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report import messages
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state import overrides, presence
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import Case, Part, clock_offset

# Remarks on one VM, or on one record of it: more would bury those on others.
OF_ONE_VM = 5


def entry(case: Case, phase: str) -> dict[str, Any]:
    """One event: what Azure says of it, how far it is, and why."""
    event = case.event
    lead = notifications.lead(case)
    outcomes = [part.record.outcome for part in case.parts if part.record and part.record.outcome]
    return {
        **event.for_record(),
        "hosts": [part.host.name for part in case.hit],
        "unmanaged": list(case.named.unmanaged),
        "unknown": [part.host.name for part in case.hit if not part.ok] + list(case.named.unsure),
        "listed": case.listed,
        "conflict": case.conflict,
        "rule": case.rule.as_dict(),
        "decision": overrides.shown(case.word),
        "retired": list(case.retired),
        "phase": phase,
        "reason": messages.reason(case, phase),
        "next": messages.upcoming(case, phase),
        "starts_in": case.left,
        "outcome": outcomes[0] if outcomes else None,
        "approver": case.approver,
        "tell": notifications.untold(case, phase) if lead and case.hit else [],
        "lead": lead.host.name if lead else None,
        "remarks": _remarks(case),
        "parts": [_part(part) for part in case.parts],
    }


def by_hand(part: Part) -> list[str]:
    """What an operator has to see to on a VM."""
    return [f"{part.host.name}, as its record says: {method.error}" for method in messages.left_by_hand(part)][:OF_ONE_VM]


def _remarks(case: Case) -> list[str]:
    """What the problems of the whole plan say of this event and its VMs, for those who look at this event alone."""
    found = [f"{part.contested}; events that name them are not approved" for part in case.parts if part.contested]
    found += [said for part in case.parts for said in by_hand(part)]
    found += case.remarks
    found += [f"{part.host.name}: {problem}" for part in case.parts if part.host.look for problem in part.host.look.problems[:OF_ONE_VM]]
    return list(dict.fromkeys(found))


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


def of_hosts(hosts: list[Host]) -> dict[str, dict[str, Any]]:
    """Each VM in a few words."""
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


def summary(hosts: list[Host], directory: Directory, cases: list[Case], settings: Settings, now: float) -> dict[str, Any]:
    """How far the picture can be trusted."""
    seen = [(host.name, host.look or (host.last_look if host.state == "resting" else None)) for host in hosts]
    looks = [(name, look) for name, look in seen if look is not None]
    return {
        "answered": len(looks),
        "unreachable": [host.name for host in hosts if host.state == "unreachable"],
        "failed": [host.name for host in hosts if host.state == "failed"],
        "excluded": [host.name for host in hosts if host.state == "excluded"],
        "enabling": [name for name, look in looks if presence.enabling(look, settings)],
        "spot": [name for name, look in looks if look.spot],
        "lost": [name for name, look in looks if look.in_service is False and not _explained(look.records.values())],
        "clocks": [host.name for host in hosts if clock_offset(host, now)],
        "problems": [f"{name}: {problem}" for name, look in looks for problem in look.problems],
        "events": len(cases),
    }


def _explained(records: Any) -> bool:
    """Whether a record says why a VM is not in service."""
    return any(record.phase not in ("recovered", "noticed", "held") for record in records)


def counts(phases: dict[str, str], steps: list[dict[str, Any]], hosts: list[Host], found: dict[str, Any]) -> dict[str, int]:
    """Numbers, for workflows that branch on them. All of them each time, so that nobody needs to ask whether one is there."""
    words_ = list(phases.values())
    return {
        "events": len(words_),
        "steps": len(steps),
        **{phase: words_.count(phase) for phase in (*PHASES, "foreign", "retired")},
        "vms": len(hosts),
        "vms_answered": found["answered"],
        **{f"vms_{state}": len(found[state]) for state in ("unreachable", "failed", "excluded", "lost")},
    }


def fingerprint(hosts: list[Host], steps: list[dict[str, Any]]) -> str:
    """Equal in two plans one after the other: the steps between them changed nothing, a full disk perhaps. Trying on is no progress."""
    kept = [f"{host.name} {key} {record.revision}" for host in hosts if host.look for key, record in sorted(host.look.records.items())]
    return "\n".join(kept + [f"{step['host']} {step['act']} {step['event_id']}" for step in steps])
