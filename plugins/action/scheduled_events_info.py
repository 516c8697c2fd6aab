# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

from ..module_utils._scheduled_events.operations.scheduled_events_info import info, info_arguments
from ..plugin_utils._actions.either_way import EitherWay


class ActionModule(EitherWay):
    answers = "scheduled_events_info"
    work = staticmethod(info)
    arguments = staticmethod(info_arguments)
