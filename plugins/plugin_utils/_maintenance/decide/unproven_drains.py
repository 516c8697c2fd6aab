# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drains of VMs whose own document proves nothing yet, for events that only others list.

Where Scheduled Events were enabled just now the VM's own list is empty whatever is coming, so the others' word has to do. It may
be false. In a capacity group such a drain needs room as any other; VMs without a group go one at a time.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import Case, Part

# While one of them is drained the next one is looked at this often.
CHECK = 15.0


def one_at_a_time(cases: Iterable[Case], grouped: Container[str]) -> None:
    """Hold all but one of the VMs without a capacity group that would drain for what only others list."""
    parts = [part for case in cases for part in case.hit if part.presumed and part.ok and part.host.name not in grouped]
    first = next((part.host.name for part in parts if part.holds_changes), None)
    for part in parts:
        if part.intent != "drain" or part.holds_changes:
            continue
        first = first or part.host.name
        if part.host.name != first:
            _hold(part, first)


def _hold(part: Part, first: str) -> None:
    part.intent = "none"
    part.hold = part.reason = f"only other VMs list it yet, and {first} goes first"
    part.wait = CHECK
