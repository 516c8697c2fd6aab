# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import sys
import unicodedata

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.printable_text import (
    INVISIBLE,
    LONGEST_LINE,
    LONGEST_TEXT,
    printable,
    printable_line,
    shell_word,
)


class Hostile:
    def __str__(self):
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("web1", "web1"),
        ("größer als 日本", "größer als 日本"),
        ("C:\\ProgramData\\x", "C:\\ProgramData\\x"),
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("a\x7fb\x9b31m", "a\\x7fb\\x9b31m"),
        ("a\r\nweb2: approved", "a web2: approved"),
        ("a\u2028b\u2029c\x85d\x0be", "a b c d e"),
        ("a" + " " * 300 + "web2: approved", "a web2: approved"),
        ("\u202egnp.exe\u2066x\u200b\u200f\u2060\ufeff", "\\u202egnp.exe\\u2066x\\u200b\\u200f\\u2060\\ufeff"),
        ("\ud800x\udfff", "\\ud800x\\udfff"),
        ("\ue000\U000f0000\U000e0001\U000e0101", "\\ue000\\U000f0000\\U000e0001\\U000e0101"),
        ("a\u3164\u115f\u2800\ufe0fb", "a\\u3164\\u115f\\u2800\\ufe0fb"),
        (None, "None"),
        (b"a\xff\x1b", "a\ufffd\\x1b"),
    ],
    ids=range(14),
)
def test_printable_form(given, shown):
    assert printable(given) == shown


def test_values_that_python_cannot_format():
    assert printable(Hostile()) == "a Hostile that cannot be written as text"
    assert 0 < len(printable(10**5000, 100)) <= 100


def test_every_character_that_there_is():
    """Check that each printed character is visible and needs no escape."""
    for first in range(0, sys.maxunicode + 1, 0x800):
        shown = printable("".join(chr(code) for code in range(first, min(first + 0x800, sys.maxunicode + 1))), 100000)
        assert shown.isprintable() and not INVISIBLE.search(shown) and len(shown) > 0
        assert not [letter for letter in shown if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")]


@pytest.mark.parametrize("limit", [1, 6, 7, 8, 50, LONGEST_TEXT])
def test_it_is_as_long_as_it_may_be_and_keeps_both_ends(limit):
    for text in ("x" * 5000, "\x1b" * 5000, "begin" + "\u202e" * 5000 + "end"):
        shown = printable(text, limit)
        assert len(shown) == limit
        assert printable(shown, limit) == shown.strip()
    if limit >= 50:
        assert shown.startswith("begin") and shown.endswith("end") and " [...] " in shown


def test_a_line_of_ours_keeps_its_columns():
    assert printable_line("  service: drained\tx\ny  z") == "  service: drained x y  z"
    assert len(printable_line("x" * 99999)) == LONGEST_LINE


@pytest.mark.parametrize("good", ["C7061BAC-AFDC-4513-B24B-AA5F13A16123", "web_1", "rg.of-us"])
def test_plain_values_stay_unquoted_in_commands(good):
    assert shell_word(good, "ID") == good


def test_brackets_of_a_resource_group_are_quoted():
    assert shell_word("rg(x)", "GROUP") == "'rg(x)'"


@pytest.mark.parametrize(
    "odd",
    [
        *("", "x;reboot", "$(reboot)", "`reboot`", "a b=c", "--help", "-x", "'", "a&calc", "{{ lookup('pipe','id') }}"),
        *("a\n", "a\nb", "\x1b", "\u202e", "é", "x" * 121, "%PATH%"),
    ],
    ids=range(17),
)
def test_odd_values_never_enter_a_command(odd):
    assert shell_word(odd, "ID") == "ID"
