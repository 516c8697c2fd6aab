# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""The parts of a Windows VM that drain methods use."""

from __future__ import annotations

import typing as t

from ....module_utils._scheduled_events.host.machine.machine import Machine
from ..calls import Calls, is_session_fault
from .commands import WindowsCommands
from .connections import WindowsConnections
from .failover_cluster import WindowsFailoverCluster
from .flag_files import WindowsFlagFiles
from .services import WindowsServices
from .web_server import WindowsWebServer


def windows_machine(calls: Calls, now: t.Callable[[], str]) -> Machine:
    """Return the VM that these calls reach, with its clock."""
    return Machine(
        now,
        WindowsCommands(calls),
        WindowsServices(calls),
        WindowsFlagFiles(calls),
        WindowsConnections(calls),
        system="windows",
        web_server=WindowsWebServer(calls),
        is_lost=is_session_fault,
        failover_cluster=WindowsFailoverCluster(calls),
    )
