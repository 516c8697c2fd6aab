# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole events by playbook: the endpoint is the simulator's, the nodes are those of a real cluster."""

from __future__ import annotations

import collections.abc
import pathlib
import signal
import threading
import time
import typing as t

import pytest
from drains import FREE, EventLab
from lab.control_plane import ControlPlane, Sampler, wait_for
from objects import Scene

Labs = t.Callable[..., EventLab]
DRAIN_ALL = [{"name": "all", "drain": True, "approve": "after_drain"}]


@pytest.fixture
def labs(tmp_path: pathlib.Path, plane: ControlPlane) -> collections.abc.Iterator[Labs]:
    made: list[EventLab] = []

    def make(nodes: t.Mapping[str, str], **options: t.Any) -> EventLab:
        made.append(EventLab(tmp_path / "lab", plane, nodes, **options))
        made[-1].all["respond_policy"] = DRAIN_ALL
        return made[-1]

    yield make
    for lab in made:
        lab.close()


def test_an_event_to_its_end(plane: ControlPlane, labs: Labs) -> None:
    scene = Scene(plane, "plain")
    scene.workload(count=3, seconds=1)
    lab = labs({"web1": "plain"})
    lab.simulator.event("Reboot", ["web1"], notice=3600, duration_in_seconds=30)
    lab.respond(respond_wait=True)
    assert {"drained", "recovered"} <= set(lab.phases("web1")), lab.phases("web1")
    assert len(lab.simulator.approvals()) == 1 and scene.cordoned == FREE and scene.left() == []
    assert len(scene.running("plain-2")) == 3


def test_two_nodes_of_one_event_under_one_budget(plane: ControlPlane, labs: Labs) -> None:
    scene = Scene(plane, "shared", nodes=3)
    scene.workload(count=6, spread=True, seconds=1, ready=2)
    scene.budget(minAvailable=5)
    lab = labs({"web1": "shared", "web2": "shared-2"})
    lab.simulator.event("Freeze", ["web1", "web2"], notice=1800, duration_in_seconds=30)
    with Sampler(lambda: len(scene.running())) as sampled:
        lab.respond(respond_wait=True)
    print(f"kubernetes: six pods, at least five: {sorted(set(sampled.seen))} seen in {len(sampled.seen)} looks")
    assert min(sampled.seen) == 5, sampled.seen
    for vm, node in {"web1": "shared", "web2": "shared-2"}.items():
        assert {"drained", "recovered"} <= set(lab.phases(vm)) and plane.cordoned(node) == FREE


def when_pods_end(scene: Scene, act: t.Callable[[], None]) -> threading.Thread:
    """Start a thread that does something when the first pod is ending."""

    def work() -> None:
        wait_for(lambda: any("deletionTimestamp" in one["metadata"] for one in scene.pods()), "no pod is ending")
        act()

    found = threading.Thread(target=work)
    found.start()
    return found


def while_pods_end(plane: ControlPlane, labs: Labs, name: str, act: t.Callable[[], None], notice: int = 1800) -> None:
    """Drain a node, with something happening to the API server in the middle: nothing is put back, nothing has failed."""
    scene = Scene(plane, name)
    scene.workload(count=2, seconds=12)
    lab = labs({"web1": name})
    event = lab.simulator.event("Freeze", ["web1"], notice=notice, duration_in_seconds=30)
    with Sampler(lambda: (scene.cordoned[0], scene.cordoned[1])) as sampled:
        thread = when_pods_end(scene, act)
        output = lab.respond(respond_wait=True, code=None)
        thread.join(60)
    whole = " ".join(output.split())
    record = lab.record("web1")
    reasons = [entry.get("why") for entry in record["history"] if entry.get("why")]
    print(f"kubernetes: {name}: {lab.phases('web1')}, attempts {record['attempts']}, {reasons}")
    assert "failed" not in lab.phases("web1") and record["attempts"] == 1, (lab.phases("web1"), reasons)
    assert {"drained", "recovered"} <= set(lab.phases("web1")) and scene.cordoned == FREE, whole[-2000:]
    flags = [flag for flag, _event in sampled.seen]
    assert len([1 for before, now in zip(flags, flags[1:]) if before and not now]) <= 1, f"the node took pods again before event {event} was over"


def test_a_server_that_restarts_in_the_middle(plane: ControlPlane, labs: Labs) -> None:
    def restart() -> None:
        plane.kill_server()
        time.sleep(6)
        plane.start_server()

    while_pods_end(plane, labs, "away", restart)


@pytest.mark.full
def test_a_server_that_freezes_in_the_middle(plane: ControlPlane, labs: Labs) -> None:
    def freeze() -> None:
        plane.signal("kube-apiserver", signal.SIGSTOP)
        time.sleep(15)
        plane.signal("kube-apiserver", signal.SIGCONT)

    while_pods_end(plane, labs, "stands", freeze, notice=3600)


@pytest.mark.full
def test_the_server_runs_on_the_vm_itself(plane: ControlPlane, labs: Labs) -> None:
    """A VM of the control plane: its API server goes with it when Azure hits it, and the undo finds it when it is back."""
    scene = Scene(plane, "itself")
    scene.workload(count=2, seconds=1)
    lab = labs({"web1": "itself"})
    event = lab.simulator.event("Reboot", ["web1"], notice=1800, duration_in_seconds=600)

    def hit() -> None:
        wait_for(lambda: any(one["event_id"] == event and one["event_status"] == "Started" for one in lab.simulator.ask("GET", "/events")), "not hit", 120)
        plane.kill_server()
        time.sleep(6)
        plane.start_server()

    thread = threading.Thread(target=hit)
    thread.start()
    lab.respond(respond_wait=True)
    thread.join(60)
    assert {"drained", "recovered"} <= set(lab.phases("web1")) and "failed" not in lab.phases("web1"), lab.phases("web1")
    assert scene.cordoned == FREE
