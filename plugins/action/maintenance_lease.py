# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

from ..module_utils._scheduled_events.operations.maintenance_lease import change_lease, lease_arguments, lease_required_if
from ..plugin_utils._actions.either_way import EitherWay


class ActionModule(EitherWay):
    answers = "maintenance_lease"
    work = staticmethod(change_lease)
    arguments = staticmethod(lease_arguments)
    required_if = staticmethod(lease_required_if)
