# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""A small HTTP/1.1 server over asyncio: a few hundred bytes for each connection, so that a thousand VMs fit on one core.

Keep-alive, pipelining, ``Expect: 100-continue``, bodies by length or in chunks. A handler gets a request and a ``reply``
that it may call at once or later; the next request of the connection waits for it.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
from functools import partial
from http import HTTPStatus
from typing import Any, Callable, Dict, List, Optional, Tuple

MAXIMUM_HEAD = 64 * 1024
MAXIMUM_BODY = 1024 * 1024
BARE_LINE_END = re.compile(rb"(?<!\r)\n")


class Request:
    """One request as received."""

    __slots__ = ("body", "headers", "keep_alive", "method", "path", "query", "target", "version")

    def __init__(self, method: str, target: str, headers: List[Tuple[str, str]], keep_alive: bool, version: str = "HTTP/1.1") -> None:
        self.method = method
        self.target = target
        self.path, _separator, self.query = target.partition("?")
        self.headers = headers
        self.keep_alive = keep_alive
        self.version = version
        self.body = b""

    def header(self, name: str) -> Optional[str]:
        """Return the first header of that name (lower case), or None."""
        for key, value in self.headers:
            if key == name:
                return value
        return None


class Answer:
    """One answer; some fields let faults do what a correct server never would."""

    __slots__ = ("body", "close", "headers", "raw", "reset", "status")

    def __init__(
        self,
        status: int = 200,
        body: bytes = b"",
        headers: Optional[Dict[str, str]] = None,
        close: bool = False,
        raw: Optional[bytes] = None,
        reset: bool = False,
    ) -> None:
        self.status = status
        self.body = body
        self.headers = headers if headers is not None else {}
        self.close = close
        self.raw = raw
        self.reset = reset

    def as_bytes(self, keep_alive: bool, request: Optional[Request] = None) -> bytes:
        """Format the answer as sent: to HEAD without its body, to HTTP/1.0 with a word about a connection that stays open."""
        if self.raw is not None:
            return self.raw
        lines = ["HTTP/1.1 %d %s" % (self.status, _reason(self.status))]
        lines.extend("%s: %s" % item for item in self.headers.items())
        if "Content-Length" not in self.headers and self.status != 304:
            lines.append("Content-Length: %d" % len(self.body))
        if not keep_alive:
            lines.append("Connection: close")
        elif request is not None and request.version == "HTTP/1.0":
            lines.append("Connection: keep-alive")
        body = b"" if request is not None and request.method == "HEAD" else self.body
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body


Reply = Callable[[Answer], None]
Handler = Callable[[Request, Reply], None]


def json_answer(status: int, value: Any, headers: Optional[Dict[str, str]] = None) -> Answer:
    """Return an answer with compact JSON."""
    body = json.dumps(value, separators=(",", ":")).encode("utf-8")
    return Answer(status, body, dict(headers or {}, **{"Content-Type": "application/json; charset=utf-8"}))


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


