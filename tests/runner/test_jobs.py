# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Playbooks as jobs of AWX, in an environment that has nothing but what the execution environment has. Failures first."""

from __future__ import annotations

import typing as t

from lab.lab import Lab

from runner.private_data import Inventory, Job, Place, script_data

Make = t.Callable[..., Lab]
FAR = {"notice": 36000, "started_seconds": 120}


def inventory_of(lab: Lab) -> Inventory:
    return script_data(lab.hosts, lab.all, {"web": list(lab.hosts)})


def unreachable(lab: Lab, vm: str) -> None:
    """Nobody listens there."""
    lab.hosts[vm].update(ansible_connection="ssh", ansible_host="127.0.0.1", ansible_port=9, ansible_ssh_timeout=2)


def test_a_vm_that_cannot_be_reached_does_not_turn_a_good_respond_red(make_lab: Make, place: Place) -> None:
    lab = make_lab(["web1", "web2", "web3"])
    unreachable(lab, "web2")
    event = lab.simulator.event("Freeze", ["web1"], duration_in_seconds=5, **FAR)
    job = Job(place, lab.folder, "playbooks/respond.yml", inventory_of(lab)).run({"respond_wait": True}).good()
    assert len(lab.simulator.approvals()) == 1
    assert lab.phases("web1")[-1] == "recovered", event
    assert job.stats["dark"] == {}, "AWX counts it among the hosts that failed"
    assert job.stats["failures"] == {}
    assert job.stats["ignored"]["web2"] > 0
    assert "web2" in job.output
    assert job.artifacts["respond_stats"]["vms_unreachable"] == 1
    assert job.artifacts["respond_stats"]["vms"] == 3
