# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Method pacemaker and the votes that are left, with three nodes of Pacemaker."""

from __future__ import annotations

import pathlib
import sys
import typing as t

import pytest
from killed import drained, kill_when
from lab.lab import Lab
from pacemaker.cluster import OUTSIDE, Cluster
from pacemaker.watch import Watch
from rehearsal import rehearse

NAMES = ("vm1", "vm2", "vm3")
DRAIN_ALL = [{"name": "all", "drain": True, "approve": "after_drain"}]
DOWN = "2 of 3 votes are needed, and 1 would be left: vm3 is down. The cluster would stop all resources (no-quorum-policy)"


@pytest.fixture(scope="module")
def cluster() -> t.Iterator[Cluster]:
    found = Cluster(NAMES)
    found.boot()
    found.add("d1", prefer="vm1")
    yield found
    found.close()


@pytest.fixture
def lab(tmp_path: pathlib.Path, cluster: Cluster) -> t.Iterator[Lab]:
    cluster.settle()
    assert (cluster.where("d1"), cluster.configuration()) == (["vm1"], {})
    addresses = [word for number, name in enumerate(NAMES, 1) for word in ("--vm", f"{name}={OUTSIDE}:{8000 + number}")]
    found = Lab(tmp_path / "lab", (), 1, *addresses)
    found.add(NAMES)
    for name, node in cluster.nodes.items():
        host = found.hosts[name]
        host["ansible_python_interpreter"] = node.interpreter(found.folder, sys.executable)
        host["drain_methods"] = [{"method": "pacemaker", "members": {one: one for one in NAMES}}]
    found.all["respond_policy"] = DRAIN_ALL
    found.all["respond_timing"]["lease_seconds"] = 30
    yield found
    found.close()


def lose(cluster: Cluster, name: str) -> None:
    """End the cluster's daemons on a VM that is reached all the same, and wait until the others have seen it."""
    cluster.nodes[name].stop_cluster()
    cluster.nodes["vm1"].until(lambda: name not in cluster.online(), f"{name} is gone")
    cluster.nodes["vm1"].until(lambda: "Quorate:          Yes" in cluster.nodes["vm1"].run("corosync-quorumtool", "-s", code=None).stdout, "quorum")
    cluster.settle()


def bring_back(cluster: Cluster, name: str) -> None:
    cluster.nodes[name].start_corosync()
    cluster.nodes[name].start_pacemaker()
    cluster.nodes["vm1"].until(lambda: len(cluster.online()) == len(NAMES), "all nodes are online again", 120)
    cluster.settle()


def finish(lab: Lab, event_id: str) -> None:
    """End an event that was approved, once it has started."""

    def started() -> bool:
        return any(one["event_id"] == event_id and one["event_status"] == "Started" for one in lab.simulator.ask("GET", "/events"))

    lab.simulator.until(started, 30, "the event starts")
    lab.simulator.ask("POST", f"/events/{event_id}/finish")


def test_without_a_majority_it_waits_and_goes_on_once_there_is_one(cluster: Cluster, lab: Lab) -> None:
    lose(cluster, "vm3")
    event_id = lab.simulator.event("Reboot", ["vm1"], notice=900)
    rehearse(lab, f"would wait: {DOWN}")
    with Watch(cluster, lab.simulator, "d1") as watch:
        said = " ".join(lab.respond(code=None).split())
    assert DOWN in said, said[-6000:]
    assert (lab.simulator.approvals(), cluster.configuration(), watch.pause()) == ([], {}, 0)
    assert {one.nodes[0] for one in watch.seen} == {"vm1"}
    bring_back(cluster, "vm3")
    with Watch(cluster, lab.simulator, "d1") as watch:
        while not lab.simulator.approvals():
            lab.respond(code=None)
    assert watch.before_approval().nodes == ["vm2"] or watch.before_approval().nodes == ["vm3"]
    finish(lab, event_id)
    lab.respond(respond_wait=True)
    cluster.nodes["vm1"].until(lambda: cluster.where("d1") == ["vm1"], "the resource is back")
    print("state: pacemaker: one of three down: nothing is moved or approved, and both once it is back", flush=True)


