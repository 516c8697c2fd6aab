# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings in facts: refused by name, and the list of settings is that of the roles themselves."""

from __future__ import annotations

import pathlib
import re
import typing as t

import pytest
import yaml
from ansible.errors import AnsibleFilterError

from ansible_collections.maintenance.azure.plugins.filter.maintenance import FilterModule
from ansible_collections.maintenance.azure.plugins.plugin_utils._settings.facts import (
    OTHERS,
    RESULTS,
    ROLES,
    is_setting,
    refused_hosts,
    setting_names,
    settings_in,
    why_refused,
)

ROOT = pathlib.Path(__file__).resolve().parents[5]


def test_every_default_of_a_role_is_a_setting():
    for role in ROLES:
        path = ROOT / "roles" / role / "defaults" / "main.yml"
        defaults = set(yaml.safe_load(path.read_text()) or {})
        assert {name for name in defaults if not is_setting(name)} == set(), role


def _assigned() -> set[str]:
    """Return the names that tasks of the roles register or set as facts."""
    found: set[str] = set()
    for path in (file for role in ROLES for file in (ROOT / "roles" / role / "tasks").rglob("*.yml")):
        _collect(yaml.safe_load(path.read_text()), found)
    return found


def _collect(node: t.Any, found: set[str]) -> None:
    if isinstance(node, list):
        for item in node:
            _collect(item, found)
    if isinstance(node, dict):
        if isinstance(node.get("register"), str):
            found.add(node["register"])
        found.update(key for key in node.get("ansible.builtin.set_fact") or {} if "{" not in key)
        for value in node.values():
            _collect(value, found)


def test_variables_of_the_roles_may_not_be_facts_either():
    assigned = _assigned()
    assert len(assigned) > 30
    assert {name for name in assigned if not is_setting(name)} == set()


def test_no_name_is_listed_twice():
    assert not RESULTS & setting_names()
    assert not OTHERS & setting_names()


@pytest.mark.parametrize(
    "name",
    [
        "respond_policy",
        "drain_methods",
        "decide_event_id",
        "status_format",
        "gate_run",
        "upgrade_tasks",
        "observe_result",
        "__respond_observations",
        "inventory_hostname",
    ],
)
def test_names_that_are_refused(name):
    assert settings_in({"distribution": "Debian", name: 1}) == [name]
    assert name in (why_refused({name: 1}) or "")


@pytest.mark.parametrize(
    "facts", [None, [], "respond_policy", {}, {"distribution": "Debian", "local": {"respond_policy": "x"}, "upgrade_needed": True, "gateway": 1}]
)
def test_facts_of_an_honest_vm_are_none_of_our_business(facts):
    assert settings_in(facts) == []
    assert why_refused(facts) is None


def test_the_reason_is_short_and_printable_for_any_names():
    why = why_refused({f"__respond_\x1b\u202e\n{number}" + "x" * 300: 1 for number in range(40)})
    assert why is not None
    assert why.isprintable()
    assert "and 35 others" in why
    assert len(why) < 800


def test_the_same_facts_are_set_by_any_key_type():
    assert settings_in({1: 2, None: 3, "respond_policy": 4}) == ["respond_policy"]


def test_the_filter_for_conditions_says_yes_or_why_not():
    no_settings = FilterModule().filters()["no_settings"]
    assert no_settings({"distribution": "Debian"}) is True
    with pytest.raises(AnsibleFilterError, match="the setting gate_run comes from its facts"):
        no_settings({"gate_run": 1})


def test_refused_hosts_are_named():
    hostvars = {"web1": {"ansible_facts": {"respond_policy": 1}}, "web2": {"ansible_facts": {"os": 1}}, "web3": {}}
    assert list(refused_hosts(["web1", "web2", "web3", "gone"], hostvars)) == ["web1"]


# Consequences. What becomes of such a VM's observation is tested beside the loop, in _loop/.


def tasks_of(path: str) -> list[str]:
    tasks = yaml.safe_load((ROOT / "roles" / path).read_text())
    # An entry of a role is one block.
    return [str(inner) for task in tasks for inner in task.get("block", [task])]


def place(tasks: list[str], pattern: str) -> int:
    return next(number for number, task in enumerate(tasks) if re.search(pattern, task))


@pytest.mark.parametrize("path", ["gate/tasks/main.yml", "upgrade/tasks/main.yml"])
def test_settings_in_facts_are_refused_before_any_vm_is_asked(path):
    tasks = tasks_of(path)
    asks = place(tasks, r"loop\.yml|observe\.yml|observation\.yml|plan\.yml|'name': 'maintenance\.azure\.gate'|maintenance_record|maintenance_act")
    assert place(tasks, r"refuse\.yml") < asks


@pytest.mark.parametrize("path", ["respond/tasks/begin.yml", "respond/tasks/status.yml", "respond/tasks/decide.yml"])
def test_what_rules_the_fleet_is_kept_before_any_vm_is_asked_and_refused_vms_leave(path):
    """Action maintenance_act does not ask such a VM, and it leaves before the plan could read the variables of the first host."""
    tasks, observe = tasks_of(path), tasks_of("respond/tasks/observe.yml")
    assert place(observe, r"__respond_begin.*'check_only': True") < place(observe, r"act\.yml.*__respond_is_first")
    rescue = yaml.safe_load((ROOT / "roles" / "respond" / "tasks" / "act.yml").read_text())[0]["rescue"]
    (leaving,) = (task for task in rescue if task.get("ansible.builtin.meta") == "end_role")
    assert "observe_result.refused is defined" in leaving["when"]
    assert place(tasks, r"observe\.yml") < place(tasks, r"'ansible\.builtin\.import_tasks': 'plan\.yml'")


def test_settings_are_named_once_where_they_are_read():
    """After the first observation no task reads the variables again."""
    names = "respond_policy respond_capacity respond_unmanaged respond_only_events respond_timing respond_wait respond_wait_timeout respond_notify_tasks"
    ruling = rf"\b({names.replace(' ', '|')}|__respond_given|__respond_begin)\b"
    found = set()
    for role in ("respond", "gate", "upgrade"):
        for path in (ROOT / "roles" / role / "tasks").rglob("*.yml"):
            text = "\n".join(line.split("#")[0] for line in path.read_text().splitlines() if not re.search("name:|msg:|failed for", line))
            if re.search(ruling, text):
                found.add(f"{role}/{path.name}")
    assert found == {"respond/observe.yml", "respond/plan.yml", "gate/main.yml"}
