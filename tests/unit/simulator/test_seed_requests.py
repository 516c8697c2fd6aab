# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The requests of the samples on Microsoft's pages, sent as those samples send them, get the documented answers."""

from __future__ import annotations

import http.client
import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
import requests
from simulator_process import SimulatorProcess

BASH_ID = "f020ba2e-3bc0-4c40-a10b-86575a9eabd5"
POWERSHELL_ID = "5DD55B64-45AD-49D3-BBC9-F57D4EA97BD7"
PREVIEW = "/metadata/scheduledevents?api-version=2017-03-01"
PATH = "/metadata/scheduledevents"


@pytest.fixture
def simulator() -> Iterator[SimulatorProcess]:
    with SimulatorProcess("--vm", "mysrv", "--clock", "virtual", "--switch", "rate_limit=0") as made:
        for event_id in (BASH_ID, POWERSHELL_ID):
            made.control("events", {"event_id": event_id, "event_type": "Redeploy", "resources": ["mysrv"]})
        yield made


def _approved(simulator: SimulatorProcess) -> list[str]:
    return [entry["event_id"] for entry in simulator.control("log?transition=approved")]


def _curl(*words: str) -> tuple[int, str]:
    if not shutil.which("curl"):
        return _as_curl_sends(words)
    run = ["curl", "--silent", "--noproxy", "*", "--max-time", "10", "--write-out", "\n%{http_code}", *words]
    body, _newline, status = subprocess.run(run, capture_output=True, text=True, check=True).stdout.rpartition("\n")
    return int(status), body


def _as_curl_sends(words: tuple[str, ...]) -> tuple[int, str]:
    """For machines without curl: the same request, with the headers that curl adds."""
    *options, url = words
    given = dict(zip(options[::2], options[1::2], strict=True))
    name, _colon, value = given["-H"].partition(":")
    headers = {"User-Agent": "curl/8.0", "Accept": "*/*", name: value}
    body = given.get("-d")
    if body is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.netloc, timeout=10)
    connection.request(given.get("-X", "GET"), f"{address.path}?{address.query}", body, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def _raw(simulator: SimulatorProcess, text: str, body: str = "", answers: int = 1) -> str:
    """Send exactly these bytes and read until the connection is quiet; for clients that are not installed here."""
    address = urlsplit(simulator.url(0))
    with socket.create_connection((address.hostname or "", address.port or 0), 10) as connection:
        connection.sendall((text.replace("\n", "\r\n") + "\r\n\r\n").encode())
        got = b""
        if "Expect" in text:
            got = connection.recv(1000)
            assert got == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body.encode())
        while got.count(b"HTTP/1.1 ") < answers + text.count("Expect") or b"\r\n\r\n" not in got:
            data = connection.recv(65536)
            if not data:
                break
            got += data
    return got.decode()


def test_bash_get(simulator: SimulatorProcess) -> None:
    status, body = _curl("-H", "Metadata:true", f"{simulator.url(0)}{PATH}?api-version=2020-07-01")
    document = json.loads(body)
    assert (status, document["DocumentIncarnation"]) == (200, 3)
    assert [event["EventId"] for event in document["Events"]] == [BASH_ID, POWERSHELL_ID]


def test_bash_get_of_the_preview(simulator: SimulatorProcess) -> None:
    status, body = _curl("-H", "Metadata:true", simulator.url(0) + PREVIEW)
    assert status == 200
    assert [event["Resources"] for event in json.loads(body)["Events"]] == [["_mysrv"], ["_mysrv"]]


def test_bash_post_is_form_urlencoded_and_counts_all_the_same(simulator: SimulatorProcess) -> None:
    body = '{"StartRequests": [{"EventId": "%s"}]}' % BASH_ID
    url = f"{simulator.url(0)}{PATH}?api-version=2020-07-01"
    assert _curl("-H", "Metadata:true", "-X", "POST", "-d", body, url) == (200, "")
    assert _approved(simulator) == [BASH_ID]
    sent = simulator.control("requests?method=POST")[0]
    assert sent["headers"]["content-type"] == "application/x-www-form-urlencoded"
    assert sent["body"] == body


def test_bash_post_of_the_preview_names_the_document(simulator: SimulatorProcess) -> None:
    body = '{"DocumentIncarnation":"5", "StartRequests": [{"EventId": "%s"}]}' % BASH_ID
    assert _curl("-H", "Metadata:true", "-X", "POST", "-d", body, simulator.url(0) + PREVIEW) == (200, "")
    assert _approved(simulator) == [BASH_ID]


def test_python_requests_as_in_the_long_sample(simulator: SimulatorProcess) -> None:
    """Approves every outstanding event in a request of its own, as the sample's loop does for user events."""
    url, header, query = simulator.url(0) + PATH, {"Metadata": "true"}, {"api-version": "2020-07-01"}
    session = requests.Session()
    session.trust_env = False
    payload = session.get(url, headers=header, params=query, timeout=10).json()
    assert payload["DocumentIncarnation"] == 3
    for event in payload["Events"]:
        data = json.dumps({"StartRequests": [{"EventId": event["EventId"]}]})
        assert session.post(url, headers=header, params=query, data=data, timeout=10).status_code == 200
    assert _approved(simulator) == [BASH_ID, POWERSHELL_ID]
    assert "content-type" not in simulator.control("requests?method=POST")[0]["headers"]


