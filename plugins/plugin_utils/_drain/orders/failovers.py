# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Failovers that a drain needs on other hosts: where, of what and from whom the settings alone say, and never a VM's record or answer.

A VM's claim that it is primary may only narrow this: the host that takes over sees for itself which node is (module maintenance_act).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from ..._core import plain_values
from ..settings.configured import WSFC
from .method_orders import MethodOrder


class Failover(TypedDict):
    """One availability group that another host takes over."""

    host: str
    """The inventory host, as the settings name it."""
    instance: str
    """Its SQL Server."""
    group: str
    primary: list[str]
    """The names that the drained VM's node may have. Where the cluster has the group elsewhere, nothing takes over."""


def needs_failover(order: MethodOrder) -> bool:
    """Return whether a drain may need a failover, which another host does: only then maintenance_act stops before the method acts."""
    return order["kind"] == WSFC and order["runs"] and bool(plain_values.texts(_settings(order).get("availability_groups")))


def failovers(handover: Any, order: MethodOrder, drained: str) -> list[Failover]:
    """Return what other hosts do before the method acts. Raise ValueError for what the settings do not name. C(drained) is the host of the VM."""
    settings = _settings(order)
    groups, replicas = plain_values.texts(settings.get("availability_groups")), plain_values.mapping(settings.get("replicas"))
    found: list[Failover] = []
    for group, replica in sorted(plain_values.mapping(handover).items()):
        host = plain_values.text(replicas.get(plain_values.text(replica) or ""))
        if group not in groups or host is None:
            raise ValueError(f"the settings of method {order['id']} do not name availability group {str(group)[:100]} on replica {str(replica)[:100]}")
        found.append({"host": host, "instance": str(replica), "group": str(group), "primary": _nodes(settings, drained)})
    return found


def _nodes(settings: Mapping[str, Any], drained: str) -> list[str]:
    """Return the names of the drained VM's node, as the settings have them; where they have none, it is named as its inventory host is."""
    replicas = plain_values.mapping(settings.get("replicas"))
    named = [str(replica).partition("\\")[0] for replica, host in replicas.items() if plain_values.text(host) == drained]
    return named or [plain_values.text(settings.get("node")) or drained.split(".")[0]]


def failure(answers: Any) -> str:
    """Return what failed, from the results of the loop over failovers, or an empty text.

    A host that cannot be reached has failed nothing: the VM is still primary, which the next observation says.
    """
    found = []
    for answer in map(plain_values.mapping, plain_values.items(answers)):
        if plain_values.flag(answer.get("unreachable")):
            continue
        results = [plain_values.mapping(one) for one in plain_values.items(answer.get("results"))]
        wrong = next((one for one in results if plain_values.flag(one.get("failed")) is not False), None) if results else answer
        if wrong is not None:
            found.append(str(wrong.get("msg") or "no reason was given"))
    return "; ".join(found)


def peers(methods: Any, variables: Mapping[str, Any]) -> dict[str, str]:
    """Return the names in Azure of the hosts that drain_methods names as replicas, from their variables; one that is not known is missing."""
    found = {}
    for entry in map(plain_values.mapping, plain_values.items(methods)):
        replicas: Sequence[Any] = list(plain_values.mapping(entry.get("replicas")).values()) if entry.get("method") == WSFC else []
        for host in plain_values.texts(replicas):
            name = _name_of(plain_values.mapping(variables[host])) if host in variables else None
            if name is not None:
                found[host] = name
    return found


def _name_of(given: Mapping[str, Any]) -> str | None:
    """Return a host's name in Azure: as observed in this run, else as configured."""
    return plain_values.text(plain_values.mapping(given.get("observe_result")).get("vm_name")) or plain_values.text(given.get("respond_vm_name"))


def _settings(order: MethodOrder) -> dict[str, Any]:
    return {**order["given"], **order["override"]}
