# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several writers at once: no write is lost, and no writer reports a write that was lost."""

from __future__ import annotations

import os

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import RecordsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import RecordStore
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import (
    EVENT,
    FakeHost,
    record_change,
)

# Threads of other tests' servers, blocked in accept(), hold no lock that a child could wait for.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


def in_processes(*actions):
    """Run each action in a process of its own, all at once."""
    children = []
    for action in actions:
        child = os.fork()
        if child == 0:
            try:
                action()
            except BaseException:
                os._exit(1)
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(children)


def increment(where, times):
    records = RecordStore(LocalFiles(where), FakeHost())
    for _time in range(times):
        while True:
            present = records.read(EVENT)
            try:
                records.write(EVENT, record_change(changes={"attempts": present["attempts"] + 1}), present["revision"])
                break
            except RecordsError as error:
                if not error.conflict:
                    raise


def test_two_processes_lose_no_update(tmp_path):
    where = str(tmp_path / "records")
    records = RecordStore(LocalFiles(where), FakeHost())
    records.write(EVENT, record_change())
    in_processes(lambda: increment(where, 100), lambda: increment(where, 100))
    record = records.read(EVENT)
    assert (record["attempts"], record["revision"]) == (200, 201)
    assert len(os.listdir(where)) == 1


def test_two_processes_merge_without_an_expected_revision(tmp_path):
    where = str(tmp_path / "records")

    def add(prefix):
        records = RecordStore(LocalFiles(where), FakeHost())
        for number in range(30):
            records.write(EVENT, record_change(method={"id": f"{prefix}{number}", "state": "begun", "before": {"n": number}}))

    in_processes(lambda: add("a"), lambda: add("b"))
    methods = RecordStore(LocalFiles(where), FakeHost()).read(EVENT)["methods"]
    assert sorted(method["id"] for method in methods) == sorted(p + str(n) for p in "ab" for n in range(30))


def test_a_reader_beside_a_writer_always_finds_the_record(tmp_path):
    where = str(tmp_path / "records")
    reader = RecordStore(LocalFiles(where), FakeHost())
    reader.write(EVENT, record_change())
    child = os.fork()
    if child == 0:
        try:
            increment(where, 150)
        finally:
            os._exit(0)
    revisions, wrong = [], []
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        reading = reader.read_all()
        if len(reading.records) != 1 or reading.problems:
            wrong.append(reading)
        else:
            revisions.append(reading.records[0]["revision"])
    assert wrong == []
    assert revisions == sorted(revisions) and len(set(revisions)) > 3
    assert reader.read(EVENT)["attempts"] == 150


class SlowFiles(LocalFiles):
    """Lets something happen right before the first link, as if this process had slept there."""

    meanwhile = None

    def link(self, old, new):
        happens, self.meanwhile = self.meanwhile, None
        if happens:
            happens()
        super().link(old, new)


@pytest.mark.parametrize("others", [1, 2, 3, 40])
@pytest.mark.parametrize("first", [0, 3])
def test_a_writer_that_slept_does_not_win_and_knows_it(tmp_path, first, others):
    """With two and more writes in between, the name that it takes is free again."""
    where = str(tmp_path / "records")
    quick = RecordStore(LocalFiles(where), FakeHost())
    for number in range(first):
        quick.write(EVENT, record_change(changes={"attempts": number + 1}))
    slow = RecordStore(SlowFiles(where), FakeHost())

    def meanwhile():
        for number in range(others):
            quick.write(EVENT, record_change(changes={"attempts": 100 + number}))

    slow.files.meanwhile = meanwhile
    with pytest.raises(RecordsError) as caught:
        slow.write(EVENT, record_change(changes={"reason": "slow"}), expected_revision=first)
    assert caught.value.conflict
    record = quick.read(EVENT)
    assert (record["attempts"], record["reason"]) == (99 + others, None)
    slow.files.meanwhile = meanwhile
    merged = slow.write(EVENT, record_change(changes={"reason": "slow"})).after
    assert (merged["attempts"], merged["reason"]) == (99 + others, "slow")
    assert quick.read(EVENT) == merged


def test_a_writer_that_slept_and_was_killed_right_after_its_link_blocks_no_writer(tmp_path):
    """Its revision lies below the present one, and its writer cannot remove it any more."""
    where = str(tmp_path / "records")
    quick = RecordStore(LocalFiles(where), FakeHost())
    quick.write(EVENT, record_change())

    class Killed(SlowFiles):
        def link(self, old, new):
            super().link(old, new)
            raise KeyboardInterrupt

    slow = RecordStore(Killed(where), FakeHost())
    slow.files.meanwhile = lambda: [quick.write(EVENT, record_change(changes={"attempts": number})) for number in (1, 2)]
    with pytest.raises(KeyboardInterrupt):
        slow.write(EVENT, record_change(changes={"reason": "slow"}))
    assert len(os.listdir(where)) == 2
    assert quick.write(EVENT, record_change(changes={"attempts": 3})).changed
    assert (quick.read(EVENT)["attempts"], quick.read(EVENT)["reason"]) == (3, None)
    assert len(os.listdir(where)) == 1


def test_a_writer_that_slept_over_a_removal_does_not_bring_the_record_back(tmp_path):
    where = str(tmp_path / "records")
    quick = RecordStore(LocalFiles(where), FakeHost())
    for number in range(3):
        quick.write(EVENT, record_change(changes={"attempts": number + 1}))
    slow = RecordStore(SlowFiles(where), FakeHost())

    def meanwhile():
        quick.remove(EVENT)
        quick.write(EVENT, record_change(changes={"reason": "new"}))

    slow.files.meanwhile = meanwhile
    with pytest.raises(RecordsError) as caught:
        slow.write(EVENT, record_change(changes={"phase": "drained"}), expected_revision=3)
    assert caught.value.conflict
    assert quick.read(EVENT)["reason"] == "new"


def test_a_writer_that_builds_on_the_revision_is_no_conflict(tmp_path):
    """Right after the link another process may already have written the next revision."""
    where = str(tmp_path / "records")
    quick = RecordStore(LocalFiles(where), FakeHost())

    class Followed(LocalFiles):
        def link(self, old, new):
            super().link(old, new)
            quick.write(EVENT, record_change(changes={"attempts": 5}))

    written = RecordStore(Followed(where), FakeHost()).write(EVENT, record_change(changes={"reason": "x"}), expected_revision=0)
    assert written.after["revision"] == 1
    assert (quick.read(EVENT)["reason"], quick.read(EVENT)["attempts"]) == ("x", 5)


def test_a_record_that_is_removed_right_after_its_link_is_not_reported_as_written(tmp_path):
    """Which of the two was first is not known, so the caller has to read again."""
    where = str(tmp_path / "records")
    RecordStore(LocalFiles(where), FakeHost()).write(EVENT, record_change())

    class Removed(LocalFiles):
        def link(self, old, new):
            super().link(old, new)
            if new.endswith(".2.json"):
                RecordStore(LocalFiles(where), FakeHost()).remove(EVENT)

    with pytest.raises(RecordsError) as caught:
        RecordStore(Removed(where), FakeHost()).write(EVENT, record_change(changes={"reason": "x"}), expected_revision=1)
    assert caught.value.conflict
    assert os.listdir(where) == []
