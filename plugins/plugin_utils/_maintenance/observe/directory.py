# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Resolve the names in an event's Resources to inventory hosts, by identity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from ....module_utils._scheduled_events.core.names import folded
from ..core.model import Host, Identity, value

SHOWN = 3


@value
class Named:
    """The VMs that an event names."""

    hosts: tuple[Host, ...]
    unmanaged: tuple[str, ...]
    unsure: tuple[str, ...]
    """Names that may belong to VMs that were not read."""


def _may_be_same(one: Identity, scope: Identity) -> bool:
    """Return whether resource group and subscription are the same, as far as both are known."""
    groups = one.group is None or scope.group is None or one.group == scope.group
    return groups and (one.subscription is None or scope.subscription is None or one.subscription == scope.subscription)


class Directory:
    """Find hosts by the names that Azure uses."""

    def __init__(self, hosts: Iterable[Host], partial: bool = False) -> None:
        self._partial = partial
        self._by_name: dict[str, list[Host]] = defaultdict(list)
        self._by_inventory_name: dict[str, list[Host]] = defaultdict(list)
        self.nameless: list[Host] = []
        self._places: dict[str, int] = {}
        for host in hosts:
            self._places[host.name] = len(self._places)
            if host.state == "excluded":
                continue
            if name := host.identity.name:
                self._by_name[name].append(host)
            else:
                # No event waits for a retired VM, so its unknown name holds no event up.
                if host.state != "retired":
                    self.nameless.append(host)
                self._by_inventory_name[host.name.lower()].append(host)
        self.contested = _contested(self._by_name)
        """By inventory host: the hosts that state the same identity. A VM can state any name, so one of them has a wrong identity."""

    def in_order(self, hosts: Iterable[Host]) -> list[Host]:
        """Sort hosts in the order of the inventory, which no VM chooses."""
        return sorted(hosts, key=lambda host: self._places[host.name])

    def find(self, name: str, scopes: Iterable[Identity]) -> list[Host]:
        """Return the hosts with this name in the group that the event was delivered to. More than one is contested."""
        wanted = folded(name)
        found = self._by_name.get(wanted)
        if found:
            found = [host for host in found if any(_may_be_same(host.identity, one) for one in scopes)]
        # The identity of an unread VM is unknown; its inventory name is the best guess, and can only hold an event.
        return found or self._by_inventory_name.get(wanted, [])

    def resolve(self, names: Iterable[str], scopes: Iterable[Identity]) -> Named:
        """Resolve all names of an event. While the identity of a managed VM is unknown, or some are not looked at, no name counts as unmanaged."""
        hosts: dict[str, Host] = {}
        left = []
        scopes = list(scopes)
        for name in names:
            found = self.find(name, scopes)
            if not found:
                left.append(name)
            for host in found:
                hosts.setdefault(host.name, host)
        if left and (self._partial or any(host.name not in hosts for host in self.nameless)):
            return Named(tuple(hosts.values()), (), tuple(left))
        return Named(tuple(hosts.values()), tuple(left), ())


def _contested(by_name: Mapping[str, list[Host]]) -> dict[str, str]:
    """Return by host which others state the same identity: one name with two ids, one id with two names, or a name twice without ids."""
    found: dict[str, str] = {}
    by_id: dict[str, list[Host]] = defaultdict(list)
    for name, same in by_name.items():
        for host in same:
            if vm_id := host.identity.vm_id:
                by_id[vm_id].append(host)
        for host in same if len(same) > 1 else ():
            if others := [other.name for other in same if other is not host and _may_be_same(host.identity, other.identity)]:
                found[host.name] = f"{host.name} and {', '.join(others[:SHOWN])} both say that they are VM {name}"
    for vm_id, same in by_id.items():
        for host in same if len(same) > 1 else ():
            others = [other.name for other in same if other is not host]
            found.setdefault(host.name, f"{host.name} and {', '.join(others[:SHOWN])} both say that their vmId is {vm_id}")
    return found
