# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Output for scheduled jobs: what is new, and nothing else. See DOCUMENTATION."""

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

import typing as t

from ansible import constants as C
from ansible.plugins.callback.default import CallbackModule as Default

NOTABLE = ("changed", "dark", "failures", "rescued")


class CallbackModule(Default):
    """The default callback without what says nothing new."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "maintenance.azure.brief"

    def _talks(self) -> bool:
        """Who asks for more gets all of it."""
        return bool(self._display.verbosity)

    def _task_start(self, task: t.Any, prefix: str | None = None) -> None:
        """The heading of a task comes with the first line under it, if there is one."""
        if self._talks():
            super()._task_start(task, prefix)
            return
        if prefix is not None:
            self._task_type_cache[task._uuid] = prefix
        # With strategy free the tasks of several hosts run into each other; each names itself then.
        self._last_task_name = task.get_name().strip() if self._play.strategy in ("linear", "ansible.builtin.linear") else None

    def v2_runner_on_ok(self, result: t.Any) -> None:
        if self._talks() or result._result.get("changed", False):
            super().v2_runner_on_ok(result)
            return
        self._handle_warnings(result._result)
        if result._task.action in C._ACTION_DEBUG and "results" not in result._result:
            self._say(result._result)

    def v2_runner_item_on_ok(self, result: t.Any) -> None:
        if self._talks() or result._result.get("changed", False):
            super().v2_runner_item_on_ok(result)
        elif result._task.action in C._ACTION_DEBUG:
            self._say(result._result)

    def v2_runner_on_skipped(self, result: t.Any) -> None:
        if self._talks():
            super().v2_runner_on_skipped(result)
        else:
            self._handle_warnings(result._result)

    def v2_runner_item_on_skipped(self, result: t.Any) -> None:
        if self._talks():
            super().v2_runner_item_on_skipped(result)

    def v2_runner_on_unreachable(self, result: t.Any) -> None:
        """Where the play goes on without the host, it is one line: fleets have machines that are switched off."""
        if self._talks() or not result._task.ignore_unreachable:
            super().v2_runner_on_unreachable(result)
            return
        reason = str(result._result.get("msg") or "no reason given").strip().splitlines()[0]
        self._display.display(f"{result._host.get_name()} cannot be reached: {reason}", color=C.COLOR_UNREACHABLE)

    def v2_playbook_on_include(self, included_file: t.Any) -> None:
        if self._talks():
            super().v2_playbook_on_include(included_file)

    def v2_playbook_on_stats(self, stats: t.Any) -> None:
        if self._talks():
            super().v2_playbook_on_stats(stats)
            return
        everybody = stats.processed
        notable = {host: 1 for host in everybody if any(getattr(stats, kind).get(host) for kind in NOTABLE)}
        stats.processed = notable
        try:
            super().v2_playbook_on_stats(stats)
        finally:
            stats.processed = everybody
        others = [host for host in everybody if host not in notable]
        ignored = sum(1 for host in others if getattr(stats, "ignored", {}).get(host))
        if others:
            more = f"{len(others)} {'more ' if notable else ''}host{'' if len(others) == 1 else 's'}: nothing changed, nothing failed"
            self._display.display(f"{more}{f', {ignored} of them with something that was ignored' if ignored else ''}")

    def _say(self, result: t.Mapping[str, t.Any]) -> None:
        """What a debug task says: its message as lines, or the variable that it shows."""
        if result.get("_ansible_no_log"):
            return
        if "msg" not in result:
            self._display.display(self._dump_results({key: value for key, value in result.items() if not key.startswith("_")}, indent=2))
            return
        message = result["msg"]
        for line in message if isinstance(message, list) else [message]:
            self._display.display(line if isinstance(line, str) else self._dump_results({"msg": line}, indent=2))
