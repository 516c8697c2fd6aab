# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

import time
import typing as t

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase

from ..module_utils._scheduled_events.core.argument_specs import wait_arguments
from ..module_utils._scheduled_events.core.errors import seconds_in_words
from ..module_utils._scheduled_events.core.types import Data, Values
from ..module_utils._scheduled_events.operations.wait_for_scheduled_event import wait_for_event, waiting_arguments
from ..plugin_utils._actions.either_way import EitherWay

Result = Data
PAUSE = 5.0


class WaitThroughBoots:
    """One wait on a Linux VM. ``run`` runs the module with these arguments, ``reset`` makes the next run connect anew."""

    def __init__(
        self,
        run: t.Callable[[Data], Result],
        reset: t.Callable[[], None],
        clock: t.Callable[[], float] = time.monotonic,
        sleep: t.Callable[[float], None] = time.sleep,
    ) -> None:
        self._run = run
        self._reset = reset
        self._clock = clock
        self._sleep = sleep

    def wait(self, arguments: Data) -> Result:
        """Wait on a VM that has answered before: then a lost connection means a boot, or a network that will be back."""
        timeout = _timeout(arguments)
        began = self._clock()
        losses: list[str] = []
        given = dict(arguments)
        while True:
            try:
                result = self._run(given)
                why = _killed(result)
            except AnsibleConnectionFailure as error:
                result, why = {}, " ".join(str(error).split())[:200]
            if why is None or timeout is None:
                return self._together(result, losses, began)
            left = timeout - (self._clock() - began)
            losses.append(f"The connection to the VM was lost after {seconds_in_words(self._clock() - began)} of waiting: {why}")
            if left <= 0:
                return self._timed_out(losses, began, timeout)
            self._reset()
            self._sleep(min(PAUSE, left))
            given = dict(arguments, timeout=max(0.0, timeout - (self._clock() - began)))

    def _together(self, result: Result, losses: list[str], began: float) -> Result:
        if not losses:
            return result
        whole = dict(result, warnings=[*result.get("warnings", []), losses[-1] + " The wait went on with the time that was left."])
        if "elapsed" in whole:
            whole["elapsed"] = round(self._clock() - began, 3)
        return whole

    def _timed_out(self, losses: list[str], began: float, timeout: float) -> Result:
        return {
            "failed": True,
            "changed": False,
            "outcome": "timeout",
            "error_kind": "timeout",
            "elapsed": round(self._clock() - began, 3),
            "msg": f"Waited {seconds_in_words(timeout)} (timeout). {losses[-1]} It was not back in time.",
        }


def _timeout(arguments: Values) -> float | None:
    """Return the timeout in seconds, or None for a value that the module itself will refuse."""
    try:
        return float(arguments.get("timeout", wait_arguments()["timeout"]["default"]))
    except (TypeError, ValueError):
        return None


def _killed(result: Values) -> str | None:
    """Return why the module ended without an answer, or None. A shutdown ends the module before the connection."""
    if "module_stdout" not in result or "Traceback" in str(result.get("module_stderr")):
        return None
    code = result.get("rc")
    # Python itself exits with 1 or 2, a signal with more than 128 or less than 0, ssh with 255.
    if not isinstance(code, int) or 0 <= code <= 128:
        return None
    return f"the module was ended (exit code {code})"


# From the controller each poll is a call with the cost of a session.
WINDOWS_POLL_INTERVAL = 5.0


class ActionModule(EitherWay):
    answers = "wait_for_scheduled_event"
    work = staticmethod(wait_for_event)
    arguments = staticmethod(waiting_arguments)
    keep_asking = True

    def run_on_vm(self, task_vars: Data) -> Data:
        if self._task.async_val:
            return super().run_on_vm(task_vars)
        # Ansible itself reports a VM that was never reachable; only a VM that was reachable before is waited for.
        self.without_exceptions(lambda: self._low_level_execute_command(":", sudoable=False))

        def run(arguments: Data) -> Data:
            return self.without_exceptions(lambda: self._execute_module(module_args=arguments, task_vars=task_vars))

        result: Data = ActionBase.run(self, None, task_vars)
        result.update(WaitThroughBoots(run, self._reset).wait(dict(self._task.args)))
        return result

    def checked_options(self) -> Data:
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
