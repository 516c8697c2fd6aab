# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking the start gate, with real sockets and commands: whatever is not a clear yes is no, with what came and from where."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._controller import start_gate
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config import start_when
from ansible_collections.maintenance.azure.tests.unit.plugins.support import Server, drip, hang_up, http, reset, slowly, then_close

YES = {"go": True, "text": ""}
QUERY = 'min(up{job="web"}) == bool 1'


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def ask(given_: dict[str, Any], runs_commands: bool = True) -> start_gate.StartAnswer:
    loaded = start_when.load({"timeout": 5, **given_})
    assert loaded is not None
    return start_gate.ask(loaded, runs_commands)


def no(given_: dict[str, Any], runs_commands: bool = True) -> str:
    found = ask(given_, runs_commands)
    assert found["go"] is False
    assert found["text"].isprintable()
    return found["text"]


def vector(*values: Any, **more: Any) -> bytes:
    result = [{"metric": {"job": "web"}, "value": [1_800_000_000.0, value]} for value in values]
    return http(body=json.dumps({"status": "success", "data": {"resultType": "vector", "result": result, **more}}))


# An address


@pytest.mark.parametrize("status", [200, 204, 299])
def test_2xx_is_yes(status: int) -> None:
    with Server(http(status)) as server:
        assert ask({"url": f"{server.url}/may-start?token=s3cret"}) == YES
        assert (server.requests[0].method, server.requests[0].path) == ("GET", "/may-start?token=s3cret")


@pytest.mark.parametrize("status", [302, 404, 500, 503])
def test_any_other_status_is_no_and_a_redirect_is_not_followed(status: int) -> None:
    with Server(http(status, Location="/other")) as server:
        said = no({"url": f"{server.url}/may-start?token=s3cret"})
        assert said == f"{server.url}/may-start answered {status} Whatever; 2xx is yes"
        assert len(server.requests) == 1


@pytest.mark.parametrize("step", [reset, hang_up, then_close(b"HTTP/1.1"), then_close(b"nonsense\r\n\r\n")])
def test_a_broken_answer_is_no(step: Any) -> None:
    with Server(step) as server:
        assert no({"url": server.url}).startswith(f"{server.url} gave no answer: ")


def test_where_nothing_listens_is_no() -> None:
    with socket.socket() as taken:
        # Bound, so that no other program gets the port, and not listening.
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        said = no({"url": f"{address}/x"})
    assert said == f"{address}/x gave no answer: Connection refused; start it, or correct the address"


@pytest.mark.parametrize("step", [slowly(60, http()), drip(http(X="y" * 600), 0.1)], ids=["late", "byte after byte"])
def test_an_answer_that_is_too_slow_is_no(step: Any) -> None:
    with Server(step) as server:
        began = time.monotonic()
        said = no({"url": server.url, "timeout": 0.5})
        assert time.monotonic() - began < 30
        # The request itself may end a moment before its time is over.
        assert said.startswith((f"{server.url} gave no answer within 0.5 s; ", f"{server.url} gave no answer: Read timed out"))


def test_a_password_is_sent_and_not_shown() -> None:
    with Server(http(503)) as server:
        said = no({"url": server.url.replace("//", "//alice:s3cret@")})
        assert server.requests[0].headers["authorization"].startswith("Basic ")
        assert "s3cret" not in said and "alice" not in said
        port = server.url.rpartition(":")[2]
    assert "s3cret" not in no({"url": f"http://alice:s3cret@127.0.0.1:{port}/"})


def test_without_requests_it_is_no_and_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_gate, "MISSING", ImportError("No module named 'requests'"))
    assert "needs the Python package requests on the controller (pip install requests)" in no({"url": "http://127.0.0.1:9"})
    assert ask({"command": ["true"]}) == YES


# Prometheus


