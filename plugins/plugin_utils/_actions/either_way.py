# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""One action for Linux and Windows hosts: on Linux the module runs on the VM, on Windows the controller does its work."""

from __future__ import annotations

import time
import typing as t

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.errors import UnsupportedError
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ...module_utils._scheduled_events.core.types import Data
from ...module_utils._scheduled_events.host.access import Failed, HostAccess, Work
from ...module_utils._scheduled_events.journal.record_store import DEFAULT_PATH
from .._settings.renamed import refused_options
from .._windows.calls import Calls
from .._windows.files import WindowsFiles
from .._windows.host import WindowsHost
from .._windows.machine.machine import windows_machine
from .._windows.transport import WindowsPlaces, WindowsTransport
from .checked import CheckedAction

WINDOWS_PATH = "%ProgramData%\\azure-maintenance"
PROGRESS_SECONDS = 30.0

Arguments = t.Callable[[], dict[str, Data]]


class EitherWay(CheckedAction):
    """An action whose work is a function. Each run makes its own objects: an action may be used for a whole loop."""

    work: Work
    arguments: Arguments
    required_if: t.Callable[[], list[list[t.Any]]] = staticmethod(list)
    # Whether the work repeats its requests by itself, and so survives a lost session.
    keep_asking = False
    # Whether the work only reads, so that one reading of the records is enough.
    reads_once = False

    def run(self, tmp: t.Any = None, task_vars: Data | None = None) -> Data:
        if renamed := refused_options(self.answers, self._task.args):
            return {"failed": True, "msg": renamed, "error_kind": "bad_option"}
        if not getattr(self._connection._shell, "_IS_WINDOWS", False):
            return super().run(tmp, task_vars)
        result: Data = ActionBase.run(self, tmp, task_vars)
        result.update(self.finished(self.without_exceptions(lambda: self.run_from_here(task_vars or {})), task_vars or {}))
        return result

    def run_from_here(self, task_vars: Data) -> Data:
        warnings: list[str] = []
        try:
            if self._task.async_val:
                raise Failed(f"{self._task.action} cannot run with async on a Windows host: its work is done from the controller.")
            options = self.checked_options()
            calls = Calls(self, task_vars)
            result = type(self).work(options, self._host_access(calls, warnings, task_vars.get("inventory_hostname")))
        except Failed as failed:
            result = dict(failed.result, failed=True)
        except (OSError, ValueError) as error:
            result = {"failed": True, "msg": str(error)}
        return dict(result, warnings=warnings) if warnings else result

    def checked_options(self) -> Data:
        """Return the task's options as the module would check them. Raise Failed with the module's own error."""
        validator = ArgumentSpecValidator(type(self).arguments(), required_if=type(self).required_if())
        checked = validator.validate(dict(self._task.args))
        if checked.error_messages:
            message = checked.error_messages[0]
            if isinstance(checked.errors[0], UnsupportedError):
                message = f"Unsupported parameters for ({self._task.action}) module: {message}"
            raise Failed(message)
        options: Data = checked.validated_parameters
        if options.get("records_path") == DEFAULT_PATH:
            options["records_path"] = WINDOWS_PATH
        return options

    def _host_access(self, calls: Calls, warnings: list[str], vm: str | None) -> HostAccess:
        check_mode = bool(self._task.check_mode)
        watcher: dict[str, bytes | None] = {"state": None}

        def log(line: str) -> None:
            if problem := WindowsHost(calls).log(line):
                warnings.append(f"The Windows event log was not written to: {problem}")

        return HostAccess(
            check_mode,
            warnings.append,
            connect=lambda endpoint: WindowsTransport(calls, endpoint, check_mode, self.keep_asking),
            files=lambda path: WindowsFiles(calls, path, check_mode, self.reads_once, lambda content: watcher.update(state=content)),
            host=lambda boot_id: WindowsHost(calls, boot_id, lambda: watcher["state"]),
            log=log,
            progress=Progress(vm).say,
            places=lambda: WindowsPlaces(calls),
            machine=lambda now: windows_machine(calls, now),
        )


class Progress:
    """Report the progress of a long wait from time to time. With -v it is printed at once; without -v core cannot print it."""

    def __init__(self, vm: str | None) -> None:
        self._vm = vm
        self._reported_at = 0.0

    def say(self, text: str) -> None:
        if time.monotonic() - self._reported_at >= PROGRESS_SECONDS:
            self._reported_at = time.monotonic()
            Display().v(text, host=self._vm)
