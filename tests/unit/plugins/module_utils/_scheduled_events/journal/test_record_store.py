# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import os
import re
import stat

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.limits import REVISION
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import TEMPORARY, LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import RecordsError, empty_record
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import RecordStore
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import (
    EVENT,
    as_unprivileged_user,
    record_change,
)

NAME = "event-" + EVENT.lower()


@pytest.fixture
def records(tmp_path, host):
    return RecordStore(LocalFiles(str(tmp_path / "records")), host)


def present(records):
    return sorted(os.listdir(records.files.where))


def put(records, name, content):
    records.files.make()
    with open(os.path.join(records.files.where, name), "wb") as stream:
        stream.write(content if isinstance(content, bytes) else content.encode())


def test_without_a_directory_there_are_no_records(records):
    assert records.read_all() == ([], [], True, True)
    assert records.read(EVENT) is None
    assert not os.path.exists(records.files.where)


def test_one_file_per_event_and_the_newest_revision_only(records):
    for number in range(3):
        written = records.write(EVENT, record_change(changes={"attempts": number}))
    assert written.after["revision"] == 3 and written.before["revision"] == 2
    assert present(records) == [NAME + ".3.json"]
    assert records.read(EVENT) == written.after


def test_a_listing_that_missed_a_name_is_taken_again(records, monkeypatch):
    """Beside a change, a directory may list neither the old nor the new name."""
    records.write(EVENT, record_change())
    listings = [[], [NAME + ".1.json"], [NAME + ".1.json"]]
    monkeypatch.setattr(records.files, "_list", lambda: listings.pop(0))
    assert records.files.names() == [NAME + ".1.json"] and listings == []


def test_only_the_owner_may_observation(records):
    old = os.umask(0)
    try:
        records.write(EVENT, record_change())
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat(records.files.where).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(os.path.join(records.files.where, NAME + ".1.json")).st_mode) == 0o600


def test_ids_compare_without_case_and_are_kept_as_they_came(records):
    records.write(EVENT, record_change())
    written = records.write(EVENT.lower(), record_change(changes={"reason": "x"}))
    assert written.after["revision"] == 2
    assert written.after["event"]["event_id"] == EVENT


def test_nothing_new_is_not_written(records, host):
    records.write(EVENT, record_change(changes={"reason": "x"}))
    host.pass_time(5)
    written = records.write(EVENT, record_change(changes={"reason": "x"}))
    assert not written.changed and written.after["revision"] == 1
    assert present(records) == [NAME + ".1.json"]


def test_check_mode_says_the_same_and_writes_nothing(records):
    said = records.write(EVENT, record_change(changes={"reason": "x"}), check_mode=True)
    assert said.changed and not os.path.exists(records.files.where)
    assert records.write(EVENT, record_change(changes={"reason": "x"})).after == said.after
    assert records.remove(EVENT, check_mode=True).changed
    assert records.read(EVENT) is not None


@pytest.mark.parametrize("expected", [0, 2, 7])
def test_another_revision_than_expected_is_a_conflict(records, expected):
    records.write(EVENT, record_change())
    with pytest.raises(RecordsError) as caught:
        records.write(EVENT, record_change(changes={"reason": "x"}), expected_revision=expected)
    assert caught.value.conflict and caught.value.record["revision"] == 1
    with pytest.raises(RecordsError) as caught:
        records.remove(EVENT, expected_revision=expected)
    assert caught.value.conflict
    assert records.read(EVENT)["reason"] is None


def test_the_expected_revision_is_written(records):
    records.write(EVENT, record_change(), expected_revision=0)
    assert records.write(EVENT, record_change(changes={"reason": "x"}), expected_revision=1).after["revision"] == 2
    assert records.remove(EVENT, expected_revision=2).changed
    assert present(records) == []


