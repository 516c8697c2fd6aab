# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A misspelt flag file: nothing is changed, all methods say drained, and the health check says that the VM serves."""

from __future__ import annotations

import pathlib
import typing as t

from lab.lab import Lab

Make = t.Callable[..., Lab]


def misspelt(lab: Lab, vm: str, **options: t.Any) -> str:
    """Give a VM a path that is not there, and return what a run says of it."""
    path = lab.flag(vm).with_name("in_rotaton")
    lab.hosts[vm]["drain_methods"] = [{"method": "probe_file", "path": str(path), "interval": 0, "threshold": 1, **options}]
    return f"its health check finds it in service (the file {lab.flag(vm)} is there), and {path} is not there: is path right? If so, set may_be_absent: true"


def approved(lab: Lab) -> list[str]:
    """Return the VMs that have sent approvals, in order."""
    return [one["vm"] for one in lab.simulator.approvals()]


def flat(output: str) -> str:
    """Return what was printed without its line breaks."""
    return " ".join(output.split())


def test_a_vm_that_still_serves_after_a_drain_that_took_nothing_out_is_not_approved_until_the_path_is_right(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"], 1)
    right = lab.hosts["web1"]["drain_methods"]
    why = misspelt(lab, "web1")
    for vm in lab.vms:
        lab.simulator.event("Reboot", [vm], notice=3600)
    checked = flat(lab.respond("--check", code=2))
    assert f"web1: its drain would be refused: {why}" in checked and f"web1: would fail: {why}" in checked
    assert lab.records("web1") == [] and "web2: its drain" not in checked
    output = flat(lab.respond(code=2))
    assert approved(lab) == ["web2"]
    assert why in output and lab.flag("web1").read_text() == "yes\n"
    (record,) = lab.records("web1")
    assert record["phase"] == "failed" and record["reason"] == why and [method["state"] for method in record["methods"]] == ["undone"]
    assert why in flat(lab.status())
    # With the path corrected the next pass drains it, and has it approved.
    lab.hosts["web1"]["drain_methods"] = right
    assert "would fail" not in lab.respond("--check", code=2), "red for the failed drain until it is tried again"
    lab.respond()
    assert approved(lab) == ["web2", "web1"] and not lab.flag("web1").exists()


def test_a_file_that_is_meant_to_be_absent_and_an_operator_pass(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"], 1)
    misspelt(lab, "web1", may_be_absent=True)
    why = misspelt(lab, "web2")
    _meant, decided = (lab.simulator.event("Reboot", [vm], notice=3600) for vm in lab.vms)
    assert why in flat(lab.respond(code=2))
    assert approved(lab) == ["web1"]
    lab.play("maintenance.azure.decide", decide_event_id=decided, decide_action="approve", decide_who="ann", decide_why="it is right")
    lab.respond()
    assert approved(lab) == ["web1", "web2"]


def test_a_folder_that_is_not_there_is_refused_by_check_mode(make_lab: Make) -> None:
    lab = make_lab(["web1"], 1)
    path = pathlib.Path(lab.flag("web1").parent, "wwww", "out")
    lab.hosts["web1"]["drain_methods"] = [{"method": "probe_file", "path": str(path), "present_means": "out", "interval": 0}]
    lab.simulator.event("Reboot", ["web1"], notice=3600)
    assert f"{path} cannot be created, because its folder is not there: correct path, or make the folder" in flat(lab.respond("--check", code=2))
