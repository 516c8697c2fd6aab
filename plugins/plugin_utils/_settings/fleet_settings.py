# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Settings of the whole fleet, which a pass takes from the first host of its play: those of other hosts have no effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._core.short_forms import some

NAMES = (
    "respond_allow_empty",
    "respond_capacity",
    "respond_confirm_end",
    "respond_drain_seconds",
    "respond_min_answered",
    "respond_notify_tasks",
    "respond_only_events",
    "respond_pass_interval",
    "respond_paused",
    "respond_policy",
    "respond_retired",
    "respond_start_when",
    "respond_timing",
    "respond_unmanaged",
    "respond_wait",
    "respond_wait_timeout",
)
SHOWN = 3


def differing(first: str, variables: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return a warning for each setting that some hosts have otherwise than the first one. C(variables) are those of each host, not yet templated."""
    own = variables[first]
    found = []
    for name in NAMES:
        # Most hosts have the very value of the first, of a group or of all: comparing large ones would cost time.
        others = [host for host, of_host in variables.items() if (value := of_host.get(name)) is not own.get(name) and value != own.get(name)]
        if others:
            found.append(f"{name} differs on {some(others, SHOWN)} and has no effect there: that of {first}, the first host of the play, counts for all")
    return found
