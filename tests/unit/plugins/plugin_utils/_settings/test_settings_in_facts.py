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

from ansible_collections.maintenance.azure.plugins.filter.gate_observations import gate_observations
from ansible_collections.maintenance.azure.plugins.filter.observations import observations
from ansible_collections.maintenance.azure.plugins.filter.settings_in_facts import FilterModule
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.planner import make_plan
from ansible_collections.maintenance.azure.plugins.plugin_utils._settings.facts import (
    refused_hosts,
    settings_in,
    why_refused,
)
from ansible_collections.maintenance.azure.plugins.plugin_utils._settings.names import OTHERS, RESULTS, ROLES, is_setting, setting_names

ROOT = pathlib.Path(__file__).resolve().parents[5]
LOOK = {"changed": False, "events": [], "now": "2026-11-21T20:00:00Z", "vm_name": "web1", "identity": {"name": "web1", "vm_id": "a"}, "records": []}


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
        "observe_look",
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


# Consequences


def test_such_a_vm_is_a_failed_observation_and_the_others_go_on():
    poisoned = {
        "ansible_facts": {"drain_methods": []},
        "observe_look": LOOK,
        "__respond_host": {"labels": {"role": "x"}, "methods": ["none"], "excluded": True},
    }
    found = observations(["web1", "web2"], {"web1": poisoned, "web2": {"observe_look": LOOK}})
    assert (found[0]["state"], found[0]["look"], found[0]["methods"], found[0]["labels"], found[0]["refused"]) == ("failed", None, [], {}, True)
    assert "drain_methods comes from its facts" in found[0]["error"]
    assert found[1]["state"] == "ok"
    assert "refused" not in found[1]


def test_facts_that_come_later_take_a_vm_out_as_well():
    before = observations(["web1"], {"web1": {"observe_look": LOOK}})
    after = observations(["web1"], {"web1": {"observe_look": LOOK, "ansible_facts": {"respond_policy": []}}}, before)
    assert (after[0]["state"], after[0]["reached_before"], after[0]["last_look"]) == ("failed", True, LOOK)


def test_a_plan_reports_it():
    found = observations(["web1"], {"web1": {"ansible_facts": {"respond_policy": []}, "observe_look": LOOK}})
    plan = make_plan(found, now="2026-11-21T20:00:00Z")
    assert plan["hosts"]["web1"]["state"] == "failed"
    assert "respond_policy" in str(plan["hosts"]["web1"])


def test_a_gate_counts_it_as_not_seen():
    hostvars = {"web1": {"observe_look": LOOK}, "web2": {"ansible_facts": {"respond_endpoint": "http://x"}, "observe_look": LOOK}}
    found = gate_observations(["web1", "web2"], hostvars, ["web1"], 1)
    assert [one["state"] for one in found] == ["ok", "failed"]
    assert "respond_endpoint" in found[1]["error"]


@pytest.mark.parametrize(
    "path", ["respond/tasks/main.yml", "respond/tasks/status.yml", "respond/tasks/decide.yml", "gate/tasks/main.yml", "upgrade/tasks/main.yml"]
)
def test_settings_are_read_before_any_vm_is_asked(path):
    tasks = yaml.safe_load((ROOT / "roles" / path).read_text())
    text = [str(task) for task in tasks]
    first = next(place for place, one in enumerate(text) if re.search(r"settings\.yml|refuse\.yml", one))
    looks = [place for place, one in enumerate(text) if re.search(r"look\.yml|host\.yml|'name': 'maintenance\.azure\.gate'|maintenance_record", one)]
    assert first < min(looks)


def test_settings_are_named_once_where_they_are_read():
    """After the first observation no task reads the variables again."""
    names = "respond_policy respond_capacity respond_unmanaged respond_only_events respond_timing respond_wait respond_wait_timeout respond_notify_tasks"
    ruling = rf"\b({names.replace(' ', '|')}|__respond_given)\b"
    found = set()
    for role in ("respond", "gate", "upgrade"):
        for path in (ROOT / "roles" / role / "tasks").rglob("*.yml"):
            text = "\n".join(line.split("#")[0] for line in path.read_text().splitlines() if not re.search("name:|msg:|failed for", line))
            if re.search(ruling, text):
                found.add(f"{role}/{path.name}")
    assert found == {"respond/settings.yml", "gate/main.yml"}
