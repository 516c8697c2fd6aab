# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pause of the fleet: what is refused, with what to write, and when it is over."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config import settings as settings_module
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config import start_when
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps

GOOD = {"who": "alice", "why": "release night", "until": "2026-11-25T06:00:00Z"}


def loaded(**more: Any) -> start_when.Pause:
    found = start_when.load_pause({**GOOD, **more})
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        ({"who": "alice"}, "respond_paused lacks why and until. Write respond_paused: {who: alice,"),
        ({**GOOD, "who": " "}, "respond_paused lacks who. Write"),
        ({**GOOD, "why": None}, "respond_paused lacks why. Write"),
        ({**GOOD, "untill": 1}, "respond_paused has the unknown key untill (did you mean until?); there are who, why, until. Write"),
        ({**GOOD, "until": 3600}, "until must be a time in UTC such as 2026-11-25T06:00:00Z, not 3600. Write"),
        ({**GOOD, "until": "2h"}, "not '2h'. Write"),
        ({**GOOD, "until": "2026-11-25"}, "not '2026-11-25'. Write"),
        ({**GOOD, "until": "2026-13-25T06:00:00Z"}, "until must be a time"),
        ({**GOOD, "until": ["2026-11-25T06:00:00Z"]}, "respond_paused lacks until"),
        (True, "respond_paused must be a dictionary with who, why, until, not True. Write"),
        ("alice", "respond_paused must be a dictionary with who, why, until, not 'alice'. Write"),
        ([], r"respond_paused must be a dictionary with who, why, until, not []. Write"),
    ],
    ids=str,
)
def test_what_is_wrong_is_one_line_with_what_to_write(given_: Any, words: str) -> None:
    with pytest.raises(WrongInput) as caught:
        settings_module.load({"paused": given_})
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("empty", [None, {}, ""])
def test_an_empty_value_is_no_pause(empty: Any) -> None:
    assert start_when.load_pause(empty) is None


@pytest.mark.parametrize(
    "until",
    ["2026-11-25T06:00:00Z", "2026-11-25T06:00:00", "2026-11-25 06:00", "2026-11-25T08:00:00+02:00", datetime(2026, 11, 25, 6, tzinfo=timezone.utc)],
    ids=str,
)
def test_the_end_is_utc_unless_it_names_a_zone(until: Any) -> None:
    assert loaded(until=until).text == "paused by alice until 2026-11-25T06:00:00Z: release night"


def test_it_is_over_at_its_end_and_not_before() -> None:
    found = loaded()
    assert found.holds(found.until - 0.001)
    assert not found.holds(found.until)
    assert found.hold.retry_at == found.until


def test_the_line_says_who_until_when_why_and_the_way_out() -> None:
    assert loaded(why="release night.").line == (
        "Paused by alice until 2026-11-25T06:00:00Z: release night. No drain and no approval begins, except a drain at its deadline."
        " Next: remove respond_paused."
    )


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda one: st.lists(one) | st.dictionaries(st.text(), one)))
def test_any_value_is_a_pause_or_none_or_refused(value: Any) -> None:
    for one in (value, {**GOOD, "until": value}, {**GOOD, "who": value}):
        try:
            found = start_when.load_pause(one)
        except WrongInput:
            continue
        assert found is None or timestamps.parse(found.ends) is not None
