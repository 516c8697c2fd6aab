# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A records' directory that other users could have written to: refused for reading and writing, with the remedy."""

from __future__ import annotations

import os

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host import ownership
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.enabled_since import note_asked
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import RecordsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import RecordStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_store import LeaseStore
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import (
    EVENT,
    FakeHost,
    record_change,
)

NAME = "event-" + EVENT.lower() + ".1.json"


@pytest.fixture
def folder(tmp_path):
    """Return a directory that passes all checks."""
    tmp_path.chmod(0o700)
    RecordStore(LocalFiles(str(tmp_path / "records")), FakeHost()).write(EVENT, record_change(changes={"phase": "drained"}))
    return tmp_path / "records"


def others(monkeypatch, path, link=False):
    """Make a path appear to belong to another user, even if the test may not change its owner."""
    real, user = (os.lstat if link else os.stat), os.geteuid() + 12345

    def seen(given, *args, **kwargs):
        found = real(given, *args, **kwargs)
        if os.fspath(given) != str(path):
            return found
        values = list(found)
        values[4] = user
        return os.stat_result(values)

    monkeypatch.setattr(ownership.os, "lstat" if link else "stat", seen)
    return user


def refused(folder):
    """Return why reading and writing are refused; the reason is the same."""
    files, host = LocalFiles(str(folder)), FakeHost()
    reading = RecordStore(files, host).read_all()
    assert reading.records == [] and not reading.readable and len(reading.problems) == 1
    assert not LeaseStore(files, host).read_all().readable
    assert note_asked(files, host).problems
    before = sorted(os.listdir(folder))
    with pytest.raises(RecordsError) as caught:
        RecordStore(files, host).write(EVENT, record_change(changes={"phase": "approved"}))
    with pytest.raises(RecordsError):
        RecordStore(files, host).write("another", record_change())
    with pytest.raises(RecordsError):
        LeaseStore(files, host).make("run1", EVENT, 60.0)
    assert sorted(os.listdir(folder)) == before
    why = reading.problems[0].split("cannot be read: ")[1].rstrip(".")
    assert why in str(caught.value)
    return why


def test_a_directory_of_our_own_is_fine(folder):
    assert RecordStore(LocalFiles(str(folder)), FakeHost()).read_all().records[0]["phase"] == "drained"


def test_a_directory_of_another_user_is_refused(folder, monkeypatch):
    user = others(monkeypatch, folder)
    why = refused(folder)
    assert f"{folder} belongs to" in why and f"uid {user}" in why
    assert f"chown {ownership._own_name()}: {folder} && chmod 700 {folder}; look at the files in it before you trust them" in why


def test_a_directory_that_was_given_away_is_refused(folder):
    if os.geteuid() == 0:
        os.chown(folder, 65534, 65534)
        assert "(uid 65534)" in refused(folder)
    else:
        folder.chmod(0o777)
        assert "may be written by any user" in refused(folder)


@pytest.mark.parametrize(("mode", "who"), [(0o770, "its group"), (0o702, "any user"), (0o777, "any user"), (0o1777, "any user")])
def test_a_directory_that_others_may_write_is_refused(folder, mode, who):
    folder.chmod(mode)
    why = refused(folder)
    assert f"may be written by {who} (mode {mode:04o})" in why and f"chmod 700 {folder}" in why


@pytest.mark.parametrize("mode", [0o700, 0o750, 0o755])
def test_others_may_read_it(folder, mode):
    folder.chmod(mode)
    assert RecordStore(LocalFiles(str(folder)), FakeHost()).read_all().readable


def test_it_is_never_made_in_a_place_that_others_may_exchange(tmp_path):
    tmp_path.chmod(0o777)
    with pytest.raises(RecordsError) as caught:
        RecordStore(LocalFiles(str(tmp_path / "records")), FakeHost()).write(EVENT, record_change())
    assert f"lies in {tmp_path}, which any user may write" in str(caught.value) and "chmod go-w" in str(caught.value)
    tmp_path.chmod(0o700)


def test_parents_that_others_may_write_or_own_are_refused(folder, tmp_path, monkeypatch):
    tmp_path.chmod(0o777)
    assert "lies in" in refused(folder)
    # With the sticky bit other users cannot replace our entries, as in /tmp.
    tmp_path.chmod(0o1777)
    assert RecordStore(LocalFiles(str(folder)), FakeHost()).read_all().readable
    tmp_path.chmod(0o700)
    others(monkeypatch, tmp_path)
    assert f"lies in {tmp_path}, which belongs to" in refused(folder)


def test_a_link_of_our_own_may_lead_there_and_one_of_others_not(folder, tmp_path, monkeypatch):
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert RecordStore(LocalFiles(str(link)), FakeHost()).read_all().records[0]["phase"] == "drained"
    others(monkeypatch, link, link=True)
    assert "symbolic link" in refused(link)


def test_the_target_of_a_link_is_checked_too(folder, tmp_path):
    (tmp_path / "safe").mkdir(mode=0o700)
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    folder.rename(open_to_all / "records")
    open_to_all.chmod(0o777)
    link = tmp_path / "safe" / "link"
    link.symlink_to(open_to_all / "records")
    assert f"lies in {open_to_all}" in refused(link)


def test_a_file_that_others_may_write_is_kept_and_not_used(folder):
    (folder / NAME).chmod(0o666)
    reading = RecordStore(LocalFiles(str(folder)), FakeHost()).read_all()
    assert reading.records == [] and not reading.readable and "may be written by any user" in reading.problems[0]
    (folder / NAME).chmod(0o600)
    assert RecordStore(LocalFiles(str(folder)), FakeHost()).read_all().readable


def test_a_file_of_another_user_is_kept_and_not_used(folder, monkeypatch):
    real = os.fstat

    def seen(descriptor):
        values = list(real(descriptor))
        values[4] = os.geteuid() + 12345
        return os.stat_result(values)

    monkeypatch.setattr(os, "fstat", seen)
    reading = RecordStore(LocalFiles(str(folder)), FakeHost()).read_all()
    assert reading.records == [] and not reading.readable and NAME in reading.problems[0] and "belongs to" in reading.problems[0]


def test_without_a_directory_nothing_is_wrong(tmp_path):
    assert RecordStore(LocalFiles(str(tmp_path / "none")), FakeHost()).read_all() == ([], [], True, True)
