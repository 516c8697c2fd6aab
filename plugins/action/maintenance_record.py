# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

from ..module_utils._scheduled_events.operations.maintenance_record import record_arguments, record_required_if, write_records
from ..plugin_utils._actions.either_way import EitherWay


class ActionModule(EitherWay):
    answers = "maintenance_record"
    work = staticmethod(write_records)
    arguments = staticmethod(record_arguments)
    required_if = staticmethod(record_required_if)
