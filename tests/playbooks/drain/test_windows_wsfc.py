# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method wsfc on "Windows" VMs: the cluster and SQL Server are files, answered by a stand-in for PowerShell. No cluster is involved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from windows import WindowsFleet, WindowsHost


class Cluster:
    """One failover cluster as its nodes share it; see tests/lab/windows/programs/powershell.py."""

    def __init__(self, fleet: WindowsFleet, name: str, nodes: int = 3, **more: Any) -> None:
        self.path: Path = fleet.folder / f"{name}.json"
        self.names = [f"{name}-{number}".upper() for number in range(1, nodes + 1)]
        self.world: dict[str, Any] = {
            "name": name,
            "managed": 1,
            "nodes": {node: {"state": "Up", "drain": "NotInitiated"} for node in self.names},
            "groups": {
                "Files": {"owner": self.names[0], "state": "Online"},
                "Spare": {"owner": self.names[0], "state": "Offline"},
                "Other": {"owner": self.names[-1], "state": "Online"},
            },
            **more,
        }
        self.save()

    def save(self) -> None:
        self.path.write_text(json.dumps(self.world))

    def load(self) -> dict[str, Any]:
        self.world = json.loads(self.path.read_text())
        return self.world

    def state(self, number: int = 0) -> str:
        return str(self.load()["nodes"][self.names[number]]["state"])

    def owner(self, group: str) -> str:
        return str(self.load()["groups"][group]["owner"])

    def change(self, **more: Any) -> None:
        self.load().update(more)
        self.save()

    def set_node(self, number: int, **values: str) -> None:
        self.load()["nodes"][self.names[number]].update(values)
        self.save()


def add(fleet: WindowsFleet, cluster: Cluster, host: str, number: int = 0, **options: Any) -> WindowsHost:
    found = fleet.add(host, [{"method": "wsfc", **options}])
    found.windows.set("world.json", {"node": cluster.names[number], "cluster": str(cluster.path)})
    return found


def test_a_node(windows_fleet: WindowsFleet) -> None:
    cluster = Cluster(windows_fleet, "shop", slow=True)
    host = add(windows_fleet, cluster, "web1")
    last = Cluster(windows_fleet, "last", nodes=2)
    last.set_node(1, state="Down")
    alone = add(windows_fleet, last, "alone")
    handled = Cluster(windows_fleet, "handled", managed=4)
    aside = add(windows_fleet, handled, "aside")
    paused = Cluster(windows_fleet, "paused")
    paused.set_node(0, state="Paused", drain="Completed")
    paused.world["groups"]["Files"]["owner"] = paused.names[1]
    paused.save()
    theirs = add(windows_fleet, paused, "theirs", node="paused-1", failback="policy")
    half = Cluster(windows_fleet, "half")
    half.set_node(0, state="Paused")
    owning = add(windows_fleet, half, "owning")
    wrong = add(windows_fleet, cluster, "wrong", node="WEB9")

    windows_fleet.drain()
    assert host.state == "draining" and host.result["error"] == "roles still on SHOP-1: Files", host.result
    assert cluster.state() == "Paused" and host.method(0)["before"]["groups"] == ["Files"]
    assert alone.state == "failed" and "LAST-1 is the last node of failover cluster last that is up" in alone.result["error"], alone.result
    assert last.state() == "Up"
    assert aside.state == "drained" and "it handles Azure's events itself (DetectManagedEvents 4)" in aside.result["warning"], aside.result
    assert handled.state() == "Up" and aside.method(0)["before"]["aside"] is True
    assert theirs.state == "drained", theirs.result
    assert owning.state == "failed" and "HALF-1 was paused by an operator, who left roles still on HALF-1: Files" in owning.result["error"], owning.result
    assert wrong.state == "failed" and "has no node web9 but SHOP-1, SHOP-2, SHOP-3" in wrong.result["error"], wrong.result

    cluster.load()["groups"]["Files"]["owner"] = cluster.names[1]
    cluster.world.update(slow=False, away={"Files": cluster.names[0]})
    cluster.save()
    cluster.set_node(0, drain="Completed")
    windows_fleet.drain("web1")
    assert host.state == "drained" and host.record["phase"] == "drained", host.result

    # A pause outlives a boot; but somebody resumes the node, and all comes back: it begins again.
    host.boot()
    cluster.set_node(0, state="Up", drain="NotInitiated")
    cluster.load()["groups"]["Files"]["owner"] = cluster.names[0]
    cluster.save()
    windows_fleet.drain("web1", verify=True)
    assert host.state == "drained" and cluster.state() == "Paused" and cluster.owner("Files") != cluster.names[0], host.result
    assert host.method(0)["before"]["state"] == "Up"

    windows_fleet.recover("web1", "aside", "theirs")
    assert [one.state for one in (host, aside, theirs)] == ["undone"] * 3, (host.result, aside.result, theirs.result)
    assert cluster.state() == "Up" and cluster.owner("Files") == cluster.names[0] and cluster.owner("Other") == cluster.names[-1]
    assert handled.state() == "Up"
    # Paused by somebody else, and so it stays.
    assert paused.state() == "Paused"


