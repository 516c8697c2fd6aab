# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import http.server
import os
import socket
import threading
import time

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.health import check


class Server:
    """Answers every connection with the given bytes, slowly if asked."""

    def __init__(self, *parts, pause=0.0):
        self.parts, self.pause = parts, pause
        self.requests = []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                connection, _address = self.socket.accept()
            except OSError:
                return
            with connection:
                self.requests.append(connection.recv(65536))
                try:
                    for part in self.parts:
                        connection.sendall(part)
                        time.sleep(self.pause)
                except OSError:
                    continue

    def __enter__(self):
        return self

    def __exit__(self, *_why):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def unused_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.mark.parametrize("health", [None, {}, {"timeout": 2.0, "host": "127.0.0.1", "port": None, "url": ""}])
def test_nothing_asked(health):
    assert check(health)[0] is None


def test_port():
    with Server(b"") as server:
        assert check({"port": server.port})[0] is True
    answer, why = check({"port": unused_port(), "timeout": 1})
    assert answer is False and "does not accept" in why
    assert check({"port": 99999})[0] is False


@pytest.mark.parametrize("status,answer", [("200 OK", True), ("204", True), ("301 Moved", True), ("399 x", True), ("400 Bad", False), ("503 Gone", False)])
def test_url_status(status, answer):
    with Server(f"HTTP/1.1 {status}\r\nLocation: http://192.0.2.1/\r\n\r\n".encode()) as server:
        found, why = check({"url": f"http://127.0.0.1:{server.port}/ready?x=1", "timeout": 2})
    assert found is answer and status[:3] in why
    assert server.requests[0].startswith(b"GET /ready?x=1 HTTP/1.1\r\n") and len(server.requests) == 1


@pytest.mark.parametrize("parts", [(b"",), (b"SSH-2.0-x\r\n",), (b"HTTP/1.1 abc\r\n",), (b"x" * 100000,), (b"HTTP/1.1 200",)])
def test_an_answer_that_is_not_http_is_not_in_service(parts):
    with Server(*parts) as server:
        assert check({"url": f"http://127.0.0.1:{server.port}/", "timeout": 2})[0] is False


def test_proxies_in_the_environment_do_not_matter(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{unused_port()}")
    with Server(b"HTTP/1.1 200 OK\r\n\r\n") as server:
        assert check({"url": f"http://127.0.0.1:{server.port}"})[0] is True


@pytest.mark.parametrize("parts,pause", [((b"HTTP",) * 400, 0.1), ((b"",), 60)])
def test_a_slow_answer_ends_with_the_time_limit(parts, pause):
    with Server(*parts, pause=pause) as server:
        began = time.monotonic()
        assert check({"url": f"http://127.0.0.1:{server.port}/", "timeout": 0.4})[0] is False
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("url", ["ftp://x/", "nonsense", "http://", "http://x:port/", "http://[::1/"])
def test_an_url_that_cannot_be_used_is_no_answer(url):
    answer, why = check({"url": url})
    assert answer is None and "cannot be used" in why


def test_an_url_with_odd_letters_is_no_traceback():
    assert check({"url": "http://127.0.0.1:1/a b\n\u20ac", "timeout": 1})[0] is not True
    assert check({"url": "http://" + "a" * 300 + "/", "timeout": 1})[0] is not True


def test_https_to_a_plain_server_is_not_in_service():
    with Server(b"HTTP/1.1 200 OK\r\n\r\n") as server:
        assert check({"url": f"https://127.0.0.1:{server.port}/", "timeout": 1, "validate_certs": False})[0] is False


def test_a_real_server_answers():
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(204)
            self.end_headers()

        def log_message(self, *arguments):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        assert check({"url": f"http://127.0.0.1:{server.server_port}/"})[0] is True
    finally:
        server.shutdown()
        server.server_close()


def test_file(tmp_path):
    flag = tmp_path / "ready"
    assert check({"file": str(flag)})[0] is False
    flag.touch()
    assert check({"file": str(flag)})[0] is True
    assert check({"file": str(tmp_path)})[0] is False
    assert check({"file": str(flag / "under")})[0] is False
    assert check({"file": "x\0y"})[0] is None
    os.symlink(str(tmp_path / "missing"), str(tmp_path / "link"))
    assert check({"file": str(tmp_path / "link")})[0] is False


@pytest.mark.parametrize(
    "answer,found",
    [
        ((0, "active\n", ""), True),
        ((0, "reloading\n", ""), True),
        ((3, "inactive\n", ""), False),
        ((3, "activating\n", ""), False),
        ((4, "inactive\n", ""), False),
        ((1, "", "System has not been booted with systemd"), None),
        ((127, "", ""), None),
    ],
)
def test_service(answer, found):
    asked = []

    def run(words):
        asked.append(words)
        return answer

    result, why = check({"service": "-x.service"}, run)
    assert result is found and "-x.service" in why
    assert asked == [["systemctl", "is-active", "--", "-x.service"]]


def test_service_without_systemctl():
    def run(_words):
        raise FileNotFoundError(2, "No such file or directory", "systemctl")

    assert check({"service": "x"}, run)[0] is None
    assert check({"service": "x"})[0] is None
