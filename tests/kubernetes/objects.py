# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A part of the cluster for one scene: nodes, a namespace, and what runs there. Its pods run on its nodes alone."""

from __future__ import annotations

import typing as t

from lab.control_plane import ENDS_AFTER, READY_AFTER, ControlPlane, Json, wait_for

BATCH, APPS, POLICY = "/apis/batch/v1", "/apis/apps/v1", "/apis/policy/v1"


class Scene:
    """Its first node is the one that is drained."""

    def __init__(self, plane: ControlPlane, name: str, nodes: int = 2) -> None:
        self.plane, self.name = plane, name
        self.nodes = [name, *(f"{name}-{number}" for number in range(2, nodes + 1))]
        self._space = f"/namespaces/{name}"
        plane.make("/api/v1/namespaces", {"metadata": {"name": name}})
        for node in self.nodes:
            self.add_node(node)
        for node in self.nodes:
            wait_for(lambda node=node: self.ready(node), f"node {node} is not ready")

    def add_node(self, node: str) -> None:
        """Register a node, as its kubelet does."""
        labels = {"lab/scene": self.name, "lab/kubelet": "runs", "kubernetes.io/hostname": node}
        self.plane.make("/api/v1/nodes", {"metadata": {"name": node, "labels": labels, "annotations": {"kwok.x-k8s.io/node": "fake"}}})

    def ready(self, node: str) -> bool:
        """Return whether a node is ready, and takes pods as far as its own controller is concerned."""
        found = self.plane.node(node)
        conditions = {one["type"]: one["status"] for one in found.get("status", {}).get("conditions", [])}
        return conditions.get("Ready") == "True" and not [one for one in found["spec"].get("taints", []) if "not-ready" in one["key"]]

    def template(self, seconds: int = 0, ready: int = 0, **spec: t.Any) -> Json:
        """Return a pod that takes its time to end, and to be ready."""
        annotations = {ENDS_AFTER: f"{seconds}s", READY_AFTER: f"{ready}s"}
        containers = [{"name": "main", "image": "shop:1", "env": [{"name": "PASSWORD", "value": "secret-of-a-pod"}]}]
        whole = {"containers": containers, "nodeSelector": {"lab/scene": self.name}, "tolerations": [{"operator": "Exists", "effect": "NoExecute"}], **spec}
        return {"metadata": {"labels": {"app": "web"}, "annotations": annotations}, "spec": whole}

    def workload(self, kind: str = "Deployment", count: int = 1, name: str = "web", spread: bool = False, **pod: t.Any) -> None:
        """Start a Deployment, StatefulSet, DaemonSet or Job, with its first pods on the node that is drained, or spread over all."""
        template = self.template(**pod)
        if spread:
            by_node = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"}
            template["spec"]["topologySpreadConstraints"] = [{**by_node, "nodeTaintsPolicy": "Honor", "labelSelector": {"matchLabels": {"app": "web"}}}]
        spec: Json = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
        if kind == "Job":
            spec = {"template": {**template, "spec": {**template["spec"], "restartPolicy": "Never"}}, "completions": count, "parallelism": count}
        elif kind != "DaemonSet":
            spec["replicas"] = count
        if kind == "StatefulSet":
            spec.update(serviceName=name, podManagementPolicy="Parallel")
        before = len(self.running())
        self._others(not spread)
        self.plane.make(f"{BATCH if kind == 'Job' else APPS}{self._space}/{kind.lower()}s", {"metadata": {"name": name}, "spec": spec})
        wanted = before + (len(self.nodes) if kind == "DaemonSet" else count)
        wait_for(lambda: len(self.running()) >= wanted, f"{kind} of {self.name} does not run")
        self._others(False)

    def _others(self, cordoned: bool) -> None:
        for node in self.nodes[1:]:
            self.plane.change(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": cordoned or None}})

    def pod(self, name: str, node: str = "", finalizers: t.Sequence[str] = (), annotations: t.Mapping[str, str] | None = None, **pod: t.Any) -> None:
        """Start a pod without a controller, on the first node."""
        whole = self.template(**pod)
        whole["metadata"].update(name=name, finalizers=list(finalizers))
        whole["metadata"]["annotations"].update(annotations or {})
        whole["spec"]["nodeName"] = node or self.nodes[0]
        self.plane.make(f"/api/v1{self._space}/pods", whole)

    def budget(self, name: str = "budget", wait: bool = True, **spec: t.Any) -> None:
        """Make a disruption budget for the pods of app web. Return when its status has been computed."""
        path = f"{POLICY}{self._space}/poddisruptionbudgets"
        self.plane.make(path, {"metadata": {"name": name}, "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec}})
        healthy = len(self.running())
        if wait:
            wait_for(lambda: self._computed(f"{path}/{name}", healthy), f"budget {name} is not computed")

    def _computed(self, path: str, healthy: int) -> bool:
        found = self.plane.ask("GET", path).body
        status = found.get("status", {})
        return bool(status.get("observedGeneration") == found["metadata"]["generation"] and status.get("currentHealthy", -1) >= healthy)

    def let_go(self, name: str = "budget", **spec: t.Any) -> None:
        """Change a budget. Return when its status has been computed."""
        path = f"{POLICY}{self._space}/poddisruptionbudgets/{name}"
        self.plane.change(path, {"spec": spec})
        wait_for(lambda: self._computed(path, 0), f"budget {name} is not computed")

    def path(self, pod: str) -> str:
        """Return where a pod is in the API."""
        return f"/api/v1{self._space}/pods/{pod}"

    def pods(self, node: str = "") -> list[Json]:
        """Return the pods of the scene, or those on one node."""
        found = self.plane.pods(namespace=self.name)
        return [one for one in found if not node or one["spec"].get("nodeName") == node]

    def left(self) -> list[str]:
        """Return the names of the pods on the node that is drained."""
        return sorted(one["metadata"]["name"] for one in self.pods(self.nodes[0]))

    def running(self, node: str = "") -> list[str]:
        """Return the names of pods that are ready and not ending."""
        found = []
        for one in self.pods(node):
            conditions = {item["type"]: item["status"] for item in one["status"].get("conditions", [])}
            if conditions.get("Ready") == "True" and "deletionTimestamp" not in one["metadata"]:
                found.append(one["metadata"]["name"])
        return sorted(found)

    def cordon(self, unschedulable: bool) -> None:
        """A person does it."""
        self.plane.change(f"/api/v1/nodes/{self.nodes[0]}", {"spec": {"unschedulable": unschedulable or None}})

    @property
    def cordoned(self) -> tuple[bool, str | None]:
        """Return whether its first node takes no pods, and the event that it is annotated with."""
        return self.plane.cordoned(self.nodes[0])
