# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers that workflows branch on."""

from __future__ import annotations

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import PHASES
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import event, plan, record, vm

FOREIGN = event("E2", ("stranger",))


def test_every_number_is_there_when_nothing_happens() -> None:
    counts = plan(vm("vm1"))["counts"]
    assert {key: number for key, number in counts.items() if number} == {"vms": 1, "vms_answered": 1}
    assert {*PHASES, "foreign", "retired", "events", "actions", "vms_unreachable", "vms_failed", "vms_excluded", "vms_lost"} < set(counts)


def test_the_next_run_is_useful_while_something_is_left_to_do() -> None:
    assert plan(vm("vm1"))["next_look_in"] is None
    listed = plan(vm("vm1", [event("E1", ("vm1",))]))
    assert listed["next_look_in"] >= 1 and isinstance(listed["next_look_in"], int)
    # A VM that does not answer and was never reached is the schedule's affair, and one event of others too.
    assert plan(vm("vm1", [FOREIGN]))["next_look_in"] is None


def test_events_and_vms_are_counted_once_each() -> None:
    drained = event("E1", ("vm1", "vm2"))
    found = plan(
        vm("vm1", [drained, FOREIGN], [record("drained", drained)]),
        vm("vm2", [drained, FOREIGN], [record("drained", drained)]),
        vm("vm3", state="unreachable", error="no route"),
        vm("vm4", state="excluded"),
        vm("vm5", in_service=False),
    )
    counts = found["counts"]
    wanted = {"events": 2, "drained": 1, "vms": 5, "vms_answered": 3, "vms_unreachable": 1, "vms_excluded": 1, "vms_lost": 1, "vms_failed": 0}
    assert {key: counts[key] for key in wanted} == wanted
    assert counts["actions"] == len(found["actions"])
    assert sum(counts[phase] for phase in (*PHASES, "foreign", "retired")) == counts["events"]