HOSTILE = [
    "../../x",
    "/etc/passwd",
    "..",
    ".",
    "a" * 10000,
    "ä€𝄞\u202e",
    "x\n",
    "x\0y",
    "con\\aux",
    "event id",
    "a.1.json",
    "\ud800",
    "-",
    "%2e%2e/",
]


@pytest.mark.parametrize("event_id", HOSTILE)
def test_no_id_leaves_the_directory(records, event_id, tmp_path):
    records.write(event_id, record_change(changes={"phase": "draining"}))
    records.write(event_id, record_change(changes={"phase": "drained"}))
    assert os.listdir(tmp_path) == ["records"]
    assert len(present(records)) == 1 and len(present(records)[0]) < 100
    assert [record["phase"] for record in records.read_all().records] == ["drained"]
    assert records.read(event_id)["event"]["event_id"] == event_id
    records.remove(event_id)
    assert present(records) == []


def test_different_hostile_ids_have_different_files(records):
    for event_id in HOSTILE:
        records.write(event_id, record_change())
    assert len(present(records)) == len(HOSTILE)
    assert len(records.read_all().records) == len(HOSTILE)


def test_oldest_first(records, host):
    for event_id in ("b", "c", "a"):
        records.write(event_id, record_change())
        host.pass_time(1)
    assert [record["event"]["event_id"] for record in records.read_all().records] == ["b", "c", "a"]


BROKEN = {
    "empty": "",
    "cut": '{"format": 1, "revision": 1, "ev',
    "not utf-8": b"\xff\xfe",
    "a list": "[]",
    "a number": "1",
    "nothing in it": "{}",
    "newer": '{"format": 2, "revision": 1, "event": {"event_id": "%s"}}' % EVENT,
    "other revision": '{"format": 1, "revision": 2, "event": {"event_id": "%s"}}' % EVENT,
    "other event": '{"format": 1, "revision": 1, "event": {"event_id": "other"}}',
    "odd phase": '{"format": 1, "revision": 1, "phase": "done", "event": {"event_id": "%s"}}' % EVENT,
    "odd methods": '{"format": 1, "revision": 1, "methods": {}, "event": {"event_id": "%s"}}' % EVENT,
    "deep": '{"format": 1, "revision": 1, "rule": %s%s}' % ('{"a":' * 500 + "1", "}" * 500),
    "endless": "[" * 100000,
    "not a number": '{"format": 1, "revision": 1, "attempts": NaN, "event": {"event_id": "%s"}}' % EVENT,
}


@pytest.mark.parametrize("kind", list(BROKEN))
def test_what_cannot_be_read_is_reported_kept_and_not_written_over(records, kind):
    put(records, NAME + ".1.json", BROKEN[kind])
    reading = records.read_all()
    assert reading.records == [] and not reading.readable
    assert len(reading.problems) == 1 and NAME + ".1.json" in reading.problems[0]
    with pytest.raises(RecordsError) as caught:
        records.write(EVENT, record_change())
    assert NAME + ".1.json" in str(caught.value) and not caught.value.conflict
    with pytest.raises(RecordsError):
        records.remove(EVENT)
    assert present(records) == [NAME + ".1.json"]


def test_a_broken_file_does_not_hide_other_records(records):
    records.write("other", record_change())
    put(records, NAME + ".1.json", "")
    reading = records.read_all()
    assert [record["event"]["event_id"] for record in reading.records] == ["other"]
    assert not reading.readable


def test_a_broken_higher_revision_falls_back_and_is_set_aside(records):
    records.write(EVENT, record_change(changes={"phase": "drained"}))
    put(records, NAME + ".2.json", "{")
    reading = records.read_all()
    assert reading.records[0]["phase"] == "drained" and reading.readable and len(reading.problems) == 1
    assert records.write(EVENT, record_change(changes={"phase": "approved"})).after["revision"] == 3
    assert present(records) == [NAME + ".3.json", "unreadable-" + NAME + ".2.json"]
    assert "set aside" in records.read_all().problems[0]


