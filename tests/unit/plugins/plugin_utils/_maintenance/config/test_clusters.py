# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""VMs whose drain methods name the same cluster drain one after the other, whichever events name them; at a deadline rule 4 counts."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config import capacity_groups
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import load, without_effect
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import acts, event, method, plan, record, vm

PG = {"pg": ["vm1", "vm2", "vm3"]}
E1, E2 = event("E1", ("vm1",)), event("E2", ("vm2",), due=950)


def test_the_members_are_the_hosts_that_name_it() -> None:
    methods: dict[str, Any] = {
        "b": [{"method": "patroni", "cluster": "pg"}, {"method": "service", "cluster": "mq"}, {"method": "none", "cluster": "pg"}],
        "a": [{"method": "patroni", "cluster": "pg"}],
        "c": [{"method": "none"}],
        "d": [{"method": "none", "cluster": ""}, {"method": "none", "cluster": ["pg"]}, "x", None],
        "e": None,
        "f": "none",
    }
    assert capacity_groups.cluster_members(methods) == {"pg": ["b", "a"], "mq": ["b"]}


def test_one_that_a_single_host_names_is_told() -> None:
    """A misspelt name protects nothing, and no run is otherwise any different."""
    words = "Only one host names these clusters in drain_methods, so it waits for no other: PG (c), pq (d). Check their names."
    assert capacity_groups.cluster_warnings({"pg": ["a", "b"], "PG": ["c"], "pq": ["d"]}) == [words]
    assert capacity_groups.cluster_warnings({"pg": ["a", "b"]}) == capacity_groups.cluster_warnings({}) == capacity_groups.cluster_warnings(None) == []
    assert capacity_groups.cluster_warnings({f"c{number}": ["a"] for number in range(9)})[0].endswith("c5 (a) and 3 more. Check their names.")


def test_each_is_a_group_of_which_one_may_be_unavailable() -> None:
    loaded = load({"capacity": [{"name": "web", "members": ["vm9"], "max_unavailable": 2}], "clusters": PG})
    assert [(group.name, group.members, group.limit) for group in loaded.capacity] == [("web", ("vm9",), 2), ("cluster pg", ("vm1", "vm2", "vm3"), 1)]
    # The same hash as that of a declared list: runs that count other members do not rely on each other's leases.
    assert loaded.capacity[1].hash != load({"clusters": {"pg": ["vm1", "vm2"]}}).capacity[0].hash
    assert load({"clusters": {}}).capacity == load({}).capacity == ()


def test_a_group_of_the_same_name_is_refused() -> None:
    with pytest.raises(WrongInput, match="capacity group 'cluster pg' has the name of the group of a cluster in drain_methods; give it another"):
        load({"capacity": [{"name": "cluster pg", "members": ["vm9"], "max_unavailable": 2}], "clusters": PG})


def test_it_is_no_option_of_operators() -> None:
    assert without_effect({"clusters": PG}) == ["respond_timing: clusters has no effect there; remove it"]


def test_the_second_waits_until_the_first_is_back() -> None:
    seen = (vm("vm1", [E1, E2]), vm("vm2", [E1, E2]), vm("vm3"))
    assert acts(plan(*seen, clusters=PG)) == ["drain vm1 E1"]
    for phase in ("draining", "drained", "approved", "started", "gone", "recovering"):
        others = [E2] if phase in ("gone", "recovering") else [E1, E2]
        found = plan(vm("vm1", others, [record(phase, E1)]), vm("vm2", others), vm("vm3"), clusters=PG)
        assert "drain vm2 E2" not in acts(found), phase
    done = record("recovered", E1, methods=[method("undone")])
    assert "drain vm2 E2" in acts(plan(vm("vm1", [E2], [done]), vm("vm2", [E2]), vm("vm3"), clusters=PG))


def test_without_a_cluster_both_go() -> None:
    assert acts(plan(vm("vm1", [E1, E2]), vm("vm2", [E1, E2]), vm("vm3"))) == ["drain vm1 E1", "drain vm2 E2"]


def test_an_event_for_two_of_them_waits_for_its_deadline_and_is_not_approved() -> None:
    both = event("E1", ("vm1", "vm2"), due=2000)
    found = plan(vm("vm1", [both]), vm("vm2", [both]), vm("vm3"), clusters=PG)
    assert not [one for one in acts(found) if one.startswith("drain")]
    (entry,) = found["events"]
    assert "capacity group 'cluster pg' lets 1 of its 3 members be unavailable" in str(entry)
    near = event("E1", ("vm1", "vm2"), due=60)
    late = acts(plan(vm("vm1", [near]), vm("vm2", [near]), vm("vm3"), clusters=PG))
    assert any(one.startswith("drain") for one in late) and not any(one.startswith("approve") for one in late)


def test_where_a_member_is_not_in_the_run_nothing_is_assumed_of_it() -> None:
    found = plan(vm("vm1", [E1]), vm("vm2", [E1]), clusters=PG)
    assert not [one for one in acts(found) if one.startswith("drain")]
    assert "vm3 of its members are not in this run" in str(found["events"])


def test_the_plan_shows_a_cluster_only_while_a_member_is_unavailable() -> None:
    quiet = plan(vm("vm1"), vm("vm2"), vm("vm3"), clusters=PG, capacity=[{"name": "web", "members": ["vm3"], "max_unavailable": 1}])
    assert [one["name"] for one in quiet["capacity"]] == ["web"]
    busy = plan(vm("vm1", [E1], [record("draining", E1)]), vm("vm2"), vm("vm3"), clusters=PG)
    assert [(one["name"], list(one["out"])) for one in busy["capacity"]] == [("cluster pg", ["vm1"])]
