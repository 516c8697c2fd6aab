# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Waiting: states, outcomes, faults on the way, and time that only the monotonic clock tells."""

from __future__ import annotations

import datetime
import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.errors import ScheduledEventsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.wait_for_scheduled_event import wait
from ansible_collections.maintenance.azure.tests.unit.plugins.support import (
    FakeClock,
    FakeTransport,
    document,
    fake_client,
    raw_event,
    started,
)

KEYS = {
    "changed",
    "outcome",
    "outcomes",
    "events",
    "document_incarnation",
    "elapsed",
    "polls",
    "failed_polls",
    "last_status",
    "last_error",
    "vm_name",
    "api_version",
    "endpoint",
    "endpoint_source",
}
COMING = raw_event(EventId="AB-1")
RUNNING = started(EventId="AB-1")
OTHER = raw_event(EventId="ab-2", Resources=["vm_9"])


class Waited:
    """One wait, its result and its warnings."""

    def __init__(self, state: str, *script: t.Any, instance: t.Any = '{"compute":{"name":"vm_0"}}', client: t.Any = None, **options: t.Any):
        self.clock = options.pop("clock", None) or FakeClock()
        self.transport = FakeTransport(*script, instance=instance, takes=options.pop("takes", 0.0))
        client, self.warnings = fake_client(self.transport, self.clock, **(client or {}))
        self.error: ScheduledEventsError | None = None
        try:
            self.result = wait(client, state, **options)
        except ScheduledEventsError as error:
            self.error = error
            self.result = error.result
        if self.result:
            assert set(self.result) == KEYS
            assert self.result["changed"] is False

    @property
    def outcome(self) -> str:
        return str(self.result["outcome"])

    @property
    def ids(self) -> list[str]:
        return [event["event_id"] for event in self.result["events"]]


# scheduled


def test_scheduled_matches_what_is_listed_already() -> None:
    waited = Waited("scheduled", document(2, COMING))
    assert (waited.outcome, waited.ids, waited.result["polls"], waited.result["elapsed"]) == ("matched", ["AB-1"], 1, 0.0)
    assert waited.result["events"][0]["affects_this_vm"] is True
    assert waited.result["last_status"] == "Scheduled"


def test_scheduled_waits_for_a_selected_event() -> None:
    waited = Waited("scheduled", document(1), document(2, OTHER), document(3, OTHER, COMING), selection={"affecting": "this_vm"})
    assert (waited.outcome, waited.ids, waited.result["polls"]) == ("matched", ["AB-1"], 3)
    assert waited.result["elapsed"] == 2.0
    assert waited.result["document_incarnation"] == 3


def test_scheduled_is_met_by_a_hardware_failure_that_starts_at_once() -> None:
    assert Waited("scheduled", document(2, RUNNING)).result["last_status"] == "Started"


def test_scheduled_can_leave_started_events_out() -> None:
    waited = Waited("scheduled", document(2, RUNNING), selection={"event_statuses": ["Scheduled"]}, timeout=3)
    assert waited.outcome == "timeout"


# started


def test_started_matches_when_the_event_has_started() -> None:
    waited = Waited("started", document(2, COMING, OTHER), document(3, RUNNING, OTHER))
    assert (waited.outcome, waited.ids, waited.result["last_status"]) == ("matched", ["AB-1"], "Started")


def test_started_ends_when_the_event_is_cancelled() -> None:
    waited = Waited("started", document(2, COMING), document(3), selection={"event_ids": ["ab-1"]})
    assert (waited.outcome, waited.result["polls"], waited.ids) == ("cancelled", 3, ["AB-1"])


def test_started_and_a_named_event_never_listed_is_not_seen() -> None:
    waited = Waited("started", document(2, OTHER), selection={"event_ids": ["AB-1"]})
    assert (waited.outcome, waited.result["polls"]) == ("not_seen", 2)


def test_started_without_names_waits_on_for_one_to_come() -> None:
    waited = Waited("started", document(1), document(1), document(1), document(2, RUNNING))
    assert (waited.outcome, waited.result["polls"]) == ("matched", 4)


