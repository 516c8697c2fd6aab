# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Identity: the inventory's takes precedence, and conflicting leases are contested."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.observe import expected_identity
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import acts, event, plan, record, vm

ID = "0a1b2c3d-0000-4000-8000-00000000000f"
PATH = "/subscriptions/S/resourceGroups/RG/providers/Microsoft.Compute/virtualMachines/vm1"


def identity_of(name: str = "vm1", vm_id: str | None = ID) -> dict[str, Any]:
    return {"name": name, "resource_group": "RG", "subscription_id": "S", "vm_id": vm_id}


def drained(host: str, **more: Any) -> dict[str, Any]:
    return vm(host, [event()], [record("drained")], **more)


@pytest.mark.parametrize(
    ("variables", "known"),
    [
        ({}, {}),
        ({"respond_vm_id": " X1 "}, {"vm_id": "x1"}),
        ({"vmid": ID.upper(), "id": PATH}, {"vm_id": ID, "subscription": "s", "group": "rg", "name": "vm1"}),
        ({"respond_vm_id": "a", "vmid": ID}, {"vm_id": "a"}),
        # Inventories of other kinds use these names for other things.
        ({"vmid": 7, "id": "i-0123"}, {}),
        ({"vmid": None, "id": ["x"]}, {}),
        # Facts come from the VM, not from the inventory.
        ({"vmid": ID, "ansible_facts": {"vmid": ID}}, {}),
    ],
)
def test_identity_from_the_inventory(variables: dict[str, Any], known: dict[str, str]) -> None:
    assert expected_identity.of_variables(variables) == known


@pytest.mark.parametrize(
    ("known", "message"),
    [({"vm_id": "another"}, "vmId"), ({"name": "web9"}, "name"), ({"group": "other"}, "resource group"), ({"subscription": "T"}, "subscription")],
)
def test_a_vm_that_contradicts_the_inventory_was_not_observed(known: dict[str, str], message: str) -> None:
    found = plan({**drained("vm1", identity=identity_of()), "expected_identity": known})
    assert acts(found) == []
    assert found["hosts"]["vm1"]["state"] == "failed"
    assert f"it says that its {message} is" in found["hosts"]["vm1"]["error"]
    assert found["summary"]["failed"] == ["vm1"]


def test_one_that_agrees_or_does_not_say_is_observed() -> None:
    for identity in (identity_of(), identity_of(vm_id=None)):
        assert acts(plan({**drained("vm1", identity=identity), "expected_identity": {"vm_id": ID, "name": "vm1"}})) == ["approve vm1 E1"]


def test_the_inventory_identifies_a_silent_vm() -> None:
    """Known, so that no other name is unsure while the VM does not answer."""
    both = event(resources=("vm1", "stranger"))
    silent = vm("host7", state="unreachable")
    seen = vm("vm1", [both], [record("drained", both)])
    assert acts(plan(seen, silent, unmanaged="ignore")) == []
    assert acts(plan(seen, {**silent, "expected_identity": {"name": "vm7"}}, unmanaged="ignore")) == ["approve vm1 E1"]


@pytest.mark.parametrize(
    "liar",
    [
        vm("liar", [event()], identity=identity_of(vm_id="another")),
        vm("liar", [event()], identity=identity_of()),
        vm("liar", [], identity=identity_of("liar")),
        vm("liar", [event()], identity={**identity_of(vm_id=None), "resource_group": "other"}),
    ],
    ids=["name", "name and id", "id under its own name", "name in another group"],
)
def test_a_name_or_id_of_two_vms_holds_the_approval_and_hides_neither(liar: dict[str, Any]) -> None:
    liar["observation"]["vm_name"] = liar["observation"]["identity"]["name"]
    honest = drained("vm1", identity=identity_of())
    assert acts(plan(honest)) == ["approve vm1 E1"]
    for seen in ([honest, liar], [liar, honest]):
        found = plan(*seen)
        assert not [word for word in acts(found) if word.startswith("approve")]
        assert "both say that" in found["summary"]["problems"][0]
        near = event(due=229)
        first = vm("vm1", [near], identity=identity_of())
        assert "drain vm1 E1" in acts(plan(*[first if one is honest else one for one in seen]))


def test_a_name_may_be_a_host_that_a_partial_run_does_not_look_at() -> None:
    both = event(resources=("vm1", "stranger"))
    stranger = vm("vm1", [both], [record("drained", both)])
    whole, part = (plan(stranger, unmanaged="ignore", partial=partial) for partial in (False, True))
    assert "approve vm1 E1" in acts(whole) or "acquire vm1 E1" in acts(whole)
    assert acts(part) == [] and "stranger may be a VM that was not read" in str(part["events"])
