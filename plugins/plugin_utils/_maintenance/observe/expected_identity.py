# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The identity of a VM by the inventory. The inventory decides; a VM that contradicts it counts as not observed."""

from __future__ import annotations

import re
from typing import Any

from ....module_utils._scheduled_events.core.names import folded
from ....module_utils._scheduled_events.core.types import Values
from ..._core import plain_values
from ..core.model import Identity

KEYS = {"vm_id": "vmId", "name": "name", "group": "resource group", "subscription": "subscription"}
GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Resource ids of a VM, and of an instance of a scale set with uniform orchestration.
RESOURCE_ID = re.compile(r"/subscriptions/([^/]+)/resourcegroups/([^/]+)/providers/microsoft\.compute/virtualmachines/([^/]+)")


def of_variables(variables: Values) -> dict[str, str]:
    """Read a host's variables, of which one that cannot be evaluated is missing: C(respond_vm_id), else C(vmid) and C(id) of azure.azcollection's inventory.

    Facts come from the VM and take precedence over the inventory's variables, so a name that is also a fact is not used.
    """
    facts = plain_values.mapping(variables.get("ansible_facts"))
    found: dict[str, str] = {}
    given = {key: plain_values.text(variables.get(key)) for key in ("respond_vm_id", "vmid", "id") if key not in facts}
    vm_id = folded(given.get("respond_vm_id") or given.get("vmid") or "")
    # Inventories of other kinds use these short names for other things.
    if given.get("respond_vm_id") or GUID.fullmatch(vm_id):
        found["vm_id"] = vm_id
    if resource := RESOURCE_ID.fullmatch(folded(given.get("id") or "")):
        found.update(subscription=resource[1], group=resource[2], name=resource[3])
    return found


def azure_name(variables: Values) -> str | None:
    """Return a host's name in Azure: as the inventory knows it, and only where it knows none as the VM says. No word of a VM makes another fail over to it."""
    known = {name: _value(variables, name) for name in ("ansible_facts", "respond_vm_name", "id", "observe_result")}
    is_fact = "respond_vm_name" in plain_values.mapping(known["ansible_facts"])
    configured = None if is_fact else plain_values.text(known["respond_vm_name"])
    of_inventory = (configured or "").strip() or of_variables(known).get("name")
    return of_inventory or plain_values.text(plain_values.mapping(known["observe_result"]).get("vm_name"))


def _value(variables: Values, name: str) -> Any:
    """Return a variable. One that cannot be evaluated, perhaps for a missing fact, is this host's fault and must not fail the one that asks."""
    try:
        return variables.get(name)
    except Exception:  # of ansible-core, which nothing here imports
        return None


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
