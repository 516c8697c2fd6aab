# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API server itself: how it is reached, what it refuses, and what becomes of a drain while it is away."""

from __future__ import annotations

import pathlib
import signal
import socket
import time

import pytest
from drains import FREE, OURS, Drains, plain
from lab.control_plane import USERS, ControlPlane, wait_for
from objects import Scene

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


@pytest.fixture
def drains(tmp_path: pathlib.Path, plane: ControlPlane) -> Drains:
    return Drains(tmp_path, plane)


def scene_of(plane: ControlPlane, name: str, **pod: int) -> Scene:
    scene = Scene(plane, name)
    scene.workload(**pod)
    return scene


def test_each_refusal_is_one_plain_line_before_anything_is_changed(tmp_path: pathlib.Path, plane: ControlPlane, drains: Drains) -> None:
    scenes = {name: scene_of(plane, name) for name in (*USERS[1:], "token", "nowhere", "stranger")}
    configs = {name: plane.kubeconfig(tmp_path / f"{name}.conf", name) for name in USERS}
    configs["token"] = plane.kubeconfig(tmp_path / "token.conf", token="ended")
    configs["stranger"] = plane.kubeconfig(tmp_path / "stranger.conf", trusted=False)
    for name, scene in scenes.items():
        drains.add(scene, kubeconfig=str(configs.get(name, configs["drain"])), **({"context": "gone"} if name == "nowhere" else {}))
    drains.drain()
    wrong = []
    for name, host in drains.fleet.hosts.items():
        print(f"kubernetes: {name}: {host.result['state']}: {host.result['error']}")
        if host.state != "failed" or not plain(host.result["error"]) or scenes[name].cordoned != FREE:
            wrong.append(f"{name}: {host.state}, {scenes[name].cordoned}: {host.result['error']}")
    assert wrong == []


@pytest.mark.full
def test_the_same_by_context_and_by_what_awx_sets(plane: ControlPlane, drains: Drains, tmp_path: pathlib.Path) -> None:
    by_context, by_awx = scene_of(plane, "by-context"), scene_of(plane, "by-awx")
    host = drains.add(by_context, kubeconfig=str(plane.kubeconfig(tmp_path / "contexts", current="gone")), context="lab")
    drains.drained(host)
    drains.recover()
    assert host.state == "undone" and by_context.cordoned == FREE, host.result
    del drains.fleet.hosts["by-context"]
    drains.env.update(K8S_AUTH_HOST=plane.address, K8S_AUTH_API_KEY=plane.token("drain"), K8S_AUTH_VERIFY_SSL="false")
    host = drains.add(by_awx, kubeconfig=None)
    drains.drained(host)
    drains.recover()
    assert host.state == "undone" and by_awx.cordoned == FREE, host.result


def test_a_token_that_ends_in_the_middle_is_not_yet(plane: ControlPlane, drains: Drains) -> None:
    def fresh_token() -> None:
        plane.make(ACCOUNTS, {"metadata": {"name": "drainer"}})
        given = plane.make(f"{ACCOUNTS}/drainer/token", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
        plane.kubeconfig(drains.config, token=given["status"]["token"])

    def end_it() -> None:
        plane.remove(f"{ACCOUNTS}/drainer")
        # The API server knows a token that it has just seen for ten seconds more.
        time.sleep(11)

    plane.bind("drainer", {"kind": "ServiceAccount", "name": "drainer", "namespace": "default"}, "drain")
    scene = scene_of(plane, "expired", seconds=3)
    host = drains.add(scene)
    fresh_token()
    drains.drain()
    assert host.state == "draining" and scene.cordoned == OURS, host.result
    end_it()
    drains.drain()
    assert host.state == "draining" and plain(host.result["error"]) and scene.cordoned == OURS, host.result
    drains.recover()
    assert host.state == "undoing" and plain(host.result["error"]) and scene.cordoned == OURS, host.result
    fresh_token()
    drains.recover()
    assert host.state == "undone" and scene.cordoned == FREE, host.result


def test_a_server_that_restarts_while_pods_end_is_not_yet(plane: ControlPlane, drains: Drains) -> None:
    scene = scene_of(plane, "restarts", seconds=4)
    host = drains.add(scene)
    drains.drain()
    assert host.state == "draining" and "ending" in host.result["error"], host.result
    plane.kill_server()
    try:
        drains.drain()
        seen = dict(host.result)
        # What was never asked before is refused, as ever.
        other = drains.fleet.add("too-early", [{"method": "kubernetes", "node": "restarts-2", "kubeconfig": str(drains.config)}])
        drains.drain(other)
    finally:
        plane.start_server()
    assert seen["state"] == "draining" and plain(seen["error"]), seen
    assert other.state == "failed" and plain(other.result["error"]), other.result
    assert scene.cordoned == OURS
    drains.drained(host)
    assert host.record["attempts"] == 1, host.record


def test_a_frozen_server_costs_no_more_than_the_limit_says(plane: ControlPlane, drains: Drains) -> None:
    scene = scene_of(plane, "frozen", seconds=2)
    host = drains.add(scene)
    drains.drain()
    assert host.state == "draining", host.result
    plane.signal("kube-apiserver", signal.SIGSTOP)
    began = time.monotonic()
    try:
        drains.drain()
        seconds = time.monotonic() - began
    finally:
        plane.signal("kube-apiserver", signal.SIGCONT)
    print(f"kubernetes: one observation of a frozen API server: {seconds:.1f} s, {host.result['state']}: {host.result['error']}")
    assert host.state == "draining" and plain(host.result["error"]), host.result
    # Ten for the request, and what the run itself takes.
    assert seconds < 25, host.result
    wait_for(plane.ready, "it does not go on")
    assert scene.cordoned == OURS
    drains.drained(host)


@pytest.mark.full
def test_another_cluster_with_a_node_of_the_same_name_is_left_alone(plane: ControlPlane, drains: Drains, tmp_path: pathlib.Path) -> None:
    scene = scene_of(plane, "twin")
    host = drains.add(scene)
    drains.drained(host)
    other = ControlPlane(tmp_path / "other", bare=True)
    try:
        other.make("/api/v1/nodes", {"metadata": {"name": "twin"}, "spec": {"unschedulable": True}})
        other.kubeconfig(drains.config, user="admin")
        drains.recover()
        assert other.cordoned("twin") == (True, None) and scene.cordoned == OURS
    finally:
        other.close()
    plane.kubeconfig(drains.config)
    drains.recover()
    print(f"kubernetes: the other cluster: {host.result}")
    assert scene.cordoned == FREE, host.result


@pytest.mark.full
def test_a_server_that_takes_connections_and_says_nothing_is_refused_in_time(plane: ControlPlane, drains: Drains, tmp_path: pathlib.Path) -> None:
    scene = scene_of(plane, "silence")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        config = plane.kubeconfig(tmp_path / "silent.conf")
        config.write_text(config.read_text().replace(plane.address, f"http://127.0.0.1:{silent.getsockname()[1]}"))
        host = drains.add(scene, kubeconfig=str(config))
        began = time.monotonic()
        drains.drain()
        seconds = time.monotonic() - began
    assert host.state == "failed" and plain(host.result["error"]) and seconds < 25, (seconds, host.result)
