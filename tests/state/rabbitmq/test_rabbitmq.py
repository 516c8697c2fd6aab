# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Method rabbitmq, with three nodes of Debian's RabbitMQ, a quorum queue, and a publisher whose confirms are counted. Each node is the VM of its number."""

from __future__ import annotations

import pathlib
import time
import typing as t

import pytest
from away import Away, standing_still
from impact import Impact, freeze, thaw
from killed import drained, kill_when
from lab.lab import Lab
from rabbitmq.cluster import NODES, QUEUE, Cluster, Publisher, until
from rehearsal import rehearse
from writer import Writer

VMS = ("vm1", "vm2", "vm3")
NODE = dict(zip(VMS, NODES))
DRAIN_ALL = [{"name": "all", "drain": True, "approve": "after_drain"}]
AS_IT_IS = [{"name": "as it is", "drain": False, "approve": "now"}]


@pytest.fixture(scope="module")
def running() -> t.Iterator[Cluster]:
    found = Cluster()
    yield found
    found.close()


@pytest.fixture
def cluster(running: Cluster) -> Cluster:
    running.settle()
    return running


@pytest.fixture
def lab(tmp_path: pathlib.Path, cluster: Cluster) -> t.Iterator[Lab]:
    found = Lab(tmp_path / "lab", VMS, 1)
    for vm in VMS:
        found.hosts[vm]["drain_methods"] = [{"method": "rabbitmq", "node": NODE[vm], "cluster": "orders"}]
    found.all["respond_policy"] = DRAIN_ALL
    # No command outlasts the lease of its run, and each of RabbitMQ's starts an Erlang VM.
    found.all["respond_timing"]["lease_seconds"] = 60
    yield found
    found.close()


def reboot(cluster: Cluster, lab: Lab, vm: str, event_id: str, seconds: float = 5) -> Impact:
    return Impact(lab, event_id, seconds, lambda: cluster.kill(NODE[vm]), lambda: cluster.start(NODE[vm]))


def whole(output: str) -> str:
    return " ".join(output.split())


def verdict(what: str, writer: Writer, cluster: Cluster) -> None:
    lost = writer.lost(cluster.messages())
    said = f"{len(writer.acknowledged)} confirmed, {len(lost)} lost, longest pause {writer.longest_pause():.2f} s, errors {sum(writer.errors.values())}"
    print(f"state: rabbitmq: {what}: {said}", flush=True)
    assert not lost, f"{what}: {sorted(lost)[:10]}; errors {writer.errors}"


# --- in CI ---------------------------------------------------------------------------------------------------------------------


def test_a_reboot_of_the_leaders_node_loses_nothing(cluster: Cluster, lab: Lab) -> None:
    event_id = lab.simulator.event("Reboot", ["vm1"], notice=300)
    seen: dict[str, t.Any] = {}

    def strike() -> None:
        seen.update(maintenance=cluster.in_maintenance(), leader=cluster.leader(), online=cluster.online())
        cluster.kill("r1@host")

    rehearse(lab, "would put r1@host into maintenance mode: 0 client connection(s) are closed")
    assert cluster.in_maintenance() == set()
    began = time.monotonic()
    with Writer(Publisher(cluster)) as writer:
        writer.until(50)
        with Impact(lab, event_id, 5, strike, lambda: cluster.start("r1@host")) as impact:
            lab.respond(respond_wait=True)
        writer.until(50)
    assert seen["maintenance"] == {"r1@host"} and seen["leader"] != "r1@host" and "r1@host" not in seen["online"]
    assert {"drained", "recovered"} <= set(lab.phases("vm1")) and cluster.in_maintenance() == set() and len(cluster.online()) == 3
    assert impact.struck is not None
    verdict(f"a reboot {impact.struck - began:.1f} s after the run began", writer, cluster)


