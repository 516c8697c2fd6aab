# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The notifications: phases that operators were not notified of yet. The record of the event's first VM keeps those that they were."""

from __future__ import annotations

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.actions import Notify
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import PHASES
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import EventState, Participant

# The phases that operators are notified of, in this order. The others pass too quickly.
ORDER = ("noticed", "held", "failed", "drained", "approved", "started", "gone", "recovered")


def lead(event_state: EventState) -> Participant | None:
    """Return the VM whose record keeps C(told): the first that is read and has a record, or is about to get one."""
    able = [participant for participant in event_state.hit if participant.ok and (participant.record is not None or participant.listed)]
    return next((participant for participant in able if participant.record and participant.record.told), able[0] if able else None)


def untold(event_state: EventState, phase: str) -> list[str]:
    """Return the phases that were reached, in order, without those that operators were notified of already."""
    records = [participant.record for participant in event_state.hit if participant.record]
    # The VM's own state: a claim of another VM alone is not notified as a fact.
    mine = lead(event_state)
    reached = {"noticed", phase} - {"approved", "started"}
    if mine is not None and mine.approved:
        reached.add("approved")
    if mine is not None and mine.started:
        reached.add("started")
    if any(record.outcome is not None for record in records):
        reached.add("gone")
    told = {word for record in records for word in record.told}
    return [word for word in ORDER if word in reached and word not in told]


def actions(event_state: EventState, phase: str) -> list[Notify]:
    """Return one action for each phase; each carries the whole list, so that a repeated write adds nothing."""
    participant = lead(event_state)
    if participant is None or not event_state.hit or not event_state.ours:
        return []
    told = [reached for record in [one.record for one in event_state.hit if one.record] for reached in record.told if reached in PHASES]
    told = list(dict.fromkeys(told))
    found = []
    for reached in untold(event_state, phase):
        told = [*told, reached]
        found.append(
            Notify(
                host=participant.host.name,
                event_id=participant.record.event.event_id if participant.record else event_state.event.event_id,
                phase=reached,
                changes={"told": told},
                reason=f"notified once: {reached}",
            )
        )
    return found
