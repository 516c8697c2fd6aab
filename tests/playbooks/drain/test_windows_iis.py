# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method iis on a "Windows" VM: microsoft.iis and the counters of connections are stand-ins (tests/lab/windows), no IIS is involved."""

from __future__ import annotations

from typing import Any

from windows import WindowsFleet, WindowsHost

METHOD = {"method": "iis", "sites": ["Default Web Site", "Shop"], "pools": ["ShopPool", "Idle"], "connections": 1}


def add(fleet: WindowsFleet, name: str, **changed: Any) -> WindowsHost:
    host = fleet.add(name, [METHOD])
    iis(host, **changed)
    return host


def iis(host: WindowsHost, **changed: Any) -> None:
    world: dict[str, Any] = {
        "sites": {"Default Web Site": {"state": "Stopped"}, "Shop": {"state": "Started"}, "Other": {"state": "Started"}},
        "pools": {"ShopPool": "Started", "Idle": "Stopped", "OtherPool": "Started"},
        "connections": {"Shop": 5, "Other": 7},
    }
    host.windows.set("iis.json", {**world, **changed})


def now(host: WindowsHost) -> tuple[list[str], list[str]]:
    world = host.windows.get("iis.json")
    return [site["state"] for site in world["sites"].values()], list(world["pools"].values())


def test_out_and_back_in(windows_fleet: WindowsFleet) -> None:
    host = add(windows_fleet, "web1")
    unknown = add(windows_fleet, "unknown", sites={"Shop": {"state": "Started"}})
    windows_fleet.drain()
    assert host.state == "draining" and host.result["error"] == "5 connection(s) on site Shop", host.result
    # The site is out, and its pool runs on: somebody is still being answered.
    assert now(host) == (["Stopped", "Stopped", "Started"], ["Started", "Stopped", "Started"])
    before = {"sites": {"Default Web Site": "Stopped", "Shop": "Started"}, "pools": {"ShopPool": "Started", "Idle": "Stopped"}}
    assert host.method(0)["before"] == before
    assert unknown.state == "failed" and "IIS on this VM has no site Default Web Site" in unknown.result["error"], unknown.result
    assert unknown.windows.get("iis.json")["sites"]["Shop"]["state"] == "Started"

    world = host.windows.get("iis.json")
    host.windows.set("iis.json", {**world, "connections": {"Shop": 1, "Other": 7}, "slow": ["ShopPool"]})
    windows_fleet.drain("web1")
    assert host.state == "draining" and host.result["error"] == "still stopping: application pool ShopPool", host.result
    world = host.windows.get("iis.json")
    host.windows.set("iis.json", {**world, "pools": {**world["pools"], "ShopPool": "Stopped"}})
    windows_fleet.drain("web1")
    assert host.state == "drained" and host.record["phase"] == "drained", host.result

    # A boot starts what starts by itself.
    host.boot()
    iis(host, connections={"Shop": 0})
    windows_fleet.drain("web1", verify=True)
    assert host.state == "drained" and now(host) == (["Stopped", "Stopped", "Started"], ["Stopped", "Stopped", "Started"]), host.result
    assert host.method(0)["before"] == before

    windows_fleet.recover("web1")
    assert host.state == "undone" and host.record["undone"] is True, host.result
    assert now(host) == (["Stopped", "Started", "Started"], ["Started", "Stopped", "Started"])
    touched = {call["name"] for module in ("website", "web_app_pool") for call in host.windows.calls(module)}
    assert touched == {"Shop", "ShopPool"}


def test_without_the_collection_this_host_alone_fails(windows_fleet: WindowsFleet) -> None:
    host = add(windows_fleet, "web1")
    other = windows_fleet.add("web2", [{"method": "none"}])
    windows_fleet.without_iis = True
    windows_fleet.drain()
    assert other.state == "drained", other.result
    assert host.state == "failed" and "the controller has no microsoft.iis.website" in host.result["error"], host.result
    assert "ansible-galaxy collection install microsoft.iis" in host.result["error"]
