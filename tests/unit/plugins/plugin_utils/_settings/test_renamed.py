# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that version 2.0.0 has changed: each old one is refused with the new one's name, and the changelog names them all."""

from __future__ import annotations

import pathlib
import types
import typing as t

import pytest
import yaml
from ansible.errors import AnsibleFilterError

from ansible_collections.maintenance.azure.plugins.action.maintenance_act import ActionModule as MaintenanceAct
from ansible_collections.maintenance.azure.plugins.action.maintenance_record import ActionModule
from ansible_collections.maintenance.azure.plugins.filter.maintenance import FilterModule
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.maintenance_record import record_arguments
from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import Settings, load
from ansible_collections.maintenance.azure.plugins.plugin_utils._settings import renamed
from ansible_collections.maintenance.azure.plugins.plugin_utils._settings.facts import is_setting, setting_names

ROOT = pathlib.Path(__file__).resolve().parents[5]
CHANGELOG = (ROOT / "changelogs" / "changelog.yaml").read_text()
# The roles respond, drain and recover look by their actions: see tests/unit/plugins/action/test_plan.py and test_drain_step.py, and below.
ROLES = ("approve", "gate", "upgrade")
# Results that a play reads. They cannot be refused; the changelog lists them.
RESULTS = {"observe_look": "observe_result"}
RETURNED = {
    "maintenance_info": {"claims": "leases", "mirrors": "replicas"},
    "maintenance_record": {"claims": "leases", "error_kind claim_lost": "error_kind lease_lost"},
}
FILTERS = {"decision": "override", "drain_copy": "drain_replica"}
TABLES: list[dict[str, str]] = [
    renamed.VARIABLES,
    renamed.SETTINGS,
    renamed.OPTIONS["maintenance_record"],
    renamed.STATES["maintenance_record"],
    RESULTS,
    *RETURNED.values(),
    FILTERS,
]


def test_new_variables_are_options_and_old_ones_are_none():
    assert set(renamed.VARIABLES.values()) <= setting_names()
    assert not set(renamed.VARIABLES) & setting_names()


@pytest.mark.parametrize("name", renamed.VARIABLES)
def test_an_old_variable_is_refused_with_its_new_name(name: str) -> None:
    no_renamed = FilterModule().filters()["no_renamed"]
    with pytest.raises(AnsibleFilterError, match=f"{name} is {renamed.VARIABLES[name]} now"):
        no_renamed(["respond_policy", name])


def test_other_variables_are_not_refused():
    assert FilterModule().filters()["no_renamed"](["respond_policy", *renamed.VARIABLES.values()]) is True


@pytest.mark.parametrize("name", renamed.VARIABLES)
def test_an_old_variable_among_the_facts_of_a_vm_is_a_setting(name: str) -> None:
    assert is_setting(name)


@pytest.mark.parametrize("name", renamed.SETTINGS)
def test_an_old_setting_is_refused_with_its_new_name(name: str) -> None:
    assert hasattr(Settings(), renamed.SETTINGS[name]) and not hasattr(Settings(), name)
    with pytest.raises(WrongInput, match=f"{name} is {renamed.SETTINGS[name]} now"):
        load({name: 1})


def run(**options: t.Any) -> t.Any:
    """Return what the action returns for these options, without a connection to anything."""
    return ActionModule.run(t.cast(t.Any, types.SimpleNamespace(answers="maintenance_record", _task=types.SimpleNamespace(args=options))))


@pytest.mark.parametrize("name", renamed.OPTIONS["maintenance_record"])
def test_an_old_option_is_refused_before_anything_is_run(name: str) -> None:
    new = renamed.OPTIONS["maintenance_record"][name]
    assert new in record_arguments() and name not in record_arguments()
    result = run(event_id="E1", **{name: {}})
    assert result["failed"] and f"{name} is {new} now" in result["msg"]


