# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a message was not delivered, in fixed words: a receiver that repeats the request puts none of it into the reason."""

from __future__ import annotations

import logging
import pathlib
import time

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._controller import notifier
from ansible_collections.maintenance.azure.plugins.plugin_utils._controller.notify_sender import UNKNOWN, _Log


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