@pytest.mark.parametrize("values", [["1"], ["1", "1.0", "1e0"]])
def test_a_vector_of_ones_is_yes(values: list[str]) -> None:
    with Server(vector(*values)) as server:
        assert ask({"prometheus": {"url": f"{server.url}/prometheus/", "query": QUERY}}) == YES
        assert server.requests[0].path.startswith("/prometheus/api/v1/query?query=min%28up")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (vector(), f"answered the query {QUERY}: the result is empty"),
        (vector("1", "0", "0.5"), "2 of 3 values are not 1, the first is 0"),
        (vector("NaN"), "1 of 1 values are not 1, the first is nan"),
        (vector("2"), "the first is 2"),
        (vector(1), "the first is nan"),
        (vector("true"), "the first is nan"),
        (vector(None), "the first is nan"),
        (vector("1", resultType="matrix"), "answered with a matrix, and the query must give a vector"),
        (http(body='{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}'), "answered with a scalar, and the query must give a vector"),
        (http(body='{"status":"error","error":"x","data":{"resultType":"vector","result":[]}}'), "did not answer as Prometheus does"),
        (http(body='{"status":"success","data":{"resultType":"vector","result":{}}}'), "did not answer as Prometheus does"),
        (http(body='{"status":"success","data":{"resultType":"vector","result":[1]}}'), "the first is nan"),
        (http(body='{"status":"success"}'), "did not answer as Prometheus does"),
        (http(body="<html>"), "did not answer with JSON, as Prometheus does"),
        (http(body="[" * 100_000), "did not answer with JSON, as Prometheus does"),
        (http(body=" " * 1_100_000), "answered with more than 1000000 bytes"),
        (http(400, body='{"status":"error","error":"parse error\\u001b[2J"}'), "answered 400 Whatever (parse error\\x1b[2J)"),
        (http(502, body="<html>"), "answered 502 Whatever; let it answer"),
        (hang_up, "gave no answer: "),
    ],
    ids=range(19),
)  # fmt: skip
def test_whatever_else_prometheus_answers_is_no(answer: Any, words: str) -> None:
    with Server(answer) as server:
        said = no({"prometheus": {"url": server.url, "query": QUERY}})
        assert words in said
        assert said.startswith(f"{server.url}/api/v1/query ")


def test_a_slow_body_of_prometheus_is_no() -> None:
    with Server(drip(vector("1" * 500), 0.1)) as server:
        began = time.monotonic()
        no({"prometheus": {"url": server.url, "query": QUERY}, "timeout": 0.5})
        assert time.monotonic() - began < 30


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda one: st.lists(one) | st.dictionaries(st.text(), one)), st.integers(0, 3))
def test_any_json_has_values_or_is_refused(value: Any, depth: int) -> None:
    for name in ("value", "result", "data")[:depth]:
        value = {name: value} if name != "data" else {"status": "success", "data": {"resultType": "vector", **value}}
    try:
        found = start_gate._values(json.dumps(value).encode())
    except start_gate._NoAnswer:
        return
    assert all(isinstance(one, float) for one in found)


# A command


def script(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def test_exit_code_0_is_yes_whatever_it_prints() -> None:
    assert ask({"command": script("print('no')")}) == YES


def test_another_exit_code_is_no_with_its_output() -> None:
    said = no({"command": script("import sys; print('release\\x1b[2J', 'x' * 10**6); sys.exit(3)")})
    assert said.startswith(f"the command {sys.executable} ended with exit code 3: release\\x1b[2J")
    assert len(said) < 500
    assert "exit code -15; 0 is yes" in no({"command": script("import os; os.kill(os.getpid(), 15)")})


def test_a_command_that_cannot_be_started_is_no() -> None:
    assert no({"command": ["/nowhere/may-start"]}) == "the command /nowhere/may-start cannot be started: No such file or directory; correct it"


def test_no_shell_reads_it(tmp_path: Any) -> None:
    assert ask({"command": ["test", "$(touch x); `touch x` > x", "=", "$(touch x); `touch x` > x"]}) == YES


def test_a_command_that_does_not_end_is_killed_with_what_it_started(tmp_path: Any) -> None:
    pids = tmp_path / "pids"
    text = f"import os, subprocess, time; c = subprocess.Popen(['sleep', '60']); open({str(pids)!r}, 'w').write(f'{{c.pid}}'); time.sleep(60)"
    began = time.monotonic()
    assert "did not end within 3 s and was killed" in no({"command": script(text), "timeout": 3})
    assert time.monotonic() - began < 30
    for _attempt in range(50):
        state = _state(int(pids.read_text()))
        if state in ("", "Z"):
            break
        time.sleep(0.1)
    assert state in ("", "Z")


def _state(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def test_a_process_that_it_leaves_behind_delays_nothing() -> None:
    began = time.monotonic()
    assert ask({"command": script("import subprocess; subprocess.Popen(['sleep', '40'])")}) == YES
    assert time.monotonic() - began < 30


def test_where_nothing_may_run_it_is_not_run_and_no(tmp_path: Any) -> None:
    said = no({"command": ["touch", str(tmp_path / "ran")]}, runs_commands=False)
    assert said == "the command touch is not run in check mode, by status or by decide, which counts as no"
    assert os.listdir(tmp_path) == []


def test_an_address_is_asked_where_no_command_may_run() -> None:
    with Server(http()) as server:
        assert ask({"url": server.url}, runs_commands=False) == YES
