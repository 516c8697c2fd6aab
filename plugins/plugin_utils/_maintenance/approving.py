# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who approves what. One POST for each approver, for all its events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance import gates
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.case import Case
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.model import Host
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.parts import drained_now, fresh
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.settings import Settings


def decide(cases: Iterable[Case], settings: Settings) -> list[dict[str, Any]]:
    """Steps for all approvals that may be given now. Parts that must be checked once more before get the intent to verify."""
    posts: dict[tuple[str, bool], list[Case]] = {}
    for case in cases:
        if not case.ours or not case.listed or case.started or case.approved or not case.hit or case.blockers or case.full:
            continue
        if case.decision.approve != "now" and not _all_drained(case, settings):
            continue
        approvers = _approvers(case, again=False)
        again = not approvers
        if again:
            # Everybody failed. It is tried again, but not at once, and a person is told what else there is.
            approvers = _approvers(case, again=True)
            case.waits_for = f"no VM that lists it could approve it; Azure's own command can: {gates.acknowledge(case)}"
        if approvers:
            case.approver = approvers[0].name
        for host in approvers:
            posts.setdefault((host.name, again), []).append(case)
    return [_step(host, found, again) for (host, again), found in posts.items()]


def _all_drained(case: Case, settings: Settings) -> bool:
    """Rule 1: every managed VM in Resources has drained for it and still is."""
    parts = [part for part in case.hit if not gates.counts_as_drained(case, part)]
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
    return host.look is not None and case.key in host.look.listed and (again or case.key not in host.could_not_approve)


def _approvers(case: Case, *, again: bool) -> list[Host]:
    """The first in Resources that can; a member of the group that lists it where none can. Terminate: each its own."""
    hit = [part.host for part in case.hit if _can(case, part.host, again)]
    if case.event.event_type == "Terminate":
        return hit
    if not hit:
        hit = [host for host in case.seen.listed_by if _can(case, host, again)]
    return hit[:1]


def _step(host: str, cases: list[Case], again: bool) -> dict[str, Any]:
    ids = [case.event.event_id for case in cases]
    names = list(dict.fromkeys(name for case in cases for name in case.event.resources))
    rules = sorted({case.decision.name for case in cases})
    return {
        "host": host,
        "act": "approve",
        "event_id": ids[0],
        "event_ids": ids,
        "approve_for": names,
        "reason": f"rule {', '.join(rules)}: " + ("drained, verified" if cases[0].decision.drain else "approved without a drain"),
        "continues": again,
    }
