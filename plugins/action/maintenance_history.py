# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

from ..module_utils._scheduled_events.operations.maintenance_history import history_arguments, history_of_vm, history_required_if
from ..plugin_utils._actions.either_way import EitherWay


class ActionModule(EitherWay):
    answers = "maintenance_history"
    work = staticmethod(history_of_vm)
    arguments = staticmethod(history_arguments)
    required_if = staticmethod(history_required_if)
