# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Summarise a plan's events and VMs in plain lists and dictionaries. Nothing is decided here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ....module_utils._scheduled_events.core.types import Data
from ....module_utils._scheduled_events.drain.registry import use_of_unit
from ....module_utils._scheduled_events.journal.record_schema import file_name
from ....module_utils._scheduled_events.journal.recorded import Recorded
from ..._core import plain_values
from ..._core.short_forms import grouped, some
from ..._drain.kinds.findings import shown, way_out
from ..._drain.kinds.kind import KindInParts
from ..._drain.kinds.registry import kind_of
from ..._drain.records.replicas import Target
from ..act import notifications
from ..config import windows
from ..config.settings import CLOCK_TOLERANCE, Settings
from ..core.actions import Action
from ..core.blocker import in_order
from ..core.model import PHASES, Host, Record
from ..decide import unread
from ..state import presence
from ..state.event_state import EventState, clock_offset
from ..state.participant import Participant
from . import messages, watchers
from .times import times_of

# The most remarks on one VM or record: more would hide those on others.
OF_ONE_VM = 5
SHOWN_HOSTS = 6


def entry(event_state: EventState, phase: str, now: float) -> Data:
    """Summarise one event: Azure's data, its phase, and why."""
    event = event_state.event
    lead = notifications.lead(event_state)
    outcomes = [participant.record.outcome for participant in event_state.participants if participant.record and participant.record.outcome]
    return {
        **event.for_record(),
        "hosts": [participant.host.name for participant in event_state.hit],
        "unmanaged": list(event_state.named.unmanaged),
        "unknown": [participant.host.name for participant in event_state.hit if not participant.ok] + list(event_state.named.unsure),
        "listed": event_state.listed,
        "conflict": event_state.conflict,
        "rule": event_state.rule.as_dict(),
        "window": windows.summary(event_state.decision.window, now),
        "decision": {**event_state.override.as_dict(), "text": event_state.override.text} if event_state.override else None,
        "retired": list(event_state.retired),
        "phase": phase,
        "reason": messages.reason(event_state, phase),
        "next": messages.upcoming(event_state, phase),
        "blockers": [one.as_dict() for one in messages.told(event_state)],
        "starts_in": _starts_in(event_state, now),
        "outcome": outcomes[0] if outcomes else None,
        "ended_ago": _ended_ago(event_state, now) if phase == "recovered" else None,
        "approver": event_state.approver,
        "notify": notifications.untold(event_state, phase) if lead and event_state.hit else [],
        "lead": lead.host.name if lead else None,
        "remarks": _remarks(event_state),
        "parts": [_participant(participant) for participant in event_state.participants],
    }


def left_by_hand(participant: Participant) -> list[str]:
    """Return what an operator has to do for a VM."""
    return [left_undone(method, participant.host.name, participant.host.targets) for method in messages.left_by_hand(participant)[:OF_ONE_VM]]


def _starts_in(event_state: EventState, now: float) -> float | None:
    """Return the seconds until an event may start: as its VMs see it, or by its own NotBefore where it names none of them; None without that time."""
    left, not_before = event_state.left, event_state.event.not_before
    return not_before - now if left is None and not event_state.hit and not_before is not None else left


def _ended_ago(event_state: EventState, now: float) -> float | None:
    """Return the seconds since the last VM of an event was recovered, or None if no record has the time."""
    ended = [(one.host.latest, one.record.last("recovered")) for one in event_state.participants if one.record]
    # By the clock of each VM, which may be hours behind.
    times = [at - clock_offset(latest, now) for latest, at in ended if at is not None]
    # A time that is still to come is no end.
    times = [at for at in times if at <= now + CLOCK_TOLERANCE]
    return round(max(now - max(times), 0.0), 3) if times else None


def _remarks(event_state: EventState) -> list[str]:
    """Return the plan's problems that concern this event or its VMs, for a view of this event alone."""
    found = [f"{participant.contested}; events that name them are not approved" for participant in event_state.participants if participant.contested]
    found += [note for participant in event_state.participants for note in left_by_hand(participant)]
    found += event_state.remarks
    found += [
        f"{participant.host.name}: {problem}"
        for participant in event_state.participants
        if participant.host.latest
        for problem in participant.host.latest.problems[:OF_ONE_VM]
    ]
    return list(dict.fromkeys(found))


def _participant(participant: Participant) -> Data:
    record = participant.record
    methods = record.methods if record else ()
    return {
        "host": participant.host.name,
        "phase": participant.phase,
        "intent": participant.intent,
        "reason": participant.why,
        "blockers": [one.as_dict() for one in in_order(filter(None, (participant.failed, participant.blocker)))],
        "listed": participant.listed,
        "record": file_name(record.event.event_id, record.revision) if record and record.revision else None,
        "watcher": record is not None and record.watched,
        "windows": str(participant.host.last_known.about.get("os_type")).lower() == "windows" if participant.host.last_known else False,
        "changed": [_change(method, participant.host.targets) for method in methods],
        "times": {**times_of(record), "outcome": participant.outcome} if record else None,
    }


def _change(method: Recorded, targets: Sequence[Target]) -> Data:
    return {
        "id": method.identifier,
        "method": method.kind,
        "state": method.state,
        "before": method.before,
        "error": method.error,
        "by_hand": undo_by_hand(method, targets),
    }


