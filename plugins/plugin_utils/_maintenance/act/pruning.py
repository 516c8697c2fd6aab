# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records that are removed because their events are over."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.actions import Prune
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Host, Observation, Record

PRUNE_AFTER = 86400.0


def actions(hosts: Iterable[Host]) -> list[Prune]:
    """Prune the records whose undo was verified more than a day ago, at most one for each VM."""
    found = []
    for host in hosts:
        observation = host.observation
        old = next((record for record in observation.records.values() if _is_old(record, observation)), None) if observation else None
        if old is not None:
            found.append(Prune(host=host.name, event_id=old.event.event_id, reason="it was over more than a day ago"))
    return found


def _is_old(record: Record, observation: Observation) -> bool:
    recovered = record.last("recovered")
    return record.phase == "recovered" and recovered is not None and observation.now - recovered > PRUNE_AFTER