def test_roles_that_come_back_late_or_not(windows_fleet: WindowsFleet) -> None:
    cluster = Cluster(windows_fleet, "shop", late=True)
    host = add(windows_fleet, cluster, "web1")
    windows_fleet.drain()
    assert host.state == "drained", host.result
    cluster.load()["groups"]["Files"]["state"] = "Pending"
    cluster.save()
    windows_fleet.recover()
    assert host.state == "undoing" and host.result["error"] == "role Files is on SHOP-2", host.result
    windows_fleet.recover()
    assert host.state == "undoing", host.result
    # It has settled where it is, and is left there.
    cluster.load()["groups"]["Files"]["state"] = "Online"
    cluster.save()
    windows_fleet.recover()
    assert host.state == "undone" and cluster.owner("Files") == cluster.names[1] and cluster.state() == "Up", host.result


REPLICAS = {"SQL-1": "sql1", "SQL-2": "sql2", "SQL-3": "sql3"}


def sql(fleet: WindowsFleet, name: str, **replicas: dict[str, Any]) -> Cluster:
    cluster = Cluster(fleet, "sql")
    cluster.path = fleet.folder / f"{name}.json"
    known: dict[str, Any] = {one: replicas.get(one.replace("-", "_"), {}) for one in cluster.names}
    cluster.world["sql"] = {"Orders": {"primary": "SQL-1", "replicas": known}}
    cluster.world["groups"]["Orders"] = {"owner": "SQL-1", "state": "Online"}
    cluster.save()
    return cluster


