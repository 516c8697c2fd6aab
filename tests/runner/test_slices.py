# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Job slicing of AWX gives each job every n-th host, and so takes groups apart. Two jobs side by side, one event across both."""

from __future__ import annotations

import typing as t

import pytest
from lab.lab import Lab

from runner.private_data import Inventory, Job, Place, script_data, sliced

Make = t.Callable[..., Lab]
WEB = ["web1", "web2", "web3", "web4"]
DECLARED = {
    "a list of names": {"name": "web", "members": WEB, "max_unavailable": "100%"},
    "an expression and its size": {"name": "web", "members": "{{ groups['web'] }}", "size": 4, "max_unavailable": "100%"},
}


def whole(lab: Lab, group: dict[str, t.Any]) -> Inventory:
    lab.all["respond_capacity"] = [group]
    return script_data(lab.hosts, lab.all, {"web": [vm for vm in lab.vms if vm in WEB], "db": [vm for vm in lab.vms if vm not in WEB]})


def side_by_side(place: Place, lab: Lab, inventories: t.Sequence[Inventory], *limits: str, **survey: t.Any) -> list[Job]:
    jobs = [Job(place, lab.folder, "playbooks/respond.yml", inventory) for inventory in inventories]
    for job, limit in zip(jobs, limits or [""] * len(jobs), strict=True):
        job.start(survey, cmdline=f"-u root {limit}".strip())
    return [job.wait().good() for job in jobs]


@pytest.mark.parametrize("declared", list(DECLARED))
def test_an_event_across_two_slices_is_held_by_both_and_drained_at_its_deadline(make_lab: Make, place: Place, declared: str) -> None:
    lab = make_lab(WEB, 1)
    inventory = whole(lab, DECLARED[declared])
    event = lab.simulator.event("Reboot", ["web1", "web2"], notice=36000)
    slices = [sliced(inventory, number, 2) for number in (1, 2)]
    for job, other in zip(side_by_side(place, lab, slices), ("web2", "web1"), strict=True):
        assert job.artifacts["respond_stats"]["held"] == 1, job.output
        (said,) = [line for line in job.lines if event in line and "Reboot" in line]
        assert f"{other} (not managed)" in said
        (held,) = [line for line in job.lines if "Capacity group 'web' is held" in line]
        assert "are not in this run" in held if declared == "a list of names" else "names 2 of them" in held
    assert all(lab.flag(vm).exists() for vm in WEB)
    assert lab.simulator.approvals() == []
    if declared != "a list of names":
        return  # What comes now asks how many are out no more.
    # Its deadline is here when the next pass comes after NotBefore: the clock of this test needs no time for it.
    side_by_side(place, lab, slices, respond_pass_interval=40000)
    assert [lab.flag(vm).exists() for vm in WEB] == [False, False, True, True]
    assert lab.simulator.approvals() == []


def test_split_by_capacity_group_it_is_drained_and_approved_once(make_lab: Make, place: Place) -> None:
    """One job for each group, side by side, each with the whole inventory and a limit. web1 and db1 are hit by one more event each."""
    lab = make_lab(["web1", "web2", "db1", "db2"], 60)
    inventory = whole(lab, {**DECLARED["an expression and its size"], "size": 2})
    lab.all["respond_capacity"].append({"name": "db", "members": "{{ groups['db'] }}", "size": 2, "max_unavailable": 1})
    event = lab.simulator.event("Reboot", ["web1", "web2"], notice=36000, started_seconds=60)
    other = lab.simulator.event("Reboot", ["db1"], notice=36000, started_seconds=60)
    policy = [{"name": "at once", "drain": True, "approve": "after_drain", "drain_at": "now"}]
    web, db = side_by_side(place, lab, [inventory, inventory], "--limit web", "--limit db", respond_wait=True, respond_policy=policy)
    assert sorted(approval["body"].count(one) for approval in lab.simulator.approvals() for one in (event, other)) == [0, 0, 1, 1]
    assert [lab.phases(vm)[-1] for vm in ("web1", "web2", "db1")] == ["recovered"] * 3
    assert all(lab.flag(vm).exists() for vm in lab.vms)
    assert event not in db.output
    assert other not in web.output
    assert web.artifacts["respond_stats"]["vms"] == 2
