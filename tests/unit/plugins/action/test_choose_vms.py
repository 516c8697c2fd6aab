# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts are looked at for an event: no fact of a VM, as from a fact cache, chooses any, and none ends the choice for all."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.action import choose_vms
from ansible_collections.maintenance.azure.plugins.action.choose_vms import _known
from ansible_collections.maintenance.azure.tests.unit.plugins.action import controller_actions

GROUPS = [{"name": "web", "members": ["web1", "web2"], "max_unavailable": 1}]


def known(facts: dict[str, Any]) -> Any:
    # Facts take precedence over variables of the inventory.
    return _known("web1", {"web1": {"respond_vm_name": "vm-web1", "respond_capacity": GROUPS, "ansible_facts": facts, **facts}})


def test_names_and_groups_are_those_of_the_inventory() -> None:
    found = known({"distribution": "Debian"})
    assert found.names == {"web1", "vm-web1"} and found.groups == (("web1", "web2"),)


def test_facts_choose_nothing_and_end_nothing() -> None:
    # The parser of the condition would recurse without end.
    found = known({"respond_vm_name": "vm-web2", "respond_capacity": [{"name": "x", "members": ["web2"], "keep": "(" * 20000}]})
    assert found.names == {"web1"} and found.groups == ()


class Hostvars(dict[str, Any]):
    """What the action gets as hostvars: a host's variables, and the same as they are written."""

    def raw_get(self, host: str) -> Any:
        return self[host]


@pytest.mark.parametrize(("option", "looked_at"), [({}, ["web1", "web2", "web9"]), ({"respond_capacity_alike": False}, ["web1", "web2"])])
def test_a_run_for_one_event_looks_at_those_that_are_drained_alike(option: dict[str, Any], looked_at: list[str]) -> None:
    """Else they would count as not in this run, and hold the event for as long as VMs that may come back."""
    hosts = {name: {"drain_methods": [{"method": "haproxy", "balancers": ["lb1"]}], "group_names": ["web"]} for name in ("web1", "web9")}
    hosts |= {name: {"drain_methods": [{"method": "none"}], "respond_exclude": True} for name in ("web2", "db1", "db2", "db3", "db4")}
    order = ["web1", "web2", "db1", "db2", "db3", "db4", "web9"]
    variables = {"hostvars": Hostvars({name: hosts[name] for name in order}), "ansible_play_hosts": order, **option}
    chosen = controller_actions.run_action(choose_vms, {"names": ["web1"]}, variables)["hosts"]
    assert [name for name in chosen if name not in ("db1", "db2")] == looked_at, chosen