@pytest.mark.parametrize("state", renamed.STATES["maintenance_record"])
def test_an_old_state_is_refused_before_anything_is_run(state: str) -> None:
    new = renamed.STATES["maintenance_record"][state]
    assert new in record_arguments()["state"]["choices"] and state not in record_arguments()["state"]["choices"]
    result = run(state=state)
    assert result["failed"] and f"state {state} is state {new} now" in result["msg"]


def test_new_options_are_not_refused():
    assert renamed.refused_options("maintenance_record", {"state": "leased", "lease": {"run": "run00001"}}) is None
    assert renamed.refused_options("maintenance_info", {"claim": 1}) is None


def test_old_filters_are_tombstones_that_name_the_new_ones():
    tombstones = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())["plugin_routing"]["filter"]
    assert tombstones.keys() == FILTERS.keys()
    for old, new in FILTERS.items():
        assert f"maintenance.azure.{new} " in tombstones[old]["tombstone"]["warning_text"]
        assert (ROOT / "plugins" / "filter" / f"{new}.yml").is_file() and not (ROOT / "plugins" / "filter" / f"{old}.yml").exists()


@pytest.mark.parametrize("table", TABLES)
def test_the_changelog_names_each_pair(table: dict[str, str]) -> None:
    text = " ".join(" ".join(yaml.safe_load(CHANGELOG)["releases"]["2.0.0"]["changes"]["breaking_changes"]).split())
    for old, new in table.items():
        assert any(f"{quote}{old}`` is {quote}{new}`` now" in text for quote in ("``", "``state: ")) or f"``{new}`` instead of ``{old}``" in text, old


@pytest.mark.parametrize("role", ROLES)
def test_roles_look_for_old_names(role: str) -> None:
    first = (ROOT / "roles" / role / "tasks" / "main.yml").read_text().split("- name:")[2]
    assert "import_tasks: refuse.yml" in first or "import_tasks: ../../respond/tasks/refuse.yml" in first
    assert "maintenance.azure.check_settings:" in (ROOT / "roles" / "respond" / "tasks" / "refuse.yml").read_text()


def test_a_vm_with_a_variable_of_an_old_name_is_not_asked() -> None:
    """Only where role respond asks: it gives the VM's settings along."""
    vm = types.SimpleNamespace(_task=types.SimpleNamespace(args={"actions": [{"action": "drain"}]}))
    result = MaintenanceAct._without_the_vm(t.cast(t.Any, vm), {}, {"drain_mirror": "vm2"})
    assert result is not None and result["failed"] and "drain_mirror is drain_keeper now" in result["msg"]
    # Unlike settings in facts, which anybody on the VM can make: this VM stays in the play, unread, and holds its events.
    assert "refused" not in result
    assert MaintenanceAct._without_the_vm(t.cast(t.Any, vm), None, {"drain_mirror": "vm2"}) is None


@pytest.mark.parametrize("name", renamed.SETTINGS)
def test_a_vm_with_a_setting_of_an_old_name_in_a_respond_timing_of_its_own_is_not_asked(name: str) -> None:
    """Role respond has looked at that of one host only."""
    vm = types.SimpleNamespace(_task=types.SimpleNamespace(args={"actions": [{"action": "drain"}]}))
    result = MaintenanceAct._without_the_vm(t.cast(t.Any, vm), {}, {"respond_timing": {name: 60}})
    assert result is not None and result["failed"] and f"{name} is {renamed.SETTINGS[name]} now" in result["msg"]


@pytest.mark.parametrize("timing", [None, {}, {"lease_seconds": 60}, "{{ timing_of_the_fleet }}", ["claim_seconds"]])
def test_a_respond_timing_without_an_old_name_is_not_refused(timing: t.Any) -> None:
    vm = types.SimpleNamespace(_task=types.SimpleNamespace(args={"actions": [{"action": "drain"}]}))
    assert MaintenanceAct._without_the_vm(t.cast(t.Any, vm), {}, {"respond_timing": timing}) is None