class BadRequest(Exception):
    """The bytes are not HTTP; ``status`` is sent before the connection is closed."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Connection(asyncio.Protocol):
    """The server side of one connection."""

    def __init__(self, handler: Handler, siblings: "List[Connection]") -> None:
        self._handler = handler
        # Open connections of the same server, so that it can close them all.
        self._siblings = siblings
        self._transport: Any = None
        self._buffer = b""
        self._pending: Optional[Request] = None
        self._busy = False
        self._working = False
        self._continued = False

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._siblings.append(self)

    def connection_lost(self, _exception: Optional[Exception]) -> None:
        self._transport = None
        self._siblings.remove(self)

    def drop(self) -> None:
        """Reset the connection."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._work()

    def _work(self) -> None:
        # An immediate reply comes back here through _reply: the loop continues instead of recursing.
        if self._working:
            return
        self._working = True
        try:
            while not self._busy and self._transport is not None:
                request = self._next_request()
                if request is None:
                    break
                self._busy = True
                self._handler(request, partial(self._reply, request))
        except BadRequest as problem:
            self._send(json_answer(problem.status, {"error": str(problem)}), False)
        finally:
            self._working = False

    def _reply(self, request: Request, answer: Answer) -> None:
        self._busy = False
        self._send(answer, request.keep_alive and not answer.close, request)
        self._work()

    def _send(self, answer: Answer, keep_alive: bool, request: Optional[Request] = None) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if answer.reset:
            # Linger zero turns the close into a reset, as a crashed or restarted server sends.
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()
            return
        transport.write(answer.as_bytes(keep_alive, request))
        if not keep_alive:
            transport.close()

    def _next_request(self) -> Optional[Request]:
        if self._pending is None:
            end = self._buffer.find(b"\r\n\r\n")
            if BARE_LINE_END.search(self._buffer, 0, end if end >= 0 else len(self._buffer)):
                raise BadRequest(400, "a line of the request's head ends without CR")
            if end < 0:
                if len(self._buffer) > MAXIMUM_HEAD:
                    raise BadRequest(431, "the request's headers are longer than %d bytes" % MAXIMUM_HEAD)
                return None
            self._pending = parse_head(self._buffer[:end])
            self._buffer = self._buffer[end + 4 :]
            self._continued = False
        body, used = take_body(self._pending, self._buffer)
        if body is None:
            self._send_continue()
            return None
        request, self._pending = self._pending, None
        request.body = body
        self._buffer = self._buffer[used:]
        return request

    def _send_continue(self) -> None:
        """Send 100 Continue once to a client that expects it before its body."""
        if not self._continued and self._pending is not None:
            self._continued = True
            if (self._pending.header("expect") or "").lower() == "100-continue":
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")


def parse_head(head: bytes) -> Request:
    """Parse the request line and the headers. Raise BadRequest."""
    lines = head.decode("latin-1").split("\r\n")
    # Empty lines before a request are allowed, and some clients send one after a body.
    while lines and not lines[0]:
        lines.pop(0)
    parts = lines[0].split(" ") if lines else []
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        raise BadRequest(400, "the request line is not HTTP/1.1")
    headers = []
    for line in lines[1:]:
        name, separator, value = line.partition(":")
        if not separator:
            raise BadRequest(400, "a header line has no colon")
        headers.append((name.strip().lower(), value.strip(" \t")))
    request = Request(parts[0], parts[1], headers, True, parts[2])
    if request.version != "HTTP/1.0" and request.header("host") is None:
        raise BadRequest(400, "the request has no Host")
    connection = (request.header("connection") or "").lower()
    request.keep_alive = "close" not in connection and (request.version != "HTTP/1.0" or "keep-alive" in connection)
    return request


def take_body(request: Request, data: bytes) -> Tuple[Optional[bytes], int]:
    """Return the body and the number of bytes it took; None while it is incomplete. Raise BadRequest."""
    if "chunked" in (request.header("transfer-encoding") or "").lower():
        return _take_chunks(data)
    text = request.header("content-length") or "0"
    if not text.isdigit():
        raise BadRequest(400, "Content-Length is not a number")
    length = int(text)
    if length > MAXIMUM_BODY:
        raise BadRequest(413, "the body is longer than %d bytes" % MAXIMUM_BODY)
    return (data[:length], length) if len(data) >= length else (None, 0)


def _take_chunks(data: bytes) -> Tuple[Optional[bytes], int]:
    body, position = b"", 0
    while True:
        end = data.find(b"\r\n", position)
        if end < 0:
            return None, 0
        try:
            size = int(data[position:end].split(b";")[0], 16)
        except ValueError:
            raise BadRequest(400, "a chunk has no size") from None
        if size < 0 or len(body) + size > MAXIMUM_BODY:
            raise BadRequest(413, "the body is longer than %d bytes" % MAXIMUM_BODY)
        position = end + 2
        if size == 0:
            return _after_trailers(body, data, position)
        if len(data) < position + size + 2:
            return None, 0
        body += data[position : position + size]
        position += size + 2


def _after_trailers(body: bytes, data: bytes, position: int) -> Tuple[Optional[bytes], int]:
    """Return the body and where it ends: after the trailers and their empty line. Their fields are ignored."""
    while True:
        end = data.find(b"\r\n", position)
        if end < 0:
            if len(data) - position > MAXIMUM_HEAD:
                raise BadRequest(431, "the trailers are longer than %d bytes" % MAXIMUM_HEAD)
            return None, 0
        if end == position:
            return body, end + 2
        position = end + 2
