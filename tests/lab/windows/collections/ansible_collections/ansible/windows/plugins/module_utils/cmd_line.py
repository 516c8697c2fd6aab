# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""cmd.exe /d /s /c "LINE", as far as the collection uses it: reads the line and runs it on the played drive."""

from __future__ import annotations

import fnmatch
import os
import re

from . import cmd_grammar as grammar
from .cmd_commands import COMMANDS
from .machine import Refused

EXISTS = re.compile(r'^"?(.*?)"?$')
ORDER = {
    "EQU": lambda left, right: left == right,
    "NEQ": lambda left, right: left != right,
    "LSS": lambda left, right: left < right,
    "LEQ": lambda left, right: left <= right,
    "GTR": lambda left, right: left > right,
    "GEQ": lambda left, right: left >= right,
}


class Exit(Exception):
    """The command exit."""


class Cmd:
    """One run of cmd.exe. Its output is bytes, with the line ends of Windows."""

    def __init__(self, machine, current="C:\\"):
        self.machine, self.current = machine, current
        self.code = 0
        self.output, self.errors = bytearray(), bytearray()
        # Streams that go to nul, of the commands and groups that are under way.
        self._silent = []
        # The files of the loops that are under way, by the letter.
        self._loops = {}

    def run(self, line):
        """The exit code, the output, the errors."""
        tree = grammar.parse(self.machine.expand(line))
        try:
            self._run(tree)
        except Exit as stopped:
            self.code = stopped.args[0]
        return self.code, bytes(self.output), bytes(self.errors)

    def write(self, content, stream=1):
        if not any(stream in silent for silent in self._silent):
            (self.output if stream == 1 else self.errors).extend(content)

    def say(self, text, stream=1):
        self.write(text.encode("utf-8") + b"\r\n", stream)

    def path(self, windows):
        return self.machine.path(windows.strip('"'), self.current)

    def _run(self, tree):
        getattr(self, "_run_" + type(tree).__name__.lower())(tree)

    def _run_sequence(self, tree):
        for part in tree.parts:
            self._run(part)

    def _run_either(self, tree):
        self._run(tree.first)
        if self.code != 0:
            self._run(tree.second)

    def _run_both(self, tree):
        self._run(tree.first)
        if self.code == 0:
            self._run(tree.second)

    def _run_group(self, tree):
        self._silent.append(tree.silent)
        try:
            self._run(tree.body)
        finally:
            self._silent.pop()

    def _run_if(self, tree):
        if self._holds(tree.words) != tree.negated:
            self._run(tree.body)
        else:
            # What follows "||" or "&&" would depend on it, and what cmd.exe does then is not known here.
            self.code = self.code or 0

    def _holds(self, words):
        if words[0] == "exist":
            name = self._filled(words[1]).strip('"')
            path = self.path(name)
            return os.path.isdir(path) if name.endswith("\\") else os.path.exists(path)
        left, right = self._filled(words[1]), self._filled(words[2])
        if re.fullmatch(r"-?\d+", left) and re.fullmatch(r"-?\d+", right):
            return ORDER[words[0]](int(left), int(right))
        return ORDER[words[0]](left.lower(), right.lower())

    def _run_for(self, tree):
        if not _is_quiet(tree.body):
            raise Refused("stand-in for cmd: cmd.exe would print each command of this loop; put @ before it")
        for name in fnmatch.filter(listing(self.machine.path(self.current)), tree.pattern):
            self._loops[tree.name] = name
            self._run(tree.body)
        self._loops.pop(tree.name, None)

    def _filled(self, text):
        """%f by the file's name, %~zf by its size, which is empty when it is gone."""

        def fill(found):
            name = self._loops.get(found[2])
            if name is None:
                return found[0]
            if not found[1]:
                return name
            try:
                return str(os.path.getsize(self.path(name)))
            except OSError:
                return ""

        return re.sub(r"%(~z)?([A-Za-z])(?![A-Za-z0-9_]*%)", fill, text) if self._loops else text

    def _run_simple(self, tree):
        text = self._filled(tree.text).lstrip()
        word = re.match(r"[A-Za-z_][A-Za-z0-9_]*", text)
        name = word[0].lower() if word else text
        if name == "exit":
            found = re.fullmatch(r"exit(?:\s+(\d+))?\s*", text, re.IGNORECASE)
            if not found:
                raise Refused("stand-in for cmd: this form of exit is not played: %s" % text)
            raise Exit(int(found[1] or self.code))
        if name not in COMMANDS:
            raise Refused("stand-in for cmd: the command %r is not played here: %s" % (name, text))
        self._silent.append(tree.silent)
        try:
            code = COMMANDS[name](self, text[len(name) :])
        finally:
            self._silent.pop()
        if code is not None:
            self.code = code


def _is_quiet(tree):
    """The body of a loop is not echoed."""
    return getattr(tree, "quiet", True) if not isinstance(tree, grammar.Sequence) else False


def listing(folder):
    """The names of the files in a folder, as NTFS gives them: in order, whatever the case."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return sorted((name for name in names if os.path.isfile(os.path.join(folder, name))), key=lambda name: (name.upper(), name))
