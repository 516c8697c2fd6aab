# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Which events are approved now, and from which VM. One request per approver for all its events.

Before an approval, the record of every VM of the event gets a note that the approval follows. Only a plan that finds this note on all
of them approves: after the note no run undoes a drain, and all runs count these VMs as unavailable, so that a slow request, or one of
a killed run, finds the VMs as they were when the approval was decided.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..config.settings import Settings
from ..core.actions import Approve
from ..core.blocker import Blocker
from ..core.model import Host
from ..state.event_state import EventState, with_participants
from ..state.participant import Participant
from . import approval_blockers, leases
from .intents import drained_now, fresh


def ready(event_states: Iterable[EventState], settings: Settings) -> tuple[list[EventState], dict[str, list[Host]]]:
    """Return the event states, and the approvers of each event that may be approved now.

    An event state gets the reason why its approval waits; participants that must be checked once more get the intent to verify.
    """
    found: list[EventState] = []
    approvers: dict[str, list[Host]] = {}
    for event_state in event_states:
        if _is_open(event_state):
            if event_state.decision.approve == "now" or _all_drained(event_state, settings):
                event_state, approvers[event_state.key] = _with_approvers(event_state)
            else:
                event_state = _waiting_for_drains(event_state, settings)
        found.append(event_state)
    return found, {key: hosts for key, hosts in approvers.items() if hosts}


def _is_open(event_state: EventState) -> bool:
    """Return whether the event can still be approved, and only its drains may keep it waiting."""
    begun = event_state.started or event_state.approved
    return event_state.ours and event_state.listed and bool(event_state.hit) and not begun and not event_state.blockers


def _with_approvers(event_state: EventState) -> tuple[EventState, list[Host]]:
    if approvers := _approvers(event_state, again=False):
        return event_state, approvers
    # All have failed. They retry later, and the operator reads what else can be done.
    text = f"no VM that lists it could approve it; Azure's own command can: {approval_blockers.acknowledge(event_state)}"
    return event_state.with_blocker(Blocker("no_approver", text, way_out=text)), _approvers(event_state, again=True)


def actions(event_states: Iterable[EventState], approvers: dict[str, list[Host]], settings: Settings) -> tuple[list[EventState], list[Approve]]:
    """Return the requests for the events that are ready, whose VMs this run has leased, and whose records all have the note of the approval.

    If a record has no note yet, the returned event state requests it.
    """
    found: list[EventState] = []
    posts: dict[tuple[str, bool], list[EventState]] = {}
    for event_state in event_states:
        if event_state.key in approvers and all(participant.may_act for participant in _present(event_state)):
            if settings.run.id and not _noted(event_state):
                event_state = with_participants(event_state, [replace(one, intends=not _has_note(one)) for one in _present(event_state)])
            else:
                hosts = approvers[event_state.key]
                again = any(event_state.key in host.could_not_approve for host in hosts)
                event_state = replace(event_state, approver=hosts[0].name)
                for host in hosts:
                    posts.setdefault((host.name, again), []).append(event_state)
        if event_state.key in approvers and not event_state.approver and not event_state.waits:
            event_state = event_state.with_blocker(Blocker("unleased", "approves it once its VMs are leased", way_out="approve it once its VMs are leased"))
        found.append(event_state)
    return found, [_approve(host, several, again, settings) for (host, again), several in posts.items()]


def _present(event_state: EventState) -> list[Participant]:
    return [participant for participant in event_state.hit if participant.ok and not participant.over]


def _has_note(participant: Participant) -> bool:
    return participant.record is not None and participant.record.approving_at is not None


def _noted(event_state: EventState) -> bool:
    """Return whether the records of all VMs of the event have the note of the approval."""
    return all(_has_note(participant) for participant in _present(event_state))


def _must_drain(event_state: EventState) -> list[Participant]:
    """Return the participants whose drains an approval waits for: not those that need no drain, nor those that count as drained."""
    return [participant for participant in event_state.hit if participant.decision.drain and not approval_blockers.counts_as_drained(event_state, participant)]


def _all_drained(event_state: EventState, settings: Settings) -> bool:
    """Return whether every managed VM in Resources has drained for the event and still is drained (rule 1)."""
    return all(drained_now(participant) and fresh(participant, settings) for participant in _must_drain(event_state))


def _waiting_for_drains(event_state: EventState, settings: Settings) -> EventState:
    participants = _must_drain(event_state)
    if waiting := [participant.host.name for participant in participants if not drained_now(participant)]:
        event_state = _with_reasons(event_state, participants)
        what = f"for {', '.join(waiting)} to drain"
        return event_state.with_blocker(Blocker("draining", f"waits {what}", tuple(waiting), way_out=f"wait {what}"))
    stale = [participant for participant in participants if not fresh(participant, settings)]
    checked = [replace(participant, intent="verify", reason="checked again right before the approval") for participant in stale]
    names = tuple(participant.host.name for participant in stale)
    what = f"once more that {', '.join(names)} is drained"
    return with_participants(event_state, checked).with_blocker(Blocker("draining", f"checks {what}", names, way_out=f"check {what}"))


def _with_reasons(event_state: EventState, participants: Iterable[Participant]) -> EventState:
    """Return the event with the reasons why drain methods have not begun yet, if any have told one."""
    told = {
        participant.host.name: participant.record.reason
        for participant in participants
        if participant.record is not None and participant.record.phase == "draining" and participant.record.blocker.get("kind") == "not_yet"
    }
    text = "; ".join(f"{name}: {reason}" for name, reason in told.items() if reason)
    return event_state.with_blocker(Blocker("not_yet", text, tuple(told))) if text else event_state


def _can_approve(event_state: EventState, host: Host, again: bool) -> bool:
    """Return whether the host's own document lists the event as one that can be approved: not yet started there, whatever other VMs report."""
    event = event_state.seen.documents.get(host.name)
    return event is not None and not event.started and (again or event_state.key not in host.could_not_approve)


def _approvers(event_state: EventState, *, again: bool) -> list[Host]:
    """Return the first VM of the event that can approve it, else another VM that lists it. For Terminate return each of its VMs."""
    hit = [participant.host for participant in event_state.hit if _can_approve(event_state, participant.host, again)]
    if event_state.event.event_type == "Terminate":
        return hit
    if not hit:
        hit = [host for host in event_state.seen.listed_by if _can_approve(event_state, host, again)]
    return hit[:1]


def _approve(host: str, event_states: list[EventState], again: bool, settings: Settings) -> Approve:
    ids = [event_state.event.event_id for event_state in event_states]
    names = list(dict.fromkeys(name for event_state in event_states for name in event_state.event.resources))
    rules = sorted({event_state.decision.name if event_state.override else f"rule {event_state.decision.name}" for event_state in event_states})
    return Approve(
        host=host,
        event_id=ids[0],
        event_ids=ids,
        approve_for=names,
        lease=leases.token(settings),
        reason=f"{', '.join(rules)}: " + ("drained, verified" if event_states[0].decision.drain else "approved without a drain"),
        continues=again,
    )
