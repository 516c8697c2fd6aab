# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What the actions for the roles have in common that only compute, on the controller."""

from __future__ import annotations

import typing as t

from ansible.plugins.action import ActionBase
from ansible.plugins.loader import action_loader, module_loader
from ansible.utils.unsafe_proxy import wrap_var

from ...module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ...module_utils._scheduled_events.core.types import Data, Values
from .._settings import tasks_files


class OnController(ActionBase):
    """An action without a host. What is wrong with its input is its own message: the error of a filter would be shown with a chain of causes."""

    _requires_connection = False
    _supports_async = False
    _supports_check_mode = True
    spec: t.ClassVar[Values]
    rules: t.ClassVar[Values] = {}
    """How the options exclude or need each other, as core's validation takes it."""
    wrong_input: t.ClassVar[tuple[type[Exception], ...]] = (ValueError,)

    def run(self, tmp: t.Any = None, task_vars: Data | None = None) -> Data:
        variables = task_vars or {}
        result: Data = super().run(tmp, variables)
        _checked, arguments = self.validate_argument_spec(self.spec, **self.rules)
        try:
            found = self.answer(arguments, variables)
        except self.wrong_input as error:
            # Without the cause: ansible-core would print the text of the cause too, which is not made printable.
            return dict(result, failed=True, msg=printable(error, LONGEST_LINE))
        # Too long to print with -v. On ansible-core 2.18, wrap_var keeps texts from being evaluated as templates.
        return {**result, "changed": False, **wrap_var(found), "_ansible_verbose_override": True}

    def answer(self, arguments: Data, variables: Data) -> Values:
        """Return what the task registers. Raise one of wrong_input."""
        raise NotImplementedError

    def tasks_file(self, option: str, name: str, folders: t.Sequence[str] = ()) -> str:
        """Return the path of a tasks file of an operator. Raise WrongInput for one that cannot be included."""
        return tasks_files.checked(option, name, folders, self._loader.load_from_file, self._is_action)

    def _is_action(self, word: str) -> bool:
        """Return whether core finds an action of this name, as it does for a task that is included from where this one stands."""
        collections = list(self._task.collections or [])
        return any(loader.find_plugin_with_context(word, collection_list=collections).resolved for loader in (action_loader, module_loader))