# gone


def test_gone_needs_two_polls_in_a_row_without_it() -> None:
    waited = Waited("gone", document(3, RUNNING), document(4), document(5, RUNNING), document(6), document(6))
    assert (waited.outcome, waited.result["polls"], waited.result["elapsed"]) == ("completed", 5, 4.0)
    assert waited.ids == ["AB-1"]
    assert waited.result["outcomes"] == [{"event_id": "AB-1", "outcome": "completed", "last_status": "Started"}]


def test_gone_is_told_by_id_and_not_by_the_selection() -> None:
    moved = raw_event(EventId="ab-1", Resources=["vm_9"], EventType="Freeze")
    script = (document(2, COMING), document(3, moved), document(3, moved), document(4), document(4))
    waited = Waited("gone", *script, selection={"affecting": "this_vm", "event_types": ["Reboot"]})
    assert waited.result["polls"] == 5


def test_gone_follows_events_that_come_while_waiting() -> None:
    two = started(EventId="ab-2")
    script = (document(2, RUNNING), document(3, RUNNING, two), document(4, two), document(4, two), document(5), document(5))
    waited = Waited("gone", *script)
    assert (waited.outcome, waited.result["polls"], waited.ids) == ("completed", 6, ["AB-1", "ab-2"])


def test_cancelled_needs_the_next_incarnation_before_not_before() -> None:
    assert Waited("gone", document(2, COMING), document(3)).outcome == "cancelled"


@pytest.mark.parametrize(
    ("script", "options"),
    [
        # Incarnation 3 was missed: it may have been the start (fact b5).
        ((document(2, COMING), document(4)), {}),
        # The counter began anew.
        ((document(5, COMING), document(1)), {}),
        # The time had come, so it may have started.
        ((document(2, raw_event(EventId="AB-1", NotBefore="Sat, 21 Nov 2026 20:00:01 GMT")), document(3)), {}),
        ((document(2, raw_event(EventId="AB-1", NotBefore="")), document(3)), {}),
        ((document(2, raw_event(EventId="AB-1", NotBefore="soon")), document(3)), {}),
    ],
)
def test_gone_and_not_certain_is_unknown(script: t.Any, options: t.Any) -> None:
    assert Waited("gone", *script, **options).outcome == "unknown"


def test_an_approved_event_that_is_gone_is_completed() -> None:
    assert Waited("gone", document(2, COMING), document(4), approved=True).outcome == "completed"


def test_events_that_ended_differently_are_unknown_together_and_told_each() -> None:
    two = raw_event(EventId="ab-2")
    script = (document(2, RUNNING, two), document(3, two), document(4), document(4))
    waited = Waited("gone", *script, selection={"event_ids": ["AB-1", "AB-2", "never"]})
    assert waited.outcome == "unknown"
    assert {each["event_id"]: each["outcome"] for each in waited.result["outcomes"]} == {
        "AB-1": "completed",
        "ab-2": "cancelled",
        "never": "not_seen",
    }


def test_gone_when_nothing_was_there_is_not_seen_after_two_polls() -> None:
    waited = Waited("gone", document(2, OTHER), selection={"event_ids": ["AB-1"]})
    assert (waited.outcome, waited.result["polls"], waited.ids) == ("not_seen", 2, [])
    assert waited.result["outcomes"] == [{"event_id": "AB-1", "outcome": "not_seen", "last_status": None}]


def test_a_failed_poll_is_never_a_poll_without_the_event() -> None:
    waited = Waited("gone", document(2, RUNNING), *["", (500, ""), (404, "")] * 3, document(2, RUNNING), document(3))
    assert (waited.outcome, waited.result["failed_polls"], waited.result["polls"]) == ("completed", 9, 13)
    assert Waited("gone", "", "", document(2), document(2)).result["polls"] == 4


# changed


