# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# What it does is documented with the module of the same name.

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.maintenance_act import act_arguments, act_on_vm
from ansible_collections.maintenance.azure.plugins.plugin_utils._actions.either_way import EitherWay

ASKED = ("act", "event_id", "event_ids", "turn")


class ActionModule(EitherWay):
    answers = "maintenance_act"
    work = staticmethod(act_on_vm)
    arguments = staticmethod(act_arguments)

    def finished(self, result: t.Any, task_vars: Mapping[str, t.Any]) -> dict[str, t.Any]:
        """Say beside the answer what was asked for, from the controller's own list: an answer is judged by it."""
        actions = self._task.args.get("actions")
        asked = [{key: action.get(key) for key in ASKED} for action in actions if isinstance(action, Mapping)] if isinstance(actions, (list, tuple)) else []
        return dict(super().finished(result, task_vars), asked=asked)
