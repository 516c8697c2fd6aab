# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A stand-in for the API server of Kubernetes, with nodes, pods and disruption budgets in memory.

Its answers are cited: the eviction's from pkg/registry/core/pod/storage/eviction.go of kubernetes/kubernetes (429 with a cause DisruptionBudget, 500 for
several budgets, without a reason), the others' from the Status of apimachinery.
Suite kubernetes compares them with a real server's (tests/kubernetes/test_stub.py).
"""

from __future__ import annotations

import copy
import http.server
import json
import threading
import time
import typing as t
import urllib.parse

Json = dict[str, t.Any]
SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
TOKEN = "a-token-of-the-stub"


def status(code: int, message: str, reason: str = "", **details: t.Any) -> Json:
    """A Status, as all failures are."""
    found: Json = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "code": code}
    return {**found, **({"reason": reason} if reason else {}), **({"details": details} if details else {})}


def pod(name: str, node: str = "worker1", namespace: str = "shop", owner: str = "ReplicaSet", **spec: t.Any) -> Json:
    """A pod that runs on a node, with a secret in its environment."""
    owners = [{"apiVersion": "apps/v1", "kind": owner, "name": name.rpartition("-")[0], "uid": "o", "controller": True}] if owner else []
    container = {"name": "main", "image": "shop:1", "env": [{"name": "PASSWORD", "value": "secret-of-a-pod"}]}
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}", "ownerReferences": owners, "annotations": {}},
        "spec": {"nodeName": node, "containers": [container], **spec},
        "status": {"phase": "Running"},
    }


class KubernetesApi:
    """One API server, on loopback."""

    def __init__(self, *pods: Json, nodes: t.Sequence[str] = ("worker1", "worker2")) -> None:
        self.nodes: dict[str, Json] = {name: self.make_node(name) for name in nodes}
        self.pods: list[Json] = [copy.deepcopy(one) for one in pods]
        self.budgets: dict[str, list[str]] = {}
        """Budgets that allow nothing more, by the name of the pod."""
        self.refused: dict[str, Json] = {}
        """Answers for method and path, whatever would be true."""
        self.stays: set[str] = set()
        """Pods that do not end when they are evicted."""
        self.slow = 0.0
        self.requests: list[tuple[str, str, Json]] = []
        self.on_patch: t.Callable[[], None] = lambda: None
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @staticmethod
    def make_node(name: str) -> Json:
        """A node that takes pods, and is ready."""
        conditions = [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": "True"}]
        return {
            "kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": "1"}, "spec": {},
            "status": {"conditions": conditions},
        }  # fmt: skip

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def kubeconfig(self) -> str:
        """A kubeconfig with two contexts, of which the current one leads nowhere."""
        clusters = [{"name": "stub", "cluster": {"server": self.address}}, {"name": "gone", "cluster": {"server": "http://127.0.0.1:9"}}]
        contexts = [{"name": name, "context": {"cluster": name, "user": "drain"}} for name in ("stub", "gone")]
        contexts.append({"name": "ended", "context": {"cluster": "stub", "user": "ended"}})
        users = [{"name": "drain", "user": {"token": TOKEN}}, {"name": "ended", "user": {"token": "a-token-that-has-ended"}}]
        return json.dumps({"apiVersion": "v1", "kind": "Config", "clusters": clusters, "contexts": contexts, "users": users, "current-context": "gone"})

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def cordoned(self, name: str = "worker1") -> tuple[bool, str | None]:
        """Whether a node takes no pods, and the event that it is annotated with."""
        node = self.nodes[name]
        return node["spec"].get("unschedulable") is True, node["metadata"].get("annotations", {}).get("maintenance.azure/event")

    def cordon(self, unschedulable: bool, name: str = "worker1") -> None:
        """A person does it."""
        self._merge(self.nodes[name], {"spec": {"unschedulable": unschedulable or None}})

    def names(self, node: str = "worker1") -> set[str]:
        return {one["metadata"]["name"] for one in self.pods if one["spec"]["nodeName"] == node}

    def changes(self) -> list[tuple[str, str]]:
        """Requests that were to change something."""
        return [(method, path) for method, path, _body in self.requests if method != "GET" and "dryRun" not in path]

    def answer(self, method: str, path: str, body: Json) -> tuple[int, Json]:
        self.requests.append((method, path, body))
        time.sleep(self.slow)
        parsed = urllib.parse.urlsplit(path)
        if f"{method} {parsed.path}" in self.refused:
            found = self.refused[f"{method} {parsed.path}"]
            return int(found["code"]), found
        query = dict(urllib.parse.parse_qsl(parsed.query))
        parts = parsed.path.strip("/").split("/")
        if parts[:3] == ["api", "v1", "nodes"] and len(parts) == 4:
            return self._of_node(method, parts[3], body, "dryRun" in query)
        if parts == ["api", "v1", "pods"] and method == "GET":
            return 200, self._listed(query)
        if len(parts) == 7 and parts[6] == "eviction" and method == "POST":
            return self._evict(parts[3], parts[5], body)
        known = {
            "version": {"major": "1", "minor": "35", "gitVersion": "v1.35.0"},
            "api": {"kind": "APIVersions", "versions": ["v1"]},
            "apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
            "api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": []},
        }
        if parsed.path.strip("/") in known:
            return 200, known[parsed.path.strip("/")]
        return 404, status(404, "the server could not find the requested resource", "NotFound")

    def _of_node(self, method: str, name: str, body: Json, dry: bool) -> tuple[int, Json]:
        node = self.nodes.get(name)
        if node is None:
            return 404, status(404, f'nodes "{name}" not found', "NotFound", name=name, kind="nodes")
        if method == "PATCH":
            self.on_patch()
            version = body.get("metadata", {}).get("resourceVersion")
            if version not in (None, node["metadata"]["resourceVersion"]):
                words = "the object has been modified; please apply your changes to the latest version and try again"
                return 409, status(409, f'Operation cannot be fulfilled on nodes "{name}": {words}', "Conflict")
            node = copy.deepcopy(node) if dry else node
            self._merge(node, body)
        return 200, copy.deepcopy(node)

    @staticmethod
    def _merge(node: Json, patch: Json) -> None:
        """As RFC 7396 says."""
        for part in ("metadata", "spec"):
            for key, value in patch.get(part, {}).items():
                if key == "annotations":
                    known = {**node[part].get(key, {}), **value}
                    node[part][key] = {name: one for name, one in known.items() if one is not None}
                elif value is None:
                    node[part].pop(key, None)
                else:
                    node[part][key] = value
        node["metadata"]["resourceVersion"] = str(int(node["metadata"]["resourceVersion"]) + 1)

    def _listed(self, query: Json) -> Json:
        field, _equals, node = query["fieldSelector"].partition("=")
        assert field == "spec.nodeName"
        found = [one for one in self.pods if one["spec"]["nodeName"] == node]
        begin, limit = int(query.get("continue", 0)), min(int(query["limit"]), 2)
        more = {"continue": str(begin + limit)} if begin + limit < len(found) else {}
        return {"kind": "PodList", "apiVersion": "v1", "metadata": more, "items": copy.deepcopy(found[begin : begin + limit])}

    def _evict(self, namespace: str, name: str, body: Json) -> tuple[int, Json]:
        found = next((one for one in self.pods if one["metadata"]["namespace"] == namespace and one["metadata"]["name"] == name), None)
        if found is None:
            return 404, status(404, f'pods "{name}" not found', "NotFound", name=name, kind="pods")
        uid, own = body["deleteOptions"]["preconditions"]["uid"], found["metadata"]["uid"]
        if uid != own:
            words = f"the UID in the precondition ({uid}) does not match the UID in record ({own}). The object might have been deleted and then recreated"
            return 409, status(409, f'Operation cannot be fulfilled on Pod "{name}": {words}', "Conflict")
        budgets = self.budgets.get(name, [])
        if len(budgets) > 1:
            return 500, status(500, SEVERAL)
        if budgets:
            cause = {"reason": "DisruptionBudget", "message": f"The disruption budget {budgets[0]} needs 2 healthy pods and has 2 currently"}
            return 429, status(429, "Cannot evict pod as it would violate the pod's disruption budget.", "TooManyRequests", causes=[cause])
        if "dryRun" in body["deleteOptions"]:
            return 201, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
        if name in self.stays:
            found["metadata"]["deletionTimestamp"] = "2026-11-21T20:15:00Z"
        else:
            self.pods.remove(found)
        return 201, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _answer(self) -> None:
                given = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                    code, found = 401, status(401, "Unauthorized", "Unauthorized")
                else:
                    code, found = api.answer(self.command, self.path, json.loads(given) if given else {})
                text = json.dumps(found).encode()
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_PATCH = do_POST = do_DELETE = do_PUT = _answer

            def log_message(self, *_words: t.Any) -> None:
                pass

        return Handler
