# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a pass asks its start gate: once, again after a minute, and only about what could wait."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import pass_loop
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop.observations import HostResults
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop.pass_loop import State
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config import start_when
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._loop.passes import SERVICE, observation, request
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import NOW, at, event, record

GATE = start_when.load({"url": "http://127.0.0.1:9/"})
YES, NO = {"go": True, "text": ""}, {"go": False, "text": "http://127.0.0.1:9/ answered 503"}


class Gated:
    """A pass with a start gate, whose answers are a script; the last one repeats."""

    def __init__(self, *answers: dict[str, Any], events: Any = None, records: Any = (), **more: Any) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []
        self.now = NOW
        self.observed: dict[str, Any] = observation("vm1", *records, events=[event()] if events is None else events)
        asked_for = request(**{"start_when": GATE, **more})
        self.state: State = pass_loop.begin(asked_for, ["vm1"], ["vm1"], {"vm1": {"drain_methods": [SERVICE]}}, self._results, NOW, self._ask)

    def _results(self, host: str) -> HostResults:
        return HostResults(self.observed, None, None, {})

    def _ask(self, asked_for: pass_loop.Request) -> dict[str, Any]:
        self.asked.append(asked_for)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def go_on(self, seconds: float) -> State:
        self.now += seconds
        self.observed = {**self.observed, "now": at(self.now - NOW)}
        self.state = pass_loop.go_on(self.state, self._results, self.now, self._ask)
        return self.state

    @property
    def acts(self) -> list[str]:
        return [step["action"] for step in self.state["plan"]["actions"]]


def test_a_no_holds_and_is_shown() -> None:
    its = Gated(NO)
    assert its.acts == ["write"]
    assert its.state["plan"]["events"][0]["reason"] == "start gate says no: http://127.0.0.1:9/ answered 503"
    assert its.asked[0]["start_when"] == GATE
    assert its.state["start_gate"] == {**NO, "asked_at": NOW}


def test_a_yes_lets_it_begin() -> None:
    its = Gated(YES)
    assert "acquire" in its.acts
    assert len(its.asked) == 1


@pytest.mark.parametrize("odd", [{"go": "yes", "text": ""}, {"go": 1}, {"go": None, "text": None}])
def test_only_a_clear_yes_is_yes(odd: dict[str, Any]) -> None:
    assert "acquire" not in Gated(odd).acts


def test_it_is_asked_again_after_a_minute_and_not_before() -> None:
    its = Gated(NO, YES)
    for _iteration in range(5):
        its.go_on(11)
    assert len(its.asked) == 1
    its.go_on(5)
    assert len(its.asked) == 2
    assert "acquire" in its.acts


def test_a_yes_counts_for_a_minute_too() -> None:
    its = Gated(YES, NO)
    its.go_on(59)
    assert "acquire" in its.acts
    its.go_on(1)
    assert "acquire" not in its.acts


def test_a_clock_that_was_set_back_asks_again() -> None:
    its = Gated(NO)
    its.go_on(-600)
    assert len(its.asked) == 2


@pytest.mark.parametrize(
    ("events", "records"),
    [
        ([], ()),
        ([event(due=100)], ()),
        ([event(status="Started")], ()),
        ([event()], [record("draining")]),
        ([], [record("gone", outcome="completed")]),
    ],
    ids=["nothing", "deadline", "started", "draining", "recovers"],
)
def test_it_is_not_asked_about_what_cannot_wait_or_does_not_begin(events: Any, records: Any) -> None:
    its = Gated(NO, events=events, records=records)
    assert its.asked == []
    assert its.state["start_gate"] == {}
    assert not events or "acquire" in its.acts


def test_what_is_at_its_deadline_goes_while_others_are_held() -> None:
    its = Gated(NO, events=[event("E1", due=100), event("E2", due=900)])
    assert [(step["action"], step["event_id"]) for step in its.state["plan"]["actions"] if step["action"] != "write"] == [("acquire", "E1")]


def test_without_a_gate_and_while_paused_nothing_is_asked() -> None:
    assert Gated(NO, start_when=None).asked == []
    settings = {**request()["settings"], "paused": {"who": "a", "why": "b", "until": at(3600)}}
    assert Gated(NO, settings=settings).asked == []


def test_a_pass_that_nobody_gave_a_way_to_ask_is_held() -> None:
    found = pass_loop.begin(request(start_when=GATE), ["vm1"], ["vm1"], {"vm1": {"drain_methods": [SERVICE]}}, Gated(NO)._results, NOW)
    assert [step["action"] for step in found["plan"]["actions"]] == ["write"]


def test_the_gate_of_the_settings_is_never_taken_for_an_answer() -> None:
    """The answer comes from asking alone."""
    its = Gated(NO, settings={**request()["settings"], "start_gate": {"go": True}})
    assert "acquire" not in its.acts
