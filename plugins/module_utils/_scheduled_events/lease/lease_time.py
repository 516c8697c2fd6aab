# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""How long a lease lasts, and how long a task may take that acts under one, in seconds. No task may outlive its lease.

An action renews its lease when it begins, on the VM; the controller gives its task up later, after the task's limit.
"""

from __future__ import annotations

# A lease without a time limit of its own.
LEASE = 180.0
# No action takes longer. A limit that lies further ahead was set by a clock that has been put back since.
LONGEST_LEASE = 6 * 3600.0
# What the watcher does on its own VM: no task of a controller runs under its lease, and no connection can hang.
WATCHER_LEASE = 30.0
# The limits of the controller's tasks.
TASK_LIMITS = {
    # All actions of a VM in one run of maintenance_act, and its observation; one stage of a drain method that is tasks.
    "act": 150,
    "act_only": 120,
}
# What the action plan returns to the roles.
LIMITS = {**TASK_LIMITS, "lease": LEASE, "longest_lease": LONGEST_LEASE}
# After so many seconds one run of maintenance_act begins no further action.
MOST_SECONDS = 75.0
# What a call of a drain method may need beyond its own time limit, to end and to be recorded.
SPARE_SECONDS = 2.0
# The least time limit of a lease, except in a rehearsal, whose VMs a simulator plays.
LEAST_LEASE = max(TASK_LIMITS.values()) + 1
WHY_LEAST = f"an action on a VM may take {LEAST_LEASE - 1} seconds, and must not outlive its lease"
