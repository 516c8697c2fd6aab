# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Text from a VM, an event or an operator, made safe for screens and logs.

The result is one line without terminal controls, invisible characters or characters that change the writing direction. Use it for display only:
two texts may have the same printable form, so never look anything up by it, send it or write it to a record.
"""

from __future__ import annotations

import re
import shlex
import typing as t

# Limits in characters. A longer text loses its middle, so that its beginning and the text after it stay visible.
LONGEST_NAME = 120
LONGEST_TEXT = 2000
LONGEST_LINE = 10000
CUT = " [...] "

# White space of every kind, including Unicode's line breaks.
SPACE = re.compile(r"\s")
SPACES = re.compile(r"\s+")

# Characters that Python calls printable and that show nothing: fillers, joiners, variation selectors, the empty Braille pattern.
HIDDEN = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
INVISIBLE = re.compile(f"[{HIDDEN}]")

# What a command to paste may contain. Names of resource groups may have brackets.
PLAIN_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.()-]{0,119}")


def printable(value: t.Any, limit: int = LONGEST_TEXT) -> str:
    """Return the value as one line of visible text with at most ``limit`` characters.

    White space of any length becomes one space, so that no text can fill a terminal's line and continue as if it were another. Control, bidi,
    zero-width, private and unassigned characters are written as Python writes them, such as \\x1b and \\u202e.
    """
    text = _visible(_text(value)).strip()
    return shortened(SPACES.sub(" ", text) if "  " in text else text, limit)


def printable_line(value: t.Any, limit: int = LONGEST_LINE) -> str:
    """Return a line that the collection composed as visible text: its indentation and columns stay."""
    return shortened(_visible(_text(value)), limit)


def shortened(text: str, limit: int) -> str:
    """Return the text with at most ``limit`` characters; cut the middle out of a longer one."""
    if len(text) <= limit:
        return text
    tail = max((limit - len(CUT)) // 3, 0)
    return (text[: max(limit - len(CUT) - tail, 0)] + CUT + text[len(text) - tail :])[:limit]


def _visible(text: str) -> str:
    # Most texts need no escaping, and a fleet's plan has a hundred thousand of them.
    if text.isprintable() and (text.isascii() or not INVISIBLE.search(text)):
        return text
    return "".join(_escaped(letter) for letter in SPACE.sub(" ", text))


def _escaped(letter: str) -> str:
    if letter.isprintable() and not INVISIBLE.match(letter):
        return letter
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _text(value: t.Any) -> str:
    if isinstance(value, str):
        # A copy without the behaviour of a subclass: core 2.19 and later tag text.
        return str.__str__(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    try:
        return str(value)
    except Exception:  # Python refuses to write a number of thousands of digits; the str() of an unknown object may raise anything
        return f"a {type(value).__name__} that cannot be written as text"


def shell_word(value: t.Any, placeholder: str) -> str:
    """Return the value as one word of a command to paste; the placeholder if it has unusual characters.

    Quoting is not enough: what is quoted for one shell is run by another, an id may begin like an option, and Ansible splits and
    templates what follows -e. So a text with anything but letters, digits and the characters of Azure's names is left to the operator.
    """
    text = _text(value)
    return shlex.quote(text) if PLAIN_WORD.fullmatch(text) else placeholder
