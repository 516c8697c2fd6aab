# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One file that fails keeps no other file from being handled, wherever it stands in the listing: all stores of the journal."""

from __future__ import annotations

import os

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import TEMPORARY, LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import RecordsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import LEFTOVER_SECONDS, RecordStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.replicas import LONGEST_SECONDS, ReplicaStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.tombstones import KEPT_SECONDS, Tombstones
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import record_change

METHOD = {"id": "1-haproxy", "method": "haproxy", "before": {}, "state": "drained", "outside": True}
EVENTS = ["e1", "e2", "e3", "e4"]
FAULTS = [FileNotFoundError(2, "No such file or directory"), PermissionError(13, "Permission denied"), OSError(5, "Input/output error")]


class FaultyFiles(LocalFiles):
    """A directory in which one operation on some files fails."""

    def __init__(self, where):
        super().__init__(where)
        self.faults = {}

    def _fail(self, operation, name):
        error = self.faults.get((operation, name))
        if error is not None:
            raise error

    def read(self, name):
        self._fail("read", name)
        return super().read(name)

    def unlink(self, name):
        self._fail("unlink", name)
        super().unlink(name)

    def link(self, old, new):
        self._fail("link", old)
        super().link(old, new)

    def age(self, name):
        self._fail("age", name)
        return super().age(name)

    def put(self, name, content):
        self.make()
        with open(os.path.join(self.where, name), "wb") as stream:
            stream.write(content)


@pytest.fixture
def files(tmp_path):
    return FaultyFiles(str(tmp_path / "records"))


@pytest.fixture
def records(files, host):
    return RecordStore(files, host)


@pytest.fixture
def replicas(files, host):
    return ReplicaStore(files, host)


@pytest.fixture
def tombstones(files, host):
    return Tombstones(files, host)


def present(files, prefix):
    return sorted(name for name in os.listdir(files.where) if name.startswith(prefix))


def draining(records, event_id, **more):
    return records.write(event_id, record_change(changes={"phase": "draining", **more}, method=METHOD, vm_id="VM-1")).after


def kept_replicas(files, host, replicas):
    """Keep a replica of each of four records; return the names of their files."""
    for event_id in EVENTS:
        replicas.write("web1", "VM-1", draining(RecordStore(LocalFiles(files.where + "-of-web1"), host), event_id))
    return present(files, "mirror-")


def kept_tombstones(files, host, tombstones):
    for event_id in EVENTS:
        tombstones.write(draining(RecordStore(LocalFiles(files.where + "-of-web1"), host), event_id))
    return present(files, "tombstone-")


def events(reading):
    return [replica["record"]["event"]["event_id"] for replica in reading.found]


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("fault", FAULTS)
def test_a_replica_that_is_not_read_hides_no_other(files, host, replicas, place, fault):
    names = kept_replicas(files, host, replicas)
    files.faults["read", names[place]] = fault
    reading = replicas.read_all()
    assert events(reading) == [event_id for event_id in EVENTS if event_id != EVENTS[place]]
    gone = isinstance(fault, FileNotFoundError)
    assert reading.problems == ([] if gone else [f"The replica {names[place]} in {files.where} was not read: it {fault}."])


@pytest.mark.parametrize("place", range(4))
def test_a_replica_that_is_none_hides_no_other(files, host, replicas, place):
    names = kept_replicas(files, host, replicas)
    files.put(names[place], b"[]")
    reading = replicas.read_all()
    assert events(reading) == [event_id for event_id in EVENTS if event_id != EVENTS[place]]
    assert [problem.split()[2] for problem in reading.problems] == [names[place]]


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("operation", ["read", "unlink", "age"])
def test_a_replica_that_cannot_be_pruned_keeps_no_other_from_it(files, host, replicas, place, operation):
    names = kept_replicas(files, host, replicas)
    host.pass_time(LONGEST_SECONDS + (0 if operation == "age" else 1))
    if operation == "age":
        # By the clock of the file only.
        stamp = os.stat(os.path.join(files.where, names[0])).st_mtime - LONGEST_SECONDS - 10
        for name in names:
            os.utime(os.path.join(files.where, name), (stamp, stamp))
    files.faults[operation, names[place]] = OSError(5, "Input/output error")
    assert replicas.prune(86400) == [event_id for event_id in EVENTS if event_id != EVENTS[place]]
    assert present(files, "mirror-") == [names[place]]