def test_a_link_or_a_pipe_is_not_followed(records, tmp_path):
    records.files.make()
    elsewhere = RecordStore(LocalFiles(str(tmp_path / "elsewhere")), records.host)
    elsewhere.write(EVENT, record_change(changes={"reason": "secret"}))
    secret = tmp_path / "elsewhere" / (NAME + ".1.json")
    os.symlink(str(secret), os.path.join(records.files.where, NAME + ".1.json"))
    os.mkfifo(os.path.join(records.files.where, "event-pipe.1.json"))
    os.mkdir(os.path.join(records.files.where, "event-directory.1.json"))
    reading = records.read_all()
    assert reading.records == [] and len(reading.problems) == 3
    assert not any("secret" in problem for problem in reading.problems)


def test_files_that_are_none_of_ours_are_left_alone(records):
    for name in ("README", "event-x.json", "event-x.0.json", "event-x.01.json", "event-x.1.json.bak", ".event-x.1.json"):
        put(records, name, "x")
    names = present(records)
    assert records.read_all() == ([], [], True, True)
    records.write("x", record_change())
    assert present(records) == sorted(names + ["event-x.1.json"])


def test_a_record_of_another_vm_is_set_aside(records):
    records.write(EVENT, record_change(vm_id="VM-A", changes={"phase": "drained"}))
    same = records.read_all(vm_id="vm-a", set_aside=True)
    assert len(same.records) == 1 and same.problems == []
    reading = records.read_all(vm_id="vm-b", set_aside=True)
    assert reading.records == [] and len(reading.problems) == 1 and reading.readable
    assert EVENT in reading.problems[0] and "VM-A" in reading.problems[0] and "set aside" in reading.problems[0]
    assert present(records) == ["foreign-" + NAME + ".1.json"]
    assert "foreign-" in records.read_all(vm_id="vm-b", set_aside=True).problems[0]


def test_a_record_of_another_vm_is_only_reported_where_nothing_may_be_written(records):
    records.write(EVENT, record_change(vm_id="VM-A"))
    reading = records.read_all(vm_id="vm-b", set_aside=False)
    assert reading.records == [] and "not used" in reading.problems[0]
    assert present(records) == [NAME + ".1.json"]


def test_setting_aside_never_overwrites(records):
    for _time in range(2):
        records.write(EVENT, record_change(vm_id="VM-A"))
        records.read_all(vm_id="vm-b", set_aside=True)
    assert len(present(records)) == 2 and all(name.startswith("foreign-") for name in present(records))


def test_writing_for_this_vm_sets_a_foreign_record_aside(records):
    records.write(EVENT, record_change(vm_id="VM-A", changes={"phase": "drained"}))
    said = records.write(EVENT, record_change(vm_id="VM-B"), check_mode=True)
    assert present(records) == [NAME + ".1.json"] and said.after["phase"] == "noticed"
    written = records.write(EVENT, record_change(vm_id="VM-B"))
    assert written.after["phase"] == "noticed" and written.before is None
    assert len(present(records)) == 2
    assert [record["vm_id"] for record in records.read_all(vm_id="VM-B").records] == ["VM-B"]


def test_a_foreign_record_that_cannot_be_set_aside_is_not_written_over(tmp_path, host):
    class Stubborn(LocalFiles):
        def link(self, old, new):
            if new.startswith("foreign-"):
                raise PermissionError(1, "Operation not permitted")
            super().link(old, new)

    records = RecordStore(Stubborn(str(tmp_path / "records")), host)
    records.write(EVENT, record_change(vm_id="VM-A"))
    with pytest.raises(RecordsError) as caught:
        records.write(EVENT, record_change(vm_id="VM-B"))
    assert "VM-A" in str(caught.value)
    assert present(records) == [NAME + ".1.json"]


