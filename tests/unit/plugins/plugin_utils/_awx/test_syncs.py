# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Syncs of projects, and what AWX answers about objects in deletion and about the user's rights."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._awx import reading, syncs
from ansible_collections.maintenance.azure.plugins.plugin_utils._awx.asking import may_make

MARK = "[maintenance.azure]"


def wanted(kind: str = "project", **arguments: t.Any) -> dict[str, t.Any]:
    return {"kind": kind, "name": "P", "made": True, "arguments": {"name": "P", "organization": "O", "description": MARK, **arguments}}


@pytest.mark.parametrize(
    ("arguments", "item", "expected"),
    [
        ({}, {"scm_type": "git", "status": "successful"}, (True, False, False)),
        ({}, {"scm_type": "git", "status": "pending"}, (False, True, False)),
        ({}, {"scm_type": "git", "status": "failed"}, (False, False, True)),
        ({}, {"scm_type": "git", "status": "never updated"}, (False, False, True)),
        ({}, {"scm_type": "", "status": "ok"}, (True, False, False)),
        ({"update_project": True}, {"scm_type": "git", "status": "successful"}, (True, False, True)),
        ({"update_project": True}, {"scm_type": "git", "status": "running"}, (False, True, False)),
    ],
)
def test_which_syncs_are_started(arguments: dict[str, t.Any], item: dict[str, t.Any], expected: tuple[bool, bool, bool]) -> None:
    asked: list[t.Any] = []

    def ask(endpoint: str, query: t.Any) -> list[dict[str, t.Any]]:
        asked.append((endpoint, query))
        return [item]

    (sync,) = syncs.look([wanted(**arguments)], ask)
    assert (sync["good"], sync["running"], sync["start"]) == expected
    assert asked == [("projects", {"name": "P", "organization__name": "O"})]
    assert syncs.look([wanted(wait=False)], ask) == []


def test_the_last_error_lines_of_a_sync() -> None:
    red = "\x1b[0;31mfatal: [localhost]: FAILED!\x1b[0m"
    answers = {
        "project_updates/9": [{"job_explanation": "", "result_traceback": None}],
        "project_updates/9/events": [
            {"event_data": {"res": {"msg": "\n".join(f"line {number}" for number in range(9))}}},
            {"event_data": {}, "stdout": red},
            {"event_data": {}, "stdout": red},
            {"event": "playbook_on_stats", "event_data": {}, "stdout": "\r\nPLAY RECAP ***\r\nlocalhost : ok=0 changed=0 unreachable=0 failed=1"},
        ],
    }
    item = {"status": "failed", "summary_fields": {"last_update": {"id": 9}}}
    words = syncs.problem({"name": "P", "running": False, "item": item}, lambda endpoint, _query: answers[endpoint], 5)
    assert words == f"project P: its sync ended as failed: line 5; line 6; line 7; line 8; fatal: [localhost]: FAILED! - {syncs.ENDED}"


def not_ended(status: str, updates: list[dict[str, t.Any]], url: str = "") -> str:
    def ask(endpoint: str, query: t.Any) -> list[dict[str, t.Any]]:
        assert endpoint == "project_updates" and query["project"] == 3 and query["order_by"] == "id"
        return updates

    return syncs.problem({"name": "P", "running": True, "item": {"id": 3, "status": status, "scm_url": url}}, ask, 5)


def test_a_sync_that_says_nothing() -> None:
    ended = syncs.problem({"name": "P", "running": False, "item": {"status": "error"}}, lambda _endpoint, _query: [], 5)
    assert ended == f"project P: its sync ended as error - {syncs.ENDED}"
    assert not_ended("waiting", [{"id": 8, "status": "waiting"}]) == (f"project P: its sync has not ended after 5 s, its status is waiting - {syncs.NOT_BEGUN}")


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("https://user:secret@git.example.com:8443/a/b", "the Git server git.example.com"),
        ("git@git.example.com:a/b.git", "the Git server git.example.com"),
        ("ssh://git@git.example.com/a", "the Git server git.example.com"),
        ("", "the Git server"),
    ],
)
def test_a_running_sync_names_the_git_server_and_a_pending_one_the_older_sync(url: str, server: str) -> None:
    alone = not_ended("running", [{"id": 8, "status": "running"}], url)
    assert alone.startswith(f"project P: its sync has not ended after 5 s, its status is running: {server} does not answer, or AWX's jobs do not reach it - ")
    behind = not_ended("pending", [{"id": 8, "status": "running", "scm_url": url}, {"id": 9, "status": "pending"}], url and "https://corrected.example.com/")
    assert f"its status is pending: it waits for the older sync 8, which is running: {server} does not answer" in behind
    for words in (alone, behind):
        assert "cancel sync 8" in words and "/api/v2/project_updates/8/cancel/" in words and "secret" not in words and "corrected" not in words


def test_an_object_in_deletion_counts_only_where_nothing_else_has_its_name() -> None:
    gone, there = {"id": 1, "name": "P", "pending_deletion": True}, {"id": 2, "name": "P"}
    for answer, deleting in (([gone, there], []), ([gone], ["P"]), ([], [])):
        found = reading.read([wanted("inventory")], lambda _endpoint, _query, answer=answer: answer, False)  # type: ignore[misc]
        assert reading.deleting(found) == deleting
    named = {"kind": "inventory", "name": "P", "made": False, "arguments": {"name": "P"}}
    assert reading.read([named], lambda _endpoint, _query: [gone], False) == [{}]


def test_running_jobs_are_read_before_a_removal() -> None:
    def ask(endpoint: str, query: t.Any) -> list[dict[str, t.Any]]:
        if endpoint == "unified_jobs":
            assert query == {"unified_job_template": 3, "status__in": "new,pending,waiting,running"}
            return [{"id": 57, "name": "P"}]
        return [{"id": 3, "name": "P", "description": MARK}] if endpoint == "job_templates" else []

    assert reading.read([wanted("job_template")], ask, True)[0]["jobs"] == [57]
    assert "jobs" not in reading.read([wanted("job_template")], ask, False)[0]


def test_rights_are_asked_only_for_missing_objects_that_need_no_others() -> None:
    """Whether a user may create a job template depends on projects that do not exist yet."""
    asked: list[str] = []

    def allowed(endpoint: str) -> bool:
        asked.append(endpoint)
        return endpoint != "organizations"

    objects = [wanted(kind) for kind in ("organization", "project", "inventory", "job_template")]
    assert reading.denied(objects, [{}, {}, {"id": 1}, {}], allowed) == ["organization"]
    assert asked == ["organizations", "projects"]


def test_rights_that_awx_does_not_tell_are_no_refusal() -> None:
    """Here because the collection is not installed; an older one without that class, or an answer without actions, is the same."""
    assert may_make("projects")


def test_the_timeout_of_an_approval_is_read_where_the_node_lacks_it() -> None:
    started = {"id": 8, "name": "A", "unified_job_type": "workflow_approval"}
    answers = {
        "workflow_job_templates": [{"id": 1, "name": "P", "description": MARK}],
        "workflow_job_template_nodes": [{"id": 5, "identifier": "approve", "summary_fields": {"unified_job_template": started}}],
        "workflow_approval_templates/8": [{"id": 8, "timeout": 600}],
    }
    found = reading.read([wanted("workflow_job_template", workflow_nodes=[])], lambda endpoint, _query: answers[endpoint], False)
    assert found[0]["more"]["workflow_nodes"][0]["summary_fields"]["unified_job_template"]["timeout"] == 600
