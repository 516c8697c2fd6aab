# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is who: from the names in an event's Resources to inventory hosts, by identity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.model import Host, Identity


@dataclass(frozen=True, slots=True)
class Named:
    """The VMs that an event names."""

    hosts: tuple[Host, ...]
    unmanaged: tuple[str, ...]
    unsure: tuple[str, ...]
    """Names that may be those of VMs which were not read."""


def _may_be_same(one: Identity, scope: Identity) -> bool:
    """Same resource group and subscription, as far as both are known."""
    groups = one.group is None or scope.group is None or one.group == scope.group
    return groups and (one.subscription is None or scope.subscription is None or one.subscription == scope.subscription)


class Directory:
    """Finds hosts by the names that Azure uses."""

    def __init__(self, hosts: Iterable[Host]) -> None:
        self._by_name: dict[str, list[Host]] = defaultdict(list)
        self._by_inventory_name: dict[str, list[Host]] = defaultdict(list)
        self.nameless: list[Host] = []
        for host in hosts:
            if host.state == "excluded":
                continue
            if host.identity.name:
                self._by_name[host.identity.name].append(host)
            else:
                # Nobody waits for a retired VM, so what it may be called keeps nobody waiting.
                if host.state != "retired":
                    self.nameless.append(host)
                self._by_inventory_name[host.name.lower()].append(host)
        self.duplicates = [
            f"{first.name} and {second.name} are the same VM"
            for same in self._by_name.values()
            for first, second in zip(same, same[1:])
            if first.identity.vm_id and first.identity.vm_id == second.identity.vm_id
        ]

    def find(self, name: str, scopes: Iterable[Identity]) -> Host | None:
        """The host with this name in the group that the event was delivered to."""
        wanted = name.strip().lower()
        scopes = list(scopes)
        found = [host for host in self._by_name.get(wanted, ()) if any(_may_be_same(host.identity, one) for one in scopes)]
        if not found:
            # A VM that was not read has no identity; its name in the inventory is the best guess, and only holds things up.
            found = self._by_inventory_name.get(wanted, [])
        return min(found, key=lambda host: (not host.ok, host.place), default=None)

    def resolve(self, names: Iterable[str], scopes: Iterable[Identity]) -> Named:
        """All names of an event. While the identity of a managed VM is unknown, no name counts as unmanaged."""
        hosts: dict[str, Host] = {}
        left = []
        scopes = list(scopes)
        for name in names:
            host = self.find(name, scopes)
            if host is None:
                left.append(name)
            else:
                hosts.setdefault(host.name, host)
        if any(host.name not in hosts for host in self.nameless):
            return Named(tuple(hosts.values()), (), tuple(left))
        return Named(tuple(hosts.values()), tuple(left), ())
