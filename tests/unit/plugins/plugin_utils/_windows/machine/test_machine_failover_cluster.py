# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The failover cluster of a Windows VM and its availability groups, by a fake Calls."""

from __future__ import annotations

import json
import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.failover_cluster import ClusterRole, ClusterState, Node, Replica
from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.machine import failover_cluster as module
from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.machine.failover_cluster import WindowsFailoverCluster
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._windows.machine.fake_calls import FakeCalls

CLUSTER = {
    "cluster": "shop",
    "managed": 3,
    "node": "N1",
    "nodes": [{"name": "N1", "state": "Up", "drain": "NotInitiated"}],
    "groups": [{"name": "Files", "owner": "N1", "state": "Online"}, {"name": "Lost", "owner": None, "state": "Offline"}],
}
ROW = {"name": "Orders", "replica": "SQL1", "mode": "SYNCHRONOUS_COMMIT", "here": 1, "role": "PRIMARY", "health": "HEALTHY", "ready": 1}


def printed(value: t.Any) -> dict[str, t.Any]:
    return {"output": [json.dumps(value)]}


def test_the_cluster() -> None:
    calls = FakeCalls(win_powershell=printed(CLUSTER))
    roles = [ClusterRole("Files", "N1", "Online"), ClusterRole("Lost", "", "Offline")]
    assert WindowsFailoverCluster(calls).describe() == ClusterState("shop", 3, "N1", [Node("N1", "Up", "NotInitiated")], roles)
    assert calls.made == [("win_powershell", {"script": module.CLUSTER_SCRIPT, "error_action": "stop"})]
    assert WindowsFailoverCluster(FakeCalls(win_powershell=printed({**CLUSTER, "managed": None}))).describe().managed_events == 0


BROKEN = [{"failed": True, "msg": "no cluster"}, {}, {"output": []}, {"output": ["no json"]}, printed("x")]


@pytest.mark.parametrize("answer", [*BROKEN, printed([]), printed({**CLUSTER, "nodes": None}), printed({**CLUSTER, "groups": {}})])
def test_what_cannot_be_read_is_no_cluster(answer: t.Any) -> None:
    with pytest.raises(OSError, match="the failover cluster: "):
        WindowsFailoverCluster(FakeCalls(win_powershell=answer)).describe()


def test_the_replicas() -> None:
    away = {**ROW, "replica": "SQL2", "here": 0, "role": "", "health": None, "ready": 0}
    calls = FakeCalls(win_powershell=printed([ROW, away, "x"]))
    assert WindowsFailoverCluster(calls).replicas("localhost\\A") == [
        Replica("Orders", "SQL1", "SYNCHRONOUS_COMMIT", True, "PRIMARY", "HEALTHY", True),
        Replica("Orders", "SQL2", "SYNCHRONOUS_COMMIT", False, "", "", False),
    ]
    parameters = {"Instance": "localhost\\A", "Query": module.REPLICAS_QUERY}
    assert calls.made == [("win_powershell", {"script": module.REPLICAS_SCRIPT, "parameters": parameters, "error_action": "stop"})]


@pytest.mark.parametrize("answer", [*BROKEN, printed({})])
def test_what_cannot_be_read_is_no_replica(answer: t.Any) -> None:
    with pytest.raises(OSError, match="the availability groups of localhost: "):
        WindowsFailoverCluster(FakeCalls(win_powershell=answer)).replicas("localhost")


@pytest.mark.parametrize(("act", "script", "parameters", "error"), [
    (lambda one: one.pause("N1"), module.PAUSE_SCRIPT, {"Node": "N1"}, "node N1 was to be paused: no"),
    (lambda one: one.resume("N1", "immediate"), module.RESUME_SCRIPT, {"Node": "N1", "Failback": "Immediate"}, "node N1 was to be resumed: no"),
    (lambda one: one.resume("N1", "policy"), module.RESUME_SCRIPT, {"Node": "N1", "Failback": "Policy"}, "node N1 was to be resumed: no"),
    (lambda one: one.resume("N1", "none"), module.RESUME_SCRIPT, {"Node": "N1", "Failback": "NoFailback"}, "node N1 was to be resumed: no"),
    (lambda one: one.take_over("S", "A]"), module.FAILOVER_SCRIPT, {"Instance": "S", "Group": "A]"}, "S was to take over availability group A]: no"),
])  # fmt: skip
def test_what_is_asked_for(act: t.Callable[[WindowsFailoverCluster], None], script: str, parameters: t.Any, error: str) -> None:
    calls = FakeCalls(win_powershell={"output": []})
    act(WindowsFailoverCluster(calls))
    assert calls.made == [("win_powershell", {"script": script, "parameters": parameters, "error_action": "stop"})]
    with pytest.raises(OSError) as raised:
        act(WindowsFailoverCluster(FakeCalls(win_powershell={"failed": True, "msg": "no"})))
    assert str(raised.value) == error


def test_a_record_cannot_say_how_a_node_is_resumed_in_other_words() -> None:
    calls = FakeCalls(win_powershell={"output": []})
    with pytest.raises(OSError, match="must be immediate, policy, none"):
        WindowsFailoverCluster(calls).resume("N1", "Immediate; Stop-Computer")
    assert calls.made == []
