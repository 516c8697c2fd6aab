# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of role awx: ownership, differences, removals."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._awx import refusals
from ansible_collections.maintenance.azure.plugins.plugin_utils._awx.changes import plan, with_ids
from ansible_collections.maintenance.azure.plugins.plugin_utils._awx.comparing import differences

MARK = "x [maintenance.azure]"


def wanted(kind: str = "project", **arguments: t.Any) -> dict[str, t.Any]:
    return {"kind": kind, "name": "N", "made": True, "arguments": {"name": "N", "description": MARK, **arguments}}


def planned(one: dict[str, t.Any], item: dict[str, t.Any], state: str = "present", adopt: bool = False) -> dict[str, t.Any]:
    return plan([one], [item], state, adopt)


@pytest.mark.parametrize(
    ("item", "state", "adopt", "action"),
    [
        ({}, "present", False, "make"),
        ({"name": "N", "description": MARK}, "present", False, "same"),
        ({"name": "N", "description": "hand-made"}, "present", False, "foreign"),
        ({"name": "N", "description": None}, "present", False, "foreign"),
        ({"name": "N", "description": "hand-made"}, "present", True, "change"),
        ({"name": "N", "description": MARK + " edited"}, "present", False, "foreign"),
        ({"name": "N", "description": "edited [maintenance.azure]"}, "present", False, "change"),
        ({}, "absent", False, "same"),
        ({"id": 1, "name": "N", "description": MARK}, "absent", False, "remove"),
        ({"id": 1, "name": "N", "description": "hand-made"}, "absent", True, "keep"),
        ({"id": 1, "description": MARK, "users": [{"endpoint": "job_templates", "id": 2, "name": "J"}]}, "absent", False, "keep"),
    ],
)
def test_actions(item: dict[str, t.Any], state: str, adopt: bool, action: str) -> None:
    found = planned(wanted(), item, state, adopt)
    assert [change["action"] for change in found["changes"]] == [action]
    assert bool(found["wrong"]) == (action == "foreign") and bool(found["lines"]) == (action != "same")


def test_a_label_has_no_mark_and_is_never_removed() -> None:
    label = {"kind": "label", "name": "N", "made": True, "arguments": {"name": "N"}}
    assert planned(label, {"id": 1, "name": "N"})["changes"][0]["action"] == "same"
    assert planned(label, {"id": 1, "name": "N"}, "absent")["changes"][0]["action"] == "same"


def test_objects_that_are_only_referred_to_must_exist() -> None:
    credential = {"kind": "credential", "name": "C", "made": False, "named_in": "credentials of job template J", "arguments": {"name": "C"}}
    assert planned(credential, {})["wrong"] == [
        "credential C (credentials of job template J) is not there, or this user may not see it; it is named and not made here"
    ]
    assert planned(credential, {}, "absent") == {"changes": [], "wrong": [], "busy": [], "lines": []}
    assert planned(credential, {"id": 1}) == {"changes": [], "wrong": [], "busy": [], "lines": []}


def test_removed_objects_no_longer_use_others() -> None:
    objects = [wanted("project"), wanted("job_template")]
    user = {"endpoint": "job_templates", "id": 2, "name": "N"}
    found = plan(objects, [{"id": 1, "description": MARK, "users": [user]}, {"id": 2, "description": MARK}], "absent", False)
    assert [(change["kind"], change["action"]) for change in found["changes"]] == [("job_template", "remove"), ("project", "remove")]


def test_a_schedule_goes_with_its_template() -> None:
    """Otherwise a template that AWX does not remove, because a job of it runs, would have lost its schedule."""
    objects = [wanted("job_template"), wanted("schedule", unified_job_template="N"), wanted("schedule", unified_job_template="Elsewhere")]
    found = plan(objects, [{"id": number, "description": MARK} for number in (1, 2, 3)], "absent", False)
    goes = [(change["arguments"]["unified_job_template"], change["goes_with"]) for change in found["changes"] if change["kind"] == "schedule"]
    assert goes == [("Elsewhere", ""), ("N", "job template N")]
    assert [change["action"] for change in found["changes"]] == ["remove"] * 3
    kept = {"id": 1, "description": MARK, "users": [{"endpoint": "workflow_job_templates", "id": 9, "name": "W"}]}
    found = plan(objects[:2], [kept, {"id": 2, "description": MARK}], "absent", False)
    assert [(change["action"], change["goes_with"]) for change in found["changes"]] == [("remove", ""), ("keep", "")]


