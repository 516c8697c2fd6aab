# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a play, a role keyword or the command line sets around a role: refused by name, or set by the role's own block."""

from __future__ import annotations

import pathlib
import types
from typing import Any

import pytest
import yaml

from ansible_collections.maintenance.azure.plugins.plugin_utils._settings.facts import why_refused_extra
from ansible_collections.maintenance.azure.plugins.plugin_utils._settings.play_keywords import refused

ROLES = pathlib.Path(__file__).resolve().parents[5] / "roles"
# Each task of a role inherits these, whatever the play or the configuration says.
OWN = {"any_errors_fatal": False, "ignore_errors": False, "ignore_unreachable": False, "throttle": 0, "timeout": 0, "debugger": "never"}
ENTRIES = (
    *(f"respond/{name}" for name in ("main", "begin", "loop", "report", "status", "decide", "history", "settings")),
    *(f"gate/{name}" for name in ("main", "release", "renew", "forget")),
    *("upgrade/main", "upgrade/drained", "upgrade/restarted", "observe/main", "recover/main", "approve/main", "watch/main"),
)


def a_task(serial: Any = (), module_defaults: Any = (), check_mode: bool = False, **inherited: Any) -> Any:
    play = types.SimpleNamespace(serial=list(serial))
    block = types.SimpleNamespace(_play=play, _get_parent_attribute=inherited.get)
    return types.SimpleNamespace(_parent=block, module_defaults=list(module_defaults), check_mode=check_mode)


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (a_task(serial=[1]), "serial is 1"),
        (a_task(serial=["50%", 2]), "serial is 50%, 2"),
        (a_task(run_once=True), "run_once is set"),
        (a_task(run_once="{{ x }}"), "run_once is set"),
        (a_task(delegate_to="localhost"), "delegate_to is 'localhost'"),
        (a_task(check_mode=True), "check_mode is true, other than --check says"),
        (a_task(module_defaults=[{"maintenance.azure.plan": {"check_only": True}}]), "module_defaults sets check_only of maintenance.azure.plan"),
        (a_task(module_defaults=[{"group/maintenance.azure.scheduled_events": {"records_path": 1}}]), "sets records_path of group/maintenance"),
        (a_task(module_defaults=[{}, {"ansible.builtin.set_fact": {"cacheable": True}}]), "sets cacheable of ansible.builtin.set_fact"),
        (a_task(module_defaults=[{"ansible.builtin.debug": "{{ x }}"}]), "sets a template of ansible.builtin.debug"),
    ],
)
def test_what_a_role_cannot_set_itself_is_refused_by_name(task: Any, words: str) -> None:
    why = refused(task, 4, False)
    assert why is not None and words in why and why.endswith(". Nothing was done")


@pytest.mark.parametrize(
    "task",
    [
        a_task(),
        a_task(serial=["100%"]),
        a_task(serial=[4]),
        a_task(serial=[-1]),
        a_task(run_once=False, delegate_to=None),
        a_task(module_defaults=[{"ansible.builtin.uri": {"timeout": 5}}, {"maintenance.azure.maintenance_info": {"endpoint": "http://127.0.0.1:9"}}]),
    ],
)
def test_what_makes_no_difference_is_not(task: Any) -> None:
    assert refused(task, 4, False) is None


def test_batches_are_for_roles_that_take_them() -> None:
    assert refused(a_task(serial=[1])) is None and refused(a_task(check_mode=True)) is None


def test_extra_variables_under_internal_names_are_refused() -> None:
    assert why_refused_extra(["respond_policy", "gate_run", "decide_vm", "awx_job_id", "respond_stats"]) is None
    assert "__respond_actions, observe_result have names" in str(why_refused_extra({"observe_result": {}, "__respond_actions": [], "respond_who": "a"}))


@pytest.mark.parametrize("entry", ENTRIES)
def test_each_entry_of_a_role_sets_the_others_itself(entry: str) -> None:
    role, name = entry.split("/")
    first = yaml.safe_load((ROLES / role / "tasks" / f"{name}.yml").read_text())[0]
    assert {key: first.get(key) for key in OWN} == OWN and first["block"]
