# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which an iteration takes the actions of a plan. All VMs go from stage to stage together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.actions import Action

# Records first; approvals before longer actions; notifications last, except for what can wait.
STAGES = (
    ("write", ("acquire", "release", "write")),
    ("approve", ("approve",)),
    ("recover", ("undo", "recover")),
    ("drain", ("drain",)),
    ("replicate", ("replicate",)),
    ("notify", ("notify",)),
    ("prune", ("prune",)),
)
# One task takes all actions of a VM; the other stages take one action at a time.
AT_ONCE = ("write", "replicate", "prune")
# In the other stages, the most actions of one VM in an iteration; the rest come in the next one. Only a VM that makes events up has more actions.
MOST_OF_ONE_VM = 10
ORDER = {action_name: number for number, (_name, action_names) in enumerate(STAGES) for action_name in action_names}


def this_iteration(actions: Sequence[Action]) -> list[Action]:
    """Return the actions that this iteration takes. All VMs share an iteration, so the actions of one VM must not delay the others."""
    taken: dict[tuple[str, str], int] = {}
    kept = []
    for action in actions:
        stage = STAGES[ORDER[action.name]][0]
        number = taken[action.host, stage] = taken.get((action.host, stage), 0) + 1
        if stage in AT_ONCE or number <= MOST_OF_ONE_VM:
            kept.append(action)
    return kept


def stages(actions: Sequence[Action]) -> list[dict[str, Any]]:
    """Return the stages that any VM needs, each with its C(name), its C(actions), and the C(place) of the action among those of a VM."""
    most: dict[str, int] = {}
    for name, action_names in STAGES:
        counts: dict[str, int] = {}
        for action in actions:
            if action.name in action_names:
                counts[action.host] = counts.get(action.host, 0) + 1
        most[name] = max(counts.values(), default=0)
    return [
        {"name": name, "actions": list(action_names), "place": place}
        for name, action_names in STAGES
        for place in range(min(most[name], 1) if name in AT_ONCE else most[name])
    ]
