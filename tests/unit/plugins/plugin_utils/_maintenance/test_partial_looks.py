# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks that saw only a part: records that cannot be read, clocks that were put back, starts that nobody saw."""

from __future__ import annotations

from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import acts, at, event, noted, plan, record, vm

PAUSE = event(event_type="Freeze", duration_in_seconds=5)


def test_a_vm_whose_records_cannot_be_read_is_unknown() -> None:
    assert acts(plan(vm("vm1", [PAUSE]))) == ["approve vm1 E1"]
    found = plan(vm("vm1", [PAUSE], records_readable=False, records_problems=["permission denied"]))
    assert acts(found, notes=True) == []
    assert "permission denied" in found["hosts"]["vm1"]["error"]


def test_a_clock_that_was_put_back_blinds_nobody_for_days() -> None:
    missing = record("approved", missing_since=at(-60))
    after = vm("vm1", [], [missing], enabled_at=at(5 * 86_400), enabled_recently=False)
    assert noted(plan(after))["phase"] == "gone"
    assert noted(plan(vm("vm1", [], [missing], enabled_at=at(5 * 86_400), enabled_recently=True))) == {}


def test_an_event_that_came_and_went_unseen_over_a_failed_drain_is_reported() -> None:
    failed = record("failed", event(due=-40), ago=60, missing_since=at(-30), reason="exit code 3")
    assert plan(vm("vm1", [], [failed]))["failed"][0]["reason"].endswith("exit code 3")
    cancelled = record("failed", event(due=900), ago=60, missing_since=at(-30), reason="exit code 3")
    assert plan(vm("vm1", [], [cancelled]))["failed"] == []
