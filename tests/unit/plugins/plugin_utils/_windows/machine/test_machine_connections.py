# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connections of a Windows VM and of its IIS, and IIS itself, by a fake Calls."""

from __future__ import annotations

import json
import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.machine.machine import CONNECTIONS_SCRIPT, WindowsConnections, windows_machine
from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.machine.web_server import IIS_SCRIPT, WindowsWebServer
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._windows.machine.fake_calls import FakeCalls


def printed(value: t.Any) -> dict[str, t.Any]:
    return {"output": [json.dumps(value)]}


def test_connections_are_counted_by_the_script() -> None:
    calls = FakeCalls(win_powershell=printed({"now": "2026-11-21T20:00:00", "open": 3}))
    assert WindowsConnections(calls).count([443, 80]) == 3
    parameters = {"Port": [80, 443], "State": ["Established", "SynReceived", "FinWait1", "CloseWait"]}
    assert calls.made == [("win_powershell", {"script": CONNECTIONS_SCRIPT, "parameters": parameters, "error_action": "stop"})]


BROKEN = [{"failed": True, "msg": "the table is empty"}, {}, {"output": []}, {"output": ["no json"]}, {"output": [5]}, printed([]), printed({"open": True})]


@pytest.mark.parametrize("answer", [*BROKEN, printed({"open": "3"})])
def test_what_cannot_be_counted_is_never_none(answer: t.Any) -> None:
    with pytest.raises(OSError, match="connections"):
        WindowsConnections(FakeCalls(win_powershell=answer)).count([443])


def test_connections_of_sites() -> None:
    rows = [{"Name": "Shop", "CurrentConnections": 5}, {"Name": "_Total", "CurrentConnections": 5}, {"Name": "Idle", "CurrentConnections": None}]
    calls = FakeCalls(win_powershell=printed(rows))
    assert WindowsWebServer(calls).connections() == {"shop": 5, "_total": 5, "idle": 0}
    assert calls.made == [("win_powershell", {"script": IIS_SCRIPT, "error_action": "stop"})]
    for unknown in (rows[:1], {}, []):
        assert WindowsWebServer(FakeCalls(win_powershell=printed(unknown))).connections() is None
    with pytest.raises(OSError, match="the connections of IIS: no"):
        WindowsWebServer(FakeCalls(win_powershell={"failed": True, "msg": "no"})).connections()


def test_what_iis_has() -> None:
    sites = FakeCalls(website_info=lambda given: {"site": [{"state": "Started"}] if given["name"] == "Shop" else []})
    assert WindowsWebServer(sites).sites(["Shop", "Gone"]) == {"Shop": "Started"}
    assert sites.made[0] == ("microsoft.iis.website_info", {"name": "Shop"})
    pools = FakeCalls(web_app_pool_info=lambda given: {"app_pools": [{"attributes": {"state": "Stopped"}}] if given["name"] == "P" else None})
    assert WindowsWebServer(pools).pools(["P", "Gone"]) == {"P": "Stopped"}
    with pytest.raises(OSError, match="application pool P: no"):
        WindowsWebServer(FakeCalls(web_app_pool_info={"failed": True, "msg": "no"})).pools(["P"])


def test_sites_and_pools_are_set_by_name() -> None:
    calls = FakeCalls(website={"changed": True}, web_app_pool={"changed": True})
    WindowsWebServer(calls).set_sites(["A", "B"], "stopped")
    WindowsWebServer(calls).set_pools(["P"], "started")
    assert calls.made == [
        ("microsoft.iis.website", {"name": "A", "state": "stopped"}),
        ("microsoft.iis.website", {"name": "B", "state": "stopped"}),
        ("microsoft.iis.web_app_pool", {"name": "P", "state": "started"}),
    ]
    with pytest.raises(OSError, match="site A was to be stopped: no"):
        WindowsWebServer(FakeCalls(website={"failed": True, "msg": "no"})).set_sites(["A"], "stopped")


def test_the_machine_is_a_windows_one() -> None:
    machine = windows_machine(FakeCalls(), lambda: "2026-11-21T20:00:00.000000Z")
    assert machine.system == "windows" and machine.web_server is not None and machine.failover_cluster is not None
    assert not machine.is_lost(OSError("x"))
