# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order a turn takes the steps of a plan. All VMs go from stage to stage together."""

from __future__ import annotations

from typing import Any

# Records first; approvals before what takes longer; people late, and what can wait last.
STAGES = (
    ("note", ("claim", "release", "note")),
    ("approve", ("approve",)),
    ("recover", ("undo", "recover")),
    ("drain", ("drain",)),
    ("mirror", ("mirror",)),
    ("tell", ("tell",)),
    ("forget", ("forget",)),
)
# One task takes all of a VM's steps; the others take one step at a time.
AT_ONCE = ("note", "mirror", "forget")
# Of the others, so many of one VM in a turn; the rest come in the next one. No VM has so many events, unless it makes them up.
MOST_OF_ONE_VM = 10
ORDER = {act: number for number, (_name, acts) in enumerate(STAGES) for act in acts}


def this_turn(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that this turn takes: all VMs go through it together, so no VM's steps may make it long for the others."""
    taken: dict[tuple[str, str], int] = {}
    kept = []
    for step in steps:
        stage = STAGES[ORDER[step["act"]]][0]
        number = taken[step["host"], stage] = taken.get((step["host"], stage), 0) + 1
        if stage in AT_ONCE or number <= MOST_OF_ONE_VM:
            kept.append(step)
    return kept


def stages(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The stages that any VM needs, each with its C(name), its C(acts), and the C(place) of its step among those of a VM."""
    most: dict[str, int] = {}
    for name, acts in STAGES:
        counts: dict[str, int] = {}
        for step in steps:
            if step["act"] in acts:
                counts[step["host"]] = counts.get(step["host"], 0) + 1
        most[name] = max(counts.values(), default=0)
    return [
        {"name": name, "acts": list(acts), "place": place} for name, acts in STAGES for place in range(min(most[name], 1) if name in AT_ONCE else most[name])
    ]
