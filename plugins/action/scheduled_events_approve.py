# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

from ..module_utils._scheduled_events.operations.scheduled_events_approve import approval_arguments, approve_events
from ..plugin_utils._actions.either_way import EitherWay


class ActionModule(EitherWay):
    answers = "scheduled_events_approve"
    work = staticmethod(approve_events)
    arguments = staticmethod(approval_arguments)
