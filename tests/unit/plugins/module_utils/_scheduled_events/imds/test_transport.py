# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The transport, with real sockets: faults, limits, timeouts, one kept connection, no proxy and no redirect."""

from __future__ import annotations

import random
import socket
import time
import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.errors import ScheduledEventsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.transport import (
    MAX_ANSWER_BYTES,
    Answer,
    LocalTransport,
)
from ansible_collections.maintenance.azure.tests.unit.plugins.support import (
    Server,
    drip,
    hang_up,
    http,
    reset,
    slowly,
    then_close,
)

PATH = "/metadata/scheduledevents?api-version=2020-07-01"


def send(server: Server, method: str = "GET", body: str | None = None, **timeouts: float) -> Answer:
    return LocalTransport(server.url).request(method, PATH, body, **timeouts)


def fault(server: Server, **options: t.Any) -> ScheduledEventsError:
    with pytest.raises(ScheduledEventsError) as caught:
        send(server, **options)
    # Every fault names the address and the request.
    assert server.url + PATH in str(caught.value)
    return caught.value


def test_status_headers_and_body_come_back() -> None:
    with Server(http(404, "nothing", X_Ms_Request_Id="one")) as server:
        answer = send(server)
    assert (answer.status, answer.body, answer.headers["x-ms-request-id"]) == (404, b"nothing", "one")


def test_requests_carry_the_header_that_azure_wants_and_none_that_it_refuses() -> None:
    with Server(http()) as server:
        send(server)
        send(server, "POST", '{"a":"ä"}')
    get, post = server.requests
    assert (get.method, get.path, get.headers["metadata"], get.body) == ("GET", PATH, "true", "")
    assert (post.method, post.headers["metadata"], post.headers["content-type"]) == ("POST", "true", "application/json")
    assert post.body == '{"a":"ä"}'
    assert not {"x-forwarded-for", "if-none-match"} & set(get.headers)


def test_one_connection_serves_many_requests() -> None:
    with Server(http(body="{}")) as server:
        transport = LocalTransport(server.url)
        for unused in range(5):
            transport.request("GET", PATH)
        transport.request("POST", PATH, "{}")
    assert server.connections == 1


def test_a_connection_that_the_server_closed_meanwhile_is_opened_again() -> None:
    with Server(then_close(http(body="one")), http(body="two")) as server:
        transport = LocalTransport(server.url)
        assert transport.request("GET", PATH).body == b"one"
        time.sleep(0.05)
        assert transport.request("GET", PATH).body == b"two"
    assert server.connections == 2


def test_a_post_on_a_closed_connection_is_never_sent_again_by_itself() -> None:
    with Server(then_close(http(body="one")), http(body="two")) as server:
        transport = LocalTransport(server.url)
        transport.request("GET", PATH)
        time.sleep(0.05)
        with pytest.raises(ScheduledEventsError) as caught:
            transport.request("POST", PATH, "{}")
        assert caught.value.answer_lost
    assert [request.method for request in server.requests] == ["GET"]


@pytest.mark.parametrize("answer", [http(body="12345", Connection="close"), b"HTTP/1.0 200 OK\r\n\r\n12345"], ids=["close", "http/1.0"])
def test_answers_that_end_with_the_connection(answer: bytes) -> None:
    with Server(then_close(answer)) as server:
        transport = LocalTransport(server.url)
        assert transport.request("GET", PATH).body == b"12345"
        assert transport.request("GET", PATH).body == b"12345"


def test_chunked_answer() -> None:
    body = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    with Server(body) as server:
        assert send(server).body == b"abcde"


@pytest.mark.parametrize(
    "behaviour",
    [
        reset,
        hang_up,
        then_close(http(body="half", length=8)),
        then_close(b"HTTP/1.1 200 OK\r\nContent-Le"),
        then_close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nabc"),
        then_close(b"SSH-2.0-OpenSSH_9\r\n"),
        http(X_Long="x" * 70000),
    ],
    ids=["reset", "hang up", "half a body", "half a header", "half a chunk", "not http", "endless header"],
)
def test_broken_connections_are_worth_another_try(behaviour: t.Any) -> None:
    with Server(behaviour) as server:
        error = fault(server)
    assert (error.kind, error.retryable, error.answer_lost) == ("connection_lost", True, True)


def test_half_a_body_says_how_much_came() -> None:
    with Server(then_close(http(body="half", length=8))) as server:
        assert "cut off after 4 bytes" in str(fault(server))


@pytest.mark.parametrize(
    "behaviour",
    [
        http(body=b"x" * (MAX_ANSWER_BYTES + 1)),
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        then_close(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (MAX_ANSWER_BYTES + 1)),
    ],
    ids=["declared", "declared only", "not declared"],
)
def test_answers_over_one_mebibyte_are_refused(behaviour: t.Any) -> None:
    with Server(behaviour) as server:
        error = fault(server, request_timeout=5.0)
    assert (error.kind, error.retryable) == ("too_large", False)


def test_an_answer_of_one_mebibyte_is_taken() -> None:
    with Server(http(body=b"x" * MAX_ANSWER_BYTES)) as server:
        assert len(send(server).body) == MAX_ANSWER_BYTES


