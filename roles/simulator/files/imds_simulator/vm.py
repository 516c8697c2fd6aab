# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The VMs whose metadata service is simulated."""

from __future__ import annotations

import uuid
from typing import Any, Dict, Optional, Tuple

_TEXTS = {
    "group": "default",
    "zone": "",
    "fault_domain": "0",
    "update_domain": "0",
    "location": "westeurope",
    "priority": "Regular",
    "eviction_policy": "",
    "environment": "AzurePublicCloud",
    "os_type": "Linux",
    "size": "Standard_D2s_v5",
    "scale_set": "",
    "placement_group": "",
    "resource_group": "simulator",
    "subscription_id": "00000000-0000-4000-8000-000000000001",
    "vm_id": "",
    "resource_id": "",
    "tags": "",
    "publisher": "Debian",
    "offer": "debian-12",
    "sku": "12-gen2",
    "image_version": "latest",
    "private_ip": "10.0.0.4",
    "public_ip": "",
    "subnet": "10.0.0.0",
    "subnet_prefix": "24",
    "mac_address": "000D3A000004",
}
_NAMESPACE = uuid.UUID("8a9d4f3e-6f0e-4e55-9d0b-6d2f2c1b7a10")


class Vm:
    """One VM: its identity, the group whose events it gets, and its endpoint's address."""

    def __init__(self, name: str, address: str = "127.0.0.1:0", alone: bool = False, **texts: Any) -> None:
        unknown = sorted(set(texts) - set(_TEXTS))
        if unknown:
            raise ValueError("a VM has no '%s'; known are address, alone, %s" % (unknown[0], ", ".join(sorted(_TEXTS))))
        if not name or not isinstance(name, str):
            raise ValueError("a VM needs a name, not %r" % (name,))
        self.name = name
        self.host, self.port = split_address(address)
        # GPU VMs of a scale set with one fault domain get only events that name them.
        if not isinstance(alone, bool):
            raise ValueError("'alone' of VM %s is true or false, not %r" % (name, alone))
        self.alone = alone
        self.texts: Dict[str, str] = {key: str(texts.get(key, default)) for key, default in _TEXTS.items()}
        if not self.texts["vm_id"]:
            # The same name gives the same id in every run, so that records stay valid after a restart of the simulator.
            self.texts["vm_id"] = str(uuid.uuid5(_NAMESPACE, name))
        if not self.texts["resource_id"]:
            self.texts["resource_id"] = self._resource_id()
        self.url: Optional[str] = None
        self.gone = False

    def _resource_id(self) -> str:
        texts = self.texts
        prefix = "/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute" % (texts["subscription_id"], texts["resource_group"])
        instance = self.name.rpartition("_")[2]
        if texts["scale_set"] and instance.isdigit():
            return "%s/virtualMachineScaleSets/%s/virtualMachines/%s" % (prefix, texts["scale_set"], instance)
        return "%s/virtualMachines/%s" % (prefix, self.name)

    @property
    def group(self) -> str:
        """Return the delivery group."""
        return self.texts["group"]

    @property
    def zone(self) -> str:
        """Return the zone; empty without one."""
        return self.texts["zone"]

    def as_dict(self) -> Dict[str, Any]:
        """Return the VM for the control API."""
        return dict(self.texts, name=self.name, url=self.url, alone=self.alone, gone=self.gone)


def split_address(address: str) -> Tuple[str, int]:
    """Split ``host:port``, ``host`` or ``:port``; port 0 takes any free one."""
    host, separator, port = address.rpartition(":")
    if not separator:
        host, port = address, "0"
    try:
        number = int(port)
    except ValueError:
        raise ValueError("'%s' is not an address of the form host:port" % address) from None
    if not 0 <= number <= 65535:
        raise ValueError("port %d of '%s' is not between 0 and 65535" % (number, address))
    return host.strip("[]") or "127.0.0.1", number


def parse_vm(text: str) -> Vm:
    """Parse ``name`` or ``name=host:port`` of the command line."""
    name, separator, address = text.partition("=")
    return Vm(name, address) if separator else Vm(name)