def test_powershell_invoke_restmethod(simulator: SimulatorProcess) -> None:
    """Windows PowerShell 5.1 on the wire: its own user agent, form-urlencoded, a body in one line."""
    body = '{"StartRequests": [{"EventId": "%s"}]}' % POWERSHELL_ID
    answer = _raw(
        simulator,
        f"POST {PATH}?api-version=2020-07-01 HTTP/1.1\nMetadata: true\nUser-Agent: Mozilla/5.0 (Windows NT) WindowsPowerShell/5.1\n"
        f"Content-Type: application/x-www-form-urlencoded\nHost: 169.254.169.254\nContent-Length: {len(body)}\nConnection: Keep-Alive",
        body,
    )
    assert answer.startswith("HTTP/1.1 200 OK\r\n")
    assert "Content-Length: 0\r\n" in answer
    assert _approved(simulator) == [POWERSHELL_ID]


def test_powershell_convertto_json_of_the_china_page(simulator: SimulatorProcess) -> None:
    """ConvertTo-Json prints over several lines, and the page mixes 2019-08-01 and 2019-01-01."""
    body = '{\r\n    "StartRequests":  [\r\n                          {\r\n                              "EventId":  "%s"\r\n' % POWERSHELL_ID
    body += "                          }\r\n                      ]\r\n}"
    header = f"Metadata: true\nHost: 169.254.169.254\nContent-Length: {len(body)}"
    assert _raw(simulator, f"POST {PATH}?api-version=2019-01-01 HTTP/1.1\n{header}", body).startswith("HTTP/1.1 200")
    assert _approved(simulator) == [POWERSHELL_ID]


def test_csharp_of_the_preview_without_header_with_expect(simulator: SimulatorProcess) -> None:
    """WebClient sends Expect: 100-continue and no Metadata header with its approval; the incarnation is text."""
    ids = ",".join('{"EventId":"%s"}' % event_id for event_id in (BASH_ID, POWERSHELL_ID))
    body = '{"DocumentIncarnation":"5","StartRequests":[%s]}' % ids
    answer = _raw(
        simulator,
        f"POST {PREVIEW} HTTP/1.1\nContent-Type: application/json\nHost: 169.254.169.254\n"
        f"Content-Length: {len(body)}\nExpect: 100-continue\nConnection: Keep-Alive",
        body,
    )
    assert answer.count("HTTP/1.1 200 OK") == 1
    assert _approved(simulator) == [BASH_ID, POWERSHELL_ID]


@pytest.mark.parametrize("incarnation", ['"DocumentIncarnation": 5,', '"DocumentIncarnation": "5",', ""])
def test_the_preview_takes_the_incarnation_as_text_as_number_and_not_at_all(simulator: SimulatorProcess, incarnation: str) -> None:
    body = '{%s"StartRequests": [{"EventId": "%s"}]}' % (incarnation, BASH_ID)
    header = f"Host: 169.254.169.254\nContent-Length: {len(body)}"
    assert _raw(simulator, f"POST {PREVIEW} HTTP/1.1\n{header}", body).startswith("HTTP/1.1 200")


def test_the_nodejs_sample_asks_for_changes_only(simulator: SimulatorProcess) -> None:
    """It sends the ETag of the last 200 in If-None-Match and takes 304 for "nothing new"."""
    url, header = f"{simulator.url(0)}{PATH}?api-version=2020-07-01", {"Metadata": "true"}
    with requests.Session() as session:
        session.trust_env = False
        tag = session.get(url, headers=header, timeout=10).headers["ETag"]
        header["If-None-Match"] = tag
        assert session.get(url, headers=header, timeout=10).status_code == 304
        simulator.control(f"events/{BASH_ID}/cancel", {})
        assert session.get(url, headers=header, timeout=10).status_code == 200


def test_the_four_documents_of_the_example(simulator: SimulatorProcess) -> None:
    """Incarnation 1 empty, 2 Scheduled, 3 Started with a blank NotBefore and the same id, 4 empty."""
    with SimulatorProcess("--clock", "virtual", "--start", "2022-04-11T22:11:48Z", "--scenario", "live-migration") as own:

        def document() -> dict[str, object]:
            found: dict[str, object] = requests.get(own.url(0) + PATH, headers={"Metadata": "true"}, params={"api-version": "2020-07-01"}, timeout=10).json()
            return found

        event = {
            "EventId": "C7061BAC-AFDC-4513-B24B-AA5F13A16123",
            "EventStatus": "Scheduled",
            "EventType": "Freeze",
            "ResourceType": "VirtualMachine",
            "Resources": ["WestNO_0", "WestNO_1"],
            "NotBefore": "Mon, 11 Apr 2022 22:26:58 GMT",
            "Description": "Virtual machine is being paused because of a memory-preserving Live Migration operation.",
            "EventSource": "Platform",
            "DurationInSeconds": 5,
        }
        assert document() == {"DocumentIncarnation": 1, "Events": []}
        own.control("clock", {"advance": 10})
        assert document() == {"DocumentIncarnation": 2, "Events": [event]}
        own.control("clock", {"advance": 900})
        assert document() == {"DocumentIncarnation": 3, "Events": [{**event, "EventStatus": "Started", "NotBefore": ""}]}
        own.control("clock", {"advance": 300})
        assert document() == {"DocumentIncarnation": 4, "Events": []}
