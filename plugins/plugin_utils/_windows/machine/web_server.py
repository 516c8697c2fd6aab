# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""IIS on a Windows VM."""

from __future__ import annotations

import typing as t

from ....module_utils._scheduled_events.core.types import Data
from ....module_utils._scheduled_events.host.machine.web_server import States
from ..calls import Answer, OverCalls, accepted, json_output

# How many connections IIS has for each site. The class is that of the performance counters "Web Service", by a name that is the same in
# every language of Windows; Get-Counter's are translated. _Total shows that there was an answer at all. Reviewed against
# https://learn.microsoft.com/en-us/powershell/module/cimcmdlets/get-ciminstance
# https://learn.microsoft.com/en-us/previous-versions/aa394345(v=vs.85)
IIS_SCRIPT = """\
$sites = @(Get-CimInstance -ClassName Win32_PerfFormattedData_W3SVC_WebService | Select-Object -Property 'Name', 'CurrentConnections')
ConvertTo-Json -InputObject $sites -Compress
"""
TOTAL = "_total"


class WindowsWebServer(OverCalls):
    """IIS over microsoft.iis and ansible.windows; see WebServer."""

    def sites(self, names: t.Sequence[str]) -> States:
        found = {}
        for name in map(str, names):
            answer = self._calls.call("microsoft.iis.website_info", name=name)
            for one in _listed(answer, "site", f"site {name}"):
                found[name] = str(one.get("state"))
        return found

    def pools(self, names: t.Sequence[str]) -> States:
        found = {}
        for name in map(str, names):
            answer = self._calls.call("microsoft.iis.web_app_pool_info", name=name)
            for one in _listed(answer, "app_pools", f"application pool {name}"):
                found[name] = str((one.get("attributes") or {}).get("state"))
        return found

    def set_sites(self, names: t.Sequence[str], state: str) -> None:
        for name in names:
            accepted(self._calls.call("microsoft.iis.website", name=name, state=state), f"site {name} was to be {state}")

    def set_pools(self, names: t.Sequence[str], state: str) -> None:
        for name in names:
            accepted(self._calls.call("microsoft.iis.web_app_pool", name=name, state=state), f"application pool {name} was to be {state}")

    def connections(self) -> dict[str, int] | None:
        answer = self._calls.call("win_powershell", script=IIS_SCRIPT, error_action="stop")
        rows = json_output(answer, "the connections of IIS")
        if not isinstance(rows, list):
            return None
        counts = {str(row.get("Name")).lower(): int(row.get("CurrentConnections") or 0) for row in rows if isinstance(row, dict)}
        return counts if TOTAL in counts else None


def _listed(answer: Answer, key: str, what: str) -> list[Data]:
    found = accepted(answer, what).get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
