# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts are looked at for an event: no fact of a VM, as from a fact cache, chooses any, and none ends the choice for all."""

from __future__ import annotations

from typing import Any

from ansible_collections.maintenance.azure.plugins.action.choose_vms import _known

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
