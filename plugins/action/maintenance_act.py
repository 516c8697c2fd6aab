# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# What it does is documented with the module of the same name.

from __future__ import annotations

import os
import re
import typing as t
from collections.abc import Mapping

from ansible.errors import AnsibleConnectionFailure
from ansible.utils.unsafe_proxy import wrap_var

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.access import Failed
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import DEFAULT_PATH
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.maintenance_act import act_arguments, act_on_vm
from ansible_collections.maintenance.azure.plugins.plugin_utils._actions.either_way import EitherWay
from ansible_collections.maintenance.azure.plugins.plugin_utils._core.plain_values import flag, mapping, plain
from ansible_collections.maintenance.azure.plugins.plugin_utils._settings.facts import why_refused
from ansible_collections.maintenance.azure.plugins.plugin_utils._settings.renamed import refused_settings, refused_variables

# Options that role respond passes on.
GIVEN = ("api_version", "boot_id", "endpoint", "health", "records_path", "vm_name")
ASKED = ("action", "event_id", "event_ids", "iteration")


class ActionModule(EitherWay):
    answers = "maintenance_act"
    work = staticmethod(act_on_vm)
    arguments = staticmethod(act_arguments)

    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        """Run the module, and add to its result what the controller itself keeps of the VM, unless it failed.

        Core prints failed results whole, and a drain method's command may hold a password. After a failure a task of role respond keeps the settings. After a
        lost connection core takes no such task, so a VM with settings that is not reached has failed, and the result says how.
        """
        vm_settings = self._task.args.pop("vm_settings", None)
        kept = {} if vm_settings is None else {"vm_settings": wrap_var({**plain(mapping(vm_settings)), **self._places_of_records()})}
        result = self._without_the_vm(kept.get("vm_settings"), task_vars or {})
        if result is None and kept and (wrong := self._wrong_option()):
            result = {"failed": True, "msg": wrong}
        if result is None:
            try:
                result = super().run(tmp, task_vars)
            except AnsibleConnectionFailure as error:
                result = {"failed" if kept else "unreachable": True, "msg": str(error), **({"not_reached": True} if kept else {})}
        return result if result.get("failed") else {**result, **kept}

    def _places_of_records(self) -> dict[str, str]:
        """Return where the records are, and where on the controller itself: hosts that share a folder must be found before they use it."""
        path = str(self._task.args.get("records_path") or DEFAULT_PATH)
        is_here = self._connection.transport == "local" and os.path.isabs(path)
        return {"records_path": path, "local_records": os.path.normpath(path) if is_here else ""}

    def _without_the_vm(self, vm_settings: t.Any, task_vars: Mapping[str, t.Any]) -> dict[str, t.Any] | None:
        """Return the result where the VM need not, or must not, be asked."""
        given = self._task.args
        if not given.get("actions") and flag(given.get("observe", True)) is False:
            return {"changed": False, "asked": [], "results": []}
        if isinstance(vm_settings, Mapping):
            if refused := why_refused(task_vars.get("ansible_facts")):
                return {"failed": True, "msg": refused, "refused": True}
            # In the variables of this host alone: role respond has checked those of the whole play. The VM counts as unread, so its events are held.
            if renamed := refused_variables(task_vars) or refused_settings(task_vars.get("respond_timing")):
                return {"failed": True, "msg": renamed}
            if flag(vm_settings.get("exclude")) is True:
                return {"changed": False, "excluded": True}
        return None

    def _wrong_option(self) -> str | None:
        """Return what is wrong with an option that role respond was given for this VM, by the name of the role's option; None if nothing is."""
        try:
            self.checked_options()
        except Failed as failed:
            message = str(failed.result.get("msg"))
            given = [_as_given(name, plain(self._task.args[name])) for name in GIVEN if name in self._task.args and re.search(rf"\b{name}\b", message)]
            return f"wrong setting: {', '.join(given)}: {message}" if given else message
        return None

    def finished(self, result: t.Any, task_vars: Mapping[str, t.Any]) -> dict[str, t.Any]:
        """Say beside the answer what was asked for, from the controller's own list: an answer is judged by it."""
        actions = self._task.args.get("actions")
        asked = [{key: action.get(key) for key in ASKED} for action in actions if isinstance(action, Mapping)] if isinstance(actions, (list, tuple)) else []
        return dict(super().finished(result, task_vars), asked=asked)


def _as_given(name: str, value: t.Any) -> str:
    """Return an option as role respond was given it. The values of a dictionary are left out: the URL of a health check may hold a password."""
    return f"respond_{name} has {', '.join(map(str, value)) or 'no keys'}" if isinstance(value, Mapping) else f"respond_{name} is {value!r}"