def test_unknown_keys_of_a_record_are_kept(records):
    records.write(EVENT, record_change())
    path = os.path.join(records.files.where, NAME + ".1.json")
    with open(path) as stream:
        content = json.load(stream)
    put(records, NAME + ".1.json", json.dumps(dict(content, added_later={"a": 1})))
    assert records.write(EVENT, record_change(changes={"reason": "x"})).after["added_later"] == {"a": 1}


def test_what_is_no_json_is_refused_also_in_check_mode(records):
    for check_mode in (True, False):
        with pytest.raises(RecordsError):
            records.write(EVENT, record_change(method={"id": "1-x", "before": {"a": float("nan")}}), check_mode=check_mode)
    assert records.read(EVENT) is None


def test_prune_removes_what_is_over_and_sweeps_leftovers(records, host):
    records.write("over", record_change(changes={"phase": "recovered"}))
    records.write("open", record_change(changes={"phase": "drained"}))
    put(records, "temporary-old.json", "x")
    put(records, "temporary-new.json", "x")
    old = os.path.join(records.files.where, "temporary-old.json")
    os.utime(old, (os.stat(old).st_mtime - 90000,) * 2)
    host.pass_time(86401)
    assert records.prune(86400, check_mode=True) == ["over"]
    assert "event-over.1.json" in present(records) and "temporary-old.json" in present(records)
    assert records.prune(86400) == ["over"]
    assert present(records) == ["event-open.1.json", "temporary-new.json"]
    assert records.prune(86400) == []


def test_prune_without_a_directory(records):
    assert records.prune(0) == []


def test_a_directory_that_may_not_be_written(records, tmp_path):
    def write():
        with pytest.raises(RecordsError) as caught:
            records.write(EVENT, record_change())
        return str(caught.value)

    records.files.make()
    os.chmod(records.files.where, 0o755)
    assert records.files.where in as_unprivileged_user(tmp_path, records.files.where, write)


def test_a_file_in_place_of_the_directory_is_an_error_and_not_an_empty_list(records):
    with open(records.files.where, "w"):
        pass
    reading = records.read_all()
    assert not reading.readable and len(reading.problems) == 1
    with pytest.raises(RecordsError):
        records.write(EVENT, record_change())
    with pytest.raises(RecordsError):
        records.prune(0)
    with pytest.raises(RecordsError):
        records.read(EVENT)


def test_a_record_of_another_vm_is_only_reported_unless_it_is_to_be_set_aside(records):
    records.write(EVENT, record_change(vm_id="VM-A"))
    reading = records.read_all("VM-B")
    assert (reading.records, reading.readable) == ([], True) and "written by another VM (vmId VM-A): it is not used" in reading.problems[0]
    assert present(records) == [NAME + ".1.json"]
    assert len(records.read_all("vm-a").records) == len(records.read_all(None).records) == 1
    assert "it is set aside" in records.read_all("VM-B", set_aside=True).problems[0]
    assert present(records) == ["foreign-" + NAME + ".1.json"]


def test_a_file_keeps_the_names_of_its_last_thirty_two_writes(records):
    for number in range(40):
        records.write(EVENT, record_change(changes={"attempts": number}))
    with open(os.path.join(records.files.where, NAME + ".40.json"), encoding="utf-8") as stream:
        assert len(set(json.load(stream)["lineage"])) == 32


@pytest.mark.parametrize("age,kept", [(86400, True), (86400.5, False)])
def test_what_a_killed_write_left_is_removed_after_a_day(records, monkeypatch, age, kept):
    left = TEMPORARY + "left.json"
    for name in (left, "notes.txt"):
        put(records, name, "{")
    monkeypatch.setattr(records.files, "age", lambda name: age)
    records.write(EVENT, record_change())
    assert (left in present(records)) is kept
    assert "notes.txt" in present(records)
    assert NAME + ".1.json" in present(records)


