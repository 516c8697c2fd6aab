# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The asker: one request a second, whatever is answered; each change goes into the spool once, and one problem is one line."""

from __future__ import annotations

import json
import os
import pathlib
import types
import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.errors import ScheduledEventsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.client import Client
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.ask.asker import (
    IDENTITY_PAUSE,
    LATER_TIMEOUT,
    LONGEST_PAUSE,
    Asker,
    Stores,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.ask.due_triggers import AGAIN_SECONDS, DueTriggers
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.ask.known import KnownStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.ask.state import HEARTBEAT_SECONDS, State
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.drain.triggers import Triggers
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.settings import Settings
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.shared_folder import SharedFolder
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.spool import Spool
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import FakeHost
from ansible_collections.maintenance.azure.tests.unit.plugins.support import FakeClock, FakeTransport, document, raw_event, started

INSTANCE = '{"compute":{"name":"vm_0","vmId":"id-0","resourceId":"/subscriptions/s/vm_0"}}'
NEVER = ScheduledEventsError("nothing listens", "no_answer", retryable=True)


class Case:
    """An asker over a script of answers, in folders of its own."""

    def __init__(self, folder: pathlib.Path, *script: t.Any, instance: t.Any = INSTANCE, **settings: t.Any) -> None:
        self.run, self.kept = folder / "run", folder / "state"
        for path in (self.run, self.kept):
            path.mkdir(exist_ok=True)
        self.clock, self.host = FakeClock(), FakeHost()
        self.transport = FakeTransport(*script, clock=self.clock, instance=instance)
        self.warnings: list[str] = []
        self.alive: list[str] = []
        client = Client(self.transport, retries=0, clock=self.clock, warn=self.warnings.append)
        self.spool = Spool(SharedFolder(str(self.kept)))
        self.state = State(SharedFolder(str(self.run)), t.cast(t.Any, self.host))
        self.metrics: list[dict[str, t.Any]] = []
        metrics = types.SimpleNamespace(write=lambda values: self.metrics.append(dict(values)))
        (folder / "triggers").mkdir(exist_ok=True)
        given = Settings(**{"tell_folder": str(folder), "drain_folder": str(folder / "triggers"), **settings})
        self.triggers = Triggers(given.drain_folder)
        due_triggers = DueTriggers(self.triggers, given, t.cast(t.Any, self.host), self.clock, self.warnings.append)
        stores = Stores(KnownStore(SharedFolder(str(self.kept))), self.spool, self.state, metrics, due_triggers)
        self.asker = Asker(client, given, stores, t.cast(t.Any, self.host), self.clock, self.alive.append)

    def ticks(self, number: int) -> None:
        left = iter(range(number))
        self.asker.run(lambda: next(left, None) is None)

    @property
    def told(self) -> list[tuple[str, str]]:
        messages = [self.spool.read(entry) or {} for entry in self.spool.entries()]
        return [(message["type"].rpartition(".")[2], message["data"]["event"]["event_status"]) for message in messages]

    @property
    def written(self) -> dict[str, t.Any]:
        content: dict[str, t.Any] = json.loads((self.run / "state.json").read_text())
        return content


def test_it_asks_once_a_second_over_any_time(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path, document(1))
    case.ticks(100)
    assert len([path for _method, path, _body in case.transport.requests if "scheduledevents" in path]) == 100
    assert case.clock.passed == pytest.approx(100)
    assert case.written["problem"] is None and case.written["vm_name"] == "vm_0"
    assert len(case.alive) == 100


def test_an_event_is_told_when_it_is_listed_started_and_gone(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path, document(1), document(2, raw_event()), document(2, raw_event()), document(3, started()), document(4))
    case.ticks(20)
    assert case.told == [("listed", "Scheduled"), ("changed", "Started"), ("gone", "Started")]
    assert case.written["messages_waiting"] == 3
    message = case.spool.read(case.spool.entries()[0]) or {}
    assert message["data"]["vm"] == {"name": "vm_0", "vm_id": "id-0", "resource_id": "/subscriptions/s/vm_0"}
    assert message["data"]["document_incarnation"] == 2


def test_after_a_restart_nothing_is_told_twice(tmp_path: pathlib.Path) -> None:
    Case(tmp_path, document(2, raw_event())).ticks(1)
    again = Case(tmp_path, document(2, raw_event()), document(3, started()))
    again.ticks(3)
    assert again.told == [("listed", "Scheduled"), ("changed", "Started")]


def test_what_ended_while_it_was_down_is_told_as_gone(tmp_path: pathlib.Path) -> None:
    Case(tmp_path, document(2, raw_event())).ticks(1)
    again = Case(tmp_path, document(1))
    again.ticks(12)
    assert again.told == [("listed", "Scheduled"), ("gone", "Scheduled")]


def test_a_kill_between_spool_and_note_tells_the_same_message(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(tmp_path, document(2, raw_event()))
    monkeypatch.setattr(KnownStore, "write", lambda self, known: (unused for unused in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        case.ticks(1)
    monkeypatch.undo()
    again = Case(tmp_path, document(2, raw_event()))
    again.ticks(2)
    assert again.told == [("listed", "Scheduled")]


def test_events_of_other_vms_are_left_to_them(tmp_path: pathlib.Path) -> None:
    other = document(2, raw_event(Resources=["vm_1"]))
    case = Case(tmp_path, other)
    case.ticks(1)
    assert case.told == [] and case.written["events"][0]["affects_this_vm"] is False
    (tmp_path / "any").mkdir()
    anybody = Case(tmp_path / "any", other, tell_about="any")
    anybody.ticks(1)
    assert anybody.told == [("listed", "Scheduled")]


def test_while_its_name_is_unknown_every_event_may_be_its_own(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path, document(2, raw_event(Resources=["vm_1"])), instance=(500, "trouble"))
    case.ticks(int(IDENTITY_PAUSE) * 2)
    assert case.told == [("listed", "Scheduled")]
    asked = [path for _method, path, _body in case.transport.requests if "instance" in path]
    # The name is asked for now and then, not with each request: the allowance is five a second.
    assert len(asked) == 2


def test_a_given_name_counts(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path, document(2, raw_event(Resources=["VM_1"])), instance=(500, "trouble"), vm_name="vm_1")
    case.ticks(1)
    assert case.told == [("listed", "Scheduled")] and case.written["vm_name"] == "vm_1"


def test_without_a_place_to_tell_nothing_is_kept_waiting(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path, document(2, raw_event()), tell_folder=None)
    case.ticks(3)
    assert case.told == [] and [event["event_status"] for event in case.written["events"]] == ["Scheduled"]


@pytest.mark.parametrize(
    "trouble",
    [NEVER, (500, "no"), (429, "slow down"), (410, "updating"), (404, "none"), (200, ""), (200, "<html>"), (200, '{"Events": 7}'), (400, "bad"), (405, "no")]
    + [ScheduledEventsError("late", "timeout"), ScheduledEventsError("reset", "connection_lost", retryable=True)],
)
def test_no_trouble_ends_it_and_none_is_no_events(tmp_path: pathlib.Path, trouble: t.Any) -> None:
    case = Case(tmp_path, document(2, raw_event()), *[trouble] * 30, document(2, raw_event()))
    case.ticks(20)
    assert case.told == [("listed", "Scheduled")]
    assert "no usable answer" in case.written["problem"] and case.written["problem_since"]
    assert len([line for line in case.warnings if "no usable answer" in line]) == 1
    pauses = case.clock.sleeps[1:]
    assert max(pauses) <= LONGEST_PAUSE and pauses[-1] == LONGEST_PAUSE
    case.ticks(12)
    assert case.written["problem"] is None and case.told == [("listed", "Scheduled")]


def test_only_the_first_answer_may_take_two_minutes(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path, document(1))
    client = case.asker._client
    assert client.request_timeout == 125.0
    case.ticks(2)
    assert client.request_timeout == LATER_TIMEOUT


def test_a_slow_answer_is_followed_at_once_and_not_by_a_burst(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path, document(1))
    waits = iter([5.5] + [0.0] * 10)

    def slow() -> str:
        case.clock.passed += next(waits)
        return document(1)

    case.transport.script = [slow]
    case.ticks(4)
    # The pause after the slow answer is left out; the seconds that it took are not made up for.
    assert case.clock.sleeps == [0.0, 1.0, 1.0, 1.0]


def test_the_heartbeat_is_written_every_ten_seconds_and_news_at_once(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path, *[document(1)] * 5, document(2, raw_event()))
    case.ticks(1)
    first = (case.run / "state.json").stat().st_mtime_ns
    case.ticks(3)
    assert (case.run / "state.json").stat().st_mtime_ns == first
    case.ticks(2)
    assert case.written["document_incarnation"] == 2
    seen = case.written["requests"]
    case.ticks(int(HEARTBEAT_SECONDS) + 1)
    assert case.written["requests"] > seen


def test_metrics_are_written_with_each_heartbeat_and_at_once_with_news(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path, *[document(1)] * 5, document(2, raw_event()), NEVER)
    case.ticks(5)
    assert len(case.metrics) == 1
    case.ticks(1)
    assert len(case.metrics) == 2 and case.metrics[1]["events"] and case.metrics[1]["messages_waiting"] == 1
    case.ticks(1)
    assert len(case.metrics) == 3 and "no usable answer" in case.metrics[2]["problem"]
    before = case.clock.passed
    case.ticks(20)
    # Another one for each ten seconds, in which a VM without answers asks less often.
    assert len(case.metrics) - 3 == pytest.approx((case.clock.passed - before) / HEARTBEAT_SECONDS, abs=2)


def test_a_state_that_cannot_be_written_does_not_stop_the_metrics(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(tmp_path, document(1))
    monkeypatch.setattr(State, "write", lambda self, now: (unused for unused in ()).throw(OSError(28, "No space left on device")))
    case.ticks(1)
    assert len(case.metrics) == 1 and "No space left" in case.metrics[0]["problem"]


def test_a_full_disk_is_said_once_and_nothing_is_lost(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(tmp_path, document(2, raw_event()))

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        case.ticks(5)
    assert case.told == [] and "No space left" in case.written["problem"]
    assert len([line for line in case.warnings if "No space left" in line]) == 1
    case.ticks(1)
    assert case.told == [("listed", "Scheduled")] and case.written["problem"] is None


def test_a_clock_step_changes_no_pause(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path, document(1))
    case.ticks(3)
    case.host.seconds -= 86400 * 365
    case.ticks(3)
    assert case.clock.passed == pytest.approx(6)


def test_a_liar_cannot_make_it_grow(tmp_path: pathlib.Path) -> None:
    """Another set of 1,000 events in each answer: the spool and the state stay bounded."""
    number = iter(range(10**6))

    def lie() -> str:
        return document(next(number), *[raw_event(EventId=f"E{next(number)}", Description="x" * 200) for _event in range(600)])

    case = Case(tmp_path, lie)
    case.ticks(3)
    files = list(case.kept.iterdir())
    assert len(files) <= 1002
    assert sum(path.stat().st_size for path in files if path.suffix == ".waiting") <= 4 * 1024 * 1024
    assert case.written["messages_dropped"] > 0


PREEMPT = {"EventType": "Preempt", "EventId": "C7061BAC-AFDC-4513-B24B-AA5F13A16123"}


def test_a_preempt_asks_for_a_drain_at_once_and_again_while_it_is_listed(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path, document(1, raw_event(**PREEMPT)), drain_types=["Preempt"])
    case.ticks(1)
    assert case.triggers.take() == [PREEMPT["EventId"].lower()]
    case.triggers.remove(PREEMPT["EventId"].lower())
    case.ticks(int(AGAIN_SECONDS) - 1)
    assert case.triggers.take() == []
    case.ticks(2)
    assert case.triggers.take() == [PREEMPT["EventId"].lower()]


def test_what_is_not_due_not_its_own_or_not_wanted_asks_for_nothing(tmp_path: pathlib.Path) -> None:
    events = [raw_event(), raw_event(**{**PREEMPT, "Resources": ["vm_1"]})]
    case = Case(tmp_path, document(1, *events), drain_types=["Preempt", "Reboot"])
    case.ticks(30)
    assert case.triggers.take() == []
    other = Case(tmp_path, document(1, raw_event(**PREEMPT)))
    other.ticks(3)
    assert other.triggers.take() == []


def test_an_id_that_is_no_guid_is_reported_once_and_makes_no_file(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path, document(1, raw_event(**{**PREEMPT, "EventId": "../../etc/x"})), drain_types=["Preempt"])
    case.ticks(30)
    assert case.triggers.take() == [] and len([line for line in case.warnings if "no GUID" in line]) == 1


def test_a_folder_of_triggers_that_is_missing_keeps_no_news_back(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path, document(1, raw_event(**PREEMPT)), drain_types=["Preempt"])
    (tmp_path / "triggers").rmdir()
    case.ticks(3)
    assert case.told == [("listed", "Scheduled")]
    assert "triggers" in case.written["problem"]
    (tmp_path / "triggers").mkdir()
    case.ticks(2)
    assert case.written["problem"] is None and case.triggers.take() == [PREEMPT["EventId"].lower()]
