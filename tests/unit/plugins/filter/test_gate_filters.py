# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gate's filters: whom to look at, and that no old look and no missing one is taken for a new one."""

from __future__ import annotations

import importlib
import inspect
import pathlib
from typing import Any

import pytest
import yaml
from ansible.errors import AnsibleFilterError

from ansible_collections.maintenance.azure.plugins.filter.gate import gate
from ansible_collections.maintenance.azure.plugins.filter.gate_members import gate_members
from ansible_collections.maintenance.azure.plugins.filter.gate_observations import gate_observations

GOOD = {"events": [], "now": "2026-11-21T20:00:00Z"}
WEB = {"name": "web", "members": ["a", "b", "c"], "max_unavailable": 1}
DATA = {"name": "db", "members": ["c", "d"], "max_unavailable": 1}


@pytest.mark.parametrize("name", ["batches", "gate", "gate_members", "gate_observations", "own_restarts"])
def test_every_option_is_documented(name: str) -> None:
    module = importlib.import_module(f"ansible_collections.maintenance.azure.plugins.filter.{name}")
    documentation = yaml.safe_load(pathlib.Path(module.__file__ or "").with_suffix(".yml").read_text(encoding="utf-8"))["DOCUMENTATION"]
    function = module.FilterModule().filters()[name]
    assert documentation["name"] == name
    assert set(documentation["options"]) == {"_input", *list(inspect.signature(function).parameters)[1:]}


def test_members_are_the_batch_and_all_who_share_a_group() -> None:
    assert gate_members(["b"]) == ["b"]
    assert gate_members(["b"], [WEB]) == ["b", "a", "c"]
    assert gate_members(["b"], [DATA]) == ["b"]
    assert gate_members(["b", "d"], [WEB, DATA]) == ["b", "d", "a", "c"]
    with pytest.raises(AnsibleFilterError, match=r"gate_members: group 1 of the capacity"):
        gate_members(["b"], [{}])


def looked(member: str, turn: Any, **look: Any) -> dict[str, Any]:
    return {"__gate_item": [member, turn], **GOOD, **look}


def states(*members: str, hosts: dict[str, Any], present: Any = ("a",), turn: Any = 2) -> list[str]:
    return [one["state"] for one in gate_observations(members, hosts, present, turn)]


def test_hosts_of_the_batch_have_looked_at_themselves_and_at_others() -> None:
    hosts = {"a": {"observe_look": GOOD, "__gate_looks": {"results": [looked("b", 2)]}}, "b": {}}
    assert states("a", "b", hosts=hosts) == ["ok", "ok"]
    assert states("a", "b", hosts=hosts, turn="2") == ["ok", "ok"]


def test_a_look_of_an_earlier_turn_is_none() -> None:
    hosts = {"a": {"observe_look": GOOD, "__gate_looks": {"results": [looked("b", 1)]}}, "b": {"observe_look": GOOD}}
    assert states("a", "b", hosts=hosts) == ["ok", "failed"]


def test_who_takes_no_part_any_more_has_not_looked() -> None:
    hosts = {"a": {"observe_look": GOOD, "__gate_looks": {"results": [looked("b", 2)]}}, "b": {}}
    assert states("a", "b", hosts=hosts, present=()) == ["failed", "failed"]


@pytest.mark.parametrize(
    ("result", "state"),
    [
        (looked("b", 2, unreachable=True), "unreachable"),
        (looked("b", 2, failed=True), "failed"),
        ({"__gate_item": ["b", 2], "msg": "timed out"}, "failed"),
        ({"__gate_item": None}, "failed"),
        ({}, "failed"),
    ],
)
def test_a_look_that_failed_is_never_a_good_one(result: dict[str, Any], state: str) -> None:
    assert states("b", hosts={"a": {"__gate_looks": {"results": [result]}}, "b": {}}) == [state]


def test_what_the_inventory_says_of_a_member_comes_along() -> None:
    hosts = {"a": {}, "b": {"respond_exclude": "yes", "respond_labels": {"role": "replica"}, "drain_methods": [{"method": "iis"}, 5]}}
    (found,) = gate_observations(["b"], hosts, ["a"], 1)
    assert (found["state"], found["labels"], found["methods"]) == ("excluded", {"role": "replica"}, ["iis"])
    assert states("x", hosts=hosts) == ["failed"]


def test_claims_are_acknowledged_by_the_batch() -> None:
    claimed = {"asked": [{"act": "claim", "event_id": "upgrade:X"}], "results": [{"act": "claim", "failed": False, "claims": ["claim-a"]}]}
    hosts = {"a": {"observe_look": GOOD, "__respond_acted": claimed}, "b": {"__respond_acted": claimed}}
    assert [one["acknowledged"] for one in gate_observations(["a", "b"], hosts, ["a"], 1)] == [["upgrade:x"], []]


def test_what_was_given_back_must_be_acknowledged_anew() -> None:
    before = [{"host": "a", "acknowledged": ["upgrade:x"], "state": "ok", "look": GOOD}]
    kept = {"a": {"observe_look": GOOD, "__respond_acted": {"skipped": True}}}
    assert gate_observations(["a"], kept, ["a"], 2, before)[0]["acknowledged"] == ["upgrade:x"]
    released = {"asked": [{"act": "release", "event_id": "upgrade:X"}], "results": [{"act": "release", "failed": False, "claims": []}]}
    gone = {"a": {"observe_look": GOOD, "__respond_acted": released}}
    assert gate_observations(["a"], gone, ["a"], 2, before)[0]["acknowledged"] == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (([], {}), "gate: upgrade must be"),
        (([], {"upgrade": "x", "batch": ["a"]}), "gate: now must be"),
        ((["x"], {"upgrade": "x", "batch": ["a"]}, "default", None, "2026-11-21T20:00:00Z"), "gate: observation 1"),
        (([], {"upgrade": "x", "batch": ["a"]}, "default", {"x": 1}, "2026-11-21T20:00:00Z"), "unknown setting"),
        (([], {"upgrade": "x", "batch": ["a"]}, "none", None, "2026-11-21T20:00:00Z"), "no policy named"),
    ],
)
def test_errors_are_ansibles(given: tuple[Any, ...], words: str) -> None:
    with pytest.raises(AnsibleFilterError, match=words):
        gate(*given)
