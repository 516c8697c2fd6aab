# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged records: what can be read can be written, and the VM recovers."""

from __future__ import annotations

import contextlib
import json
import os
import time

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.limits import (
    FILE_BYTES,
    FOLDER_FILES,
    HISTORY_FIRST,
    HISTORY_LAST,
    LEASES,
    MARKS,
    METHODS,
    RECORD_BYTES,
    RECORDS,
    REVISION,
    TEXT,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host import files as files_module
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.enabled_since import note_asked
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_encoding import decode, encode
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import Unreadable, empty_record
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import RecordStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.replicas import ReplicaStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_store import LeaseStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.progress_marks import ProgressMarks
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import (
    FakeHost,
    record_change,
)

pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

QUICK = settings(max_examples=100, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck), database=None)
NOW = "2026-11-21T20:00:00.000000Z"
DRAINED = {"id": "1-service", "method": "service", "state": "drained", "before": {"state": "started"}}
HUGE = 10**17


@pytest.fixture
def records(tmp_path):
    store = RecordStore(LocalFiles(str(tmp_path / "records")), FakeHost())
    store.files.make()
    return store


def spoilt(**wrong):
    """A drained record, as text that stands in a file of revision 3, with some keys spoilt; None leaves a key out."""
    true = dict(empty_record("x"), revision=3, phase="drained", history=[{"phase": "drained", "at": NOW}], methods=[dict(DRAINED)], lineage=["a"])
    true.update(wrong)
    return {key: value for key, value in true.items() if wrong.get(key, "") is not None or key not in wrong}


def put(records, content, name="event-x.3.json"):
    with open(os.path.join(records.files.where, name), "wb") as stream:
        stream.write(content if isinstance(content, bytes) else json.dumps(content).encode())


def comes_back(records):
    """Write every change of an undo, and check that the record ends as recovered and is pruned."""
    assert records.read_all().readable
    for phase in ("gone", "recovering", "recovered"):
        for method in records.read("x")["methods"][:3]:
            records.write("x", record_change(method={"id": method["id"], "state": "undone"}))
        written = records.write("x", record_change(changes={"phase": phase}))
        assert written.changed and records.read("x") == written.after and written.after["phase"] == phase
    records.host.pass_time(10 * 86400)
    assert records.prune(86400) == ["x"]
    assert not [name for name in records.files.names() if name.startswith("event-")]


SPOILT = {
    "no lineage": spoilt(lineage=None),
    "an empty lineage": spoilt(lineage=[]),
    "a lineage that is none": spoilt(lineage="a"),
    "a lineage of numbers": spoilt(lineage=[1, {}]),
    "no revision": spoilt(revision=None),
    "a negative revision": spoilt(revision=-1),
    "a revision of text": spoilt(revision="3"),
    "a revision with a fraction": spoilt(revision=3.0),
    "a huge revision": spoilt(revision=HUGE),
    "no methods' names": spoilt(methods=[{"id": "1-service", "state": "drained"}]),
    "methods without a state": spoilt(methods=[{"id": "1-service", "before": {"state": "started"}}]),
    "methods with ids only": spoilt(methods=[{"id": "1-service"}, {"id": "odd"}, {"id": ""}]),
    "a method twice": spoilt(methods=[DRAINED, dict(DRAINED, state="begun")]),
    "a method of another type": spoilt(
        methods=[{"id": "1-service", "method": {}, "state": [], "before": 1, "options": [], "outside": "x", "at": 5, "error": {}}]
    ),
    "too many methods": spoilt(methods=[{"id": f"{number}-service"} for number in range(METHODS + 5)]),
    "an endless id of a method": spoilt(methods=[dict(DRAINED, id="1" * 10000)]),
    "a duration of text": spoilt(event={"event_id": "x", "duration_in_seconds": "soon"}),
    "a huge duration": spoilt(event={"event_id": "x", "duration_in_seconds": HUGE}),
    "resources of numbers": spoilt(event={"event_id": "x", "resources": [1, {}, "web1"]}),
    "an event of other types": spoilt(event={"event_id": "x", "event_type": {}, "not_before": 1, "description": []}),
    "times that are none": spoilt(history=[{"phase": "drained", "at": "soon"}], deadline="x", verified_at="", approving_at="١"),
    "a long history": spoilt(history=[{"phase": "drained", "at": NOW}] * 5000),
    "a negative count": spoilt(attempts=-5),
    "a huge count": spoilt(attempts=HUGE),
    "an endless reason": spoilt(reason="x" * 100000),
    "told of other types": spoilt(told=[{}, 1, "drained"]),
}


@pytest.mark.parametrize("kind", SPOILT)
def test_a_spoilt_record_comes_back(records, kind):
    put(records, SPOILT[kind])
    comes_back(records)


