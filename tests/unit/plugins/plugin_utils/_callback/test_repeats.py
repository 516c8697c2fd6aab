# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A wait is printed once for each reason."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._callback.phases import Repeats

FIRST = "Waited 5 s so far: web1: drain is not done yet. Next observation within 2 s."


@pytest.mark.parametrize(
    ("text", "is_new"),
    [
        ("Waited 30 s so far: web1: drain is not done yet. Next observation within 15 s.", False),
        ("Waited 30 s so far: web2: drain is not done yet. Next observation within 15 s.", True),
        ("Waited 30 s so far: no longer listed; confirming. Next observation within 6 s.", True),
        ("Waited 5 s so far: web1: drain is not done yet", True),
    ],
)
def test_only_the_reason_counts(text: str, is_new: bool) -> None:
    repeats = Repeats()
    assert repeats.is_new("wait", FIRST)
    assert repeats.is_new("wait", text) == is_new


@pytest.mark.parametrize("name", ["C7061BAC-{}-B24B", "10.0.0.{}", "lb:{}", "web-{}", "web{}"])
def test_numbers_in_names_are_no_counts(name: str) -> None:
    repeats = Repeats()
    for number in (4513, 4514):
        assert repeats.is_new("wait", f"Waited 5 s so far: {name.format(number)} did not answer.")


def test_other_messages_are_compared_as_they_are() -> None:
    repeats = Repeats()
    assert [repeats.is_new("said", f"{number} VMs") for number in (1, 1, 2)] == [True, False, True]
    assert repeats.is_new("another", "2 VMs")
    repeats.forget("said")
    assert repeats.is_new("said", "2 VMs")
    repeats.clear()
    assert repeats.is_new("another", "2 VMs")
