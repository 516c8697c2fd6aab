# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Issue 16, "AWX, for real": where role awx fell short on a real AWX, against the stand-in that behaves as that one did."""

from __future__ import annotations

import typing as t

from ansible_collections.maintenance.azure.tests.awx.conftest import Awx, item

PROJECT = "Azure maintenance"
SYNC_FAILED = "project Azure maintenance: its sync ended as failed: Failed to download remote objects and refs: fatal: unable to access 'https://github.com/"


def rules(awx: Awx, **given: t.Any) -> None:
    awx.edit(lambda known: known["rules"].update(given))


# The first sync of a project


def test_a_first_sync_that_fails_says_why_and_the_next_run_goes_on(awx: Awx) -> None:
    rules(awx, syncs=["failed", "successful"])
    ended = awx.run()
    words = ended.refusal
    assert words.startswith(SYNC_FAILED) and "Could not resolve host - see awx_repository, awx_repository_branch, awx_project_credential" in words
    assert ended.code != 0 and ended.output.count("fatal: [localhost]: ") == 1, ended.output
    assert awx.log.count("POST projects/update") == 0, "AWX starts the first one by itself"

    told = awx.applied("--check")
    assert f"sync project {PROJECT}: its last sync is failed" in told.lines and told.changed == 1
    done = awx.applied()
    assert awx.log.count("POST projects/update") == 1 and done.lines == told.lines
    assert len(awx.objects["job_templates"]) == 10
    assert awx.applied().changed == 0 and awx.log.count("POST projects/update") == 1


def test_a_sync_that_does_not_end_is_waited_for_with_a_limit(awx: Awx) -> None:
    rules(awx, syncs=["stuck"])
    words = awx.refused(awx_wait_seconds=1)
    assert words.startswith("project Azure maintenance: its sync has not ended after 1 s, its status is pending - AWX may lack a free instance")
    assert "job_templates" in awx.objects and len(awx.objects["job_templates"]) == 1
    # AWX's dispatcher is started: the same sync ends, and no second one is started.
    awx.edit(lambda known: known["objects"]["project_updates"][0].update(outcome="successful"))
    awx.applied()
    assert "POST projects/update" not in awx.log


def test_a_git_server_that_stays_silent_is_named_and_so_is_the_sync_to_cancel(awx: Awx) -> None:
    """AWX ends no sync by itself, and a new one, with the corrected address, waits behind it."""
    rules(awx, syncs=["silent", "successful"])
    words = awx.refused(awx_wait_seconds=3, awx_repository="https://git.example.com/maintenance")
    (silent,) = awx.objects["project_updates"]
    cancel = f"cancel sync {silent['id']}, which AWX never ends by itself: curl -X POST "
    assert "its sync has not ended after 3 s, its status is running: the Git server git.example.com does not answer" in words, words
    assert cancel in words and f"/api/v2/project_updates/{silent['id']}/cancel/" in words

    words = awx.refused(awx_wait_seconds=1)
    assert f"its status is pending: it waits for the older sync {silent['id']}, which is running: the Git server git.example.com does not" in words, words
    assert cancel in words
    awx.edit(lambda known: known["objects"]["project_updates"][0].update(status="canceled"))
    awx.applied()


# The drill


def test_the_drill_has_an_empty_inventory_of_its_own(awx: Awx) -> None:
    awx.applied(awx_inventories=[{"name": "Azure VMs", "variables": {"drain_methods": []}}])
    drill, respond = awx.one("job_templates", "Maintenance drill"), awx.one("job_templates", "Maintenance respond")
    own = awx.one("inventories", "Maintenance drill")
    assert drill["inventory"] == own["id"] != respond["inventory"]
    assert own["variables"] == "{}" and own["id"] not in [source["inventory"] for source in awx.objects["inventory_sources"]]


# What --check shows


def by_hand(known: dict[str, t.Any]) -> None:
    source = item(known, "inventory_sources", "Azure")
    source["source_vars"] = source["source_vars"].replace('"default_host_filters": [], ', "")
    item(known, "inventories", "Azure VMs")["variables"] = "respond_capacity: []\nrespond_drains:"
    respond = item(known, "job_templates", "Maintenance respond")
    respond.update(limit="web1", job_tags="observe", skip_tags="approve", job_slice_count=2, verbosity=3, diff_mode=True)
    item(known, "workflow_job_templates", "Maintenance")["extra_vars"] = "respond_wait: true"


