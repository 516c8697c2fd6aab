# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Access control of the control API, byte for byte: web pages, other users of the machine, other machines."""

from __future__ import annotations

import io
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from imds_simulator.control.api import Control
from imds_simulator.control.guard import Guard, make_token, read_token
from imds_simulator.simulator import Simulator
from imds_simulator.wire import Connection
from simulator_bench import Bench
from simulator_process import PACKAGE, SimulatorProcess, exchange

TOKEN = "Zm9yLXRlc3RzLW9ubHk"
EVENT = b'{"event_type": "Reboot", "resources": ["web1"]}'
JSON = "Content-Type: application/json"


class Line:
    """A connection to the control API: bytes in, bytes out."""

    def __init__(self, simulator: Simulator, guard: Guard) -> None:
        self.sent, self.closed = b"", False
        self.connection = Connection(Control(simulator, guard, simulator.add_vm).handle, [])
        self.connection.connection_made(self)

    def write(self, data: bytes) -> None:
        self.sent += data

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def ask(self, method: str, path: str, *headers: str, body: bytes = b"") -> tuple[int, dict[str, Any]]:
        """Status and JSON of the answer; the headers are exactly these, besides the length."""
        self.sent = b""
        length = [f"Content-Length: {len(body)}"] if body else []
        self.connection.data_received("\r\n".join([f"{method} {path} HTTP/1.1", *headers, *length, "", ""]).encode("latin-1") + body)
        head, _blank, answer = self.sent.partition(b"\r\n\r\n")
        return int(head.split()[1]), json.loads(answer)


def test_a_host_that_is_not_loopback_reaches_nothing(bench: Bench) -> None:
    line = Line(bench.simulator, Guard())
    for host in (
        *("attacker.example", "attacker.example:8168", "127.0.0.1.attacker.example", "localhost.attacker.example:80", "localhost@attacker.example"),
        *("10.0.0.5:8168", "169.254.169.254", "0.0.0.0", "0", "127.1", "2130706433", "0x7f.0.0.1", "[::]", "[::1", "::1", "[::ffff:127.0.0.1]", "[::1%lo]"),
        *("", ":8168", "localhost:", "localhost:x", "localhost:80:80", "localhost 127.0.0.1", "localhost, attacker.example", "localhost.", "127.0.0.1\xa0"),
    ):
        for method, path, body in (("GET", "/state", b""), ("POST", "/events", EVENT), ("POST", "/shutdown", b""), ("GET", "/nowhere", b"")):
            status, answer = line.ask(method, path, f"Host: {host}", JSON, body=body)
            assert (status, set(answer)) == (403, {"error"}), (host, answer)
            assert "loopback" in answer["error"] and "\n" not in answer["error"]
    assert bench.simulator.machine.events == {} and not bench.simulator.stopped.is_set()


def test_one_host_and_no_more(bench: Bench) -> None:
    assert Line(bench.simulator, Guard()).ask("GET", "/clock")[0] == 400
    line = Line(bench.simulator, Guard())
    assert line.ask("GET", "/clock", "Host: localhost", "Host: localhost")[0] == 400
    assert line.ask("GET", "/clock", "Host: localhost", "HOST : attacker.example")[0] == 400
    # A name in the request line itself does not replace the Host header.
    assert line.ask("GET", "http://attacker.example/clock", "Host: localhost")[0] == 404


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8168", "127.8.8.8:1", "localhost", "LocalHost:65535", "[::1]", "[::1]:80"])
def test_loopback_has_many_names(bench: Bench, host: str) -> None:
    assert Line(bench.simulator, Guard()).ask("GET", "/clock", f"Host: {host}")[0] == 200


def test_a_host_that_was_named_is_answered(bench: Bench) -> None:
    line = Line(bench.simulator, Guard(TOKEN, ["Lab.example", "[fd00::5]"]))
    for host, status in (("lab.example:80", 200), ("LAB.EXAMPLE", 200), ("[FD00::5]:8168", 200), ("other.example", 403)):
        assert line.ask("GET", "/clock", f"Host: {host}", f"Authorization: Bearer {TOKEN}")[0] == status


@pytest.mark.parametrize("origin", ["http://attacker.example", "null", "", "http://127.0.0.1:8168", "http://localhost"])
def test_a_web_page_is_refused_even_ours(bench: Bench, origin: str) -> None:
    line = Line(bench.simulator, Guard(TOKEN))
    status, answer = line.ask("POST", "/events", "Host: localhost", f"Origin: {origin}", f"Authorization: Bearer {TOKEN}", JSON, body=EVENT)
    assert status == 403 and "Origin" in answer["error"]
    assert line.ask("OPTIONS", "/events", "Host: localhost", f"Origin: {origin}")[0] == 403
    assert bench.simulator.machine.events == {}


