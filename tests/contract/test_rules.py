# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Last of all: what is left out or justified was needed. And the comparison itself can fail."""

from __future__ import annotations

import pathlib

import pytest

from ansible_collections.maintenance.azure.tests.contract import table
from ansible_collections.maintenance.azure.tests.contract.compare import MISSING, Difference, Rules, differences
from ansible_collections.maintenance.azure.tests.contract.stage import load
from ansible_collections.maintenance.azure.tests.contract.test_all_scenarios import OUTCOMES


@pytest.mark.parametrize(
    ("one", "other", "where"),
    [
        ({"a": 1}, {"a": 2}, "a"),
        ({"a": 1}, {"a": 1.0}, "a"),
        ({"a": 1}, {"a": True}, "a"),
        ({"a": "1"}, {"a": 1}, "a"),
        ({"a": None}, {}, "a"),
        ({}, {"a": None}, "a"),
        ({"a": [1]}, {"a": [1, 2]}, "a"),
        ({"a": [{"b": "x"}]}, {"a": [{"b": "y"}]}, "a.0.b"),
        ({"a": {}}, {"a": []}, "a"),
    ],
)
def test_what_differs_is_found(one: object, other: object, where: str) -> None:
    assert [found.key for found in differences("case", one, other)] == [where]


def test_equal_results_do_not_differ() -> None:
    assert [*differences("case", {"a": [1, {"b": None}]}, {"a": [1, {"b": None}]})] == []


def _rules(folder: pathlib.Path) -> Rules:
    (folder / "left_out.yml").write_text("[{key: elapsed, why: never the same}]")
    (folder / "differences.yml").write_text("[{cases: 'a*', keys: [msg, outcome], linux: ^x, windows: ^y, why: because}]")
    return Rules(folder)


def test_a_difference_is_justified_only_as_it_was_described(tmp_path: pathlib.Path) -> None:
    rules = _rules(tmp_path)
    assert rules.justification(Difference("b", "msg", "x", "y")) is None
    assert rules.justification(Difference("a1", "other", "x", "y")) is None
    assert rules.justification(Difference("a1", "msg", "y", "x")) is None
    assert rules.justification(Difference("a1", "msg", "x", MISSING)) is None
    assert rules.unused() == ["elapsed", "a* | msg", "a* | outcome"]
    assert rules.justification(Difference("a1", "msg", "x1", "y1")) == "because"
    assert rules.general({"elapsed": 1, "b": [{"elapsed": 2, "c": 3}]}) == {"b": [{"c": 3}]}
    assert rules.unused() == ["a* | outcome"]


def test_only_times_of_now_are_general(tmp_path: pathlib.Path) -> None:
    kept = "at 2036-04-11T22:26:58Z"
    assert _rules(tmp_path).general(kept) == kept


def test_nothing_is_justified_or_left_out_in_vain() -> None:
    if set(table.COMPARED) != {case.id for case in load()} | {f"scenario: {path.stem}" for path in OUTCOMES}:
        return  # only a part of the cases was run
    assert table.RULES.unused() == []
