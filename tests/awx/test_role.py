# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Issue 7, show 1: empty, applied, the same again, a hand edit, absent, and what others have."""

from __future__ import annotations

import json
import re
import typing as t

import pytest

from ansible_collections.maintenance.azure.tests.awx.conftest import ROOT, Awx, item

TEMPLATES = [
    "Maintenance status",
    "Maintenance respond",
    "Maintenance respond to an event",
    "Maintenance decide",
    "Maintenance gate",
    "Maintenance rolling upgrade",
    "Maintenance history",
    "Maintenance drill",
    "Maintenance failure report",
]


def test_empty_applied_the_same_again_and_gone(awx: Awx) -> None:
    before = awx.objects
    told = awx.applied("--check")
    assert told.changed == 1 and awx.log == [] and awx.objects == before
    assert [line for line in told.lines if "job template" in line] == [f"make job template {name}" for name in TEMPLATES]

    done = awx.applied()
    assert done.lines == told.lines and done.changed > 8
    assert [each["name"] for each in awx.objects["job_templates"]] == ["Deploy web", *TEMPLATES]
    applied, written = awx.objects, awx.log

    again = awx.applied()
    assert (again.changed, again.lines, awx.objects, awx.log) == (0, [], applied, written)
    assert awx.applied("--check", "--diff").changed == 0

    gone = awx.applied(awx_state="absent")
    assert len(gone.lines) == len([line for line in told.lines if "label" not in line])
    assert awx.objects == before
    assert awx.applied(awx_state="absent").changed == 0


def test_what_is_in_it(awx: Awx) -> None:
    awx.applied(awx_notify={"error": ["Tell operations"]})
    respond = awx.one("job_templates", "Maintenance respond")
    assert (respond["allow_simultaneous"], respond["ask_limit_on_launch"], respond["playbook"]) == (False, False, "playbooks/respond.yml")
    assert respond["extra_vars"] == '{"respond_pass_interval": 300}'
    assert respond["credentials"] == [2] and respond["notification_templates_error"] == [7]
    assert awx.one("schedules", "Maintenance respond")["rrule"] == "DTSTART:20260101T000000Z RRULE:FREQ=MINUTELY;INTERVAL=5"
    assert awx.one("schedules", "Maintenance keep enabled")["rrule"].endswith("FREQ=HOURLY;INTERVAL=12")
    assert awx.one("inventory_sources", "Azure")["credential"] == 3
    assert respond["timeout"] == 10800 > 7200, "a run that waits ends by itself before AWX cancels it"
    assert [one["timeout"] for one in awx.objects["job_templates"] if one["name"] in ("Maintenance gate", "Maintenance rolling upgrade")] == [90000, 90000]
    assert all(one["timeout"] for one in awx.objects["job_templates"] if one["name"] in TEMPLATES)
    limits = {each["name"]: each["ask_limit_on_launch"] for each in awx.objects["job_templates"] if "ask_limit_on_launch" in each}
    assert [name for name, asked in limits.items() if asked] == ["Maintenance status", "Maintenance history"]
    assert awx.one("schedules", "Maintenance history")["enabled"] is False, "there is no archive"
    nodes = {each["id"]: each for each in awx.objects["workflow_job_template_nodes"]}
    edges = {
        node["identifier"]: ([nodes[to]["identifier"] for to in node["success_nodes"]], [nodes[to]["identifier"] for to in node["failure_nodes"]])
        for node in nodes.values()
    }
    assert edges == {
        "observe": (["respond"], ["report failure"]),
        "respond": (["report"], ["report failure"]),
        "report": ([], []),
        "report failure": ([], []),
    }


@pytest.mark.parametrize(("given", "minutes"), [({}, 60), ({"awx_respond_minutes": 15}, 15)])
def test_with_watchers_a_pass_over_all_is_hourly_unless_chosen(render: t.Callable[..., dict[str, t.Any]], given: dict[str, t.Any], minutes: int) -> None:
    made = {(one["kind"], one["name"]): one["arguments"] for one in render(awx_watchers=True, **given)["objects"]}
    assert made["schedule", "Maintenance respond"]["rrule"].endswith(f"FREQ=MINUTELY;INTERVAL={minutes}")
    assert made["job_template", "Maintenance respond"]["extra_vars"] == {"respond_pass_interval": minutes * 60}