@pytest.mark.parametrize(("since", "script", "polls"), [(2, [5], 1), (9, [1], 1), (None, [7, 7, 8], 3), (None, [7, 2], 2), (7, [7, 7, 0], 3)])
def test_changed_means_different_and_not_greater(since: int | None, script: list[int], polls: int) -> None:
    waited = Waited("changed", *[document(number, COMING) for number in script], since_incarnation=since)
    assert (waited.outcome, waited.result["polls"]) == ("matched", polls)
    assert waited.result["document_incarnation"] == script[-1]
    assert waited.ids == ["AB-1"]


def test_changed_returns_the_selected_events_of_the_new_document() -> None:
    waited = Waited("changed", document(1), document(2, COMING, OTHER), selection={"event_ids": ["AB-2"]})
    assert waited.ids == ["ab-2"]


# The end of the time


@pytest.mark.parametrize("state", ["scheduled", "started", "gone", "changed"])
def test_timeout_fails_with_the_same_keys(state: str) -> None:
    script = document(2) if state == "scheduled" else document(2, COMING)
    waited = Waited(state, script, timeout=10, selection={"event_ids": ["AB-1"]})
    assert waited.error is not None
    assert waited.error.kind == "timeout"
    assert (waited.outcome, waited.result["elapsed"], waited.result["polls"]) == ("timeout", 10.0, 11)
    assert "Waited 10 s (timeout)" in str(waited.error)
    assert ("DocumentIncarnation other than 2" if state == "changed" else f"AB-1 to be {state}") in str(waited.error)
    assert ("Scheduled" if state != "scheduled" else "no such event seen") in str(waited.error)


def test_timeout_zero_observations_once_and_gives_that_observation_a_fair_time() -> None:
    waited = Waited("scheduled", document(2), timeout=0)
    assert (waited.outcome, waited.result["polls"]) == ("timeout", 1)
    assert waited.transport.limits[0] == (5.0, 5.0)
    assert Waited("scheduled", document(2, COMING), timeout=0).outcome == "matched"


def test_no_poll_may_take_longer_than_what_is_left() -> None:
    waited = Waited("scheduled", document(2), timeout=200, poll_interval=60, takes=10)
    assert [limit for unused, limit in waited.transport.limits] == [125.0, 125.0, 120.0, 50.0, 1.0]
    assert [limit for limit, unused in waited.transport.limits] == [5.0, 5.0, 5.0, 5.0, 1.0]
    assert 200 <= waited.result["elapsed"] <= 210


def test_poll_interval_may_be_a_fraction() -> None:
    waited = Waited("scheduled", document(1), document(1), document(2, COMING), poll_interval=0.25)
    assert waited.clock.sleeps == [0.25, 0.25]


def test_a_wall_clock_that_stands_still_or_jumps_does_not_change_the_wait() -> None:
    class Frozen(FakeClock):
        def now(self) -> datetime.datetime:
            return self.begin - datetime.timedelta(days=365 * self.passed)

    waited = Waited("gone", document(2, RUNNING), clock=Frozen(), timeout=5)
    assert (waited.outcome, waited.result["elapsed"]) == ("timeout", 5.0)


# Faults on the way

LOST = ScheduledEventsError("The connection broke.", "connection_lost", retryable=True)
NOBODY = ScheduledEventsError("Nobody there. Check the route.", "no_answer", retryable=True)
LATE = ScheduledEventsError("No answer in time.", "timeout")


@pytest.mark.parametrize("fault", [(404, ""), (410, ""), (429, ""), (500, ""), (503, ""), (504, "<html>"), LOST, NOBODY, LATE, "", "{", "<html>"])
def test_passing_faults_make_one_warning_and_the_wait_goes_on(fault: t.Any) -> None:
    waited = Waited("scheduled", *[fault] * 30, document(2, COMING), timeout=1800, client={"retries": 0})
    assert (waited.outcome, waited.result["polls"], waited.result["failed_polls"]) == ("matched", 31, 30)
    assert len(waited.warnings) == 1
    assert "Asking goes on until the timeout of 1800 s is over." in waited.warnings[0]
    assert waited.result["last_error"]


