# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# What it does is documented with the module of the same name.

from __future__ import annotations

from ..module_utils._scheduled_events.operations.scheduled_events_info import info, info_arguments
from ..plugin_utils._actions.either_way import EitherWay


class ActionModule(EitherWay):
    answers = "scheduled_events_info"
    work = staticmethod(info)
    arguments = staticmethod(info_arguments)
