# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a scheduled respond prints that has nothing to do, as AWX shows it."""

from __future__ import annotations

import typing as t

import pytest
from lab.lab import Lab

from runner.private_data import PROGRESS, Job, Place, script_data

Make = t.Callable[..., Lab]
FEW = 8


def shown(place: Place, lab: Lab, cmdline: str = "-u root", **image: str) -> tuple[Job, list[str]]:
    inventory = script_data(lab.hosts, lab.all, {"web": list(lab.hosts)})
    job = Job(place, lab.folder, "playbooks/respond.yml", inventory).start(cmdline=cmdline, **image).wait()
    return job, job.lines


@pytest.mark.parametrize("vms", [1, 5, 50])
def test_nothing_to_do_is_eight_lines_whatever_the_fleet(make_lab: Make, place: Place, vms: int) -> None:
    lab = make_lab([f"web{number}" for number in range(1, vms + 1)])
    lab.all["respond_capacity"] = [{"name": "web", "members": "{{ groups['web'] }}", "max_unavailable": 1}]
    job, lines = shown(place, lab, "-u root --forks 10", **PROGRESS)
    job.good()
    assert f"{vms} of {vms} VMs answered; no events." in lines
    assert len(lines) <= FEW, "\n".join(lines)
    # AWX's own counts are those of all hosts, whatever is printed.
    assert len(job.stats["processed"]) == vms


def test_without_the_image_it_is_lines_for_each_vm(make_lab: Make, place: Place) -> None:
    """What the variable of the image is worth, and that the test above would see it missing."""
    lab = make_lab(["web1", "web2"])
    _job, lines = shown(place, lab)
    assert len(lines) > FEW


def test_with_v_it_is_what_everybody_knows(make_lab: Make, place: Place) -> None:
    lab = make_lab(["web1"])
    _job, lines = shown(place, lab, "-u root -v", **PROGRESS)
    assert any(line.startswith("TASK [maintenance.azure.respond : Act | On the VM]") for line in lines)
    assert any(line.startswith("ok: [web1]") for line in lines)


def test_a_setting_that_is_refused_is_shown_in_red(make_lab: Make, place: Place) -> None:
    lab = make_lab(["web1"])
    lab.all["respond_policy"] = "no such policy"
    job, lines = shown(place, lab, **PROGRESS)
    assert (job.status, job.code) == ("failed", 2)
    assert any("no such policy" in line for line in lines)
    assert any("failed=1" in line for line in lines)