def test_pauses_after_faults_grow_to_ten_seconds_and_shrink_at_once() -> None:
    waited = Waited("scheduled", *[(429, "")] * 6, document(1), document(1), document(2, COMING))
    assert waited.clock.sleeps == [1, 2, 4, 8, 10, 10, 1, 1]


def test_a_long_poll_interval_is_never_shortened_by_faults() -> None:
    waited = Waited("scheduled", (503, ""), (503, ""), document(2, COMING), poll_interval=60)
    assert waited.clock.sleeps == [60, 60]


@pytest.mark.parametrize("fault", [(400, ""), (405, ""), (302, ""), (418, ""), ScheduledEventsError("Too large.", "too_large")])
def test_hopeless_faults_end_the_wait_with_the_same_keys(fault: t.Any) -> None:
    waited = Waited("gone", document(2, RUNNING), fault)
    assert waited.error is not None
    assert (waited.outcome, waited.result["polls"], waited.ids) == ("unknown", 2, ["AB-1"])


def test_an_endpoint_that_never_answers_is_reported_at_the_end_with_advice() -> None:
    waited = Waited("scheduled", NOBODY, timeout=20)
    assert waited.outcome == "timeout"
    assert "Check the route." in str(waited.error)
    assert waited.result["document_incarnation"] is None
    assert waited.result["polls"] == waited.result["failed_polls"]


def test_a_slow_first_answer_does_not_end_the_wait() -> None:
    assert Waited("scheduled", document(1, COMING), takes=120).outcome == "matched"


# The name of this VM


def test_the_own_name_is_asked_for_once() -> None:
    waited = Waited("scheduled", document(1), document(1), document(2, COMING))
    assert len([path for unused, path, body in waited.transport.requests if "instance" in path]) == 1
    assert waited.result["vm_name"] == "vm_0"


def test_without_instance_metadata_the_wait_goes_on_with_one_warning() -> None:
    waited = Waited("scheduled", *[document(1)] * 9, document(2, COMING), instance=(500, ""))
    assert waited.outcome == "matched"
    assert waited.result["events"][0]["affects_this_vm"] is None
    assert len(waited.warnings) == 1
    assert len([path for unused, path, body in waited.transport.requests if "instance" in path]) == 3


def test_a_name_that_does_not_come_at_once_is_asked_for_again() -> None:
    answers = [(429, ""), '{"compute":{"name":"vm_0"}}']
    waited = Waited("scheduled", document(1), document(2, COMING), instance=lambda: answers.pop(0))
    assert waited.result["events"][0]["affects_this_vm"] is True
    assert waited.warnings == []


def test_this_vm_needs_the_name_and_asks_until_it_comes() -> None:
    answers = [(500, ""), (500, ""), '{"compute":{"name":"vm_0"}}']
    waited = Waited("scheduled", document(2, OTHER, COMING), instance=lambda: answers.pop(0), selection={"affecting": "this_vm"})
    assert (waited.outcome, waited.ids, waited.result["failed_polls"]) == ("matched", ["AB-1"], 2)


def test_a_given_name_is_used() -> None:
    waited = Waited("scheduled", document(2, OTHER, COMING), vm_name="VM_9", selection={"affecting": "this_vm"})
    assert waited.ids == ["ab-2"]
    assert len(waited.transport.requests) == 1


@pytest.mark.parametrize("state", ["started", "gone"])
def test_a_status_cannot_be_selected_where_it_is_followed(state: str) -> None:
    waited = Waited(state, document(2, COMING), selection={"event_statuses": ["Scheduled"]})
    assert waited.error is not None
    assert waited.error.kind == "bad_option"
    assert waited.transport.requests == []


@pytest.mark.parametrize("option", [{"timeout": -1.0}, {"poll_interval": 0.0}])
def test_times_that_make_no_sense(option: dict[str, float]) -> None:
    waited = Waited("gone", document(2), **option)
    assert waited.error is not None
    assert waited.error.kind == "bad_option"