def test_a_slow_answer_is_waited_for_far_longer_than_a_connection() -> None:
    with Server(slowly(0.4, http(body="late"))) as server:
        assert send(server, connect_timeout=0.1, request_timeout=5.0).body == b"late"


@pytest.mark.parametrize(
    "behaviour",
    [slowly(5, http(body="late")), drip(http(body="x" * 200), 0.02)],
    ids=["silent", "a byte at a time"],
)
def test_the_request_timeout_is_for_the_whole_answer(behaviour: t.Any) -> None:
    with Server(behaviour) as server:
        began = time.monotonic()
        error = fault(server, request_timeout=0.3)
        took = time.monotonic() - began
    assert (error.kind, error.answer_lost) == ("timeout", True)
    assert 0.25 < took < 1.5
    assert "within 0.3 s" in str(error)


def test_after_a_timeout_the_late_answer_is_not_taken_for_the_next_one() -> None:
    with Server(slowly(0.3, http(body="late")), http(body="next")) as server:
        transport = LocalTransport(server.url)
        with pytest.raises(ScheduledEventsError):
            transport.request("GET", PATH, request_timeout=0.1)
        time.sleep(0.3)
        assert transport.request("GET", PATH).body == b"next"


def test_an_unreachable_address_fails_within_connect_timeout_with_advice() -> None:
    # A full backlog drops further connection requests, like an unreachable route.
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    fillers = [socket.socket() for unused in range(3)]
    for filler in fillers:
        filler.setblocking(False)
        filler.connect_ex(listener.getsockname())
    began = time.monotonic()
    with pytest.raises(ScheduledEventsError) as caught:
        LocalTransport(f"http://127.0.0.1:{listener.getsockname()[1]}").request("GET", PATH, connect_timeout=0.3, request_timeout=60)
    took = time.monotonic() - began
    for opened in [listener, *fillers]:
        opened.close()
    assert caught.value.kind == "no_answer"
    assert 0.25 < took < 1.5
    assert "no answer came within 0.3 s" in str(caught.value)


def test_a_refused_connection_is_no_answer_and_nothing_was_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ScheduledEventsError, match="refused") as caught:
        LocalTransport(f"http://127.0.0.1:{port}").request("GET", PATH)
    assert (caught.value.kind, caught.value.retryable, caught.value.answer_lost) == ("no_answer", True, False)


def test_advice_for_the_real_address_names_route_proxy_and_azure() -> None:
    hint = LocalTransport("http://169.254.169.254").hint
    assert "Azure VM" in hint
    assert "ip route get 169.254.169.254" in hint
    assert "proxy" in hint


def test_proxies_in_the_environment_never_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(http(body="proxy")) as proxy, Server(http(body="service")) as server:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.setenv("no_proxy", "")
        assert send(server).body == b"service"
    assert proxy.requests == []


def test_a_redirect_is_handed_back_and_not_followed() -> None:
    with Server(http(body="other")) as other, Server(http(302, Location=other.url)) as server:
        assert send(server).status == 302
    assert other.requests == []


@pytest.mark.parametrize(
    ("endpoint", "normal"),
    [
        ("http://169.254.169.254", "http://169.254.169.254"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
        (" http://[::1]:80 ", "http://[::1]:80"),
        ("HTTP://metadata.example", "http://metadata.example"),
    ],
)
def test_endpoint(endpoint: str, normal: str) -> None:
    assert LocalTransport(endpoint).endpoint == normal


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "169.254.169.254",
        "https://169.254.169.254",
        "file:///etc/passwd",
        "http://",
        "http://a/metadata/scheduledevents",
        "http://a?x",
        "http://user:secret@a",
        "http://a:port",
        "http://a:99999",
        "http://[::1",
        "http://a b",
        "http://a\r\nX: y",
        "http://münchen",
    ],
)
def test_endpoint_that_makes_no_sense(endpoint: str) -> None:
    with pytest.raises(ScheduledEventsError) as caught:
        LocalTransport(endpoint)
    assert caught.value.kind == "bad_option"


def test_a_name_that_does_not_resolve_is_no_answer() -> None:
    with pytest.raises(ScheduledEventsError) as caught:
        LocalTransport("http://" + "a" * 70 + ".invalid").request("GET", PATH)
    assert caught.value.kind == "no_answer"


def test_300_damaged_answers_are_an_answer_or_one_error() -> None:
    chance = random.Random(3)
    sound = http(body='{"DocumentIncarnation":1,"Events":[]}', Content_Type="application/json")

    def damaged() -> bytes:
        data = bytearray(sound)
        for unused in range(chance.randrange(1, 5)):
            place = chance.randrange(len(data))
            data[place : place + chance.randrange(3)] = bytes(chance.choices(range(256), k=chance.randrange(3)))
        return bytes(data)

    outcomes: set[str] = set()
    with Server(*[then_close(damaged()) for unused in range(300)]) as server:
        transport = LocalTransport(server.url)
        for unused in range(300):
            try:
                transport.request("GET", PATH, request_timeout=1.0)
            except ScheduledEventsError as error:
                outcomes.add(error.kind)
            else:
                outcomes.add("answer")
    assert {"answer", "connection_lost"} <= outcomes <= {"answer", "connection_lost", "too_large", "timeout"}
