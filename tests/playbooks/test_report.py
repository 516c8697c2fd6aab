# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Playbook report, over real HTTP and real records: what it says took place is checked against the simulator's own log, not our records."""

from __future__ import annotations

import csv
import io
import json
import os
import pathlib
import shutil
import typing as t
from datetime import datetime, timedelta, timezone

import pytest
from lab.lab import Lab

Make = t.Callable[..., Lab]
REPORT = "maintenance.azure.report"
# Seconds between what happens and when a run notices it: one poll, and the start of a module on a busy machine.
SLACK = 20.0


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def one_event(lab: Lab, **options: t.Any) -> str:
    """Take web1 through one event at the real pace, so that the simulator's times are those of the clock."""
    event = lab.simulator.event("Reboot", ["web1"], notice=3600, started_seconds=5, **options)
    lab.respond(respond_wait=True)
    return event


def made(lab: Lab, *, code: int = 0, **options: t.Any) -> tuple[dict[str, t.Any], str, str]:
    """Make a report in all three forms; return the JSON, the page and what was printed."""
    files = [str(lab.folder / f"report.{form}") for form in ("json", "html", "csv")]
    printed = lab.play(REPORT, report_file=files, code=code, **options)
    return json.loads((lab.folder / "report.json").read_text()), (lab.folder / "report.html").read_text(), printed


def end_the_record(lab: Lab, vm: str, days: int) -> None:
    """Move a record, and what it has of times, to the past, and let a run remove it."""
    folder = lab.records_folder(vm)
    (path,) = folder.glob("event-*.json")
    record = json.loads(path.read_text())
    for item in record["history"]:
        item["at"] = (datetime.fromisoformat(item["at"]) - timedelta(days=days)).isoformat(timespec="microseconds").replace("+00:00", "Z")
    for key in ("approving_at", "approved_at", "started_at", "missing_since", "verified_at"):
        record[key] = None
    path.write_text(json.dumps(record))
    lab.respond()
    assert list(folder.glob("event-*.json")) == [] and len(list((folder / "history").glob("event-*.json"))) == 1


def test_each_time_and_duration_agrees_with_the_simulators_own_log(make_lab: Make) -> None:
    lab = make_lab(["web1", "idle"], 1)
    created = datetime.now(timezone.utc).timestamp()
    event = one_event(lab)
    report, page, printed = made(lab)
    (found,) = report["events"]
    (part,) = found["vms"]
    entries = [entry for entry in lab.simulator.log() if entry["event_id"] == event]
    # The simulator counts from its start.
    start = created - entries[0]["at"]
    log = {entry["transition"]: start + entry["at"] for entry in entries}
    (approval,) = lab.simulator.approvals()
    approved = start + approval["at"]
    at = {phase: seconds(moment) if moment else None for phase, moment in part["times"]["phases"].items()}
    asked = min(start + entry["at"] for entry in lab.simulator.requests() if entry["method"] == "GET" and start + entry["at"] >= created)
    # No phase is earlier than what it tells of, nor much later.
    for phase, truth in (("noticed", asked), ("approved", approved), ("started", log["started"]), ("gone", log["finished"])):
        assert -0.5 < at[phase] - truth < SLACK, (phase, at[phase] - truth)
    assert at["noticed"] <= at["drained"] <= at["approved"] and approval["status"] == 200
    # The same as durations: of the simulator's requests, and of the probe file, whose time the file system has.
    assert abs(part["notice_used_seconds"] - (approved - asked)) < SLACK and abs(part["times"]["impact_seconds"] - (log["finished"] - log["started"])) < SLACK
    back = os.stat(lab.flag("web1")).st_mtime
    assert abs(part["times"]["out_of_service_seconds"] - (back - at["draining"])) < SLACK and at["recovered"] >= back - 0.1
    assert abs(part["notice_given_seconds"] - 3600) < SLACK
    assert (part["approved_by"], part["rule"], found["outcome"]) == ("rule everything else", "everything else", "completed")
    assert event in page and event in printed and "2 of 2 VMs answered" in printed
    (row,) = csv.DictReader(io.StringIO((lab.folder / "report.csv").read_text()))
    assert (row["vm"], float(row["out_of_service_seconds"])) == ("web1", part["times"]["out_of_service_seconds"])
    assert set(part["methods"][0]["times"]) == {"begun", "drained", "undoing", "undone"} and part["methods"][0]["times"]["drained"]
    assert all(vm["answered"] and abs(vm["clock_offset_seconds"]) < SLACK for vm in report["vms"].values())


