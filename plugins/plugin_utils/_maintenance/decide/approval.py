# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which events are approved now, and from which VM. One request per approver for all its events.

First it is noted on every VM of the event that it is about to be approved. Only a plan that sees this note on all of them
gives the approval: from the note on nobody puts back a drain, and everybody counts these VMs as out, so that a request
that was slow, or of a run that died, finds the VMs as they were when it was decided.
"""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import Settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.actions import Approve
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Host
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import approval_blockers, leases
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide.intents import drained_now, fresh
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import EventState


def ready(event_states: Iterable[EventState], settings: Settings) -> dict[str, list[Host]]:
    """Return the events that may be approved now, each with its approvers. Participants that must be checked once more get the intent to verify."""
    found: dict[str, list[Host]] = {}
    for event_state in event_states:
        if (
            not event_state.ours
            or not event_state.listed
            or event_state.started
            or event_state.approved
            or not event_state.hit
            or event_state.blockers
            or event_state.full
        ):
            continue
        if event_state.decision.approve != "now" and not _all_drained(event_state, settings):
            continue
        approvers = _approvers(event_state, again=False)
        if not approvers:
            # Everybody failed. It is tried again, but not at once, and a person is told what else there is.
            approvers = _approvers(event_state, again=True)
            event_state.waits_for = f"no VM that lists it could approve it; Azure's own command can: {approval_blockers.acknowledge(event_state)}"
        if approvers:
            found[event_state.key] = approvers
    return found


def actions(event_states: Iterable[EventState], approvers: dict[str, list[Host]], settings: Settings) -> list[Approve]:
    """The requests for what is ready, claimed, and noted on all its VMs."""
    posts: dict[tuple[str, bool], list[EventState]] = {}
    for event_state in event_states:
        if event_state.key not in approvers or not all(participant.may_act for participant in event_state.hit if participant.ok and not participant.over):
            continue
        if settings.run.id and not _noted(event_state):
            continue
        again = any(event_state.key in host.could_not_approve for host in approvers[event_state.key])
        event_state.approver = approvers[event_state.key][0].name
        for host in approvers[event_state.key]:
            posts.setdefault((host.name, again), []).append(event_state)
    return [_approve(host, found, again, settings) for (host, again), found in posts.items()]


def _noted(event_state: EventState) -> bool:
    """Whether all VMs of the event carry the note that it is about to be approved; where it is missing it is written now."""
    participants = [participant for participant in event_state.hit if participant.ok and not participant.over]
    for participant in participants:
        participant.intends = participant.record is None or participant.record.approving_at is None
    return not any(participant.intends for participant in participants)


def _all_drained(event_state: EventState, settings: Settings) -> bool:
    """Rule 1: every managed VM in Resources has drained for it and still is."""
    # A VM whose own decision needs no drain, of an event that others drain for, has nothing to wait for.
    participants = [
        participant for participant in event_state.hit if participant.decision.drain and not approval_blockers.counts_as_drained(event_state, participant)
    ]
    waiting = [participant.host.name for participant in participants if not drained_now(participant)]
    if waiting:
        event_state.waits_for = f"waits for {', '.join(waiting)} to drain"
        return False
    stale = [participant for participant in participants if not fresh(participant, settings)]
    for participant in stale:
        participant.intent, participant.reason = "verify", "checked again right before the approval"
    if stale:
        event_state.waits_for = f"checks once more that {', '.join(participant.host.name for participant in stale)} is drained"
    return not stale and bool(event_state.hit)


def _can(event_state: EventState, host: Host, again: bool) -> bool:
    """Whether its own document lists it as one that can be approved. What has started there cannot, whatever the VMs it names say of it."""
    event = event_state.seen.documents.get(host.name)
    return event is not None and not event.started and (again or event_state.key not in host.could_not_approve)


def _approvers(event_state: EventState, *, again: bool) -> list[Host]:
    """The first in the inventory that can; a member of the group that lists it where none can. Terminate: each its own."""
    hit = [participant.host for participant in event_state.hit if _can(event_state, participant.host, again)]
    if event_state.event.event_type == "Terminate":
        return hit
    if not hit:
        hit = [host for host in event_state.seen.listed_by if _can(event_state, host, again)]
    return hit[:1]


def _approve(host: str, event_states: list[EventState], again: bool, settings: Settings) -> Approve:
    ids = [event_state.event.event_id for event_state in event_states]
    names = list(dict.fromkeys(name for event_state in event_states for name in event_state.event.resources))
    rules = sorted({event_state.decision.name if event_state.word else f"rule {event_state.decision.name}" for event_state in event_states})
    return Approve(
        host=host,
        event_id=ids[0],
        event_ids=ids,
        approve_for=names,
        lease=leases.token(settings),
        reason=f"{', '.join(rules)}: " + ("drained, verified" if event_states[0].decision.drain else "approved without a drain"),
        continues=again,
    )
