# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

import typing as t
from datetime import datetime, timezone

from ..module_utils._scheduled_events.core.types import Data, Values
from ..module_utils._scheduled_events.lease.lease_time import TASK_LIMITS
from ..plugin_utils._actions.on_controller import OnController
from ..plugin_utils._core import host_variables
from ..plugin_utils._core.plain_values import flag, items, mapping
from ..plugin_utils._drain import steps
from ..plugin_utils._drain.kinds.registry import kind_of
from ..plugin_utils._drain.preview_steps import PreviewSteps
from ..plugin_utils._maintenance.config.timing import wrong_leases
from ..plugin_utils._settings import tasks_files
from ..plugin_utils._settings.renamed import refused_variables

SPEC = {
    "begin": {"type": "dict"},
    "validate": {"type": "dict"},
    "failed": {"type": "dict"},
    "observed": {"type": "list", "elements": "dict"},
}
REGISTERED = "__drain_step"
# Where the settings of a drain cannot be read, it is refused without them.
NO_SETTINGS: Data = {"methods": [], "former": [], "system": "linux", "methods_path": "", "must": False, "away": []}


class ActionModule(OnController):
    """Choose the next step, on the controller. What lasts from one step to the next is in the registered result."""

    spec = SPEC
    rules: t.ClassVar = {"mutually_exclusive": [tuple(SPEC)]}

    def answer(self, arguments: Data, variables: Data) -> Values:
        if arguments["observed"] is not None:
            method = mapping(mapping(variables.get(REGISTERED)).get("method"))
            return kind_of(str(method.get("kind"))).view(arguments["observed"], method.get("finding"), method.get("options"))
        if arguments["validate"] is not None:
            if wrong := steps.problems(t.cast("steps.Request", _with_folders(arguments["validate"], variables))):
                raise ValueError(" ".join(wrong))
            return {}
        chosen = self._begin(arguments["begin"], variables) if arguments["begin"] is not None else _go_on(arguments["failed"], variables)
        return {**chosen.state, "result": chosen.result(), "limit": TASK_LIMITS["act"]}

    def _begin(self, begin: Data, variables: Data) -> steps.Steps:
        lease = {"seconds in drain_lease or recover_lease": mapping(begin.get("lease")).get("seconds")}
        refused = refused_variables(variables) or wrong_leases(lease, variables, self._templar.template)
        request = _with_folders({**NO_SETTINGS, "refused": refused or "", **begin}, variables)
        request |= {
            "event": mapping(request["event"]),
            "record": mapping(request["record"]),
        }
        # A stage whose tasks have ended the host, in this run: no step came after it.
        before = mapping(variables.get(REGISTERED))
        ended = [*items(mapping(before.get("request")).get("ended")), *([steps.stage_of(before)] if before.get("do") == "stage" else [])]
        request |= {"ended": ended, "now": datetime.now(timezone.utc).isoformat(), "check_mode": bool(self._task.check_mode)}
        return _steps(request).begin(t.cast("steps.Request", request))


def _steps(request: Values) -> type[steps.Steps]:
    return PreviewSteps if request["check_mode"] else steps.Steps


def _with_folders(settings: Data, variables: Data) -> Data:
    """Return the settings of a drain with the folders in which its methods and task files are."""
    folders = tasks_files.method_folders(variables, settings.pop("methods_path"))
    return {**settings, "folders": folders, "own_folder": "".join(folders[1:]), "places": tasks_files.places(variables)}


def _go_on(failed: Data | None, variables: Data) -> steps.Steps:
    state = dict(variables[REGISTERED])
    chosen = _steps(state["request"])(state)
    # A task's name is the operator's own word for it, but for tasks of this collection: they are no concern of who reads the reason.
    message, line = steps.failure(failed["task"] if chosen.kind.names_tasks else "", failed["result"]) if failed else ("", "")
    chosen.go_on(
        steps.Came(
            result=mapping(variables.get("__drain_acted")),
            answer=variables.get(chosen.kind.answer_fact),
            lost=flag(mapping(variables.get("method_result")).get("unreachable")) is True,
            failed=failed is not None,
            message=message,
            failure=line,
            owner=lambda address, name: _owner(address, name, variables),
        )
    )
    return chosen


def _owner(address: str, name: str, variables: Data) -> str:
    """Return this host, or the one of a name, if it has an address as the inventory has written it. No balancer has more hosts looked at."""
    hosts = [host for host in (str(variables["inventory_hostname"]), name) if host in variables["hostvars"]]
    return next((host for host in hosts if host_variables.written(host, variables["hostvars"]).get("ansible_host") == address), "")