def test_two_of_three_are_never_out(cluster: Cluster, lab: Lab) -> None:
    with Writer(Publisher(cluster)) as writer:
        writer.until(20)
        # One event for two nodes of a cluster is held.
        both = lab.simulator.event("Reboot", ["vm1", "vm2"], notice=600)
        output = whole(lab.respond(code=None))
        assert "cluster orders" in output and lab.simulator.approvals() == [] and len(cluster.in_maintenance()) <= 1, output
        lab.simulator.ask("POST", f"/events/{both}/cancel")
        lab.respond(code=None, respond_wait=True)
        assert cluster.in_maintenance() == set()
        # Under another name of the cluster RabbitMQ itself is asked: a person has taken another node out.
        cluster.drain("r2@host")
        lab.hosts["vm1"]["drain_methods"][0]["cluster"] = "another"
        lab.simulator.event("Reboot", ["vm1"], notice=600)
        output = whole(lab.respond(code=None))
        reason = "queue 'orders' in vhost '/' would lose quorum without r1@host: r2@host is in maintenance mode"
        assert reason in output and lab.simulator.approvals() == [], output
        assert cluster.in_maintenance() == {"r2@host"}
        writer.until(20)
    verdict("two of three asked for: the second is held", writer, cluster)


def test_a_stream_keeps_its_majority(cluster: Cluster, lab: Lab) -> None:
    """A stream of three with one replica down: nothing but it, because a quorum queue is asked for already."""
    cluster.delete(QUEUE)
    cluster.declare("log", "stream")
    cluster.declare("post", "classic")
    until(lambda: cluster.replicas("log") == 3, "the stream has three replicas")
    lab.simulator.event("Reboot", ["vm1"], notice=600)
    lost = "what is published to the 1 durable one(s) without mandatory is confirmed and dropped"
    rehearse(lab, f"1 classic queue(s) of r1@host stand still until it is back; {lost}")
    cluster.kill("r3@host")
    with Writer(Publisher(cluster, "log")) as writer:
        writer.until(20)
        output = whole(lab.respond(code=None))
        reason = "stream 'log' in vhost '/' (1 of 3 replicas left) would lose quorum without r1@host: r3@host does not run"
        assert reason in output and lab.simulator.approvals() == [], output
        assert cluster.in_maintenance() == set()
        writer.until(20)
    assert writer.errors == {}
    print(f"state: rabbitmq: a stream of three with a replica down: not drained, {len(writer.acknowledged)} confirmed meanwhile", flush=True)


# --- before a release ----------------------------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("drained", [True, False])
@pytest.mark.parametrize("seconds", [5, 40])
def test_a_freeze_with_and_without_a_drain(cluster: Cluster, lab: Lab, seconds: int, drained: bool) -> None:
    lab.all["respond_policy"] = DRAIN_ALL if drained else AS_IT_IS
    event_id = lab.simulator.event("Freeze", ["vm1"], notice=300, duration_in_seconds=seconds)
    processes = cluster.processes_of("r1@host")
    with Writer(Publisher(cluster)) as writer:
        writer.until(50)
        with Impact(lab, event_id, seconds, lambda: freeze(processes), lambda: thaw(processes)):
            lab.respond(respond_wait=True)
        writer.until(50)
    until(lambda: len(cluster.online()) == 3, "all replicas are back")
    assert cluster.in_maintenance() == set()
    verdict(f"a freeze of {seconds} s {'with a drain' if drained else 'without a drain'}", writer, cluster)


@pytest.mark.full
def test_a_reboot_without_a_drain(cluster: Cluster, lab: Lab) -> None:
    lab.all["respond_policy"] = AS_IT_IS
    event_id = lab.simulator.event("Reboot", ["vm1"], notice=300)
    with Writer(Publisher(cluster)) as writer:
        writer.until(50)
        with reboot(cluster, lab, "vm1", event_id):
            lab.respond(respond_wait=True)
        writer.until(50)
    verdict("a reboot without a drain", writer, cluster)


@pytest.mark.full
def test_one_that_a_person_put_into_maintenance_mode_stays_there(cluster: Cluster, lab: Lab) -> None:
    cluster.drain("r1@host")
    for _twice in range(2):
        event_id = lab.simulator.event("Freeze", ["vm1"], notice=300, duration_in_seconds=5)
        processes = cluster.processes_of("r1@host")
        with Impact(lab, event_id, 5, lambda: freeze(processes), lambda: thaw(processes)):  # noqa: B023  it is called right here
            lab.respond(respond_wait=True)
        assert cluster.in_maintenance() == {"r1@host"}
    assert [record["methods"][0]["before"] for record in lab.records("vm1")] == [{"node": "r1@host", "maintenance": True}] * 2
    print("state: rabbitmq: a person's maintenance mode stays through two events", flush=True)


