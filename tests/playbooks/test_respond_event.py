# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Playbook respond_event: a run for a message looks at a few VMs of the fleet, and decides as one that looks at all would, or holds."""

from __future__ import annotations

import typing as t

from lab.lab import Lab

Make = t.Callable[..., Lab]
FLEET = [f"web{number}" for number in range(1, 9)]
EVENT = {"notice": 36000, "started_seconds": 60}


def asked(lab: Lab) -> set[str]:
    """The VMs that were asked for their events."""
    return {vm for vm in lab.vms if lab.records_folder(vm).exists()}


def respond_event(lab: Lab, event_id: str, names: t.Any, **variables: t.Any) -> str:
    return lab.play("maintenance.azure.respond_event", respond_only_events=event_id, respond_only_vms=names, **variables)


def test_the_named_vm_its_group_and_keepers_are_asked_and_no_other(make_lab: Make) -> None:
    lab = make_lab(FLEET)
    lab.all["respond_capacity"] = [{"name": "web", "members": ["web1", "web7"], "max_unavailable": 1}]
    event_id = lab.simulator.event("Reboot", ["web1"], **EVENT)
    output = respond_event(lab, event_id, "web1", respond_wait=True)
    assert lab.phases("web1")[-1] == "recovered" and lab.flag("web1").exists()
    assert asked(lab) == {"web1", "web2", "web3", "web4", "web7"}
    assert "Looking at all" not in output and "[WARNING]" not in output


def test_a_name_that_no_host_has_makes_it_look_at_all_and_no_pattern_is_made_of_one(make_lab: Make) -> None:
    lab = make_lab(FLEET[:5])
    event_id = lab.simulator.event("Reboot", ["web1"], **EVENT)
    # Templates in extra variables are Ansible's own to evaluate: of a message, the filter of events refuses them (tests/unit of extensions/eda).
    output = respond_event(lab, event_id, ["web1", "web[1:2]", "all"], respond_wait=True)
    assert "Looking at all 5 hosts, because no host of the inventory has the name" in output
    assert lab.phases("web1")[-1] == "recovered" and asked(lab) == set(FLEET[:5])


def test_an_event_that_names_a_vm_which_is_not_looked_at_is_held_and_served_by_the_next_whole_pass(make_lab: Make) -> None:
    """A message named web1 alone, whoever sent it. Not even unmanaged VMs that are ignored make the run take web7 for one."""
    lab = make_lab(FLEET)
    event_id = lab.simulator.event("Reboot", ["web1", "web7"], **EVENT)
    output = respond_event(lab, event_id, "web1", respond_unmanaged="ignore")
    assert "web7 may be a VM that was not read" in output
    assert lab.simulator.approvals() == [] and "web7" not in asked(lab)
    lab.respond(respond_unmanaged="ignore", respond_wait=True)
    assert {vm: lab.phases(vm)[-1] for vm in ("web1", "web7")} == {"web1": "recovered", "web7": "recovered"}
    assert len(lab.simulator.approvals()) == 1
