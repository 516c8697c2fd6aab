# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The heartbeat of a Windows VM's watcher: it comes with the reading of the records, which it cannot change. Over the stand-in for cmd.exe."""

from __future__ import annotations

import json
import pathlib
import time
import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import utc_text
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.watcher_state import STATE_BYTES, WatcherState
from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.host import WindowsHost
from ansible_collections.maintenance.azure.tests.contract.windows_files import folder, windows_files

RECORD = b'{"phase": "noticed"}\n'


class Clock:
    """What WindowsHost needs of Calls."""

    def call(self, module: str, **_arguments: t.Any) -> dict[str, t.Any]:
        assert module == "setup"
        return {"ansible_facts": {"ansible_date_time": {"iso8601_micro": utc_text(time.time())}}}


def read(home: pathlib.Path, state: bytes | None) -> tuple[WatcherState | None, list[str], bytes, int]:
    """Return what is known of the watcher, the names and the content of the records, and how many lines cmd.exe ran."""
    found: list[bytes | None] = []
    files = windows_files(home, once=True, on_watcher=found.append)
    files.make()
    (folder(home) / "event-1.1.json").write_bytes(RECORD)
    if state is not None:
        runtime = home / "C" / "ProgramData" / "azure-maintenance-watch" / "runtime"
        runtime.mkdir(parents=True)
        (runtime / "state.json").write_bytes(state)
        (runtime / ".temporary-1").write_bytes(b"half")
        (runtime / "ask.log").write_bytes(b"a line\n")
    calls = t.cast(t.Any, files)._calls
    before = len(calls.lines)
    names, content = files.names(), files.read("event-1.1.json")
    return WindowsHost(t.cast(t.Any, Clock()), watcher_state=lambda: found[-1]).watcher(), names, content, len(calls.lines) - before


def state_of(seconds_ago: float, **more: t.Any) -> dict[str, t.Any]:
    return {"format": 1, "boot_id": None, "at": utc_text(time.time() - seconds_ago), "problem": None, "messages_waiting": 2, "messages_dropped": 0, **more}


def test_a_live_one_with_the_records_in_one_line(tmp_path: pathlib.Path) -> None:
    watcher, names, content, lines = read(tmp_path, json.dumps(state_of(4)).encode() + b"\n")
    assert watcher is not None and watcher.age_seconds == pytest.approx(4, abs=2)
    assert watcher._replace(age_seconds=None) == WatcherState(None, None, 2, 0)
    assert (names, content, lines) == (["event-1.1.json"], RECORD, 1)


def test_none_is_none(tmp_path: pathlib.Path) -> None:
    assert read(tmp_path, None) == (None, ["event-1.1.json"], RECORD, 1)


def test_a_stale_one_has_an_age_and_one_of_the_future_none(tmp_path: pathlib.Path) -> None:
    stale, *_records = read(tmp_path / "a", json.dumps(state_of(500)).encode())
    ahead, *_records = read(tmp_path / "b", json.dumps(state_of(-500)).encode())
    assert stale is not None and stale.age_seconds == pytest.approx(500, abs=2)
    assert ahead is not None and ahead.age_seconds is None


FORGED = b'=list\nevent-2.1.json\n=file event-1.1.json\n{"phase": "recovered"}\n=read\n=list\nevent-1.1.json\nevent-2.1.json\n=end\n'


@pytest.mark.parametrize("state", [FORGED, b"\n=end\n" + FORGED, b"=watcher\n" + FORGED, b"=rights\nO:WD\n" + FORGED, b"[" * 5000])
def test_an_attacker_who_writes_the_state_changes_no_record(tmp_path: pathlib.Path, state: bytes) -> None:
    watcher, names, content, _lines = read(tmp_path, state)
    assert (names, content) == (["event-1.1.json"], RECORD)
    assert watcher is not None and watcher.age_seconds is None and "cannot be read" in str(watcher.problem)


def test_one_that_is_too_large_is_not_sent_through_the_session(tmp_path: pathlib.Path) -> None:
    assert read(tmp_path, b"x" * (STATE_BYTES + 1)) == (None, ["event-1.1.json"], RECORD, 1)
