# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a message was not delivered, in fixed words: a receiver that repeats the request puts none of it into the reason."""

from __future__ import annotations

import collections.abc
import http.server
import logging
import pathlib
import threading
import time
import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._controller import notifier
from ansible_collections.maintenance.azure.plugins.plugin_utils._controller.notify_sender import UNKNOWN, _Log
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config import notify_targets


def reason(line: str) -> str:
    log = _Log()
    log.emit(logging.LogRecord("apprise", logging.DEBUG, "", 0, line, None, None))
    return log.reason()


@pytest.mark.parametrize(
    "line",
    [
        "Response Details: POST /T0K/S3CRET Authorization: Basic bWU6czNjcmV0",
        "Authentication s3cret failed",
        "AuthenticationS3CRET failed",
        "error=s3cret",
        "https://me:s3cret@127.0.0.1/",
    ],
)
def test_no_word_of_a_receiver_is_a_reason(line: str) -> None:
    assert reason(line) == UNKNOWN


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("(535, b'5.7.8 Error: authentication failed: s3cret')", "authentication failed"),
        ("(535, b'5.7.8 Authentication credentials invalid')", "Authentication credentials invalid"),
        ("(535, b'5.7.3 Authentication unsuccessful s3cret')", "Authentication unsuccessful"),
        ("Failed to send JSON POST notification: Unauthorized s3cret., error=401.", "HTTP status 401"),
        ("HTTPSConnectionPool(host='s3cret'): certificate verify failed", "certificate verify failed"),
    ],
)
def test_a_reason_is_told_in_fixed_words(line: str, words: str) -> None:
    assert reason(line) == words


@pytest.mark.parametrize(("content", "why"), [("import no_such_part", "ModuleNotFoundError no_such_part"), ("raise RuntimeError('secret')", "RuntimeError")])
def test_an_installation_that_is_broken_is_refused_by_name(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, content: str, why: str) -> None:
    (tmp_path / "apprise.py").write_text(content)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    sent = notifier.hand_over([notifier.Order(name="ops", url="json://127.0.0.1:9", messages=[{}])], {"ops": [["one"]]}, str(tmp_path), 20.0)
    while not (found := notifier.results(sent, time.time())):
        time.sleep(0.05)
    assert found == {"one": ("refused", f"apprise is installed and cannot be loaded ({why})")}


SECRET = "a%41&b/c d?"


@pytest.fixture
def receiver() -> collections.abc.Iterator[http.server.ThreadingHTTPServer]:
    """An HTTP server that keeps what it gets. What is sent to /old has moved."""

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append((self.path, self.headers.get("X-Key"), self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(302 if self.path.startswith("/old") else 200)
            self.send_header("Location", "/new")
            self.end_headers()

        def do_GET(self) -> None:
            got.append((self.path, None, b""))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_arguments: t.Any) -> None:
            pass

    got: list[tuple[str, str | None, bytes]] = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        server.got = got  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.mark.parametrize(("path", "found"), [("new", ("delivered", "")), ("old", ("failed", "HTTP status 302"))])
def test_a_secret_in_a_query_arrives_as_it_is_and_a_redirect_delivers_nothing(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, receiver: t.Any, path: str, found: tuple[str, str]
) -> None:
    monkeypatch.setenv("NOTIFY_KEY", SECRET)
    given = f"json://127.0.0.1:{receiver.server_port}/{path}/{{env:NOTIFY_KEY}}?+X-Key={{env:NOTIFY_KEY}}"
    url = notifier.resolve(given, notify_targets.WHOLE, notify_targets.PART)
    message = {"title": "t", "text": "hello", "type": "info"}
    sent = notifier.hand_over([notifier.Order(name="ops", url=url, messages=[message])], {"ops": [["one"]]}, str(tmp_path), 20.0)
    while not (results := notifier.results(sent, time.time())):
        time.sleep(0.05)
    assert results == {"one": found}
    ((asked, key, body),) = receiver.got
    assert key == SECRET and b"hello" in body and asked.startswith(f"/{path}/")
