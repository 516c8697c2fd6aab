# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Item 12: what a web page in somebody's browser can do to the simulator's control port."""

from __future__ import annotations

import http.client
import json
import subprocess
import typing as t
import urllib.parse

import pytest
from lab.simulator import Simulator

EVENT = {"event_type": "Reboot", "resources": ["web1"]}
JSON = {"Content-Type": "application/json"}
ATTACKS: dict[str, dict[str, str]] = {
    "a form of another site": {"Content-Type": "text/plain", "Origin": "http://evil.example"},
    "text/plain": {"Content-Type": "text/plain"},
    "no content type": {},
    "a form": {"Content-Type": "application/x-www-form-urlencoded"},
    "an origin": {**JSON, "Origin": "http://evil.example"},
    "the null origin of a sandbox": {**JSON, "Origin": "null"},
    "a rebound name": {**JSON, "Host": "evil.example"},
    "a name that begins well": {**JSON, "Host": "localhost.evil.example"},
    "a name behind a user": {**JSON, "Host": "127.0.0.1@evil.example"},
}


@pytest.fixture(scope="module")
def simulator() -> t.Iterator[Simulator]:
    running = Simulator(("web1",), 1)
    yield running
    running.close()


def send(simulator: Simulator, method: str, path: str, body: str | None, headers: t.Mapping[str, str]) -> int:
    """One request with exactly these headers; its status."""
    address = urllib.parse.urlsplit(simulator.control)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=10)
    connection.putrequest(method, path, skip_host="Host" in headers, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders((body or "").encode())
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.parametrize("what", list(ATTACKS))
def test_no_page_makes_an_event(simulator: Simulator, what: str) -> None:
    before = len(simulator.ask("GET", "/events"))
    status = send(simulator, "POST", "/events", json.dumps(EVENT), ATTACKS[what])
    assert len(simulator.ask("GET", "/events")) == before, f"an event was made (status {status})"
    assert 400 <= status < 500, status


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
def test_no_page_reads_the_requests(simulator: Simulator, headers: dict[str, str]) -> None:
    assert 400 <= send(simulator, "GET", "/requests", None, headers) < 500


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Content-Type": "text/plain"}])
def test_no_page_ends_it(headers: dict[str, str]) -> None:
    running = Simulator(("web1",), 1)
    try:
        send(running, "POST", "/shutdown", "{}", headers)
        with pytest.raises(subprocess.TimeoutExpired):
            running.process.wait(1)
    finally:
        running.close()


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_whoever_sits_there_may(simulator: Simulator, host: str) -> None:
    """Or the refusals above prove nothing."""
    port = urllib.parse.urlsplit(simulator.control).port
    assert send(simulator, "POST", "/events", json.dumps(EVENT), {**JSON, "Host": f"{host}:{port}"}) == 200