def test_a_write_that_cannot_tidy_up_counts_and_the_next_one_does_it(records, monkeypatch):
    records.write(EVENT, record_change())
    names, calls = records.files.names, []

    def third_fails():
        calls.append(1)
        if len(calls) == 3:
            raise OSError("Input/output error")
        return names()

    monkeypatch.setattr(records.files, "names", third_fails)
    assert records.write(EVENT, record_change(changes={"reason": "x"})).changed
    assert present(records) == [NAME + ".1.json", NAME + ".2.json"]
    assert records.write(EVENT, record_change(changes={"reason": "y"})).after["revision"] == 3
    assert present(records) == [NAME + ".3.json"]


def test_a_broken_file_that_cannot_be_set_aside_stands_in_the_way_of_nothing(records, monkeypatch):
    records.write(EVENT, record_change())
    put(records, NAME + ".2.json", "{")
    monkeypatch.setattr(records, "_set_aside", lambda name, prefix: False)
    assert records.write(EVENT, record_change(changes={"reason": "x"})).after["revision"] == 3
    assert records.read(EVENT)["reason"] == "x"


def test_what_was_set_aside_is_told_with_what_can_be_done(records):
    put(records, "foreign-" + NAME + ".1.json", "{}")
    put(records, "unreadable-" + NAME + ".2.json", "{")
    foreign, unreadable = records.read_all().problems
    assert foreign.startswith("The file foreign-") and "Was this VM made from an image" in foreign
    assert unreadable.startswith("The file unreadable-") and unreadable.endswith("Look at it, then remove it.")


def test_an_old_file_that_comes_back_stops_no_write(records):
    records.write(EVENT, record_change())
    with open(os.path.join(records.files.where, NAME + ".1.json"), "rb") as stream:
        first = stream.read()
    for number in range(40):
        records.write(EVENT, record_change(changes={"attempts": number + 1}))
    put(records, NAME + ".1.json", first)
    assert records.write(EVENT, record_change(changes={"reason": "x"})).after["revision"] == 42
    assert present(records) == [NAME + ".42.json"]


def test_a_record_that_could_not_be_set_aside_is_not_said_to_be(records, monkeypatch):
    records.write(EVENT, record_change(vm_id="VM-A"))

    def refuse(*_arguments):
        raise OSError("Operation not permitted")

    monkeypatch.setattr(records.files, "link", refuse)
    assert "it is not used" in records.read_all("VM-B", set_aside=True).problems[0]
    assert present(records) == [NAME + ".1.json"]


def test_a_listing_that_always_changes_is_given_up_after_fifty_times(records, monkeypatch):
    records.write(EVENT, record_change())
    asked = []

    def gone(name):
        asked.append(name)
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(records.files, "read", gone)
    reading = records.read_all()
    assert reading.problems == [f"The record {NAME} in {records.files.where} changes faster than it can be read."]
    assert (reading.records, reading.readable, len(asked)) == ([], False, 50)


