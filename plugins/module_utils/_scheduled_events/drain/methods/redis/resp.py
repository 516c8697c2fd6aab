# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""RESP, version 2: what Redis, Valkey and their Sentinels talk. What is sent are bulk strings only; what comes back is bounded and read strictly. Pure."""

from __future__ import annotations

import re
import typing as t

# Sentinel answers with lists in a list.
DEEPEST = 4
MOST_ITEMS = 4096
LONGEST_BULK = 1024 * 1024
NUMBER = re.compile(rb"-?[0-9]{1,19}")


class RespError(ValueError):
    """What came is not RESP, or is not what was asked for. The message repeats nothing of it: a daemon of another kind may echo a password."""


class ErrorReply(t.NamedTuple):
    """An answer that is an error, such as C(NOAUTH Authentication required.)."""

    text: str

    @property
    def code(self) -> str:
        """Return its first word, by which the protocol tells errors apart."""
        return self.text.partition(" ")[0]


Reply = t.Union[str, int, None, ErrorReply, t.List[t.Any]]


class _CutOff(Exception):
    """The bytes end within an answer."""


def encode(commands: t.Iterable[t.Sequence[str]]) -> bytes:
    """Return commands as they are sent: no word can end one, or begin another."""
    return b"".join(b"*%d\r\n%s" % (len(words), b"".join(_bulk(word) for word in words)) for words in commands)


def _bulk(word: str) -> bytes:
    data = word.encode("utf-8", "surrogateescape")
    return b"$%d\r\n%s\r\n" % (len(data), data)


def parse(data: bytes, wanted: int) -> list[Reply]:
    """Return the answers that are complete, at most as many as were asked for. Raise RespError for anything else, and for more than that."""
    found: list[Reply] = []
    at = 0
    try:
        while len(found) < wanted:
            reply, at = _reply(data, at, 0)
            found.append(reply)
    except _CutOff:
        return found
    if at < len(data):
        raise RespError("the answer is longer than what was asked for")
    return found


def _reply(data: bytes, at: int, depth: int) -> tuple[Reply, int]:
    """Return the answer that begins at a byte, and where the next one begins."""
    kind = data[at : at + 1]
    if kind not in (b"+", b"-", b":", b"$", b"*", b""):
        raise RespError("the answer is no RESP")
    line, at = _line(data, at + 1)
    if kind == b"+":
        return _text(line), at
    if kind == b"-":
        return ErrorReply(_text(line)), at
    if not NUMBER.fullmatch(line):
        raise RespError("the answer is no RESP: a number is missing")
    number = int(line)
    if kind == b":":
        return number, at
    if number == -1:
        return None, at
    return _bulk_string(data, at, number) if kind == b"$" else _items(data, at, number, depth + 1)


def _line(data: bytes, at: int) -> tuple[bytes, int]:
    end = data.find(b"\r\n", at)
    if end < 0:
        raise _CutOff
    return data[at:end], end + 2


def _bulk_string(data: bytes, at: int, size: int) -> tuple[str, int]:
    if not 0 <= size <= LONGEST_BULK:
        raise RespError("the answer is no RESP, or too long")
    end = at + size
    if len(data) < end + 2:
        raise _CutOff
    if data[end : end + 2] != b"\r\n":
        raise RespError("the answer is no RESP: a text does not end where it should")
    return _text(data[at:end]), end + 2


def _items(data: bytes, at: int, count: int, depth: int) -> tuple[list[Reply], int]:
    if not 0 <= count <= MOST_ITEMS or depth > DEEPEST:
        raise RespError("the answer is no RESP, or too long")
    items: list[Reply] = []
    for _number_of_item in range(count):
        item, at = _reply(data, at, depth)
        items.append(item)
    return items, at


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
