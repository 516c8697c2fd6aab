# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A manual override in any fleet: it does what it says and nothing else, and when its time is over it changes nothing."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Override
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state import overrides
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.budget.test_capacity_any import NAMES, fleet, observation
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import SETTINGS, at, plan

ACTIONS = ("approve", "hold", "let_it_come", "release")
DEADLINE = SETTINGS["drain_seconds"] + 30


def word(dice: random.Random, action: str, until: float) -> dict[str, Any]:
    return {"action": action, "who": "alice", "why": "x", "at": at(-dice.randint(1, 9)), "until": at(until), "vm": None, "beside": []}


def said(dice: random.Random, seen: list[dict[str, Any]], actions: tuple[str, ...], until: float) -> list[dict[str, Any]]:
    """The same fleet with words on some of its records."""
    found = copy.deepcopy(seen)
    for one in found:
        for record in one["observation"]["records"] if one["observation"] else ():
            if dice.random() < 0.6:
                record["decision"] = word(dice, dice.choice(actions), until)
    return found


def any_fleet(dice: random.Random) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    events, groups = fleet(dice)
    return [observation(dice, name, events) for name in NAMES], groups


def search(check: Callable[[random.Random], bool], examples: int = 150, phases: tuple[Phase, ...] = tuple(Phase)) -> int:
    """In how many fleets the word had something to say."""
    found = []

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None, phases=phases, report_multiple_bugs=False)
    @given(st.randoms(use_true_random=True))
    def one(dice: random.Random) -> None:
        found.append(check(dice))

    one()
    return sum(found)


def ended_changes_nothing(dice: random.Random) -> bool:
    seen, groups = any_fleet(dice)
    then = said(dice, seen, ACTIONS, -dice.randint(0, 5))
    assert plan(*then, capacity=groups) == plan(*seen, capacity=groups)
    return then != seen


def only_less_is_done(action: str) -> Callable[[random.Random], bool]:
    """Hold and let it come: nothing is approved, nothing is put back that would not be, no drain begins that would not."""

    def check(dice: random.Random) -> bool:
        seen, _groups = any_fleet(dice)
        then = said(dice, seen, (action,), 3600)
        now, before = plan(*then), plan(*seen)
        told = {one["event_id"] for one in now["events"] if one["decision"]}
        records = [(one["host"], its) for one in then if one["observation"] for its in one["observation"]["records"] if its.get("decision")]
        carriers = {key: {host for host, its in records if its["event"]["event_id"] == key} for key in told}
        phases = {(one["event_id"], part["host"]): part["phase"] for one in now["events"] for part in one["parts"]}
        left = {one["event_id"]: one["starts_in"] for one in now["events"]}
        started = {one["event_id"] for one in now["events"] if one["event_status"] == "Started" or one["phase"] in ("started", "approved")}
        for step in now["actions"]:
            if step["event_id"] not in told or step["action"] not in ("approve", "drain", "undo"):
                continue
            assert step["action"] != "approve", step
            if step["action"] == "drain" and phases[step["event_id"], step["host"]] in (None, "noticed", "held", "failed"):
                late = step["event_id"] in started or (left[step["event_id"]] is not None and left[step["event_id"]] <= DEADLINE)
                # Only a VM that carries the word itself is let come: one VM's word must not leave another one to its fate.
                assert action == "hold" or step["host"] not in carriers[step["event_id"]], step
                assert late, step
        # A failed drain is put back once no other event needs it, and the word may be what keeps the other from it.
        failing = {(part["host"], one["event_id"]) for one in before["events"] for part in one["parts"] if part["intent"] in ("undo", "kept")}
        undone = {(step["host"], step["event_id"]) for step in now["actions"] if step["action"] == "undo"}
        assert undone <= failing
        assert all(phases[event_id, host] == "failed" for host, event_id in undone if event_id in told)
        return bool(told)

    return check


def approve_puts_nothing_back(dice: random.Random) -> bool:
    """What is approved is approved, unless a VM was not read; and what is drained for it stays drained."""
    seen, groups = any_fleet(dice)
    then = said(dice, seen, ("approve",), 3600)
    found = plan(*then, capacity=groups)
    approved = {key for step in found["actions"] if step["action"] == "approve" for key in step["event_ids"]}
    undone = {step["event_id"] for step in found["actions"] if step["action"] == "undo"}
    for one in found["events"]:
        if not one["decision"] or not one["listed"] or one["event_status"] == "Started":
            continue
        if one["unknown"] or one["conflict"]:
            assert one["event_id"] not in approved, one
            continue
        under_way = any(part["phase"] in ("approved", "started") for part in one["parts"])
        assert one["event_id"] in approved or under_way, one
        assert one["event_id"] not in undone or under_way, one
    return bool(approved)


def test_an_ended_word_changes_nothing() -> None:
    assert search(ended_changes_nothing) > 50


@pytest.mark.parametrize("action", ["hold", "let_it_come"])
def test_hold_and_let_it_come_only_do_less(action: str) -> None:
    assert search(only_less_is_done(action)) > 50


def test_approve_approves_and_puts_nothing_back() -> None:
    assert search(approve_puts_nothing_back) > 20


def mutant_never_ends(patch: pytest.MonkeyPatch) -> Callable[[random.Random], bool]:
    patch.setattr(Override, "holds", lambda self, now: True)
    return ended_changes_nothing


def mutant_drains(patch: pytest.MonkeyPatch) -> Callable[[random.Random], bool]:
    patch.setattr(overrides, "blocks_drain", lambda word, must_drain: False)
    return only_less_is_done("let_it_come")


def mutant_approves(patch: pytest.MonkeyPatch) -> Callable[[random.Random], bool]:
    patch.setattr(overrides, "blocker", lambda word: None)
    return only_less_is_done("let_it_come")


def mutant_undoes(patch: pytest.MonkeyPatch) -> Callable[[random.Random], bool]:
    patch.setattr(overrides, "is_approval", lambda word: False)
    return approve_puts_nothing_back


@pytest.mark.parametrize("mutant", [mutant_never_ends, mutant_drains, mutant_approves, mutant_undoes])
def test_each_of_these_sees_what_is_broken(mutant: Callable[[pytest.MonkeyPatch], Callable[[random.Random], bool]], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError):
        search(mutant(monkeypatch), 300, (Phase.generate,))
