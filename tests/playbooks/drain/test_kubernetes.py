# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method kubernetes: the real kubernetes.core and the real Python client, against a stand-in for the API server: what a real one does not do on demand."""

from __future__ import annotations

import collections.abc
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from fleet import EVENT, Fleet, Host, environment

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lab import kubernetes_core  # noqa: E402  the folder of tests is no package
from lab.kubernetes_api import KubernetesApi, pod, status  # noqa: E402

OURS = (True, EVENT["event_id"])
FREE = (False, None)


class Site:
    """A cluster of two nodes, and a VM that is one of them."""

    def __init__(self, fleet: Fleet, api: KubernetesApi, **options: Any) -> None:
        self.fleet, self.api, found = fleet, api, kubernetes_core.installed()
        self.config = fleet.folder / "kubeconfig"
        self.config.write_text(api.kubeconfig())
        tree = environment(fleet.folder)["ANSIBLE_COLLECTIONS_PATH"]
        paths = [part for part in (os.environ.get("PYTHONPATH"), str(found.packages)) if part]
        # Its cache of what a server has goes to the folder for temporary files.
        (fleet.folder / "tmp").mkdir()
        self.env = {
            "ANSIBLE_COLLECTIONS_PATH": f"{tree}:{found.collections}", "PYTHONPATH": ":".join(paths), "TMPDIR": str(fleet.folder / "tmp"),
            "K8S_AUTH_CONTEXT": "", "KUBECONFIG": "/nowhere",
        }  # fmt: skip
        self.given = {"method": "kubernetes", "node": "worker1", "kubeconfig": str(self.config), "context": "stub", **options}
        self.vm: Host = fleet.add("web1", [self.given])

    def drain(self, **more: Any) -> Any:
        return self.fleet.drain(env=self.env, **more)

    def recover(self) -> Any:
        return self.fleet.recover(env=self.env)


@pytest.fixture
def api() -> collections.abc.Iterator[KubernetesApi]:
    found = KubernetesApi(
        pod("web-1"), pod("web-2"), pod("other-1", node="worker2"), pod("agent-1", owner="DaemonSet", volumes=[{"name": "x", "emptyDir": {}}]),
        {**pod("static-1", owner="Node"), "metadata": {**pod("static-1", owner="Node")["metadata"], "annotations": {"kubernetes.io/config.mirror": "1"}}},
        {**pod("done-1", owner="Job"), "status": {"phase": "Succeeded"}},
    )  # fmt: skip
    yield found
    found.close()


def test_the_versions_are_those_of_the_execution_environment() -> None:
    assert kubernetes_core.version(kubernetes_core.installed()) == kubernetes_core.pinned()[0]


def test_a_node_is_drained_under_its_budgets_and_comes_back(fleet: Fleet, api: KubernetesApi) -> None:
    site = Site(fleet, api, grace_period=0)
    vm = site.vm
    api.budgets["web-1"] = ["web"]
    run = site.drain()
    words = "pods left: 1, not evicted yet: shop/web-1 (The disruption budget web needs 2 healthy pods and has 2 currently)"
    assert vm.state == "draining" and vm.result["error"] == words, vm.result
    # The pod after the one that is held has left all the same. What is none of the drain's stays.
    stays = {"agent-1", "static-1", "done-1"}
    assert api.names() == {"web-1", *stays} and api.cordoned() == OURS
    assert vm.method(0)["before"] == {"node": "worker1", "unschedulable": False, "ready": True} and vm.method(0)["outside"] is True
    patches = [body for method, path, body in api.requests if method == "PATCH" and "dryRun" not in path]
    assert len(patches) == 1 and patches[0]["spec"] == {"unschedulable": True}, "one request cordons and annotates"
    assert {body["deleteOptions"]["gracePeriodSeconds"] for method, _path, body in api.requests if method == "POST"} == {0}

    api.budgets.clear()
    api.stays.add("web-1")
    site.drain()
    assert vm.state == "draining" and vm.result["error"] == "pods left: 1, ending: shop/web-1", vm.result
    asked = len(api.changes())
    site.drain()
    assert vm.state == "draining" and len(api.changes()) == asked, "one that is ending is not evicted again"
    api.pods = [one for one in api.pods if one["metadata"]["name"] != "web-1"]
    site.drain()
    assert vm.state == "drained" and api.names() == stays, vm.result
    site.drain(verify=True)
    assert vm.state == "drained" and len(api.changes()) == asked, "a second run changes nothing"

    # A person lets pods come again: it is drained again.
    api.cordon(False)
    api.pods.append(pod("web-3"))
    site.drain(verify=True)
    assert vm.state == "drained" and api.names() == stays and api.cordoned() == OURS, vm.result

    api.nodes["worker1"]["status"]["conditions"][1]["status"] = "False"
    site.recover()
    assert vm.state == "undoing" and vm.result["error"] == "node worker1 is not ready yet" and api.cordoned() == FREE, vm.result
    api.nodes["worker1"]["status"]["conditions"][1]["status"] = "True"
    site.recover()
    assert vm.state == "undone" and vm.record["undone"] is True, vm.result
    assert api.names("worker2") == {"other-1"}
    # Nothing of a secret comes out.
    said = run.stdout + run.stderr + "".join(path.read_text() for path in vm.folder.rglob("*.json"))
    assert "secret-of-a-pod" not in said and "a-token-of-the-stub" not in said


