# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pods leave a node, which stay, what holds them, and what becomes of the node: by the role alone, many nodes in one look."""

from __future__ import annotations

import concurrent.futures
import pathlib
import signal
import typing as t

import pytest
from drains import FREE, OURS, Drains
from lab.control_plane import ControlPlane, wait_for
from objects import APPS, Scene

Make = t.Callable[[Scene], None]
Scenes = dict[str, Scene]
SCRATCH = {"volumes": [{"name": "scratch", "emptyDir": {}}]}
HOST_PATH = {"volumes": [{"name": "here", "hostPath": {"path": "/srv"}}]}


def make_all(plane: ControlPlane, makers: t.Mapping[str, Make], nodes: int = 2) -> Scenes:
    """Make scenes side by side."""

    def one(name: str) -> Scene:
        scene = Scene(plane, name, nodes)
        makers[name](scene)
        return scene

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return dict(zip(makers, pool.map(one, makers)))


@pytest.fixture
def drains(tmp_path: pathlib.Path, plane: ControlPlane) -> Drains:
    return Drains(tmp_path, plane)


def daemon(scene: Scene) -> None:
    scene.workload("DaemonSet", name="agent", **SCRATCH)
    scene.workload()


def orphan(scene: Scene) -> None:
    scene.workload("DaemonSet", name="agent")
    scene.plane.remove(f"{APPS}/namespaces/{scene.name}/daemonsets/agent", propagationPolicy="Orphan")
    wait_for(lambda: not any(one["metadata"].get("ownerReferences") for one in scene.pods()), "the pods keep their owner")


def ended(scene: Scene) -> None:
    scene.pod("ended")
    wait_for(scene.running, "the pod does not run")
    scene.plane.ask("PATCH", scene.path("ended") + "/status", {"status": {"phase": "Succeeded"}}, kind="application/merge-patch+json")


def person(scene: Scene) -> None:
    scene.workload()
    scene.cordon(True)


# By the scene: what is there, the options, and what is left on the node when it is drained: names as they begin.
LEAVE: dict[str, tuple[Make, dict[str, t.Any], list[str]]] = {
    "deployment": (lambda scene: scene.workload(count=2), {}, []),
    "stateful": (lambda scene: scene.workload("StatefulSet", count=2), {}, []),
    "job": (lambda scene: scene.workload("Job"), {}, []),
    "daemon": (daemon, {}, ["agent-"]),
    "static": (lambda scene: scene.pod("static", annotations={"kubernetes.io/config.mirror": "1"}), {}, ["static"]),
    "host-path": (lambda scene: scene.workload(**HOST_PATH), {}, []),
    "ended": (ended, {}, ["ended"]),
    "bare-forced": (lambda scene: scene.pod("bare"), {"force": True}, []),
    "data-allowed": (lambda scene: scene.workload(**SCRATCH), {"delete_emptydir_data": True}, []),
    "person": (person, {}, []),
    "cordon-only": (lambda scene: scene.workload(), {"cordon_only": True}, ["web-"]),
}  # fmt: skip
KEPT: dict[str, tuple[Make, dict[str, t.Any], str]] = {
    "bare": (lambda scene: scene.pod("bare"), {}, "node bare: bare/bare have no controller that would start them elsewhere (force)"),
    "orphan": (orphan, {}, "have no controller that would start them elsewhere (force)"),
    "data": (lambda scene: scene.workload(**SCRATCH), {}, "have data in an emptyDir, which would be lost (delete_emptydir_data)"),
    "daemon-asked": (daemon, {"ignore_daemonsets": False}, "belong to a DaemonSet, which would start them here again (ignore_daemonsets)"),
}


