# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose the keeper of an upgrade's replica for changes outside a VM, as act/replicas.py does for events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import Settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Host
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import EventState
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.upgrade.gate_request import GateRequest


def keeper(ask: GateRequest, host: Host, hosts: Sequence[Host], event_states: Iterable[EventState], settings: Settings) -> str | None:
    """Return the keeper: a present one first, then a VM that stays in service. Return None if only this VM was observed."""
    readable = {other.name: other for other in hosts if other.observation is not None and other.name != host.name}
    hit = {participant.host.name for event_state in event_states for participant in event_state.participants if participant.named}
    # VMs of the batch may lose their disks in the same upgrade.
    for avoided in (hit | set(ask.batch), set(ask.batch), set()):
        for name in _candidates(ask, host, readable, settings):
            if name in readable and name not in avoided:
                return name
    return None


def _candidates(ask: GateRequest, host: Host, readable: dict[str, Host], settings: Settings) -> Iterator[str]:
    for name, other in readable.items():
        if other.observation and any(replica.vm == host.name and replica.record.event.key == ask.lease_id.lower() for replica in other.observation.replicas):
            yield name
    for group in settings.capacity:
        if host.name in group.members:
            # Start at a different VM for each host, so that replicas spread over many.
            place = group.members.index(host.name) + 1
            yield from (*group.members[place:], *group.members[:place])
    yield from readable
