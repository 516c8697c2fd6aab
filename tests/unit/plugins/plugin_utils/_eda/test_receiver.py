# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rates, repeated messages and new events, by a clock of the test."""

from __future__ import annotations

import dataclasses
import json
import uuid
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.changes import Change
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.message import cloud_event
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.messages import deliveries
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.receiving.memory import MOST_SENDERS, Memory, Rate
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.receiving.receiver import ALL, NEW_EVENTS, Limits, Receiver

NOON = "2026-11-25T12:00:00Z"
LIMITS = Limits()
# For tests of the other limits by the events of one sender.
MANY = Limits(most_new_events_per_sender=10**6)


def guid(number: int) -> str:
    return str(uuid.UUID(int=number))


def message(vm: str = "web1", number: int = 1, status: str = "Scheduled", kind: str = "listed") -> dict[str, Any]:
    return cloud_event(Change(kind, {"event_id": guid(number), "event_status": status, "resources": [vm]}), {"name": vm}, 1, NOON)


def resource(number: int, status: str = "Scheduled", names: tuple[str, ...] = ("web1",)) -> dict[str, Any]:
    return {"properties": {"EventId": guid(number), "EventStatus": status, "Resources": list(names)}}


def event_grid(resources: list[dict[str, Any]], sender: str = "web1") -> dict[str, Any]:
    return {"eventType": "microsoft.maintenance/scheduledevents/Write", "id": "1", "subject": sender, "data": {"resources": resources}}