def test_a_write_that_others_are_always_faster_than_is_a_conflict_after_fifty_times(records, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    records.write(EVENT, record_change())
    asked = []

    def taken(old, new):
        asked.append(new)
        raise FileExistsError(17, "File exists")

    monkeypatch.setattr(records.files, "link", taken)
    with pytest.raises(RecordsError, match="is written by others all the time; try again") as caught:
        records.write(EVENT, record_change(changes={"reason": "x"}))
    assert caught.value.conflict and caught.value.record is None
    assert asked == [NAME + ".2.json"] * 50
    assert present(records) == [NAME + ".1.json"]


def test_a_writer_may_be_told_after_each_reading_that_it_may_not_write(records, monkeypatch):
    records.write(EVENT, record_change())
    asked = []

    def allowed():
        asked.append(records.read(EVENT)["revision"])
        if len(asked) == 3:
            raise RecordsError("The lease is gone.")

    def taken(old, new):
        raise FileExistsError(17, "File exists")

    with monkeypatch.context() as patch:
        patch.setattr(records.files, "link", taken)
        with pytest.raises(RecordsError, match="The lease is gone"):
            records.write(EVENT, record_change(changes={"reason": "x"}), allowed=allowed)
    assert asked == [1, 1, 1]
    assert records.write(EVENT, record_change(changes={"reason": "x"}), allowed=lambda: None).changed


def test_the_outcome_of_a_write_has_the_record_before_and_after(records):
    first = records.write(EVENT, record_change(changes={"reason": "x"}))
    assert (first.before, first.after["reason"], first.after["revision"], first.changed) == (None, "x", 1, True)
    same = records.write(EVENT, record_change(changes={"reason": "x"}))
    assert same == (first.after, first.after, False)
    second = records.write(EVENT, record_change(changes={"reason": "y"}))
    assert (second.before, second.after["revision"], second.changed) == (first.after, 2, True)
    assert records.remove(EVENT) == (second.after, None, True)
    assert records.remove(EVENT) == (None, None, False)
    assert all("lineage" not in record for record in (first.after, second.before, second.after))


def test_an_unchanged_record_of_revision_0_is_written(records):
    """expected_revision 0 means that there is none yet, and the first write creates one even if it changes nothing."""
    assert records.write(EVENT, record_change(), expected_revision=0).changed
    with pytest.raises(RecordsError) as caught:
        records.write("another", record_change(), expected_revision=1)
    assert caught.value.conflict and caught.value.record is None and "has revision 0, and 1 was expected" in str(caught.value)


def test_a_name_that_is_taken_by_what_was_set_aside_before_gets_another(records):
    for _time in range(2):
        records.write(EVENT, record_change(vm_id="VM-A"))
        assert "it is set aside" in records.read_all(vm_id="vm-b", set_aside=True).problems[-1]
    plain, other = sorted(present(records), key=len)
    assert plain == f"foreign-{NAME}.1.json"
    assert re.fullmatch(r"foreign-[0-9a-f]{12}-" + NAME + r"\.1\.json", other)


def test_where_every_name_is_taken_nothing_is_set_aside(records, monkeypatch):
    records.write(EVENT, record_change(vm_id="VM-A"))

    def taken(old, new):
        raise FileExistsError(17, "File exists")

    monkeypatch.setattr(records.files, "link", taken)
    assert "it is not used" in records.read_all("VM-B", set_aside=True).problems[0]
    assert present(records) == [NAME + ".1.json"]


def test_all_revisions_of_a_foreign_record_are_set_aside_or_it_is_not_said_to_be(records, monkeypatch):
    records.write(EVENT, record_change(vm_id="VM-A"))
    with open(os.path.join(records.files.where, NAME + ".1.json"), "rb") as stream:
        content = stream.read()
    put(records, NAME + ".2.json", content.replace(b'"revision": 1', b'"revision": 2'))
    link = records.files.link

    def partly(old, new):
        if old.endswith(".1.json"):
            raise PermissionError(1, "Operation not permitted")
        link(old, new)

    with monkeypatch.context() as patch:
        patch.setattr(records.files, "link", partly)
        assert "it is not used" in records.read_all("VM-B", set_aside=True).problems[0]
    assert present(records) == [NAME + ".1.json", f"foreign-{NAME}.2.json"]
    assert "it is set aside" in records.read_all("VM-B", set_aside=True).problems[-1]


@pytest.mark.parametrize("mine", [1, 5, 6])
def test_a_record_is_removed_up_to_the_revision_that_was_read(records, monkeypatch, mine):
    """What another run writes meanwhile stays."""
    listing = [f"{NAME}.{revision}.json" for revision in (1, 5, 6, 7)]
    for name in listing:
        put(records, name, b"{}")
    removed = []
    monkeypatch.setattr(records.files, "unlink", removed.append)
    records._unlink_revisions(NAME, mine)
    assert removed == [name for name in listing if int(name.split(".")[1]) <= mine], "the newest last"


def test_a_restored_record_counts_on_from_its_replica(records):
    restore = {**empty_record(EVENT), "phase": "draining", "revision": 7}
    written = records.write(EVENT, record_change(restore=restore, changes={"attempts": 1}), expected_revision=0)
    assert (written.after["revision"], written.before) == (8, None)
    assert present(records) == [NAME + ".8.json"]


@pytest.mark.parametrize("revision,next_one", [(REVISION - 2, REVISION - 1), (REVISION - 1, REVISION), (REVISION, 1)])
def test_a_replica_with_a_number_too_high_begins_anew(records, revision, next_one):
    restore = {**empty_record(EVENT), "phase": "draining", "revision": revision}
    assert records.write(EVENT, record_change(restore=restore, changes={"attempts": 1})).after["revision"] == next_one


def test_prune_asks_for_each_record_whether_it_may_go_but_not_in_check_mode(records, host):
    for event_id in ("e1", "e2"):
        records.write(event_id, record_change(changes={"phase": "recovered"}))
    host.pass_time(86401)
    asked = []
    assert records.prune(86400, check_mode=True, bury=asked.append) == ["e1", "e2"]
    assert asked == [] and len(present(records)) == 2
    assert records.prune(86400, bury=lambda record: asked.append(record["event"]["event_id"])) == [] and asked == ["e1", "e2"]
    assert records.prune(86400, bury=lambda record: True) == ["e1", "e2"] and present(records) == []


@pytest.mark.parametrize("limit,read,readable", [(1, 1, False), (2, 2, False), (3, 3, True), (4, 3, True), (None, 3, True)])
def test_no_more_records_than_wanted_are_read(records, limit, read, readable):
    for event_id in ("e1", "e2", "e3"):
        records.write(event_id, record_change())
    reading = records.read_all(limit=limit)
    assert (len(reading.records), reading.readable, len(reading.problems)) == (read, readable, 0 if readable else 1)


def test_a_removal_tells_of_the_record_before_and_not_in_check_mode(records):
    written = records.write(EVENT, record_change(changes={"reason": "x"})).after
    told = []

    def bury(record):
        told.append((record["reason"], present(records)))

    assert records.remove(EVENT, check_mode=True, bury=bury) == (written, None, True) and told == []
    assert records.remove(EVENT, bury=bury).changed and told == [("x", [NAME + ".1.json"])]
    assert records.remove(EVENT, bury=bury).changed is False and len(told) == 1


@pytest.mark.parametrize("distance,wins", [(1, False), (31, False), (32, True), (33, True)])
def test_an_older_file_of_other_descent_counts_as_far_back_as_a_file_names_its_writes(records, distance, wins):
    """A revision that many writes ago cannot be named any more by one that builds on it."""
    mine = 100
    record = {**empty_record(EVENT), "revision": mine, "lineage": ["other", "mine"]}
    put(records, f"{NAME}.{mine}.json", json.dumps(record))
    put(records, f"{NAME}.{mine - distance}.json", json.dumps({**record, "revision": mine - distance, "lineage": ["stranger"]}))
    assert records._counts(record) is wins
    put(records, f"{NAME}.{mine - distance}.json", json.dumps({**record, "revision": mine - distance, "lineage": ["other"]}))
    assert records._counts(record) is True


def test_a_file_with_a_number_too_high_does_not_stop_a_revision_from_counting(records):
    """It may have come while this one was written; the next writer gives it another number."""
    record = {**empty_record(EVENT), "revision": 5, "lineage": ["mine"]}
    put(records, f"{NAME}.5.json", json.dumps(record))
    put(records, f"{NAME}.{REVISION}.json", json.dumps({**record, "revision": REVISION, "lineage": ["stranger"]}))
    assert records._counts(record) is True
