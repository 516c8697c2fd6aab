# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Approving: the guard, one request for several ids, and answers that are lost."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.argument_specs import API_VERSIONS
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.errors import ScheduledEventsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.scheduled_events_approve import approve
from ansible_collections.maintenance.azure.tests.unit.plugins.support import (
    FakeClock,
    FakeTransport,
    document,
    fake_client,
    raw_event,
    started,
)

ONE = raw_event(EventId="AB-1")
TWO = raw_event(EventId="ab-2")
BOTH = document(2, ONE, TWO)
LOST = ScheduledEventsError("The connection broke.", "connection_lost", retryable=True)
LATE = ScheduledEventsError("No answer in 125 s.", "timeout")


def run(transport: FakeTransport, *ids: str, **options: t.Any) -> tuple[dict[str, t.Any], list[str], FakeClock]:
    clock = FakeClock()
    client, warnings = fake_client(transport, clock, **({"retries": options.pop("retries")} if "retries" in options else {}))
    return approve(client, list(ids or ["AB-1"]), **options), warnings, clock


def refuse(transport: FakeTransport, *ids: str, **options: t.Any) -> ScheduledEventsError:
    with pytest.raises(ScheduledEventsError) as caught:
        run(transport, *ids, **options)
    assert set(caught.value.result) == KEYS
    return caught.value


def posted(transport: FakeTransport) -> list[list[str]]:
    return [[request["EventId"] for request in body["StartRequests"]] for body in transport.sent("POST")]


KEYS = {"changed", "approved", "already_started", "not_found", "document_incarnation", "vm_name", "api_version", "endpoint", "endpoint_source"}


def test_several_ids_go_in_one_request_as_azure_lists_them() -> None:
    transport = FakeTransport(BOTH)
    result, unused, clock = run(transport, "ab-1", "AB-2", "Ab-1")
    assert posted(transport) == [["AB-1", "ab-2"]]
    assert result == {
        "changed": True,
        "approved": ["AB-1", "ab-2"],
        "already_started": [],
        "not_found": [],
        "document_incarnation": 2,
        "vm_name": "vm_0",
        "api_version": API_VERSIONS[0],
        "endpoint": "http://fake",
        "endpoint_source": None,
    }
    # The document was read right before, and the body has nothing else.
    assert set(transport.sent("POST")[0]) == {"StartRequests"}
    assert [method for method, path, body in transport.requests][-1] == "POST"


def test_started_and_missing_events_are_said_so_and_are_no_error() -> None:
    transport = FakeTransport(document(3, started(EventId="ab-1"), TWO))
    result, unused, clock = run(transport, "AB-1", "ab-2", "gone")
    assert (result["approved"], result["already_started"], result["not_found"]) == (["ab-2"], ["ab-1"], ["gone"])
    assert posted(transport) == [["ab-2"]]


def test_nothing_to_approve_sends_and_changes_nothing() -> None:
    transport = FakeTransport(document(3, started(EventId="ab-1")))
    result, unused, clock = run(transport, "AB-1", "gone")
    assert result["changed"] is False
    assert posted(transport) == []


def test_check_mode_does_all_but_send() -> None:
    transport = FakeTransport(BOTH)
    result, unused, clock = run(transport, "ab-1", check_mode=True)
    assert (result["changed"], result["approved"]) == (True, ["AB-1"])
    assert posted(transport) == []
    assert refuse(FakeTransport(document(1, raw_event(EventId="AB-1", Resources=["other"]))), check_mode=True).kind == "refused"


@pytest.mark.parametrize(("listed", "why"), [([TWO], "not listed: AB-1"), ([started(EventId="AB-1"), TWO], "already started: AB-1")])
def test_fail_on_missing_approves_nothing(listed: list[t.Any], why: str) -> None:
    transport = FakeTransport(document(2, *listed))
    error = refuse(transport, "AB-1", "ab-2", fail_on_missing=True)
    assert why in str(error)
    assert posted(transport) == []
    assert error.result["changed"] is False