def test_a_revision_of_5000_digits_comes_back(records):
    put(records, json.dumps(spoilt()).replace('"revision": 3', '"revision": ' + "9" * 5000).encode())
    comes_back(records)


def test_what_is_read_of_a_spoilt_record_is_typed_and_bounded(records):
    wrong = spoilt(
        event={"event_id": "x", "resources": [1, "web1"], "duration_in_seconds": "x", "description": "d" * 9000, "not_before": 7},
        history=[{"phase": "drained", "at": NOW}] * 500,
        methods=[{"id": "2-service"}, {"id": "what"}],
        attempts=HUGE,
        approved_at="yesterday",
        reason="r" * 9000,
    )
    put(records, wrong)
    read = records.read_all().records[0]
    assert read["revision"] == 3 and read["attempts"] == 1000 and read["approved_at"] is None
    assert read["event"]["resources"] == ["web1"] and read["event"]["duration_in_seconds"] is None and read["event"]["not_before"] is None
    assert len(read["reason"]) == len(read["event"]["description"]) == TEXT
    assert len(read["history"]) == HISTORY_FIRST + HISTORY_LAST
    known, unknown = read["methods"]
    # A method that may have acted is undone; one that cannot be identified is reported.
    assert (known["method"], known["state"], known["before"]) == ("service", "begun", None)
    assert unknown["state"] == "undone" and "did not say which drain method" in unknown["error"]


@pytest.mark.parametrize("revision", [REVISION - 1, REVISION, 10**9 - 1])
@pytest.mark.parametrize("below", [False, True])
def test_the_highest_names_of_all_do_not_end_the_counting(records, revision, below):
    if below:
        put(records, spoilt(phase="noticed"))
    put(records, spoilt(revision=revision), f"event-x.{revision}.json")
    assert records.read("x")["phase"] == "drained"
    for _time in range(3):
        comes_on = records.write("x", record_change(changes={"attempts": _time + 1}))
        assert comes_on.after["phase"] == "drained" and records.read("x") == comes_on.after
    comes_back(records)


NUMBERS = [(REVISION, 1), (REVISION, 2), (10**9 - 1, 1), (10**9 - 1, 2), (REVISION, REVISION - 1), (10**9 - 1, REVISION - 2)]


@pytest.mark.parametrize(("revision", "below"), NUMBERS)
def test_a_number_too_high_counts_over_lower_ones_of_other_descent(records, revision, below):
    """Hypothesis found by chance that such a record could not be written."""
    put(records, spoilt(phase="noticed", revision=below, lineage=None), f"event-x.{below}.json")
    put(records, spoilt(revision=revision, lineage=["other"]), f"event-x.{revision}.json")
    before = records.files.names()
    seen = records.write("x", record_change(changes={"attempts": 5}), check_mode=True)
    assert seen.changed and seen.before["phase"] == "drained" and records.files.names() == before
    written = records.write("x", record_change(changes={"attempts": 5}))
    assert written.after["phase"] == "drained" and written.after["attempts"] == 5
    assert [name for name in records.files.names() if name.startswith("event-")] == [f"event-x.{written.after['revision']}.json"]
    comes_back(records)


@pytest.mark.parametrize("operation", ["link", "unlink"])
def test_a_writer_killed_while_it_gives_another_number_loses_nothing(records, monkeypatch, operation):
    put(records, spoilt(phase="noticed", revision=1, lineage=None), "event-x.1.json")
    put(records, spoilt(revision=None), f"event-x.{10**9 - 1}.json")
    real = getattr(LocalFiles, operation)

    def killed_after(number):
        done = []

        def killed(files, *names):
            if len(done) == number:
                raise KeyboardInterrupt
            done.append(names)
            return real(files, *names)

        return killed

    for last in range(6):
        with monkeypatch.context() as patch:
            patch.setattr(LocalFiles, operation, killed_after(last))
            with contextlib.suppress(KeyboardInterrupt):
                records.write("x", record_change(changes={"attempts": last + 1}))
        assert records.read("x")["phase"] == "drained"
    comes_back(records)


def test_a_broken_file_with_the_highest_name_does_not_block(records):
    put(records, spoilt())
    put(records, b"{", f"event-x.{10**9 - 1}.json")
    assert records.write("x", record_change(changes={"attempts": 1})).after["revision"] == 4
    comes_back(records)


def test_what_is_no_record_says_what_to_do_by_hand(records):
    put(records, b"{")
    problem = records.read_all().problems[0]
    assert "Repair or remove it" in problem and "by hand" in problem and "load balancer" in problem


