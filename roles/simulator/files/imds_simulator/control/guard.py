# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Access control of the control API. Web pages in a browser on this machine can send requests to loopback, and must be refused.

Such requests name the page's own host (DNS rebinding), carry an Origin, or cannot be ``application/json``. A token, if configured,
keeps out other users of this machine.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import re
import secrets
import sys
from typing import Dict, List, Optional, Sequence

from imds_simulator.wire import Request

JSON = "application/json"
# Characters that are valid in a header unquoted; long enough not to be guessed.
TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{16,1024}")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:\s]+)(:[0-9]{1,5})?")


class Refused(Exception):
    """A refused request, with a status, a message of one line, and headers."""

    def __init__(self, status: int, message: str, headers: Optional[Dict[str, str]] = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}


class Guard:
    """Check each request to the control API before it is handled."""

    def __init__(self, token: Optional[str] = None, hosts: Sequence[str] = ()) -> None:
        self._token = token
        self._hosts = {host.lower().strip("[]") for host in hosts}

    @property
    def wants_token(self) -> bool:
        """Return whether a token is required."""
        return self._token is not None

    def check(self, request: Request) -> None:
        """Raise Refused unless the request is allowed."""
        self._check_host(request)
        if _values(request, "origin"):
            raise Refused(403, "a request with an Origin header comes from a web page, and none may use the control API")
        self._check_token(request)
        if request.body and [value.partition(";")[0].strip().lower() for value in _values(request, "content-type")] != [JSON]:
            raise Refused(415, "a body must be sent with Content-Type: %s" % JSON)

    def _check_host(self, request: Request) -> None:
        given = _values(request, "host")
        if len(given) != 1:
            raise Refused(400, "a request needs one Host header")
        found = _HOST.fullmatch(given[0])
        name = found.group(1).lower().strip("[]") if found else ""
        if not (is_loopback(name) or name in self._hosts):
            raise Refused(403, "the Host header must name a loopback address, localhost, or a name given with --control-host")

    def _check_token(self, request: Request) -> None:
        if self._token is None:
            return
        given = _values(request, "authorization")
        scheme, _separator, value = (given[0] if len(given) == 1 else "").partition(" ")
        same = hmac.compare_digest(value.strip().encode("latin-1"), self._token.encode("ascii"))
        if scheme.lower() != "bearer" or not same:
            message = "the control API wants its token: Authorization: Bearer TOKEN, with what stands in the --control-token-file"
            raise Refused(401, message, {"WWW-Authenticate": "Bearer"})


def _values(request: Request, name: str) -> List[str]:
    return [value for key, value in request.headers if key == name]


def is_loopback(host: str) -> bool:
    """Return whether a host, without brackets, certainly is this machine. Names other than localhost may resolve to any address."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.IPv4Address(host) in ipaddress.IPv4Network("127.0.0.0/8")
    except ValueError:
        return host == "::1"


def read_token(path: str) -> str:
    """Read the token from a file that only its owner can read, or from standard input (``-``)."""
    if path == "-":
        text = sys.stdin.read(2048)
    else:
        with open(path, encoding="utf-8") as stream:
            if os.fstat(stream.fileno()).st_mode & 0o077:
                raise ValueError("others may read the control token in %s: chmod 600 %s" % (path, path))
            text = stream.read(2048)
    token = text.strip()
    if not TOKEN.fullmatch(token):
        raise ValueError("%s holds no control token: 16 to 1024 letters, digits and ._~+/=- are wanted" % path)
    return token


def make_token(path: str) -> bool:
    """Write a new token to a file for its owner alone, unless the file exists. Return whether it was written."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "w", encoding="ascii") as stream:
        stream.write(secrets.token_urlsafe(32) + "\n")
    return True