@pytest.mark.full
def test_killed_between_its_steps_it_goes_on(cluster: Cluster, lab: Lab) -> None:
    # That of a killed run is waited for.
    lab.all["respond_timing"]["lease_seconds"] = 20
    event_id = lab.simulator.event("Freeze", ["vm1"], notice=600, duration_in_seconds=5)
    processes = cluster.processes_of("r1@host")
    with Writer(Publisher(cluster)) as writer:
        writer.until(20)
        with Impact(lab, event_id, 5, lambda: freeze(processes), lambda: thaw(processes)) as impact:
            steps: dict[str, t.Callable[[], bool]] = {
                "found": lambda: bool(lab.records("vm1")) and any(one["state"] == "found" for one in lab.records("vm1")[0]["methods"]),
                "in maintenance mode": lambda: cluster.in_maintenance() == {"r1@host"},
                "drained": lambda: "drained" in lab.phases("vm1"),
                "approved": lambda: "approved" in lab.phases("vm1"),
                "revived": lambda: impact.struck is not None and time.monotonic() > impact.struck + 6 and cluster.in_maintenance() == set(),
            }
            for name, seen in steps.items():
                print(f"state: rabbitmq: killed when {name}: {'yes' if kill_when(lab, seen) else 'it had ended'}", flush=True)
            lab.respond(respond_wait=True)
        writer.until(20)
    assert cluster.in_maintenance() == set() and len(cluster.online()) == 3 and "recovered" in lab.phases("vm1")
    verdict("killed between its steps", writer, cluster)


@pytest.mark.full
def test_a_majority_that_goes_after_the_drain_holds_the_approval(cluster: Cluster, lab: Lab) -> None:
    """RabbitMQ's own question says yes for a node in maintenance mode."""
    # The lease of the killed run ends after its look at the drain has grown old.
    lab.all["respond_timing"].update(lease_seconds=45, verify_seconds=30)
    event_id = lab.simulator.event("Reboot", ["vm1"], notice=900)
    with Writer(Publisher(cluster)) as writer:
        assert kill_when(lab, lambda: drained(lab, "vm1"))
        cluster.kill("r3@host")
        output = whole(lab.respond(code=None, respond_wait=True, respond_wait_timeout=90))
        assert "queue 'orders' in vhost '/' (1 of 3 replicas left) would lose quorum without r1@host" in output, output
        assert lab.simulator.approvals() == []
        print(f"state: rabbitmq: a replica gone during the drain: {', '.join(lab.phases('vm1'))}", flush=True)
        cluster.start("r3@host")
        cluster.await_start("r3@host")
        # Also the one of vm1, which was revived while there was no majority.
        until(lambda: len(cluster.online()) == 3, "all replicas run")
        with reboot(cluster, lab, "vm1", event_id):
            lab.respond(respond_wait=True)
        writer.until(20)
    assert cluster.in_maintenance() == set()
    verdict("a replica that goes during the drain: the approval is held until it is back", writer, cluster)


@pytest.mark.full
def test_a_second_run_changes_nothing(cluster: Cluster, lab: Lab) -> None:
    lab.all["respond_policy"] = [{"name": "held", "drain": True, "approve": "never"}]
    event_id = lab.simulator.event("Reboot", ["vm1"], notice=900)
    lab.respond(code=None)
    (before,) = lab.records("vm1")[0]["methods"]
    assert before["state"] == "drained" and cluster.in_maintenance() == {"r1@host"}
    lab.respond(code=None)
    assert lab.records("vm1")[0]["methods"] == [before] and cluster.in_maintenance() == {"r1@host"}
    lab.simulator.ask("POST", f"/events/{event_id}/cancel")
    lab.respond(respond_wait=True)
    assert cluster.in_maintenance() == set()


@pytest.mark.full
def test_the_other_nodes_are_away_in_the_middle(cluster: Cluster, lab: Lab) -> None:
    others = standing_still(lambda: [process for node in NODES[1:] for process in cluster.processes_of(node)])
    away = Away(lab, "vm1", *others, Publisher(cluster))
    until(lambda: len(cluster.online()) == 3, "all replicas are back")
    away.verdict("rabbitmq, the two other nodes", cluster.messages())
    assert cluster.in_maintenance() == set()
