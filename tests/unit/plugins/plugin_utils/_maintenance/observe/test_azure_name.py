# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The name in Azure of a member, to which another VM fails over: what the inventory knows is not for the member to change."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.observe.expected_identity import azure_name

SAYS = {"observe_result": {"vm_name": "other"}}
RESOURCE = "/subscriptions/s/resourceGroups/RG/providers/Microsoft.Compute/virtualMachines/DB2"


@pytest.mark.parametrize(
    ("variables", "name"),
    [
        ({"respond_vm_name": "db2", **SAYS}, "db2"),
        ({"id": RESOURCE, **SAYS}, "db2"),
        ({"respond_vm_name": "db2", "id": RESOURCE.replace("DB2", "db3"), **SAYS}, "db2"),
        ({"respond_vm_name": "", "id": "17", **SAYS}, "other"),
        (SAYS, "other"),
        # Facts come from the VM, and are variables like any other.
        ({"ansible_facts": {"respond_vm_name": "x", "id": "y"}, "respond_vm_name": "x", "id": RESOURCE, **SAYS}, "other"),
        ({"observe_result": None}, None),
        ({"observe_result": {"vm_name": None}}, None),
        ({}, None),
    ],
)
def test_the_inventory_comes_before_the_vm(variables: dict[str, Any], name: str | None) -> None:
    assert azure_name(variables) == name


def test_a_variable_that_cannot_be_evaluated_fails_nobody() -> None:
    class Variables(dict[str, Any]):
        def get(self, name: str, default: Any = None) -> Any:
            if name == "respond_vm_name":
                raise RuntimeError("undefined fact")
            return super().get(name, default)

    assert azure_name(Variables(SAYS)) == "other"