def test_a_record_that_is_too_large_is_refused_before_it_is_written(records):
    with pytest.raises(Exception, match="larger than"):
        records.write("x", record_change(changes={"rule": {"x": ["y" * 100] * (RECORD_BYTES // 80)}}))
    assert records.files.names() == []


def test_a_small_file_that_would_grow_can_be_written_again():
    nested = "[" * 30 + ",".join("1" for _number in range(20000)) + "]" * 30
    content = json.dumps(spoilt()).replace('"rule": null', '"rule": {"x": %s}' % nested).encode()
    record = decode(content, "event-x.3.json")
    assert len(encode(record)) <= FILE_BYTES
    assert decode(encode(record), "event-x.3.json")["rule"] == record["rule"]


def test_no_more_records_than_the_limit_are_read_and_it_is_said(records):
    for number in range(RECORDS + 3):
        put(records, b"{}", f"event-{number:05d}.1.json")
    reading = records.read_all()
    assert not reading.readable and len(reading.problems) == RECORDS + 1
    assert f"records of {RECORDS + 3} events" in reading.problems[0] and f"{RECORDS} are read" in reading.problems[0]


def test_no_more_leases_and_marks_than_the_limits_are_read_and_it_is_said(records):
    for number in range(LEASES + 1):
        put(records, b"{}", f"claim-run{number:04d}-{'0' * 16}.1.json")
    for number in range(MARKS + 1):
        put(records, b"{}", f"upgrade-{number:016x}.json")
    leases = LeaseStore(records.files, records.host).read_all()
    assert len(leases.leases) == LEASES and not leases.readable and f"{LEASES + 1} leases" in leases.problems[0]
    marks = ProgressMarks(records.files, records.host).read_all()
    assert len(marks.problems) == MARKS + 1 and f"{MARKS + 1} progress marks" in marks.problems[0]


def test_a_folder_full_of_files_is_refused_at_once(records, monkeypatch):
    monkeypatch.setattr(files_module, "FOLDER_FILES", 50)
    for number in range(51):
        put(records, b"", f"x{number}")
    for found in (records.read_all(), LeaseStore(records.files, records.host).read_all()):
        assert not found.readable and "more than 50 files" in found.problems[0]
    assert FOLDER_FILES >= RECORDS + LEASES + MARKS


def test_all_files_together_have_a_limit(records, monkeypatch):
    monkeypatch.setattr(files_module, "FOLDER_BYTES", 5000)
    for name in "abcd":
        put(records, b"x" * 2000, f"event-{name}.1.json")
    reading = records.read_all()
    assert not reading.readable and "more than 5000 bytes" in reading.problems[-1] and "is not JSON" in reading.problems[0]


def test_a_large_file_is_not_read(records):
    put(records, b"x" * (FILE_BYTES + 1))
    assert f"larger than {FILE_BYTES} bytes" in records.read_all().problems[0]


@pytest.mark.parametrize("text", [b"9" * 900000, b"[" * 900000, b'{"a":' * 150000, b"1e" + b"9" * 900000, b'"' + b"\\ud800" * 150000 + b'"', b"-" * 900000])
def test_huge_numbers_and_depths_take_no_time(text):
    begin = time.process_time()
    with pytest.raises(Unreadable):
        decode(b'{"format": 1, "revision": 1, "event": ' + text + b"}", "event-x.1.json")
    assert time.process_time() - begin < 1


names = st.sampled_from(
    ["event-x.1.json", "event-x.3.json", "event-x.999999999.json", f"mirror-{'0' * 16}-event-x.json", f"upgrade-{'0' * 16}.json"]
    + [f"claim-run1-{'0' * 16}.{limit}.json" for limit in ("1", "9" * 15)]
    + ["asked", "temporary-x.json", "foreign-event-x.1.json", "\udcff\x1b[31m"]
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
method = st.dictionaries(st.sampled_from([*DRAINED, "options", "at", "error", "outside"]), anything, max_size=4).map(
    lambda wrong: dict({"id": "1-service"}, **wrong)
)
wrong = st.fixed_dictionaries(
    {}, optional={"methods": st.lists(method, max_size=3), "lineage": anything, "revision": anything, "attempts": st.integers(), "told": st.lists(anything)}
)
content = st.binary(max_size=100) | anything.map(lambda data: json.dumps(data).encode()) | wrong.map(lambda given: json.dumps(spoilt(**given)).encode())


@QUICK
@given(held=st.dictionaries(names, content, max_size=4))
def test_any_files_in_the_folder_give_an_answer(tmp_path_factory, held):
    files, host = LocalFiles(str(tmp_path_factory.mktemp("folder"))), FakeHost()
    store = RecordStore(files, host)
    for name, given_content in held.items():
        put(store, given_content, name)
    begin = time.process_time()
    for reading in (
        store.read_all("vm-a"),
        LeaseStore(files, host).read_all(),
        ReplicaStore(files, host).read_all(),
        ProgressMarks(files, host, "vm-a").read_all(),
    ):
        json.dumps(reading, allow_nan=False)
    note_asked(files, host, write=False)
    assert time.process_time() - begin < 1
    if store.read_all().records:
        comes_back(store)
