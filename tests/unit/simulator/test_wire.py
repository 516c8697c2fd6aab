# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The HTTP server: requests in pieces, pipelined, in chunks, or broken."""

from __future__ import annotations

from typing import Any

import pytest
from imds_simulator.wire import Answer, Connection, Reply, Request

GET = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n"


class Wire:
    """A connection with nothing behind it but a list."""

    def __init__(self) -> None:
        self.sent = b""
        self.closed = False
        self.requests: list[Request] = []
        self.replies: list[Reply] = []
        self.connection = Connection(self._handle, [])
        self.connection.connection_made(self)

    def _handle(self, request: Request, reply: Reply) -> None:
        self.requests.append(request)
        self.replies.append(reply)

    def write(self, data: bytes) -> None:
        self.sent += data

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def get_extra_info(self, _name: str) -> Any:
        return None

    def feed(self, data: bytes) -> None:
        self.connection.data_received(data)


@pytest.fixture
def wire() -> Wire:
    return Wire()


def test_a_request_in_single_bytes(wire: Wire) -> None:
    for byte in b"POST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nX-Thing:  y \r\n\r\nabc":
        wire.feed(bytes([byte]))
    request = wire.requests[0]
    assert (request.method, request.path, request.query, request.body) == ("POST", "/a", "b=c", b"abc")
    assert request.header("x-thing") == "y"


def test_requests_sent_together_are_answered_one_after_the_other(wire: Wire) -> None:
    wire.feed(GET + GET.replace(b"/a", b"/b"))
    assert [request.path for request in wire.requests] == ["/a"], "the second waits for the first answer"
    wire.replies[0](Answer(200, b"one"))
    wire.replies[1](Answer(200, b"two"))
    assert [request.path for request in wire.requests] == ["/a", "/b"]
    assert wire.sent.index(b"one") < wire.sent.index(b"two")
    assert not wire.closed


def test_expect_continue_is_answered_once_and_before_the_body(wire: Wire) -> None:
    wire.feed(b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n")
    assert wire.sent == b"HTTP/1.1 100 Continue\r\n\r\n"
    wire.feed(b"a")
    wire.feed(b"b")
    assert wire.sent.count(b"100 Continue") == 1
    assert wire.requests[0].body == b"ab"


def test_a_body_in_chunks(wire: Wire) -> None:
    wire.feed(b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\n")
    assert wire.requests == []
    wire.feed(b"de\r\n0\r\n\r\n")
    assert wire.requests[0].body == b"abcde"


def test_the_trailers_of_a_body_in_chunks_are_read_to_their_end(wire: Wire) -> None:
    wire.feed(b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\n")
    assert wire.requests == []
    wire.feed(b"X-Other: 2\r\n\r\n" + GET)
    wire.replies[0](Answer(200))
    assert [(request.path, request.body) for request in wire.requests] == [("/a", b"abc"), ("/a", b"")]


def test_trailers_without_end_are_refused(wire: Wire) -> None:
    wire.feed(b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"x" * 70000)
    assert wire.sent.startswith(b"HTTP/1.1 431 ")
    assert wire.closed


def test_a_head_has_the_length_of_the_body_and_no_body(wire: Wire) -> None:
    wire.feed(b"HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n" + GET)
    wire.replies[0](Answer(405, b"not allowed"))
    wire.replies[1](Answer(200, b"one"))
    head, rest = wire.sent.split(b"\r\n\r\n", 1)
    assert b"Content-Length: 11" in head
    assert rest.startswith(b"HTTP/1.1 200 OK\r\n")


def test_a_connection_of_http_1_0_that_stays_open_is_told_so(wire: Wire) -> None:
    wire.feed(b"GET /a HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
    wire.replies[0](Answer(200))
    assert b"\r\nConnection: keep-alive\r\n" in wire.sent


@pytest.mark.parametrize(
    ("head", "stays_open"),
    [
        (b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n", True),
        (b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", False),
        (b"GET /a HTTP/1.0\r\n\r\n", False),
        (b"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", True),
    ],
)
def test_when_the_connection_is_kept(wire: Wire, head: bytes, stays_open: bool) -> None:
    wire.feed(head)
    wire.replies[0](Answer(200))
    assert wire.closed != stays_open
    assert (b"Connection: close" in wire.sent) != stays_open


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/2\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\nHost: x\n\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\nMetadata: true\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (b"x" * 70000, 431),
    ],
)
def test_what_is_no_http_is_refused_and_the_connection_closed(wire: Wire, data: bytes, status: int) -> None:
    wire.feed(data)
    assert wire.sent.startswith(b"HTTP/1.1 %d " % status)
    assert wire.closed
    assert wire.requests == []


def test_an_answer_that_comes_after_the_client_left_hurts_nobody(wire: Wire) -> None:
    wire.connection._siblings.append(wire.connection)
    wire.feed(GET)
    wire.connection.connection_lost(None)
    wire.replies[0](Answer(200, b"late"))
    assert wire.sent == b""


def test_304_has_no_body_and_no_length() -> None:
    assert b"Content-Length" not in Answer(304).as_bytes(True)
    assert b"Content-Length: 0\r\n" in Answer(200).as_bytes(True)
