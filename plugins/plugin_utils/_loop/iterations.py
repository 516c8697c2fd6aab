# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""The number of iterations of the loop in C(roles/respond/tasks/loop.yml)."""

from __future__ import annotations

# Ansible has no endless loop. The last iterations are reserved for the end of a pass, which releases the leases of the run.
MOST_ITERATIONS = 764
