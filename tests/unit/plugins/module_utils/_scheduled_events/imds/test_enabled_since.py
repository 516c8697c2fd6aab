# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import os

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import utc_text
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.enabled_since import boot_id_of, note_asked
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import (
    START,
    FakeHost,
)

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies


def content(files):
    with open(os.path.join(files.where, "asked")) as stream:
        return json.load(stream)


def test_the_first_observation_enables(files, host):
    asked = note_asked(files, host)
    assert asked == (utc_text(START), True, [], None)
    assert os.listdir(files.where) == ["asked"]


@pytest.mark.parametrize("passed,recently", [(0, True), (299, True), (301, False), (86399, False)])
def test_enabling_takes_five_minutes(files, host, passed, recently):
    note_asked(files, host)
    host.pass_time(passed)
    assert note_asked(files, host) == (utc_text(START), recently, [], None)


def test_a_day_of_silence_enables_anew(files, host):
    note_asked(files, host)
    host.pass_time(86401)
    assert note_asked(files, host) == (utc_text(START + 86401), True, [], None)


def test_asking_now_and_then_is_no_silence(files, host):
    note_asked(files, host)
    for _time in range(10):
        host.pass_time(80000)
        assert note_asked(files, host).enabled_at == utc_text(START)


def test_the_marker_is_touched_once_a_minute(files, host):
    note_asked(files, host)
    host.pass_time(59)
    note_asked(files, host)
    assert content(files)["asked"]["at"] == utc_text(START)
    host.pass_time(2)
    note_asked(files, host)
    assert content(files)["asked"]["at"] == utc_text(START + 61)


@pytest.mark.parametrize("jump", [-10 * 86400, -10, 10 * 86400])
def test_a_clock_that_jumps_within_a_boot_changes_nothing(files, host, jump):
    note_asked(files, host)
    host.pass_time(1000)
    host.seconds += jump
    for _observation in range(3):
        assert note_asked(files, host) == (utc_text(START), False, [], None)
        host.pass_time(70)


def test_a_clock_that_goes_back_over_a_reboot_changes_nothing(files, host):
    note_asked(files, host)
    host.reboot("boot-2", uptime=20)
    host.seconds -= 10 * 86400
    assert note_asked(files, host).enabled_at == utc_text(START)
    host.pass_time(281)
    assert note_asked(files, host) == (utc_text(START), False, [], None)


def test_a_day_of_silence_over_a_reboot(files, host):
    note_asked(files, host)
    host.seconds += 86401
    host.reboot("boot-2")
    assert note_asked(files, host) == (utc_text(START + 86401), True, [], None)


def test_without_boot_id_and_uptime_the_clock_counts(files):
    host = FakeHost(boot_id=None, uptime=None)
    note_asked(files, host)
    host.seconds += 400
    assert note_asked(files, host) == (utc_text(START), False, [], None)
    host.seconds += 90000
    assert note_asked(files, host).enabled_recently


def test_check_mode_writes_nothing(files, host):
    assert note_asked(files, host, write=False) == (utc_text(START), True, [], None)
    assert not os.path.exists(files.where)


def test_where_nothing_can_be_written_it_is_said(files, host):
    with open(files.where, "w"):
        pass
    asked = note_asked(files, host)
    assert (asked.enabled_at, asked.enabled_recently) == (None, True)
    assert len(asked.problems) == 1 and files.where in asked.problems[0]
    assert asked.cannot_write is None, "it may be a damaged marker"


def test_where_nothing_can_be_written_a_key_of_its_own_says_so(files, host, monkeypatch):
    def full(*_given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_exclusive", full)
    asked = note_asked(files, host)
    assert asked.problems == [asked.cannot_write] == [f"cannot write records to {files.where}: No space left on device."]


@pytest.mark.parametrize("broken", [b"", b"{", b"[]", b"\xff", b'{"asked": 1, "enabled": 2}', b"[" * 100000])
def test_a_broken_marker_counts_as_none_and_is_mended(files, host, broken):
    files.make()
    with open(os.path.join(files.where, "asked"), "wb") as stream:
        stream.write(broken)
    assert note_asked(files, host) == (utc_text(START), True, [], None)
    host.pass_time(400)
    assert note_asked(files, host) == (utc_text(START), False, [], None)


moment = st.fixed_dictionaries(
    {
        "at": st.sampled_from([utc_text(START), utc_text(0), "x", "9999-12-31T23:59:59Z"]) | st.none(),
        "boot_id": st.sampled_from(["boot-1", None, ["x"]]),
        "uptime": st.floats() | st.integers() | st.none() | st.text(max_size=3),
    }
)


@hypothesis.settings(max_examples=200, deadline=None, suppress_health_check=list(hypothesis.HealthCheck), database=None)
@hypothesis.given(marker=st.dictionaries(st.sampled_from(["asked", "enabled"]), moment | st.none()))
def test_any_marker_gives_an_answer(tmp_path_factory, marker):
    files = LocalFiles(str(tmp_path_factory.mktemp("marker")))
    with open(os.path.join(files.where, "asked"), "w") as stream:
        json.dump(marker, stream)
    asked = note_asked(files, FakeHost())
    assert asked.enabled_at and asked.problems == []


@pytest.mark.parametrize(
    ("noted", "found", "kept"),
    [
        ("2026-11-22 04:43:00Z", "2026-11-22 04:43:01Z", True),
        ("2026-11-22 04:43:00Z", "2026-11-22 04:42:59Z", True),
        ("2026-11-22 04:43:00Z", "2026-11-22 04:43:05Z", True),
        ("2026-11-22 04:43:00Z", "2026-11-22 04:43:06Z", False),
        ("2026-11-22 04:43:00Z", "2026-11-21 04:43:00Z", False),
        ("boot-1", "boot-2", False),
        ("2026-11-22 04:43:00Z", "boot-2", False),
        (None, "2026-11-22 04:43:00Z", False),
    ],
)
def test_windows_tells_the_time_of_a_boot_a_second_earlier_or_later(files, host, noted, found, kept):
    host.boot = noted
    note_asked(files, host)
    host.boot = found
    assert boot_id_of(files, host) == (noted if kept else found)
    host.pass_time(3600)
    note_asked(files, host)
    assert content(files)["asked"]["boot_id"] == (noted if kept else found)
