# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbook status lists the groups of VMs that are drained alike, in few lines; other reports name only those of which one is out."""

from __future__ import annotations

from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.status import alike_lines, capacity_lines, status
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import plan, vm

BETTER = "For another limit, name these VMs in a group of respond_capacity; respond_capacity_alike: false ends these groups."


def group(size: int, alike: str = "haproxy: backend web", **out: str) -> dict[str, Any]:
    members = [f"w{size}x{number}" for number in range(size)]
    return {"name": f"alike {members[0]}", "members": members, "max_unavailable": max(1, size // 4), "keep": [], "out": out, "alike": alike}


def test_without_such_groups_there_is_no_line() -> None:
    assert alike_lines({"capacity": []}) == alike_lines({"capacity": [{**group(2), "alike": ""}]}) == []
    declared = group(2)
    del declared["alike"]
    assert alike_lines({"capacity": [declared]}) == []


def test_each_is_listed_with_its_limit_and_how_to_name_a_better_one() -> None:
    assert alike_lines({"capacity": [group(2), group(40, "none; resource group shop")]}) == [
        "w40x0, w40x1, w40x2, w40x3, w40x4, w40x5 and 34 more are drained alike (none; resource group shop): at most 10 of 40 out at once.",
        "w2x0, w2x1 are drained alike (haproxy: backend web): at most 1 of 2 out at once.",
        BETTER,
    ]


def test_many_are_few_lines() -> None:
    lines = alike_lines({"capacity": [group(size) for size in range(2, 40)]})
    assert (len(lines), lines[-2]) == (12, "28 more groups of VMs that are drained alike: status_format=json has them under capacity.")


def test_any_text_is_one_printable_line() -> None:
    lines = alike_lines({"capacity": [group(2, "x\nweb1: approved\x1b[2J\u202e")]})
    assert all(line.isprintable() for line in lines) and len(lines) == 2


def test_one_that_is_out_is_told_by_what_is_the_same() -> None:
    assert capacity_lines([group(2, w2x1="draining for E1"), {**group(3, w3x0="not read"), "alike": ""}, group(4)]) == [
        "VMs that are drained alike (haproxy: backend web): 1 of 2 unavailable, limit 1: w2x1 (draining for E1).",
        "Capacity group 'alike w3x0': 1 of 3 unavailable, limit 1: w3x0 (not read).",
    ]


def test_a_report_of_a_quiet_fleet_has_no_line_of_them() -> None:
    alike = [{"name": "alike vm1", "members": ["vm1", "vm2"], "what": "none"}]
    assert "alike" not in "\n".join(status(plan(vm("vm1"), vm("vm2"), alike=alike)))
