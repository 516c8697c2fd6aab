# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.identity import read_identity
from ansible_collections.maintenance.azure.tests.unit.plugins.support import payload

KEYS = {
    *("name", "vm_id", "resource_id", "subscription_id", "resource_group", "scale_set", "placement_group", "fault_domain"),
    *("update_domain", "zone", "location", "priority", "eviction_policy", "environment", "os_type"),
}


def test_a_real_answer():
    identity = read_identity(json.loads(payload("instance_2017-08-01.json")))
    assert set(identity) == KEYS
    assert identity["name"] == "web_0"
    assert identity["vm_id"] == "b09aaddf-246b-4d5d-8aa0-0d26963607cc"
    assert identity["resource_group"] == "group-one"
    assert (identity["fault_domain"], identity["os_type"]) == ("0", "Linux")
    # not known to that version
    assert (identity["zone"], identity["priority"], identity["scale_set"]) == (None, None, None)


def test_older_and_bare_answers():
    identity = read_identity(json.loads(payload("instance_2017-04-02.json")))
    assert identity["name"] and identity["resource_group"] is None
    assert read_identity({"name": "vm"})["name"] == "vm"


def test_empty_text_is_not_known():
    identity = read_identity({"compute": {"name": "web1", "zone": "", "priority": "Spot", "evictionPolicy": "Delete", "vmScaleSetName": " "}})
    assert (identity["zone"], identity["priority"], identity["eviction_policy"], identity["scale_set"]) == (None, "Spot", "Delete", None)


@pytest.mark.parametrize("end", ["", "/"])
def test_a_flexible_scale_set_is_known_by_its_id(end):
    whole = "/subscriptions/x/resourceGroups/y/providers/Microsoft.Compute/virtualMachineScaleSets/flex" + end
    assert read_identity({"compute": {"virtualMachineScaleSet": {"id": whole}}})["scale_set"] == "flex"


@pytest.mark.parametrize("odd", [None, {}, [], "text", {"compute": None}, {"compute": []}, {"compute": {"name": {}, "vmId": True, "zone": []}}])
def test_anything_else_is_nothing_known(odd):
    assert read_identity(odd) == dict.fromkeys(KEYS)
