# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Api-versions, retries within their budget, and the message for each status."""

from __future__ import annotations

import json
import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.argument_specs import API_VERSIONS, check_numbers, shared_arguments
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.errors import ScheduledEventsError, describe_body, seconds_in_words
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.discovery.endpoint import open_client
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.client import Client
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.transport import Answer
from ansible_collections.maintenance.azure.tests.unit.plugins.support import (
    FakeClock,
    FakeTransport,
    Server,
    document,
    fake_client,
    http,
    payload,
    raw_event,
    reset,
)

OK = document(3, raw_event())
REJECTED = (400, payload("error_400_api_version_2025.json").decode())


def lost(kind: str = "connection_lost") -> ScheduledEventsError:
    return ScheduledEventsError(f"It was {kind}.", kind, retryable=kind in ("connection_lost", "no_answer"))


def versions_asked(transport: FakeTransport) -> list[str]:
    return [path.partition("api-version=")[2] for unused, path, body in transport.requests]


# Versions


@pytest.mark.parametrize("version", API_VERSIONS)
def test_every_version_can_be_asked_for(version: str) -> None:
    transport = FakeTransport(OK)
    client, unused = fake_client(transport, api_version=version)
    assert client.get_document().events[0]["event_type"] == "Reboot"
    assert versions_asked(transport) == [version]
    assert client.api_version == version


@pytest.mark.parametrize("known", range(len(API_VERSIONS)))
def test_auto_goes_down_to_the_newest_known_version_and_stays_there(known: int) -> None:
    transport = FakeTransport(*[REJECTED] * known, OK)
    client, unused = fake_client(transport)
    client.get_document()
    client.get_document()
    assert versions_asked(transport) == list(API_VERSIONS[: known + 1]) + [API_VERSIONS[known]]
    assert client.api_version == API_VERSIONS[known]


@pytest.mark.parametrize(
    "rejection",
    [
        REJECTED,
        (400, payload("error_400_api_version_2018.json").decode()),
        (404, '{ "error": "Not found. Invalid version requested" }'),
    ],
)
def test_each_known_rejection_leads_to_an_older_version(rejection: tuple[int, str]) -> None:
    client, unused = fake_client(FakeTransport(rejection, OK))
    assert client.get_document().incarnation == 3
    assert client.api_version == API_VERSIONS[1]


def test_a_service_moved_back_to_an_older_version_is_followed() -> None:
    client, unused = fake_client(FakeTransport(OK, REJECTED, OK))
    client.get_document()
    client.get_document()
    assert client.api_version == API_VERSIONS[1]


@pytest.mark.parametrize("api_version", ["auto", "2019-04-01"])
def test_no_version_known_is_an_error_without_retry(api_version: str) -> None:
    transport = FakeTransport(REJECTED)
    client, unused = fake_client(transport, api_version=api_version)
    with pytest.raises(ScheduledEventsError, match="does not know this api-version") as caught:
        client.get_document()
    assert caught.value.kind == "version_rejected"
    assert len(transport.requests) == (len(API_VERSIONS) if api_version == "auto" else 1)
    said = str(caught.value)
    assert ("Use api_version: auto" in said) == (api_version != "auto")
    assert (f"tried: {', '.join(API_VERSIONS)}. Check" in said) == (api_version == "auto")


@pytest.mark.parametrize(("status", "body"), [REJECTED, (404, '{ "error": "Not found. Invalid version requested" }')])
def test_auto_never_advises_itself(status: int, body: str) -> None:
    """Also where the version in use was the oldest, and for instance metadata, whose version is no option."""
    oldest = (REJECTED,) * (len(API_VERSIONS) - 1) + (OK,)
    client, unused = fake_client(FakeTransport(*oldest, (status, body)), api_version="auto", retries=0)
    client.get_document()
    with pytest.raises(ScheduledEventsError, match=rf"status {status} .*tried: {API_VERSIONS[-1]}\.") as caught:
        client.get_document()
    assert "api_version: auto" not in str(caught.value)
    client, unused = fake_client(FakeTransport(OK, instance=(status, body)), api_version="2019-04-01", retries=0)
    with pytest.raises(ScheduledEventsError, match=rf"status {status} .*tried: 2021-02-01, .*2017-04-02\.") as caught:
        client.get_instance()
    assert "api_version: auto" not in str(caught.value)


