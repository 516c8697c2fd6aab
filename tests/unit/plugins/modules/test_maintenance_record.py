# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
import sys

import pytest
import yaml

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host import system_log
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.leased_record import LONGEST_LINE, log_line
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.maintenance_record import record_arguments
from ansible_collections.maintenance.azure.plugins.modules import maintenance_record
from ansible_collections.maintenance.azure.tests.unit.plugins.modules.module_runner import documentation, run_module

EVENT = {"event_id": "ABC-1", "event_type": "Reboot", "event_status": "Scheduled", "resources": ["web1"], "raw": {"x": 1}}
NAME = "event-abc-1"


@pytest.fixture
def lines(monkeypatch):
    told = []
    monkeypatch.setattr(maintenance_record, "log_to_syslog", told.append)
    return told


@pytest.fixture
def record(tmp_path, monkeypatch, lines):
    def call(check=False, **options):
        options.setdefault("records_path", str(tmp_path / "records"))
        return run_module(monkeypatch, maintenance_record, check=check, **options)

    return call


def test_a_drain_from_begin_to_end(record, lines):
    first = record(event_id="ABC-1", event=EVENT, vm_id="VM-A", vm_name="web1")
    assert first["changed"] and first["record"]["revision"] == 1 and first["conflict"] is False
    method = {"id": "1-service", "method": "service", "options": {"name": "nginx"}, "before": {"active": True}, "state": "found"}
    record(event_id="ABC-1", changes={"phase": "draining", "attempts": 1}, method=method)
    again = record(event_id="ABC-1", changes={"phase": "draining", "attempts": 1}, method=method)
    assert again["changed"] is False
    record(event_id="abc-1", method={"id": "1-service", "state": "drained", "before": {"active": False}})
    last = record(event_id="abc-1", changes={"phase": "drained"}, stamp=["verified_at"], boot_id="boot-1", expected_revision=3)
    assert last["record"]["methods"][0]["before"] == {"active": True}
    assert last["record"]["verified_at"].endswith("Z") and last["record"]["boot_id"] == "boot-1"
    assert [entry["phase"] for entry in last["record"]["history"]] == ["noticed", "draining", "drained"]
    assert lines == [f"maintenance.azure: event {event} Reboot {phase}" for event, phase in [("ABC-1", "noticed"), ("ABC-1", "draining"), ("abc-1", "drained")]]


def test_a_conflict_fails_and_shows_what_is_there(record, lines, tmp_path):
    record(event_id="ABC-1")
    result = record(event_id="ABC-1", changes={"phase": "held"}, expected_revision=0)
    assert result.get("failed") and result["conflict"] and result["record"]["revision"] == 1
    assert "ABC-1" in result["msg"] and len(lines) == 1
    assert os.listdir(tmp_path / "records") == [NAME + ".1.json"]


def test_check_mode_says_the_same_difference_and_does_nothing(record, lines, tmp_path):
    options = {"event_id": "ABC-1", "event": EVENT, "changes": {"phase": "held", "reason": "no drain method"}}
    said = record(check=True, _ansible_diff=True, **options)
    assert said["changed"] and not os.path.exists(tmp_path / "records") and lines == []
    done = record(_ansible_diff=True, **options)
    for result in (said, done):
        for entry in result["diff"]["after"]["history"]:
            entry.pop("at")
    assert done["diff"] == said["diff"] and done["diff"]["after"]["phase"] == "held"
    assert record(_ansible_diff=True, **options)["diff"]["after"] == {}


def test_absent(record, lines, tmp_path):
    assert record(event_id="ABC-1", state="absent")["changed"] is False
    record(event_id="ABC-1")
    assert record(event_id="abc-1", state="absent", check=True)["changed"]
    result = record(event_id="abc-1", state="absent")
    assert result["changed"] and result["record"] is None and result["diff"]["before"]["phase"] == "noticed"
    assert os.listdir(tmp_path / "records") == ["history"] and os.listdir(tmp_path / "records" / "history") == ["event-abc-1.json"]
    assert lines[-1] == "maintenance.azure: event abc-1 record removed"