def test_a_body_is_json_or_refused(bench: Bench) -> None:
    line = Line(bench.simulator, Guard())
    plain = ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x", "", "application/jsonp", "text/plain; application/json"]
    for headers in ([], *([f"Content-Type: {kind}"] for kind in plain), [JSON, "Content-Type: text/plain"]):
        status, answer = line.ask("POST", "/events", "Host: localhost", *headers, body=EVENT)
        assert status == 415 and "application/json" in answer["error"], headers
    assert bench.simulator.machine.events == {}
    for header in (JSON, "content-type:  Application/JSON ; charset=utf-8"):
        assert line.ask("POST", "/events", "Host: localhost", header, body=EVENT)[0] == 200
    # A call without a body needs no Content-Type.
    assert line.ask("DELETE", "/requests", "Host: localhost")[0] == 200
    status, answer = line.ask("POST", "/events", "Host: localhost", JSON, body=b"[" * 100000)
    assert (status, answer["error"]) == (400, "the body is not JSON")


def test_without_the_token_nothing_is_shown(bench: Bench) -> None:
    line = Line(bench.simulator, Guard(TOKEN))
    right = f"Authorization: Bearer {TOKEN}"
    wrong = [f"Authorization: {words}" for words in (TOKEN, f"Basic {TOKEN}", "Bearer", "Bearer x", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer \xe4")]
    for headers in ([], *([each] for each in wrong), [right, right], [f"X-Token: {TOKEN}"]):
        status, answer = line.ask("GET", "/state", "Host: localhost", *headers)
        assert (status, set(answer)) == (401, {"error"}), headers
        assert TOKEN not in answer["error"] and b"WWW-Authenticate: Bearer\r\n" in line.sent
        assert line.ask("GET", "/nowhere", "Host: localhost", *headers)[0] == 401
    assert line.ask("GET", "/state", "Host: localhost", right)[0] == 200
    assert line.ask("GET", "/state", "Host: localhost", f"authorization: bearer  {TOKEN}")[0] == 200


def test_a_refusal_reveals_nothing_of_later_checks(bench: Bench) -> None:
    line = Line(bench.simulator, Guard(TOKEN))
    assert line.ask("POST", "/events", "Host: attacker.example", "Origin: x", body=EVENT)[0] == 403
    assert line.ask("POST", "/events", "Host: localhost", body=EVENT)[0] == 401


def test_a_token_is_made_once_and_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "token"
    mask = os.umask(0)
    try:
        assert make_token(str(path))
    finally:
        os.umask(mask)
    made = read_token(str(path))
    assert (stat.S_IMODE(path.stat().st_mode), len(made) >= 40) == (0o600, True)
    assert not make_token(str(path)) and read_token(str(path)) == made
    (tmp_path / "elsewhere").symlink_to(tmp_path / "nothing")
    assert not make_token(str(tmp_path / "elsewhere")) and not (tmp_path / "nothing").exists()


@pytest.mark.parametrize(
    ("content", "mode", "message"),
    [
        (TOKEN, 0o644, "others may read"),
        (TOKEN, 0o640, "others may read"),
        ("", 0o600, "holds no control token"),
        ("short", 0o600, "holds no control token"),
        (f"{TOKEN}\n{TOKEN}", 0o600, "holds no control token"),
        ("ä" * 20, 0o600, "holds no control token"),
        ("x" * 5000, 0o600, "holds no control token"),
    ],
)
def test_a_file_that_is_no_token(tmp_path: Path, content: str, mode: int, message: str) -> None:
    path = tmp_path / "token"
    path.write_text(content)
    path.chmod(mode)
    with pytest.raises(ValueError, match=message) as problem:
        read_token(str(path))
    assert TOKEN not in str(problem.value)


def test_a_token_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{TOKEN}\n"))
    assert read_token("-") == TOKEN


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.5", "lab.example", "127.0.0.1.attacker.example"])
def test_other_addresses_need_a_token(bench: Bench, host: str) -> None:
    with pytest.raises(ValueError, match="--control-token-file"):
        bench.loop.run_until_complete(bench.simulator.start_control(host, 0))
    assert bench.simulator.control_url is None


def test_the_process_with_a_token(tmp_path: Path) -> None:
    path = tmp_path / "token"
    make_token(str(path))
    token = path.read_text().strip()
    with SimulatorProcess("--vm", "web1", "--control", "0.0.0.0:0", "--control-token-file", str(path), "--control-host", "lab.example") as simulator:
        url = simulator.control_url.replace("0.0.0.0", "127.0.0.1")
        assert exchange(url, "GET", "/state", {})[0] == 401
        assert exchange(url, "GET", "/state", {"Authorization": f"Bearer {token}"})[0] == 200
        words = Path(f"/proc/{simulator.process.pid}/cmdline").read_bytes() + Path(f"/proc/{simulator.process.pid}/environ").read_bytes()
        assert token.encode() not in words
        # The simulated endpoint is not affected.
        assert exchange(simulator.url(0), "GET", "/metadata/scheduledevents?api-version=2020-07-01", {"Metadata": "true"})[0] == 200


def test_no_other_source_of_the_role_reads_the_token() -> None:
    """Neither the log nor the recorder can store the token, since they never receive it."""
    reading = {path.name for path in PACKAGE.glob("*.py") if "token" in path.read_text().lower()}
    assert reading <= {"guard.py", "command_line.py", "simulator.py"}