def test_running_jobs_of_what_is_removed() -> None:
    template = {"id": 1, "description": MARK, "jobs": [57]}
    assert planned(wanted("job_template"), template, "absent")["busy"] == ["job 57 of job template N runs"]
    assert planned(wanted("job_template"), template)["busy"] == []
    assert planned(wanted("job_template"), {**template, "description": "hand-made"}, "absent")["busy"] == []


@pytest.mark.parametrize(
    ("capabilities", "arguments", "item", "state", "words"),
    [
        ({"edit": False}, {"scm_url": "b"}, {"scm_url": "a"}, "present", ["this user may not change project N"]),
        ({"edit": False}, {"scm_url": "a"}, {"scm_url": "a"}, "present", []),
        ({"start": False}, {}, {"scm_type": "git", "status": "failed"}, "present", ["this user may not synchronize project N"]),
        ({"delete": False}, {}, {}, "absent", ["this user may not remove project N"]),
        ({}, {"scm_url": "b"}, {"scm_url": "a"}, "present", []),
    ],
)
def test_what_the_user_may_not_do(capabilities: dict[str, bool], arguments: dict[str, t.Any], item: dict[str, t.Any], state: str, words: list[str]) -> None:
    present = {"id": 1, "description": MARK, **item, "summary_fields": {"user_capabilities": capabilities}}
    assert planned(wanted(**arguments), present, state)["wrong"] == words


def test_who_may_not_create() -> None:
    assert plan([wanted(), wanted("job_template")], [{}, {}], "present", False, ["project"])["wrong"] == ["this user may not create project N"]
    assert plan([wanted()], [{"id": 1, "description": MARK}], "present", False, ["project"])["wrong"] == []


@pytest.mark.parametrize(
    ("status", "scm_type", "lines"),
    [
        ("failed", "git", ["sync project N: its last sync is failed"]),
        ("never updated", "git", ["sync project N: its last sync is never updated"]),
        ("running", "git", []),
        ("successful", "git", []),
        ("missing", "", []),
    ],
)
def test_a_project_whose_last_sync_did_not_succeed(status: str, scm_type: str, lines: list[str]) -> None:
    item = {"id": 1, "description": MARK, "scm_type": scm_type, "status": status}
    assert planned(wanted(), item)["lines"] == lines


def node(name: str = "approve", **fields: t.Any) -> dict[str, t.Any]:
    return {"id": 5, "identifier": name, "summary_fields": {"unified_job_template": {"name": "A", "timeout": 60}}, **fields}


@pytest.mark.parametrize(
    ("present", "given"),
    [
        ([node()], None),
        ([], "as they are"),
        ([node(summary_fields={"unified_job_template": {"name": "A", "timeout": 5}})], "as they are"),
        ([node(), node("more")], "all anew"),
        ([node(extra_data={"a": 1})], "all anew"),
        ([node(limit="web1")], "all anew"),
        ([node(all_parents_must_converge=True)], "all anew"),
    ],
)
def test_nodes_are_given_only_where_they_differ(present: list[dict[str, t.Any]], given: str | None) -> None:
    """The module changes every approval that it is given, and sends no empty value."""
    edges = {f"{edge}_nodes": [] for edge in ("success", "failure", "always")}
    nodes = [{"identifier": "approve", "unified_job_template": {"type": "workflow_approval", "name": "A", "timeout": 60}, "related": edges}]
    item = {"id": 1, "description": MARK, "more": {"workflow_nodes": present}}
    change = planned(wanted("workflow_job_template", workflow_nodes=nodes), item)["changes"][0]
    assert ("workflow_nodes" in change["arguments"]) == (given is not None)
    assert bool(change["arguments"].get("destroy_current_nodes")) == (given == "all anew")
    assert change["action"] == ("same" if given is None else "change")