@pytest.mark.parametrize(
    "answer",
    [(400, payload("error_400_metadata_header.json").decode()), (400, ""), (404, payload("error_404.json").decode())],
)
def test_other_refusals_do_not_change_the_version(answer: tuple[int, str]) -> None:
    transport = FakeTransport(answer)
    client, unused = fake_client(transport, retries=0)
    with pytest.raises(ScheduledEventsError):
        client.get_document()
    assert versions_asked(transport) == [API_VERSIONS[0]]


def test_an_unusable_document_does_not_settle_the_version() -> None:
    client, unused = fake_client(FakeTransport("", OK))
    with pytest.raises(ScheduledEventsError, match="the body is empty"):
        client.get_document()
    assert client.api_version is None


# Retries


@pytest.mark.parametrize("status", [404, 429, 500, 503, 504])
def test_passing_faults_are_retried_and_the_budget_is_named(status: int) -> None:
    clock = FakeClock()
    transport = FakeTransport((status, '{"error":"Later"}'))
    client, unused = fake_client(transport, clock)
    with pytest.raises(ScheduledEventsError, match=r"Later.*Tried 4 times in 7 s\.$") as caught:
        client.get_document()
    assert clock.sleeps == [1, 2, 4]
    assert caught.value.status == status
    assert f"status {status}" in str(caught.value)


@pytest.mark.parametrize("fault", [(404, ""), (429, ""), (500, ""), (503, ""), (504, "<html>"), (410, ""), lost(), lost("no_answer")])
def test_one_passing_fault_is_not_seen(fault: t.Any) -> None:
    client, unused = fake_client(FakeTransport(fault, OK))
    assert client.get_document().incarnation == 3


@pytest.mark.parametrize("fault", [(400, ""), (401, ""), (403, ""), (405, ""), (418, ""), (302, ""), (304, ""), "", "{}", lost("timeout"), lost("too_large")])
def test_permanent_errors_are_not_retried(fault: t.Any) -> None:
    clock = FakeClock()
    transport = FakeTransport(fault, OK)
    client, unused = fake_client(transport, clock)
    with pytest.raises(ScheduledEventsError):
        client.get_document()
    assert len(transport.requests) == 1
    assert clock.sleeps == []


def test_410_is_retried_for_70_seconds() -> None:
    clock = FakeClock()
    client, unused = fake_client(FakeTransport((410, "")), clock, retries=1)
    with pytest.raises(ScheduledEventsError, match="being updated"):
        client.get_document()
    assert 60 <= clock.passed <= 70


def test_410_that_passes_within_70_seconds_is_not_seen() -> None:
    client, unused = fake_client(FakeTransport(*[(410, "")] * 9, OK), retries=1)
    assert client.get_document().incarnation == 3


def test_no_retries_means_none() -> None:
    for fault in ((410, ""), (503, ""), lost(), lost("no_answer")):
        transport = FakeTransport(t.cast(t.Any, fault), OK)
        client, unused = fake_client(transport, retries=0)
        with pytest.raises(ScheduledEventsError):
            client.get_document()
        assert len(transport.requests) == 1


def test_pauses_grow_to_ten_seconds() -> None:
    clock = FakeClock()
    client, unused = fake_client(FakeTransport((503, "")), clock, retries=6)
    with pytest.raises(ScheduledEventsError):
        client.get_document()
    assert clock.sleeps == [1, 2, 4, 8, 10, 10]