def test_check_shows_empty_and_missing_values_and_fields_that_change_a_run(applied: Awx) -> None:
    awx = applied
    awx.edit(by_hand)
    told = awx.applied("--check")
    assert told.lines == [
        "change inventory Azure VMs",
        "  variables.respond_capacity: [] -> nothing",
        "  variables.respond_drains: 'null' -> nothing",
        "change inventory source Azure",
        "  source_vars.default_host_filters: nothing -> []",
        "change job template Maintenance respond",
        "  limit: 'web1' -> ''",
        "  job_tags: 'observe' -> ''",
        "  skip_tags: 'approve' -> ''",
        "  job_slice_count: 2 -> 1",
        "  verbosity: 3 -> 0",
        "  diff_mode: True -> False",
        "change workflow Maintenance",
        "  extra_vars.respond_wait: True -> nothing",
    ]
    awx.applied()
    assert '"default_host_filters": []' in awx.one("inventory_sources", "Azure")["source_vars"]
    assert awx.applied().changed == 0


# Inventories of one name


def elsewhere(known: dict[str, t.Any]) -> None:
    known["objects"]["inventories"].append({"id": 61, "name": "Azure VMs", "description": "Mine", "kind": "", "variables": "", "organization": 1})


def test_another_organization_has_an_inventory_of_the_same_name(awx: Awx) -> None:
    awx.edit(elsewhere)
    theirs = awx.one("inventories", "Azure VMs")
    awx.applied()
    ours = awx.objects["inventories"][-2]
    assert ours["name"] == "Azure VMs" and awx.one("job_templates", "Maintenance respond")["inventory"] == ours["id"] != theirs["id"]
    assert awx.applied().changed == 0
    awx.applied(awx_state="absent")
    assert [each for each in awx.objects["inventories"] if each["name"] == "Azure VMs"] == [theirs]


def test_an_inventory_that_awx_deletes_is_waited_for(awx: Awx) -> None:
    given = {"awx_organization": {"name": "Default", "made": False}}
    awx.applied(**given)

    def deleted_by_hand(known: dict[str, t.Any]) -> None:
        item(known, "inventories", "Azure VMs").update(pending_deletion=True, looks_left=1000)

    awx.edit(deleted_by_hand)
    before = awx.objects
    assert awx.refused(awx_wait_seconds=1, **given).startswith("AWX is still deleting Azure VMs after 1 s: run this again when that has ended")
    assert {**awx.objects, "inventories": []} == {**before, "inventories": []}
    assert "make inventory Azure VMs" in awx.applied("--check", **given).lines

    # Some looks later it is gone.
    awx.edit(lambda known: item(known, "inventories", "Azure VMs").update(looks_left=60))
    awx.applied(**given)
    assert [("pending_deletion" in each) for each in awx.objects["inventories"] if each["name"] == "Azure VMs"] == [False]


# While jobs run


def running(known: dict[str, t.Any]) -> None:
    status, respond = (item(known, "job_templates", f"Maintenance {name}")["id"] for name in ("status", "respond"))
    known["objects"]["unified_jobs"] = [
        {"id": 900, "unified_job_template": respond, "status": "running"},
        {"id": 899, "unified_job_template": status, "status": "successful"},
    ]


def test_absent_while_a_job_runs_removes_nothing(applied: Awx) -> None:
    awx = applied
    awx.edit(running)
    before = awx.objects
    words = awx.refused(awx_state="absent")
    assert words.startswith("job 900 of job template Maintenance respond runs: wait for it, or cancel it in AWX, then run this again.")
    assert awx.objects == before
    assert "remove schedule Maintenance respond" in awx.applied("--check", awx_state="absent").lines
    awx.edit(lambda known: known["objects"]["unified_jobs"][0].update(status="successful"))
    awx.applied(awx_state="absent")
    assert [each["name"] for each in awx.objects["job_templates"]] == ["Deploy web"]


def test_a_job_that_starts_meanwhile_leaves_its_template_scheduled(applied: Awx) -> None:
    """AWX starts it right after the role has looked."""
    awx = applied
    awx.edit(running)
    awx.edit(lambda known: known["objects"]["unified_jobs"][0].update(status="unheard of"))
    rules(awx, starts_late=900)
    words = awx.refused(awx_state="absent")
    assert words.startswith("job template Maintenance respond: Unable to delete job_template Maintenance respond: Resource is being used by running jobs.")
    assert "wait for its jobs, or cancel them, then run this again" in words
    assert "Maintenance respond" in [each["name"] for each in awx.objects["schedules"]]


# Who may not


def test_check_by_a_user_who_may_not_create(awx: Awx) -> None:
    rules(awx, deny=["POST organizations", "POST execution_environments"])
    expected = "this user may not create organization Azure maintenance, execution environment Azure maintenance"
    assert awx.refused("--check") == expected
    assert awx.refused() == expected and awx.log == []


def test_check_by_a_user_who_may_not_change(applied: Awx) -> None:
    rules(applied, deny=["PATCH job_templates", "DELETE projects"])
    words = "this user may not change job template Maintenance respond, job template Maintenance respond to an event"
    assert applied.refused("--check", awx_respond_minutes=10) == words
    assert applied.refused("--check", awx_state="absent") == "this user may not remove project Azure maintenance"
