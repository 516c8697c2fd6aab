# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The exchange that win_uri has, as .NET's HttpWebRequest does it: one time limit until the headers are there, none to speak of after."""

from __future__ import annotations

import http.client
import re
import select
import socket
import ssl
import time
import urllib.parse

# .NET waits this long for "100 Continue" before it sends a body anyway.
CONTINUE_SECONDS = 0.35
# HttpWebRequest.ReadWriteTimeout: each read of a body may take that long, whatever the timeout of the request.
READ_SECONDS = 300


class NoAnswer(Exception):
    """No status came."""


class HalfAnswer(Exception):
    """A status came, and not the whole body."""

    def __init__(self, message, response):
        super().__init__(message)
        self.response = response


class Response:
    def __init__(self, url, answer, method, content):
        self.url, self.method, self.content = url, method, content
        self.status, self.reason, self.version = answer.status, answer.reason, answer.version
        self.headers = answer.headers


def exchange(url, method, headers, body, timeout, validate_certs, proxy):
    """One request and its answer; redirects are not followed."""
    parts = urllib.parse.urlsplit(url)
    deadline = time.monotonic() + timeout
    connection, target = _connection(parts, timeout, validate_certs, proxy)
    try:
        try:
            connection.connect()
            _send(connection, method, target, headers, body)
            connection.sock.settimeout(max(0.001, deadline - time.monotonic()))
            answer = connection.getresponse()
        except (socket.timeout, TimeoutError) as error:
            raise NoAnswer("The operation has timed out.") from error
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswer("The underlying connection was closed: %s" % error) from error
        try:
            if connection.sock is not None:
                connection.sock.settimeout(READ_SECONDS)
            return Response(url, answer, method, answer.read())
        # Python cannot even try to read some of the lengths that an answer may announce.
        except (OSError, OverflowError, MemoryError, http.client.HTTPException) as error:
            raise HalfAnswer("The connection was closed unexpectedly: %s" % error, Response(url, answer, method, b"")) from error
    finally:
        connection.close()


def _connection(parts, timeout, validate_certs, proxy):
    target = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
    if parts.scheme == "https":
        context = ssl.create_default_context() if validate_certs else ssl._create_unverified_context()
        return http.client.HTTPSConnection(parts.hostname, parts.port, timeout=timeout, context=context), target
    if parts.scheme != "http":
        raise NoAnswer("The URI prefix is not recognized.")
    if proxy:
        return http.client.HTTPConnection(proxy, timeout=timeout), urllib.parse.urlunsplit(parts)
    return http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout), target


def _send(connection, method, target, headers, body):
    connection.putrequest(method, target, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, str(value))
    if body is None:
        connection.endheaders()
        return
    connection.putheader("Content-Length", str(len(body)))
    connection.putheader("Expect", "100-continue")
    connection.endheaders()
    select.select([connection.sock], [], [], CONTINUE_SECONDS)
    connection.send(body)


def snake_case(name):
    """Ansible.ModuleUtils.CamelConversion on a header's name without its dashes; so "retry-after" becomes "retryafter"."""
    plain = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name.replace("-", ""))
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", plain).lower()
