# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Host marks: hosts with one records folder return each other's, and nothing stays of a run that ended."""

from __future__ import annotations

import os

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import RecordsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease import host_marks
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.host_marks import leave_mark
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_store import LeaseStore
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import EVENT, FakeHost

ONE, TWO = "1" * 32, "2" * 32


def test_hosts_with_one_folder_return_each_others_marks_and_others_do_not(tmp_path, files):
    other = LocalFiles(str(tmp_path / "other"))
    assert leave_mark(files, FakeHost(), ONE) == [ONE]
    assert leave_mark(files, FakeHost(), TWO) == [TWO, ONE]
    assert leave_mark(files, FakeHost(), ONE) == [ONE, TWO]
    assert leave_mark(other, FakeHost(), TWO) == [TWO]


def test_a_mark_is_renewed_and_leaves_one_file(files):
    host = FakeHost()
    leave_mark(files, host, ONE)
    first = os.listdir(files.where)
    host.pass_time(host_marks.SECONDS - 1)
    assert leave_mark(files, host, ONE) == [ONE]
    assert len(os.listdir(files.where)) == 1
    assert os.listdir(files.where) != first


def test_marks_of_a_run_that_ended_are_removed_with_the_next_one(files):
    host = FakeHost()
    leave_mark(files, host, ONE)
    host.pass_time(host_marks.SECONDS + 1)
    assert leave_mark(files, host, TWO) == [TWO]
    assert len(os.listdir(files.where)) == 1


def test_a_mark_is_no_lease_and_no_record(files):
    leave_mark(files, FakeHost(), ONE)
    assert LeaseStore(files, FakeHost()).read_all().leases == []


@pytest.mark.parametrize("mark", ["", "../../etc/passwd", "1" * 31, "G" * 32, EVENT])
def test_only_a_mark_becomes_the_name_of_a_file(files, mark):
    with pytest.raises(RecordsError, match="32 hexadecimal digits"):
        leave_mark(files, FakeHost(), mark)
    assert not os.path.exists(files.where)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordsError, match="cannot write records to .*file: Not a directory"):
        leave_mark(LocalFiles(str(tmp_path / "file")), FakeHost(), ONE)
