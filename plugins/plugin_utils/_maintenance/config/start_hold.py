# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why nothing that is not at its deadline begins: a pause of the whole fleet, or a start gate that says no."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StartHold:
    """A blocker of all that is not at its deadline, for every event alike."""

    text: str
    """The reason as records keep it. It must not change with time."""
    detail: str
    """The reason as operators read it now."""
    way_out: str
    """What an operator can do, in the imperative."""
    ends: float | None = None
    """When it ends by itself, in seconds since 1970; None if unknown."""
    holds_approval: bool = True
    """Whether it holds the approval, too. Without that, an event whose VMs are drained is approved."""
