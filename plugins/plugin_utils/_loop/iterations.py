# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""How long the loop in C(roles/respond/tasks/loop.yml) is."""

from __future__ import annotations

# The last iterations are kept for what ends a pass: leases that the run still has are released. Ansible has no loop without an end.
MOST_ITERATIONS = 760
