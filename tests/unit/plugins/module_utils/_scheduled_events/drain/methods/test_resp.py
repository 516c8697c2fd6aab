# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""RESP: what was written is read, wherever it is cut; nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.redis.resp import ErrorReply, RespError, encode, parse

LINES = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20)
ANSWERS = st.recursive(
    st.none() | st.integers(-(10**18), 10**18) | LINES.map(ErrorReply) | st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=12,
)


def written(answer):
    """An answer as a server writes it."""
    if answer is None:
        return b"$-1\r\n"
    if isinstance(answer, int):
        return b":%d\r\n" % answer
    if isinstance(answer, ErrorReply):
        return b"-" + answer.text.encode() + b"\r\n"
    if isinstance(answer, list):
        return b"*%d\r\n" % len(answer) + b"".join(map(written, answer))
    data = answer.encode()
    return b"$%d\r\n%s\r\n" % (len(data), data)


def depth(answer):
    return 1 + max(map(depth, answer), default=0) if isinstance(answer, list) else 0


@given(st.lists(ANSWERS.filter(lambda answer: depth(answer) <= 4), min_size=1, max_size=4))
def test_what_was_written_is_read_and_is_complete_with_its_last_byte_only(answers):
    data = b"".join(map(written, answers))
    assert parse(data, len(answers)) == answers
    for cut in range(len(data)):
        part = parse(data[:cut], len(answers))
        assert part == answers[: len(part)] and len(part) < len(answers)
    with pytest.raises(RespError):
        parse(data + b"+", len(answers))


@given(st.binary(max_size=80), st.integers(1, 5))
@example(b"*9999999\r\n", 1)
@example(b"$99999999999\r\n", 1)
@example(b"*-2\r\n", 1)
@example(b"*1\r\n" * 100, 1)
@example(b":1_0\r\n", 1)
@example(b"$3\r\nabcdef", 1)
@example(b"HTTP/1.1 400 Bad Request\r\n", 1)
def test_junk_is_no_answer_or_an_error_that_repeats_nothing_of_it(data, wanted):
    try:
        assert len(parse(data, wanted)) <= wanted
    except RespError as error:
        assert str(error).startswith(("the answer is no RESP", "the answer is longer"))


@pytest.mark.parametrize(
    "data",
    [b"*9999999\r\n", b"$99999999999\r\n", b"*-2\r\n", b"$-2\r\n", b"*1\r\n" * 5, b":1_0\r\n", b":\r\n", b"$3\r\nabcdef", b"HTTP/1.1 400\r\n", b"+OK\r\n+"],
)
def test_what_no_server_writes_is_refused(data):
    with pytest.raises(RespError):
        parse(data, 1)


@given(st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=4), min_size=1, max_size=3))
@example([["SET", "a\r\n*1\r\n$8\r\nSHUTDOWN\r\n", ""]])
def test_no_word_ends_a_command_or_begins_one(commands):
    assert parse(encode(commands), len(commands)) == commands


def test_bytes_of_a_secret_that_are_no_text_are_sent_as_they_are():
    assert encode([["AUTH", b"p\xffw".decode("utf-8", "surrogateescape")]]) == b"*2\r\n$4\r\nAUTH\r\n$3\r\np\xffw\r\n"


def test_words_of_a_server():
    assert parse(b"+OK\r\n*-1\r\n-NOAUTH Authentication required.\r\n$3\r\n\xff\r\n\r\n", 4) == [
        "OK",
        None,
        ErrorReply("NOAUTH Authentication required."),
        "�\r\n",
    ]
