# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter observations: no VM is left away, and none that was not looked at again is taken for one that was."""

from __future__ import annotations

import inspect
import pathlib
from typing import Any

import pytest
import yaml

from ansible_collections.maintenance.azure.plugins.filter import observations as module
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.planner import make_plan
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import SETTINGS, at, event, vm
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.upgrade.test_gate import RUN, claim

find = module.observations


class Counted(dict[str, Any]):
    """hostvars that notes which hosts were read."""

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.read: list[str] = []

    def __getitem__(self, key: str) -> Any:
        self.read.append(key)
        return super().__getitem__(key)


def test_every_option_is_documented() -> None:
    documentation = yaml.safe_load(pathlib.Path(module.__file__).with_suffix(".yml").read_text(encoding="utf-8"))["DOCUMENTATION"]
    assert set(documentation["options"]) == {"_input", *list(inspect.signature(find).parameters)[1:]}


def test_only_hosts_that_were_looked_at_are_read_again() -> None:
    good = {"observe_look": {"events": []}}
    hostvars = Counted({"a": good, "b": good, "c": good})
    first = find(["a", "b", "c"], hostvars)
    hostvars["a"] = hostvars["b"] = {"observe_look": {"failed": True, "msg": "late"}}
    hostvars.read.clear()
    second = find(["a", "b", "c"], hostvars, first, ["a"])
    assert hostvars.read == ["a"]
    assert [one["host"] for one in second] == ["a", "b", "c"]
    assert (second[0]["state"], second[0]["error"], second[0]["last_look"]) == ("failed", "late", {"events": []})
    assert [one["state"] for one in second[1:]] == ["resting", "resting"]
    assert [one["look"] for one in second[1:]] == [None, None]
    assert second[1]["last_look"] == {**first[1]["look"], "events": []}


def test_a_host_without_an_earlier_observation_is_read_whatever_was_looked_at() -> None:
    (only,) = find(["a"], {"a": {}}, [], [])
    assert (only["state"], only["error"]) == ("failed", module.NO_LOOK)


def acted(*answers: tuple[dict[str, Any], dict[str, Any]]) -> dict[str, Any]:
    """What role respond registers: what was asked for by the controller, and what the VM answers."""
    asked = [{"event_id": "E1", "event_ids": None, **asked} for asked, _answer in answers]
    results = [{"act": asked["act"], "event_id": "E1", "failed": False, "changed": True, **answer} for asked, answer in answers]
    return {"asked": asked, "results": results}


def approve(*event_ids: str) -> dict[str, Any]:
    return {"act": "approve", "event_ids": list(event_ids)}


@pytest.mark.parametrize(
    ("result", "approved", "not_approved"),
    [
        (acted((approve("E1", "E2"), {"approved": ["E1"]})), ["E1"], []),
        # What it was not asked for: an event of others would count as approved.
        (acted((approve("E1"), {"approved": ["e1 ", "E9"]})), ["E1"], []),
        (acted((approve("E1"), {"failed": True, "msg": "x"})), [], ["E1"]),
        # An answer to something else, one too many, and none.
        ({**acted((approve("E1"), {"act": "note", "approved": ["E1"]}))}, [], []),
        ({**acted((approve("E1"), {"approved": ["E1"]})), "asked": []}, [], []),
        ({**acted((approve("E1"), {"approved": ["E1"]})), "results": []}, [], []),
        (None, [], []),
    ],
)
def test_who_has_approved_is_what_this_run_has_asked(result: Any, approved: list[str], not_approved: list[str]) -> None:
    (only,) = find(["a"], {"a": {"__respond_acted": result, "observe_look": {"events": [], "approved": ["E9"]}}})
    assert (only["approved"], only["could_not_approve"]) == (approved, not_approved)


def test_what_a_run_has_approved_lasts_until_it_asks_again() -> None:
    first = find(["a"], {"a": {"__respond_acted": acted((approve("E1"), {"approved": ["E1"]})), "observe_look": {"events": []}}})
    (second,) = find(["a"], {"a": {"__respond_acted": acted(({"act": "note"}, {})), "observe_look": {"events": []}}}, first)
    assert second["approved"] == ["E1"]


def leases(*steps: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return acted(*[({"act": act}, answer) for act, answer in steps])


OK: dict[str, Any] = {"claims": ["claim-a"]}
# The answer was given up, and the claim may be made any time after that.
LATE: dict[str, Any] = {"unreachable": True, "msg": "Timeout"}


@pytest.mark.parametrize(
    ("written", "acknowledged"),
    [
        (None, ["e1", "e2"]),
        (leases(("claim", OK)), ["e1", "e2"]),
        (leases(("release", OK)), ["e2"]),
        # Without an answer nobody knows what was done, so nothing counts.
        (LATE, []),
        ({"failed": True, "msg": "Timeout", "asked": [{"act": "claim", "event_id": "E1"}]}, []),
        ({**leases(("claim", OK)), "asked": []}, []),
        (leases(("claim", {"failed": True})), ["e2"]),
        (leases(("release", OK), ("claim", OK)), ["e1", "e2"]),
    ],
)
def test_what_was_given_back_or_asked_for_in_vain_is_acknowledged_no_more(written: Any, acknowledged: list[str]) -> None:
    before = [{"host": "a", "state": "ok", "look": {"events": []}, "acknowledged": ["e1", "e2"]}]
    (found,) = find(["a"], {"a": {"observe_look": {"events": []}, "__respond_acted": written}}, before, ["a"])
    assert found["acknowledged"] == acknowledged


def test_a_claim_that_is_made_after_its_answer_was_given_up_begins_no_drain() -> None:
    """The look at the other VM may have come before the claim, and before another run's claim there: nobody may act on it (rule 3)."""
    group = {"name": "web", "members": ["vm1", "vm2"], "max_unavailable": 1}
    chosen = {**SETTINGS, "run": RUN, "capacity": [group], "tell": False}
    seen = {"vm1": vm("vm1", [event()], claims=[claim("E1")])["look"], "vm2": vm("vm2")["look"]}
    before = [{"host": name, "state": "ok", "look": look, "acknowledged": ["e1"] if name == "vm1" else []} for name, look in seen.items()]

    def acts(written: Any) -> set[str]:
        hosts = {name: {"observe_look": look, "__respond_host": {"methods": ["service"]}} for name, look in seen.items()}
        hosts["vm1"]["__respond_acted"] = written
        plan = make_plan(find(["vm1", "vm2"], hosts, before), settings=chosen, now=at(0))
        return {step["act"] for step in plan["steps"]} & {"claim", "drain"}

    assert acts(leases(("claim", OK))) == {"drain"}
    assert acts(LATE) == {"claim"}
    assert acts(leases(("release", OK))) == {"claim"}
