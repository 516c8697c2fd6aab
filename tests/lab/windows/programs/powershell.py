# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-in for PowerShell: knows the texts of this collection, each as a whole, and answers them from files of the played machine.

It says what PowerShell would, as far as Microsoft's documentation tells; nothing here shows that PowerShell really does.

world.json      {"node": NAME, "cluster": PATH, "connections": [[port, state], ...]}
the cluster     {"name", "managed", "nodes": {NAME: {state, drain}}, "groups": {NAME: {owner, state}}, "away": {GROUP: NODE}, "slow": bool,
                 "late": bool, "sql": {AG: {"primary": NODE, "replicas": {NODE: {mode, ready, health}}}}}; shared by its nodes
"""

from __future__ import annotations

import ast
import datetime
import fcntl
import json
import os
import pathlib
import sys
import typing as t

HOME = pathlib.Path(os.environ["WINDOWS_STAND_IN"])
ROOT = pathlib.Path(__file__).resolve().parents[4]
PLUGINS = ROOT / "plugins" / "plugin_utils" / "_windows"


class Failed(Exception):
    """A cmdlet's error, which error_action stop makes the script's."""


def connections(world: dict, given: dict) -> t.Any:
    found = [one for one in world.get("connections", []) if one[0] in given["Port"] and one[1] in given["State"]]
    return {"now": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S"), "open": len(found)}


def iis(_world: dict, _given: dict) -> t.Any:
    counted = json.loads((HOME / "iis.json").read_text())["connections"]
    return [{"Name": name, "CurrentConnections": count} for name, count in {**counted, "_Total": sum(counted.values())}.items()]


def look(world: dict, _given: dict, cluster: dict) -> t.Any:
    return {
        "cluster": cluster["name"],
        "managed": cluster.get("managed", 0),
        "node": world["node"],
        "nodes": [{"name": name, **node} for name, node in cluster["nodes"].items()],
        "groups": [{"name": name, **group} for name, group in cluster["groups"].items()],
    }


def suspend(_world: dict, given: dict, cluster: dict) -> None:
    node = cluster["nodes"][given["Node"]]
    if node["state"] == "Paused" and node["drain"] == "InProgress":
        raise Failed("The cluster node is already paused.")
    node.update(state="Paused", drain="InProgress" if cluster.get("slow") else "Completed")
    others = [name for name, one in cluster["nodes"].items() if one["state"] == "Up"]
    for name, group in cluster["groups"].items():
        if group["owner"] == given["Node"] and not cluster.get("slow"):
            group["owner"] = others[0]
            cluster.setdefault("away", {})[name] = given["Node"]


def resume(_world: dict, given: dict, cluster: dict) -> None:
    cluster["nodes"][given["Node"]].update(state="Up", drain="NotInitiated")
    for name in [name for name, node in cluster.get("away", {}).items() if node == given["Node"]]:
        if given["Failback"] == "Immediate" and not cluster.get("late"):
            cluster["groups"][name]["owner"] = cluster["away"].pop(name)


def groups(world: dict, _given: dict, cluster: dict) -> t.Any:
    here, rows = world["node"], []
    for name, group in cluster.get("sql", {}).items():
        for replica, its in group["replicas"].items():
            # Away from the primary only the local replica's role and health are known.
            known = here in (group["primary"], replica)
            role = "PRIMARY" if replica == group["primary"] else "SECONDARY"
            rows.append(
                {"name": name, "replica": replica, "mode": its.get("mode", "SYNCHRONOUS_COMMIT"), "here": int(replica == here),
                 "role": role if known else "", "health": its.get("health", "HEALTHY") if known else "", "ready": its.get("ready", 1)}
            )  # fmt: skip
    return rows


def failover(world: dict, given: dict, cluster: dict) -> None:
    group, here = cluster["sql"][given["Group"]], world["node"]
    if given["Instance"].lower() not in (here.lower(), "localhost"):
        raise Failed(f"A network-related error: {given['Instance']} is not {here}")
    if here == group["primary"] or group["replicas"][here].get("ready", 1) != 1:
        raise Failed("Cannot failover the availability group to this instance of SQL Server.")
    group["replicas"][group["primary"]].update(health="NOT_HEALTHY")
    group["replicas"][here].update(health="HEALTHY")
    group["primary"] = here
    if given["Group"] in cluster["groups"]:
        cluster["groups"][given["Group"]]["owner"] = here


ALONE = {"CONNECTIONS_SCRIPT": connections, "IIS_SCRIPT": iis}
CLUSTERED = {
    "CLUSTER_SCRIPT": look,
    "PAUSE_SCRIPT": suspend,
    "RESUME_SCRIPT": resume,
    "REPLICAS_SCRIPT": groups,
    "FAILOVER_SCRIPT": failover,
}


def answer(name: str, given: dict) -> t.Any:
    world = json.loads((HOME / "world.json").read_text()) if (HOME / "world.json").exists() else {}
    if name in ALONE:
        return ALONE[name](world, given)
    path = pathlib.Path(world["cluster"])
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cluster = json.loads(path.read_text())
        said = CLUSTERED[name](world, given, cluster)
        path.write_text(json.dumps(cluster))
    return said


def texts() -> dict[str, str]:
    """Return the name of each text."""
    known = {}
    for path in PLUGINS.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id.endswith("_SCRIPT"):
                known[ast.literal_eval(node.value)] = node.targets[0].id
    return known


def main() -> None:
    question = json.load(sys.stdin)
    name = texts().get(question["script"], "")
    try:
        if not name:
            raise Failed("stand-in: this is none of the collection's texts")
        said = answer(name, question["parameters"])
    except Failed as error:
        print(json.dumps({"failed": True, "msg": str(error)}))
        return
    print(json.dumps({"output": [] if said is None else [json.dumps(said)]}))


if __name__ == "__main__":
    main()
