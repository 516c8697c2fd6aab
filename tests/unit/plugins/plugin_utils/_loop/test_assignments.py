# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each host is to do, and whether that brought anything about."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import assignments, vm_settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.act import stages
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import method, record

SERVICE, IIS = {"method": "service", "names": ["nginx"]}, {"method": "iis", "sites": ["Default Web Site"]}
OWN = {"method": "tasks", "begin": "b", "check": "c", "undo": "u"}
ITERATION, NOW = "run1 iteration 0", "2026-11-21T20:00:00Z"


def drain(host: str = "vm1", **more: Any) -> dict[str, Any]:
    return {
        "host": host,
        "action": "drain",
        "event_id": "E1",
        "event": {"event_id": "E1"},
        "lease": None,
        "rule": {},
        "verify": None,
        "deadline": None,
        "continues": False,
        "reason": "r",
        **more,
    }


def assign(steps: list[dict[str, Any]], methods: dict[str, list[Any]], observations: dict[str, Any] | None = None, **given: Any) -> Any:
    vms = {host: vm_settings.read({"drain_methods": found, **given}, host) for host, found in methods.items()}
    observed = [{"host": host, "observation": (observations or {}).get(host, {})} for host in methods]
    return assignments.assign({"actions": steps}, observed, vms, [], ITERATION, NOW)


def test_each_host_with_actions_has_its_own() -> None:
    found = assign([drain("vm1"), drain("vm2"), drain("vm2", action="notify")], {"vm1": [SERVICE], "vm2": [OWN], "vm3": [SERVICE]})
    assert {host: ([one["action"] for one in taken["on_vm"]], [one["action"] for one in taken["by_tasks"]]) for host, taken in found.items()} == {
        "vm1": (["drain"], []),
        "vm2": ([], ["drain", "notify"]),
    }
    assert {taken["iteration"] for taken in found.values()} | {one["iteration"] for one in found["vm1"]["on_vm"]} == {ITERATION}


@pytest.mark.parametrize(("system", "said", "on_vm"), [(None, "linux", 0), ("linux", "windows", 0), ("windows", "linux", 1), (None, "windows", 1)])
def test_the_system_is_that_of_the_observation_else_of_the_connection(system: Any, said: str, on_vm: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Whether the controller has the collections for it is another question.
    monkeypatch.setattr(assignments.vm_actions.validation, "problems", lambda *given: [])
    found = assign([drain()], {"vm1": [IIS]}, {"vm1": {"system": system}}, system=said)
    assert [len(taken["on_vm"]) for taken in found.values()] == [on_vm]


def test_a_host_that_was_not_observed_has_no_records() -> None:
    found = assign([drain(action="write")], {"vm1": [SERVICE]}, {"vm1": None})
    assert [[one["action"] for one in taken["on_vm"]] for taken in found.values()] == [["write"]]


# Stages


def stages_of(*by_tasks: Any) -> list[dict[str, Any]]:
    return assignments.stages_of({f"vm{number}": {"iteration": ITERATION, "on_vm": [], "by_tasks": actions} for number, actions in enumerate(by_tasks)})


def test_without_tasks_there_are_no_stages() -> None:
    assert stages_of() == []
    assert stages_of([]) == []


def test_stages_are_in_order_and_have_a_place_for_each_action_of_the_host_that_has_most() -> None:
    found = stages_of([drain(action="notify"), drain(), drain()], [drain(), drain(action="replicate"), drain(action="replicate")], [drain(action="recover")])
    assert [(one["name"], one["place"]) for one in found] == [("recover", 0), ("drain", 0), ("drain", 1), ("replicate", 0), ("notify", 0)]
    assert all(one["actions"] == list(dict(stages.STAGES)[one["name"]]) for one in found)


# Progress


def observed(*records: Any, state: str = "ok") -> dict[str, dict[str, Any]]:
    return {"vm1": {"host": "vm1", "state": state, "observation": {"records": list(records)} if state == "ok" else None}}


def moved(before: Any, after: Any, *, action: str = "drain", event_id: str = "E1", by_tasks: bool = False) -> bool:
    actions = [drain(action=action, event_id=event_id)]
    taken: Any = {"iteration": ITERATION, "on_vm": [] if by_tasks else actions, "by_tasks": actions if by_tasks else []}
    return assignments.moved({"vm1": taken}, before, after)


DRAINING = record("draining")


@pytest.mark.parametrize(
    "later",
    [
        record("drained"),
        {**DRAINING, "attempts": 2},
        {**DRAINING, "verified_at": "2026-11-21T20:00:00Z"},
        {**DRAINING, "undone": True},
        {**DRAINING, "methods": [method("drained")]},
        {**DRAINING, "methods": [method("begun"), method("begun", id="2-none")]},
        {**DRAINING, "methods": []},
    ],
)
def test_a_record_that_is_further_is_progress(later: dict[str, Any]) -> None:
    for by_tasks in (False, True):
        assert moved(observed(DRAINING), observed(later), by_tasks=by_tasks)
        assert moved(observed(DRAINING), observed(later), event_id=" e1", by_tasks=by_tasks)
    assert moved(observed(), observed(DRAINING))
    assert moved(observed(DRAINING), observed())


@pytest.mark.parametrize("later", [DRAINING, {**DRAINING, "revision": 99, "reason": "3 connections", "told": []}])
def test_one_that_only_says_something_else_is_none(later: dict[str, Any]) -> None:
    assert not moved(observed(DRAINING), observed(later))


def test_what_was_not_asked_for_and_leases_are_none() -> None:
    assert not moved(observed(DRAINING), observed(record("drained")), event_id="E2")
    assert not moved(observed(DRAINING), observed(record("drained")), action="acquire")
    assert not assignments.moved({}, observed(DRAINING), observed(record("drained")))


def test_a_vm_that_falls_silent_is_none() -> None:
    assert not moved(observed(DRAINING), observed(state="unreachable"))
    assert not moved(observed(state="failed"), observed(state="failed"))


@pytest.mark.parametrize("records", [[5], [{"event": 5}], [{"event": {"event_id": None}, "methods": {"a": 1}}], [{"methods": [5, None]}]])
def test_records_of_any_kind_stop_it_not(records: list[Any]) -> None:
    assert not moved(observed(*records), observed(*records))
    assert moved(observed(*records), observed(*records, record("drained")))
