# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Which VMs have a watcher that is alive. A VM says so of itself, so it is shown and decides nothing."""

from __future__ import annotations

from collections.abc import Sequence

from ....module_utils._scheduled_events.core.types import Data, Values
from ....module_utils._scheduled_events.host.watcher_state import STALE_SECONDS
from ..._core.short_forms import some
from ..core.model import Observation, Watcher

SHOWN_HOSTS = 10


def is_alive(watcher: Watcher | None) -> bool:
    """Return whether a watcher had a heartbeat a moment ago."""
    return watcher is not None and watcher.age_seconds is not None and watcher.age_seconds <= STALE_SECONDS


def summary(observations: Sequence[tuple[str, Observation]]) -> Data:
    """Return the hosts with a live watcher, with a stale one and with none, and what watchers report."""
    found = [(name, observation.watcher) for name, observation in observations if observation.watcher is not None]
    missing = [(name, observation.system) for name, observation in observations if observation.watcher is None]
    return {
        "alive": [name for name, watcher in found if is_alive(watcher)],
        "stale": [name for name, watcher in found if not is_alive(watcher)],
        "missing": [name for name, _system in missing],
        "windows": [name for name, system in missing if system == "windows"],
        "problems": [(name, watcher.problem) for name, watcher in found if watcher.problem],
        "dropped": [name for name, watcher in found if watcher.messages_dropped],
    }


def lines(watchers: Values) -> list[str]:
    """Return what people read of them: nothing where no VM has one."""
    alive, stale, missing = watchers["alive"], watchers["stale"], watchers["missing"]
    if not alive and not stale:
        return []
    parts = [f"alive on {len(alive)} of {len(alive) + len(stale) + len(missing)} VMs"]
    parts += [f"no heartbeat on {some(stale, SHOWN_HOSTS)}"] if stale else []
    parts += [f"none on {some(missing, SHOWN_HOSTS)}"] if missing else []
    found = [f"Watchers: {'; '.join(parts)}."]
    found += [f"Watcher of {name}: {problem.rstrip('.')}." for name, problem in watchers["problems"][:SHOWN_HOSTS]]
    if windows := watchers.get("windows"):
        found.append(f"Windows without a watcher, so the schedule serves it: {some(windows, SHOWN_HOSTS)}. A watcher there needs a Python (watch_python).")
    return found + ([f"Watchers dropped messages on {some(watchers['dropped'], SHOWN_HOSTS)}."] if watchers["dropped"] else [])
