# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who keeps a copy of what an upgrade changes outside a VM, as replicas.py decides it for events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import Settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Host
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import EventState
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.upgrade.gate_request import GateRequest


def keeper(ask: GateRequest, host: Host, hosts: Sequence[Host], event_states: Iterable[EventState], settings: Settings) -> str | None:
    """A VM that stays in service, if possible; the one that has a copy already goes first. Nobody where only this one was looked at."""
    readable = {other.name: other for other in hosts if other.look is not None and other.name != host.name}
    hit = {participant.host.name for event_state in event_states for participant in event_state.participants if participant.named}
    # Who is in the batch may lose its disk in the same upgrade.
    for avoided in (hit | set(ask.batch), set(ask.batch), set()):
        for name in _candidates(ask, host, readable, settings):
            if name in readable and name not in avoided:
                return name
    return None


def _candidates(ask: GateRequest, host: Host, readable: dict[str, Host], settings: Settings) -> Iterator[str]:
    for name, other in readable.items():
        if other.look and any(mirror.vm == host.name and mirror.record.event.key == ask.claim_id.lower() for mirror in other.look.mirrors):
            yield name
    for group in settings.capacity:
        if host.name in group.members:
            # Not the first one for all: copies of many VMs lie on many.
            place = group.members.index(host.name) + 1
            yield from (*group.members[place:], *group.members[:place])
    yield from readable