def of_hosts(hosts: list[Host]) -> dict[str, Data]:
    """Summarise each VM."""
    return {
        host.name: {
            "state": host.state,
            "error": host.error,
            "in_service": latest.in_service if latest else None,
            "phase": _host_phase(latest.records.values()) if latest and latest.records else None,
        }
        for host in hosts
        for latest in (host.latest,)
    }


def _host_phase(records: Iterable[Record]) -> str | None:
    open_records = [record for record in records if record.phase != "recovered"]
    return max(open_records, key=lambda record: record.history[-1][1] if record.history else 0.0).phase if open_records else None


def summary(hosts: list[Host], event_states: list[EventState], settings: Settings, now: float) -> Data:
    """Summarise how complete the observations are."""
    observations = [(host.name, latest) for host in hosts if (latest := host.latest) is not None]
    return {
        "answered": len(observations),
        "unread": unread.causes(hosts),
        "none_read": unread.none_read(hosts),
        "unreachable": [host.name for host in hosts if host.state == "unreachable"],
        "failed": [host.name for host in hosts if host.state == "failed"],
        "excluded": [host.name for host in hosts if host.state == "excluded"],
        "enabling": [name for name, observation in observations if not event_states and presence.enabling(observation, settings)],
        "watchers": watchers.summary(observations),
        "spot": [name for name, observation in observations if observation.spot and not watchers.is_alive(observation.watcher)],
        "lost": [name for name, observation in observations if observation.in_service is False and not _explained(observation.records.values())],
        "clocks": [name for name, observation in observations if clock_offset(observation, now)],
        "hints": _undrained_services(hosts),
        "wrong_settings": grouped((host.name, host.wrong_settings) for host in hosts if host.state != "retired"),
        "problems": grouped((name, observation.problems) for name, observation in observations),
        "events": len(event_states),
    }


def _explained(records: Any) -> bool:
    """Return whether a record explains why a VM is not in service."""
    return any(record.phase not in ("recovered", "noticed", "held") for record in records)


def _undrained_services(hosts: Iterable[Host]) -> list[str]:
    """Return a line for each service that runs on hosts whose settings do not have the drain method, or its option, that is for it. It decides nothing."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for host in hosts:
        for unit in host.observation.services if host.observation else ():
            method, option = use_of_unit(unit) or ("", "")
            # Of an option that is set the settings of the host have left the unit out.
            if (method in host.methods) == bool(option):
                found.setdefault((unit, method, option), []).append(host.name)
    return [
        f"{unit} runs on {some(names, SHOWN_HOSTS)} without {f'option {option} of ' if option else ''}drain method {method}, which is for it "
        "(docs/stateful.md). status_hints: false ends this hint."
        for (unit, method, option), names in sorted(found.items())
    ]


def counts(phases: dict[str, str], actions: Sequence[Action], hosts: list[Host], found: Data) -> dict[str, int]:
    """Return numbers for workflows that branch on them. All keys are always present."""
    event_phases = list(phases.values())
    return {
        "events": len(event_phases),
        "actions": len(actions),
        **{phase: event_phases.count(phase) for phase in (*PHASES, "foreign", "retired")},
        "vms": len(hosts),
        "vms_answered": found["answered"],
        **{f"vms_{state}": len(found[state]) for state in ("unreachable", "failed", "excluded", "lost")},
    }


def fingerprint(hosts: list[Host], actions: Iterable[Action]) -> str:
    """Return a text that is equal in two successive plans if the actions between them changed nothing, as on a full disk. Retries are not progress."""
    kept = [f"{host.name} {key} {record.revision}" for host in hosts if host.observation for key, record in sorted(host.observation.records.items())]
    return "\n".join(kept + [f"{action.host} {action.name} {action.event_id}" for action in actions])


# --- How an operator puts a VM back without Ansible ----------------------------------------------------------------------
# The findings and options come from the VM's record. So a command has nothing from it but plain names and paths, as an operator pastes it; in place
# of anything else stands a placeholder, and the record has the value. A command for another machine names only what the host's variables allow its
# drain methods: a VM must not have others changed, not even by an operator's hand.


def undo_by_hand(method: Recorded, targets: Sequence[Target] = ()) -> str | None:
    """Return how to put back by hand what a method changed: a command to paste where the method acts, or words. None if it is put back already.

    C(targets) are what the host's variables allow its methods to change outside the VM.
    """
    if method.state == "undone":
        return None
    mine = [target.given for target in targets if target.means(method.identifier, method.kind)]
    return kind_of(method.kind).by_hand(plain_values.mapping(method.before), plain_values.mapping(method.options), mine)


def left_undone(method: Recorded, host: str, targets: Sequence[Target]) -> str:
    """Return what an operator does about a method that a run could not undo. Its error in the record is the VM's to write, and is not repeated."""
    mine = [target.given for target in targets if target.means(method.identifier, method.kind)]
    kind = kind_of(method.kind)
    if isinstance(kind, KindInParts):
        parts = kind.parts(method.before) or ()
        named = {part for given in mine for part in kind.named(parts, given, host)}
        if unnamed := [part for part in parts if part not in named and kind.is_to_undo(part)]:
            return kind.unnamed(unnamed, host)
    name = f"{shown(method.identifier)} ({shown(method.kind)})"
    if mine:
        hint = "Correct its entry, or put back by hand what it changed and list it in drain_methods_former with by_hand: true."
        return f"{host}: method {name} is not undone. {hint}"
    return f"{host}: its record says that method {name} is not undone, and drain_methods has no method of that name and kind. {way_out(host)}"
