# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every step has its turn in exactly one stage, in the same order on all VMs."""

from __future__ import annotations

import pathlib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.vm_actions import ALWAYS
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.act import stages

STEPS = st.lists(st.builds(lambda host, act: {"host": host, "act": act}, st.sampled_from(["a", "b", "c"]), st.sampled_from(sorted(stages.ORDER))))


def taken(found: list[dict[str, Any]], mine: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As roles/respond/tasks/act_*.yml take them."""
    done: list[dict[str, Any]] = []
    for stage in found:
        here = [step for step in mine if step["act"] in stage["acts"]]
        done += here if stage["name"] in stages.AT_ONCE else here[stage["place"] : stage["place"] + 1]
    return done


@given(STEPS)
def test_every_step_is_taken_once_and_in_order(steps: list[dict[str, Any]]) -> None:
    found = stages.stages(steps)
    for host in ("a", "b", "c"):
        mine = [step for step in steps if step["host"] == host]
        done = taken(found, mine)
        assert sorted(map(id, done)) == sorted(map(id, mine))
        assert [stages.ORDER[step["act"]] for step in done] == sorted(stages.ORDER[step["act"]] for step in mine)
        for act in stages.ORDER:
            assert [step for step in done if step["act"] == act] == [step for step in mine if step["act"] == act]


@given(STEPS)
def test_no_stage_is_there_for_nothing(steps: list[dict[str, Any]]) -> None:
    for stage in stages.stages(steps):
        needed = 1 if stage["name"] in stages.AT_ONCE else stage["place"] + 1
        assert any(sum(step["host"] == host and step["act"] in stage["acts"] for step in steps) >= needed for host in ("a", "b", "c"))


def test_there_is_a_task_file_for_each_that_a_module_does_not_take() -> None:
    tasks = pathlib.Path(stages.__file__).parents[4] / "roles" / "respond" / "tasks"
    by_tasks = {name for name, acts in stages.STAGES if not set(acts) <= set(ALWAYS)}
    assert {f"act_{name}.yml" for name in by_tasks} | {"act_say.yml"} == {path.name for path in tasks.glob("act_*.yml")}


@given(STEPS.map(lambda steps: steps * 6))
def test_one_vm_makes_no_turn_long_and_its_first_steps_come_first(steps: list[dict[str, Any]]) -> None:
    kept = stages.this_turn(steps)
    assert len(stages.stages(kept)) <= len(stages.STAGES) * stages.MOST_OF_ONE_VM
    for host in ("a", "b", "c"):
        for name, acts in stages.STAGES:
            before, after = ([step for step in some if step["host"] == host and step["act"] in acts] for some in (steps, kept))
            assert after == before[: None if name in stages.AT_ONCE else stages.MOST_OF_ONE_VM]
