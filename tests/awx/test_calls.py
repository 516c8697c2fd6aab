# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every call of awx.awx has options that its module has, of the right types; every entry for infra.aap_configuration has keys that its roles read."""

from __future__ import annotations

import json
import typing as t

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.maintenance.azure.plugins.plugin_utils._awx.kinds import KINDS
from ansible_collections.maintenance.azure.tests.awx.conftest import ROOT

OPTIONS = json.loads((ROOT / "tests" / "awx" / "options.json").read_text())
AAP = json.loads((ROOT / "tests" / "awx" / "aap_configuration.json").read_text())
EVERYTHING = {
    "awx_prefix": "Test ",
    "awx_workflow_approval": True,
    "awx_registry_credential": "R",
    "awx_project_credential": "P",
    "awx_notify": {"started": ["Mail"], "success": ["Mail"], "error": ["Mail"]},
    "awx_notification_templates": [{"name": "Mail", "notification_type": "webhook", "notification_configuration": {"url": "https://example.com"}}],
}


def calls() -> list[tuple[str, dict[str, t.Any], str]]:
    """Module, static arguments and file of each task of the role that calls awx.awx."""
    found = []
    for path in sorted((ROOT / "roles" / "awx" / "tasks").glob("*.yml")):
        for task in tasks(yaml.safe_load(path.read_text())):
            found += [(key.rpartition(".")[2], value, path.name) for key, value in task.items() if key.startswith("awx.awx.")]
    return found


def tasks(entries: list[dict[str, t.Any]]) -> t.Iterator[dict[str, t.Any]]:
    """Tasks, also those of blocks."""
    for entry in entries:
        yield from tasks(entry["block"]) if "block" in entry else [entry]


def problems(module: str, arguments: dict[str, t.Any]) -> list[str]:
    result = ArgumentSpecValidator({**OPTIONS["modules"][module]["options"]}).validate(arguments)
    found = [str(message) for message in result.error_messages] + [f"{name} is unknown" for name in result.unsupported_parameters]
    for name, value in arguments.items():
        if name in result.validated_parameters and type(result.validated_parameters[name]) is not type(value):
            found.append(f"{name} is {value!r}")
    for node in arguments.get("workflow_nodes", []):
        inner = ArgumentSpecValidator(OPTIONS["workflow_node"]["options"]).validate(node)
        found += [f"node {node['identifier']}: {words}" for words in [*inner.error_messages, *sorted(str(each) for each in inner.unsupported_parameters)]]
    return found


@pytest.fixture(scope="module")
def everything(render: t.Callable[..., dict[str, t.Any]]) -> dict[str, t.Any]:
    return render(**EVERYTHING)


def test_every_module_that_is_called_is_known() -> None:
    made, removed = ({module for module, _given, file in calls() if file.startswith(name)} for name in ("present", "absent"))
    assert made == set(OPTIONS["modules"]) == {kind.name for kind in KINDS} | {"project_update"}
    assert removed == made - {"label", "project_update"}
    for module, given, file in calls():
        assert set(given) <= set(OPTIONS["modules"][module]["options"]), f"{file}: {module}"
        assert module == "project_update" or given["state"] in OPTIONS["modules"][module]["options"]["state"]["choices"]
        required = {name for name, option in OPTIONS["modules"][module]["options"].items() if option.get("required")}
        assert required <= set(given), f"{file}: {module}"


@pytest.mark.parametrize("which", ["default", "everything"])
def test_every_call_fits(which: str, request: pytest.FixtureRequest) -> None:
    objects = [one for one in request.getfixturevalue(which)["objects"] if one["made"]]
    assert {one["kind"] for one in objects} >= {kind.name for kind in KINDS} - {"notification_template"}
    for one in objects:
        assert problems(one["kind"], one["arguments"]) == [], one["name"]


@pytest.mark.parametrize(("option", "value"), [("allow_simultanous", False), ("allow_simultaneous", "maybe"), ("job_type", "walk"), ("forks", "5")])
def test_a_call_that_does_not_fit_is_seen(default: dict[str, t.Any], option: str, value: t.Any) -> None:
    template = next(one for one in default["objects"] if one["kind"] == "job_template")
    assert problems("job_template", {**template["arguments"], option: value})


def test_a_node_that_does_not_fit_is_seen(default: dict[str, t.Any]) -> None:
    workflow = next(one for one in default["objects"] if one["kind"] == "workflow_job_template")
    nodes = [{**node, "related": {**node["related"], "sucess_nodes": []}} for node in workflow["arguments"]["workflow_nodes"]]
    assert problems("workflow_job_template", {**workflow["arguments"], "workflow_nodes": nodes})


def test_variables_of_infra_aap_configuration(everything: dict[str, t.Any]) -> None:
    assert set(everything["aap"]) == set(AAP["variables"])
    for variable, entries in everything["aap"].items():
        for entry in entries:
            assert set(entry) <= set(AAP["variables"][variable]["keys"]), variable
    schedules = ["Test Maintenance respond", "Test Maintenance history", "Test Maintenance keep enabled"]
    assert [entry["name"] for entry in everything["aap"]["controller_schedules"]] == schedules
    made = {(one["kind"], one["name"]) for one in everything["objects"] if one["made"]}
    assert len(made) == sum(len(entries) for entries in everything["aap"].values())


def test_options_are_those_of_a_real_awx() -> None:
    """Where an AWX that ran differed from the published source that was read before."""
    modules = {name: module["options"] for name, module in OPTIONS["modules"].items()}
    assert OPTIONS["source"]["compared"]["awx"] == "e21dd0a" and OPTIONS["source"]["compared"]["awx.awx"] == "24.6.2"
    assert 5 in modules["job_template"]["verbosity"]["choices"]
    assert all("exists" in modules[name]["state"]["choices"] for name in ("organization", "workflow_job_template"))
    assert {"terraform", "openshift_virtualization"} <= set(modules["inventory_source"]["source"]["choices"])
    assert "hcloud" not in modules["inventory_source"]["source"]["choices"]
    assert not modules["execution_environment"]["image"].get("required") and "custom_virtualenv" in modules["project"]


def test_sources_are_named() -> None:
    for described in [*OPTIONS["modules"].values(), OPTIONS["auth"], OPTIONS["workflow_node"], *AAP["variables"].values()]:
        assert len(described["commit"]) == 40


def test_options_of_the_inventory_plugin() -> None:
    defaults = yaml.safe_load((ROOT / "roles" / "awx" / "defaults" / "main.yml").read_text())
    example = yaml.safe_load((ROOT / "docs" / "examples" / "web.azure_rm.yaml").read_text())
    for options in (example, defaults["awx_inventory_sources"][0]["source_vars"]):
        assert options["plugin"] == "azure.azcollection.azure_rm" and set(options) <= set(OPTIONS["azure_rm"]["options"])
        # A VM that Azure works on must not drop out of its group.
        assert options["default_host_filters"] == []
