# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# What it does is documented with the module of the same name.

from __future__ import annotations

import typing as t
from datetime import datetime, timezone

from ..plugin_utils._actions.on_controller import OnController
from ..plugin_utils._core.plain_values import flag, mapping
from ..plugin_utils._drain import haproxy, steps
from ..plugin_utils._drain.orders import failovers
from ..plugin_utils._drain.settings.configured import HAPROXY
from ..plugin_utils._settings.renamed import refused_variables

SPEC = {
    "begin": {"type": "dict"},
    "validate": {"type": "dict"},
    "failed": {"type": "dict"},
    "balancers": {"type": "list", "elements": "dict"},
}
REGISTERED = "__drain_step"
# Where the settings of a drain cannot be read, it is refused without them.
NO_SETTINGS: dict[str, t.Any] = {"methods": [], "former": [], "system": "linux", "folders": [], "own_folder": "", "places": []}


class ActionModule(OnController):
    """Choose the next step, on the controller. What lasts from one step to the next is in the registered result."""

    spec = SPEC
    rules: t.ClassVar = {"mutually_exclusive": [tuple(SPEC)]}

    def answer(self, arguments: dict[str, t.Any], variables: dict[str, t.Any]) -> t.Mapping[str, t.Any]:
        if arguments["balancers"] is not None:
            method = mapping(mapping(variables.get(REGISTERED)).get("method"))
            return haproxy.view(arguments["balancers"], method.get("finding"), method.get("options"))
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
    # A task's name is the operator's own word for it, but for tasks of this collection: they are no concern of who reads the reason.
    message, line = steps.failure("" if chosen.kind == HAPROXY else failed["task"], failed["result"]) if failed else ("", "")
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