@pytest.mark.parametrize("place", range(4))
def test_a_replica_that_is_still_needed_keeps_no_other_from_being_pruned(files, host, replicas, place):
    kept_replicas(files, host, replicas)
    records = RecordStore(LocalFiles(files.where + "-of-web1"), host)
    for number, event_id in enumerate(EVENTS):
        if number != place:
            record = records.write(event_id, record_change(method={"id": METHOD["id"], "state": "undone"})).after
            assert replicas.write("web1", "VM-1", record).changed
    host.pass_time(86401)
    assert replicas.prune(86400) == [event_id for event_id in EVENTS if event_id != EVENTS[place]]


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("fault", FAULTS)
def test_a_tombstone_that_is_not_read_hides_no_other(files, host, tombstones, place, fault):
    names = kept_tombstones(files, host, tombstones)
    files.faults["read", names[place]] = fault
    reading = tombstones.read_all()
    assert [one["event_id"] for one in reading.found] == [event_id for event_id in EVENTS if event_id != EVENTS[place]]
    gone = isinstance(fault, FileNotFoundError)
    assert reading.problems == ([] if gone else [f"The file {names[place]} in {files.where} is not a usable tombstone: it {fault}. Remove it."])


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("operation", ["read", "unlink", None])
def test_a_tombstone_that_cannot_be_pruned_keeps_no_other_from_it(files, host, tombstones, place, operation):
    names = kept_tombstones(files, host, tombstones)
    host.pass_time(KEPT_SECONDS + 1)
    if operation is None:
        files.put(names[place], b"{}")
    files.faults[operation, names[place]] = OSError(5, "Input/output error")
    tombstones.prune()
    assert present(files, "tombstone-") == [names[place]]


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("operation", ["age", "unlink", None])
def test_what_a_killed_write_left_and_cannot_be_removed_keeps_no_other_from_it(files, records, place, operation):
    """Nor does one that may still be in use."""
    names = [f"{TEMPORARY}{number}.json" for number in range(4)]
    records.write("e1", record_change())
    for number, name in enumerate(names):
        files.put(name, b"{")
        past = 0 if operation is None and number == place else LEFTOVER_SECONDS + 100
        stamp = os.stat(os.path.join(files.where, name)).st_mtime - past
        os.utime(os.path.join(files.where, name), (stamp, stamp))
    files.faults[operation, names[place]] = OSError(5, "Input/output error")
    assert records.write("e1", record_change(changes={"reason": "x"})).changed
    assert present(files, TEMPORARY) == [names[place]]


@pytest.mark.parametrize("place", range(4))
def test_a_record_that_cannot_be_used_hides_no_other(files, records, place):
    for event_id in EVENTS:
        draining(records, event_id)
    files.faults["read", f"event-{EVENTS[place]}.1.json"] = OSError(5, "Input/output error")
    reading = records.read_all()
    assert [record["event"]["event_id"] for record in reading.records] == [event_id for event_id in EVENTS if event_id != EVENTS[place]]
    assert not reading.readable and len(reading.problems) == 1 and "it cannot be read ([Errno 5] Input/output error)" in reading.problems[0]


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("kept_by", ["phase", "tombstone"])
def test_a_record_that_stays_keeps_no_other_from_being_pruned(files, host, records, place, kept_by):
    for number, event_id in enumerate(EVENTS):
        draining(records, event_id)
        if kept_by == "tombstone" or number != place:
            records.write(event_id, record_change(changes={"phase": "recovered"}))
    host.pass_time(86401)
    gone = [event_id for event_id in EVENTS if event_id != EVENTS[place]]
    asked = []

    def bury(record):
        asked.append(record["event"]["event_id"])
        return asked[-1] != EVENTS[place]

    assert records.prune(86400, bury=bury) == gone
    assert present(files, "event-") == [f"event-{EVENTS[place]}.{2 if kept_by == 'tombstone' else 1}.json"]
    assert asked == (EVENTS if kept_by == "tombstone" else gone)


