# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Method pacemaker, with two nodes of Pacemaker and corosync as Debian has them, and a resource that takes 3 s to stop and to start."""

from __future__ import annotations

import pathlib
import sys
import time
import typing as t

import pytest
from away import Away, standing_still
from impact import Impact, freeze, thaw
from lab.lab import Lab
from pacemaker.cluster import OUTSIDE, Cluster
from pacemaker.peer import peer
from pacemaker.watch import Watch
from rehearsal import rehearse

NAMES = ("vm1", "vm2")
DRAIN_ALL = [{"name": "all", "drain": True, "approve": "after_drain"}]
AS_IT_IS = [{"name": "as it is", "drain": False, "approve": "now"}]
# How one_drain.py says that it was killed.
KILLED = 99
HELD = [{"name": "held", "drain": True, "approve": "never"}]


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
        host["respond_boot_id"] = "{{ lookup('ansible.builtin.file', '" + str(found.folder / name / "boot_id") + "') }}"
        host["drain_methods"] = [{"method": "pacemaker", "members": {one: one for one in NAMES}}]
    found.all["respond_policy"] = DRAIN_ALL
    # With the short lease of other tests a look at the cluster is cut off on a busy machine, and its VM then counts as not observed.
    found.all["respond_timing"]["lease_seconds"] = 30
    yield found
    found.close()


def reboot(cluster: Cluster, lab: Lab, event_id: str, seconds: float = 1) -> Impact:
    """Cut the power of vm1 when its event starts, and boot it again."""
    node = cluster.nodes["vm1"]

    def back() -> None:
        node.boot()
        (lab.folder / "vm1" / "boot_id").write_text(f"boot-of-vm1-{event_id}")

    return Impact(lab, event_id, seconds, node.end, back)


def test_a_reboot_is_approved_only_when_the_resource_runs_elsewhere(cluster: Cluster, lab: Lab) -> None:
    event_id = lab.simulator.event("Reboot", ["vm1"], notice=200)
    rehearse(lab, "would put vm1 into standby, and move d1 to vm2")
    assert (cluster.where("d1"), cluster.configuration()) == (["vm1"], {})
    with Watch(cluster, lab.simulator, "d1") as watch, reboot(cluster, lab, event_id):
        lab.respond(respond_wait=True)
        cluster.settle()
    assert watch.before_approval().nodes == ["vm2"], "approved before the resource ran on the other node"
    approved, elsewhere = watch.approved_at(), watch.runs_on_since("vm2")
    assert approved is not None and elsewhere is not None
    print(f"state: pacemaker: reboot with a drain: pause {watch.pause():.2f} s, approved {approved - elsewhere:.2f} s after it ran elsewhere", flush=True)
    # It came back to the node that it prefers, and stayed away from it as long as the event was there.
    assert (cluster.where("d1"), cluster.configuration(), watch.twice()) == (["vm1"], {}, 0)
    # Whether a run sees the event as started, or only as gone, is a matter of its moments.
    phases = [phase for phase in lab.phases("vm1") if phase not in ("noticed", "started", "gone")]
    assert phases == ["draining", "drained", "approved", "recovering", "recovered"]


def test_both_nodes_of_one_event_are_held(cluster: Cluster, lab: Lab) -> None:
    lab.simulator.event("Reboot", NAMES, notice=400)
    with Watch(cluster, lab.simulator, "d1") as watch:
        said = lab.respond(code=None)
    for one, other in (("vm1", "vm2"), ("vm2", "vm1")):
        assert f"no other node may take over from {one}: {other}: its VM {other} is hit by the same event" in said, said[-6000:]
    assert lab.simulator.approvals() == [] and cluster.configuration() == {}
    assert {one.nodes[0] for one in watch.seen} == {"vm1"} and watch.pause() == 0


