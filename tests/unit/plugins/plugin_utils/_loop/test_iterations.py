# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop has an end, and what ends a pass has its place before it."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import pytest
import yaml

from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import pass_loop
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop.pass_loop import MOST_ITERATIONS
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._loop.passes import RUN, Pass, observation, plan

TASKS = pathlib.Path(pass_loop.__file__).parents[3] / "roles" / "respond" / "tasks"
# Leases of the run are released, and then the loop is left.
TO_END = 2


def length(name: str) -> int:
    """Return how many iterations a tasks file has, with what it includes."""
    if name == "iteration.yml":
        return 1
    found = 0
    tasks = yaml.safe_load((TASKS / name).read_text())
    for task in (inner for outer in tasks for inner in outer.get("block", [outer])):
        times = re.search(r"range\((\d+)\)", str(task.get("loop", "range(1)")))
        assert times is not None
        found += int(times[1]) * length(task.get("ansible.builtin.import_tasks") or task["ansible.builtin.include_tasks"])
    return found


def test_a_pass_ends_before_its_loop_does() -> None:
    assert MOST_ITERATIONS + TO_END <= length("loop.yml") <= MOST_ITERATIONS + 2 * TO_END


def test_at_the_end_of_the_loop_leases_are_released(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan())
    its.observed["vm1"] = observation("vm1", leases=[{"run": RUN["id"], "event_id": "E1"}])
    state: Any = {**its.begin(wait_timeout=1e9), "number": MOST_ITERATIONS - 2}
    its.state = state
    assert [its.go_on()["do"] for _number in range(3)] == ["pause", "release", "end"]
