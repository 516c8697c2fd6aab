# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Restarts that an upgrade orders through Azure: approved at once if all affected VMs are drained under its lease."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.upgrade.gate_own_events import own_events
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import at, event, record, vm
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.upgrade.test_gate import NAME, OURS, RUN, lease, lease_of_other_run

ORDERED = {"event_source": "User"}


def drained(host: str, *events: dict[str, Any], phase: str = "drained", leases: Any = None, **more: Any) -> dict[str, Any]:
    its = event(OURS, (host,), event_type="Upgrade", due=None)
    return vm(host, list(events), [record(phase, its)], leases=[lease()] if leases is None else leases, **more)


def own_restarts(*seen: dict[str, Any]) -> list[dict[str, Any]]:
    return own_events(list(seen), {"upgrade": NAME, "batch": ["vm1"]}, settings={"run": RUN}, now=at(0))


def test_a_restart_of_vms_drained_under_the_lease_is_approved() -> None:
    (found,) = own_restarts(drained("vm1", event(**ORDERED)))
    assert found.pop("event")["event_source"] == "User"
    assert found == {"event_id": "E1", "approve": True, "host": "vm1", "hosts": ["vm1"], "approve_for": ["vm1"], "why": None}


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        (drained("vm1", event(resources=("vm1", "stranger"), **ORDERED)), "also names stranger"),
        (drained("vm1", event(**ORDERED), leases=[]), "vm1 is not drained under this upgrade's lease"),
        (drained("vm1", event(**ORDERED), leases=[lease_of_other_run(OURS)]), "vm1 is not drained under"),
        (drained("vm1", event(**ORDERED), leases=[lease(), lease_of_other_run()]), "run run00other of bob on deploy2 is at work on vm1 for E9"),
        (drained("vm1", event(**ORDERED), phase="draining"), "vm1 is not drained under"),
        (drained("vm1", event(**ORDERED), boot_id="another"), "vm1 is not drained under"),
        (vm("vm1", [event(**ORDERED)], leases=[lease()]), "vm1 is not drained under"),
    ],
    ids=["stranger", "no lease", "another run's", "somebody else as well", "still draining", "rebooted", "not drained"],
)
def test_nothing_else_is(seen: dict[str, Any], message: str) -> None:
    (found,) = own_restarts(seen)
    assert not found["approve"]
    assert message in found["why"]


def test_one_vm_too_few_and_it_waits() -> None:
    both = event(resources=("vm1", "vm2"), **ORDERED)
    assert not own_restarts(drained("vm1", both), vm("vm2", [both]))[0]["approve"]
    assert own_restarts(drained("vm1", both), drained("vm2", both))[0]["approve"]


@pytest.mark.parametrize("more", [{"event_source": "Platform"}, {"event_source": None}, {"status": "Started", **ORDERED}])
def test_azures_own_maintenance_is_not_an_ordered_restart(more: dict[str, Any]) -> None:
    assert own_restarts(drained("vm1", event(**more))) == []


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.randoms(use_true_random=True))
def test_for_any_fleet_all_that_it_hits_is_drained_under_the_lease(dice: random.Random) -> None:
    names = ["vm1", "vm2", "vm3"]
    one = event(resources=tuple(dice.sample([*names, "stranger"], dice.randint(1, 3))), **ORDERED)
    ready, seen = set(), []
    for name in names:
        phase, mine, fresh = dice.choice(("drained", "drained", "draining", "gone")), dice.random() < 0.8, dice.random() < 0.9
        if phase == "drained" and mine and fresh:
            ready.add(name)
        seen.append(drained(name, one, phase=phase, leases=[lease()] if mine else [], boot_id="boot" if fresh else "another"))
    (found,) = own_restarts(*seen)
    assert found["approve"] == (set(one["resources"]) <= ready)
