# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Transport: a request in, an answer out. Only this file and its siblings for other hosts open a socket."""

from __future__ import annotations

import http.client
import socket
import typing as t
from urllib.parse import urlsplit

from ..core.errors import ScheduledEventsError, seconds_in_words
from ..core.limits import ANSWER_BYTES
from ..host.timed_socket import TimedSocket

AZURE_HOST = "169.254.169.254"
MAX_ANSWER_BYTES = ANSWER_BYTES
HEADERS = {"Metadata": "true", "Accept": "application/json", "User-Agent": "maintenance.azure"}
JSON_HEADERS = {"Content-Type": "application/json"}


class Answer(t.NamedTuple):
    """One HTTP answer. Header names are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class Transport(t.Protocol):
    """Requests to one endpoint. Raise ScheduledEventsError where no complete answer came."""

    endpoint: str
    hint: str

    def request(self, method: str, path: str, body: str | None = None, connect_timeout: float = 5.0, request_timeout: float = 125.0) -> Answer:
        """Send one request and read its answer."""

    def close(self) -> None:
        """Close open connections."""


class LocalTransport:
    """Send requests from this machine, over one kept-alive connection.

    http.client, not ansible.module_utils.urls, because only it has two timeouts (an unreachable address fails in seconds, a slow first answer does not) and
    keeps the connection between polls. It ignores proxy variables, follows no redirect and decodes nothing.
    """

    def __init__(self, endpoint: str) -> None:
        self.endpoint, self._host, self._port = split_endpoint(endpoint)
        self.hint = local_hint(self.endpoint, self._host)
        self._connection: http.client.HTTPConnection | None = None

    def request(self, method: str, path: str, body: str | None = None, connect_timeout: float = 5.0, request_timeout: float = 125.0) -> Answer:
        reused = self._connection is not None and self._connection.sock is not None
        try:
            return self._request_once(method, path, body, connect_timeout, request_timeout)
        except ScheduledEventsError as error:
            self.close()
            # A server closes an idle connection; that is not a fault. A POST is never sent again from here: the first one may have been carried out.
            if reused and method == "GET" and error.kind == "connection_lost":
                return self._request_once(method, path, body, connect_timeout, request_timeout)
            raise

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _request_once(self, method: str, path: str, body: str | None, connect_timeout: float, request_timeout: float) -> Answer:
        target = f"{method} {self.endpoint}{path}"
        connection = self._connect(target, connect_timeout)
        guard = t.cast(TimedSocket, connection.sock)
        guard.start(request_timeout)
        try:
            headers = dict(HEADERS, **(JSON_HEADERS if body is not None else {}))
            connection.request(method, path, body=None if body is None else body.encode("utf-8"), headers=headers)
            response = connection.getresponse()
            if guard.ended:
                # http.client takes the end of the connection within the headers for the end of the headers.
                raise http.client.HTTPException("the headers were cut off")
            return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, _read_body(response, target))
        except ScheduledEventsError:
            self.close()
            raise
        except socket.timeout:
            self.close()
            raise too_late(target, request_timeout)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise cut_off(target, _describe_error(error))

    def _connect(self, target: str, connect_timeout: float) -> http.client.HTTPConnection:
        if self._connection is not None and self._connection.sock is not None:
            return self._connection
        connection = http.client.HTTPConnection(self._host, self._port, timeout=connect_timeout)
        try:
            connection.connect()
        except socket.timeout:
            raise not_connected(target, f"no answer came within {seconds_in_words(connect_timeout)}", self.hint)
        except (OSError, UnicodeError) as error:
            raise not_connected(target, _describe_error(error), self.hint)
        connection.sock = t.cast(t.Any, TimedSocket(connection.sock))
        self._connection = connection
        return connection


def _read_body(response: http.client.HTTPResponse, target: str) -> bytes:
    declared = response.length
    if declared is not None and declared > MAX_ANSWER_BYTES:
        raise too_large(target)
    body = b""
    while True:
        chunk = response.read(min(65536, MAX_ANSWER_BYTES + 1 - len(body)))
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            raise too_large(target)
        if not chunk:
            break
    # http.client reports no error when a body that is read in pieces ends early.
    if declared is not None and len(body) < declared:
        raise http.client.IncompleteRead(body, declared - len(body))
    return body


def not_connected(target: str, why: str, hint: str) -> ScheduledEventsError:
    """Return the error for a connection that was not made: nothing was sent."""
    return ScheduledEventsError(f"{target}: cannot connect ({why}). {hint}", "no_answer", retryable=True)


def too_late(target: str, seconds: float) -> ScheduledEventsError:
    """Return the error for a request that was sent and not completely answered in time."""
    return ScheduledEventsError(
        f"{target}: connected, but there was no complete answer within {seconds_in_words(seconds)} (request_timeout). The very first request "
        "to scheduled events may take two minutes.",
        "timeout",
    )


def cut_off(target: str, why: str) -> ScheduledEventsError:
    """Return the error for a connection that ended within the answer."""
    return ScheduledEventsError(f"{target}: the connection broke before the answer was complete ({why}).", "connection_lost", retryable=True)


def too_large(target: str) -> ScheduledEventsError:
    """Return the error for an answer that is longer than any real one."""
    return ScheduledEventsError(
        f"{target}: the answer is larger than {MAX_ANSWER_BYTES} bytes, which no real one is; it was refused. Check what answers at this address.", "too_large"
    )


def split_endpoint(endpoint: str) -> tuple[str, str, int]:
    """Return the normalized endpoint, its host and its port. Raise ScheduledEventsError unless it is http://ADDRESS[:PORT]."""
    try:
        parts = urlsplit(endpoint.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    extra = parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None
    if parts.scheme != "http" or not host or extra or not all(33 <= ord(letter) < 127 for letter in parts.netloc):
        raise ScheduledEventsError(
            f"endpoint is '{endpoint}'; it must be http://ADDRESS or http://ADDRESS:PORT and nothing more. Azure's own is http://169.254.169.254.", "bad_option"
        )
    return f"http://{parts.netloc}", host, 80 if port is None else port


def local_hint(endpoint: str, host: str) -> str:
    """Return advice for an endpoint that does not answer."""
    if host != AZURE_HOST:
        return other_hint(endpoint)
    return (
        "Check that this is an Azure VM; that 'ip route get 169.254.169.254' leaves by the primary network interface "
        "(the route comes with DHCP); that no firewall, VPN or container network blocks the address. A proxy is "
        "never used and must not catch it."
    )


def other_hint(endpoint: str) -> str:
    """Return advice for an endpoint other than Azure's own address."""
    return f"Check that something listens at {endpoint}; Azure's own endpoint is http://{AZURE_HOST}."


def _describe_error(error: BaseException) -> str:
    """Return the reason of an error as text."""
    if isinstance(error, http.client.IncompleteRead):
        return f"the body was cut off after {len(error.partial)} bytes"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
