# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The records' metrics: drains, holds and failures by the histories; withdrawn where the records cannot be read."""

from __future__ import annotations

import os
import pathlib
import typing as t

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import LocalHost, utc_text
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_changes import RecordChange
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import RecordStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.transitions import PHASES
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.exposition import PREFIX, exposition
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.record_metrics import NAME, RecordMetrics, record_metrics
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.seen import NAME as SEEN
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.seen import publish
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.settings import Settings
from ansible_collections.maintenance.azure.tests.unit.plugins import builders
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import EVENT, START

History = t.Sequence[t.Tuple[str, float]]


def record(history: History, not_before: t.Any = None, **keys: t.Any) -> dict[str, t.Any]:
    entries = [(phase, utc_text(START + seconds)) for phase, seconds in history]
    return builders.record(history[-1][0] if history else "noticed", entries=entries, event=builders.event(EVENT, not_before=not_before), **keys)


def metrics(*records: dict[str, t.Any], after: float = 0) -> dict[str, float]:
    text = exposition(record_metrics(records, utc_text(START + after))).decode("utf-8")
    assert EVENT.lower() not in text.lower()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {sample.name[len(PREFIX) :] + "".join(f" {word}" for word in sample.labels.values()): sample.value for sample in samples}


class Vm:
    """Settings and folders of a VM whose records root publishes."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.metrics, self.seen, self.records = folder / "metrics", folder / "seen", folder / "records"
        self.metrics.mkdir()
        self.seen.mkdir()
        self.settings = Settings(records_path=str(self.records), seen_folder=str(self.seen), figures_folder=str(self.metrics))
        RecordStore(LocalFiles(str(self.records)), LocalHost()).write(EVENT, RecordChange(event={"event_id": EVENT}, changes={"phase": "failed"}))

    def break_records(self) -> None:
        for path in self.records.iterdir():
            path.write_text("{")


@pytest.fixture
def vm(tmp_path: pathlib.Path) -> Vm:
    return Vm(tmp_path)


def test_records_that_cannot_be_read_withdraw_the_metrics(vm: Vm) -> None:
    publish(vm.settings)
    assert (vm.metrics / NAME).exists()
    vm.break_records()
    with pytest.raises(OSError):
        publish(vm.settings)
    assert os.listdir(vm.metrics) == []


def test_metrics_that_cannot_be_withdrawn_are_named_beside_the_reason(vm: Vm) -> None:
    vm.break_records()
    (vm.metrics / NAME).mkdir()
    with pytest.raises(OSError, match="(?s)event-.*The old metrics cannot be removed"):
        publish(vm.settings)


def test_a_folder_that_is_missing_does_not_hide_what_is_seen(vm: Vm) -> None:
    vm.metrics.rmdir()
    with pytest.raises(OSError):
        publish(vm.settings)
    assert EVENT.lower() in (vm.seen / SEEN).read_text()


def test_without_a_folder_there_is_no_file(vm: Vm) -> None:
    publish(vm.settings._replace(figures_folder=None))
    assert os.listdir(vm.metrics) == []


def test_it_is_written_for_others_to_read_and_leaves_nothing_else(vm: Vm) -> None:
    (vm.metrics / f".{NAME}-0123").write_text("of a killed writer")
    publish(vm.settings)
    assert os.listdir(vm.metrics) == [NAME]
    assert os.stat(vm.metrics / NAME).st_mode & 0o777 == 0o644
    assert 'azure_scheduled_events_records{phase="failed"} 1\n' in (vm.metrics / NAME).read_text()


def test_removing_what_is_not_there_is_no_error(tmp_path: pathlib.Path) -> None:
    RecordMetrics(str(tmp_path)).remove()


def test_without_records_every_phase_is_zero() -> None:
    found = metrics()
    assert {phase: found[f"records {phase}"] for phase in PHASES} == dict.fromkeys(PHASES, 0)
    assert (found["records_finished_drains"], found["records_finished_drains_seconds"], found["records_longest_hold_seconds"]) == (0, 0, 0)
    assert "records_hold_half_notice_timestamp_seconds" not in found
    assert found["records_timestamp_seconds"] == START


@pytest.mark.parametrize(
    ("history", "count", "seconds", "failed"),
    [
        ([("noticed", 0), ("draining", 5), ("drained", 12)], 1, 7, 0),
        ([("draining", 5)], 0, 0, 0),
        # An attempt that failed is no drain that ended; the next one begins anew.
        ([("draining", 0), ("failed", 60), ("draining", 100), ("drained", 130)], 1, 30, 1),
        ([("draining", 0), ("held", 60), ("drained", 130)], 0, 0, 0),
        # Drained again after a boot.
        ([("draining", 0), ("drained", 10), ("draining", 50), ("drained", 53), ("started", 60)], 2, 13, 0),
        ([("draining", 0), ("failed", 1), ("draining", 2), ("failed", 3)], 0, 0, 2),
        # The clock went back.
        ([("draining", 100), ("drained", 10)], 0, 0, 0),
        ([("drained", 10)], 0, 0, 0),
    ],
)
def test_drains_are_those_of_the_history(history: History, count: int, seconds: float, failed: int) -> None:
    found = metrics(record(history))
    assert (found["records_finished_drains"], found["records_finished_drains_seconds"], found["records_failed_drains"]) == (count, seconds, failed)


def test_a_hold_lasts_from_its_last_entry() -> None:
    one = record([("noticed", 0), ("held", 10), ("noticed", 20), ("held", 30)])
    assert metrics(one, record([("held", 80)]), after=100)["records_longest_hold_seconds"] == 70
    assert metrics(one, after=-100)["records_longest_hold_seconds"] == 0
    assert metrics(record([], phase="held"))["records_longest_hold_seconds"] == 0


@pytest.mark.parametrize("ended", [{"missing_since": utc_text(START)}, {"outcome": "cancelled"}, {"phase": "drained"}])
def test_an_event_that_is_over_is_not_held(ended: dict[str, t.Any]) -> None:
    found = metrics(record([("held", 0)], utc_text(START + 600), **ended), after=100)
    assert found["records_longest_hold_seconds"] == 0 and "records_hold_half_notice_timestamp_seconds" not in found


@pytest.mark.parametrize("not_before", [utc_text(START + 600), "Sat, 21 Nov 2026 20:10:00 GMT"])
def test_half_the_notice_is_counted_from_the_first_entry(not_before: str) -> None:
    one = record([("noticed", 0), ("held", 200)], not_before)
    later = record([("held", 0)], utc_text(START + 6000))
    assert metrics(later, one)["records_hold_half_notice_timestamp_seconds"] == START + 300


@pytest.mark.parametrize("not_before", [None, "", "soon", 7])
def test_an_event_without_a_time_has_no_half(not_before: t.Any) -> None:
    assert "records_hold_half_notice_timestamp_seconds" not in metrics(record([("held", 0)], not_before))


HISTORIES = st.lists(st.tuples(st.sampled_from(PHASES), st.floats(-1e6, 1e6)), max_size=12)


@settings(deadline=None)
@given(st.lists(st.tuples(HISTORIES, st.one_of(st.none(), st.text(max_size=30), st.just(utc_text(START)))), max_size=6))
def test_any_histories_parse_and_no_record_is_lost(histories: list[tuple[History, str | None]]) -> None:
    found = metrics(*(record(history, not_before) for history, not_before in histories))
    assert sum(found[f"records {phase}"] for phase in PHASES) == len(histories)
    assert all(value >= 0 for value in found.values())
