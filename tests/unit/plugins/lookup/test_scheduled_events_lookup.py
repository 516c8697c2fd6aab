# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lookup and its transport, with real sockets on loopback: results, refusals, no proxy, no redirect."""

from __future__ import annotations

import gzip
import socket
import typing as t

import pytest
import yaml
from ansible.constants import config
from ansible.errors import AnsibleLookupError

from ansible_collections.maintenance.azure.plugins.doc_fragments import endpoint, selection
from ansible_collections.maintenance.azure.plugins.lookup import scheduled_events
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.errors import ScheduledEventsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.transport import MAX_ANSWER_BYTES, Answer
from ansible_collections.maintenance.azure.plugins.plugin_utils._controller.requests_transport import RequestsTransport
from ansible_collections.maintenance.azure.tests.unit.plugins.support import (
    EVENT_ID,
    Server,
    document,
    drip,
    hang_up,
    http,
    raw_event,
    reset,
    slowly,
    started,
    then_close,
)

PATH = "/metadata/scheduledevents?api-version=2020-07-01"
QUICK = {"retries": 0, "connect_timeout": 2, "request_timeout": 5}


def send(server: Server, method: str = "GET", body: str | None = None, **timeouts: float) -> Answer:
    return RequestsTransport(server.url).request(method, PATH, body, **timeouts)


def fault(server: Server, **options: t.Any) -> ScheduledEventsError:
    with pytest.raises(ScheduledEventsError) as caught:
        send(server, **options)
    assert server.url + PATH in str(caught.value)
    return caught.value


def plugin() -> scheduled_events.LookupModule:
    """Return the lookup without Ansible's collection loader: the options come from the documentation."""
    options: dict[str, t.Any] = {}
    for text in (endpoint.ModuleDocFragment.DOCUMENTATION, selection.ModuleDocFragment.DOCUMENTATION, scheduled_events.DOCUMENTATION):
        options.update(yaml.safe_load(text)["options"])
    options.pop("_terms")
    name = "maintenance.azure.scheduled_events"
    config.initialize_plugin_configuration_definitions("lookup", name, options)
    found = scheduled_events.LookupModule()
    found._load_name = name
    return found


def look_up(server: Server, *terms: str, **options: t.Any) -> t.Any:
    return plugin().run(list(terms), {}, endpoint=server.url, **{**QUICK, **options})


# --- The transport -------------------------------------------------------------------------------------------------------


def test_status_headers_and_body_come_back() -> None:
    with Server(http(404, "nothing", X_Ms_Request_Id="one")) as server:
        answer = send(server)
    assert (answer.status, answer.body, answer.headers["x-ms-request-id"]) == (404, b"nothing", "one")


def test_requests_carry_the_header_that_azure_wants() -> None:
    with Server(http()) as server:
        send(server)
        send(server, "POST", '{"a":"ä"}')
    get, post = server.requests
    assert (get.method, get.path, get.headers["metadata"], get.body) == ("GET", PATH, "true", "")
    assert (post.method, post.headers["content-type"], post.body) == ("POST", "application/json", '{"a":"ä"}')


def test_chunked_answer() -> None:
    with Server(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n") as server:
        assert send(server).body == b"abcde"


@pytest.mark.parametrize(
    "step",
    [
        reset,
        hang_up,
        then_close(http(body="half", length=8)),
        then_close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nabc"),
        then_close(b"SSH-2.0-OpenSSH_9\r\n"),
    ],
    ids=["reset", "hang up", "half a body", "half a chunk", "not http"],
)
def test_broken_connections_are_worth_another_try(step: t.Any) -> None:
    with Server(step) as server:
        error = fault(server)
    assert (error.kind, error.retryable) == ("connection_lost", True)
    assert "0x" not in str(error), "an address in memory helps nobody"


def test_a_refused_connection_is_reported_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with pytest.raises(ScheduledEventsError, match=r"cannot connect \(.*refused\)\. Check that something listens at") as caught:
        RequestsTransport(url).request("GET", PATH)
    assert caught.value.kind == "no_answer"


@pytest.mark.parametrize("step", [slowly(3, http(body="{}")), drip(http(body="x" * 40), 0.1)], ids=["silent", "byte by byte"])
def test_a_slow_answer_ends_in_time(step: t.Any) -> None:
    with Server(step) as server:
        assert fault(server, request_timeout=0.5).kind == "timeout"


def test_an_answer_larger_than_any_real_one_is_refused() -> None:
    with Server(http(body="x" * (MAX_ANSWER_BYTES + 1))) as server:
        assert fault(server).kind == "too_large"


def test_nothing_is_unpacked() -> None:
    packed = gzip.compress(b"x" * 5000)
    with Server(http(body=packed, Content_Encoding="gzip")) as server:
        assert send(server).body == packed


def test_proxies_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(http(body="{}")) as server, Server(http(500)) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert send(server).body == b"{}"
    assert not proxy.requests


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_is_followed(status: int) -> None:
    with Server(http()) as elsewhere, Server(http(status, Location=elsewhere.url)) as server:
        assert send(server).status == status
    assert not elsewhere.requests


# --- The lookup ----------------------------------------------------------------------------------------------------------


def test_events_of_this_vm_come_back_as_the_modules_have_them() -> None:
    with Server(http(body=document(3, raw_event(), raw_event(EventId="other", Resources=["vm_1"])))) as server:
        (event,) = look_up(server)
        both = look_up(server, affecting="any")
    assert (event["event_id"], event["event_type"], event["not_before"], event["affects_this_vm"]) == (EVENT_ID, "Reboot", "2026-11-21T21:00:00Z", True)
    assert [one["affects_this_vm"] for one in both] == [True, False]


def test_selection_is_the_modules_own() -> None:
    with Server(http(body=document(3, started()))) as server:
        assert look_up(server, event_statuses=["scheduled"]) == []
        assert len(look_up(server, event_statuses=["started"], event_types=["reboot"])) == 1


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (http(), "empty"),
        (http(body="{}"), "Events"),
        (http(400, "no"), "status 400"),
        (http(302, Location="http://127.0.0.1:1/"), "302"),
        (hang_up, "broke before the answer was complete"),
    ],
)
def test_an_invalid_document_is_an_error_and_never_an_empty_list(step: t.Any, message: str) -> None:
    with Server(step) as server, pytest.raises(AnsibleLookupError, match=message) as caught:
        look_up(server)
    assert "lookup maintenance.azure.scheduled_events: " in str(caught.value)


def test_terms_are_refused() -> None:
    with Server(http(body=document(3))) as server, pytest.raises(AnsibleLookupError, match="takes options only"):
        look_up(server, "web1")
    assert not server.requests


def test_an_endpoint_that_cannot_be_is_refused() -> None:
    with pytest.raises(AnsibleLookupError, match="endpoint is 'ftp://x'"):
        plugin().run([], {}, endpoint="ftp://x")


def test_without_requests_the_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduled_events, "MISSING", ImportError("No module named 'requests'"))
    with pytest.raises(AnsibleLookupError, match="pip install requests"):
        plugin().run([], {}, endpoint="http://127.0.0.1:1")
