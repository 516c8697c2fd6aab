# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# What it does is documented with the module of the same name.

from __future__ import annotations

import typing as t
from datetime import datetime, timezone

from ansible.plugins.action import ActionBase
from ansible.utils.unsafe_proxy import wrap_var

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ansible_collections.maintenance.azure.plugins.plugin_utils._core.plain_values import flag, mapping
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain import haproxy, steps
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.orders import failovers
from ansible_collections.maintenance.azure.plugins.plugin_utils._settings.renamed import refused_variables

SPEC = {
    "begin": {"type": "dict"},
    "validate": {"type": "dict"},
    "failed": {"type": "dict"},
    "balancers": {"type": "list", "elements": "dict"},
}
REGISTERED = "__drain_step"
# Where the settings of a drain cannot be read, it is refused without them.
NO_SETTINGS: dict[str, t.Any] = {"methods": [], "former": [], "system": "linux", "folders": [], "own_folder": "", "places": []}


class ActionModule(ActionBase):
    """Choose the next step, on the controller. What lasts from one step to the next is in the registered result."""

    _requires_connection = False
    _supports_async = False
    _supports_check_mode = True

    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        variables = task_vars or {}
        result: dict[str, t.Any] = super().run(tmp, variables)
        _checked, arguments = self.validate_argument_spec(SPEC, mutually_exclusive=[tuple(SPEC)])
        if arguments["balancers"] is not None:
            method = mapping(mapping(variables.get(REGISTERED)).get("method"))
            return dict(result, **wrap_var(haproxy.view(arguments["balancers"], method.get("finding"), method.get("options"))))
        try:
            state = self._state(arguments, variables)
        except ValueError as error:
            return dict(result, failed=True, msg=printable(error, LONGEST_LINE))
        return {**result, **wrap_var(state), "_ansible_verbose_override": True}

    def _state(self, arguments: dict[str, t.Any], variables: dict[str, t.Any]) -> dict[str, t.Any]:
        if arguments["validate"] is not None:
            if wrong := steps.problems(t.cast("steps.Request", arguments["validate"])):
                raise ValueError(" ".join(wrong))
            return {}
        chosen = self._begin(arguments["begin"], variables) if arguments["begin"] is not None else _go_on(arguments["failed"], variables)
        return {**chosen.state, "result": chosen.result()}

    def _begin(self, begin: dict[str, t.Any], variables: dict[str, t.Any]) -> steps.Steps:
        request = {**NO_SETTINGS, "refused": refused_variables(variables) or "", **begin}
        request |= {
            "event": mapping(request["event"]),
            "record": mapping(request["record"]),
            "peers": failovers.peers(request["methods"], variables["hostvars"]),
        }
        request |= {"now": datetime.now(timezone.utc).isoformat(), "check_mode": bool(self._task.check_mode)}
        return steps.Steps.begin(t.cast("steps.Request", request))


def _go_on(failed: dict[str, t.Any] | None, variables: dict[str, t.Any]) -> steps.Steps:
    chosen = steps.Steps(dict(variables[REGISTERED]))
    message, line = steps.failure(failed["task"], failed["result"]) if failed else ("", "")
    said = "drain_tasks_state" if chosen.kind == "tasks" else "method_answer"
    chosen.go_on(
        steps.Came(
            result=mapping(variables.get("__drain_acted")),
            answer=variables.get(said),
            lost=flag(mapping(variables.get("method_result")).get("unreachable")) is True,
            failed=failed is not None,
            message=message,
            failure=line,
        )
    )
    return chosen
