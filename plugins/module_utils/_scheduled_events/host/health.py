# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Check whether the application on the VM is in service: by a port, a URL, a file or a service that the user names."""

from __future__ import annotations

import http.client
import os
import re
import socket
import stat
import time
import typing as t
import urllib.parse

from ..core.types import Data, Values

Answer = t.Tuple[t.Optional[bool], str]
RunCommand = t.Callable[[t.List[str]], t.Tuple[int, str, str]]

KINDS = ("port", "url", "file", "service")
STATUS_LINE = re.compile(rb"HTTP/\d(?:\.\d)? (\d{3})(?: |$)")
LONGEST_ANSWER = 65536
# Exit codes of "systemctl is-active": running or reloading; not active; no such unit. For any other code the state is unknown.
SYSTEMCTL_ANSWERS = {0: True, 3: False, 4: False}


def health_arguments() -> Data:
    """Return the argument spec of the option health."""
    return {
        "type": "dict",
        "mutually_exclusive": [list(KINDS)],
        "required_one_of": [list(KINDS)],
        "options": {
            "port": {"type": "int"},
            "url": {"type": "str"},
            "file": {"type": "str"},
            "service": {"type": "str"},
            "host": {"type": "str", "default": "127.0.0.1"},
            "timeout": {"type": "float", "default": 5.0},
            "validate_certs": {"type": "bool", "default": True},
        },
    }


def check(health: Values | None, run_command: RunCommand | None = None) -> Answer:
    """Check the health on this machine. Return whether it is in service, or None if no check is configured or the state is unknown; and why."""
    return check_with(health, check_port, check_url, check_file, lambda name: check_service(name, run_command))


def check_with(
    health: Values | None,
    port: t.Callable[[str, int, float], Answer],
    url: t.Callable[[str, float, bool], Answer],
    file: t.Callable[[str], Answer],
    service: t.Callable[[str], Answer],
) -> Answer:
    """Run the configured check with the functions for this kind of VM. Return what check returns."""
    given = [kind for kind in KINDS if (health or {}).get(kind) not in (None, "")]
    if not health or not given:
        return None, "no health check is configured"
    timeout = float(health.get("timeout") or 5.0)
    if given[0] == "port":
        return port(str(health.get("host") or "127.0.0.1"), int(health["port"]), timeout)
    if given[0] == "url":
        return url(str(health["url"]), timeout, health.get("validate_certs") is not False)
    if given[0] == "file":
        return file(str(health["file"]))
    return service(str(health["service"]))


def check_port(host: str, port: int, timeout: float) -> Answer:
    """Check that the port accepts a connection."""
    where = f"port {port} of {host}"
    try:
        with socket.create_connection((host, port), timeout):
            return True, f"{where} accepts connections"
    except (OSError, OverflowError, UnicodeError) as error:
        return False, f"{where} does not accept connections: {error}"


def check_url(url: str, timeout: float, validate_certs: bool = True) -> Answer:
    """Check that a GET answers with a status from 200 to 399, without a proxy. A redirect is an answer and not followed."""
    try:
        connection, path = _connection(url, timeout, validate_certs)
    except ValueError as error:
        return unusable_url(url, error)
    try:
        status = _status(connection, path, timeout)
    except (OSError, http.client.HTTPException, ValueError) as error:
        return False, f"{url} does not answer: {error or type(error).__name__}"
    finally:
        connection.close()
    return 200 <= status < 400, f"{url} answers with status {status}"


def split_url(url: str) -> urllib.parse.SplitResult:
    """Split a URL and check it, its port included. Raise ValueError with the reason where it is not valid."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("it does not begin with http://HOST or https://HOST")
    _port = parts.port
    return parts


def unusable_url(url: str, error: ValueError) -> Answer:
    """Return the answer for a URL that cannot be requested."""
    return None, f"the health check's URL {url} cannot be used: {error}"


def _connection(url: str, timeout: float, validate_certs: bool) -> tuple[http.client.HTTPConnection, str]:
    parts = split_url(url)
    host = str(parts.hostname)
    path = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
    if parts.scheme == "http":
        return http.client.HTTPConnection(host, parts.port, timeout=timeout), path
    import ssl  # here alone: it takes three megabytes of a process that only asks

    context = ssl.create_default_context()
    if not validate_certs:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return http.client.HTTPSConnection(host, parts.port, timeout=timeout, context=context), path


def _status(connection: http.client.HTTPConnection, path: str, timeout: float) -> int:
    # Not read by http.client, which restarts the time limit with every byte.
    end = time.monotonic() + timeout
    connection.request("GET", path, headers={"Connection": "close"})
    received = b""
    while b"\n" not in received:
        left = end - time.monotonic()
        if left <= 0:
            raise OSError(f"no answer within {timeout:g} seconds")
        connection.sock.settimeout(left)
        part = connection.sock.recv(4096)
        if not part or len(received) > LONGEST_ANSWER:
            raise ValueError("the answer is not HTTP")
        received += part
    found = STATUS_LINE.match(received.split(b"\n", 1)[0].rstrip(b"\r"))
    if found is None:
        raise ValueError("the answer is not HTTP")
    return int(found.group(1))


def check_file(path: str) -> Answer:
    """Check that the file exists. It may be empty, as flag files often are."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False, f"the file {path} is not there"
    except (OSError, ValueError) as error:
        return None, f"the file {path} cannot be examined: {error}"
    if stat.S_ISDIR(mode):
        return False, f"{path} is a directory and not a file"
    return True, f"the file {path} is there"


def check_service(name: str, run_command: RunCommand | None) -> Answer:
    """Check that systemd reports the unit as active."""
    if run_command is None:
        return None, f"the service {name} cannot be queried: there is no systemctl here"
    try:
        code, output, errors = run_command(["systemctl", "is-active", "--", name])
    except OSError as error:
        return None, f"the service {name} cannot be queried: {error}"
    first_line = (output.strip() or errors.strip() or "nothing").splitlines()[0]
    if code not in SYSTEMCTL_ANSWERS:
        return None, f"the service {name} cannot be queried: systemctl ended with {code} and reported {first_line}"
    return SYSTEMCTL_ANSWERS[code], f"systemd calls the service {name} {first_line}"
