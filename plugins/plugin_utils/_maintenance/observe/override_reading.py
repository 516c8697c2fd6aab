# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the overrides of a record. An unreadable override is a hold."""

from __future__ import annotations

from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._core import plain_values
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import STRICTEST, Override


def read_overrides(value: Any) -> tuple[Override, ...]:
    """Return the overrides of a record, newest first."""
    if value is None:
        return ()
    given = plain_values.mapping(value)
    return tuple(_override(item) for item in (value, *plain_values.items(given.get("beside"))))


def _override(value: Any) -> Override:
    given = plain_values.mapping(value)
    action, at, until = plain_values.text(given.get("action")), timestamps.parse(given.get("at")), timestamps.parse(given.get("until"))
    known = action == "release" or (until is not None and (action in STRICTEST or (action == "retire_vm" and plain_values.text(given.get("vm")) is not None)))
    who = plain_values.text(given.get("who")) or "an unknown operator"
    if at is None or not known or action is None:
        # Perhaps a newer version wrote it. To ignore it would be worse than to wait for an operator.
        return Override("hold", who, f"the override cannot be read: {plain_values.plain(value)!r}"[:300], float("inf"), float("inf"), None)
    return Override(action, who, plain_values.text(given.get("why")), at, until, plain_values.text(given.get("vm")))
