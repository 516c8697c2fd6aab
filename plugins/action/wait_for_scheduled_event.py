# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# What it does is documented with the module of the same name.

from __future__ import annotations

import typing as t

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase

from ..module_utils._scheduled_events.operations.wait_for_scheduled_event import wait_for_event, waiting_arguments
from ..plugin_utils._actions.either_way import EitherWay
from ..plugin_utils._actions.wait_through_boots import WaitThroughBoots

# From the controller each poll is a call with the cost of a session.
WINDOWS_POLL_INTERVAL = 5.0


class ActionModule(EitherWay):
    answers = "wait_for_scheduled_event"
    work = staticmethod(wait_for_event)
    arguments = staticmethod(waiting_arguments)
    keep_asking = True

    def run_on_vm(self, task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        if self._task.async_val:
            return super().run_on_vm(task_vars)
        # Ansible itself reports a VM that was never reachable; only a VM that was reachable before is waited for.
        self.without_exceptions(lambda: self._low_level_execute_command(":", sudoable=False))

        def run(arguments: dict[str, t.Any]) -> dict[str, t.Any]:
            return self.without_exceptions(lambda: self._execute_module(module_args=arguments, task_vars=task_vars))

        result: dict[str, t.Any] = ActionBase.run(self, None, task_vars)
        result.update(WaitThroughBoots(run, self._reset).wait(dict(self._task.args)))
        return result

    def checked_options(self) -> dict[str, t.Any]:
        options = super().checked_options()
        if self._task.args.get("poll_interval") is None:
            options["poll_interval"] = WINDOWS_POLL_INTERVAL
        return options

    def _reset(self) -> None:
        self._connection._shell.tmpdir = None  # removed by the boot; the next run creates another
        try:
            self._connection.reset()
        except (AnsibleConnectionFailure, OSError):
            return  # the next run reports whether the VM is reachable
