# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job templates of role awx, in an environment that has nothing but what the execution environment has. Failures first.

Variables that are neither a survey's nor a template's are the inventory's here, as they are in AWX.
"""

from __future__ import annotations

import pathlib
import re
import typing as t

from lab.lab import Lab

from runner.private_data import PROGRESS, Inventory, Job, Place, script_data
from runner.templates import TEMPLATES, extra_vars, sent

Make = t.Callable[..., Lab]
FAR = {"notice": 36000, "started_seconds": 120}


def inventory_of(lab: Lab) -> Inventory:
    return script_data(lab.hosts, lab.all, {"web": list(lab.hosts)})


def run(place: Place, lab: Lab, template: str, cmdline: str = "-u root", **answers: t.Any) -> Job:
    job = Job(place, lab.folder, TEMPLATES[template]["playbook"], inventory_of(lab))
    return job.run(sent(template, **answers), extra_vars(template), cmdline, **PROGRESS)


def unreachable(lab: Lab, vm: str) -> None:
    """Nobody listens there."""
    lab.hosts[vm].update(ansible_connection="ssh", ansible_host="127.0.0.1", ansible_port=9, ansible_ssh_timeout=2)


def test_every_job_template_is_run_here() -> None:
    source = pathlib.Path(__file__).read_text()
    assert [name for name in TEMPLATES if f'"{name}"' not in source] == []


def test_a_word_about_no_event_is_red(make_lab: Make, place: Place) -> None:
    lab = make_lab(["web1"])
    job = run(place, lab, "Maintenance decide", decide_event_id="NO-SUCH", decide_action="hold")
    assert (job.status, job.code) == ("failed", 2), job.output
    assert "NO-SUCH" in job.output


def test_a_closed_gate_is_red_and_an_open_one_is_not(make_lab: Make, place: Place) -> None:
    lab = make_lab(["web1", "web2"])
    lab.all["gate_quiet_seconds"] = 0
    event = lab.simulator.event("Freeze", ["web1"], duration_in_seconds=30, **FAR)
    closed = run(place, lab, "Maintenance gate", gate_hosts="web1", gate_wait_seconds=0)
    assert (closed.status, closed.code) == ("failed", 2), closed.output
    assert event in closed.output
    assert closed.artifacts["gate_stats"] == {"go": False, "vms": 1, "done": 0, "blockers": 1}
    opened = run(place, lab, "Maintenance gate", gate_hosts="web2", gate_wait_seconds=0).good()
    assert opened.artifacts["gate_stats"] == {"go": True, "vms": 1, "done": 0, "blockers": 0}


def test_a_vm_that_cannot_be_reached_does_not_fail_a_good_respond(make_lab: Make, place: Place) -> None:
    lab = make_lab(["web1", "web2", "web3"])
    unreachable(lab, "web2")
    event = lab.simulator.event("Freeze", ["web1"], duration_in_seconds=5, **FAR)
    job = run(place, lab, "Maintenance respond", respond_wait=True).good()
    assert len(lab.simulator.approvals()) == 1
    assert lab.phases("web1")[-1] == "recovered", event
    assert job.stats["dark"] == {}, "AWX counts it among the hosts that failed"
    assert job.stats["failures"] == {}
    assert job.stats["rescued"]["web2"] > 0
    assert job.artifacts["respond_stats"]["vms_unreachable"] == 1
    # What is new is shown, also by the output that leaves out all the rest.
    text = "\n".join(job.lines)
    assert event in text
    assert any(re.match(rf"web1 +{event[:8]} +recovered", line) for line in job.lines), text
    assert "changed: [web1]" not in text, "leases and records are machinery"
    assert "web2 cannot be reached: " in text and "web2 could not be observed" not in text
    assert "3 hosts: no task failed, 1 changed, 1 not reached, or with a failure that was ignored" in job.lines
    assert "skipping:" not in text
    assert "included:" not in text
    assert job.artifacts["respond_stats"]["vms"] == 3


def test_a_job_for_an_event_looks_at_what_a_message_names(make_lab: Make, place: Place) -> None:
    lab = make_lab([f"web{number}" for number in range(1, 7)])
    event = lab.simulator.event("Freeze", ["web1"], duration_in_seconds=5, **FAR)
    job = run(place, lab, "Maintenance respond to an event", respond_wait=True, respond_only_events=event, respond_only_vms="web1").good()
    assert lab.phases("web1")[-1] == "recovered"
    assert job.artifacts["respond_stats"]["vms"] == 4, "web1, and three that could keep a copy of its record"
    assert not lab.records_folder("web6").exists()


def test_a_job_that_has_reached_no_vm_is_red(make_lab: Make, place: Place) -> None:
    lab = make_lab(["web1"])
    unreachable(lab, "web1")
    for template in ("Maintenance respond", "Maintenance status"):
        job = run(place, lab, template)
        assert (job.status, job.code) == ("failed", 2), job.output
        assert "Could not read web1: " in job.output
        assert job.artifacts["respond_stats"]["vms_answered"] == 0
        assert job.artifacts["respond_stats"]["vms_unreachable"] == 1


def test_status_leaves_the_numbers_that_a_workflow_branches_on(make_lab: Make, place: Place) -> None:
    lab = make_lab(["web1"])
    lab.simulator.event("Reboot", ["web1", "stranger"], **FAR)
    for template in ("Maintenance status", "Maintenance failure report"):
        job = run(place, lab, template)
        if TEMPLATES[template].get("extra_vars"):
            assert job.status in ("successful", "failed")
        else:
            job.good()
        numbers = job.artifacts["respond_stats"]
        assert {key: numbers[key] for key in ("events", "held", "failed", "vms")} == {"events": 1, "held": 1, "failed": 0, "vms": 1}
        assert all(isinstance(number, int) for number in numbers.values())
        assert job.stats["changed"] == {}


def test_what_happened_is_reported_and_kept_by_a_job(make_lab: Make, place: Place) -> None:
    lab = make_lab(["web1"])
    template, archive = "Maintenance history", {"report_archive_path": str(lab.folder / "archive")}
    lab.simulator.event("Freeze", ["web1"], duration_in_seconds=5, **FAR)
    run(place, lab, "Maintenance respond", respond_wait=True).good()
    job = Job(place, lab.folder, TEMPLATES[template]["playbook"], inventory_of(lab))
    job.run(sent(template), archive, "-u root", **PROGRESS).good()
    assert re.search(r": 1 event; 1 of 1 VMs answered\.", "\n".join(job.lines)), job.output
    assert len(list((lab.folder / "archive").rglob("event-*.json"))) == 1
    unreachable(lab, "web1")
    job = run(place, lab, template)
    assert (job.status, job.code) == ("failed", 2), job.output


def test_a_check_of_respond_leaves_the_same_numbers_and_changes_nothing(make_lab: Make, place: Place) -> None:
    lab = make_lab(["web1"])
    lab.all["respond_drain_seconds"] = 40000
    lab.simulator.event("Reboot", ["web1"], **FAR)
    job = run(place, lab, "Maintenance respond", "-u root --check --diff").good()
    assert job.artifacts["respond_stats"]["events"] == 1
    assert job.artifacts["respond_stats"]["actions"] > 0
    assert lab.simulator.approvals() == []
    assert lab.records("web1") == []


def test_a_word_is_written_under_the_name_of_the_user_of_awx(make_lab: Make, place: Place) -> None:
    lab = make_lab(["web1"])
    event = lab.simulator.event("Reboot", ["web1"], **FAR)
    word = {"decide_event_id": event, "decide_action": "hold", "decide_why": "release tonight {{ lookup('pipe', 'false') }}"}
    job = run(place, lab, "Maintenance decide", **word).good()
    assert job.artifacts["respond_stats"]["held"] == 1
    (record,) = lab.records("web1")
    assert "admin" in str(record["decision"])
    assert "release tonight {{" in str(record["decision"]), "a survey answer was taken for a template"


def test_a_rolling_upgrade_goes_through_all_batches(make_lab: Make, place: Place) -> None:
    lab = make_lab(["web1", "web2"])
    lab.all.update(gate_quiet_seconds=0, gate_wait_seconds=200)
    template = "Maintenance rolling upgrade"
    job = Job(place, lab.folder, TEMPLATES[template]["playbook"], inventory_of(lab))
    tasks = "- ansible.builtin.copy:\n    content: new\n    dest: \"{{ respond_records_path }}/../kernel\"\n    mode: '0600'\n"
    (job.folder / "project" / "kernel.yml").write_text(tasks)
    answers = sent(template, upgrade_hosts="web", upgrade_name="Kernel", upgrade_tasks="kernel.yml")
    job.run(answers, extra_vars(template), "-u root", **PROGRESS).good()
    assert [(lab.folder / vm / "kernel").read_text() for vm in lab.vms] == ["new", "new"]
    assert all(lab.flag(vm).exists() for vm in lab.vms)
    assert job.artifacts["upgrade_stats"] == {"vms": 2, "done": 2, "left": 0}


def test_the_drill_needs_nothing_but_the_execution_environment(make_lab: Make, place: Place) -> None:
    lab = make_lab(["web1"])
    job = run(place, lab, "Maintenance drill").good()
    assert job.artifacts["respond_stats"]["recovered"] == 1
    assert len(job.lines) <= 60, "\n".join(job.lines)
    assert any(re.match(r"VM +Noticed +Drained +Approved +Hit +Back +Drain took +Out of service for$", line) for line in job.lines)