def test_an_availability_group(windows_fleet: WindowsFleet) -> None:
    methods = {"availability_groups": ["Orders"], "replicas": REPLICAS, "return_primary": True}
    cluster = sql(windows_fleet, "good")
    host = add(windows_fleet, cluster, "sql1", **methods)
    for number, vm in ((2, "web2"), (3, "shop-sql-3")):
        # web2 is a name in the event: the replica there is as synchronised as the other one, and must not take over.
        other = add(windows_fleet, cluster, f"sql{number}", number - 1)
        other.variables["respond_vm_name"] = vm
        windows_fleet.others[other.name] = other.variables
    behind = sql(windows_fleet, "behind", SQL_3={"ready": 0, "health": "PARTIALLY_HEALTHY"})
    refused = add(windows_fleet, behind, "behind", **methods)
    nobody = sql(windows_fleet, "nobody")
    unnamed = add(windows_fleet, nobody, "unnamed", availability_groups=["Orders", "Bills"])

    # It is the third node of the first cluster, and its own PowerShell says that it is primary.
    lie = sql(windows_fleet, "lie")
    lie.world["sql"]["Orders"]["primary"] = lie.world["groups"]["Orders"]["owner"] = "SQL-3"
    lie.save()
    claims = add(windows_fleet, lie, "claims", 2, availability_groups=["Orders"], replicas={"SQL-2": "free", "SQL-3": "claims"})
    truth = sql(windows_fleet, "truth")
    free = add(windows_fleet, truth, "free", 1)
    free.variables["respond_vm_name"] = "vm-free"
    windows_fleet.others["free"] = free.variables

    windows_fleet.drain("sql1", "behind", "unnamed", "claims")
    assert host.state == "drained", host.result
    assert cluster.load()["sql"]["Orders"]["primary"] == "SQL-3" and cluster.state() == "Paused"
    assert host.method(0)["before"]["moved"] == {"Orders": "SQL-3"}
    assert refused.state == "failed" and refused.result["error"].endswith(
        "no replica may take over (SQL-2: its VM web2 is hit by the same event; SQL-3: not synchronised)"
    ), refused.result
    assert behind.load()["sql"]["Orders"]["primary"] == "SQL-1" and behind.state() == "Up"
    assert unnamed.state == "failed" and "has no availability group Bills" in unnamed.result["error"], unnamed.result
    assert "the option replicas names none of its replicas" in unnamed.result["error"] and nobody.state() == "Up"

    assert claims.state == "failed" and claims.result["error"].endswith(
        "SQL-2 does not take over availability group Orders: it is on SQL-1, and not on SQL-3"
    ), claims.result
    assert truth.load()["sql"]["Orders"]["primary"] == "SQL-1"

    # Back only when the databases here are in step again.
    windows_fleet.recover("sql1")
    assert host.state == "undoing" and "availability group Orders is not synchronised here yet (SECONDARY, NOT_HEALTHY)" in host.result["error"], host.result
    assert cluster.state() == "Up" and cluster.load()["sql"]["Orders"]["primary"] == "SQL-3"
    cluster.load()["sql"]["Orders"]["replicas"]["SQL-1"]["health"] = "HEALTHY"
    cluster.save()
    windows_fleet.recover("sql1")
    assert host.state == "undone" and cluster.load()["sql"]["Orders"]["primary"] == "SQL-1", host.result


def test_a_failover_that_fails_and_a_replica_that_cannot_be_reached(windows_fleet: WindowsFleet) -> None:
    refusing, silent = sql(windows_fleet, "refusing"), sql(windows_fleet, "silent")
    hosts = {}
    for name, cluster in (("refusing", refusing), ("silent", silent)):
        hosts[name] = add(windows_fleet, cluster, name, availability_groups=["Orders"], replicas={"SQL-1": name, "SQL-2": f"{name}-2"})
        other = add(windows_fleet, cluster, f"{name}-2", 1)
        other.variables["respond_vm_name"] = f"vm-{name}"
        windows_fleet.others[other.name] = other.variables
    # It is synchronised as far as the primary knows; the instance itself is another one.
    windows_fleet.hosts["refusing-2"].windows.set("world.json", {"node": "SQL-3", "cluster": str(refusing.path)})
    windows_fleet.hosts["silent-2"].windows.fault("win_powershell")

    windows_fleet.drain("refusing", "silent")
    assert hosts["refusing"].state == "failed", hosts["refusing"].result
    assert "SQL-2 was to take over availability group Orders: A network-related error" in hosts["refusing"].result["error"], hosts["refusing"].result
    assert (hosts["refusing"].record["phase"], refusing.state()) == ("failed", "Up")
    assert hosts["refusing"].record["reason"] == hosts["refusing"].result["error"]
    # Whether it took over is not known: what the cluster says counts, and the next observation asks again.
    assert hosts["silent"].state == "draining", hosts["silent"].result
    assert (hosts["silent"].result["error"], silent.state()) == ("still primary of Orders", "Up")
    windows_fleet.drain("silent")
    assert hosts["silent"].state == "drained", hosts["silent"].result
    assert (silent.load()["sql"]["Orders"]["primary"], silent.state()) == ("SQL-2", "Paused")
    windows_fleet.recover("refusing")
    assert hosts["refusing"].state == "undone" and refusing.load()["sql"]["Orders"]["primary"] == "SQL-1", hosts["refusing"].result
