# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Restarts that the upgrade itself has ordered through Azure: they come back as events with source User, and need not wait 15 minutes.

Such an event is the upgrade's own when everything it hits is drained under the upgrade's claim. Whoever ordered it then: what it
does to these VMs hurts nobody.
"""

from __future__ import annotations

from typing import Any

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_schema import event_digest
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance import planner as planning
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config import settings as settings_module
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Event
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import intents, leases
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide.leases import Board
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import Case
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.upgrade import gate_request
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.upgrade.gate_request import Ask


def own_events(observations: Any, ask: Any, settings: Any = None, now: Any = None) -> list[dict[str, Any]]:
    """Every event with source User that is still to begin: who approves it for whom, or why nobody does."""
    asked = gate_request.load(ask)
    chosen = settings_module.load(settings)
    picture = planning.look(observations, "default", chosen, now)
    board = leases.read(picture.hosts, chosen, picture.now)
    drained = _drained(picture.cases, board, asked)
    found = []
    for case in picture.cases:
        if case.key == asked.claim_id.lower() or not all(map(_is_users, [part.event for part in case.hit] or [case.event])):
            continue
        if not case.listed or case.started or case.approved:
            continue
        why = _why_not(case, board, drained)
        lister = next((host.name for host in case.seen.listed_by if host.name in drained), None)
        found.append(
            {
                "event_id": case.event.event_id,
                "approve": why is None and lister is not None,
                "host": lister,
                "approve_for": list(case.event.resources),
                "hosts": [part.host.name for part in case.hit],
                "event": case.event.for_record(),
                "why": why if why is not None or lister is not None else "no VM that is drained for the upgrade lists it yet",
            }
        )
    return found


def _drained(cases: list[Case], board: Board, ask: Ask) -> set[str]:
    """VMs that this upgrade has drained in their present boot, and that this run holds."""
    digest = event_digest(ask.claim_id)
    return {
        part.host.name
        for case in cases
        if case.key == ask.claim_id.lower()
        for part in case.parts
        if part.ok and intents.drained_now(part) and digest in board.own.get(part.host.name, {})
    }


def _is_users(event: Event) -> bool:
    """Whether a VM's own document says that a person has ordered it."""
    return str(event.values.get("event_source") or "").lower() == "user"


def _why_not(case: Case, board: Board, drained: set[str]) -> str | None:
    if case.divided or case.contradicted:
        return case.conflict or f"{', '.join(case.contradicted) or 'its VMs'} contradict each other about it"
    others = [*case.named.unmanaged, *case.named.unsure, *case.retired]
    if others:
        return f"it also names {', '.join(others)}, which this upgrade has not drained"
    missing = [part.host.name for part in case.hit if part.host.name not in drained]
    if missing or not case.hit:
        return f"{', '.join(missing) or 'nobody'} is not drained under this upgrade's claim"
    return leases.at_work(board, [part.host.name for part in case.hit])
