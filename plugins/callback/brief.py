# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Output for scheduled jobs: only what is new. See DOCUMENTATION."""

from __future__ import annotations

DOCUMENTATION = r"""
name: brief
type: stdout
short_description: Print what is new, whatever the fleet
version_added: 1.3.0
author:
  - The maintenance.azure authors (@maintenance-azure)
description:
  - For jobs that run every few minutes and mostly have nothing to do. P(ansible.builtin.default#callback) prints a line for each task and host, and
    in the recap one for each host again. This one prints what changed, what failed, what could not be reached, warnings, and what tasks of
    M(ansible.builtin.debug) say, as plain lines; in the recap a line for each host with something of that, and one for all others together.
  - With C(-v) or more it prints what P(ansible.builtin.default#callback) prints.
  - Whatever it prints comes without control, bidi and invisible characters; they are written as C(\x1b) and C(\u202e), and the line breaks of a
    message as spaces. With C(-v) as well.
  - It has the options of P(ansible.builtin.default#callback). Those about hosts that are ok, skipped or included make no difference.
extends_documentation_fragment:
  - default_callback
requirements:
  - Set as stdout callback, for example with E(ANSIBLE_STDOUT_CALLBACK). ansible-runner, and so AWX, puts its own callback in front and passes
    on to this one, if E(ANSIBLE_STDOUT_CALLBACK) or E(ORIGINAL_STDOUT_CALLBACK) name it. The execution environment of this collection does so.
seealso:
  - plugin: ansible.builtin.default
    plugin_type: callback
"""

import functools
import inspect
import types
import typing as t
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from ansible import constants as C
from ansible.plugins.callback.default import CallbackModule as Default

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.printable_text import printable, printable_line
from ansible_collections.maintenance.azure.plugins.plugin_utils._core.plain_values import plain

# Results are JSON in one line and may be long; the end of one must not be lost.
LONGEST_DUMP = 1_000_000
# The functions of core's display that print warnings and errors. Lines after the first are indented: no text of a module may imitate one.
INDENTED = ("warning", "_warning", "deprecated", "_deprecated", "error", "_error")
NOTABLE = ("changed", "dark", "failures", "rescued")


class Coloured(str):
    """Text with colours of this callback; everything else in it was made printable before."""


class Screen:
    """A wrapper of core's display: whatever its functions print goes through here and loses its control characters."""

    def __init__(self, behind: t.Any) -> None:
        object.__setattr__(self, "_behind", behind)
        object.__setattr__(self, "_colours", False)
        object.__setattr__(self, "_indenting", False)

    def __getattr__(self, name: str) -> t.Any:
        function = inspect.getattr_static(type(self._behind), name, None)
        # Bound to the wrapper, so that the output of warning() or banner() is made printable like everything else.
        if not inspect.isfunction(function):
            return getattr(self._behind, name)
        return functools.partial(self._indent_lines, function) if name in INDENTED else types.MethodType(function, self)

    def __setattr__(self, name: str, value: t.Any) -> None:
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

    def _indent_lines(self, function: t.Callable[..., t.Any], *arguments: t.Any, **named: t.Any) -> t.Any:
        with self._while("_indenting"):
            return function(self, *arguments, **named)

    def banner(self, msg: t.Any, *arguments: t.Any, **named: t.Any) -> None:
        """Print a heading like core's, but in one line: names of tasks may be templates."""
        type(self._behind).banner(self, printable_line(msg), *arguments, **named)

    def display(self, msg: t.Any, *arguments: t.Any, **named: t.Any) -> None:
        """Print a text like core's display. Line breaks stay: in results they are core's own, since JSON and YAML escape those of data."""
        text = msg if self._colours or isinstance(msg, Coloured) else _lines(str(msg))
        if self._indenting:
            text = text.replace("\n", "\n    ")
        self._behind.display(text, *arguments, **named)


def _lines(text: str) -> str:
    """Make each line of the text printable."""
    return "\n".join(printable_line(line, LONGEST_DUMP) for line in text.split("\n"))


def _screened(value: t.Any) -> t.Any:
    """Return plain data with all its text printable; line breaks in the text of a file stay."""
    if isinstance(value, str):
        return _lines(value)
    if isinstance(value, dict):
        return {printable_line(key): _screened(item) for key, item in value.items()}
    return [_screened(item) for item in value] if isinstance(value, list) else value


