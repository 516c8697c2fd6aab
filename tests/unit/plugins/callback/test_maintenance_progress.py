# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""For any text in results, the callback brief prints visible text, and no line that imitates one of its own."""

from __future__ import annotations

import types
from typing import Any

import pytest
from ansible.utils.display import Display
from hypothesis import given, settings
from hypothesis import strategies as some

from ansible_collections.maintenance.azure.plugins.callback.brief import CallbackModule, Coloured, Screen
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.printable_text import INVISIBLE

HOSTILE = "a\x1b[2J\nweb9 : ok\x9b31m\u202e\u2066\u200b\ud800\u2028b\x7f\rc"
SHOWN = "a\\x1b[2J web9 : ok\\x9b31m\\u202e\\u2066\\u200b\\ud800 b\\x7f c"
ANY_TEXT = some.text(some.characters(min_codepoint=0, max_codepoint=0x10FFFF, categories=None), max_size=30) | some.just(HOSTILE)
LIMITS = settings(max_examples=100, derandomize=True, deadline=None)


class Printed(list[str]):
    """What reaches core's display."""

    def lines(self) -> list[str]:
        return [line for text in self for line in text.split("\n")]


@pytest.fixture(name="printed", scope="module")
def _printed() -> Any:
    printed = Printed()
    patch = pytest.MonkeyPatch()
    patch.setattr(Display, "display", lambda self, msg, *arguments, **named: printed.append(str(msg)))
    yield printed
    patch.undo()


def assert_visible(lines: list[str]) -> None:
    for line in lines:
        assert line.isprintable() and not INVISIBLE.search(line), ascii(line)


@LIMITS
@given(ANY_TEXT)
def test_a_message_is_one_line(printed: Printed, text: str) -> None:
    callback = CallbackModule()
    for message in (text, [text, "next"]):
        printed.clear()
        callback._print_debug({"msg": message})
        assert len(printed.lines()) == (1 if message is text else 2)
        assert_visible(printed.lines())


def test_columns_of_our_own_lines_stay(printed: Printed) -> None:
    printed.clear()
    CallbackModule()._print_debug({"msg": ["web1: drained", "  1-service: drained", "2026-11-21  noticed     x"]})
    assert list(printed) == ["web1: drained", "  1-service: drained", "2026-11-21  noticed     x"]


@LIMITS
@given(ANY_TEXT)
def test_all_output_of_core_is_visible(printed: Printed, text: str) -> None:
    screen = Screen(Display())
    for say in (screen.display, screen.banner, screen.warning, screen.v):
        printed.clear()
        say(text)
        assert_visible(printed.lines())


def test_a_warning_and_a_heading_begin_no_line_but_their_own(printed: Printed) -> None:
    screen = Screen(Display())
    printed.clear()
    screen.warning(f"once: {HOSTILE}")
    screen.banner(f"TASK [{HOSTILE}]")
    text = "\n".join(printed.lines())
    assert "[WARNING]: once: a\\x1b[2J" in text and f"TASK [{SHOWN}]" in text
    assert not [line for line in printed.lines() if line.startswith("web9")]


def test_an_unreachable_host_is_one_line(printed: Printed) -> None:
    printed.clear()
    callback = CallbackModule()
    host = types.SimpleNamespace(get_name=lambda: "web1")
    for msg, words in ((HOSTILE, SHOWN), ("", "no reason given"), (" \n", "no reason given"), ({"a": "\x1b"}, "{'a': '\\x1b'}")):
        task = types.SimpleNamespace(ignore_unreachable=True)
        callback.v2_runner_on_unreachable(types.SimpleNamespace(_task=task, _host=host, _result={"msg": msg}))
        assert printed[-1] == f"web1 cannot be reached: {words}"


def test_labels_and_differences(printed: Printed) -> None:
    callback = CallbackModule()
    assert callback._get_item_label({"_ansible_item_label": HOSTILE}) == SHOWN
    assert callback._get_item_label({"item": 5}) == 5
    diff = {"before": {"reason": ""}, "after": {"reason": HOSTILE, HOSTILE: 1}, "after_header": HOSTILE}
    shown = callback._get_diff([diff])
    assert isinstance(shown, Coloured)
    assert_visible(shown.split("\n"))
    assert diff["after"] == {"reason": HOSTILE, HOSTILE: 1}, "others print the result as well"
    printed.clear()
    callback._display.display(shown)
    assert list(printed) == [shown]


def test_the_recap_keeps_its_colours_and_nothing_after_it(printed: Printed) -> None:
    screen = Screen(Display())
    printed.clear()
    with screen.colours():
        screen.display("\x1b[0;32mweb1\x1b[0m")
    screen.display("\x1b[0;32mweb1\x1b[0m")
    assert list(printed) == ["\x1b[0;32mweb1\x1b[0m", "\\x1b[0;32mweb1\\x1b[0m"]
