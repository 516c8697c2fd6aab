# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Text that a VM, an event or a person wrote, made safe for screens and logs.

What comes out is one line without anything that a terminal obeys, that is invisible, or that changes the order of letters. It is for eyes only:
two texts may come out alike, so nothing is looked up by it, sent or written to a record.
"""

from __future__ import annotations

import re
import shlex
import typing as t

# Limits in letters, all in one place. What is longer loses its middle, so that neither its beginning nor what follows is pushed out.
LONGEST_NAME = 120
LONGEST_TEXT = 2000
LONGEST_LINE = 10000
CUT = " [...] "

# White space of every kind, also what Unicode counts as line breaks.
SPACE = re.compile(r"\s")
SPACES = re.compile(r"\s+")

# Letters that Python calls printable and that show nothing: fillers, joiners, variation selectors, the empty Braille pattern.
HIDDEN = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
INVISIBLE = re.compile(f"[{HIDDEN}]")

# What may stand in a command that people paste. Names of resource groups may have brackets.
PLAIN_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.()-]{0,119}")


def printable(value: t.Any, limit: int = LONGEST_TEXT) -> str:
    """Return the value as one line of visible text with at most ``limit`` letters.

    White space of any length becomes one space, so that no text can fill a terminal's line and go on as if it were another. Control, bidi,
    zero-width, private and unassigned characters are written as Python writes them, such as \\x1b and \\u202e.
    """
    text = _visible(_text(value)).strip()
    return shortened(SPACES.sub(" ", text) if "  " in text else text, limit)


def printable_line(value: t.Any, limit: int = LONGEST_LINE) -> str:
    """Do the same to a line that was put together here: its indentation and its columns stay."""
    return shortened(_visible(_text(value)), limit)


def shortened(text: str, limit: int) -> str:
    """Return the text with at most ``limit`` letters; a longer one without its middle."""
    if len(text) <= limit:
        return text
    tail = max((limit - len(CUT)) // 3, 0)
    return (text[: max(limit - len(CUT) - tail, 0)] + CUT + text[len(text) - tail :])[:limit]


def _visible(text: str) -> str:
    # First what nearly every text is: a fleet's plan has a hundred thousand of them.
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
        # A copy without what a subclass does: core 2.19 and later tag text.
        return str.__str__(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    try:
        return str(value)
    except Exception:  # Python refuses to write a number of thousands of digits, a foreign object anything
        return f"a {type(value).__name__} that cannot be written as text"


def shell_word(value: t.Any, placeholder: str) -> str:
    """Return the value as one word of a command that a person pastes; the placeholder where it is odd.

    Quotes alone are no help: what they protect from one shell another one runs, an id may begin like an option, and Ansible takes apart and
    templates what follows -e. So what has anything else than letters, digits and what names in Azure have is left to the person.
    """
    text = _text(value)
    return shlex.quote(text) if PLAIN_WORD.fullmatch(text) else placeholder
