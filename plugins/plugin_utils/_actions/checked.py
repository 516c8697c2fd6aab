# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""An action that runs its module as core does, and lets only what is documented through from it."""

from __future__ import annotations

import re
import typing as t

from ansible.errors import AnsibleError
from ansible.plugins.action.normal import ActionModule as NormalAction
from ansible.utils.display import Display
from ansible.utils.unsafe_proxy import wrap_var

from ansible_collections.maintenance.azure.plugins.plugin_utils._answers.answer import read_answer, read_foreign_output, read_output, refuse

Result = dict[str, t.Any]

# From -vvv on people are shown with what a module was called.
SHOW_INVOCATION = 3
PATH = re.compile(r"/[A-Za-z0-9/_.+-]{1,200}")


class CheckedAction(NormalAction):
    """What a VM answers is read twice: as it was printed, before core acts on any of it, and as core has made a result of it."""

    # The module, whose schema is in _answers.
    answers: str
    # Whether what runs now is that module, and not one of somebody else that the work uses.
    _is_own_module = False
    _host_name = "the host"

    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> Result:
        return self.finished(self.run_on_vm(task_vars or {}), task_vars or {})

    def run_on_vm(self, task_vars: dict[str, t.Any]) -> Result:
        """As core would without this action."""
        return self.without_exceptions(lambda: super(CheckedAction, self).run(None, task_vars))

    def without_exceptions(self, run: t.Callable[[], t.Any]) -> Result:
        """Run the module. Core's own errors go through, an unreachable VM among them; what else an answer brings about is its failure."""
        try:
            return t.cast("Result", run())
        except AnsibleError:
            raise
        except Exception as error:  # whatever core makes of a result that is none
            return refuse(self.answers, self.where(), f"ansible-core cannot read it ({type(error).__name__})")

    def where(self) -> str:
        """The host that the module runs on."""
        return str(self._task.delegate_to or self._host_name)

    def finished(self, result: t.Any, task_vars: t.Mapping[str, t.Any]) -> Result:
        """What the play gets."""
        self.note_host(task_vars)
        clean = read_answer(self.answers, self.where(), result, bool(self._task.async_val))
        # On ansible-core 2.18 this is what keeps a text from being taken for a template.
        found: Result = wrap_var(clean)
        if Display().verbosity >= SHOW_INVOCATION:
            # The VM's own account of what it was asked is not believed either. Keys of core's own are none of the task's.
            found["invocation"] = {"module_args": {key: value for key, value in self._task.args.items() if not key.startswith("_ansible_")}}
        error = result.get("exception") if isinstance(result, t.Mapping) else None
        if found.get("failed") and error is not None and not isinstance(error, (str, t.Mapping)):
            found["exception"] = error  # core's own account of the failure
        return dict(found, **self._interpreter())

    def note_host(self, task_vars: t.Mapping[str, t.Any]) -> None:
        """Whose answers are read from now on."""
        self._host_name = str(task_vars.get("inventory_hostname") or "the host")

    def _interpreter(self) -> Result:
        """The one fact that core itself makes: the interpreter that it has found, so that it need not look again."""
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
        # Only the run of a module has input; everything else is core's own housekeeping.
        if "in_data" in named and isinstance(result.get("stdout"), str):
            clean = self._clean_output(result["stdout"])
            if clean is not None:
                result.update(stdout=clean, stdout_lines=clean.splitlines())
        return result

    def _clean_output(self, printed: str) -> str | None:
        if not self._is_own_module:
            return read_foreign_output("a module", self.where(), printed)
        return read_output(self.answers, self.where(), printed, bool(self._task.async_val))
