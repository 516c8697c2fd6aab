# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The start gate's configuration: what is refused, with what to write; and what an answer holds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config import start_when

URL = "http://127.0.0.1:9/may-start"
PROMETHEUS = {"url": "https://prometheus.example:9090", "query": "up == bool 1"}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("http://x", "respond_start_when must be a dictionary with one of url, command, prometheus, not 'http://x'. Write for example"),
        ({"timeout": 5}, "needs exactly one of url, command, prometheus, and has none of them"),
        ({"url": URL, "command": ["true"]}, "needs exactly one of url, command, prometheus, and has url and command"),
        ({"comand": URL}, "has the unknown key comand (did you mean command?); there are url, command, prometheus, timeout"),
        ({"url": "release.example"}, "url must be an address such as https://release.example/may-start, not 'release.example'"),
        ({"url": "ftp://release.example"}, "url must be an address"),
        ({"url": "http://release.example:99999/"}, "url must be an address"),
        ({"url": "http://[::1"}, "url must be an address"),
        ({"url": "http://a b/"}, "url must be an address"),
        ({"url": "http://a/\x1b[2J"}, "url must be an address"),
        ({"command": "may-start web"}, "command must be a list of words such as [/usr/local/bin/may-start, web], because no shell reads it"),
        ({"command": []}, "command must be a list of words"),
        ({"command": [" ", "x"]}, "command must be a list of words"),
        ({"command": ["a", None]}, "command must be a list of words"),
        ({"command": ["a", True]}, "command must be a list of words"),
        ({"command": ["a", "b\0"]}, "command must be a list of words"),
        ({"prometheus": "http://x"}, "prometheus must be a dictionary with url and query"),
        ({"prometheus": {"url": URL}}, "prometheus needs a query such as 'min(up{job=\"web\"}) == bool 1', not None"),
        ({"prometheus": {**PROMETHEUS, "url": ""}}, "prometheus, url must be an address"),
        ({"prometheus": {**PROMETHEUS, "qurey": ""}}, ": prometheus has the unknown key qurey (did you mean query?)"),
        ({"url": URL, "timeout": 0}, "timeout must be a number of seconds, more than 0 and at most 30, not 0"),
        ({"url": URL, "timeout": 31}, "more than 0 and at most 30, not 31"),
        ({"url": URL, "timeout": "soon"}, "more than 0 and at most 30, not 'soon'"),
    ],
    ids=str,
)
def test_what_is_wrong_is_one_line_with_what_to_write(value: Any, words: str) -> None:
    with pytest.raises(WrongInput) as caught:
        start_when.load(value)
    assert words in str(caught.value)
    assert str(caught.value).endswith("or remove it")


@pytest.mark.parametrize("empty", [None, {}, ""])
def test_an_empty_value_is_no_gate(empty: Any) -> None:
    assert start_when.load(empty) is None


def test_each_kind_is_loaded() -> None:
    nothing = {"url": "", "command": [], "prometheus": {}, "timeout": 10.0}
    assert start_when.load({"url": URL}) == {**nothing, "url": URL}
    assert start_when.load({"command": ["sleep", 5], "timeout": "2.5"}) == {**nothing, "command": ["sleep", "5"], "timeout": 2.5}
    assert start_when.load({"prometheus": PROMETHEUS, "url": "", "timeout": None}) == {**nothing, "prometheus": PROMETHEUS}


def test_what_was_loaded_is_what_a_run_keeps() -> None:
    """The request of a pass is loaded once; its values are plain data."""
    found = start_when.load({"prometheus": PROMETHEUS})
    assert found is not None and isinstance(found, dict)


@pytest.mark.parametrize("nothing", [None, {}, {"go": True, "text": "x"}])
def test_yes_holds_nothing(nothing: Any) -> None:
    assert start_when.answer(nothing) is None


@pytest.mark.parametrize("no", [{"go": False, "text": "http://x answered 503"}, {"go": 1, "text": "http://x answered 503"}, {"text": "http://x answered 503"}])
def test_whatever_is_not_yes_holds(no: Any) -> None:
    found = start_when.answer(no)
    assert found is not None
    assert found.detail == "start gate says no: http://x answered 503"
    # Records keep it, and the answer is another one each time.
    assert found.text == "the start gate (respond_start_when) says no"


VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda one: st.lists(one) | st.dictionaries(st.text(), one))


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(VALUES, st.sampled_from((*start_when.KEYS, "")))
def test_any_value_is_a_gate_or_none_or_refused(value: Any, key: str) -> None:
    try:
        found = start_when.load({"url": URL, key: value} if key else value)
    except WrongInput:
        return
    assert found is None or sum(map(bool, (found["url"], found["command"], found["prometheus"]))) == 1
    start_when.answer(value)
