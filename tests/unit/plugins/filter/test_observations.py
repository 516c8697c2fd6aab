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


def answer(*results: tuple[dict[str, Any], dict[str, Any]], **keys: Any) -> dict[str, Any]:
    """What role respond registers of maintenance_act: what was asked, and the results beside it."""
    asked = [{"act": want["act"], "event_id": want.get("event_id"), "event_ids": want.get("event_ids")} for want, _got in results]
    return {"asked": asked, "results": [{"act": want["act"], "event_id": "", "failed": False, **got} for want, got in results], "changed": True, **keys}


def approve(*event_ids: str) -> dict[str, Any]:
    return {"act": "approve", "event_ids": list(event_ids)}


@pytest.mark.parametrize(
    ("acted", "approved", "not_approved"),
    [
        (answer((approve("E1", "E2"), {"approved": ["E1"]})), ["E1"], []),
        # What it was not asked for: an event of others would count as approved.
        (answer((approve("E1"), {"approved": ["e1 ", "E9"]})), ["E1"], []),
        (answer((approve("E1"), {"failed": True, "msg": "x"})), [], ["E1"]),
        # A failure that says it has approved is a failure.
        (answer((approve("E1"), {"failed": True, "approved": ["E1"]})), [], ["E1"]),
        (answer((approve("E1"), {"approved": ["E1"]}), (approve("E2"), {"failed": True})), ["E1"], ["E2"]),
        # Nothing of it was an approval: what was said in this run before stays.
        (answer(({"act": "drain"}, {"approved": ["E9"]})), ["old"], ["older"]),
        (None, ["old"], ["older"]),
        ({"skipped": True, "changed": False}, ["old"], ["older"]),
        # Answers that do not fit what was asked.
        (answer((approve("E1"), {"act": "drain", "approved": ["E1"]})), ["old"], ["older"]),
        ({**answer((approve("E1"), {"approved": ["E1"]})), "results": []}, ["old"], ["older"]),
        ({**answer((approve("E1"), {"approved": ["E1"]})), "asked": []}, ["old"], ["older"]),
        ({**answer((approve("E1"), {"approved": ["E1"]})), "unreachable": True}, ["old"], ["older"]),
        ({**answer((approve("E1"), {"approved": ["E1"]})), "results": ["approve"]}, ["old"], ["older"]),
    ],
)
def test_who_has_approved_is_what_this_run_has_asked(acted: Any, approved: list[str], not_approved: list[str]) -> None:
    before = [{"host": "a", "state": "ok", "look": {"events": []}, "approved": ["old"], "could_not_approve": ["older"]}]
    (only,) = find(["a"], {"a": {"__respond_acted": acted, "observe_look": {"events": [], "approved": ["E9"]}}}, before, ["a"])
    assert (only["approved"], only["could_not_approve"]) == (approved, not_approved)


