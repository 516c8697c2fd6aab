# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file of a VM's drain times: damage costs the times alone, a crash leaves the old or the new ones, and no other part takes it for its own."""

from __future__ import annotations

import json
import os

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.drain_times import NAME, DrainTimes
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import RecordsError, empty_record
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import RecordStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.replicas import ReplicaStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.tombstones import Tombstones
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_store import LeaseStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.progress_marks import ProgressMarks
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.maintenance_record import change_records, record_arguments
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import EVENT

WHOLE = {"format": 1, "methods": ["service"], "seconds": [3, 4.5]}
METHOD = {"id": "1-service", "method": "service", "state": "drained", "times": {"found": "2026-11-21T20:00:00Z", "drained": "2026-11-21T20:00:09Z"}}
DRAINED = {**empty_record(EVENT), "verified_at": "2026-11-21T20:00:10.250000Z", "methods": [METHOD]}


@pytest.fixture
def times(files, host):
    return DrainTimes(files, host)


def put(files, content):
    files.make()
    files.write_exclusive(NAME, content if isinstance(content, bytes) else json.dumps(content).encode())


def drained(**method):
    return {**DRAINED, "methods": [{**METHOD, **method}]}


DAMAGED = [
    b"", b"{", b"[]", b"\xff", b'{"format": 1, "methods": ["service"], "seconds": [NaN]}', b'{"format": 1, "methods": ["service"], "seconds": [1e999]}',
    *({**WHOLE, **wrong} for wrong in (
        {"format": 2}, {"format": None}, {"methods": None}, {"methods": []}, {"methods": "service"}, {"methods": [5]}, {"methods": [""]},
        {"methods": ["x" * 65]}, {"methods": ["x"] * 17}, {"seconds": None}, {"seconds": []}, {"seconds": [True]}, {"seconds": ["5"]}, {"seconds": [-1]},
        {"seconds": [86400.5]}, {"seconds": [1] * 6}, {"seconds": {"0": 1}},
    )),
]  # fmt: skip


@pytest.mark.parametrize("content", DAMAGED, ids=str)
def test_a_damaged_file_counts_as_none_and_is_replaced(files, times, content):
    put(files, content)
    assert times.present() is None
    times.note(DRAINED)
    assert times.present() == {"methods": ["service"], "seconds": [10.25]}


def test_a_file_that_is_too_large_or_is_a_link_counts_as_none(files, times, tmp_path):
    put(files, b" " * (1024 * 1024 + 1))
    assert times.present() is None
    files.unlink(NAME)
    (tmp_path / "other").write_text(json.dumps(WHOLE))
    os.symlink(tmp_path / "other", os.path.join(files.where, NAME))
    assert times.present() is None
    times.note(DRAINED)
    assert times.present()["seconds"] == [10.25] and json.loads((tmp_path / "other").read_text()) == WHOLE


def test_a_crash_leaves_the_old_or_the_new_times(files, times, monkeypatch):
    put(files, WHOLE)
    steps = []

    class Crash(BaseException):
        pass

    for place in range(1, 5):
        with monkeypatch.context() as patched:
            for name in ("make", "write_exclusive", "rename", "sync"):
                work = getattr(files, name)

                def counted(*arguments, work=work, name=name, place=place):
                    steps.append(name)
                    if len(steps) == place:
                        raise Crash
                    return work(*arguments)

                patched.setattr(files, name, counted)
            steps.clear()
            with pytest.raises(Crash):
                times.note(DRAINED)
        assert times.present()["seconds"] in ([3, 4.5], [3, 4.5, 10.25])
    assert steps == ["make", "write_exclusive", "rename", "sync"] and times.present()["seconds"] == [3, 4.5, 10.25]


def test_a_full_disk_is_an_error_and_leaves_the_old_ones(files, times, monkeypatch):
    put(files, WHOLE)

    def full(name, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_exclusive", full)
    with pytest.raises(RecordsError, match="cannot write records to .*No space left"):
        times.note(DRAINED)
    assert times.present() == {"methods": ["service"], "seconds": [3, 4.5]}


@pytest.mark.parametrize("record", [
    {**DRAINED, "methods": []}, {**DRAINED, "verified_at": None}, {**DRAINED, "verified_at": "2026-11-21T19:59:59Z"},
    {**DRAINED, "verified_at": "2026-11-22T20:00:01Z"}, drained(times=None), drained(times={}), drained(times={"found": 5}), drained(times={"found": {}}),
    drained(times={"drained": "2026-11-21T20:00:00Z"}), drained(state="undone"), drained(method="x" * 65), {**DRAINED, "methods": [METHOD] * 17},
])  # fmt: skip
def test_what_says_nothing_of_a_time_is_left_out(files, times, record):
    put(files, WHOLE)
    times.note(record)
    assert times.present() == {"methods": ["service"], "seconds": [3, 4.5]}


def test_a_method_that_began_without_a_finding_counts_from_there(times):
    times.note(drained(times={"begun": "2026-11-21T20:00:04Z"}))
    assert times.present()["seconds"] == [6.25]


def test_no_other_part_takes_the_file_for_its_own_and_it_outlives_the_record(files, host, times):
    def change(**options):
        given = {key: about.get("default") for key, about in record_arguments().items()}
        return change_records(files, host, {**given, **options}, False, lambda line: None)

    change(event_id=EVENT, changes={"phase": "recovered"})
    put(files, WHOLE)
    stores = [ReplicaStore(files, host), Tombstones(files, host), ProgressMarks(files, host)]
    assert [store.read_all() for store in stores] == [([], [])] * 3
    assert LeaseStore(files, host).read_all()[:2] == ([], [])
    reading = RecordStore(files, host).read_all("VM-1", set_aside=True)
    assert (len(reading.records), reading.problems, reading.readable) == (1, [], True)
    host.pass_time(40 * 86400)
    assert change(state="pruned")["pruned"] == [EVENT]
    assert times.present() == {"methods": ["service"], "seconds": [3, 4.5]}
