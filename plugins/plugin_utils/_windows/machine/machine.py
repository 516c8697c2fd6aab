# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The parts of a Windows VM that drain methods use."""

from __future__ import annotations

import typing as t

from ....module_utils._scheduled_events.host.machine.machine import Machine
from ..calls import Calls, OverCalls, is_session_fault, json_output
from .commands import WindowsCommands
from .failover_cluster import WindowsFailoverCluster
from .flag_files import WindowsFlagFiles
from .services import WindowsServices
from .web_server import WindowsWebServer

# How many connections on these ports still carry something for a client. All are read and then chosen from: there is always one, ours, so
# that an empty table is an error and never "no connections".
# https://learn.microsoft.com/en-us/powershell/module/nettcpip/get-nettcpconnection
CONNECTIONS_SCRIPT = """\
param([int[]]$Port, [string[]]$State)
$all = @(Get-NetTCPConnection)
if ($all.Count -eq 0) { throw 'The table of connections is empty.' }
$open = @($all | Where-Object -FilterScript { $Port -contains $_.LocalPort -and $State -contains [string]$_.State })
@{ now = [DateTime]::UtcNow.ToString('s'); open = $open.Count } | ConvertTo-Json -Compress
"""
# The same as on Linux.
BUSY = ("Established", "SynReceived", "FinWait1", "CloseWait")


class WindowsConnections(OverCalls):
    """Connections over ansible.windows; see Connections."""

    def count(self, ports: t.Collection[int]) -> int:
        parameters = {"Port": sorted(ports), "State": list(BUSY)}
        answer = self._calls.call("win_powershell", script=CONNECTIONS_SCRIPT, parameters=parameters, error_action="stop")
        found = json_output(answer, "the connections")
        count = found.get("open") if isinstance(found, dict) else None
        if isinstance(count, bool) or not isinstance(count, int):
            raise OSError("the connections cannot be counted: the script did not say how many are open")
        return count


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
