# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told about one endpoint, by a script of its answers and a clock of the test."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.errors import ScheduledEventsError
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.asking.endpoints import read_options
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.asking.watching import EndpointWatch
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.messages.normalizing import normalized
from ansible_collections.maintenance.azure.tests.unit.plugins.support import EVENT_ID, FakeClock, FakeTransport, document, raw_event, started

EMPTY = document(1)
LISTED = document(2, raw_event())
STARTED = document(3, started())
FAILS = ScheduledEventsError("nothing listens", "no_answer", retryable=True)


class Watch:
    """A watch, and what it told since the last look."""

    def __init__(self, *script: Any) -> None:
        self.clock = FakeClock()
        options = read_options({"endpoints": [{"name": "web1", "endpoint": "http://127.0.0.1:1"}], "interval": 5, "repeat_seconds": 300})
        self.watch = EndpointWatch(options.endpoints[0], options, self.clock, FakeTransport(*script))
        self.pauses: list[float] = []

    def ask(self, times: int = 1) -> list[str]:
        found = []
        for unused in range(times):
            told = self.watch.ask()
            self.clock.sleep(told.pause)
            self.pauses.append(told.pause)
            found += [message["type"].partition("azure.")[2] for message in told.messages]
        return found


def test_an_event_from_its_listing_to_its_end():
    watch = Watch(EMPTY, LISTED, LISTED, STARTED, STARTED, EMPTY, EMPTY)
    assert watch.ask(1) == []
    assert watch.ask(2) == ["scheduled_event.listed"]
    assert watch.ask(2) == ["scheduled_event.changed"]
    assert watch.ask(2) == ["scheduled_event.gone"]
    assert set(watch.pauses) == {5.0}


def test_what_is_listed_at_first_is_told():
    assert Watch(LISTED).ask() == ["scheduled_event.listed"]


def test_an_event_that_stays_is_told_again():
    watch = Watch(LISTED)
    assert watch.ask() == ["scheduled_event.listed"]
    assert watch.ask(59) == []
    assert watch.ask(2) == ["scheduled_event.listed"]
    assert watch.ask(58) == []


def test_a_failing_endpoint_is_reported_once_and_when_it_answers():
    watch = Watch(*[FAILS] * 10, EMPTY, EMPTY, FAILS, FAILS, EMPTY)
    assert watch.ask(2) == []
    assert watch.ask() == ["endpoint.failing"]
    assert watch.ask(7) == []
    assert watch.pauses[:5] == [10, 20, 40, 60, 60]
    assert watch.ask(2) == ["endpoint.answering"]
    # Two lost answers are no report, and no event is taken as gone.
    assert watch.ask(3) == []


def test_a_failure_is_no_empty_document():
    watch = Watch(LISTED, FAILS, "nonsense", "{}", LISTED)
    assert watch.ask(5) == ["scheduled_event.listed", "endpoint.failing", "endpoint.answering"]


@pytest.mark.parametrize("nonsense", ["", "[]", b"\xff", "[" * 100_000, (500, "x"), (200, document("x")), ZeroDivisionError(), '{"Events":[{}]}'])
def test_nonsense_is_a_failure(nonsense: Any):
    assert Watch(nonsense).ask(4) == ["endpoint.failing"]


def test_the_filter_reads_what_the_source_tells():
    told = Watch(LISTED).watch.ask().messages
    (shape,) = normalized(told[0]).shapes
    assert (shape["form"], shape["change"], shape["event_id"], shape["sender"]) == ("watcher", "listed", EVENT_ID.lower(), "urn:maintenance.azure:vm:web1")
    failing = Watch(FAILS).watch
    told = [message for unused in range(3) for message in failing.ask().messages]
    (shape,) = normalized(told[0]).shapes
    assert (shape["form"], shape["change"], shape["news"]) == ("endpoint", "failing", False) and "nothing listens" in shape["problem"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "endpoints must be a list"),
        ({"endpoints": []}, "endpoints must be a list"),
        ({"endpoints": ["web1"]}, "name and endpoint"),
        ({"endpoints": [{"name": "web1"}]}, "both texts"),
        ({"endpoints": [{"name": "", "endpoint": "http://127.0.0.1"}]}, "both texts"),
        ({"endpoints": [{"name": "web1", "endpoint": "http://127.0.0.1", "port": 1}]}, "resource_id"),
        ({"endpoints": [{"name": "web1", "endpoint": "http://127.0.0.1"}] * 2}, "more than once"),
        ({"endpoints": [{"name": f"web{number}", "endpoint": "http://127.0.0.1"} for number in range(501)]}, "the most are 500"),
        ({"interval": 0.5}, "interval"),
        ({"interval": "often"}, "interval"),
        ({"request_timeout": float("nan")}, "request_timeout"),
        ({"api_version": "1999-01-01"}, "api_version"),
        ({"endpoint": "http://127.0.0.1"}, "no option endpoint"),
    ],
)
def test_wrong_options(arguments: dict[str, Any], words: str):
    given = {"endpoints": [{"name": "web1", "endpoint": "http://127.0.0.1"}], **arguments} if arguments else {}
    with pytest.raises(ValueError, match=words):
        read_options(given)


def test_a_wrong_address():
    with pytest.raises(ScheduledEventsError, match="it must be http"):
        read_options({"endpoints": [{"name": "web1", "endpoint": "https://127.0.0.1"}]})