def test_fail_on_missing_does_not_mind_when_all_are_there() -> None:
    assert run(FakeTransport(BOTH), "ab-1", "ab-2", fail_on_missing=True)[0]["changed"] is True


# The guard


def test_an_event_that_names_another_vm_is_refused_by_name_and_so_is_the_whole_call() -> None:
    transport = FakeTransport(document(2, ONE, raw_event(EventId="ab-2", Resources=["vm_0", "vm_7"])))
    error = refuse(transport, "ab-1", "ab-2")
    assert error.kind == "refused"
    assert "Event ab-2 (Reboot) also names vm_7." in str(error)
    assert "Allowed by approve_for: vm_0." in str(error)
    assert posted(transport) == []
    assert error.result["changed"] is False


@pytest.mark.parametrize("approve_for", [["VM_0", "vm_7"], ["vm_7", "vm_0", "vm_9"], ["*"], ["vm_9", "*"]])
def test_approve_for_allows_by_name_without_case_or_anything(approve_for: list[str]) -> None:
    transport = FakeTransport(document(2, raw_event(EventId="AB-1", Resources=["vm_0", "VM_7"])))
    assert run(transport, approve_for=approve_for)[0]["approved"] == ["AB-1"]
    assert len(transport.requests) == 2


@pytest.mark.parametrize("approve_for", [[], ["vm_0"], ["vm_7"], ["vm_"]])
def test_approve_for_must_cover_every_name(approve_for: list[str]) -> None:
    transport = FakeTransport(document(2, raw_event(EventId="AB-1", Resources=["vm_0", "vm_7"])))
    assert refuse(transport, approve_for=approve_for).kind == "refused"
    assert posted(transport) == []


def test_an_event_that_names_no_vm_is_approved_only_for_anything() -> None:
    no_vm = document(2, raw_event(EventId="AB-1", Resources=[]))
    assert "names no VM at all" in str(refuse(FakeTransport(no_vm)))
    assert run(FakeTransport(no_vm), approve_for=["*"])[0]["approved"] == ["AB-1"]


def test_an_unknown_own_name_approves_nothing() -> None:
    transport = FakeTransport(BOTH, instance="{}")
    assert "compute.name" in str(refuse(transport))
    assert posted(transport) == []
    assert run(FakeTransport(BOTH, instance="{}"), vm_name="vm_0")[0]["approved"] == ["AB-1"]


def test_an_unknown_status_is_approved_like_scheduled() -> None:
    assert run(FakeTransport(document(2, raw_event(EventId="AB-1", EventStatus="Pondering"))))[0]["approved"] == ["AB-1"]


def test_the_underscore_of_the_preview_does_not_disturb_the_guard() -> None:
    transport = FakeTransport(document(5, raw_event(EventId="AB-1", Resources=["_vm_0"])))
    client, unused = fake_client(transport, api_version="2017-03-01")
    assert approve(client, ["ab-1"])["approved"] == ["AB-1"]
    assert transport.sent("POST") == [{"StartRequests": [{"EventId": "AB-1"}], "DocumentIncarnation": 5}]


@pytest.mark.parametrize("ids", [[], ["  "], ["AB-1", ""]])
def test_no_ids_is_an_error(ids: list[str]) -> None:
    client, unused = fake_client(FakeTransport(BOTH))
    with pytest.raises(ScheduledEventsError) as caught:
        approve(client, ids)
    assert caught.value.kind == "bad_option"


# Answers that are lost, and faults


@pytest.mark.parametrize("fault", [LOST, LATE])
def test_a_lost_answer_is_looked_up_and_not_sent_again_when_it_counted(fault: ScheduledEventsError) -> None:
    transport = FakeTransport(document(2, ONE), document(3, started(EventId="AB-1")))
    transport.posts = [fault]
    result, unused, clock = run(transport)
    assert (result["approved"], result["already_started"], result["changed"]) == (["AB-1"], [], True)
    assert len(posted(transport)) == 1


