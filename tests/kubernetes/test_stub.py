# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stub of suite playbooks answers as the real server does, field by field, as far as the method reads it."""

from __future__ import annotations

import json
import typing as t

import requests
from lab.control_plane import ControlPlane
from lab.kubernetes_api import TOKEN, KubernetesApi, pod, status
from objects import Scene

Json = dict[str, t.Any]
KEYS = ("kind", "apiVersion", "status", "reason", "code")


def ask(stub: KubernetesApi, method: str, path: str, body: Json | None, kind: str = "application/json") -> tuple[int, Json]:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": kind}
    found = requests.request(method, stub.address + path, data=None if body is None else json.dumps(body), headers=headers, timeout=10)
    return found.status_code, found.json()


def eviction(name: str, uid: str, **options: t.Any) -> Json:
    names = {"namespace": "shop", "name": name}
    return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": names, "deleteOptions": {"preconditions": {"uid": uid}, **options}}


def shape(answer: tuple[int, Json]) -> Json:
    """What of a Status is compared: its fields, its cause, and its words without names and numbers."""
    number, body = answer
    if body.get("kind") != "Status":
        return {"code": number, "kind": body.get("kind"), "apiVersion": body.get("apiVersion")}
    causes = [{key: one.get(key) for key in ("reason", "message")} for one in body.get("details", {}).get("causes", [])]
    return {**{key: body.get(key) for key in KEYS}, "http": number, "message": body.get("message", ""), "causes": causes}


def test_the_answers_of_the_stub_are_those_of_the_real_server(plane: ControlPlane) -> None:
    scene = Scene(plane, "shop")
    scene.workload("StatefulSet", count=2)
    uids = {one["metadata"]["name"]: one["metadata"]["uid"] for one in scene.pods()}
    stub = KubernetesApi(*({**pod(name), "metadata": {**pod(name)["metadata"], "uid": uid}} for name, uid in uids.items()), nodes=("shop", "shop-2"))
    place, node = "/api/v1/namespaces/shop/pods/web-0/eviction", "/api/v1/nodes/shop"
    wrong: list[str] = []

    def compare(what: str, method: str, path: str, body: Json | None = None, kind: str = "application/json") -> None:
        found = plane.ask(method, path, body, user="drain", kind=kind)
        real, played = shape((found.code, found.body)), shape(ask(stub, method, path, body, kind))
        wrong.extend(f"{what}: {key}: real {real.get(key)!r}, stub {played.get(key)!r}" for key in {*real, *played} if real.get(key) != played.get(key))

    try:
        merge = "application/merge-patch+json"
        compare("a node", "GET", node)
        compare("no such node", "GET", "/api/v1/nodes/nothing")
        compare("pods", "GET", "/api/v1/pods?fieldSelector=spec.nodeName=shop&limit=500")
        compare("an old version", "PATCH", node, {"metadata": {"resourceVersion": "2"}, "spec": {"unschedulable": True}}, merge)
        compare("a dry cordon", "PATCH", f"{node}?dryRun=All", {"spec": {"unschedulable": True}}, merge)
        compare("no such pod", "POST", place.replace("web-0", "web-9"), eviction("web-9", "x"))
        compare("another uid", "POST", place, eviction("web-0", "another"))
        scene.budget("web", maxUnavailable=0)
        stub.budgets["web-0"] = ["web"]
        compare("held", "POST", place, eviction("web-0", uids["web-0"]))
        compare("held, asked dry", "POST", place, eviction("web-0", uids["web-0"], dryRun=["All"]))
        scene.budget("second", maxUnavailable=0)
        stub.budgets["web-0"] = ["web", "second"]
        compare("two budgets", "POST", place, eviction("web-0", uids["web-0"]))
        for name in ("web", "second"):
            plane.remove(f"/apis/policy/v1/namespaces/shop/poddisruptionbudgets/{name}")
        stub.budgets.clear()
        compare("let go", "POST", place, eviction("web-0", uids["web-0"]))
        refused = plane.ask("PATCH", node, {"spec": {}}, user="no-nodes", kind=merge)
        words = 'nodes "shop" is forbidden: User "no-nodes" cannot patch resource "nodes" in API group "" at the cluster scope'
        assert shape((refused.code, refused.body)) == shape((403, status(403, words, "Forbidden"))), refused
    finally:
        stub.close()
    assert wrong == []


def test_no_token_is_refused_in_the_same_form(plane: ControlPlane) -> None:
    found = requests.get(f"{plane.address}/api/v1/nodes/x", headers={"Authorization": "Bearer wrong"}, timeout=10, verify=str(plane.authority))
    assert shape((found.status_code, found.json())) == shape((401, status(401, "Unauthorized", "Unauthorized")))
