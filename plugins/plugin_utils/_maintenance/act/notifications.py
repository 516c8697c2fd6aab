# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which phases people have not been told of yet. The record of the event's first VM keeps what was told."""

from __future__ import annotations

from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import PHASES
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import Case, Part

# Of these people are told; the others pass too quickly to be news.
NEWS = ("noticed", "held", "drained", "approved", "started", "gone", "failed", "recovered")
ORDER = ("noticed", "held", "failed", "drained", "approved", "started", "gone", "recovered")


def lead(case: Case) -> Part | None:
    """The VM whose record keeps C(told): the first that is read and has a record, or is about to get one."""
    able = [part for part in case.hit if part.ok and (part.record is not None or part.listed)]
    return next((part for part in able if part.record and part.record.told), able[0] if able else None)


def untold(case: Case, phase: str) -> list[str]:
    """Phases that were reached, in order, without those told already."""
    records = [part.record for part in case.hit if part.record]
    # What the VM itself has come to: another one's word is not told to people as what happened.
    mine = lead(case)
    reached = {"noticed", phase} - {"approved", "started"}
    if mine is not None and mine.approved:
        reached.add("approved")
    if mine is not None and mine.started:
        reached.add("started")
    if any(record.outcome is not None for record in records):
        reached.add("gone")
    told = {word for record in records for word in record.told}
    return [word for word in ORDER if word in reached and word not in told]


def steps(case: Case, phase: str) -> list[dict[str, Any]]:
    """One step for each piece of news; each carries the whole list, so that a repeated write adds nothing."""
    part = lead(case)
    if part is None or not case.hit or not case.ours:
        return []
    told = [word for record in [one.record for one in case.hit if one.record] for word in record.told if word in PHASES]
    told = list(dict.fromkeys(told))
    found = []
    for word in untold(case, phase):
        told = [*told, word]
        found.append(
            {
                "host": part.host.name,
                "act": "tell",
                "event_id": part.record.event.event_id if part.record else case.event.event_id,
                "phase": word,
                "changes": {"told": told},
                "reason": f"people are told once: {word}",
                "continues": False,
            }
        )
    return found