def test_pruned(record, monkeypatch, tmp_path):
    record(event_id="ABC-1", changes={"phase": "recovered"})
    record(event_id="ABC-2")
    assert record(state="pruned")["pruned"] == []
    assert record(state="pruned", older_than=-1, check=True)["pruned"] == ["ABC-1"]
    result = record(state="pruned", older_than=-1)
    assert (result["changed"], result["pruned"], result["record"]) == (True, ["ABC-1"], None)
    assert sorted(os.listdir(tmp_path / "records")) == ["event-abc-2.1.json", "history"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"state": "absent"},
        {"event_id": ""},
        {"event_id": "  "},
        {"event_id": "x", "changes": {"phase": "done"}},
        {"event_id": "x", "stamp": ["now"]},
        {"event_id": "x", "method": {"state": "begun"}},
    ],
)
def test_wrong_options_fail_in_words(record, options, tmp_path):
    result = record(**options)
    assert result.get("failed") and result["msg"] and "Traceback" not in result["msg"]
    assert not os.path.exists(tmp_path / "records")


def test_a_path_that_cannot_be_used(record, tmp_path):
    (tmp_path / "file").touch()
    result = record(event_id="x", records_path=str(tmp_path / "file"))
    assert result.get("failed") and str(tmp_path / "file") in result["msg"]
    result = record(event_id="x", records_path=str(tmp_path / "file" / "under"))
    assert result.get("failed") and "under" in result["msg"]


def test_a_home_directory_is_expanded(record, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    record(event_id="x", records_path="~/mine")
    assert os.listdir(tmp_path / "mine") == ["event-x.1.json"]


def test_the_log_line_is_one_line_and_short():
    event = {"event_type": "Reboot\nNov 21 root: forged"}
    line = log_line("A\r\n\x1b[31m\u2028B", {"event": event, "phase": "held", "reason": "x" * 5000})
    assert line.isprintable() and len(line) <= LONGEST_LINE
    assert line.startswith("maintenance.azure: event A ")


def test_syslog_gets_the_line(monkeypatch):
    written = []

    class Syslog:
        LOG_PID = LOG_DAEMON = LOG_NOTICE = 1
        openlog = closelog = staticmethod(lambda *arguments: None)
        syslog = staticmethod(lambda priority, line: written.append(line))

    monkeypatch.setattr(system_log, "syslog", Syslog)
    system_log.log_to_syslog("event x")
    assert written == ["event x"]


def test_a_system_without_syslog(monkeypatch):
    monkeypatch.setattr(system_log, "syslog", None)
    system_log.log_to_syslog("event x")


def test_the_real_syslog_does_not_fail_where_nobody_listens():
    system_log.log_to_syslog("maintenance.azure: event test of the test suite, ignore it \u00e4\ud800".replace("\ud800", "?"))
    assert system_log.syslog is not None or sys.platform == "win32"


def test_the_documentation_has_every_option_and_default():
    options = documentation(maintenance_record)["options"]
    spec = record_arguments()
    assert set(options) == set(spec)
    for name, option in spec.items():
        assert options[name]["type"] == option["type"] and options[name].get("default") == option.get("default")
    assert yaml.safe_load(maintenance_record.EXAMPLES)


def test_the_documentation_shows_a_true_record(record):
    documented = yaml.safe_load(maintenance_record.RETURN)
    result = record(event_id="ABC-1", event=EVENT, method={"id": "1-none"})
    assert set(result) - {"changed", "diff", "invocation"} == set(documented) - {"pruned", "leases", "upgrade", "error_kind"}
    sample = documented["record"]["sample"]
    assert set(sample) == set(result["record"])
    assert set(sample["event"]) == set(result["record"]["event"])
    assert set(sample["methods"][0]) == set(result["record"]["methods"][0])


def test_check_mode_says_what_leases_there_would_be(record):
    lease = {"run": "run1", "seconds": 60}
    said = record(check=True, state="leased", event_id="ABC-1", lease=lease)
    assert said["changed"] and len(said["leases"]) == 1
    assert record(state="released", lease=lease)["changed"] is False, "check mode has made it"
    made = record(state="leased", event_id="ABC-1", lease=lease)["leases"]
    other = record(state="leased", event_id="ABC-2", lease=lease)["leases"]
    assert record(check=True, state="released", event_id="ABC-1", lease=lease)["leases"] == [name for name in other if name not in made]
    assert record(check=True, state="released", event_id=" ", lease=lease)["changed"] is False
    renewed = record(check=True, state="leased", event_id="ABC-2", lease=lease)["leases"]
    assert len(renewed) == 2 and made[0] in renewed
    assert record(check=True, state="released", lease=lease)["leases"] == []
    assert record(state="released", lease=lease)["diff"]["before"]["leases"] == other