def test_a_template_names_its_inventory_by_its_id() -> None:
    found = [{"id": 7, "name": "Azure VMs"}, {}]
    assert with_ids({"name": "Azure VMs", "inventory": "Azure VMs"}, found) == {"name": "Azure VMs", "inventory": "7"}
    assert with_ids({"inventory": "Other"}, found) == {"inventory": "Other"}
    assert with_ids({"name": "N"}, found) == {"name": "N"}


@pytest.mark.parametrize(
    ("option", "value", "item", "expected"),
    [
        ("extra_vars", {"a": 1}, {"extra_vars": '{"a": 1}'}, []),
        ("extra_vars", {"a": 1}, {"extra_vars": "---\na: 1\n"}, []),
        ("extra_vars", {}, {"extra_vars": "---"}, []),
        ("extra_vars", {"a": 1}, {"extra_vars": "a: 2"}, [("extra_vars.a", 2, 1)]),
        ("extra_vars", {"a": 1}, {"extra_vars": "{no yaml"}, [("extra_vars", "{no yaml", {"a": 1})]),
        # Inside variables, empty and missing are not the same.
        ("extra_vars", {"a": []}, {"extra_vars": "{}"}, [("extra_vars.a", None, [])]),
        ("source_vars", {}, {"source_vars": "a: ''"}, [("source_vars.a", "", None)]),
        ("variables", {}, {"variables": "a:"}, [("variables.a", "null", None)]),
        ("variables", {"a": {"b": ""}}, {"variables": "a: {b: }"}, [("variables.a.b", None, "")]),
        ("variables", {"a": {"b": []}}, {"variables": "a: {b: []}"}, []),
        ("project", "P", {"summary_fields": {"project": {"id": 1, "name": "P"}}}, []),
        ("project", "P", {"summary_fields": {}}, [("project", None, "P")]),
        ("labels", ["b", "a"], {"summary_fields": {"labels": {"results": [{"name": "a"}, {"name": "b"}]}}}, []),
        ("credentials", ["a"], {"summary_fields": {"credentials": [{"name": "b"}]}}, [("credentials", ["b"], ["a"])]),
        ("forks", 5, {}, []),
        ("state", "present", {"state": "other"}, []),
        ("description", "", {"description": None}, []),
        (
            "survey_spec",
            {"spec": [{"variable": "a", "min": 1}]},
            {"more": {"survey_spec": {"spec": [{"variable": "a", "min": 2}]}}},
            [("survey_spec.spec.a.min", 2, 1)],
        ),
        (
            "survey_spec",
            {"spec": [{"variable": "a"}, {"variable": "b"}]},
            {"more": {"survey_spec": {"spec": [{"variable": "b"}, {"variable": "a"}]}}},
            [("survey_spec.spec (order)", ["b", "a"], ["a", "b"])],
        ),
    ],
)
def test_differences(option: str, value: t.Any, item: dict[str, t.Any], expected: list[tuple[t.Any, ...]]) -> None:
    assert [(each["what"], each["before"], each["after"]) for each in differences("job_template", {option: value}, item)] == expected


def test_keys_that_awx_adds_to_a_notification_are_no_difference() -> None:
    asked = {"notification_configuration": {"url": "https://example.com", "username": "u"}}
    kept = {"notification_configuration": {"url": "https://example.com", "username": "$encrypted$", "http_method": "POST"}}
    assert differences("notification_template", asked, kept) == []


@pytest.mark.parametrize(
    ("version", "fits"),
    [(None, False), ("21.10.9", False), ("21.11.0", True), ("24.6.1", True), ("0.0.1-devel", True), ("unknown", True), ("3.0.0", False)],
)
def test_versions(version: str | None, fits: bool) -> None:
    assert (refusals.collection(version) == "") == fits


def test_a_failed_loop_names_the_object() -> None:
    result = {"results": [{"msg": "fine"}, {"failed": True, "msg": "no\n  way", "__awx_change": {"words": "project P"}}], "msg": "One or more items failed"}
    assert refusals.failed(result) == "project P: no way"
    assert refusals.failed({"msg": "Playbook not found for project."}).endswith("see awx_repository and awx_repository_branch")
