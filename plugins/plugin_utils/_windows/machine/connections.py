# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""The connections of a Windows VM."""

from __future__ import annotations

import typing as t

from ..calls import Calls, json_output

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


class WindowsConnections:
    """Connections over ansible.windows; see Connections."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def count(self, ports: t.Collection[int]) -> int:
        parameters = {"Port": sorted(ports), "State": list(BUSY)}
        answer = self._calls.call("win_powershell", script=CONNECTIONS_SCRIPT, parameters=parameters, error_action="stop")
        found = json_output(answer, "the connections")
        count = found.get("open") if isinstance(found, dict) else None
        if isinstance(count, bool) or not isinstance(count, int):
            raise OSError("the connections cannot be counted: the script did not say how many are open")
        return count