def test_the_last_node_is_held(cluster: Cluster, lab: Lab) -> None:
    cluster.nodes["vm2"].run("crm_standby", "--node=vm2", "--update=on")
    try:
        lab.simulator.event("Reboot", ["vm1"], notice=400)
        with Watch(cluster, lab.simulator, "d1") as watch:
            said = lab.respond(code=None)
        assert "no other node may take over from vm1: vm2: standby" in said
        assert lab.simulator.approvals() == [] and watch.pause() == 0
    finally:
        cluster.nodes["vm2"].run("crm_standby", "--node=vm2", "--delete")
        cluster.settle()
    print("state: pacemaker: last node, and both nodes of one event: held, pause 0.00 s", flush=True)


# --- with STATE_FULL: comparisons, and what is killed or was there before -------------------------------------------------


def at_home(cluster: Cluster) -> None:
    """Wait until all is as before an event: on its node, and nowhere else."""
    cluster.any().until(lambda: len(cluster.online()) == len(NAMES), "all nodes are online again", 120)
    cluster.settle()
    cluster.any().until(lambda: cluster.where("d1") == ["vm1"], "the resource is back", 60)


@pytest.mark.full
def test_a_reboot_without_a_drain(cluster: Cluster, lab: Lab) -> None:
    lab.all["respond_policy"] = AS_IT_IS
    event_id = lab.simulator.event("Reboot", ["vm1"], notice=200)
    with Watch(cluster, lab.simulator, "d1") as watch, reboot(cluster, lab, event_id):
        lab.respond(respond_wait=True)
        at_home(cluster)
    print(f"state: pacemaker: the same reboot without a drain: pause {watch.pause():.2f} s", flush=True)
    assert watch.before_approval().nodes == ["vm1"]


@pytest.mark.full
@pytest.mark.parametrize("seconds", [5, 40])
@pytest.mark.parametrize("policy", [DRAIN_ALL, AS_IT_IS], ids=["drained", "as_it_is"])
def test_a_freeze(cluster: Cluster, lab: Lab, seconds: int, policy: list[dict[str, t.Any]]) -> None:
    lab.all["respond_policy"] = policy
    node = cluster.nodes["vm1"]
    event_id = lab.simulator.event("Freeze", ["vm1"], notice=200, duration_in_seconds=seconds)
    stopped: list[int] = []

    def strike() -> None:
        node.cut_off()
        stopped.extend(node.processes())
        freeze(stopped)

    def release() -> None:
        thaw(stopped)
        node.reach()

    with Watch(cluster, lab.simulator, "d1") as watch, Impact(lab, event_id, seconds, strike, release):
        lab.respond(respond_wait=True)
        at_home(cluster)
    how = "with a drain" if policy is DRAIN_ALL else "without a drain"
    print(f"state: pacemaker: freeze of {seconds} s {how}: pause {watch.pause():.2f} s, on two nodes at once {watch.twice():.2f} s", flush=True)
    if policy is DRAIN_ALL:
        assert (watch.before_approval().nodes, watch.twice()) == (["vm2"], 0)
    assert cluster.configuration() == {}


@pytest.mark.full
def test_a_standby_of_a_person_is_left_as_found_twice(cluster: Cluster, lab: Lab) -> None:
    node = cluster.nodes["vm1"]
    node.run("crm_standby", "--node=vm1", "--update=on")
    try:
        cluster.settle()
        before = cluster.configuration()
        for _time in range(2):
            event_id = lab.simulator.event("Reboot", ["vm1"], notice=200)
            with reboot(cluster, lab, event_id):
                lab.respond(respond_wait=True)
            assert cluster.configuration() == before == {"nodes-1-standby": "on"}
    finally:
        cluster.any().run("crm_standby", "--node=vm1", "--delete")
        at_home(cluster)


@pytest.mark.full
def test_a_second_run_changes_nothing(cluster: Cluster, lab: Lab) -> None:
    lab.all["respond_policy"] = HELD
    event_id = lab.simulator.event("Reboot", ["vm1"], notice=500)
    lab.respond(code=None)
    cluster.nodes["vm2"].until(lambda: cluster.where("d1") == ["vm2"], "the resource has moved")
    lab.respond(code=None)
    cluster.settle()
    before = (cluster.configuration(), cluster.version())
    assert before[0] == {"nodes-1-maintenance-azure": f"maintenance.azure {event_id}", "nodes-1-standby": "on"}
    lab.respond(code=None)
    assert (cluster.configuration(), cluster.version()) == before
    lab.simulator.ask("POST", f"/events/{event_id}/cancel")
    lab.respond(respond_wait=True)
    at_home(cluster)
    assert cluster.configuration() == {}