def news(shapes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [shape for shape in shapes if shape["news"]]


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


def test_a_forged_copy_with_other_names_does_not_make_the_real_message_a_repetition():
    receiver, real = Receiver(), message("web1")
    forged = {**real, "data": {**real["data"], "event": {**real["data"]["event"], "resources": ["liar"]}}}
    assert [shape["vms"] for shape in receiver.receive(forged, LIMITS, 0)] == [["liar"]]
    assert [shape["vms"] for shape in receiver.receive(real, LIMITS, 1)] == [["liar", "web1"]]
    assert receiver.receive(real, LIMITS, 2) == []


class Visited(list):  # type: ignore[type-arg]
    """A list that knows how many of its items were visited."""

    visits = 0

    def __iter__(self) -> Any:
        for item in list.__iter__(self):
            self.visits += 1
            yield item


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The length of each text that is parsed."""
    lengths: list[int] = []
    real = deliveries.load_bounded

    def load(text: str, *given: Any) -> Any:
        lengths.append(len(text))
        return real(text, *given)

    monkeypatch.setattr(deliveries, "load_bounded", load)
    return lengths


NEARLY_ALL = deliveries.BYTES - 4096
DELIVERIES = 60


def deliver(receiver: Receiver, delivery: Any, limits: Limits = LIMITS, now: float = 0) -> list[dict[str, Any]]:
    return [shape for _one in range(DELIVERIES) for shape in receiver.receive(delivery, limits, now)]


def test_large_texts_of_a_sender_are_parsed_as_far_as_its_rate_goes(parsed: list[int]):
    receiver = Receiver()
    text = '{"source": "liar", "type": "' + "x" * NEARLY_ALL + '"}'
    shapes = deliver(receiver, {"payload": text, "meta": {"headers": {"X-Sender": "liar"}}}, PROVEN)
    assert sum(parsed) <= PROVEN.bytes_per_minute
    assert [shape["dropped"] for shape in shapes if shape["form"] == "dropped"] == [1]
    # The others have what is theirs.
    assert [shape["new_event"] for shape in receiver.receive(through_proxy(message(), x_sender="web1"), PROVEN, 1)] == [True]
    parsed.clear()
    deliver(receiver, {"payload": text, "meta": {"headers": {"X-Sender": "liar"}}}, PROVEN, 60)
    assert 0 < sum(parsed) <= PROVEN.bytes_per_minute


def test_large_texts_that_name_no_sender_are_parsed_as_far_as_the_rate_of_all_goes(parsed: list[int]):
    receiver = Receiver()
    deliver(receiver, {"body": '"' + "x" * NEARLY_ALL + '"'})
    assert 0 < sum(parsed) <= LIMITS.bytes_in_all_per_minute < DELIVERIES * NEARLY_ALL


def test_a_text_in_a_text_is_counted_twice(parsed: list[int]):
    receiver, text = Receiver(), "x" * (NEARLY_ALL // 2)
    for _layer in range(3):
        text = json.dumps({"body": text})
    deliver(receiver, {"body": text})
    assert 0 < sum(parsed) <= LIMITS.bytes_in_all_per_minute


def test_objects_of_a_sender_are_looked_through_as_far_as_its_rate_goes():
    values = Visited([0] * (NEARLY_ALL // deliveries.VALUE))
    deliver(Receiver(), {"payload": {"source": "liar", "data": values}})
    assert 0 < values.visits <= LIMITS.bytes_per_minute // deliveries.VALUE


def test_more_values_than_one_delivery_may_have_are_not_looked_through():
    values = Visited([0] * (deliveries.BYTES // deliveries.VALUE + 1))
    (shape,) = Receiver().receive({"payload": {"source": "liar", "data": values}}, LIMITS, 0)
    assert (shape["form"], values.visits) == ("unknown", 0)


def test_a_text_of_more_values_than_one_delivery_may_have_is_not_parsed(parsed: list[int]):
    (shape,) = Receiver().receive({"body": "[" + "0," * 100_000 + "0]"}, LIMITS, 0)
    assert (shape["form"], parsed) == ("unknown", [])


def test_beyond_its_rate_of_messages_nothing_of_a_sender_is_read(parsed: list[int]):
    delivery = {"payload": '{"source": "liar"}', "meta": {"headers": {"X-Sender": "liar"}}}
    deliver(Receiver(), delivery, PROVEN)
    assert len(parsed) == PROVEN.most_per_minute


def test_without_the_proxys_word_nothing_is_read(parsed: list[int]):
    deliver(Receiver(), {"payload": '{"source": "liar"}'}, PROVEN)
    assert parsed == []


PROVEN = Limits(sender_header="X-Sender")


def through_proxy(one: dict[str, Any], **headers: Any) -> dict[str, Any]:
    return {"payload": one, "meta": {"endpoint": "", "headers": {name.replace("_", "-"): value for name, value in headers.items()}}}


def test_a_sender_that_a_proxy_has_verified_cannot_use_up_what_another_has():
    receiver = Receiver()
    # Many names, and that of the VM that is to be silenced.
    lies = [
        through_proxy({**message(number=number), "source": source}, x_sender="liar")
        for number in range(20)
        for source in ("a", "urn:maintenance.azure:vm:web1")
    ]
    shapes = [shape for lie in lies for shape in receiver.receive(lie, PROVEN, 0)]
    assert {shape["sender"] for shape in shapes} == {"liar"}
    assert sum(shape["new_event"] for shape in shapes) == LIMITS.most_new_events_per_sender and "dropped" in forms(shapes)
    assert [shape["new_event"] for shape in receiver.receive(through_proxy(message(number=99), X_Sender=" web1 "), PROVEN, 1)] == [True]


@pytest.mark.parametrize("headers", [{}, {"x_sender": ""}, {"x_sender": " "}, {"x_sender": 7}, {"x_sender": "web1", "X_SENDER": "web2"}, {"x_other": "web1"}])
def test_without_the_proxys_word_nothing_is_news(headers: dict[str, Any]):
    (shape,) = Receiver().receive(through_proxy(message(), **headers), PROVEN, 0)
    assert (shape["form"], shape["news"]) == ("unknown", False) and "no header X-Sender" in shape["problem"]


@pytest.mark.parametrize("delivery", [None, [], "text", message(), {"payload": message()}, {"payload": message(), "meta": None}])
def test_a_delivery_without_headers_is_no_news_either(delivery: Any):
    assert news(Receiver().receive(delivery, PROVEN, 0)) == []


def named(vm: str, *names: str, kind: str = "changed") -> dict[str, Any]:
    return cloud_event(Change(kind, {"event_id": guid(1), "event_status": "Scheduled", "resources": list(names)}), {"name": vm}, 1, NOON)


def runs(receiver: Receiver, *messages: tuple[float, dict[str, Any]], limits: Limits = LIMITS) -> list[tuple[str, bool, list[str]]]:
    shapes = [shape for at, one in messages for shape in receiver.receive(one, limits, at)]
    return [(shape["run"].partition("/")[2], shape["new_run"], shape["vms"]) for shape in shapes if shape["news"]]


def test_vms_that_a_lasting_run_may_not_look_at_get_one_beside_it():
    """A VM that is first to tell of an event of others, and names itself alone, holds their run up for a minute and not for two hours."""
    receiver = Receiver()
    assert runs(receiver, (0, named("liar", "liar"))) == [("", True, ["liar"])]
    assert runs(receiver, (1, named("web1", "web1", "web2"))) == [("", False, ["liar", "web1", "web2"])]
    # The watcher repeats it, because no record shows a run.
    assert runs(receiver, (61, named("web1", "web1", "web2"))) == [("2", True, ["liar", "web1", "web2"])]
    # From now on that one serves the event, and nothing that it looks at starts another.
    assert runs(receiver, (300, named("web2", "web1", "web2")), (301, named("liar", "liar"))) == [("2", False, ["liar", "web1", "web2"])] * 2
    # No more than three, however many names come.
    later = [(400.0 + 100 * number, named(f"liar{number}", f"name{number}")) for number in range(5)]
    assert [(run, new) for run, new, _vms in runs(receiver, *later)] == [("3", True)] + [("3", False)] * 4


def test_one_sender_does_not_use_up_the_runs_of_an_event():
    """One that tells first, and names another VM with each minute, leaves a run for the VM that is heard late."""
    receiver = Receiver()
    liars = runs(receiver, (0, named("liar", "liar")), (61, named("liar", "liar", "web8")), (122, named("liar", "liar", "web9")))
    assert [(run, new) for run, new, _vms in liars] == [("", True), ("2", True), ("2", False)]
    assert runs(receiver, (123, named("web1", "web1"))) == [("3", True, ["liar", "web1", "web8", "web9"])]


def test_no_run_begins_beside_one_that_looks_at_all_or_at_the_same_vms():
    receiver = Receiver()
    both = ["web1", "web2"]
    assert runs(receiver, (0, named("web1", *both)), (100, named("web2", *reversed(both)))) == [("", True, both), ("", False, both)]
    # Names that do not suffice mean all VMs, which the run does not look at.
    assert runs(receiver, (200, named("web1", "a b"))) == [("2", True, [])]
    assert runs(receiver, (300, named("web3", "web3"))) == [("2", False, [])]


def test_runs_beside_others_count_as_new_events_of_their_sender():
    receiver, limits = Receiver(), Limits(most_new_events_per_sender=1)
    assert runs(receiver, (0, named("liar", "liar")), (70, named("liar", "x")), limits=limits) == [("", True, ["liar"]), ("", False, ["liar", "x"])]
    assert runs(receiver, (80, named("web1", "web1")), limits=limits) == [("2", True, ["liar", "web1", "x"])]


def test_a_sender_beyond_its_rate_is_dropped_and_reported_once_a_minute():
    receiver = Receiver()
    found = [receiver.receive(message(number=number), MANY, number / 1000) for number in range(1000)]
    assert [len(shapes) for shapes in found] == [1] * 31 + [0] * 969
    assert forms(found[30]) == ["dropped"] and found[30][0]["dropped"] == 1 and "web1" in found[30][0]["problem"]
    # Others are served meanwhile.
    assert forms(receiver.receive(message("web2", number=5000), MANY, 2)) == ["watcher"]
    # The minute after, the sender is served again, and what was dropped in between is reported with the next drop.
    later = [receiver.receive(message(number=2000 + number), MANY, 61) for number in range(31)]
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
        last = receiver.receive(message(number=number), MANY, 0)
    assert forms(last) == ["dropped"]
    assert [shape["new_event"] for shape in receiver.receive(message(number=30), MANY, 60)] == [True]


def test_memory_is_bounded():
    rate, memory = Rate(), Memory(most=100)
    for number in range(MOST_SENDERS + 500):
        assert rate.admit(str(number), 1, 0.0)
        memory.add(str(number), 0.0)
    assert len(rate._counts) == MOST_SENDERS and len(memory._seen) == 100
    assert memory.within(str(MOST_SENDERS + 499), 1, 0.5) and not memory.within("0", 1, 0.5)


def test_the_events_of_one_message_count_like_messages():
    receiver = Receiver()
    limits = dataclasses.replace(MANY, most_per_minute=10)
    shapes = receiver.receive(event_grid([resource(number) for number in range(12)]), limits, 0)
    assert len(news(shapes)) == 10 and forms(shapes)[10:] == ["dropped"]
    assert "web1: more than 10 in a minute" in shapes[10]["problem"]
    assert news(receiver.receive(event_grid([resource(50)]), limits, 1)) == []
    # All senders together: two messages of 10 events each.
    receiver, limits = Receiver(), dataclasses.replace(MANY, most_in_all_per_minute=15)
    found = [receiver.receive(event_grid([resource(10 * vm + number) for number in range(10)], f"vm{vm}"), limits, 0) for vm in range(2)]
    assert [len(news(shapes)) for shapes in found] == [10, 5] and "all senders" in found[1][5]["problem"]


def test_one_message_gives_one_shape_for_each_event():
    resources = [resource(1, f"Status{number}", (f"vm{number}",)) for number in range(1000)]
    (shape,) = Receiver().receive(event_grid(resources), LIMITS, 0)
    assert (shape["news"], shape["event_status"], len(shape["resources"])) == (True, "Status0", 1000)
    # More names than a run looks at: it looks at all.
    assert shape["vms"] == []
    (shape,) = Receiver().receive(event_grid([resource(1, names=("web1", "web2")), resource(1, names=("web2", "db1"))]), LIMITS, 0)
    assert (shape["resources"], shape["vms"]) == (["web1", "web2", "db1"], ["db1", "web1", "web2"])


def test_a_resource_without_names_leaves_the_names_of_its_event_open():
    (shape,) = Receiver().receive(event_grid([resource(1, names=("web1",)), resource(1, names=())]), LIMITS, 0)
    assert (shape["resources"], shape["vms"]) == ([], [])


def test_the_ids_of_all_resources_of_an_event_are_kept():
    ids = [f"/subscriptions/s/virtualMachines/vm{number % 2}" for number in range(4)]
    (shape,) = Receiver().receive(event_grid([{**resource(1), "resourceId": found} for found in ids]), LIMITS, 0)
    assert shape["resource_ids"] == ids[:2]


def test_more_events_than_a_message_may_have_are_dropped_and_reported_once_a_minute():
    receiver, limits = Receiver(), dataclasses.replace(MANY, most_per_minute=1000, most_new_events_per_minute=1000)
    message = event_grid([resource(number) for number in range(1500)])
    shapes = receiver.receive(message, limits, 0)
    assert [shape["event_id"] for shape in news(shapes)] == [guid(number) for number in range(deliveries.EVENTS)]
    (report,) = shapes[deliveries.EVENTS :]
    assert (report["form"], report["dropped"]) == ("dropped", 1500 - deliveries.EVENTS)
    assert "web1: more than 32 events or 1000 resources in a message" in report["problem"]
    assert receiver.receive(message, limits, 59) == []
    assert [shape["dropped"] for shape in receiver.receive(message, limits, 119) if shape["form"] == "dropped"] == [2 * (1500 - deliveries.EVENTS)]
    # A later resource of an event that is read is read as well.
    (*events, last) = news(Receiver().receive(event_grid([resource(number) for number in (*range(40), 31)]), limits, 0))
    assert len(events) == 31 and last["event_id"] == guid(31)


def test_no_sender_has_the_name_of_what_all_have_together():
    receiver = Receiver()
    limits = dataclasses.replace(MANY, most_in_all_per_minute=35, most_new_events_per_minute=31)
    for name in (ALL, NEW_EVENTS):
        assert len(news([shape for number in range(15) for shape in receiver.receive({**message(number=number), "source": name}, limits, 0)])) == 15
    assert news(receiver.receive(message("web2", number=20), limits, 0))


def test_many_senders_do_not_push_the_count_of_all_out_of_the_memory():
    receiver, limits = Receiver(), dataclasses.replace(MANY, most_new_events_per_minute=1)
    assert news(receiver.receive(message(number=1), limits, 0))
    for number in range(MOST_SENDERS + 1):
        receiver.receive({"source": f"liar{number}"}, limits, 1)
    assert news(receiver.receive(message("web2", number=2), dataclasses.replace(MANY, most_in_all_per_minute=10**6, most_new_events_per_minute=1), 2)) == []


def test_new_events_of_one_sender():
    receiver = Receiver()
    found = [receiver.receive(message(number=number), LIMITS, number) for number in range(25)]
    assert [forms(shapes) for shapes in found] == [["watcher"]] * 4 + [["dropped"]] + [[]] * 20
    assert "web1: more than 4 new events in an hour" in found[4][0]["problem"]
    # Other senders are served meanwhile, and tell of the events that this one could not: then its news of them is passed on.
    assert [shape["new_event"] for shape in receiver.receive(message("web2", number=4), LIMITS, 30)] == [True]
    assert [shape["new_event"] for shape in receiver.receive(message(number=4), LIMITS, 30)] == [False]
    # Repeated an hour after the first, what was dropped is new.
    assert news(receiver.receive(message(number=5), LIMITS, 3599)) == []
    later = [receiver.receive(message(number=number), LIMITS, 3600) for number in range(5, 10)]
    assert [[shape["new_event"] for shape in news(shapes)] for shapes in later] == [[True]] * 4 + [[]]
    # The drops since the report of second 3599.
    assert [shape["dropped"] for shape in receiver.receive(message(number=11), LIMITS, 3660)] == [2]


def test_events_of_a_sender_count_again_after_an_hour():
    """Or it could collect events for hours, and start the runs of all of them in one minute."""
    receiver = Receiver()
    for number in range(12):
        assert news(receiver.receive(message(number=number), LIMITS, number // 4 * 3600))
    # Those of this hour go on, and no others.
    at = 2 * 3600 + 120
    assert [number for number in range(12) if news(receiver.receive(message(number=number, kind="changed"), LIMITS, at))] == [8, 9, 10, 11]
    # Another sender's news of them, and this one's of another's, are not counted.
    assert news(receiver.receive(message("web2", number=1, kind="changed"), LIMITS, at))
    assert news(receiver.receive(message("web2", number=99), LIMITS, at)) and news(receiver.receive(message(number=99), LIMITS, at + 1))
    later = at + 3600
    assert [number for number in range(12) if news(receiver.receive(message(number=number, kind="gone"), LIMITS, later))] == [0, 1, 2, 3]


def test_new_events_in_one_message_are_counted_for_their_sender():
    shapes = Receiver().receive(event_grid([resource(number) for number in range(25)]), LIMITS, 0)
    assert forms(shapes) == ["event_grid"] * 4 + ["dropped"]


def test_new_events_without_a_sender_share_a_count():
    receiver = Receiver()
    found = [receiver.receive({**message(number=number), "source": None}, LIMITS, 0) for number in range(6)]
    assert [len(news(shapes)) for shapes in found] == [1] * 4 + [0] * 2


def test_a_flood_of_others_does_not_use_up_what_a_sender_has():
    receiver, limits = Receiver(), Limits(most_new_events_per_minute=1)
    assert news(receiver.receive(message("liar", number=100), limits, 0))
    for second in range(10):
        assert news(receiver.receive(message(number=1), limits, second)) == []
    for number in range(4):
        assert news(receiver.receive(message(number=number), LIMITS, 59))


def test_new_events_of_a_sender_do_not_use_up_what_all_have():
    receiver, limits = Receiver(), Limits(most_new_events_per_minute=5)
    for number in range(25):
        receiver.receive(message("liar", number=number), limits, 0)
    assert news(receiver.receive(message(number=100), limits, 0))


def test_the_memory_of_new_events_is_bounded():
    receiver, limits = Receiver(), Limits(most_in_all_per_minute=10**6, most_new_events_per_minute=10**6)
    for number in range(MOST_SENDERS + 5):
        assert news(receiver.receive({**message(number=number), "source": f"liar{number}"}, limits, 0))
    assert len(receiver._senders_new_events._counts) == MOST_SENDERS
