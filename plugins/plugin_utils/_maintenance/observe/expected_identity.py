# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The identity of a VM by the inventory. The inventory decides; a VM that contradicts it counts as not observed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..._core import plain_values
from ..core.model import Identity

KEYS = {"vm_id": "vmId", "name": "name", "group": "resource group", "subscription": "subscription"}
GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Resource ids of a VM, and of an instance of a scale set with uniform orchestration.
RESOURCE_ID = re.compile(r"/subscriptions/([^/]+)/resourcegroups/([^/]+)/providers/microsoft\.compute/virtualmachines/([^/]+)")


def of_variables(variables: Mapping[str, Any]) -> dict[str, str]:
    """Read a host's variables: C(respond_vm_id), else C(vmid) and C(id) of azure.azcollection's inventory.

    Facts come from the VM and take precedence over the inventory's variables, so a name that is also a fact is not used.
    """
    facts = plain_values.mapping(variables.get("ansible_facts"))
    found: dict[str, str] = {}
    given = {key: plain_values.text(variables.get(key)) for key in ("respond_vm_id", "vmid", "id") if key not in facts}
    vm_id = (given.get("respond_vm_id") or given.get("vmid") or "").strip().lower()
    # Inventories of other kinds use these short names for other things.
    if given.get("respond_vm_id") or GUID.fullmatch(vm_id):
        found["vm_id"] = vm_id
    if resource := RESOURCE_ID.fullmatch((given.get("id") or "").strip().lower()):
        found.update(subscription=resource[1], group=resource[2], name=resource[3])
    return found


def identity(given: Any) -> Identity | None:
    """Return the identity that the inventory knows, or None."""
    source = {key: plain_values.text(value) for key, value in plain_values.mapping(given).items() if key in KEYS}
    return Identity(**source) if any(source.values()) else None


def contradiction(given: Any, identity: Identity) -> str | None:
    """Return how the VM contradicts the inventory, or None if they agree or one of them is unknown."""
    for key, wanted in plain_values.mapping(given).items():
        leased = getattr(identity, key, None) if key in KEYS else None
        if leased is not None and plain_values.text(wanted) not in (None, leased):
            problem = f"it says that its {KEYS[key]} is {leased}, and the inventory knows {wanted}: it is not taken for this VM"
            return problem + "; correct respond_vm_id (or vmid and id in the inventory) if the VM was made anew, else see who answers at its address"
    return None