def test_an_archive_of_the_history_is_kept_by_a_schedule(render: t.Callable[..., dict[str, t.Any]]) -> None:
    archive = {"report_archive_path": "/srv/archive", "report_archive_host": "bastion"}
    made = {(one["kind"], one["name"]): one["arguments"] for one in render(awx_report_archive=archive)["objects"]}
    assert made["job_template", "Maintenance history"]["extra_vars"] == archive
    assert made["schedule", "Maintenance history"]["enabled"] and made["schedule", "Maintenance history"]["rrule"].endswith("FREQ=WEEKLY;INTERVAL=1")


def test_the_examples_that_are_shown(awx: Awx) -> None:
    """docs/examples/awx.yaml, and the play of the role's README. What AWX is to template arrives as it was written."""
    outcome = awx.run("-e", f"@{ROOT / 'docs' / 'examples' / 'awx.yaml'}")
    assert outcome.code == 0, outcome.output
    group = json.loads(awx.one("inventories", "Azure VMs")["variables"])["respond_capacity"][0]
    assert group == {"name": "web", "members": "{{ groups['tag_role_web'] }}", "size": 8, "max_unavailable": "25%"}
    first, second = re.findall(r"^```yaml\n(.*?)^```$", (ROOT / "roles" / "awx" / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert "infra.aap_configuration.dispatch" in second
    (awx.folder / "play.yml").write_text(first)
    assert awx.applied(playbook=awx.folder / "play.yml").code == 0
    assert awx.one("job_templates", "Maintenance gate")["notification_templates_error"] == [7]


def edited(known: dict[str, t.Any]) -> None:
    respond = item(known, "job_templates", "Maintenance respond")
    respond.update(allow_simultaneous=True, extra_vars="respond_pass_interval: 60", labels=[9], notification_templates_error=[])
    next(each for each in respond["survey_spec"]["spec"] if each["variable"] == "respond_wait")["default"] = "true"
    item(known, "schedules", "Maintenance respond")["enabled"] = False
    observe, report, failure = (item(known, "workflow_job_template_nodes", name) for name in ("observe", "report", "report failure"))
    observe["success_nodes"].append(report["id"])
    # The module takes no edge away from a node that shall have none.
    report["failure_nodes"].append(failure["id"])
    # Nor does it send a value that is false.
    observe["all_parents_must_converge"] = True


def test_a_hand_edit_is_told_and_put_back(awx: Awx) -> None:
    notify = {"error": ["Tell operations"]}
    awx.applied(awx_notify=notify)
    applied = awx.objects
    awx.edit(edited)
    by_hand = awx.objects
    told = awx.applied("--check", "--diff", awx_notify=notify)
    assert told.changed == 1 and awx.objects == by_hand
    assert told.lines == [
        "change job template Maintenance respond",
        "  notification_templates_error: [] -> ['Tell operations']",
        "  labels: ['web'] -> ['maintenance']",
        "  allow_simultaneous: True -> False",
        "  extra_vars.respond_pass_interval: 60 -> 300",
        "  survey_spec.spec.respond_wait.default: 'true' -> 'false'",
        "change workflow Maintenance",
        "  workflow_nodes.observe.success: ['report', 'respond'] -> ['respond']",
        "  workflow_nodes.observe.all_parents_must_converge: True -> False",
        "  workflow_nodes.report.failure: ['report failure'] -> []",
        "change schedule Maintenance respond",
        "  enabled: False -> True",
    ]
    assert awx.applied(awx_notify=notify).lines == told.lines
    assert nameless(awx.objects) == nameless(applied)
    assert awx.applied(awx_notify=notify).changed == 0


def nameless(objects: dict[str, t.Any]) -> dict[str, t.Any]:
    """Without ids and their order: a workflow with an edge too many gets all its nodes anew. And an empty text for variables equals JSON for nothing."""
    names = {node["id"]: node["identifier"] for node in objects["workflow_job_template_nodes"]}

    def shown(value: dict[str, t.Any]) -> dict[str, t.Any]:
        return {key: [names.get(each, each) for each in inner] if key.endswith("_nodes") else inner for key, inner in value.items() if key != "id"}

    def place(value: dict[str, t.Any]) -> tuple[str, str]:
        return str(value.get("workflow_job_template", "")), str(value.get("identifier") or value.get("name"))

    return {endpoint: [shown(each) for each in sorted(items, key=place)] for endpoint, items in objects.items()}


def test_an_approval_is_made_once(awx: Awx) -> None:
    """The real module changes each approval each time that it is given one (facts of a real AWX): so it is given none that is as it should be."""
    awx.applied(awx_workflow_approval=True)
    approve, respond = awx.one("workflow_job_template_nodes", "approve"), awx.one("workflow_job_template_nodes", "respond")
    assert awx.one("workflow_job_template_nodes", "observe")["success_nodes"] == [approve["id"]]
    assert approve["success_nodes"] == [respond["id"]] and approve["failure_nodes"] == [awx.one("workflow_job_template_nodes", "report")["id"]]
    assert awx.one("workflow_approval_templates", "Respond to maintenance")["timeout"] == 600
    again = awx.applied(awx_workflow_approval=True)
    assert again.changed == 0 and "has encrypted data" not in again.output
    assert awx.applied("--check", awx_workflow_approval=True).changed == 0
    later = awx.applied(awx_workflow_approval=True, awx_workflow_approval_seconds=60)
    assert later.lines == ["change workflow Maintenance", "  workflow_nodes.approve.timeout: 600 -> 60"]
    assert awx.one("workflow_approval_templates", "Respond to maintenance")["timeout"] == 60
    without = awx.applied()
    assert "  workflow_nodes.observe.success: ['approve'] -> ['respond']" in without.lines
    assert "approve" not in [node["identifier"] for node in awx.objects["workflow_job_template_nodes"]]


def test_absent_leaves_what_others_use(applied: Awx) -> None:
    awx = applied

    def others(known: dict[str, t.Any]) -> None:
        inventory, status = item(known, "inventories", "Azure VMs")["id"], item(known, "job_templates", "Maintenance status")["id"]
        known["objects"]["schedules"].append({"id": 50, "name": "My own look", "description": "", "unified_job_template": status})
        own = {"id": 51, "name": "My own job", "description": "", "project": 4, "inventory": inventory, "organization": 1}
        known["objects"]["job_templates"].append(own)

    awx.edit(others)
    owned = ["execution environment Azure maintenance", "inventory Azure VMs", "job template Maintenance status", "project Azure maintenance"]
    told = awx.applied(awx_state="absent")
    kept = [line for line in told.lines if line.startswith("keep")]
    assert kept == [
        "keep job template Maintenance status: is used by schedule My own look",
        "keep inventory Azure VMs: is used by job template Maintenance status, job template My own job",
        "keep project Azure maintenance: is used by job template Maintenance status",
        "keep execution environment Azure maintenance: is used by job template Maintenance status",
        "keep organization Azure maintenance: is used by " + ", ".join(owned),
    ]
    assert [each["name"] for each in awx.objects["job_templates"]] == ["Deploy web", "Maintenance status", "My own job"]
    assert [each["name"] for each in awx.objects["schedules"]] == ["My own look"]


def stranger(known: dict[str, t.Any]) -> None:
    known["objects"]["organizations"].append({"id": 60, "name": "Azure maintenance", "description": "Somebody's"})
    known["objects"]["inventories"].append({"id": 61, "name": "Azure VMs", "description": "Mine", "kind": "", "variables": "", "organization": 60})


def test_what_is_not_ours(awx: Awx) -> None:
    awx.edit(stranger)
    before = awx.objects
    words = awx.refused()
    assert "organization Azure maintenance: is there and was not made by this role" in words and "inventory Azure VMs: is there" in words
    assert "awx_adopt" in words and "made: false" in words
    assert awx.objects == before

    shared = {"awx_organization": {"name": "Azure maintenance", "made": False}, "awx_inventories": [{"name": "Azure VMs", "made": False}]}
    awx.applied(**shared)
    assert awx.one("organizations", "Azure maintenance") == before["organizations"][-1]
    awx.applied(awx_state="absent")
    assert awx.objects == before

    awx.applied(awx_adopt=True)
    assert awx.one("inventories", "Azure VMs")["description"] == "The VMs that are looked after [maintenance.azure]"


def test_two_installations_side_by_side(applied: Awx) -> None:
    awx = applied
    first = awx.objects
    awx.applied(awx_prefix="Test ")
    assert awx.one("job_templates", "Test Maintenance respond")["project"] == awx.one("projects", "Test Azure maintenance")["id"]
    assert awx.one("schedules", "Test Maintenance respond")["unified_job_template"] == awx.one("job_templates", "Test Maintenance respond")["id"]
    awx.applied(awx_prefix="Test ", awx_state="absent")
    assert awx.objects == first
