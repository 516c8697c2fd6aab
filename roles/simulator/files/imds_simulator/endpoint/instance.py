# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Instance metadata: a VM's identity, with the fields that matter for maintenance."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

from imds_simulator.vm import Vm

# Key of the document: (key of the VM, first api-version that has it).
_FIELDS: Dict[str, Tuple[str, str]] = {
    "name": ("name", "2017-04-02"),
    "vmId": ("vm_id", "2017-04-02"),
    "location": ("location", "2017-04-02"),
    "osType": ("os_type", "2017-04-02"),
    "vmSize": ("size", "2017-04-02"),
    "publisher": ("publisher", "2017-04-02"),
    "offer": ("offer", "2017-04-02"),
    "sku": ("sku", "2017-04-02"),
    "version": ("image_version", "2017-04-02"),
    "platformFaultDomain": ("fault_domain", "2017-04-02"),
    "platformUpdateDomain": ("update_domain", "2017-04-02"),
    "placementGroupId": ("placement_group", "2017-08-01"),
    "resourceGroupName": ("resource_group", "2017-08-01"),
    "subscriptionId": ("subscription_id", "2017-08-01"),
    "tags": ("tags", "2017-08-01"),
    "vmScaleSetName": ("scale_set", "2017-12-01"),
    "zone": ("zone", "2017-12-01"),
    "azEnvironment": ("environment", "2018-10-01"),
    "resourceId": ("resource_id", "2019-03-11"),
    "priority": ("priority", "2020-12-01"),
    "evictionPolicy": ("eviction_policy", "2020-12-01"),
}


def instance(vm: Vm, version: str) -> Dict[str, Any]:
    """Return the instance metadata of a VM in an api-version."""
    values = dict(vm.texts, name=vm.name)
    compute: Dict[str, Any] = {key: values[source] for key, (source, since) in sorted(_FIELDS.items()) if version >= since}
    if version >= "2020-07-15":
        compute["osProfile"] = {"adminUsername": "azureuser", "computerName": vm.name.replace("_", "-").lower()}
    if version >= "2019-06-04":
        pairs = [tag.partition(":") for tag in vm.texts["tags"].split(";") if tag]
        compute["tagsList"] = [{"name": name, "value": value} for name, _separator, value in pairs]
    return {"compute": compute, "network": {"interface": [_interface(vm.texts)]}}


def _interface(texts: Dict[str, str]) -> Dict[str, Any]:
    """Return the one network interface, in the form of real answers."""
    address = {"privateIpAddress": texts["private_ip"], "publicIpAddress": texts["public_ip"]}
    subnet = {"address": texts["subnet"], "prefix": texts["subnet_prefix"]}
    return {"ipv4": {"ipAddress": [address], "subnet": [subnet]}, "ipv6": {"ipAddress": []}, "macAddress": texts["mac_address"]}


def node(document: Any, path: str) -> Optional[Any]:
    """Return the part of the document below ``/metadata/instance``, or None if the path does not exist."""
    for segment in [segment for segment in path.split("/") if segment]:
        if isinstance(document, dict) and segment in document:
            document = document[segment]
        elif isinstance(document, list) and segment.isdigit() and int(segment) < len(document):
            document = document[int(segment)]
        else:
            return None
    return document
