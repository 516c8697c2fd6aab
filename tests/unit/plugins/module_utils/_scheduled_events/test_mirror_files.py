# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import os
import stat

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.files import LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.mirrors import LONGEST_SECONDS, Mirrors, mirror_name
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.record_format import RecordsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.records import Records
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import (
    EVENT,
    FakeHost,
    as_nobody,
    step,
)

METHOD = {"id": "1-haproxy", "method": "haproxy", "before": {"balancers": {}}, "outside": True}
NAME = mirror_name("web1", EVENT)


@pytest.fixture
def host():
    return FakeHost()


@pytest.fixture
def records(tmp_path, host):
    return Records(LocalFiles(str(tmp_path / "web1")), host)


@pytest.fixture
def mirrors(tmp_path, host):
    return Mirrors(LocalFiles(str(tmp_path / "web2")), host)


def drained(records, state="drained", **changes):
    return records.write(EVENT, step(changes={"phase": "drained", **changes}, method={**METHOD, "state": state}, vm_id="VM-1")).after


def present(mirrors):
    return sorted(os.listdir(mirrors.files.where))


def test_a_copy_is_no_record_of_the_vm_that_it_lies_on(records, mirrors, host):
    record = drained(records)
    assert mirrors.write("web1", "VM-1", record).changed
    assert present(mirrors) == [NAME]
    assert mirrors.read_all() == ([{"vm": "web1", "vm_id": "VM-1", "record": record}], [])
    assert Records(mirrors.files, host).read_all("VM-2", set_aside=True) == ([], [], True)
    assert present(mirrors) == [NAME]
    mode = os.stat(mirrors.files.where).st_mode
    assert stat.S_IMODE(mode) == 0o700
    assert mirrors.write("web1", "VM-1", record).changed is False
    # The same event on another VM has a file of its own, whatever the VM is called.
    mirrors.write("../web/1 \N{SNOWMAN}", None, record)
    assert len(present(mirrors)) == 2 and len(mirrors.read_all().mirrors) == 2


def test_an_older_revision_never_replaces_a_newer_one(records, mirrors):
    old = drained(records)
    new = drained(records, attempts=2)
    assert new["revision"] > old["revision"]
    mirrors.write("web1", "VM-1", new)
    written = mirrors.write("web1", "VM-1", old)
    assert (written.changed, written.after) == (False, new)
    # Not even one that says that all is over: a new drain may have begun since.
    assert mirrors.write("web1", "VM-1", {**old, "phase": "recovered"}).changed is False
    assert mirrors.read_all().mirrors[0]["record"] == new


def test_a_record_that_began_later_is_newer_with_whatever_revision(records, mirrors, host):
    mirrors.write("web1", "VM-1", {**drained(records), "revision": 9})
    records.remove(EVENT)
    host.pass_time(60)
    later = drained(records)
    assert later["revision"] == 1 and mirrors.write("web1", "VM-1", later).changed
    assert mirrors.read_all().mirrors[0]["record"] == later


def test_recovered_is_removed_and_check_mode_changes_nothing(records, mirrors):
    record = drained(records)
    assert mirrors.write("web1", None, record, check_mode=True).changed
    assert not os.path.exists(mirrors.files.where)
    mirrors.write("web1", None, record)
    over = records.write(EVENT, step(changes={"phase": "recovered", "undone": True})).after
    assert mirrors.write("web1", None, over, check_mode=True).changed and present(mirrors) == [NAME]
    assert mirrors.write("web1", None, over).changed and present(mirrors) == []
    assert mirrors.write("web1", None, over).changed is False


def test_a_restored_record_goes_on_where_its_copy_stopped(records, mirrors, host):
    drained(records)
    before = drained(records, attempts=2)
    mirrors.write("web1", "VM-1", before)
    records.remove(EVENT)
    copy = mirrors.read_all().mirrors[0]["record"]
    # As a template of ansible-core 2.18 may hand it on.
    restored = records.write(EVENT, step(restore={**copy, "age_seconds": 3}, vm_id="VM-2"), expected_revision=0).after
    assert restored["revision"] == before["revision"] + 1 and restored["vm_id"] == "VM-2"
    for key in ("phase", "methods", "history", "event", "attempts", "rule"):
        assert restored[key] == before[key], key
    assert mirrors.write("web1", "VM-2", restored).changed
    # A record that is there is not replaced.
    changed = records.write(EVENT, step(restore=copy, changes={"attempts": 7})).after
    assert changed["attempts"] == 7 and changed["vm_id"] == "VM-2"
    with pytest.raises(RecordsError, match="was expected"):
        records.write(EVENT, step(restore=copy), expected_revision=0)
    with pytest.raises(RecordsError, match="record to restore is of"):
        records.write("ANOTHER", step(restore=copy))


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"format": 2}', '{"format": 1, "vm": "web1", "record": {}}', '{"format": 1, "vm": "web1", "record": {"event": {"event_id": "X"}}}'],
)
def test_what_is_no_copy_is_told_and_replaced(records, mirrors, content):
    mirrors.files.make()
    with open(os.path.join(mirrors.files.where, NAME), "w") as stream:
        stream.write(content)
    reading = mirrors.read_all()
    assert reading.mirrors == [] and NAME in reading.problems[0]
    assert mirrors.write("web1", None, drained(records)).changed
    assert len(mirrors.read_all().mirrors) == 1


@pytest.mark.parametrize("given", [{}, {"event": 1}, {"event": {}}, {"event": {"event_id": " "}}, {"event": {"event_id": "X"}, "phase": "??"}])
def test_a_record_that_is_none_is_refused(mirrors, given):
    with pytest.raises(RecordsError, match="record given"):
        mirrors.write("web1", None, given)
    with pytest.raises(RecordsError, match=r"mirror\.vm"):
        mirrors.write(" ", None, given)


def test_copies_are_pruned_with_the_records(records, mirrors, host):
    mirrors.write("web1", None, drained(records))
    held = {"event": {"event_id": "E-2"}, "phase": "held", "missing_since": host.now(), "history": [{"phase": "held", "at": host.now()}], "revision": 1}
    mirrors.write("web1", None, held)
    host.pass_time(86401)
    assert mirrors.prune(86400, check_mode=True) == ["E-2"] and len(present(mirrors)) == 2
    assert mirrors.prune(86400) == ["E-2"]
    assert present(mirrors) == [NAME], "what was not put back yet is kept"
    stamp = os.stat(mirrors.files._path(NAME)).st_mtime - LONGEST_SECONDS - 10
    os.utime(mirrors.files._path(NAME), (stamp, stamp))
    assert mirrors.prune(86400) == [EVENT] and present(mirrors) == []


def test_a_folder_that_cannot_be_written_is_named(records, mirrors, tmp_path):
    mirrors.write("web1", None, drained(records))
    newer = drained(records, attempts=3)
    os.chmod(mirrors.files.where, 0o555)

    def write():
        try:
            mirrors.write("web1", None, newer)
        except RecordsError as error:
            return str(error)
        return "written"

    said = as_nobody(tmp_path, mirrors.files.where, write)
    assert mirrors.files.where in said and "cannot be" in said, said
    with open(mirrors.files._path(NAME)) as stream:
        assert json.load(stream)["record"]["attempts"] == 0
