# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Former drain methods: what an undo could not use is said before it needs it, and what it can use is not refused."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.orders.method_orders import undo_orders
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings.validation import wrong_former

ROLE = pathlib.Path(__file__).resolve().parents[6] / "roles" / "drain"
FOLDERS = [str(ROLE / "tasks" / "methods")]


@pytest.fixture(name="places")
def _places(tmp_path: pathlib.Path) -> list[str]:
    (tmp_path / "back.yml").write_text("---")
    return [str(tmp_path / "none"), str(tmp_path)]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"method": "tasks", "undo": "gone.yml"}, "entry 1 (tasks): undo: there is no file gone.yml in /"),
        ({"method": "tasks", "undo": "/gone.yml"}, "there is no file /gone.yml"),
        ({"method": "tasks", "undoo": "back.yml"}, "there is no option undoo. Options: begin, check, undo."),
        ({"method": "tasks"}, "undo is missing: a file of tasks that put the VM back"),
        ({"method": "tasks", "undo": ["back.yml"]}, "undo is wrong: ['back.yml']. It must be: a file of tasks"),
        ({"method": "haproxy", "balancer": "lb2"}, "there is no option balancer. Options: balancers, server"),
        ({"method": "haproxy", "balancers": "lb2"}, "balancers is wrong: lb2. It must be: a list of inventory hosts"),
        ({"method": "haproxy", "name": "a"}, "balancers is missing"),
        ({"method": "haproxi", "balancers": ["lb2"]}, "there is no method haproxi; there are command, galera, haproxy, iis,"),
        ({"method": "tasks", "by_hands": True}, "there is no option by_hands"),
    ],
)
def test_what_an_undo_could_not_use_is_named(entry: dict[str, Any], words: str, places: list[str]) -> None:
    found = wrong_former([entry], FOLDERS, places)
    assert list(found) == [1] and found[1].startswith("drain_methods_former, entry 1 (") and words in found[1]
    (step,) = undo_orders(
        {"phase": "gone", "methods": [{"id": "a", "method": "tasks", "state": "drained", "before": {}, "outside": True}]},
        *([], [{**entry, "name": "a"}], "web1", "linux", wrong_former([{**entry, "name": "a"}], FOLDERS, places)),
    )
    assert step["runs"] is False and words.partition("(tasks)")[2].strip(": ") in step["report"] and "by hand" in step["report"]


@pytest.mark.parametrize(
    "former",
    [
        [],
        None,
        "",
        [{"method": "tasks", "undo": "back.yml"}],
        [{"method": "tasks", "begin": "gone.yml", "check": "gone.yml", "undo": "back.yml", "name": "x", "outside": True}],
        [{"method": "tasks", "by_hand": True, "name": "x"}, {"method": "of_ours", "by_hand": "yes"}, {"method": "haproxy", "by_hand": True}],
        [{"method": "haproxy", "balancers": ["lb2"], "socket": "/x", "sessions": "3"}, {"method": "command", "undo": "x"}],
        # Said by configured.problems.
        ["tasks", {}, {"method": "../x"}],
        "text",
    ],
)
def test_what_it_can_use_is_not_refused(former: Any, places: list[str]) -> None:
    assert wrong_former(former, FOLDERS, places) == {}


def test_methods_of_ones_own_are_known_with_and_without_described_options(tmp_path: pathlib.Path) -> None:
    for name in ("plain", "described"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "undo.yml").write_text("---")
    (tmp_path / "described" / "options.yml").write_text("level: {type: whole, description: a number}\n")
    former = [{"method": "plain", "anything": 1}, {"method": "described", "level": 1}, {"method": "described", "levels": 1}]
    found = wrong_former(former, [*FOLDERS, str(tmp_path)], [])
    assert found == {3: "drain_methods_former, entry 3 (described): there is no option levels. Options: level."}
