# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The VM's identity, from the instance metadata, where every value is text and an unknown one is empty."""

from __future__ import annotations

import typing as t

from ..core.types import Values

# our name -> the name in the instance metadata
_FIELDS = {
    "name": "name",
    "vm_id": "vmId",
    "resource_id": "resourceId",
    "subscription_id": "subscriptionId",
    "resource_group": "resourceGroupName",
    "scale_set": "vmScaleSetName",
    "placement_group": "placementGroupId",
    "fault_domain": "platformFaultDomain",
    "update_domain": "platformUpdateDomain",
    "zone": "zone",
    "location": "location",
    "priority": "priority",
    "eviction_policy": "evictionPolicy",
    "environment": "azEnvironment",
    "os_type": "osType",
}

Identity = t.Dict[str, t.Optional[str]]


def _text(value: t.Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    return str(value).strip() or None


def read_identity(instance: Values | None) -> Identity:
    """Return all keys always; None for what this VM, or this version of the metadata service, does not provide."""
    compute: t.Any = instance or {}
    if isinstance(compute, t.Mapping) and isinstance(compute.get("compute"), t.Mapping):
        compute = compute["compute"]
    if not isinstance(compute, t.Mapping):
        compute = {}
    identity = {ours: _text(compute.get(theirs)) for ours, theirs in _FIELDS.items()}
    if identity["scale_set"] is None:
        # For flexible scale sets only this key has it, as the whole resource id.
        flexible = compute.get("virtualMachineScaleSet")
        whole = _text(flexible.get("id")) if isinstance(flexible, t.Mapping) else None
        identity["scale_set"] = (whole or "").rstrip("/").rpartition("/")[2] or None
    return identity
