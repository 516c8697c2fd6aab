# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

import os
import typing as t
from collections.abc import Mapping

from ansible.errors import AnsibleConnectionFailure
from ansible.utils.unsafe_proxy import wrap_var

from ..module_utils._scheduled_events.core.types import Data, Values
from ..module_utils._scheduled_events.host.access import Failed
from ..module_utils._scheduled_events.host.files import LocalFiles
from ..module_utils._scheduled_events.journal.record_store import DEFAULT_PATH
from ..module_utils._scheduled_events.operations.maintenance_act import act_arguments, act_on_vm
from ..plugin_utils._actions.either_way import EitherWay
from ..plugin_utils._core.plain_values import flag, items, mapping, plain
from ..plugin_utils._drain.orders import method_orders
from ..plugin_utils._maintenance.observe import expected_identity
from ..plugin_utils._settings import vm_variables
from ..plugin_utils._settings.facts import why_refused
from ..plugin_utils._settings.renamed import refused_settings, refused_variables
from ..plugin_utils._settings.tasks_files import method_folders
from ..plugin_utils._windows.files import check_directory

# The reason why a VM is not observed; what is wrong stands beside it, for all VMs that have the same fault together.
WRONG = "its settings are wrong"
ASKED = ("action", "event_id", "event_ids", "iteration")


class ActionModule(EitherWay):
    answers = "maintenance_act"
    work = staticmethod(act_on_vm)
    arguments = staticmethod(act_arguments)

    def run(self, tmp: t.Any = None, task_vars: Data | None = None) -> Data:
        """Run the module, and add to its result what the controller itself keeps of the VM, unless it failed.

        Core prints failed results whole, and a drain method's command may hold a password. After a failure a task of role respond keeps the settings. After a
        lost connection core takes no such task, so a VM with settings that is not reached has failed, and the result says how.
        """
        given, other, variables = self._task.args.pop("vm_settings", None), self._task.args.pop("settings_of", None), task_vars or {}
        kept, fits = ({}, True) if given is None else self._settings(mapping(given), variables)
        if other is not None and (wrong := self._take_settings_of(other, variables)):
            return {"failed": True, "msg": wrong, "error_kind": "bad_option"}
        result = self._without_the_vm(kept.get("vm_settings"), variables)
        if result is None and not fits:
            result = {"failed": True, "msg": WRONG, "error_kind": "bad_option"}
        if result is None:
            # As maintenance_info, where nothing is done.
            self.reads_once = not items(self._task.args.get("actions"))
            self._name_members(variables)
            try:
                result = super().run(tmp, task_vars)
            except AnsibleConnectionFailure as error:
                result = {"failed" if kept else "unreachable": True, "msg": str(error), **({"not_reached": True} if kept else {})}
        return result if result.get("failed") else {**result, **kept}

    def _settings(self, given: Values, variables: Values) -> tuple[Data, bool]:
        """Take the settings of the VM from its variables. Return them as the result keeps them, and whether the VM can be observed with them."""
        found = vm_variables.read(variables, self._templar.template, _check_windows_path if given.get("system") == "windows" else LocalFiles.of_option)
        unfit = list(found.wrong_observation)
        if not unfit:
            self._task.args.update(found.observation)
            unfit = self._unfit_options()
        wrong = [*unfit, *found.wrong]
        folders = method_folders(variables, found.settings.pop(vm_variables.METHODS_PATH, None))
        settings = {**plain(given), "folders": folders, **found.settings, **({} if unfit else self._places_of_records()), **({"wrong": wrong} if wrong else {})}
        return {"vm_settings": wrap_var(settings)}, not unfit

    def _take_settings_of(self, other: str, variables: Values) -> str:
        """Take the options from the variables of the host that the task is delegated to. Return what is wrong with them."""
        if other not in variables["hostvars"]:
            return f"the inventory has no host {other}"
        found, wrong = vm_variables.of_other(variables["hostvars"][other], variables, self._templar.template)
        self._task.args.update(found)
        return " ".join(wrong)

    def _name_members(self, variables: Values) -> None:
        """Tell the methods the names in Azure of the members of their clusters, by the variables of these hosts."""
        if given := items(self._task.args.get("actions")):
            of_hosts = variables.get("hostvars") or {}

            def name_of(host: str) -> str | None:
                return expected_identity.azure_name(mapping(of_hosts[host])) if host in of_hosts else None

            found = [(action, method_orders.members_of_orders(mapping(action).get("methods"), name_of)) for action in given]
            self._task.args["actions"] = [{**action, "members": members} if members else action for action, members in found]

    def _places_of_records(self) -> dict[str, str]:
        """Return where the records are, and where on the controller itself: hosts that share a folder must be found before they use it."""
        path = str(self._task.args.get("records_path") or DEFAULT_PATH)
        is_here = self._connection.transport == "local" and os.path.isabs(path)
        return {"records_path": path, "local_records": os.path.normpath(path) if is_here else ""}

    def _without_the_vm(self, vm_settings: t.Any, task_vars: Values) -> Data | None:
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

    def _unfit_options(self) -> list[str]:
        """Return why the module would refuse its options."""
        try:
            self.checked_options()
        except Failed as failed:
            return [str(failed.result.get("msg"))]
        return []

    def finished(self, result: t.Any, task_vars: Values) -> Data:
        """Say beside the answer what was asked for, from the controller's own list: an answer is judged by it."""
        actions = self._task.args.get("actions")
        asked = [{key: action.get(key) for key in ASKED} for action in actions if isinstance(action, Mapping)] if isinstance(actions, (list, tuple)) else []
        found = dict(super().finished(result, task_vars), asked=asked)
        diff = _diff(items(actions), items(found.get("results"))) if self._task.diff else {}
        return {**found, **({"diff": diff} if diff else {})}


def _diff(actions: t.Sequence[t.Any], results: t.Sequence[t.Any]) -> dict[str, dict[str, str]]:
    """Return what a drain has found and would do, of the methods that were asked: a VM's own diff would be shown however long it is."""
    asked = [str(mapping(order).get("id")) for action in actions for order in items(mapping(action).get("methods"))]
    was, would = ({key: text for result in results for key, text in mapping(mapping(result).get(of)).items() if key in asked} for of in ("was", "would"))
    return {"before": was, "after": would} if would else {}


def _check_windows_path(path: str) -> None:
    """Raise ValueError for a path that the records cannot have. The default is another one on Windows."""
    if path != DEFAULT_PATH:
        check_directory(path)