# --- with STATE_FULL ------------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_a_node_that_is_lost_after_the_drain_keeps_it_from_being_approved(cluster: Cluster, lab: Lab) -> None:
    # The lease of the killed run ends after its look at the drain has grown old.
    lab.all["respond_timing"].update(lease_seconds=45, verify_seconds=30)
    event_id = lab.simulator.event("Reboot", ["vm1"], notice=900)
    assert kill_when(lab, lambda: drained(lab, "vm1"))
    lose(cluster, "vm3")
    said = " ".join(lab.respond(code=None, respond_wait=True, respond_wait_timeout=90).split())
    assert DOWN in said and lab.simulator.approvals() == [], said[-6000:]
    # The resource has not stopped: what would stop it is the end of vm1.
    assert len(cluster.where("d1")) == 1
    bring_back(cluster, "vm3")
    while not lab.simulator.approvals():
        lab.respond(code=None)
    finish(lab, event_id)
    lab.respond(respond_wait=True)
    cluster.nodes["vm1"].until(lambda: cluster.where("d1") == ["vm1"], "the resource is back")
    print("state: pacemaker: one of three lost after the drain: not approved before it is back", flush=True)


@pytest.mark.full
def test_two_of_three_in_one_event_are_refused(cluster: Cluster, lab: Lab) -> None:
    event_id = lab.simulator.event("Reboot", ["vm1", "vm2"], notice=900)
    said = " ".join(lab.respond(code=None).split())
    for other in ("vm1", "vm2"):
        assert f"2 of 3 votes are needed, and 1 would be left: {other}: its VM {other} is hit by the same event" in said, said[-6000:]
    assert (lab.simulator.approvals(), cluster.configuration(), cluster.where("d1")) == ([], {}, ["vm1"])
    lab.simulator.ask("POST", f"/events/{event_id}/cancel")
    lab.respond(code=None)


@pytest.mark.full
def test_a_cluster_that_ignores_quorum_is_drained_all_the_same(cluster: Cluster, lab: Lab) -> None:
    policy = ("crm_attribute", "--type", "crm_config", "--name", "no-quorum-policy", "--update")
    cluster.any().run(*policy, "ignore")
    lose(cluster, "vm3")
    try:
        event_id = lab.simulator.event("Reboot", ["vm1"], notice=900)
        while not lab.simulator.approvals():
            lab.respond(code=None)
        assert cluster.where("d1") == ["vm2"]
        finish(lab, event_id)
        lab.respond(respond_wait=True)
    finally:
        bring_back(cluster, "vm3")
        cluster.any().run(*policy, "stop")
        cluster.nodes["vm1"].until(lambda: cluster.where("d1") == ["vm1"], "the resource is back")


@pytest.mark.full
def test_what_is_not_managed_is_refused_before_anything_moves(cluster: Cluster, lab: Lab) -> None:
    managed = ("crm_resource", "--resource", "d2", "--meta", "--set-parameter", "is-managed", "--parameter-value")
    cluster.add("d2", prefer="vm1")
    cluster.any().run(*managed, "false")
    cluster.settle()
    lab.hosts["vm1"]["drain_methods"][0]["unmovable"] = "stop"
    lab.simulator.event("Reboot", ["vm1"], notice=900)
    with Watch(cluster, lab.simulator, "d1") as watch:
        said = " ".join(lab.respond(code=None).split())
    assert "d2 would stay on vm1, because the cluster does not stop it (not managed, or blocked); nothing was moved" in said, said[-6000:]
    assert (lab.simulator.approvals(), cluster.configuration(), watch.pause()) == ([], {}, 0)
    assert {one.nodes[0] for one in watch.seen} == {"vm1"}
