# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rates, repeated messages and new events, by a clock of the test."""

from __future__ import annotations

import uuid
from typing import Any

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.changes import Change
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.message import cloud_event
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.receiving.memory import Memory
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.receiving.rates import MOST_SENDERS, Rate
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.receiving.receiver import Limits, Receiver

NOON = "2026-11-25T12:00:00Z"
LIMITS = Limits()


def guid(number: int) -> str:
    return str(uuid.UUID(int=number))


def message(vm: str = "web1", number: int = 1, status: str = "Scheduled", kind: str = "listed") -> dict[str, Any]:
    return cloud_event(Change(kind, {"event_id": guid(number), "event_status": status, "resources": [vm]}), {"name": vm}, 1, NOON)


def forms(shapes: list[dict[str, Any]]) -> list[str]:
    return [shape["form"] for shape in shapes]


def test_only_the_first_news_of_an_event_is_new():
    receiver = Receiver()
    assert [shape["new_event"] for shape in receiver.receive(message("web1"), LIMITS, 0)] == [True]
    assert [shape["new_event"] for shape in receiver.receive(message("web2"), LIMITS, 1)] == [False]
    assert [shape["new_event"] for shape in receiver.receive(message("web2", number=2), LIMITS, 1)] == [True]


def test_an_event_without_news_for_a_day_is_new_again():
    receiver = Receiver()
    assert [shape["new_event"] for shape in receiver.receive(message("web1"), LIMITS, 0)] == [True]
    assert [shape["new_event"] for shape in receiver.receive(message("web1"), LIMITS, 86399)] == [False]
    assert [shape["new_event"] for shape in receiver.receive(message("web1"), LIMITS, 2 * 86399)] == [False]
    assert [shape["new_event"] for shape in receiver.receive(message("web1"), LIMITS, 2 * 86399 + 86400)] == [True]


def test_a_message_twice_is_once_and_again_after_a_minute():
    receiver = Receiver()
    assert len(receiver.receive(message(), LIMITS, 0)) == 1
    assert receiver.receive(message(), LIMITS, 59) == []
    assert [shape["news"] for shape in receiver.receive(message(), LIMITS, 60)] == [True]


def test_other_news_with_the_id_of_another_message_is_news():
    receiver = Receiver()
    first = message()
    assert len(receiver.receive(first, LIMITS, 0)) == 1
    assert len(receiver.receive({**message(number=2), "id": first["id"]}, LIMITS, 0)) == 1
    assert len(receiver.receive({**message("web2"), "id": first["id"]}, LIMITS, 0)) == 1


def test_a_sender_beyond_its_rate_is_dropped_and_reported_once_a_minute():
    receiver = Receiver()
    found = [receiver.receive(message(number=number), LIMITS, number / 1000) for number in range(1000)]
    assert [len(shapes) for shapes in found] == [1] * 31 + [0] * 969
    assert forms(found[30]) == ["dropped"] and found[30][0]["dropped"] == 1 and "web1" in found[30][0]["problem"]
    # Others are served meanwhile.
    assert forms(receiver.receive(message("web2", number=5000), LIMITS, 2)) == ["watcher"]
    # The minute after, the sender is served again, and what was dropped in between is reported with the next drop.
    later = [receiver.receive(message(number=2000 + number), LIMITS, 61) for number in range(31)]
    assert [forms(shapes) for shapes in later] == [["watcher"]] * 30 + [["dropped"]]
    assert later[30][0]["dropped"] == 970


def test_all_senders_together():
    receiver = Receiver()
    found = [receiver.receive(message(f"vm{number}"), Limits(most_in_all_per_minute=50), 0) for number in range(60)]
    assert sum(bool(shapes) and shapes[0]["news"] for shapes in found) == 50
    assert forms(found[50]) == ["dropped"] and "all senders" in found[50][0]["problem"]


def test_new_events_of_all_senders_together():
    receiver = Receiver()
    found = [receiver.receive(message(f"vm{number}", number=number), LIMITS, 0) for number in range(100)]
    assert sum(bool(shapes) and shapes[0]["news"] for shapes in found) == 60
    assert "new events" in found[60][0]["problem"]
    # News of an event that is known already is passed on.
    assert forms(receiver.receive(message("other", number=3), LIMITS, 1)) == ["watcher"]


def test_messages_without_a_sender_share_a_rate():
    receiver = Receiver()
    found = [receiver.receive({"i": number}, LIMITS, 0) for number in range(40)]
    assert sum(forms(shapes) == ["unknown"] for shapes in found) == 30
    receiver = Receiver()
    found = [receiver.receive("no JSON", LIMITS, 0) for number in range(40)]
    assert sum(forms(shapes) == ["unknown"] for shapes in found) == 30


def test_a_dropped_message_is_passed_on_when_it_is_repeated():
    receiver = Receiver()
    for number in range(31):
        last = receiver.receive(message(number=number), LIMITS, 0)
    assert forms(last) == ["dropped"]
    assert [shape["new_event"] for shape in receiver.receive(message(number=30), LIMITS, 60)] == [True]


def test_memory_is_bounded():
    rate, memory = Rate(), Memory(most=100)
    for number in range(MOST_SENDERS + 500):
        assert rate.admit(str(number), 1, 0.0)
        memory.add(str(number), 0.0)
    assert len(rate._counts) == MOST_SENDERS and len(memory._seen) == 100
    assert memory.within(str(MOST_SENDERS + 499), 1, 0.5) and not memory.within("0", 1, 0.5)
