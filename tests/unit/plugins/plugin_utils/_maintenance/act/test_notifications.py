# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""People are told of each phase once, and only where somebody wants to be told."""

from __future__ import annotations

from typing import Any

from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import event, plan, record, vm


def told(found: dict[str, Any]) -> list[str]:
    """The phases that this plan tells."""
    return [step["phase"] for step in found["actions"] if step["action"] == "notify"]


def test_each_phase_is_told_once() -> None:
    drained = record("drained", told=["noticed"])
    assert told(plan(vm("vm1", [event()], [drained]))) == ["drained"]
    assert told(plan(vm("vm1", [event()], [record("drained", told=["noticed", "drained"])]))) == []


def test_nothing_is_recorded_for_nobody() -> None:
    assert told(plan(vm("vm1", [event()], [record("drained", told=[])]), notify=False)) == []
