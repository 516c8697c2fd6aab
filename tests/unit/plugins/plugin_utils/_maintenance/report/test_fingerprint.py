# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run without effect must not loop: two plans in a row have the same fingerprint."""

from __future__ import annotations

from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import event, plan, record, vm


def test_a_write_that_failed_leaves_the_fingerprint() -> None:
    before = plan(vm("vm1", [event()]), now=0)
    again = plan(vm("vm1", [event()]), now=3)
    assert before["actions"]
    assert before["fingerprint"] == again["fingerprint"]


def test_writes_and_new_steps_change_the_fingerprint() -> None:
    noticed = record("noticed", revision=1)
    found = {plan(vm("vm1", [event()]))["fingerprint"], plan(vm("vm1", [event()], [noticed]))["fingerprint"]}
    found.add(plan(vm("vm1", [event()], [{**noticed, "revision": 2}]))["fingerprint"])
    found.add(plan(vm("vm1", [event()], [record("draining", revision=3)]))["fingerprint"])
    assert len(found) == 4