@pytest.mark.full
def test_killed_between_any_two_commands_it_ends_the_same(cluster: Cluster, tmp_path: pathlib.Path) -> None:
    node = cluster.nodes["vm1"]
    python = [sys.executable, str(pathlib.Path(__file__).with_name("one_drain.py"))]
    for stage in ("drain", "undo"):
        kills = 0
        while node.run(*python, stage, str(kills + 1), code=None).returncode == KILLED:
            kills += 1
            assert node.run(*python, stage, "0").stdout.strip() == ("drained" if stage == "drain" else "undone")
            cluster.settle()
            there = cluster.configuration()
            assert there == ({"nodes-1-maintenance-azure": "maintenance.azure EEEE-1", "nodes-1-standby": "on"} if stage == "drain" else {})
            # From the beginning again.
            node.run(*python, "undo" if stage == "drain" else "drain", "0")
            cluster.settle()
        print(f"state: pacemaker: killed after each of {kills} commands of a {stage}: the same end", flush=True)
        assert kills > (5 if stage == "drain" else 3)
    at_home(cluster)


@pytest.mark.full
def test_beside_azures_own_agent(cluster: Cluster, lab: Lab) -> None:
    """What the peer does on the same cluster: azure-events-az of resource-agents, which is to approve by itself. What it does is printed."""
    with peer(cluster), Watch(cluster, lab.simulator, "d1") as watch:
        lab.simulator.event("Reboot", ["vm1"], notice=600)
        cluster.any().until(lambda: cluster.where("d1") == ["vm2"], "the agent has the resource moved", 120)
        # Several of its monitors, which are 10 s apart.
        end = time.monotonic() + 60
        while not lab.simulator.approvals() and time.monotonic() < end:
            time.sleep(0.2)
        failures = sorted({str(one.get("exitreason")) for one in cluster.status().iterfind("failures/failure")})
    approved, elsewhere = watch.approved_at(), watch.runs_on_since("vm2")
    assert elsewhere is not None
    when = "has not approved 60 s after" if approved is None else f"approved {approved - elsewhere:+.2f} s after"
    print(f"state: pacemaker: azure-events-az {when} the resource runs elsewhere; its failures: {failures}", flush=True)
    at_home(cluster)


@pytest.mark.full
def test_where_azures_own_agent_is_the_drain_is_refused(cluster: Cluster, lab: Lab) -> None:
    with peer(cluster, asks=False):
        lab.simulator.event("Reboot", ["vm1"], notice=600)
        said = lab.respond(code=None)
    assert "the cluster handles Azure's events itself (resource azure-events)" in said
    assert (cluster.where("d1"), lab.simulator.approvals()) == (["vm1"], [])


@pytest.mark.full
@pytest.mark.parametrize("state", ["found", "begun"])
def test_its_own_daemons_are_away_in_the_middle(state: str, cluster: Cluster, lab: Lab) -> None:
    """Pacemaker of the VM stands still; Corosync goes on, so that the node stays a member."""
    node, seen = cluster.nodes["vm1"], []

    def pacemaker() -> list[int]:
        names = {one: pathlib.Path(f"/proc/{one}/comm").read_text().strip() for one in node.processes()}
        return [one for one, name in names.items() if name.startswith("pacemaker")]

    def runs(number: int) -> None:
        if not cluster.where("d1"):
            raise RuntimeError("it runs nowhere")
        seen.append(number)

    away = Away(lab, "vm1", *standing_still(pacemaker), runs, state)
    cluster.settle()
    away.verdict(f"pacemaker, Pacemaker of the VM itself, {state}", seen)
    assert (cluster.where("d1"), cluster.configuration()) == (["vm1"], {})
