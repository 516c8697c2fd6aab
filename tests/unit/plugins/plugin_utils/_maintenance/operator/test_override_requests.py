# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Override requests: invalid ones are refused, valid ones are written to the right records."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.overrides import checked_decision
from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.operator.override_requests import answer
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import acts, at, event, plan, record, vm

BOTH = event("E1", ("vm1", "vm2"))
HOLD = {"event_id": "E1", "action": "hold", "who": "alice"}


def fleet() -> list[dict[str, Any]]:
    return [vm("vm1", [BOTH], [record("noticed", BOTH)]), vm("vm2", [BOTH]), vm("vm3", [BOTH])]


def written(seen: list[dict[str, Any]], given: dict[str, Any], now: float = 0, **settings: Any) -> list[dict[str, Any]]:
    """Request the override and write it as maintenance_record does; return the writes."""
    writes = answer(seen, given, settings, at(now))["writes"]
    for write in writes:
        (observation,) = [one["observation"] for one in seen if one["host"] == write["host"]]
        found = [one for one in observation["records"] if one["event"]["event_id"] == write["event_id"]]
        if not found:
            phase = write["changes"].get("phase", "noticed")
            found = [record(phase, write["event"], history=[{"phase": phase, "at": at(now)}])]
            observation["records"].append(found[0])
        found[0]["decision"] = checked_decision(write["changes"]["decision"])
    return writes


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"event_id": ""}, "decide_event_id is missing"),
        ({"action": "explode"}, "'explode'; it must be one of approve, hold, release, let_it_come$"),
        ({"action": None}, "must be one of"),
        ({"who": " "}, "decide_who is missing"),
        ({"action": "approve"}, "decide_why is missing: approve needs"),
        ({"action": "retire_vm", "why": "x", "vm": "vm2"}, "a VM is retired by the controller.*respond_retired"),
        ({"vm": "vm2"}, "decide_vm was for retire_vm"),
        ({"until": "tomorrow"}, "decide_until must be a time"),
        ({"until": at(-1)}, "which is over"),
        ({"hours": "soon"}, "decide_hours must be a number"),
        ({"hours": "0"}, "decide_hours must be a number"),
        ({"hours": "1", "until": at(9)}, "not both"),
        ({"why": "x" * 2000}, "decide_why has more than"),
        ({"colour": "red"}, "there is no decide_colour"),
        ({"event_id": "E9"}, r"no VM lists event E9 or has a record of it; known are: E1 \(Reboot of vm1, vm2\)"),
    ],
)
def test_invalid_requests_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(WrongInput, match=message):
        answer(fleet(), {**HOLD, **given}, now=at(0))


def test_it_is_written_to_the_vms_of_the_event_and_no_other() -> None:
    seen = fleet()
    writes = written(seen, {**HOLD, "event_id": "e1", "why": "later", "hours": "2"})
    assert [write["host"] for write in writes] == ["vm1", "vm2"]
    assert writes[0]["changes"]["decision"] == {
        "action": "hold",
        "who": "alice",
        "why": "later",
        "at": at(0),
        "until": at(7200),
        "vm": None,
        "beside": [],
    }
    # A VM that lists the event gets an ordinary record; an existing record keeps its phase.
    assert [write["event"] is None for write in writes] == [True, False]
    assert all(set(write["changes"]) == {"decision"} for write in writes)
    assert acts(plan(*seen)) == []


def test_a_repeated_override_changes_nothing() -> None:
    for given in (HOLD, {**HOLD, "hours": 3}, {**HOLD, "until": at(9999)}, {**HOLD, "action": "release"}):
        seen = fleet()
        assert len(written(seen, given)) == 2, given
        assert written(seen, given, now=60) == [], given
    assert len(written(seen, {**HOLD, "who": "bob"}, now=60)) == 2
    assert len(written(seen, {**HOLD, "who": "bob", "hours": 48}, now=60)) == 2
    # After its end the same override can be requested again.
    assert len(written(seen, {**HOLD, "who": "bob"}, now=3 * 86400)) == 2


def test_a_vm_that_was_silent_gets_the_same_override_later() -> None:
    seen = fleet()
    late = copy.deepcopy(seen[1])
    seen[1] = vm("vm2", state="unreachable")
    written(seen, HOLD)
    seen[1] = late
    (write,) = written(seen, HOLD, now=60)
    assert write["host"] == "vm2"
    assert write["changes"]["decision"]["at"] == at(0)


def test_a_newer_override_replaces_the_older() -> None:
    seen = fleet()
    written(seen, HOLD)
    written(seen, {**HOLD, "action": "approve", "why": "now"}, now=10)
    assert seen[0]["observation"]["records"][0]["decision"]["beside"] == []
    assert acts(plan(*seen, now=20)) == ["approve vm1 E1"]


def test_without_an_answering_vm_no_override_is_possible() -> None:
    """A record on another VM would not count."""
    silent = vm("vm2", state="unreachable", last_observation=vm("vm2", [event("E1", ("vm2",))])["observation"])
    with pytest.raises(WrongInput, match=r"no VM of event E1 answers \(vm2\)"):
        answer([vm("vm1"), silent], HOLD, now=at(0))


def test_an_event_of_which_only_a_record_remains() -> None:
    seen = [vm("vm1", [], [record("drained", BOTH)]), vm("vm2", state="unreachable")]
    (write,) = written(seen, HOLD)
    assert write["host"] == "vm1"