def test_a_record_that_another_process_removes_meanwhile_is_removed(files, records):
    draining(records, "e1")
    files.faults["unlink", "event-e1.1.json"] = FileNotFoundError(2, "No such file or directory")
    assert records.remove("e1").changed
    files.faults["unlink", "event-e1.1.json"] = PermissionError(13, "Permission denied")
    with pytest.raises(RecordsError, match=r"The record event-e1 in .* cannot be removed: .*Permission denied"):
        records.remove("e1")


def test_a_replica_that_cannot_be_removed_is_named_and_one_that_is_gone_is_no_change(files, host, records, replicas):
    names = kept_replicas(files, host, replicas)
    over = RecordStore(LocalFiles(files.where + "-of-web1"), host).write("e1", record_change(changes={"phase": "recovered", "undone": True})).after
    files.faults["unlink", names[0]] = PermissionError(13, "Permission denied")
    with pytest.raises(RecordsError, match=rf"The replica {names[0]} in .* cannot be removed: .*Permission denied"):
        replicas.write("web1", "VM-1", over)
    files.faults["unlink", names[0]] = FileNotFoundError(2, "No such file or directory")
    assert replicas.write("web1", "VM-1", over) == (None, None, False)


@pytest.mark.parametrize("name", ["event-e1.9.json", f"event-e1.{10**8}.json"])
def test_a_higher_revision_that_is_no_record_is_set_aside_once_by_any_process(files, records, name):
    draining(records, "e1")
    files.put(name, b"{")
    # Another process has set it aside between the listing and this.
    files.faults["link", name] = FileNotFoundError(2, "No such file or directory")
    assert records.write("e1", record_change(changes={"reason": "x"})).changed


@pytest.mark.parametrize("revision,refused", [(10**8 - 1, False), (10**8, True), (10**8 + 1, True)])
def test_only_a_file_that_no_new_revision_can_pass_is_named_where_it_cannot_be_set_aside(files, records, revision, refused):
    draining(records, "e1")
    name = f"event-e1.{revision}.json"
    files.put(name, b"{")
    files.faults["link", name] = PermissionError(1, "Operation not permitted")
    if refused:
        with pytest.raises(RecordsError, match=f"The file {name} in .* blocks newer ones and cannot be set aside: remove it"):
            records.write("e1", record_change(changes={"reason": "x"}))
    else:
        assert records.write("e1", record_change(changes={"reason": "x"})).after["revision"] == revision + 1


@pytest.mark.parametrize("operation", ["link", "unlink"])
def test_a_record_with_a_number_too_high_that_cannot_get_another_is_named(files, records, operation):
    draining(records, "e1")
    high = f"event-e1.{10**8}.json"
    with open(os.path.join(files.where, "event-e1.1.json"), encoding="utf-8") as stream:
        content = stream.read().replace('"revision": 1', '"revision": null')
    os.unlink(os.path.join(files.where, "event-e1.1.json"))
    files.put(high, content.encode())
    files.faults[operation, high] = PermissionError(1, "Operation not permitted")
    words = "has too high a number, and cannot be given another" if operation == "link" else "blocks newer ones and cannot be set aside: remove it"
    with pytest.raises(RecordsError, match=words):
        records.write("e1", record_change(changes={"reason": "x"}))
    assert records.read("e1")["phase"] == "draining"
    files.faults.clear()
    assert records.write("e1", record_change(changes={"reason": "x"})).after["reason"] == "x"
