# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Method rabbitmq, with three nodes of Debian's RabbitMQ, a quorum queue, and a publisher whose confirms are counted. Each node is the VM of its number."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import time
import typing as t

import pytest
from impact import Impact, freeze, thaw
from lab import warm
from lab.lab import Lab
from rabbitmq.cluster import NODES, Cluster, Publisher, until
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
        # Without the name of the cluster RabbitMQ itself is asked: a person has taken another node out.
        cluster.drain("r2@host")
        lab.hosts["vm1"]["drain_methods"][0].pop("cluster")
        lab.simulator.event("Reboot", ["vm1"], notice=600)
        output = whole(lab.respond(code=None))
        reason = "queue 'orders' in vhost '/' would lose quorum without r1@host: r2@host is in maintenance mode"
        assert reason in output and lab.simulator.approvals() == [], output
        assert cluster.in_maintenance() == {"r2@host"}
        writer.until(20)
    verdict("two of three asked for: the second is held", writer, cluster)
