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
from ..core.blocker import Blocker, Kind
from ..core.model import Host
from ..state.event_state import EventState, with_participants
from ..state.participant import Participant
from . import approval_blockers, leases
from .intents import ASK_OUT, drained_now, fresh, record_says

# Phases of a VM whose methods may say that it should serve, and has not been put back for that.
DRAINS = ("draining", "drained")


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
    participants = _must_drain(event_state)
    return all(_may_go(participant) and _is_checked(participant, participants, settings) for participant in participants)


def _may_go(participant: Participant) -> bool:
    """Return whether a VM is drained and out, and none of its methods has said that it should serve.

    After the note of the approval nothing puts it back, so that to wait would keep it out of service for longer than Azure does.
    """
    return drained_now(participant) and participant.intent != "fail" and (participant.intended or not participant.should_serve)


def _is_checked(participant: Participant, participants: Iterable[Participant], settings: Settings) -> bool:
    """Return whether a VM was verified recently enough; one whose methods ask whether others serve, after the last VM of the event was drained."""
    if not fresh(participant, settings) or not _asks(participant):
        return fresh(participant, settings)
    # Each by its own clock. One that was observed before the last drain ended is asked again: no allowance, for the ages of the drains only grow.
    ages = [one.observed_at - at for one in participants if one.record and (at := one.record.last("drained")) is not None]
    verified_at = participant.record.verified_at if participant.record else None
    return verified_at is not None and participant.observed_at - verified_at <= min(ages, default=0.0)


def _asks(participant: Participant) -> bool:
    """Return whether any of its methods asks whether others serve."""
    return any(target.asked_at for target in participant.host.targets)


def _is_due(participant: Participant) -> bool:
    """Return whether a VM that is out, while other VMs of its event still drain, is asked again whether others serve."""
    verified_at = participant.record.verified_at if participant.record else None
    return _may_go(participant) and _asks(participant) and verified_at is not None and participant.observed_at - verified_at > ASK_OUT


def _waiting_for_drains(event_state: EventState, settings: Settings) -> EventState:
    participants = _must_drain(event_state)
    if waiting := [participant.host.name for participant in participants if not _may_go(participant)]:
        again = [replace(one, intent="verify", reason="checked again while others drain") for one in participants if _is_due(one)]
        event_state = _with_reasons(with_participants(event_state, again), participants)
        what = f"for {', '.join(waiting)} to drain"
        return event_state.with_blocker(Blocker("draining", f"waits {what}", tuple(waiting), way_out=f"wait {what}"))
    stale = [participant for participant in participants if not _is_checked(participant, participants, settings)]
    checked = [replace(participant, intent="verify", reason="checked again right before the approval") for participant in stale]
    names = tuple(participant.host.name for participant in stale)
    what = f"once more that {', '.join(names)} is drained"
    return with_participants(event_state, checked).with_blocker(Blocker("draining", f"checks {what}", names, way_out=f"check {what}"))


def _with_reasons(event_state: EventState, participants: Iterable[Participant]) -> EventState:
    """Return the event with the reasons why drain methods have not begun yet, if any have told one."""
    told = {
        participant.host.name: record_says(participant.record)
        for participant in participants
        if participant.record is not None and participant.record.phase in DRAINS and participant.record.not_yet and participant.record.reason
    }
    text = "; ".join(f"{name}: {reason}" for name, reason in told.items())
    kind: Kind = "needed" if any(participant.should_serve for participant in participants) else "not_yet"
    return event_state.with_blocker(Blocker(kind, text, tuple(told))) if text else event_state


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
