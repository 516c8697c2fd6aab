# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import os

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.argument_specs import API_VERSIONS
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.errors import ScheduledEventsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import RecordStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.maintenance_info import observation_arguments, observe
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import (
    EVENT,
    START,
    FakeHost,
    as_unprivileged_user,
    record_change,
)
from ansible_collections.maintenance.azure.tests.unit.plugins.support import (
    FakeTransport,
    document,
    fake_client,
    raw_event,
)

INSTANCE = json.dumps({"compute": {"name": "vm_0", "vmId": "VM-A", "resourceGroupName": "shop"}})
OPTIONS = {"affecting": "any", "include_raw": False, "vm_name": None, "health": None}

# Threads of other tests' servers, blocked in accept(), hold no lock that a child could wait for.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


def take(files, host, *script, instance=INSTANCE, check_mode=False, **options):
    client, warnings = fake_client(FakeTransport(*(script or (document(3, raw_event()),)), instance=instance))
    result = observe(client, files, host, dict(OPTIONS, **options), check_mode)
    json.dumps(result)
    return dict(result, warnings=warnings)


def test_an_observation_has_every_key(files, host):
    seen = take(files, host)
    assert set(seen) - {"warnings"} == {
        *("vm_name", "document_incarnation", "api_version", "events", "identity", "boot_id", "system", "now", "enabled_at"),
        *(
            "cannot_write",
            "enabled_recently",
            "in_service",
            "in_service_why",
            "watcher",
            "records",
            "records_problems",
            "records_readable",
            "uptime_seconds",
            "leases",
            "replicas",
        ),
        *("endpoint", "endpoint_source", "upgrades", "tombstones", "drain_times"),
    }
    assert (seen["vm_name"], seen["document_incarnation"], seen["api_version"]) == ("vm_0", 3, API_VERSIONS[0])
    assert (seen["identity"]["resource_group"], seen["boot_id"], seen["uptime_seconds"]) == ("shop", "boot-1", 10000.0)
    assert (seen["now"], seen["enabled_at"], seen["enabled_recently"]) == ("2026-11-21T20:00:00.000000Z",) * 2 + (True,)
    assert (seen["records"], seen["records_problems"], seen["records_readable"], seen["drain_times"]) == ([], [], True, None)


@pytest.mark.parametrize("content,times", [
    ({"format": 1, "methods": ["service"], "seconds": [3, 4.5]}, {"methods": ["service"], "seconds": [3, 4.5]}), ({"format": 2}, None),
])  # fmt: skip
def test_how_long_its_drains_took_is_a_hint_that_damage_fails_nothing(files, host, content, times):
    files.make()
    files.write_exclusive("drain-times.json", json.dumps(content).encode())
    seen = take(files, host)
    assert (seen["drain_times"], seen["records_problems"], seen["records_readable"]) == (times, [], True)


def test_an_observation_never_reads_the_history(files, host, monkeypatch):
    """It makes no pass dearer, and what is in it cannot fail one."""
    files.make()
    os.mkdir(os.path.join(files.where, "history"))
    for number in range(300):
        with open(os.path.join(files.where, "history", f"event-{number}.json"), "w") as stream:
            stream.write("damaged")
    os.chmod(os.path.join(files.where, "history"), 0o777)
    read = []
    monkeypatch.setattr(LocalFiles, "inside", lambda self, folder: read.append(folder))
    assert take(files, host)["records_problems"] == [] and read == []


def test_events_have_no_raw_unless_asked(files, host):
    assert "raw" not in take(files, host)["events"][0]
    assert take(files, host, include_raw=True)["events"][0]["raw"]["EventType"] == "Reboot"


def test_all_events_unless_selected(files, host):
    other = raw_event(EventId="other", Resources=["vm_9"])
    both = take(files, host, document(3, raw_event(), other))["events"]
    assert [event["affects_this_vm"] for event in both] == [True, False]
    assert len(take(files, host, document(3, raw_event(), other), affecting="this_vm")["events"]) == 1
    assert len(take(files, host, document(3, raw_event(), other), event_ids=["OTHER"])["events"]) == 1