def test_what_a_person_has_cordoned_stays_so_twice(fleet: Fleet, api: KubernetesApi) -> None:
    site = Site(fleet, api)
    other = fleet.add("web2", [{**site.given, "node": "worker2"}])
    api.cordon(True)
    api.cordon(True, "worker2")
    api.nodes["worker2"]["metadata"]["annotations"] = {"maintenance.azure/event": "another-event"}
    for act, state in ((site.drain, "drained"), (site.recover, "undone")):
        for _twice in range(2):
            act()
            assert (site.vm.state, other.state) == (state, state), (site.vm.result, other.result)
            assert (api.cordoned(), api.cordoned("worker2")) == ((True, None), (True, "another-event"))
    assert not [path for method, path in api.changes() if method == "PATCH"]


def test_somebody_else_s_change_is_not_overwritten(fleet: Fleet, api: KubernetesApi) -> None:
    site = Site(fleet, api, cordon_only=True)

    def a_person_is_quicker() -> None:
        if api.cordoned() == FREE and api.changes():
            api.cordon(True)

    api.on_patch = a_person_is_quicker
    site.drain()
    assert site.vm.state == "drained" and api.cordoned() == (True, None), site.vm.result
    site.recover()
    assert site.vm.state == "undone" and api.cordoned() == (True, None), site.vm.result


BARE = pod("bare-1", owner="")
DATA = pod("data-1", volumes=[{"name": "scratch", "emptyDir": {}}])
FORBIDDEN = status(403, 'nodes "worker1" is forbidden: User "drain" cannot patch resource "nodes" in API group "" at the cluster scope', "Forbidden")


# By the node of a VM of its own: its options, what is there, and the words of the refusal.
REFUSED: dict[str, tuple[dict[str, Any], Any, str]] = {
    "bare": ({}, BARE, "node bare: shop/bare-1 have no controller that would start them elsewhere (force)"),
    "data": ({}, DATA, "node data: shop/data-1 have data in an emptyDir, which would be lost (delete_emptydir_data)"),
    "daemon": ({"ignore_daemonsets": False}, pod("agent-2", owner="DaemonSet"), "node daemon: shop/agent-2 belong to a DaemonSet"),
    "missing": ({"node": "worker9"}, None, "the cluster has no node worker9. Option node says how the cluster names it"),
    "odd": ({"node": "Worker 1/.."}, None, "Worker 1/.. cannot be the name of a node"),
    "context": ({"context": "nothing"}, None, "node context: the API server cannot be asked: CoreException: Could not create API client"),
    "file": ({"kubeconfig": "/nowhere/config"}, None, "node file: the API server cannot be asked: there is no kubeconfig /nowhere/config on the controller"),
    "gone": ({"context": "gone"}, None, "node gone: the API server cannot be asked: "),
    "forbidden": ({}, None, 'node forbidden: the API server answers 403: nodes "worker1" is forbidden'),
    "ended": ({"context": "ended"}, None, "node ended: the API server answers 401: Unauthorized. Give its user a new token or certificate"),
    "held": ({}, pod("locked-1"), "node held: no right to evict shop/locked-1: pods is forbidden: User drain"),
    "broken": ({}, None, "node broken: the API server answers 500: etcdserver: request timed out"),
}


def test_it_is_refused_by_name_before_anything_is_changed(fleet: Fleet, api: KubernetesApi) -> None:
    site = Site(fleet, api)
    del fleet.hosts["web1"]
    evictions = status(403, "pods is forbidden: User drain cannot create resource pods/eviction", "Forbidden", kind="pods")
    api.refused = {
        "POST /api/v1/namespaces/shop/pods/locked-1/eviction": evictions,
        "PATCH /api/v1/nodes/forbidden": FORBIDDEN,
        "GET /api/v1/nodes/broken": status(500, "etcdserver: request timed out"),
    }
    for name, (options, there, _words) in REFUSED.items():
        api.nodes[name] = api.make_node(name)
        if there:
            api.pods.append({**there, "spec": {**there["spec"], "nodeName": name}})
        fleet.add(name, [{**site.given, "node": name, **options}])
    site.drain()
    for name, (_options, _there, words) in REFUSED.items():
        assert fleet.hosts[name].state == "failed" and words in fleet.hosts[name].result["error"], fleet.hosts[name].result
        assert "Traceback" not in fleet.hosts[name].result["error"] and len(fleet.hosts[name].result["error"]) < 400
        assert api.cordoned(name) == FREE
    assert api.changes() == []


