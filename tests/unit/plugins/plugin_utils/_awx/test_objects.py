# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The data set of role awx: names, relations, and errors in it."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._awx.objects import aap_variables, make_objects
from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput

SPECS = {"gate": {"main": {"options": {"gate_name": {"type": "str"}}}}}


def data(**given: t.Any) -> dict[str, t.Any]:
    return {
        "awx_organization": {"name": "O"},
        "awx_projects": [{"name": "P", "credential": "C"}],
        "awx_job_template_defaults": {"project": "P", "labels": ["L"]},
        "awx_job_templates": [{"name": "J", "credentials": ["C"], "inventory": "Elsewhere"}],
        "awx_workflows": [{"name": "W", "nodes": [{"identifier": "a", "job_template": "J"}]}],
        "awx_schedules": [{"name": "S", "unified_job_template": "W", "rrule": "R"}],
        **given,
    }


def made(**given: t.Any) -> dict[tuple[str, str], dict[str, t.Any]]:
    return {(one["kind"], one["name"]): one for one in make_objects(data(**given), SPECS)}


def test_own_names_get_the_prefix_and_those_of_others_do_not() -> None:
    found = made(awx_prefix="T ")
    assert list(found) == [
        ("credential", "C"),
        ("inventory", "Elsewhere"),
        ("organization", "T O"),
        ("project", "T P"),
        ("label", "T L"),
        ("job_template", "T J"),
        ("workflow_job_template", "T W"),
        ("schedule", "T S"),
    ]
    template = found["job_template", "T J"]["arguments"]
    assert {key: template[key] for key in ("organization", "project", "inventory", "credentials", "labels")} == {
        "organization": "T O",
        "project": "T P",
        "inventory": "Elsewhere",
        "credentials": ["C"],
        "labels": ["T L"],
    }
    assert found["schedule", "T S"]["arguments"]["unified_job_template"] == "T W"
    node = found["workflow_job_template", "T W"]["arguments"]["workflow_nodes"][0]
    assert node["unified_job_template"] == {"type": "job_template", "name": "T J", "organization": {"name": "T O"}}


def test_foreign_objects_keep_their_names() -> None:
    found = made(awx_prefix="T ", awx_organization={"name": "O", "made": False})
    assert not found["organization", "O"]["made"] and found["project", "T P"]["arguments"]["organization"] == "O"
    assert "made" not in found["organization", "O"]["arguments"]


def test_every_description_ends_with_the_mark() -> None:
    assert {one["arguments"].get("description", "[maintenance.azure]")[-19:] for one in made().values() if one["made"]} == {"[maintenance.azure]"}


def test_an_empty_reference_is_none() -> None:
    assert "credential" not in made(awx_projects=[{"name": "P", "credential": ""}])["project", "P"]["arguments"]


def test_empty_variables_are_left_out_for_aap() -> None:
    assert "controller_inventories" not in aap_variables(make_objects(data(), SPECS))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"awx_notify": {"failure": ["x"]}}, "awx_notify has failure; there are started, success, error and approvals"),
        ({"awx_notification_templates": [{"name": "Chat", "notification_configuration": {"token": "x"}}]}, r"Chat has a secret in it \(token\)"),
        ({"awx_notification_templates": [{"name": "Chat", "notification_configuration": "x"}]}, "Chat must be a mapping, not of type str$"),
        ({"awx_notification_templates": ["x"]}, "must be a list of mappings, not a list with str in it$"),
        ({"awx_notification_templates": [{"notification_configuration": "x"}]}, "an entry without a name: number 1, with notification_configuration$"),
        ({"awx_projects": [{"name": "P", "scm_url": "https://me:x@example.com/r.git"}]}, "^the project P has a login in its scm_url: put it into a cred"),
        ({"awx_projects": [{"name": "P", "scm_url": "HTTPS://x@example.com/r.git"}]}, "^the project P has a login in its scm_url"),
        ({"awx_job_templates": [{"name": "J", "host_config_key": "x"}]}, r"^the job template J has a secret in it \(host_config_key\)"),
        ({"awx_execution_environments": [{"name": "E"}]}, "the execution environment E has no image"),
        ({"awx_inventory_sources": [{"name": "A", "inventory": "I", "source": "azure_rm"}]}, "the inventory source A has no credential"),
        ({"awx_workflows": [{"name": "W"}], "awx_projects": [{"name": "W"}]}, "the schedule S starts W, and several of job_template, workflow_job_template"),
        ({"awx_organization": {}}, "awx_organization must be one mapping with a name"),
        ({"awx_projects": {"name": 3}, "awx_job_templates": "x"}, "awx_job_templates must be a list of mappings, not of type str"),
        ({"awx_projects": [{"scm_type": "git"}]}, "awx_projects has an entry without a name"),
        ({"awx_projects": [{"name": "P"}, {"name": "P"}]}, "awx_projects has two entries of the same name: P"),
        ({"awx_schedules": [{"name": "S", "rrule": "R"}]}, "the schedule S needs unified_job_template"),
        ({"awx_job_templates": [{"name": "J", "survey": {"role": "y"}}]}, r"the survey of job template J needs role \(one of gate\)"),
        ({"awx_job_templates": [{"name": "J", "survey": {"role": "gate", "question": []}}]}, "the survey of job template J needs role"),
        ({"awx_job_templates": [{"name": "J", "survey": {"role": "gate", "questions": ["z"]}}]}, "the survey of job template J: z is no option"),
    ],
)
def test_errors_in_the_data_set(given: dict[str, t.Any], message: str) -> None:
    with pytest.raises(WrongInput, match=message):
        made(**given)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([{"identifier": "a", "job_template": "J", "success": ["c"]}], "node a of workflow W leads to c, and there is no such node"),
        ([{"identifier": "a"}], "node a of workflow W must start one of job_template, workflow, project, approval"),
        ([{"identifier": "a", "job_template": "J", "approval": "A"}], "must start one of"),
        ([{"identifier": "a", "job_template": "J", "succes": []}], "must start one of"),
        ([{"identifier": "a", "job_template": "J"}, {"identifier": "a", "job_template": "J"}], "an identifier of its own"),
        ([{"identifier": "a", "job_template": "J", "success": ["b"]}, {"identifier": "b", "job_template": "J", "failure": ["a"]}], "lead in a circle: a, b"),
    ],
)
def test_errors_in_a_workflow(nodes: list[dict[str, t.Any]], message: str) -> None:
    with pytest.raises(WrongInput, match=message):
        made(awx_workflows=[{"name": "W", "nodes": nodes}])
