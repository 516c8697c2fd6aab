# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

from ..module_utils._scheduled_events.operations.maintenance_info import observation_arguments, observe_vm
from ..plugin_utils._actions.either_way import EitherWay


class ActionModule(EitherWay):
    answers = "maintenance_info"
    work = staticmethod(observe_vm)
    arguments = staticmethod(observation_arguments)
    reads_once = True
