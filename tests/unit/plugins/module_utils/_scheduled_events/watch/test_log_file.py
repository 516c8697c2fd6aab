# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lines of a watcher without a journal: in a file that does not grow, and never a reason to stop."""

from __future__ import annotations

import pathlib

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch import log
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.log import LogFile


def test_a_line_has_its_time(tmp_path: pathlib.Path) -> None:
    file = LogFile(str(tmp_path), "ask.log")
    file.write("one")
    file.write("two \udc80")
    first, second = (tmp_path / "ask.log").read_text().splitlines()
    assert first[10] == "T" and first.endswith("Z one") and second.endswith(" two ?")


def test_a_full_file_is_renamed_once(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "LOG_BYTES", 100)
    file = LogFile(str(tmp_path), "ask.log")
    for number in range(50):
        file.write(f"line {number}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ask.log", "ask.log.old"]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 400


def test_where_it_cannot_be_written_the_line_goes_to_standard_error(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    LogFile(str(tmp_path / "missing"), "ask.log").write("one")
    assert capfd.readouterr().err.startswith("one (not in ")