class CallbackModule(Default):
    """The default callback without the lines that report nothing new."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "maintenance.azure.brief"

    def __init__(self) -> None:
        super().__init__()
        self._display: t.Any = Screen(self._display)

    def _get_item_label(self, result: t.Any) -> t.Any:
        label = super()._get_item_label(result)
        return printable(label) if isinstance(label, str) else label

    def _dump_results(self, *arguments: t.Any, **named: t.Any) -> t.Any:
        """Make results printable, in the recap too, where colours are allowed. JSON escapes line breaks, but few other control characters."""
        dumped = super()._dump_results(*arguments, **named)
        return _lines(dumped) if isinstance(dumped, str) else dumped

    def _get_diff(self, difflist: t.Any) -> str:
        """Return a coloured diff. The colours are core's; the text may come from a VM and is made printable first."""
        return Coloured(super()._get_diff(_screened(plain(difflist))))

    def _is_verbose(self) -> bool:
        """Return whether the default callback's output was requested (-v)."""
        return bool(self._display.verbosity)

    def _task_start(self, task: t.Any, prefix: str | None = None) -> None:
        """Print the heading of a task together with the first line under it, if there is one."""
        if self._is_verbose():
            super()._task_start(task, prefix)
            return
        if prefix is not None:
            self._task_type_cache[task._uuid] = prefix
        # With strategy free, tasks of several hosts interleave; each line then gets its own heading.
        self._last_task_name = task.get_name().strip() if self._play.strategy in ("linear", "ansible.builtin.linear") else None

    def v2_runner_on_ok(self, result: t.Any) -> None:
        if self._is_verbose() or result._result.get("changed", False):
            super().v2_runner_on_ok(result)
            return
        self._handle_warnings(result._result)
        if result._task.action in C._ACTION_DEBUG and "results" not in result._result:
            self._print_debug(result._result)

    def v2_runner_item_on_ok(self, result: t.Any) -> None:
        if self._is_verbose() or result._result.get("changed", False):
            super().v2_runner_item_on_ok(result)
        elif result._task.action in C._ACTION_DEBUG:
            self._print_debug(result._result)

    def v2_runner_on_skipped(self, result: t.Any) -> None:
        if self._is_verbose():
            super().v2_runner_on_skipped(result)
        else:
            self._handle_warnings(result._result)

    def v2_runner_item_on_skipped(self, result: t.Any) -> None:
        if self._is_verbose():
            super().v2_runner_item_on_skipped(result)

    def v2_runner_on_unreachable(self, result: t.Any) -> None:
        """Print one line if the play continues without the host: fleets have machines that are switched off."""
        if self._is_verbose() or not result._task.ignore_unreachable:
            super().v2_runner_on_unreachable(result)
            return
        reason = printable(result._result.get("msg") or "") or "no reason given"
        self._display.display(f"{result._host.get_name()} cannot be reached: {reason}", color=C.COLOR_UNREACHABLE)

    def v2_playbook_on_include(self, included_file: t.Any) -> None:
        if self._is_verbose():
            super().v2_playbook_on_include(included_file)

    def v2_playbook_on_stats(self, stats: t.Any) -> None:
        if self._is_verbose():
            with self._display.colours():
                super().v2_playbook_on_stats(stats)
            return
        all_hosts = stats.processed
        notable = {host: 1 for host in all_hosts if any(getattr(stats, kind).get(host) for kind in NOTABLE)}
        stats.processed = notable
        try:
            with self._display.colours():
                super().v2_playbook_on_stats(stats)
        finally:
            stats.processed = all_hosts
        others = [host for host in all_hosts if host not in notable]
        ignored = sum(1 for host in others if getattr(stats, "ignored", {}).get(host))
        if others:
            more = f"{len(others)} {'more ' if notable else ''}host{'' if len(others) == 1 else 's'}: nothing changed, nothing failed"
            self._display.display(f"{more}{f', {ignored} of them with something that was ignored' if ignored else ''}")

    def _print_debug(self, result: t.Mapping[str, t.Any]) -> None:
        """Print the output of a debug task: its message as lines, or the variable that it shows."""
        if result.get("_ansible_no_log"):
            return
        if "msg" not in result:
            self._display.display(self._dump_results({key: value for key, value in result.items() if not key.startswith("_")}, indent=2))
            return
        message = result["msg"]
        for line in message if isinstance(message, list) else [message]:
            # A line break in a message must not start a line that looks like another message.
            self._display.display(printable_line(line) if isinstance(line, str) else self._dump_results({"msg": line}, indent=2))
