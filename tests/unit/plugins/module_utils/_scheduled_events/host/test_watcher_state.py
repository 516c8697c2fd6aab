# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The state of a watcher as root reads it: written by a user without rights, so nothing in it is believed blindly."""

from __future__ import annotations

import json
import os
import pathlib
import typing as t

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import seconds_between
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.watcher_state import (
    NAME,
    WatcherState,
    age_by_clock,
    age_by_uptime,
    read_watcher,
)

GOOD = {"format": 1, "boot_id": "b", "uptime": 100.0, "problem": None, "messages_waiting": 2, "messages_dropped": 0}


def read(folder: pathlib.Path, content: t.Any, boot_id: str | None = "b", uptime: float | None = 103.25) -> WatcherState | None:
    (folder / NAME).write_text(content if isinstance(content, str) else json.dumps(content))
    return read_watcher(str(folder), age_by_uptime(boot_id, uptime))


def test_none_is_none(tmp_path: pathlib.Path) -> None:
    assert read_watcher(str(tmp_path), age_by_uptime("b", 1.0)) is None
    assert read_watcher(str(tmp_path / "missing"), age_by_uptime("b", 1.0)) is None


def test_a_live_one(tmp_path: pathlib.Path) -> None:
    assert read(tmp_path, GOOD) == WatcherState(3.2, None, 2, 0)


@pytest.mark.parametrize(
    ("changes", "boot_id", "uptime"),
    [
        ({}, "c", 103.0),
        ({}, None, 103.0),
        ({}, "b", None),
        ({}, "b", 99.0),
        ({"uptime": -5}, "b", 10.0),
        ({"uptime": True}, "b", 10.0),
        ({"uptime": "1"}, "b", 9.0),
    ],
)
def test_an_age_that_cannot_be_is_unknown(tmp_path: pathlib.Path, changes: dict[str, t.Any], boot_id: str | None, uptime: float | None) -> None:
    found = read(tmp_path, {**GOOD, **changes}, boot_id, uptime)
    assert found is not None and found.age_seconds is None


@pytest.mark.parametrize(
    ("at", "age"),
    [
        ("2026-11-25T08:00:00.000000Z", 12.0),
        ("2026-11-25T08:00:14.000000Z", 0.0),
        ("2026-11-25T08:00:18.000000Z", None),
        ("yesterday", None),
        (None, None),
        (5, None),
    ],
)
def test_by_the_clock_where_there_is_no_boot_id(tmp_path: pathlib.Path, at: t.Any, age: float | None) -> None:
    (tmp_path / NAME).write_text(json.dumps({**GOOD, "boot_id": None, "at": at}))
    found = read_watcher(str(tmp_path), age_by_clock(lambda at: seconds_between(at, "2026-11-25T08:00:12.000000Z")))
    assert found is not None and found.age_seconds == age


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 2}', "[" * 5000, "x" * 2_000_000])
def test_another_file_is_a_problem_and_no_heartbeat(tmp_path: pathlib.Path, content: str) -> None:
    found = read(tmp_path, content)
    assert found is not None and found.age_seconds is None and "cannot be read" in str(found.problem)


def test_no_link_and_no_pipe_is_read(tmp_path: pathlib.Path) -> None:
    (tmp_path / "secret").write_text(json.dumps({**GOOD, "problem": "secret"}))
    (tmp_path / NAME).symlink_to(tmp_path / "secret")
    found = read_watcher(str(tmp_path), age_by_uptime("b", 200.0))
    assert found is not None and "cannot be read" in str(found.problem)
    (tmp_path / NAME).unlink()
    os.mkfifo(tmp_path / NAME)
    found = read_watcher(str(tmp_path), age_by_uptime("b", 200.0))
    assert found is not None and "not a regular file" in str(found.problem)


def test_its_text_is_made_safe(tmp_path: pathlib.Path) -> None:
    found = read(tmp_path, {**GOOD, "problem": "a\x1b[31m\n" + "x" * 5000, "messages_waiting": -1, "messages_dropped": 10**30})
    assert found is not None and "\x1b" not in str(found.problem) and "\n" not in str(found.problem)
    assert len(str(found.problem)) <= 500
    assert found.messages_waiting is None and found.messages_dropped is None


@given(st.dictionaries(st.sampled_from(sorted(GOOD)), st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers())))
def test_any_content_is_an_answer(tmp_path_factory: pytest.TempPathFactory, content: dict[str, t.Any]) -> None:
    found = read(tmp_path_factory.mktemp("state"), {**content, "format": 1})
    assert found is not None
    assert found.age_seconds is None or found.age_seconds >= 0
