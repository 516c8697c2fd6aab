# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The asker's metrics: what is listed is counted in few series, whatever Azure or a liar writes, and a folder that cannot be written ends nothing."""

from __future__ import annotations

import os
import pathlib
import typing as t

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import utc_text
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.document import flag_own, parse_document
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import empty_record
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.ask.metrics import (
    NAME,
    OTHER,
    STATUSES,
    THIS_VM,
    TYPES,
    WatchMetrics,
    watch_metrics,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.ask.state import State
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.exposition import PREFIX, exposition
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.record_metrics import record_metrics
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.shared_folder import SharedFolder
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import START, FakeHost
from ansible_collections.maintenance.azure.tests.unit.plugins.support import document, raw_event, started

NOT_BEFORE = 1795294800  # of raw_event: Sat, 21 Nov 2026 21:00:00 GMT
Found = t.Dict[t.Tuple[str, t.FrozenSet[t.Tuple[str, str]]], float]


def state(folder: pathlib.Path, *events: t.Any, vm_name: str | None = "vm_0") -> State:
    one = State(SharedFolder(str(folder)), t.cast(t.Any, FakeHost()))
    read = parse_document(document(1, *events), "2020-07-01")
    flag_own(read.events, vm_name)
    one.answered(read.incarnation, read.events)
    return one


def parsed(text: bytes) -> Found:
    found: Found = {}
    for family in text_string_to_metric_families(text.decode("utf-8")):
        assert family.documentation and family.type in ("gauge", "counter")
        for sample in family.samples:
            key = (sample.name[len(PREFIX) :], frozenset(sample.labels.items()))
            assert sample.name.startswith(PREFIX) and key not in found
            found[key] = sample.value
    return found


def metrics(values: t.Mapping[str, t.Any], now: str | None = None) -> Found:
    return parsed(exposition(watch_metrics(values, now or FakeHost().now())))


def value(found: Found, name: str, **labels: str) -> float | None:
    return found.get((name, frozenset(labels.items())))


class Writer:
    """The file as the asker writes it, and its warnings."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.warnings: list[str] = []
        self.path = folder / NAME
        self.file = WatchMetrics(str(folder), t.cast(t.Any, FakeHost()), self.warnings.append)


def test_a_folder_that_is_missing_is_one_line_and_is_written_once_it_is_there(tmp_path: pathlib.Path) -> None:
    writer, values = Writer(tmp_path / "metrics"), state(tmp_path).values
    for _time in range(3):
        writer.file.write(values)
    assert len(writer.warnings) == 1 and "cannot write metrics" in writer.warnings[0]
    (tmp_path / "metrics").mkdir()
    writer.file.write(values)
    assert parsed(writer.path.read_bytes())
    writer.path.unlink()
    (tmp_path / "metrics").rmdir()
    writer.file.write(values)
    assert len(writer.warnings) == 2


def test_a_full_disk_leaves_the_file_of_before_and_no_other(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer, one = Writer(tmp_path), state(tmp_path)
    writer.file.write(one.values)
    before = writer.path.read_bytes()
    monkeypatch.setattr(os, "fchmod", lambda *_unused: (unused for unused in ()).throw(OSError(28, "No space left on device")))
    one.failed("trouble")
    writer.file.write(one.values)
    assert writer.path.read_bytes() == before and os.listdir(tmp_path) == [NAME]
    assert "No space left" in writer.warnings[0]


def test_a_link_in_the_place_of_the_file_is_replaced_and_not_followed(tmp_path: pathlib.Path) -> None:
    (tmp_path / "victim").write_text("untouched")
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / NAME).symlink_to(tmp_path / "victim")
    writer = Writer(tmp_path / "metrics")
    writer.file.write(state(tmp_path).values)
    assert (tmp_path / "victim").read_text() == "untouched" and not writer.path.is_symlink()


def test_what_a_killed_writer_left_is_removed_and_files_of_others_are_not(tmp_path: pathlib.Path) -> None:
    for name in (f".{NAME}-0123", ".maintenance_records.prom-0123", ".temporary-0123", "other.prom"):
        (tmp_path / name).write_text("")
    Writer(tmp_path)
    assert sorted(os.listdir(tmp_path)) == [".maintenance_records.prom-0123", ".temporary-0123", "other.prom"]


def test_everybody_may_read_it_whatever_the_umask(tmp_path: pathlib.Path) -> None:
    before = os.umask(0o077)
    try:
        Writer(tmp_path).file.write(state(tmp_path).values)
    finally:
        os.umask(before)
    assert os.stat(tmp_path / NAME).st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    ("kind", "status", "labels"),
    [
        ("Reboot", "Scheduled", ("Reboot", "Scheduled")),
        ("preempt ", "STARTED", ("Preempt", "Started")),
        ("Upgrade", "Scheduled", (OTHER, "Scheduled")),
        ("Freeze", "Completed", ("Freeze", OTHER)),
        (None, None, (OTHER, OTHER)),
        ('"}\\n evil 1', "\u2028", (OTHER, OTHER)),
    ],
)
def test_events_are_counted_by_known_names(tmp_path: pathlib.Path, kind: t.Any, status: t.Any, labels: tuple[str, str]) -> None:
    found = metrics(state(tmp_path, raw_event(EventType=kind, EventStatus=status)).values)
    assert value(found, "listed", type=labels[0], status=labels[1], this_vm="true") == 1


def test_a_thousand_types_are_one_series(tmp_path: pathlib.Path) -> None:
    events = [raw_event(EventId=f"E{number}", EventType=f"T{number}", EventStatus=f"S{number}") for number in range(1000)]
    found = metrics(state(tmp_path, *events).values)
    assert value(found, "listed", type=OTHER, status=OTHER, this_vm="true") == 1000
    assert len([name for name, _labels in found if name == "listed"]) == 1


def test_whether_an_event_names_this_vm_is_a_label(tmp_path: pathlib.Path) -> None:
    events = [raw_event(), raw_event(EventId="E2", Resources=["vm_1"]), raw_event(EventId="E3", Resources=["VM_0"])]
    found = metrics(state(tmp_path, *events).values)
    assert value(found, "listed", type="Reboot", status="Scheduled", this_vm="true") == 2
    assert value(found, "listed", type="Reboot", status="Scheduled", this_vm="false") == 1
    unknown = metrics(state(tmp_path, *events, vm_name=None).values)
    assert value(unknown, "listed", type="Reboot", status="Scheduled", this_vm="unknown") == 3
    assert value(unknown, "not_before_timestamp_seconds") is None


def test_the_nearest_not_before_is_that_of_an_event_of_this_vm(tmp_path: pathlib.Path) -> None:
    later, others, none = "Sun, 22 Nov 2026 21:00:00 GMT", "Sat, 21 Nov 2026 20:00:00 GMT", "soon"
    events = [
        raw_event(NotBefore=later),
        raw_event(EventId="E2"),
        raw_event(EventId="E3", NotBefore=others, Resources=["vm_1"]),
        raw_event(EventId="E4", NotBefore=none),
    ]
    assert value(metrics(state(tmp_path, *events).values), "not_before_timestamp_seconds") == NOT_BEFORE
    assert value(metrics(state(tmp_path, started()).values), "not_before_timestamp_seconds") is None


def test_before_the_first_answer_there_is_no_time_of_one(tmp_path: pathlib.Path) -> None:
    one = State(SharedFolder(str(tmp_path)), t.cast(t.Any, FakeHost()))
    found = metrics(one.values)
    assert value(found, "answer_timestamp_seconds") is None
    assert value(found, "heartbeat_timestamp_seconds") == START
    assert value(found, "answers_total") == 0


def test_counts_and_the_problem_are_those_of_the_state(tmp_path: pathlib.Path) -> None:
    one = state(tmp_path)
    one.values.update(requests=7, messages_waiting=3, messages_dropped=2)
    found = metrics(one.values)
    assert (value(found, "requests_total"), value(found, "answers_total"), value(found, "problem")) == (7, 1, 0)
    assert (value(found, "messages_waiting"), value(found, "messages_dropped_total")) == (3, 2)
    assert value(found, "answer_timestamp_seconds") == START
    one.failed('"} the problem itself is no label')
    text = exposition(watch_metrics(one.values, FakeHost().now()))
    assert value(parsed(text), "problem") == 1 and b"itself" not in text


def test_no_event_id_and_no_name_of_a_vm_is_in_it(tmp_path: pathlib.Path) -> None:
    text = exposition(watch_metrics(state(tmp_path, raw_event(EventId="SECRET-ID")).values, FakeHost().now()))
    assert b"SECRET-ID" not in text and b"vm_0" not in text


SIMPLE = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=40))
FIELDS = {"event_type": SIMPLE, "event_status": SIMPLE, "not_before": SIMPLE, "event_id": SIMPLE, "affects_this_vm": st.sampled_from([True, False, None])}


@settings(max_examples=300, deadline=None)
@given(st.lists(st.fixed_dictionaries(FIELDS), max_size=30), SIMPLE, st.integers(0, 10**12))
def test_any_fields_parse_and_no_event_is_lost(events: list[dict[str, t.Any]], problem: t.Any, number: int) -> None:
    values = {"format": 1, "answered_at": problem, "problem": problem, "requests": number, "answers": number, "messages_waiting": number}
    found = metrics({**values, "messages_dropped": number, "events": events})
    counts = {labels: count for (name, labels), count in found.items() if name == "listed"}
    assert sum(counts.values()) == len(events)
    assert len(counts) <= (len(TYPES) + 1) * (len(STATUSES) + 1) * (len(THIS_VM) + 1)


def test_the_page_says_how_many_series_there_are_at_most(tmp_path: pathlib.Path) -> None:
    events = [raw_event(EventId=f"{kind}{status}", EventType=kind, EventStatus=status) for kind in (*TYPES, OTHER) for status in (*STATUSES, OTHER)]
    one = state(tmp_path, *events)
    one.values["events"] = [{**event, "affects_this_vm": flag} for event in one.values["events"] for flag in (True, False, None)]
    held = empty_record("E1")
    held.update(phase="held", history=[{"phase": "held", "at": FakeHost().now()}])
    held["event"]["not_before"] = utc_text(START + 60)
    most = len(metrics(one.values)) + len(parsed(exposition(record_metrics([held], FakeHost().now()))))
    page = (pathlib.Path(__file__).resolve().parents[7] / "docs" / "watcher.md").read_text()
    assert f"at most {most} series" in page
