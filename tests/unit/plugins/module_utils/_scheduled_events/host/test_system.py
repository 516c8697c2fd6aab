# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pathlib
import time

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host import system
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import (
    LocalHost,
    seconds_between,
    utc_seconds,
    utc_text,
)


def test_times_go_there_and_back():
    for seconds in (0, 1795291200.0, 1795291200.25, 1e9 + 0.999999):
        assert utc_seconds(utc_text(seconds)) == pytest.approx(seconds, abs=1e-6)
    assert utc_text(1795291200.5) == "2026-11-21T20:00:00.500000Z"
    assert utc_seconds("2026-11-21T20:00:00Z") == 1795291200.0


@pytest.mark.parametrize("text", [None, "", "now", 5, "2026-11-21", "2026-13-21T20:00:00Z", "2026-11-21T20:00:00+01:00", []])
def test_not_a_time(text):
    assert utc_seconds(text) is None
    assert seconds_between(text, utc_text(0)) is None and seconds_between(utc_text(0), text) is None


def test_seconds_between_have_a_sign():
    assert seconds_between(utc_text(10), utc_text(12.5)) == 2.5
    assert seconds_between(utc_text(12.5), utc_text(10)) == -2.5


def test_this_machine():
    host = LocalHost()
    assert abs(utc_seconds(host.now()) - time.time()) < 5
    if pathlib.Path(system.BOOT_ID_FILE).exists():
        assert host.boot_id() == pathlib.Path(system.BOOT_ID_FILE).read_text().strip()
        assert host.uptime_seconds() > 0
    assert LocalHost(boot_id="other").boot_id() == "other"
    assert host.check_health(None)[0] is None


def test_a_machine_that_does_not_tell(monkeypatch, tmp_path):
    monkeypatch.setattr(system, "BOOT_ID_FILE", str(tmp_path / "missing"))
    monkeypatch.setattr(system, "UPTIME_FILE", str(tmp_path / "missing"))
    assert LocalHost().boot_id() is None and LocalHost().uptime_seconds() is None
    (tmp_path / "missing").write_bytes(b"\xff\xfe x")
    assert LocalHost().boot_id() is None and LocalHost().uptime_seconds() is None
    (tmp_path / "missing").write_text("")
    assert LocalHost().boot_id() is None and LocalHost().uptime_seconds() is None


def test_health_asks_with_the_command_it_was_given():
    assert LocalHost(lambda words: (0, "active\n", "")).check_health({"service": "x"})[0] is True
