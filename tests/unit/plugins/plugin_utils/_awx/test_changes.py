# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of role awx: ownership, differences, removals."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._awx import refusals
from ansible_collections.maintenance.azure.plugins.plugin_utils._awx.changes import plan
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
    assert planned(credential, {}, "absent") == {"changes": [], "wrong": [], "lines": []}
    assert planned(credential, {"id": 1}) == {"changes": [], "wrong": [], "lines": []}


def test_removed_objects_no_longer_use_others() -> None:
    objects = [wanted("project"), wanted("job_template")]
    user = {"endpoint": "job_templates", "id": 2, "name": "N"}
    found = plan(objects, [{"id": 1, "description": MARK, "users": [user]}, {"id": 2, "description": MARK}], "absent", False)
    assert [(change["kind"], change["action"]) for change in found["changes"]] == [("job_template", "remove"), ("project", "remove")]


@pytest.mark.parametrize(
    ("option", "value", "item", "expected"),
    [
        ("extra_vars", {"a": 1}, {"extra_vars": '{"a": 1}'}, []),
        ("extra_vars", {"a": 1}, {"extra_vars": "---\na: 1\n"}, []),
        ("extra_vars", {}, {"extra_vars": "---"}, []),
        ("extra_vars", {"a": 1}, {"extra_vars": "a: 2"}, [("extra_vars.a", 2, 1)]),
        ("extra_vars", {"a": 1}, {"extra_vars": "{no yaml"}, [("extra_vars", "{no yaml", {"a": 1})]),
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