def notes(*steps: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """One result for each claim that was made or given back."""
    return answer(*(({"act": act, "event_id": "E1"}, result) for act, result in steps))


OK: dict[str, Any] = {"claims": ["claim-a"]}
# The answer was given up, and the claim may be made any time after that.
LATE: dict[str, Any] = {"unreachable": True, "msg": "Timeout"}
GIVEN_UP: dict[str, Any] = {"failed": True, "msg": "The maintenance_act action failed to execute in the expected time frame (240) and was terminated"}


@pytest.mark.parametrize(
    ("acted", "acknowledged"),
    [
        (None, ["e1", "e2"]),
        ({"skipped": True}, ["e1", "e2"]),
        (notes(), ["e1", "e2"]),
        (notes(("claim", OK)), ["e1", "e2"]),
        (notes(("drain", {"state": "drained"})), ["e1", "e2"]),
        (notes(("release", OK)), ["e2"]),
        (notes(("release", {"failed": True})), ["e2"]),
        (notes(("claim", {"failed": True})), ["e2"]),
        (notes(("claim", {"failed": True, **OK})), ["e2"]),
        (notes(("claim", {})), ["e2"]),
        (notes(("release", OK), ("claim", OK)), ["e1", "e2"]),
        (notes(("claim", OK), ("release", OK)), ["e2"]),
        # The module could not observe the VM afterwards: its results stand all the same.
        ({**notes(("claim", OK)), "failed": True, "msg": "no document"}, ["e1", "e2"]),
        # No answer, or none that fits: nothing is acknowledged any more.
        (LATE, []),
        (GIVEN_UP, []),
        ({**notes(("claim", OK)), **LATE}, []),
        ({**notes(("claim", OK), ("claim", OK)), "results": notes(("claim", OK))["results"]}, []),
        ({**notes(("claim", OK)), "results": notes(("drain", OK))["results"]}, []),
        ({**notes(("claim", OK)), "results": [5]}, []),
        ({**notes(("claim", OK)), "results": {"act": "claim"}}, []),
        ({**notes(("claim", OK)), "asked": None}, []),
        ("text", []),
    ],
)
def test_what_was_given_back_or_asked_for_in_vain_is_acknowledged_no_more(acted: Any, acknowledged: list[str]) -> None:
    before = [{"host": "a", "state": "ok", "look": {"events": []}, "acknowledged": ["e1", "e2"]}]
    (found,) = find(["a"], {"a": {"observe_look": {"events": []}, "__respond_acted": acted}}, before, ["a"])
    assert found["acknowledged"] == acknowledged


def test_an_observation_holds_nothing_of_the_actions() -> None:
    acted = {**notes(("claim", OK)), "events": []}
    (found,) = find(["a"], {"a": {"observe_look": acted, "__respond_acted": acted}})
    assert found["look"] is not None and not set(found["look"]) & {"asked", "results"}


def test_actions_without_an_observation_are_no_good_look() -> None:
    acted = notes(("claim", OK))
    (found,) = find(["a"], {"a": {"observe_look": acted, "__respond_acted": acted}})
    assert (found["state"], found["look"], found["acknowledged"]) == ("failed", None, ["e1"])


TURN = "run1 turn 3"


def turn(*asked: dict[str, Any]) -> dict[str, Any]:
    """What the controller itself wrote down before it asked."""
    return {"turn": TURN, "on_vm": [{"event_id": "E1", "turn": TURN, **one} for one in asked], "by_tasks": []}


@pytest.mark.parametrize("name", ["observe_look", "__respond_acted"])
def test_an_answer_is_read_once_and_by_what_was_asked_in_its_turn(name: str) -> None:
    asked = approve("E1")
    good = answer((asked, {"approved": ["E1"]}))
    good["asked"][0]["turn"] = TURN
    first = find(["a"], {"a": {"__respond_split": turn(asked), "observe_look": {"events": []}, name: {"events": [], **good}}})
    assert (first[0]["approved"], first[0]["could_not_approve"], first[0]["answered"]) == (["E1"], [], [TURN])
    # The next plan has the same registers, unless the VM was observed again.
    (second,) = find(["a"], {"a": {"__respond_split": turn(asked), "observe_look": {"events": []}}}, first)
    assert (second["approved"], second["could_not_approve"]) == (["E1"], [])


@pytest.mark.parametrize(
    "register",
    [
        None,
        {"unreachable": True, "msg": "x"},
        {"failed": True, "msg": "Timed out"},
        {"events": []},
        # Of another turn, of something else, one too few.
        {**answer((approve("E1"), {"approved": ["E1"]})), "events": []},
        {"asked": [{"act": "approve", "event_ids": ["E1"], "turn": TURN}], "results": [], "events": []},
        {"asked": [{"act": "approve", "event_ids": ["E1"], "turn": TURN}], "results": [{"act": "note", "approved": ["E1"]}], "events": []},
    ],
)
def test_who_does_not_answer_could_not_approve_and_has_acknowledged_nothing(register: Any) -> None:
    """Else it would be asked again and again, and no other VM."""
    before = [{"host": "a", "state": "ok", "look": {"events": []}, "acknowledged": ["e1", "e2"], "approved": []}]
    split = turn({"act": "claim"}, approve("E1"))
    (found,) = find(["a"], {"a": {"__respond_split": split, "observe_look": register}}, before)
    assert (found["approved"], found["could_not_approve"], found["acknowledged"]) == ([], ["E1"], ["e2"])


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

    assert acts(notes(("claim", OK))) == {"drain"}
    assert acts(LATE) == acts(GIVEN_UP) == {"claim"}
    assert acts(notes(("release", OK))) == {"claim"}
