# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The order in which an iteration takes the actions of a plan. All VMs go from stage to stage together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
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
PLACES = [action_name for _name, action_names in STAGES for action_name in action_names]
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
    # The order in which a VM takes them: as the stages are, and within one as it names its actions.
    return sorted(kept, key=lambda action: PLACES.index(action.name))


def stages(of_hosts: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return the stages that any VM needs, each with its C(name), its C(actions), and the C(place) of the action among those of a VM.

    C(of_hosts) has the host and the name of each action.
    """
    counts = Counter((host, ORDER[name]) for host, name in of_hosts)
    found = []
    for number, (name, action_names) in enumerate(STAGES):
        most = max((count for (_host, stage), count in counts.items() if stage == number), default=0)
        places = range(min(most, 1) if name in AT_ONCE else most)
        found += [{"name": name, "actions": list(action_names), "place": place} for place in places]
    return found
