# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The part of cmd.exe's grammar that the tests play. What is not known is refused, never guessed.

From weak to strong: "&", "||", "&&", and then a command, "(...)", "if" or "for". "if" and "for" take everything up to the end of the
line or of the parentheses that they are in.
"""

from __future__ import annotations

import collections
import re

from .machine import Refused

Sequence = collections.namedtuple("Sequence", "parts")
Either = collections.namedtuple("Either", "first second")
Both = collections.namedtuple("Both", "first second")
Group = collections.namedtuple("Group", "body silent")
If = collections.namedtuple("If", "negated words body")
For = collections.namedtuple("For", "name pattern body")
# quiet: "@" stood before it. silent: the streams that go to nul.
Simple = collections.namedtuple("Simple", "text silent quiet")

# Without a wildcard, cmd.exe would run the body for a file that does not exist.
FOR = re.compile(r"for\s+%([A-Za-z])\s+in\s+\(([\w.]*[*?][\w.*?]*)\)\s+do\s+", re.IGNORECASE)
EXIST = re.compile(r'if\s+(not\s+)?exist\s+("[^"]*"|[^\s"()&|]+)\s+', re.IGNORECASE)
COMPARE = re.compile(r"if\s+(not\s+)?([^\s\"()&|]+)\s+(EQU|NEQ|LSS|LEQ|GTR|GEQ)\s+([^\s\"()&|]+)\s+", re.IGNORECASE)
REDIRECTION = re.compile(r"([12]?)>\s*nul(?=[\s&|)]|$)", re.IGNORECASE)


def parse(line):
    reader = _Reader(line)
    tree = reader.sequence(0)
    if reader.rest():
        raise Refused("stand-in for cmd: not understood from here: %s" % reader.rest())
    return tree


class _Reader:
    def __init__(self, text):
        self.text, self.at = text, 0

    def rest(self):
        return self.text[self.at :]

    def _skip(self):
        while self.rest()[:1].isspace():
            self.at += 1

    def _take(self, word):
        self._skip()
        if not self.rest().startswith(word):
            return False
        self.at += len(word)
        return True

    def _operator(self):
        """The operator that comes next, without taking it."""
        self._skip()
        rest = self.rest()
        return rest[:2] if rest[:2] in ("&&", "||") else rest[:1] if rest[:1] in ("&", "|", ")") else ""

    def sequence(self, depth):
        parts = [self._either(depth)]
        while self._operator() == "&":
            self._take("&")
            if self._operator() or not self.rest():
                raise Refused("stand-in for cmd: nothing follows & in %s" % self.text)
            parts.append(self._either(depth))
        return parts[0] if len(parts) == 1 else Sequence(parts)

    def _either(self, depth):
        tree = self._both(depth)
        while self._operator() == "||":
            self._take("||")
            tree = Either(tree, self._both(depth))
        return tree

    def _both(self, depth):
        tree = self._command(depth)
        while self._operator() == "&&":
            self._take("&&")
            tree = Both(tree, self._command(depth))
        if self._operator() == "|":
            raise Refused("stand-in for cmd: pipes are not played: %s" % self.text)
        return tree

    def _command(self, depth):
        quiet = self._take("@")
        self._skip()
        rest = self.rest()
        if rest.startswith("("):
            self.at += 1
            body = self.sequence(depth + 1)
            if not self._take(")"):
                raise Refused("stand-in for cmd: ) is missing in %s" % self.text)
            return Group(body, self._redirections())
        for pattern, make in ((FOR, self._for), (EXIST, self._exist), (COMPARE, self._compare)):
            found = pattern.match(rest)
            if found:
                self.at += found.end()
                return make(found, depth)
        if re.match(r"(if|for)\b", rest, re.IGNORECASE):
            raise Refused("stand-in for cmd: this form is not played: %s" % rest)
        return self._simple(depth, quiet)

    def _for(self, found, depth):
        return For(found[1], found[2], self.sequence(depth))

    def _exist(self, found, depth):
        return If(bool(found[1]), ("exist", found[2]), self._body(depth))

    def _compare(self, found, depth):
        return If(bool(found[1]), (found[3].upper(), found[2], found[4]), self._body(depth))

    def _body(self, depth):
        grouped = self.rest().lstrip(" @").startswith("(")
        body = self._command(depth) if grouped else self.sequence(depth)
        if grouped and self._operator() not in ("", ")"):
            raise Refused("stand-in for cmd: put parentheses around the whole if, what follows it would be a part of it: %s" % self.text)
        if re.match(r"\s*else\b", self.rest(), re.IGNORECASE):
            raise Refused("stand-in for cmd: else is not played: %s" % self.text)
        return body

    def _redirections(self):
        silent = set()
        while True:
            self._skip()
            found = REDIRECTION.match(self.rest())
            if not found:
                return frozenset(silent)
            silent.add(int(found[1] or 1))
            self.at += found.end()

    def _simple(self, depth, quiet):
        begin, text, silent, quoted = self.at, "", set(), False
        while self.at < len(self.text):
            letter = self.text[self.at]
            if letter == '"':
                quoted = not quoted
            elif not quoted:
                if letter in "&|" or (letter == ")" and depth):
                    break
                found = REDIRECTION.match(self.rest()) if letter in "12>" and (letter == ">" or text[-1:].isspace()) else None
                if found:
                    silent.add(int(found[1] or 1))
                    self.at += found.end()
                    continue
                if letter in "<>^" or letter == "\n":
                    raise Refused("stand-in for cmd: %r is not played here: %s" % (letter, self.text[begin:]))
            text += letter
            self.at += 1
        if quoted:
            raise Refused("stand-in for cmd: a quote is not closed: %s" % self.text[begin:])
        if not text.strip():
            raise Refused("stand-in for cmd: a command is missing: %s" % self.text)
        return Simple(text, frozenset(silent), quiet)
