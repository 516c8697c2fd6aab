# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Selection of an event by an operator: an event added by a VM is never selected instead."""

from __future__ import annotations

import time
import uuid

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.printable_text import PLAIN_WORD
from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.event_choice import folded, handles, select, unknown

REAL = "C7061BAC-AFDC-4513-B24B-AA5F13A16123"
OTHER = "D00DFEED-0000-4513-B24B-AA5F13A16123"


def chosen(typed: str, *event_ids: str) -> str | None:
    return select(typed, {folded(one): one for one in event_ids})


@pytest.mark.parametrize("typed", ["c706", "C706", " C7061bac ", REAL, REAL.lower(), REAL[:35]])
def test_the_beginning_is_enough_in_any_case(typed: str) -> None:
    assert chosen(typed, REAL, OTHER) == REAL.lower()


@pytest.mark.parametrize("typed", ["c70", "C", "", "7061", "bac", "c707", "sha256:", "sha256:00", "*", "c7.*", "С706"])
def test_input_that_is_no_prefix_selects_nothing(typed: str) -> None:
    assert chosen(typed, REAL, OTHER) is None


@pytest.mark.parametrize("typed", ["1", "2", "#1", "007"])
def test_a_number_of_the_list_is_refused_even_if_an_event_has_it_as_its_id(typed: str) -> None:
    with pytest.raises(WrongInput, match="is a number in a list that changes; type what status shows"):
        chosen(typed, REAL, "1", "2", "007")


@pytest.mark.parametrize("liar", ["C7061BAC-x", "c706", "C7061", "C706\u202e", "C7061BAC-AFDC-4513-B24B-AA5F13A16124", "c7061bac'; reboot #"])
def test_an_event_that_was_added_makes_the_choice_an_error_and_never_wins(liar: str) -> None:
    with pytest.raises(WrongInput, match=r"c706 may be any of 2 events; type more of it; known are: .*C7061BAC-AFDC.*, type c7061") as caught:
        chosen("c706", REAL, liar, OTHER)
    assert str(caught.value).isprintable()
    # A whole id of Azure's form selects its event, even if other ids begin with it.
    assert chosen(REAL, REAL, liar, REAL + "-x") == REAL.lower()


def test_shown_handles_are_short_and_safe() -> None:
    shown = handles([REAL, OTHER, "C7061BAC-x", "c7061", "$(reboot)", "E1", "42"])
    assert shown[REAL.lower()] == "c7061bac-a"
    assert shown[OTHER.lower()] == "d00d"
    assert shown["c7061bac-x"] == "c7061bac-x"
    assert shown["e1"] == "e1"
    # An id is selected by a hash if it begins another id, contains shell syntax or looks like a number.
    assert all(len(shown[one]) == len("sha256:") + 8 and shown[one].startswith("sha256:") for one in ("c7061", "$(reboot)", "42"))


def test_the_message_for_an_unknown_event_lists_the_known_ones() -> None:
    text = unknown("E9\x1b[2J", {"e1": "E1 (Reboot of vm1)", "a\x1bb": "a\x1bb (\u202e of vm2)"})
    assert text.startswith("no VM lists event E9\\x1b[2J or has a record of it; known are: E1 (Reboot of vm1), type e1; a\\x1bb (\\u202e of vm2), type sha")
    assert text.isprintable()
    assert "4 characters" in unknown("E9", {})
    assert unknown("E999", {}).endswith("known are: none")
    many = unknown("zzzz", {f"event-{number:03}": "x" for number in range(50)})
    assert many.endswith(" and 30 more") and many.count(", type ") == 20


IDS = some.lists(some.text(max_size=8) | some.sampled_from([REAL, OTHER, REAL + "-x", "c706", "c7061", "sha256:00000000", "K", "1"]), max_size=8)


@settings(max_examples=500, deadline=None, derandomize=True)
@given(IDS)
@example([REAL, REAL.lower(), "c7061bac"])
def test_each_shown_text_means_its_event_and_no_other(event_ids: list[str]) -> None:
    events = {folded(one): one for one in event_ids}
    shown = handles(event_ids)
    assert set(shown) == set(events)
    for one, text in shown.items():
        assert select(text, events) == one
        assert PLAIN_WORD.fullmatch(text.replace("sha256:", "")) and text[0] != "-"


@settings(max_examples=500, deadline=None, derandomize=True)
@given(IDS, some.text(max_size=8) | some.sampled_from(["c706", "c7061", REAL]), some.text(max_size=8) | some.sampled_from(["c706", "c7061bac", REAL + "x"]))
def test_one_more_event_never_changes_which_one_is_meant(event_ids: list[str], typed: str, added: str) -> None:
    events = {folded(one): one for one in event_ids}
    try:
        before = select(typed, events)
        after = select(typed, {**events, folded(added): added})
    except WrongInput:
        return
    assert before is None or after == before


def test_twenty_thousand_events_take_no_time() -> None:
    event_ids = [str(uuid.UUID(int=number * 2**64 + number)) for number in range(20000)]
    began = time.process_time()
    shown = handles(event_ids)
    assert len(set(shown.values())) == 20000
    assert time.process_time() - began < 2