def test_the_given_name_wins(files, host):
    seen = take(files, host, vm_name="VM_9")
    assert (seen["vm_name"], seen["identity"]["name"], seen["events"][0]["affects_this_vm"]) == ("VM_9", "vm_0", False)


def test_without_instance_metadata_a_name_must_be_given(files, host):
    failing = (400, "no")
    with pytest.raises(ScheduledEventsError):
        take(files, host, instance=failing)
    assert not os.path.exists(files.where)
    seen = take(files, host, instance=failing, vm_name="vm_0")
    assert seen["vm_name"] == "vm_0" and set(seen["identity"].values()) == {None}
    assert len(seen["warnings"]) == 1


def test_an_answer_without_a_name_is_an_error(files, host):
    with pytest.raises(ScheduledEventsError) as caught:
        take(files, host, instance='{"compute": {"name": ""}}')
    assert "vm_name" in str(caught.value)


def test_a_failed_document_is_no_empty_list_and_leaves_no_marker(files, host):
    with pytest.raises(ScheduledEventsError):
        take(files, host, (200, ""))
    assert not os.path.exists(files.where)


def test_records_have_ages_by_the_clock_of_the_vm(files, host):
    RecordStore(files, host).write(EVENT, record_change(vm_id="vm-a"))
    host.pass_time(90)
    RecordStore(files, host).write(EVENT, record_change(changes={"phase": "drained"}))
    seen = take(files, host)
    assert [(record["phase"], record["age_seconds"]) for record in seen["records"]] == [("drained", 90.0)]
    host.seconds = START - 10
    assert take(files, host)["records"][0]["age_seconds"] == -10.0


def test_foreign_records_are_set_aside_but_not_in_check_mode(files, host):
    RecordStore(files, host).write(EVENT, record_change(vm_id="VM-B"))
    seen = take(files, host, check_mode=True)
    assert (seen["records"], len(seen["records_problems"])) == ([], 1)
    assert len(os.listdir(files.where)) == 1 and not os.listdir(files.where)[0].startswith("foreign-")
    assert len(take(files, host)["records_problems"]) == 1
    assert sorted(name[:7] for name in os.listdir(files.where)) == ["asked", "foreign"]


def test_a_fault_of_the_folder_is_reported_once(tmp_path, host):
    where = tmp_path / "records"
    where.mkdir()
    where.chmod(0o777)
    seen = take(LocalFiles(str(where)), host)
    (said,) = seen["records_problems"]
    assert "The records in" in said and "may be written by any user" in said and seen["records_readable"] is False


def test_equal_faults_of_several_files_are_all_reported(files, host):
    RecordStore(files, host).write(EVENT, record_change())
    for name in ("event-x.1.json", "event-y.1.json"):
        files.write_exclusive(name, b"{")
    assert len(take(files, host)["records_problems"]) == 2


def test_check_mode_writes_nothing(files, host):
    assert take(files, host, check_mode=True)["enabled_recently"] is True
    assert not os.path.exists(files.where)


def test_health_is_as_the_host_reports_it(files, host):
    host.health = (False, "port 80 is closed")
    seen = take(files, host, health={"port": 80})
    assert (seen["in_service"], seen["in_service_why"]) == (False, "port 80 is closed")


@pytest.mark.parametrize("mode", [0o700, 0o755, None])
def test_without_root(tmp_path, mode):
    """0700 of another user: nothing may be read. 0755: the records can be read and the marker cannot be written."""
    where = tmp_path / "records"
    host = FakeHost()
    if mode is not None:
        RecordStore(LocalFiles(str(where)), host).write(EVENT, record_change())
        for path in where.iterdir():
            path.chmod(0o644)
        where.chmod(mode)
    seen = as_unprivileged_user(tmp_path, where, lambda: take(LocalFiles(str(where)), host))
    assert len(seen["events"]) == 1
    assert (seen["enabled_at"], seen["enabled_recently"]) == (None, True)
    assert seen["records_problems"]
    assert seen["records_readable"] is (mode != 0o700)
    assert len(seen["records"]) == (1 if mode == 0o755 else 0)


def test_every_option_has_a_type_and_the_spec_is_fresh():
    spec = observation_arguments()
    assert all("type" in option for option in spec.values())
    spec["health"]["options"].clear()
    assert observation_arguments()["health"]["options"]