@pytest.mark.parametrize(("wish", "pause"), [("5", 5), ("0", 1), ("9999", 30), ("Fri, 31 Dec 1999 23:59:59 GMT", 1)])
def test_retry_after_is_honoured_within_reason(wish: str, pause: float) -> None:
    class Busy(FakeTransport):
        def _answer(self, step: t.Any) -> Answer:
            return Answer(429, {"retry-after": wish}, b"")

    clock = FakeClock()
    client, unused = fake_client(Busy(""), clock, retries=1)
    with pytest.raises(ScheduledEventsError, match="five requests a second"):
        client.get_document()
    assert clock.sleeps == [pause]


def test_a_refused_connection_is_reported_within_connect_timeout_whatever_the_retries() -> None:
    clock = FakeClock()
    transport = FakeTransport(lost("no_answer"), takes=5.0)
    client, unused = fake_client(transport, clock, retries=50)
    with pytest.raises(ScheduledEventsError):
        client.get_document()
    assert (clock.passed, len(transport.requests)) == (5.0, 1)


def test_a_refused_connection_is_tried_again_while_connect_timeout_lasts() -> None:
    clock = FakeClock()
    transport = FakeTransport(lost("no_answer"))
    client, unused = fake_client(transport, clock, retries=50)
    with pytest.raises(ScheduledEventsError):
        client.get_document()
    assert (clock.passed, len(transport.requests)) == (3.0, 3)


def test_default_timeouts_let_the_first_answer_take_two_minutes() -> None:
    transport = FakeTransport(OK)
    options = {name: spec.get("default") for name, spec in shared_arguments().items()}
    open_client(options, transport=transport).get_document()
    assert transport.limits == [(5.0, 125.0)]


def test_time_left_limits_both_timeouts_over_all_versions() -> None:
    clock = FakeClock()
    transport = FakeTransport(REJECTED, OK, takes=1.0)
    client, unused = fake_client(transport, clock)
    client.get_document_once(3.0)
    assert transport.limits == [(3.0, 3.0), (2.0, 2.0)]


# Messages


def test_a_redirect_is_refused_and_told_where_to() -> None:
    with Server(http(body=OK)) as other, Server(http(307, Location=other.url)) as server:
        client = Client(open_client(dict(OPTIONS, endpoint=server.url)).transport)
        with pytest.raises(ScheduledEventsError, match="redirects are not followed") as caught:
            client.get_document()
    assert caught.value.kind == "redirected"
    assert other.url in str(caught.value)
    assert other.requests == []
    assert len(server.requests) == 1


OPTIONS: dict[str, t.Any] = {"api_version": "auto", "retries": 3, "connect_timeout": 5.0, "request_timeout": 5.0}


def test_over_real_http_a_reset_and_a_503_pass() -> None:
    clock = FakeClock()
    with Server(reset, http(503), http(body=OK)) as server:
        client = open_client(dict(OPTIONS, endpoint=server.url), clock=clock)
        assert client.get_document().incarnation == 3
    assert clock.sleeps == [1, 2]


def test_an_error_names_the_request_the_answer_and_the_remedy() -> None:
    client, unused = fake_client(FakeTransport((405, "No PUT here")))
    with pytest.raises(ScheduledEventsError) as caught:
        client.get_document()
    text = str(caught.value)
    assert f"GET http://fake/metadata/scheduledevents?api-version={API_VERSIONS[0]}" in text
    assert "status 405" in text
    assert '"No PUT here"' in text
    assert "check the endpoint" in text
    assert caught.value.kind == "bad_request"


def test_an_html_page_from_a_proxy_is_shown_in_part() -> None:
    client, unused = fake_client(FakeTransport("<html>" + "x" * 5000))
    with pytest.raises(ScheduledEventsError, match="<html>x.*5006 in all") as caught:
        client.get_document()
    assert len(str(caught.value)) < 700


def test_bodies_and_seconds_as_text() -> None:
    assert describe_body(b"") == "an empty body"
    assert describe_body(b"a\x00\r\nb\xff") == '"a\\x00 b\ufffd"'
    assert (seconds_in_words(5.0), seconds_in_words(0.25), seconds_in_words(12.34)) == ("5 s", "0.2 s", "12.3 s")


