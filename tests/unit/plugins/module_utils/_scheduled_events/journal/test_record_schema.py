# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Any bytes in a file give a record or a problem as text, never a traceback."""

from __future__ import annotations

import json
import os
import tempfile

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles, check_name
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal import record_schema
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_changes import (
    RecordChange,
    apply_change,
    may_be_pruned,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_encoding import decode, encode
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import (
    Unreadable,
    empty_record,
    file_name,
    public,
    split_name,
    stem,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import RecordStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.transitions import PHASES
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import (
    FakeHost,
    record_change,
)

pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

QUICK = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), database=None)
NOW = "2026-11-21T20:00:00.000000Z"

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
keys = st.sampled_from(sorted(empty_record("x")) + ["lineage", "added"])


def nearly(event_id="x"):
    """Return a valid record in which a few keys hold any value."""
    true = dict(empty_record(event_id), revision=1, history=[{"phase": "noticed", "at": NOW}])
    return st.dictionaries(keys, anything, max_size=3).map(lambda wrong: dict(true, **wrong))


@QUICK
@given(content=st.binary(max_size=200) | nearly().map(lambda data: json.dumps(data).encode()) | anything.map(lambda data: json.dumps(data).encode()))
def test_any_bytes_are_a_record_or_a_problem(content):
    with tempfile.TemporaryDirectory() as where:
        with open(os.path.join(where, "event-x.1.json"), "wb") as stream:
            stream.write(content)
        records = RecordStore(LocalFiles(where), FakeHost())
        reading = records.read_all(vm_id="vm-a", set_aside=False)
        assert len(reading.records) + len(reading.problems) == 1
        records.prune(0, check_mode=True)
        for record in reading.records:
            assert record["phase"] in PHASES
            usable(record)


def usable(record):
    """Check that a record that was read can be written: as JSON, after a change, and after a check of its age."""
    may_be_pruned(record, NOW, 0)
    after = apply_change(record, "x", RecordChange(changes={"phase": "failed"}, method={"id": "9-x", "state": "found"}), NOW)
    after["revision"] = 2
    again = decode(encode(after), "event-x.2.json")
    assert (again["phase"], again["methods"][-1]["id"], again["methods"][-1]["state"]) == ("failed", "9-x", "found")
    # What was mended stays so: the file of the next write gives back what this one gives.
    assert public(decode(encode(again), "event-x.2.json")) == public(again)


@QUICK
@given(content=st.binary(max_size=100))
def test_decode_knows_no_other_exception(content):
    try:
        decode(content, "event-x.1.json")
    except Unreadable as problem:
        assert str(problem)


@QUICK
@given(event_id=st.text(min_size=1, max_size=120) | st.text(alphabet="abAB-./\\", min_size=1))
def test_any_id_makes_a_plain_name_that_is_found_again(event_id):
    name = file_name(event_id, 12)
    assert check_name(name) == name and len(name) < 100
    assert split_name(name) == (stem(event_id), 12)


def test_plain_ids_stay_readable_and_never_meet_hashed_ones():
    assert file_name("C7061BAC-AFDC", 4) == "event-c7061bac-afdc.4.json"
    hashed = stem("../x")
    assert hashed.startswith("event-hashed-")
    assert stem(hashed[len("event-") :]) != hashed


@QUICK
@given(
    changes=st.dictionaries(st.sampled_from(["phase", "reason", "attempts", "undone", "told", "rule", "outcome", "x"]), anything, max_size=3),
    method=st.dictionaries(st.sampled_from(["id", "state", "before", "options", "error", "at"]), anything, max_size=4),
    event=st.dictionaries(st.sampled_from(["event_id", "event_type", "resources", "duration_in_seconds", "not_before"]), anything, max_size=4),
)
def test_any_change_is_made_or_refused_with_a_reason(changes, method, event):
    with tempfile.TemporaryDirectory() as where:
        records = RecordStore(LocalFiles(where), FakeHost())
        try:
            written = records.write("x", record_change(changes=changes, method=method, event=event))
        except Exception as error:
            assert type(error).__name__ == "RecordsError" and str(error)
            assert os.listdir(where) == []
        else:
            assert records.read("x") == written.after


def test_a_huge_number_is_no_traceback():
    with pytest.raises(Unreadable):
        decode(b"[" + b"9" * 100000 + b"]", "event-x.1.json")


def test_an_empty_record_is_complete():
    """With every key, and nothing in it that reading it again would mend."""
    record = dict(empty_record("x"), revision=1)
    assert list(record) == list(record_schema.RECORD_KINDS)
    assert public(decode(encode(record), "event-x.1.json")) == record


def test_lists_of_keys_come_from_the_table():
    assert set(record_schema.STAMPS) < set(record_schema.TEXT_KEYS) < set(record_schema.RECORD_KINDS)
    assert record_schema.METHOD_KEYS[0] == "id" and record_schema.EVENT_KEYS[0] == "event_id"


@pytest.mark.parametrize("state", [*record_schema.METHOD_STATES, "unheard of", None, 7])
def test_a_method_in_an_unknown_state_may_have_acted(state):
    record = dict(empty_record("x"), revision=1, methods=[{"id": "1-service", "state": state}])
    found = decode(json.dumps(record).encode(), "event-x.1.json")["methods"][0]["state"]
    assert found == (state if state in record_schema.METHOD_STATES else "begun")