def test_which_pods_leave_and_which_stay(plane: ControlPlane, drains: Drains) -> None:
    scenes = make_all(plane, {name: one[0] for name, one in {**LEAVE, **KEPT}.items()})
    finalizer = make_all(plane, {"finalizer": lambda scene: scene.pod("slow", finalizers=["lab.invalid/wait"])})["finalizer"]
    hosts = {name: drains.add(scenes[name], **options) for name, (_make, options, _more) in {**LEAVE, **KEPT}.items()}
    slow = drains.add(finalizer, force=True)
    said = drains.drain()
    for name, (_make, _options, words) in KEPT.items():
        assert hosts[name].state == "failed" and words in hosts[name].result["error"], hosts[name].result
        assert scenes[name].cordoned == FREE and len(scenes[name].left()) > 0
        del drains.fleet.hosts[name]
    leaving = {name: hosts[name] for name in LEAVE}
    drains.drained(*leaving.values())
    for name, (_make, _options, stays) in LEAVE.items():
        left = scenes[name].left()
        assert len(left) == len(stays) and all(map(str.startswith, left, stays)), (name, left)
        assert scenes[name].cordoned == ((True, None) if name == "person" else OURS)
    for name in ("deployment", "stateful", "job", "host-path", "data-allowed", "person"):
        wait_for(lambda name=name: scenes[name].running(scenes[name].nodes[1]), f"the pods of {name} do not run elsewhere")

    assert slow.state == "draining", slow.result
    drains.drain(slow)
    assert slow.result["error"] == "pods left: 1, ending: finalizer/slow", slow.result
    plane.change(finalizer.path("slow"), {"metadata": {"finalizers": None}})
    wait_for(lambda: finalizer.left() == [], "the pod does not go")
    drains.drained(slow)

    # A person lets pods come in the middle: it is drained again. Another one's node has lost its object and registers again.
    scenes["deployment"].cordon(False)
    plane.remove("/api/v1/nodes/stateful")
    said += drains.drain(hosts["deployment"], verify=True)
    assert hosts["deployment"].state == "drained" and scenes["deployment"].cordoned == OURS, hosts["deployment"].result
    said += drains.recover(*leaving.values(), slow)
    assert hosts["stateful"].state == "undoing" and "the cluster has no node stateful" in hosts["stateful"].result["error"], hosts["stateful"].result
    scenes["stateful"].add_node("stateful")
    wait_for(lambda: scenes["stateful"].ready("stateful"), "the node is not ready again")
    drains.recover(hosts["stateful"])
    for name, host in {**leaving, "finalizer": slow}.items():
        assert host.state == "undone", host.result
        assert (scenes | {"finalizer": finalizer})[name].cordoned == ((True, None) if name == "person" else FREE), name
    # Nothing of a secret comes out.
    said += "".join(path.read_text() for host in leaving.values() for path in host.folder.rglob("*.json"))
    assert "secret-of-a-pod" not in said and plane.token("drain") not in said


def budget(count: int = 1, ready: bool = True, seconds: int = 0, **spec: t.Any) -> Make:
    def make(scene: Scene) -> None:
        scene.workload(count=count, ready=seconds)
        if not ready:
            condition = {"type": "Ready", "status": "False"}
            kind = "application/strategic-merge-patch+json"
            (pod,) = scene.left()
            assert scene.plane.ask("PATCH", scene.path(pod) + "/status", {"status": {"conditions": [condition]}}, kind=kind).code == 200
        scene.budget(**spec)

    return make


def two_budgets(scene: Scene) -> None:
    budget(maxUnavailable=1)(scene)
    scene.budget("second", maxUnavailable=1)


# What stands in the reason, and the change after which it goes; none: it goes by itself.
HELD: dict[str, tuple[Make, str, dict[str, t.Any]]] = {
    "allows": (budget(maxUnavailable=1), "", {}),
    "one-by-one": (budget(2, seconds=4, maxUnavailable=1), "The disruption budget budget needs 1 healthy pods and has 1 currently", {}),
    "zero": (budget(maxUnavailable=0), "The disruption budget budget needs 1 healthy pods and has 1 currently", {"maxUnavailable": 1}),
    "one-of-one": (budget(minAvailable=1), "The disruption budget budget needs 1 healthy pods and has 1 currently", {"minAvailable": 0}),
    "not-ready": (budget(ready=False, minAvailable=1), "needs 1 healthy pods and has 0 currently", {"unhealthyPodEvictionPolicy": "AlwaysAllow"}),
    "not-ready-let": (budget(ready=False, minAvailable=1, unhealthyPodEvictionPolicy="AlwaysAllow"), "", {}),
}


