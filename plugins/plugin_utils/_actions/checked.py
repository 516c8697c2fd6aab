# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""An action that runs its module as core does, and passes on only the documented part of its answer."""

from __future__ import annotations

import contextlib
import re
import signal
import time
import typing as t

from ansible.errors import AnsibleAction, AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action.normal import ActionModule as NormalAction
from ansible.utils.display import Display
from ansible.utils.unsafe_proxy import wrap_var

from ...module_utils._scheduled_events.core.types import Data, Values
from ...module_utils._scheduled_events.host.system import utc_text
from .._answers import limits
from .._answers.answer import read_answer, read_foreign_output, read_output, refuse
from .._answers.kinds import Unusable, printable
from .bounded_output import Bound, bounded

Result = Data

# From -vvv on, output includes the arguments of a module.
SHOW_INVOCATION = 3
# The connection stands, and one folder is removed.
CLEANUP_SECONDS = 30
PATH = re.compile(r"/[A-Za-z0-9/_.+-]{1,200}")


class OutOfTime(BaseException):
    """A time limit is over. Connection plugins try again after an Exception."""


class CheckedAction(NormalAction):
    """An action that checks an answer twice: as the VM printed it, before core acts on it, and as the result that core made of it."""

    # The module, whose schema is in _answers.
    answers: str
    # Whether that module runs now, and not a module of another collection that the work uses.
    _is_own_module = False
    _host_name = "the host"
    _bound: Bound

    def run(self, tmp: t.Any = None, task_vars: Data | None = None) -> Result:
        return self.finished(self.run_on_vm(task_vars or {}), task_vars or {})

    def run_on_vm(self, task_vars: Data) -> Result:
        """Run the module as core would without this action, and return its result."""
        return self.without_exceptions(lambda: super(CheckedAction, self).run(None, task_vars))

    def without_exceptions(self, run: t.Callable[[], t.Any]) -> Result:
        """Run the module within bounds. Pass on core's own errors, such as an unreachable VM; any other exception makes the answer a failure.

        What a VM has printed may be a part of such an error, as its whole stderr is of one about a lost connection.
        """
        try:
            with bounded(limits.BYTES, limits.MEMORY) as self._bound:
                return t.cast("Result", run())
        except AnsibleAction:  # failed, or skipped
            raise
        except AnsibleError as error:
            kind = AnsibleConnectionFailure if isinstance(error, AnsibleConnectionFailure) else AnsibleError
            raise kind(printable(str(error), limits.LINE)) from None
        except Unusable as error:
            return refuse(self.answers, self.host_name(), str(error))
        except MemoryError:
            return refuse(self.answers, self.host_name(), f"to read it takes more than {limits.MEMORY} bytes of memory")
        except Exception as error:  # any error of core over an unusable result
            return refuse(self.answers, self.host_name(), f"ansible-core cannot read it ({type(error).__name__})")

    def cleanup(self, force: bool = False) -> None:
        """Remove the module's folder on the VM. What the VM answers to this is read within bounds, too.

        The task's time limit is over here, and the other hosts of a play wait for this one.
        """
        with contextlib.suppress(OutOfTime):
            self.without_exceptions(lambda: _within(CLEANUP_SECONDS, lambda: super(CheckedAction, self).cleanup(force)))

    def host_name(self) -> str:
        """Return the host that the module runs on."""
        return str(self._task.delegate_to or self._host_name)

    def finished(self, result: t.Any, task_vars: Values) -> Result:
        """Return the checked result, as the play gets it."""
        self.note_host(task_vars)
        clean = read_answer(self.answers, self.host_name(), result, bool(self._task.async_val))
        if "now" in clean:
            # By the clock of the controller, for an answer is read long after it came where other hosts are slow. A VM's own key of this name is dropped.
            clean["answered_at"] = utc_text(time.time())
        # On ansible-core 2.18 this keeps texts from being evaluated as templates.
        found: Result = wrap_var(clean)
        if Display().verbosity >= SHOW_INVOCATION:
            # The arguments are those of the task, not those that the VM reports. Keys that core adds are left out.
            found["invocation"] = {"module_args": {key: value for key, value in self._task.args.items() if not key.startswith("_ansible_")}}
        error = result.get("exception") if isinstance(result, t.Mapping) else None
        if found.get("failed") and error is not None and not isinstance(error, (str, t.Mapping)):
            found["exception"] = error  # core's own report of the failure
        return dict(found, **self._interpreter())

    def note_host(self, task_vars: Values) -> None:
        """Remember the host whose answers are read from now on."""
        self._host_name = str(task_vars.get("inventory_hostname") or "the host")

    def _interpreter(self) -> Result:
        """Return the one fact that core itself sets: the interpreter that it has discovered, so that it is discovered only once."""
        key, path = getattr(self, "_discovered_interpreter_key", None), getattr(self, "_discovered_interpreter", None)
        if not isinstance(key, str) or not isinstance(path, str) or not PATH.fullmatch(path):
            return {}
        return {"ansible_facts": {key: path}}

    def _execute_module(self, *given: t.Any, **named: t.Any) -> t.Any:
        before = self._is_own_module
        name = given[0] if given else named.get("module_name")
        self._is_own_module = name is None or name == self._task.action
        self.note_host(named.get("task_vars") or {})
        try:
            return super()._execute_module(*given, **named)
        finally:
            self._is_own_module = before

    def _low_level_execute_command(self, *given: t.Any, **named: t.Any) -> t.Any:
        result = super()._low_level_execute_command(*given, **named)
        self._bound.check()
        # Only the run of a module has input; everything else is core's own housekeeping.
        if "in_data" in named and isinstance(result.get("stdout"), str) and (clean := self._clean_output(result["stdout"])) is not None:
            result.update(stdout=clean, stdout_lines=clean.splitlines())
        return result

    def _clean_output(self, printed: str) -> str | None:
        if not self._is_own_module:
            return read_foreign_output("a module", self.host_name(), printed)
        return read_output(self.answers, self.host_name(), printed, bool(self._task.async_val))


def _within(seconds: int, run: t.Callable[[], t.Any]) -> Result:
    """Run something that returns nothing. Raise OutOfTime when it has not ended in time."""

    def end(*_signal: object) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, end)
    try:
        signal.alarm(seconds)
        run()
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return {}