@pytest.mark.parametrize(
    ("name", "value"),
    [("connect_timeout", 0), ("connect_timeout", float("nan")), ("request_timeout", float("inf")), ("poll_interval", -1), ("timeout", -0.1), ("retries", -1)],
)
def test_numbers_that_make_no_sense_are_refused(name: str, value: float) -> None:
    with pytest.raises(ScheduledEventsError, match=name) as caught:
        check_numbers({name: value})
    assert caught.value.kind == "bad_option"


def test_numbers_that_make_sense_are_taken() -> None:
    check_numbers({"connect_timeout": 0.1, "request_timeout": 125, "poll_interval": 0.01, "timeout": 0, "retries": 0})


# Approvals


@pytest.mark.parametrize(
    ("version", "sent", "expected"),
    [
        ("2020-07-01", ["one"], "approve_lower_case.json"),
        ("2017-08-01", ["one", "two"], "approve_many.json"),
        ("2017-03-01", ["one"], "approve_2017-03-01.json"),
    ],
)
def test_approval_bodies_have_the_documented_shape(version: str, sent: list[str], expected: str) -> None:
    sample = json.loads(payload(expected))
    transport = FakeTransport(document(5))
    client, unused = fake_client(transport, api_version=version)
    client.get_document()
    client.approve([request["EventId"] for request in sample["StartRequests"]])
    body = transport.sent("POST")[0]
    # Microsoft's samples give the number as text and as a number.
    assert {key: str(value) if key == "DocumentIncarnation" else value for key, value in body.items()} == sample
    assert transport.requests[-1][1].endswith("api-version=" + version)


def test_a_given_incarnation_goes_into_the_preview_body() -> None:
    transport = FakeTransport(document(5))
    client, unused = fake_client(transport, api_version="2017-03-01")
    client.approve(["one"], incarnation=4)
    assert transport.sent("POST") == [{"StartRequests": [{"EventId": "one"}], "DocumentIncarnation": 4}]


def test_an_approval_is_sent_once_and_in_the_version_that_was_found() -> None:
    transport = FakeTransport(REJECTED, OK)
    transport.posts = [(503, "")]
    client, unused = fake_client(transport)
    with pytest.raises(ScheduledEventsError):
        client.approve(["one"])
    assert [(method, path[-10:]) for method, path, body in transport.requests] == [
        ("GET", API_VERSIONS[0]),
        ("GET", API_VERSIONS[1]),
        ("POST", API_VERSIONS[1]),
    ]


# The VM's own name


@pytest.mark.parametrize(("name", "expected"), [("instance_2017-08-01.json", "web_0"), ("instance_2017-04-02.json", "db_0")])
def test_own_name_from_instance_metadata(name: str, expected: str) -> None:
    client, unused = fake_client(FakeTransport(instance=payload(name)))
    assert client.get_vm_name() == expected
    assert client.get_instance()["compute"]["osType"] == "Linux"


def test_instance_metadata_falls_back_to_older_versions() -> None:
    rejections = [t.cast(t.Any, REJECTED)] * 3

    def answer() -> t.Any:
        return rejections.pop() if rejections else payload("instance_2017-08-01.json").decode()

    transport = FakeTransport(instance=answer)
    client, unused = fake_client(transport)
    assert client.get_vm_name() == "web_0"
    assert versions_asked(transport) == ["2021-02-01", "2020-06-01", "2019-06-01", "2017-12-01"]
    assert client.api_version is None


@pytest.mark.parametrize("body", ["{}", '{"compute":[]}', '{"compute":{"name":""}}', '{"compute":{"name":7}}'])
def test_no_own_name_is_an_error_with_a_way_out(body: str) -> None:
    client, unused = fake_client(FakeTransport(instance=body))
    with pytest.raises(ScheduledEventsError, match="vm_name") as caught:
        client.get_vm_name()
    assert caught.value.kind == "not_found"


def test_closing_lets_go_of_the_connection() -> None:
    with Server(http(body=OK)) as server:
        client = open_client(dict(OPTIONS, endpoint=server.url))
        client.get_document()
        client.close()
        client.get_document()
    assert server.connections == 2