def test_a_rehearsal_names_what_a_budget_holds(plane: ControlPlane, drains: Drains) -> None:
    scenes = make_all(plane, {f"said-{name}": one[0] for name, one in HELD.items()})
    for scene in scenes.values():
        drains.add(scene)
    said = drains.drain(check_mode=True)
    assert all(scene.cordoned == FREE for scene in scenes.values())
    wrong = []
    for name, (_make, words, change) in HELD.items():
        # A dry run is about one pod alone: of two that may go one by one it holds neither. The words of a rehearsal are one line for each VM.
        (line,) = [one for one in said.splitlines() if f"would cordon node said-{name}," in one]
        if f"said-{name}/{scenes[f'said-{name}'].left()[0]}" not in line or (words and change and words.lower() not in line.lower()):
            wrong.append(line)
    assert wrong == [], "a run with --check does not name what is held"


def test_what_a_budget_holds_goes_later(plane: ControlPlane, drains: Drains) -> None:
    scenes = make_all(plane, {**{name: one[0] for name, one in HELD.items()}, "two-budgets": two_budgets})
    hosts = {name: drains.add(scene) for name, scene in scenes.items()}
    drains.drain()
    for name, (_make, words, change) in HELD.items():
        held = hosts[name].state == "draining" and "not evicted yet" in str(hosts[name].result["error"])
        assert held == bool(words) and words in str(hosts[name].result["error"]), hosts[name].result
        if change:
            scenes[name].let_go(**change)
    two = hosts["two-budgets"]
    assert two.state == "failed" and "This pod has more than one PodDisruptionBudget" in two.result["error"], two.result
    drains.drained(*(hosts[name] for name in HELD))
    drains.undo(two)
    assert two.state == "undone" and scenes["two-budgets"].cordoned == FREE
    assert all(scenes[name].cordoned == OURS and scenes[name].left() == [] for name in HELD)


def test_what_is_refused_for_now_is_asked_for_again(plane: ControlPlane, drains: Drains) -> None:
    """The controllers stand still: a budget has never been computed (429), a namespace is being deleted and its pods are there yet (403)."""
    scenes = make_all(plane, {"fresh": lambda scene: scene.workload(), "leaving": lambda scene: scene.workload()})
    hosts = {name: drains.add(scene) for name, scene in scenes.items()}
    plane.signal("kube-controller-manager", signal.SIGSTOP)
    try:
        scenes["fresh"].budget(wait=False, minAvailable=0)
        plane.remove("/api/v1/namespaces/leaving")
        drains.drain()
        assert hosts["fresh"].state == "draining" and "is still being processed by the server" in hosts["fresh"].result["error"], hosts["fresh"].result
        assert hosts["leaving"].state == "draining", hosts["leaving"].result
        assert scenes["leaving"].cordoned == OURS
    finally:
        plane.signal("kube-controller-manager", signal.SIGCONT)
    drains.drained(*hosts.values())


@pytest.mark.full
def test_a_kubelet_that_stops_is_waited_for(plane: ControlPlane, drains: Drains) -> None:
    (scene,) = make_all(plane, {"silent": lambda scene: scene.workload()}).values()
    host = drains.add(scene)
    plane.change("/api/v1/nodes/silent", {"metadata": {"labels": {"lab/kubelet": "stopped"}}})
    wait_for(lambda: not scene.ready("silent") or "unreachable" in str(plane.node("silent")["spec"].get("taints")), "it stays ready", 120)
    drains.drain()
    # Its pods are deleted, and nobody there says that they have ended.
    drains.drain()
    assert host.state == "draining" and "ending" in host.result["error"] and scene.cordoned == OURS, host.result
    plane.change("/api/v1/nodes/silent", {"metadata": {"labels": {"lab/kubelet": "runs"}}})
    wait_for(lambda: scene.ready("silent"), "it is not ready again", 120)
    drains.drained(host)
    drains.recover()
    assert host.state == "undone" and scene.cordoned == FREE, host.result


@pytest.mark.full
def test_six_hundred_pods(plane: ControlPlane, drains: Drains) -> None:
    scene = Scene(plane, "crowded")
    scene.workload(count=600)
    host = drains.add(scene)
    drains.drained(host, looks=30)
    assert scene.left() == [] and len(scene.pods()) >= 600
