# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""A wrapper of core's display, so that no text of a VM moves the cursor or imitates a line."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from ...module_utils._scheduled_events.core.printable_text import printable_line

# Results are JSON in one line and may be long; the end of one must not be lost.
LONGEST_DUMP = 1_000_000
# The functions of core's display that print warnings and errors. Lines after the first are indented: no text of a module may imitate one.
INDENTED = ("warning", "_warning", "deprecated", "_deprecated", "error", "_error")


class Coloured(str):
    """Text with colours of this callback; everything else in it was made printable before."""


class Screen:
    """A wrapper of core's display: whatever its functions print goes through here and loses its control characters."""

    def __init__(self, behind: Any) -> None:
        object.__setattr__(self, "_behind", behind)
        object.__setattr__(self, "_colours", False)
        object.__setattr__(self, "_indenting", False)
        object.__setattr__(self, "_to_stderr", False)

    def __getattr__(self, name: str) -> Any:
        function = inspect.getattr_static(type(self._behind), name, None)
        # Bound to the wrapper, so that the output of warning() or banner() is made printable like everything else.
        if not inspect.isfunction(function):
            return getattr(self._behind, name)
        return functools.partial(self._indent_lines, function) if name in INDENTED else types.MethodType(function, self)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._behind, name, value)

    @contextmanager
    def _while(self, what: str) -> Iterator[None]:
        object.__setattr__(self, what, True)
        try:
            yield
        finally:
            object.__setattr__(self, what, False)

    def colours(self) -> AbstractContextManager[None]:
        """Keep colours, for the recap: its lines hold only names of the inventory and numbers, coloured by core."""
        return self._while("_colours")

    def everything_to_stderr(self) -> None:
        """Print all but data on standard error from now on."""
        object.__setattr__(self, "_to_stderr", True)

    def data(self, text: str) -> None:
        """Print data that a program reads from standard output."""
        self._behind.display(text)

    def _indent_lines(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        with self._while("_indenting"):
            return function(self, *arguments, **named)

    def banner(self, msg: Any, *arguments: Any, **named: Any) -> None:
        """Print a heading like core's, but in one line: names of tasks may be templates."""
        type(self._behind).banner(self, printable_line(msg), *arguments, **named)

    def display(self, msg: Any, *arguments: Any, **named: Any) -> None:
        """Print a text like core's display. Line breaks stay: in results they are core's own, since JSON and YAML escape those of data."""
        text = msg if self._colours or isinstance(msg, Coloured) else printable_lines(str(msg))
        if self._indenting:
            text = text.replace("\n", "\n    ")
        if self._to_stderr:
            named["stderr"] = True
        self._behind.display(text, *arguments, **named)


def printable_lines(text: str) -> str:
    """Make each line of the text printable."""
    return "\n".join(printable_line(line, LONGEST_DUMP) for line in text.split("\n"))


def screened(value: Any) -> Any:
    """Return plain data with all its text printable; line breaks in the text of a file stay."""
    if isinstance(value, str):
        return printable_lines(value)
    if isinstance(value, dict):
        return {printable_line(key): screened(item) for key, item in value.items()}
    return [screened(item) for item in value] if isinstance(value, list) else value
