# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Method wsfc: a taken-over secondary claims to be primary. What the controller asks of another host, and what that host, which is honest, does."""

from __future__ import annotations

import typing as t

import pytest
import tree
import yaml

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host import access
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine import failover_cluster
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations import maintenance_act
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.steps import Came, Steps

SETTINGS = {"method": "wsfc", "availability_groups": ["Orders"], "replicas": {"SQL1": "sql1", "SQL2": "sql2", "SQL3": "sql3"}}


class Honest:
    """The failover cluster as sql2 sees it."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.taken: list[tuple[str, str]] = []

    def describe(self) -> failover_cluster.ClusterState:
        return failover_cluster.ClusterState("sql", 1, "SQL2", [], [failover_cluster.ClusterRole("Orders", self.owner, "Online")])

    def take_over(self, instance: str, group: str) -> None:
        self.taken.append((instance, group))


class Machine(t.NamedTuple):
    failover_cluster: Honest

    def is_lost(self, _error: Exception) -> bool:
        return False


class Host:
    now = 0.0


def asked_of_others(drained: str, handover: t.Any) -> list[dict[str, t.Any]]:
    """The actions of role drain's failover.yml, once a VM has answered that its groups are to be handed over."""
    request: dict[str, t.Any] = {
        "act": "drain", "host": drained, "system": "windows", "methods": [SETTINGS], "former": [], "own_folder": "", "places": [], "event": {"event_id": "E1"},
        "folders": [str(tree.COLLECTION / "roles" / "drain" / "tasks" / "methods")], "record": {}, "deadline": "", "rule": {}, "lease": {}, "verify": False,
        "keep_phase": False, "vm_id": "", "vm_name": "", "boot_id": "", "keeper": "", "now": "2026-11-24T12:00:00", "check_mode": False,
        "refused": "", "must": False, "away": [],
    }  # fmt: skip
    steps = Steps.begin(t.cast(t.Any, request))
    steps.go_on(Came(result={"results": [{"state": "found", "record": None, "handover": handover}]}))
    (task,) = yaml.safe_load((tree.COLLECTION / "roles" / "drain" / "tasks" / "failover.yml").read_text())
    (action,) = task["maintenance.azure.maintenance_act"]["actions"]
    assert steps.state["do"] == "failover" and [one["host"] for one in steps.state["failovers"]] == ["sql2"]
    named = {key: value.split(".")[1].split(" ")[0] for key, value in action.items() if key != "action"}
    return [{"action": action["action"], **{key: one[name] for key, name in named.items()}} for one in steps.state["failovers"]]


@pytest.mark.parametrize(("drained", "is_primary"), [("sql1", False), ("sql3", True)])
def test_a_vm_that_only_claims_to_be_primary_moves_nothing_between_others(drained: str, is_primary: bool) -> None:
    cluster = Honest("SQL3")
    given = {"records_path": "", "boot_id": "", "identity": {}, "observe": False, "actions": asked_of_others(drained, {"Orders": "SQL2"})}
    with_machine = access.HostAccess(
        False, lambda _text: None, connect=t.cast(t.Any, None), files=t.cast(t.Any, lambda _path: None), host=t.cast(t.Any, lambda _boot: Host()),
        log=lambda _line: None, machine=t.cast(t.Any, lambda _now: Machine(cluster)),
    )  # fmt: skip
    (result,) = maintenance_act.act_on_vm(given, with_machine)["results"]
    assert cluster.taken == ([("SQL2", "Orders")] if is_primary else []), "a failover between two honest VMs, on the word of a third one"
    assert result["failed"] is not is_primary
