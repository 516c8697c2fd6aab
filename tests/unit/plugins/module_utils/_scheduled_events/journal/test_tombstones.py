# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tombstones: an event that is over on a VM stays over, whatever replicas of its record appear."""

from __future__ import annotations

import json
import os

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import RecordsError, empty_record
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.replicas import LONGEST_SECONDS
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.tombstones import KEPT_SECONDS, Tombstones, tombstone_name
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.maintenance_record import change_records, record_arguments
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import EVENT

METHOD = {"id": "1-haproxy", "method": "haproxy", "before": {}, "state": "undone", "outside": True}
NAME = tombstone_name(EVENT)


def change(files, host, check_mode=False, **options):
    given = {key: about.get("default") for key, about in record_arguments().items()}
    return change_records(files, host, {**given, **options}, check_mode, lambda line: None)


def recovered(files, host, outside=True, event_id=EVENT):
    change(files, host, event_id=event_id, changes={"phase": "recovered"}, method={**METHOD, "outside": outside}, vm_id="VM-1")


def present(files):
    return [name for name in os.listdir(files.where) if name.startswith("tombstone-")]


def test_a_pruned_record_leaves_one_that_outlives_its_copies(files, host):
    recovered(files, host)
    host.pass_time(86401)
    assert change(files, host, check_mode=True, state="pruned")["pruned"] == [EVENT] and present(files) == []
    assert change(files, host, state="pruned")["pruned"] == [EVENT] and present(files) == [NAME]
    (stone,) = Tombstones(files, host).read_all().found
    assert (stone["event_id"], stone["vm_id"]) == (EVENT, "VM-1") and set(stone) == {"event_id", "vm_id", "at"}
    host.pass_time(LONGEST_SECONDS + 10)
    change(files, host, state="pruned")
    assert present(files) == [NAME], "a replica may exist for a moment longer"
    host.pass_time(KEPT_SECONDS - LONGEST_SECONDS)
    change(files, host, check_mode=True, state="pruned")
    assert present(files) == [NAME]
    change(files, host, state="pruned")
    assert present(files) == []


def test_a_record_that_a_person_removes_leaves_one_too_and_one_without_a_change_outside_none(files, host):
    recovered(files, host)
    recovered(files, host, outside=False, event_id="E-2")
    change(files, host, check_mode=True, state="absent", event_id=EVENT)
    assert present(files) == []
    for event_id in (EVENT, "E-2"):
        change(files, host, state="absent", event_id=event_id)
    assert present(files) == [NAME]


def test_without_room_for_it_the_record_stays(files, host, monkeypatch):
    recovered(files, host)
    host.pass_time(86401)

    def full(name, content):
        raise OSError("no space left on device")

    monkeypatch.setattr(files, "write_exclusive", full)
    with pytest.raises(RecordsError, match="are kept until their history can be written: cannot write records to .*: no space left"):
        change(files, host, state="pruned")
    with pytest.raises(RecordsError, match="cannot write records to .*: no space left"):
        change(files, host, state="absent", event_id=EVENT)
    assert [name for name in os.listdir(files.where) if name.startswith("event-")] != []


@pytest.mark.parametrize("content", [b"", b"[]", b'{"format": 9}', b'{"format": 1, "event_id": "E-9", "at": "x"}', b'{"format": 1, "event_id": 7, "at": "x"}'])
def test_what_is_none_is_told(files, host, content):
    files.make()
    files.write_exclusive(NAME, content)
    reading = Tombstones(files, host).read_all()
    assert reading.found == [] and NAME in reading.problems[0]
    change(files, host, state="pruned")
    assert present(files) == [NAME]


def test_a_tombstone_is_kept_a_day_longer_than_a_copy_and_no_more(files, host):
    recovered(files, host)
    change(files, host, state="absent", event_id=EVENT)
    host.pass_time(31 * 86400)
    change(files, host, state="pruned")
    assert present(files) == [NAME]
    host.pass_time(0.5)
    change(files, host, state="pruned")
    assert present(files) == []


WHOLE = {"format": 1, "event_id": EVENT, "vm_id": "VM-1", "at": "2026-11-21T20:00:00Z"}


@pytest.mark.parametrize("wrong,words", [
    ({"format": 0}, "holds no tombstone that this version"), ({"format": 2}, "holds no tombstone"), ({"format": None}, "holds no tombstone"),
    ({"event_id": None}, "holds no tombstone"), ({"event_id": 5}, "holds no tombstone"),
    ({"at": None}, "holds no tombstone"), ({"at": 5}, "holds no tombstone"),
    ({"event_id": "another"}, "belongs to another event than its name says"),
])  # fmt: skip
def test_one_thing_that_is_wrong_makes_a_tombstone_none(files, host, wrong, words):
    files.make()
    files.write_exclusive(NAME, json.dumps({**WHOLE, **wrong}).encode())
    reading = Tombstones(files, host).read_all()
    assert reading.found == [] and f"The file {NAME} in {files.where} is not a usable tombstone: it {words}" in reading.problems[0]
    # One that cannot be read is never removed.
    host.pass_time(10 * KEPT_SECONDS)
    Tombstones(files, host).prune()
    assert present(files) == [NAME]


@pytest.mark.parametrize("vm_id,found", [("VM-1", "VM-1"), ("", None), (None, None), (5, None)])
def test_the_vm_id_of_a_tombstone_is_a_text_or_not_known(files, host, vm_id, found):
    files.make()
    files.write_exclusive(NAME, json.dumps({**WHOLE, "vm_id": vm_id, "more": 1}).encode())
    assert Tombstones(files, host).read_all() == ([{"event_id": EVENT, "vm_id": found, "at": WHOLE["at"]}], [])


@pytest.mark.parametrize("at,kept", [("yesterday", True), ("2036-11-21T20:00:00Z", True), ("2026-01-01T00:00:00Z", False)])
def test_a_tombstone_goes_by_its_own_time_only_where_that_is_in_the_past(files, host, at, kept):
    files.make()
    files.write_exclusive(NAME, json.dumps({**WHOLE, "at": at}).encode())
    Tombstones(files, host).prune(check_mode=True)
    assert present(files) == [NAME]
    Tombstones(files, host).prune()
    assert present(files) == ([NAME] if kept else [])


@pytest.mark.parametrize(
    "outside,buried",
    [([], False), ([False], False), ([None, False], False), ([True], True), ([False, True], True), ([True, False], True), (["true"], False)],
)
def test_a_record_of_which_one_method_acted_outside_is_buried(files, host, outside, buried):
    record = {**empty_record(EVENT), "vm_id": "VM-1", "methods": [{**METHOD, "id": str(number), "outside": value} for number, value in enumerate(outside)]}
    stones = Tombstones(files, host)
    stones.write(record)
    assert stones.read_all().found == ([{"event_id": EVENT, "vm_id": "VM-1", "at": host.now()}] if buried else [])


def test_without_a_folder_there_is_no_tombstone(files, host):
    assert Tombstones(files, host).read_all() == ([], [])
    Tombstones(files, host).prune()
