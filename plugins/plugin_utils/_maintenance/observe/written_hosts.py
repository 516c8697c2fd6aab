# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Hosts as the inventory has written them, for the groups of VMs that are drained alike. Nothing is templated, and no fact of a VM is used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ....module_utils._scheduled_events.core.names import folded
from ....module_utils._scheduled_events.core.types import Values
from ..._core import host_variables, plain_values
from ..config.alike_groups import TEMPLATE, Written
from . import expected_identity

# Groups that Ansible, or a playbook of this collection, makes for each run or each inventory.
NO_GROUPS = frozenset(("all", "ungrouped", "azure_maintenance_chosen"))


def read(names: Iterable[str], hostvars: Any, left_out: frozenset[str]) -> Iterator[Written]:
    """Return hosts from their variables, not templated, but those that have no drain method, are left alone or have one of the names of C(left_out).

    A VM chooses no group for itself by its facts: they come before the inventory's variables of the same name.
    """
    for host in names:
        variables = host_variables.written(host, hostvars)
        facts = plain_values.mapping(variables.get("ansible_facts"))
        methods = None if "drain_methods" in facts else _written(variables.get("drain_methods"))
        is_alone = "respond_exclude" not in facts and plain_values.flag(variables.get("respond_exclude")) is True
        if isinstance(methods, (list, str)) and methods and not is_alone and (one := _host(host, methods, variables)).names.isdisjoint(left_out):
            yield one


def _host(host: str, methods: Any, variables: Values) -> Written:
    # A template says nothing here, and a fact is the VM's own word.
    known = {key: value for key, value in expected_identity.of_variables(variables).items() if TEMPLATE not in value}
    groups = tuple(sorted(set(plain_values.texts(variables.get("group_names"))) - NO_GROUPS))
    place = (known.get("subscription", ""), known["group"]) if "group" in known else ("", "")
    return Written(host, methods, groups, place, frozenset((folded(host), known.get("name", ""))))


def _written(value: Any) -> Any:
    """Return a value as plain data. A secret of a vault stays encrypted: it is compared, and never shown."""
    if hasattr(value, "_ciphertext"):
        return f"{TEMPLATE}{value._ciphertext}"
    if isinstance(value, (dict, Mapping)):
        return {str(key): _written(item) for key, item in value.items()}
    return [_written(item) for item in value] if isinstance(value, (list, tuple)) else plain_values.plain(value)
