# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Windows VM that 1.x has drained comes back: its records, the engine, and each call that is made, by a fake Calls."""

from __future__ import annotations

import json
import pathlib
import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_changes import RecordChange
from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.machine.failover_cluster import CLUSTER_SCRIPT, RESUME_SCRIPT
from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.machine.machine import windows_machine
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import ABOUT, Vm, step
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._windows.machine.fake_calls import FakeCalls


class Windows:
    """One service, one site, one application pool and one file that was set aside."""

    def __init__(self) -> None:
        self.service, self.site, self.pool, self.node = "stopped", "Stopped", "Stopped", "Paused"
        self.calls = FakeCalls(
            win_service_info=lambda given: {"services": [{"name": given["name"], "state": self.service}]},
            win_command=self.command,
            win_stat=lambda given: {"stat": {"exists": given["path"].endswith(".maintenance"), "isdir": False}},
            website_info=lambda given: {"site": [{"state": self.site}]},
            web_app_pool_info=lambda given: {"app_pools": [{"attributes": {"state": self.pool}}]},
            website=lambda given: self.set("site"),
            web_app_pool=lambda given: self.set("pool"),
            win_powershell=self.script,
        )

    def script(self, given: dict[str, t.Any]) -> dict[str, t.Any]:
        if given["script"] == CLUSTER_SCRIPT:
            nodes = [{"name": "N1", "state": self.node, "drain": "Completed"}]
            seen = {"cluster": "shop", "managed": 1, "node": "N1", "nodes": nodes, "groups": [{"name": "Files", "owner": "N1", "state": "Online"}]}
            return {"output": [json.dumps(seen)]}
        assert (given["script"], given["parameters"]) == (RESUME_SCRIPT, {"Node": "N1", "Failback": "Immediate"})
        self.node = "Up"
        return {"output": []}

    def command(self, given: dict[str, t.Any]) -> dict[str, t.Any]:
        self.service = "started"
        return {"rc": 0, "stdout": "", "stderr": ""}

    def set(self, which: str) -> dict[str, t.Any]:
        setattr(self, which, "Started")
        return {"changed": True}


PROBE = {"path": "C:\\ready", "present_means": "in", "interval": 5, "threshold": 2, "ports": [], "mode": "0644"}
IIS = {"sites": ["Shop"], "pools": ["P"], "connections": 0}
WSFC = {
    "node": "", "failback": "immediate", "managed_events": "step_aside", "availability_groups": [], "instance": "localhost", "replicas": {},
    "return_primary": False,
}  # fmt: skip
NODE = {"cluster": "shop", "node": "N1", "state": "Up", "aside": False, "groups": ["Files"], "moved": {}}
# Kind, options and finding as 1.3.1 wrote them, and the modules that the undo calls: never more than the tasks of 1.x did.
RECORDED: list[tuple[str, dict[str, t.Any], dict[str, t.Any], list[str]]] = [
    ("service", {"names": ["Front"]}, {"Front": "started"}, ["win_service_info", "win_command", "win_service_info"]),
    ("service", {"names": ["Front"]}, {"Front": "stopped"}, []),
    ("probe_file", PROBE, {"kind": "file"}, ["win_stat", "win_command"]),
    ("probe_file", PROBE, {"kind": "absent"}, []),
    ("command", {"begin": "b", "check": "c", "undo": "u.exe", "timeout": 10}, {}, ["win_command"]),
    (
        "iis",
        IIS,
        {"sites": {"Shop": "Started"}, "pools": {"P": "Started"}},
        ["website_info", "web_app_pool_info", "web_app_pool", "website", "website_info", "web_app_pool_info"],
    ),
    ("iis", IIS, {"sites": {"Shop": "Stopped"}, "pools": {"P": "Stopped"}}, []),
    ("wsfc", WSFC, NODE, ["win_powershell"] * 3),
    ("wsfc", WSFC, {**NODE, "state": "Paused"}, ["win_powershell"]),
    ("wsfc", WSFC, {**NODE, "aside": True}, []),
]


@pytest.mark.parametrize(("kind", "options", "before", "expected"), RECORDED)
def test_undo(kind: str, options: t.Any, before: t.Any, expected: list[str], tmp_path: pathlib.Path) -> None:
    windows, vm = Windows(), Vm(tmp_path)
    entry = {"id": f"1-{kind}", "method": kind, "options": options, "before": before, "state": "drained", "boot_id": "boot-1", "error": None}
    vm.journal().write(RecordChange(event=ABOUT, changes={"phase": "drained", "attempts": 1}, method=entry, vm_id=vm.vm_id))
    vm.machine = windows_machine(windows.calls, vm.host.now)
    assert vm.undo(step(kind)).state == "undone"
    assert [module.rpartition(".")[2] for module in windows.calls.modules()] == expected
