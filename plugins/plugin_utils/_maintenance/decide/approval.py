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
from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import Settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Host
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import approval_blockers, leases
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide.intents import drained_now, fresh
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import Case


def ready(cases: Iterable[Case], settings: Settings) -> dict[str, list[Host]]:
    """Events that may be approved now, each with its approvers. Parts that must be checked once more before get the intent to verify."""
    found: dict[str, list[Host]] = {}
    for case in cases:
        if not case.ours or not case.listed or case.started or case.approved or not case.hit or case.blockers or case.full:
            continue
        if case.decision.approve != "now" and not _all_drained(case, settings):
            continue
        approvers = _approvers(case, again=False)
        if not approvers:
            # Everybody failed. It is tried again, but not at once, and a person is told what else there is.
            approvers = _approvers(case, again=True)
            case.waits_for = f"no VM that lists it could approve it; Azure's own command can: {approval_blockers.acknowledge(case)}"
        if approvers:
            found[case.key] = approvers
    return found


def steps(cases: Iterable[Case], approvers: dict[str, list[Host]], settings: Settings) -> list[dict[str, Any]]:
    """The requests for what is ready, claimed, and noted on all its VMs."""
    posts: dict[tuple[str, bool], list[Case]] = {}
    for case in cases:
        if case.key not in approvers or not all(part.may_act for part in case.hit if part.ok and not part.over):
            continue
        if settings.run.id and not _noted(case):
            continue
        again = any(case.key in host.could_not_approve for host in approvers[case.key])
        case.approver = approvers[case.key][0].name
        for host in approvers[case.key]:
            posts.setdefault((host.name, again), []).append(case)
    return [_step(host, found, again, settings) for (host, again), found in posts.items()]


def _noted(case: Case) -> bool:
    """Whether all VMs of the event carry the note that it is about to be approved; where it is missing it is written now."""
    parts = [part for part in case.hit if part.ok and not part.over]
    for part in parts:
        part.intends = part.record is None or part.record.approving_at is None
    return not any(part.intends for part in parts)


def _all_drained(case: Case, settings: Settings) -> bool:
    """Rule 1: every managed VM in Resources has drained for it and still is."""
    # A VM whose own decision needs no drain, of an event that others drain for, has nothing to wait for.
    parts = [part for part in case.hit if part.decision.drain and not approval_blockers.counts_as_drained(case, part)]
    waiting = [part.host.name for part in parts if not drained_now(part)]
    if waiting:
        case.waits_for = f"waits for {', '.join(waiting)} to drain"
        return False
    stale = [part for part in parts if not fresh(part, settings)]
    for part in stale:
        part.intent, part.reason = "verify", "checked again right before the approval"
    if stale:
        case.waits_for = f"checks once more that {', '.join(part.host.name for part in stale)} is drained"
    return not stale and bool(case.hit)


def _can(case: Case, host: Host, again: bool) -> bool:
    """Whether its own document lists it as one that can be approved. What has started there cannot, whatever the VMs it names say of it."""
    event = case.seen.documents.get(host.name)
    return event is not None and not event.started and (again or case.key not in host.could_not_approve)


def _approvers(case: Case, *, again: bool) -> list[Host]:
    """The first in the inventory that can; a member of the group that lists it where none can. Terminate: each its own."""
    hit = [part.host for part in case.hit if _can(case, part.host, again)]
    if case.event.event_type == "Terminate":
        return hit
    if not hit:
        hit = [host for host in case.seen.listed_by if _can(case, host, again)]
    return hit[:1]


def _step(host: str, cases: list[Case], again: bool, settings: Settings) -> dict[str, Any]:
    ids = [case.event.event_id for case in cases]
    names = list(dict.fromkeys(name for case in cases for name in case.event.resources))
    rules = sorted({case.decision.name if case.word else f"rule {case.decision.name}" for case in cases})
    return {
        "host": host,
        "act": "approve",
        "event_id": ids[0],
        "event_ids": ids,
        "approve_for": names,
        "claim": leases.token(settings),
        "reason": f"{', '.join(rules)}: " + ("drained, verified" if cases[0].decision.drain else "approved without a drain"),
        "continues": again,
    }