@pytest.mark.parametrize("fault", [LOST, LATE])
def test_a_lost_answer_is_looked_up_before_it_is_sent_again(fault: ScheduledEventsError) -> None:
    transport = FakeTransport(document(2, ONE))
    transport.posts = [fault, ""]
    result, unused, clock = run(transport)
    assert result["approved"] == ["AB-1"]
    order = [method for method, path, body in transport.requests if "scheduledevents" in path]
    assert order == ["GET", "POST", "GET", "POST"]


def test_a_lost_answer_is_looked_up_even_without_retries() -> None:
    transport = FakeTransport(document(2, ONE), document(3, started(EventId="AB-1")))
    transport.posts = [LOST]
    assert run(transport, retries=0)[0]["approved"] == ["AB-1"]
    transport = FakeTransport(document(2, ONE))
    transport.posts = [LOST]
    assert refuse(transport, retries=0).kind == "connection_lost"
    assert len(posted(transport)) == 1


def test_an_event_gone_after_a_lost_answer_is_told_as_uncertain() -> None:
    transport = FakeTransport(document(2, ONE, TWO), document(3))
    transport.posts = [LOST]
    result, warnings, clock = run(transport)
    assert (result["approved"], result["not_found"], result["changed"]) == ([], ["AB-1"], True)
    assert "AB-1" in warnings[0]
    assert "not known" in warnings[0]


def test_the_guard_is_asked_again_before_anything_is_sent_again() -> None:
    transport = FakeTransport(document(2, ONE), document(3, raw_event(EventId="AB-1", Resources=["vm_0", "vm_7"])))
    transport.posts = [LOST]
    assert refuse(transport).kind == "refused"
    assert len(posted(transport)) == 1


@pytest.mark.parametrize("status", [404, 410, 429, 500, 503, 504])
def test_passing_faults_of_a_post_are_retried_with_an_observation_in_between(status: int) -> None:
    transport = FakeTransport(BOTH)
    transport.posts = [(status, ""), (status, ""), ""]
    result, unused, clock = run(transport)
    assert result["approved"] == ["AB-1"]
    assert clock.sleeps == [1, 2]
    assert len(transport.sent("GET")) == 3


@pytest.mark.parametrize("fault", [(503, ""), LOST, LATE])
def test_the_budget_of_a_post_ends(fault: t.Any) -> None:
    transport = FakeTransport(BOTH)
    transport.posts = [fault]
    error = refuse(transport)
    assert len(posted(transport)) == 4
    assert error.result["approved"] == []


@pytest.mark.parametrize("status", [400, 403, 405])
def test_a_refused_post_is_never_sent_again_as_it_was(status: int) -> None:
    transport = FakeTransport(BOTH)
    transport.posts = [(status, '{"error":"Bad request"}')]
    assert refuse(transport, "ab-1", "ab-2").status == status
    assert len(posted(transport)) == 1


def test_an_event_that_vanished_meanwhile_does_not_spoil_the_others() -> None:
    transport = FakeTransport(BOTH, document(3, TWO))
    transport.posts = [(400, ""), ""]
    result, unused, clock = run(transport, "AB-1", "ab-2")
    assert (result["approved"], result["not_found"]) == (["ab-2"], ["AB-1"])
    assert posted(transport) == [["AB-1", "ab-2"], ["ab-2"]]


def test_the_only_event_that_vanished_meanwhile_is_not_found() -> None:
    transport = FakeTransport(BOTH, document(3, TWO))
    transport.posts = [(400, "")]
    result, unused, clock = run(transport, "AB-1")
    assert (result["changed"], result["approved"], result["not_found"]) == (False, [], ["AB-1"])


def test_no_usable_document_approves_nothing() -> None:
    transport = FakeTransport("")
    assert refuse(transport).kind == "bad_document"
    assert posted(transport) == []