def test_the_question_of_march_is_answered_after_the_record_is_gone_and_the_vm_was_redeployed(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"], 60)
    event = one_event(lab)
    end_the_record(lab, "web1", days=250)
    march = (datetime.now(timezone.utc) - timedelta(days=250)).strftime("%Y-%m")
    archive = lab.folder / "archive"
    before, _page, printed = made(lab, report_month=march, report_archive_path=str(archive))
    assert [one["event_id"] for one in before["events"]] == [event] and f"{event}, times in UTC" in printed
    assert sorted(path.name[:5] for path in archive.iterdir()) == ["web1-"], "a VM without entries has no share"
    shutil.rmtree(lab.records_folder("web1"))
    after, page, _printed = made(lab, report_month=march, report_vm="web1", report_archive_path=str(archive))
    (part,) = after["events"][0]["vms"]
    assert part["archived"] and part["times"] == before["events"][0]["vms"][0]["times"] and "(from the archive)" in page
    assert made(lab, report_month=march, report_vm="web1")[0]["events"] == [], "without the archive it is lost"
    empty, page, printed = made(lab, report_month="2020-02", report_archive_path=str(archive))
    assert empty["events"] == [] and "No event in this time" in page and "no events" in printed


def test_a_vm_that_is_down_hides_no_other_and_its_archive_is_in_the_report(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"], 60)
    event = one_event(lab)
    archive = {"report_archive_path": str(lab.folder / "archive"), "report_archive_host": "bastion", "report_vm": "web1,web2"}
    lab.hosts["bastion"] = {
        "ansible_connection": "local",
        "ansible_become": False,
        "ansible_python_interpreter": lab.hosts["web1"]["ansible_python_interpreter"],
    }
    made(lab, **archive)
    lab.hosts["web1"].update(ansible_connection="ssh", ansible_host="127.0.0.1", ansible_port=9, ansible_ssh_timeout=2)
    report, page, printed = made(lab, **archive)
    assert (report["vms"]["web1"]["answered"], report["vms"]["web1"]["clock_offset_seconds"]) == (False, None)
    assert [one["event_id"] for one in report["events"]] == [event] and "Not read" in printed and "no: " in page
    # Green means done: where none answers, the run is red, with its report.
    archive["report_vm"] = "web1"
    assert "0 of 1 VMs answered" in made(lab, code=2, **archive)[2]


def test_what_cannot_be_done_is_red_and_says_so(make_lab: Make) -> None:
    lab = make_lab(["web1"], 60)
    for options, words in (
        ({"report_event_id": "c706"}, "no event of this time begins with c706: report_from asks for an earlier one"),
        ({"report_from": "yesterday"}, "report_from must be a date"),
        ({"report_month": "2026-13"}, "report_month must be a month"),
        ({"report_from": "2026-03-02", "report_until": "2026-03-01"}, "must be before report_until"),
        ({"report_file": "report.pdf"}, "must end with .html, .json, .csv"),
        ({"report_file": "/nowhere/report.html"}, "cannot be written"),
        ({"report_archive_path": "relative"}, "report_archive_path must be a whole path such as /srv/maintenance-archive, and is 'relative'"),
    ):
        assert words in lab.play(REPORT, code=2, **options), options


def test_a_run_that_makes_no_report_or_archives_nothing_is_red(idle_lab: Lab) -> None:
    made_none = "No report was made in this run: its tasks were left out or ended early (--{})"
    assert made_none.format("tags nothing") in idle_lab.play(REPORT, "--tags", "nothing", code=4)
    assert made_none.format("start-at-task nonsense") in idle_lab.play(REPORT, "--start-at-task", "nonsense", code=4)
    assert "matches 'web1' and --limit web2" in idle_lab.play(REPORT, "--limit", "web2", code=4, report_vm="web1")
    archive = {"report_archive_path": str(idle_lab.folder / "archive")}
    assert "Check mode: nothing was added to the archive." in idle_lab.play(REPORT, "--check", **archive)
    (idle_lab.folder / "theirs").mkdir(mode=0o777)
    (idle_lab.folder / "theirs").chmod(0o777)
    printed = idle_lab.play(REPORT, code=2, report_archive_path=str(idle_lab.folder / "theirs" / "archive"))
    assert "), or set report_archive_path to a place where only" in printed and "set records_path" not in printed
    assert "web1, web2: archive: The archive in" in printed
    idle_lab.hosts["bastion"] = {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 9, "respond_exclude": True}
    printed = idle_lab.play(REPORT, code=2, report_archive_host="bastion", **archive)
    del idle_lab.hosts["bastion"]
    assert "2 of 2 VMs answered" in printed and "web1, web2: not archived, for the reasons above; correct them and run it again" in printed


def test_with_a_strategy_that_lets_hosts_go_on_alone_there_is_no_report(idle_lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSIBLE_STRATEGY", "free")
    printed = idle_lab.play(REPORT, code=2)
    assert "it needs the strategy linear" in printed and "VMs answered" not in printed


def test_hosts_that_are_left_alone_are_not_asked(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"], 60)
    # It would fail, and take two seconds.
    lab.hosts["web2"].update(ansible_connection="ssh", ansible_host="127.0.0.1", ansible_port=9, respond_exclude="yes")
    report, _page, printed = made(lab, respond_min_answered=1, report_archive_path=str(lab.folder / "archive"))
    assert list(report["vms"]) == ["web1"] and "Left alone (respond_exclude): web2." in printed and "UNREACHABLE" not in printed
    lab.hosts["web2"]["respond_exclude"] = "maybe"
    printed = lab.play(REPORT, code=2)
    assert "1 of 1 VMs answered" in printed and "wrong settings on web2: respond_exclude must be true or false, and is maybe" in printed
    lab.hosts["web1"]["respond_exclude"] = lab.hosts["web2"]["respond_exclude"] = True
    assert "no VM was asked: all of them are left alone (respond_exclude)" in lab.play(REPORT, code=2)


def test_of_a_windows_vm(make_lab: Make) -> None:
    lab = make_lab(["web1", "win1"], 60, windows=["win1"])
    event = lab.simulator.event("Reboot", ["win1"], notice=3600, started_seconds=60)
    lab.respond(respond_wait=True)
    lab.all["respond_health"] = {}
    report, _page, _printed = made(lab, report_archive_path=str(lab.folder / "archive"))
    assert [(one["event_id"], one["vms"][0]["vm"]) for one in report["events"]] == [(event, "win1")]
    assert pathlib.Path(lab.folder / "archive").is_dir()
