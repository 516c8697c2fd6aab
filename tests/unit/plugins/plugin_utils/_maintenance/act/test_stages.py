# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every action is taken in exactly one stage, in the same order on all VMs."""

from __future__ import annotations

import pathlib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.orders.vm_actions import ALWAYS
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.act import stages
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import actions

KINDS = [type(f"Of{act}", (actions.Action,), {"name": act, "__slots__": ()}) for act in sorted(stages.ORDER)]
ACTIONS = st.lists(st.builds(lambda host, kind: kind(host=host, event_id="E", reason="test"), st.sampled_from(["a", "b", "c"]), st.sampled_from(KINDS)))


def taken(found: list[dict[str, Any]], mine: list[actions.Action]) -> list[actions.Action]:
    """As roles/respond/tasks/act_*.yml take them."""
    done: list[actions.Action] = []
    for stage in found:
        here = [action for action in mine if action.name in stage["actions"]]
        done += here if stage["name"] in stages.AT_ONCE else here[stage["place"] : stage["place"] + 1]
    return done


@given(ACTIONS)
def test_every_action_is_taken_once_and_in_order(given_actions: list[actions.Action]) -> None:
    found = stages.stages((action.host, action.name) for action in given_actions)
    for host in ("a", "b", "c"):
        mine = [action for action in given_actions if action.host == host]
        done = taken(found, mine)
        assert sorted(map(id, done)) == sorted(map(id, mine))
        assert [stages.ORDER[action.name] for action in done] == sorted(stages.ORDER[action.name] for action in mine)
        for act in stages.ORDER:
            assert [action for action in done if action.name == act] == [action for action in mine if action.name == act]


@given(ACTIONS)
def test_no_stage_is_there_for_nothing(given_actions: list[actions.Action]) -> None:
    for stage in stages.stages((action.host, action.name) for action in given_actions):
        needed = 1 if stage["name"] in stages.AT_ONCE else stage["place"] + 1
        assert any(sum(action.host == host and action.name in stage["actions"] for action in given_actions) >= needed for host in ("a", "b", "c"))


def test_there_is_a_task_file_for_each_that_a_module_does_not_take() -> None:
    tasks = pathlib.Path(stages.__file__).parents[4] / "roles" / "respond" / "tasks"
    by_tasks = {name for name, acts in stages.STAGES if not set(acts) <= set(ALWAYS)}
    assert {f"act_{name}.yml" for name in by_tasks} | {"act_only.yml"} == {path.name for path in tasks.glob("act_*.yml")}


@given(ACTIONS.map(lambda given_actions: given_actions * 6))
def test_one_vm_makes_no_iteration_long_and_its_first_actions_come_first(given_actions: list[actions.Action]) -> None:
    kept = stages.this_iteration(given_actions)
    assert len(stages.stages((action.host, action.name) for action in kept)) <= len(stages.STAGES) * stages.MOST_OF_ONE_VM
    for host in ("a", "b", "c"):
        for name, acts in stages.STAGES:
            before, after = ([action for action in some if action.host == host and action.name in acts] for some in (given_actions, kept))
            first = before[: None if name in stages.AT_ONCE else stages.MOST_OF_ONE_VM]
            assert after == sorted(first, key=lambda action: stages.PLACES.index(action.name))
        places = [stages.PLACES.index(action.name) for action in kept if action.host == host]
        assert places == sorted(places)