def test_a_pod_of_two_budgets_fails_the_drain_and_the_node_comes_back(fleet: Fleet, api: KubernetesApi) -> None:
    site = Site(fleet, api, force=True, delete_emptydir_data=True)
    api.pods += [BARE, DATA]
    api.budgets["web-1"] = ["web", "all"]
    site.drain()
    words = "not evicted: shop/web-1: This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
    assert site.vm.state == "failed" and site.vm.result["error"] == words, site.vm.result
    # A DaemonSet's pod with data stays, although both are allowed to go.
    assert api.names() == {"web-1", "agent-1", "static-1", "done-1"}
    site.vm.variables["test_undo_failed"] = True
    site.recover()
    assert site.vm.state == "undone" and api.cordoned() == FREE, site.vm.result


def test_a_pod_that_has_come_back_under_its_name_stays(fleet: Fleet, api: KubernetesApi) -> None:
    """Between the list and the eviction a StatefulSet has started it elsewhere."""
    site = Site(fleet, api)
    moved = {**pod("web-1", node="worker2"), "metadata": {**pod("web-1")["metadata"], "uid": "another"}}
    answer = api.answer

    def quicker(method: str, path: str, body: Any) -> Any:
        if method == "POST" and "/web-1/" in path and moved not in api.pods:
            api.pods = [one for one in api.pods if one["metadata"]["name"] != "web-1"] + [moved]
        return answer(method, path, body)

    api.answer = quicker  # type: ignore[method-assign]
    site.drain()
    assert site.vm.state == "drained" and api.names("worker2") == {"other-1", "web-1"}, site.vm.result


def test_a_record_that_names_another_node_reaches_nothing(fleet: Fleet, api: KubernetesApi) -> None:
    site = Site(fleet, api)
    site.drain()
    assert site.vm.state == "drained" and api.cordoned() == OURS, site.vm.result
    # The settings name another node by now: what was cordoned is reported, and the other one is left alone.
    site.given["node"] = "worker2"
    site.recover()
    assert site.vm.state == "undoing" and "its record says that node worker1 took pods before the drain" in site.vm.result["error"], site.vm.result
    assert api.cordoned() == OURS and api.cordoned("worker2") == FREE
    site.vm.variables["drain_methods_former"] = [{"method": "kubernetes", "node": "worker1", "kubeconfig": str(site.config), "context": "stub"}]
    site.recover()
    assert site.vm.state == "undone" and api.cordoned() == FREE, site.vm.result


def test_the_server_is_away_in_the_middle(fleet: Fleet, api: KubernetesApi) -> None:
    site = Site(fleet, api)
    api.budgets["web-1"] = ["web"]
    site.drain()
    assert site.vm.state == "draining", site.vm.result
    # Gone, with a token that has ended, and frozen: nothing is put back, and the node's pods that have left stay away.
    asked = len(api.changes())
    for context, slow, words in (
        ("gone", 0, "node worker1: the API server cannot be asked: 127.0.0.1:9 is not reachable (Connection refused)"),
        ("ended", 0, "node worker1: the API server answers 401: Unauthorized. Give its user a new token"),
        ("stub", 14, "node worker1: the API server cannot be asked: no answer within 10 s"),
    ):
        site.given["context"], api.slow, begun = context, slow, time.monotonic()
        site.drain(verify=slow == 0)
        assert site.vm.state == "draining" and words in site.vm.result["error"] and time.monotonic() - begun < 30, site.vm.result
        assert api.cordoned() == OURS and len(api.changes()) == asked
    api.slow = 0
    assert {"away", "moved"} <= set(site.vm.method(0)["times"])
    site.drain()
    assert site.vm.state == "draining" and "not evicted yet: shop/web-1" in site.vm.result["error"], site.vm.result
    assert "away" not in site.vm.method(0)["times"]
    site.given["context"] = "gone"
    site.recover()
    assert site.vm.state == "undoing" and "node worker1: the API server cannot be asked" in site.vm.result["error"], site.vm.result
    site.given["context"] = "stub"
    del api.nodes["worker1"]
    site.recover()
    assert site.vm.state == "undoing" and "the cluster has no node worker1" in site.vm.result["error"], site.vm.result
    api.nodes["worker1"] = api.make_node("worker1")
    site.recover()
    assert site.vm.state == "undone", site.vm.result


def test_without_the_collection_or_the_package_the_settings_are_refused(fleet: Fleet, api: KubernetesApi) -> None:
    site = Site(fleet, api)
    whole = dict(site.env)
    site.env["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
    site.drain()
    words = "the Python of the controller has no package kubernetes. To install it: "
    assert site.vm.state == "failed" and words in site.vm.result["error"] and "-m pip install kubernetes" in site.vm.result["error"], site.vm.result
    site.env = {**whole, "ANSIBLE_COLLECTIONS_PATH": whole["ANSIBLE_COLLECTIONS_PATH"].partition(":")[0]}
    site.drain()
    words = "the controller has no kubernetes.core.k8s_drain. To install it: ansible-galaxy collection install kubernetes.core"
    assert site.vm.state == "failed" and words in site.vm.result["error"], site.vm.result
    assert api.requests == []
