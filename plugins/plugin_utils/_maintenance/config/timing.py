# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""The bounds of each time setting, and what they follow from. Checked before anything is done: beyond them a run fails on its VMs, or acts wrongly."""

from __future__ import annotations

from typing import NamedTuple

from ....module_utils._scheduled_events.lease.lease_schema import LONGEST_SECONDS as LONGEST_LEASE
from .settings import OWN_OPTIONS, Settings, SettingsError

# The time limit of the task that takes a VM's actions (roles/respond/tasks/act.yml).
LONGEST_ACTION = 150
DAY = 86400


class Bounds(NamedTuple):
    """The lowest and the highest sensible value, and why."""

    least: float
    most: float
    why: str


LEASE = Bounds(
    LONGEST_ACTION + 1,
    LONGEST_LEASE,
    f"an action on a VM may take {LONGEST_ACTION} seconds, and must not outlive its lease; with rehearsal: true in respond_timing, for VMs that a simulator "
    "plays, 1 or more",
)
GATE_LEASE = "so long a batch may take, and so late its VMs are free again where its run does not release them"
BOUNDS = {
    "check_interval": Bounds(0, 3600, "so late the end of a drain is seen"),
    "drain_seconds": Bounds(1, DAY, "a drain without time always fails, and one without end is always at its deadline"),
    "enabling_seconds": Bounds(0, DAY, "so long after Scheduled Events were enabled an empty list proves nothing"),
    "gone_seconds": Bounds(1, 600, "two documents that were read at the same moment prove no end of an event"),
    "lease_seconds": LEASE,
    "longest_requeue": Bounds(5, 3600, "so long a pass waits for news at most, and a shorter wait would be spent on looking"),
    "margin": Bounds(0, 900, "Azure gives most events 15 minutes of notice, and with a longer margin each would be at its deadline when it is first seen"),
    "pass_interval": Bounds(0, DAY, "so late the next run is expected"),
    "recover_seconds": Bounds(10, DAY, "a service needs time to start, and two checks to be seen"),
    "retries": Bounds(0, 100, "each failed drain takes users from the VM"),
    "retry_pause": Bounds(1, 3600, "without a pause all retries fail for the same passing reason"),
    "undo_seconds": Bounds(0, 3600, "a failed drain is undone only while so much time is left beside a new one"),
    "verify_seconds": Bounds(30, 3600, "one iteration may take 30 seconds, and a drain that was verified before it must still count after it"),
    "witness_seconds": Bounds(60, DAY, "the document of another VM may be older by a minute"),
}


def refuse_out_of_bounds(settings: Settings, gate: bool = False) -> None:
    """Raise SettingsError for a time setting that is out of its bounds. The lease of a gate lasts as long as its batch needs."""
    for name, bounds in BOUNDS.items():
        if name == "lease_seconds" and (gate or settings.rehearsal):
            bounds = bounds._replace(least=1, why=GATE_LEASE if gate else bounds.why)
        value = getattr(settings, name)
        if not bounds.least <= value <= bounds.most:
            where = OWN_OPTIONS.get(name) or ("gate_lease_seconds" if gate and name == "lease_seconds" else f"respond_timing: {name}")
            raise SettingsError(f"{where} is {value:g}; it must be {bounds.least:g} to {bounds.most:g}: {bounds.why}")
