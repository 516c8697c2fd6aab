# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Ask the start gate (C(respond_start_when)), on the controller. No answer, and any error, is no: the text says what came, and from where."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypedDict
from urllib.parse import urlsplit

try:
    import requests
except ImportError as error:  # missing in the controller's environment: reported where it is needed
    MISSING: ImportError | None = error
else:
    MISSING = None

from ...module_utils._scheduled_events.core.printable_text import printable
from ...module_utils._scheduled_events.core.types import Values
from .requests_transport import innermost_reason

NOT_RUN = "the command {} is not run in check mode, by status or by decide, which counts as no"
# Bytes of an answer of Prometheus. The result of a query that decides is small.
LONGEST_BODY = 1_000_000
CHUNK = 65536
# Characters of an output, or of a body, in a message.
LONGEST_SAID = 200


class StartAnswer(TypedDict):
    """Whether something may begin; if not, why."""

    go: bool
    text: str


class _NoAnswer(Exception):
    """No usable answer; the message says what came."""


def ask(start_when: Values, runs_commands: bool) -> StartAnswer:
    """Ask a checked start gate (config/start_when.py). A command is run only with C(runs_commands)."""
    seconds = float(start_when["timeout"])
    if start_when["command"]:
        return _command(start_when["command"], seconds, runs_commands)
    if MISSING is not None:
        return _no(f"it needs the Python package requests on the controller (pip install requests): {MISSING}")
    if start_when["prometheus"]:
        url, query = start_when["prometheus"]["url"], start_when["prometheus"]["query"]
        address = f"{url.rstrip('/')}/api/v1/query"
        return _within(seconds, address, lambda: _prometheus(address, query, seconds))
    return _within(seconds, start_when["url"], lambda: _url(start_when["url"], seconds))


def _no(text: str) -> StartAnswer:
    return {"go": False, "text": printable(text)}


def _shown(address: str) -> str:
    """Return an address for messages: without a password, and without a query, which may have a token."""
    parts = urlsplit(address)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}{parts.path}"


# --- HTTP ----------------------------------------------------------------------------------------------------------------


def _within(seconds: float, address: str, request: Callable[[], StartAnswer]) -> StartAnswer:
    """Return the answer, or no after so many seconds.

    The timeout of requests begins anew with each piece of an answer, headers included. So the request has a thread of its own, which is left
    to itself after the time.
    """
    found: list[StartAnswer] = []

    def run() -> None:
        try:
            found.append(request())
        except _NoAnswer as error:
            found.append(_no(f"{_shown(address)} {error}; let it answer, or correct the address"))
        except Exception as error:
            # Whatever else goes wrong must not end the run, which recovers VMs.
            found.append(_no(f"{_shown(address)} gave no answer: {printable(innermost_reason(error), LONGEST_SAID)}; start it, or correct the address"))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    return found[0] if found else _no(f"{_shown(address)} gave no answer within {seconds:g} s; see what it does, or set a longer timeout")


def _url(url: str, seconds: float) -> StartAnswer:
    with requests.get(url, timeout=seconds, allow_redirects=False, stream=True) as response:
        if 200 <= response.status_code < 300:
            return {"go": True, "text": ""}
        return _no(f"{_shown(url)} answered {response.status_code} {response.reason or ''}".rstrip() + "; 2xx is yes")


def _prometheus(address: str, query: str, seconds: float) -> StartAnswer:
    with requests.get(address, params={"query": query}, timeout=seconds, allow_redirects=False, stream=True) as response:
        body = _body(response, seconds)
        if not 200 <= response.status_code < 300:
            raise _NoAnswer(f"answered {response.status_code} {response.reason or ''}".rstrip() + f"{_error_of(body)}")
    values = _values(body)
    if values and all(value == 1 for value in values):
        return {"go": True, "text": ""}
    others = [value for value in values if value != 1]
    what = f"{len(others)} of {len(values)} values are not 1, the first is {others[0]:g}" if others else "the result is empty"
    return _no(f"{_shown(address)} answered the query {query}: {what}")


def _body(response: requests.Response, seconds: float) -> bytes:
    body, ends = b"", time.monotonic() + seconds
    for piece in response.iter_content(CHUNK):
        body += piece
        if len(body) > LONGEST_BODY:
            raise _NoAnswer(f"answered with more than {LONGEST_BODY} bytes")
        if time.monotonic() > ends:
            raise _NoAnswer(f"answered too slowly: no end within {seconds:g} s")
    return body


def _error_of(body: bytes) -> str:
    """Return the error in an answer of Prometheus, or nothing."""
    try:
        given = json.loads(body)
    except ValueError:
        return ""
    error = given.get("error") if isinstance(given, dict) else None
    return f" ({printable(error, LONGEST_SAID)})" if isinstance(error, str) else ""


def _values(body: bytes) -> list[float]:
    """Return the values of an instant vector."""
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _NoAnswer("did not answer with JSON, as Prometheus does") from error
    data = given.get("data") if isinstance(given, dict) and given.get("status") == "success" else None
    if not isinstance(data, dict) or not isinstance(data.get("result"), list):
        raise _NoAnswer("did not answer as Prometheus does")
    if data.get("resultType") != "vector":
        raise _NoAnswer(f"answered with a {printable(data.get('resultType'), LONGEST_SAID)}, and the query must give a vector (vector() makes one of a scalar)")
    return [_value(sample) for sample in data["result"]]


def _value(sample: Any) -> float:
    """Return the value of a sample, C([time, "1"])."""
    pair = sample.get("value") if isinstance(sample, dict) else None
    try:
        value = float(pair[1]) if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], str) else math.nan
    except ValueError:
        value = math.nan
    return value


# --- A command -----------------------------------------------------------------------------------------------------------


def _command(words: Sequence[str], seconds: float, runs_commands: bool) -> StartAnswer:
    """Run a command without a shell. Exit code 0 is yes."""
    name = printable(words[0], LONGEST_SAID)
    if not runs_commands:
        return _no(NOT_RUN.format(name))
    # A file, not a pipe: a process that it leaves behind may keep a pipe open.
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(list(words), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        except (OSError, ValueError) as error:
            return _no(f"the command {name} cannot be started: {getattr(error, 'strerror', None) or error}; correct it")
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            _kill(process)
            return _no(f"the command {name} did not end within {seconds:g} s and was killed; see what it does, or set a longer timeout")
        if code == 0:
            return {"go": True, "text": ""}
        output.seek(0)
        said = printable(output.read(4 * LONGEST_SAID).decode("utf-8", "replace").strip(), LONGEST_SAID)
    return _no(f"the command {name} ended with exit code {code}{f': {said}' if said else ''}; 0 is yes")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the command and what it has started in its session."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        process.kill()
    process.wait()
