# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real control plane of Kubernetes on loopback, without root: etcd, kube-apiserver, kube-controller-manager, kube-scheduler. Its kubelets are played by kwok.

The programs are those that tests/kubernetes/build.py has built.
"""

from __future__ import annotations

import json
import os
import pathlib
import secrets
import signal
import subprocess
import threading
import time
import typing as t

import requests
import yaml

from lab.haproxy import free_ports
from lab.simulator import ROOT

Json = dict[str, t.Any]
FOLDER = ROOT / ".build" / "kubernetes"
PAGE = ROOT / "docs" / "drain-methods.md"
MERGE = "application/merge-patch+json"
WAIT = 60.0
STAGES = ("node/fast/node-initialize.yaml", "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml")
READY = "pod/fast/pod-ready.yaml"
# No pod completes by itself: one of a Job runs until it is evicted.
# How long a pod takes to end, as an annotation of it says; kwok's own stages know that with a random part alone.
ENDS_AFTER, READY_AFTER = "lab/ends-after", "lab/ready-after"


def _after(annotation: str) -> Json:
    return {"durationMilliseconds": 0, "durationFrom": {"expressionFrom": f'.metadata.annotations["{annotation}"]'}}


END = {
    "apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": "pod-delete"},
    "spec": {
        "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
        "selector": {"matchExpressions": [
            {"key": ".metadata.deletionTimestamp", "operator": "Exists"}, {"key": ".metadata.finalizers", "operator": "DoesNotExist"},
        ]},
        "delay": _after(ENDS_AFTER),
        "next": {"delete": True},
    },
}  # fmt: skip
# The user of the page, and one that lacks each of its rules in turn.
USERS = ("drain", "no-nodes", "no-pods", "no-evictions")


def wait_for(condition: t.Callable[[], t.Any], words: str, seconds: float = WAIT) -> None:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"after {seconds} s {words}")
        time.sleep(0.1)


def page_role() -> Json:
    """The ClusterRole that the page of drain methods shows."""
    blocks = PAGE.read_text().split("```yaml\n")[1:]
    (found,) = [one for block in blocks for one in yaml.safe_load_all(block.partition("```")[0]) if isinstance(one, dict) and one.get("kind") == "ClusterRole"]
    return dict(found)


class Answer(t.NamedTuple):
    """What the API server answers."""

    code: int
    body: Json
    headers: t.Mapping[str, str]


class ControlPlane:
    """One cluster. ``bare``: its API server alone, which has nodes and no life."""

    def __init__(self, folder: pathlib.Path, bare: bool = False) -> None:
        self.folder, self._processes = folder, dict[str, subprocess.Popen[bytes]]()
        folder.mkdir(parents=True)
        self._etcd, peer, self._port, *ports = free_ports(6)
        self.address = f"https://127.0.0.1:{self._port}"
        self._tokens = {name: secrets.token_hex(16) for name in ("admin", *USERS)}
        groups = {"admin": ',"system:masters"'}
        (folder / "tokens.csv").write_text("".join(f"{token},{name},{name}{groups.get(name, '')}\n" for name, token in self._tokens.items()))
        subprocess.run(["openssl", "genrsa", "-out", str(folder / "accounts.key"), "2048"], check=True, capture_output=True)
        self._session = requests.Session()
        self._session.trust_env = False
        store, members = f"http://127.0.0.1:{self._etcd}", f"http://127.0.0.1:{peer}"
        self._start(
            "etcd", "--data-dir", str(folder / "etcd"), "--unsafe-no-fsync", "--log-level", "error", "--listen-client-urls", store,
            "--advertise-client-urls", store, "--listen-peer-urls", members, "--initial-advertise-peer-urls", members,
            "--initial-cluster", f"default={members}",
        )  # fmt: skip
        try:
            self.start_server()
            if not bare:
                self._give_rights()
                self._start_the_rest(*ports)
        except BaseException:
            self.close()
            raise

    def _start(self, program: str, *arguments: str) -> None:
        with (self.folder / f"{program}.log").open("ab") as log:
            self._processes[program] = subprocess.Popen(
                [str(FOLDER / "bin" / program), *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    # The API server, and what can happen to it.

    def start_server(self) -> None:
        """Start the API server. Return when it is ready."""
        key = str(self.folder / "accounts.key")
        self._start(
            "kube-apiserver", f"--etcd-servers=http://127.0.0.1:{self._etcd}", f"--secure-port={self._port}", "--bind-address=127.0.0.1",
            f"--cert-dir={self.folder}/certificates", f"--token-auth-file={self.folder}/tokens.csv", "--authorization-mode=RBAC",
            "--service-account-issuer=https://lab.invalid", f"--service-account-signing-key-file={key}", f"--service-account-key-file={key}",
            "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.0.0.0/24", "--disable-admission-plugins=ServiceAccount",
        )  # fmt: skip
        wait_for(self.ready, f"the API server is not ready: {self.folder}/kube-apiserver.log")

    def ready(self) -> bool:
        """Return whether the API server says that it is."""
        assert self._processes["kube-apiserver"].poll() is None, f"the API server has ended: {self.folder}/kube-apiserver.log"
        try:
            return self.ask("GET", "/readyz", timeout=2).code == 200
        except OSError:
            # Not there yet, or its certificate is not.
            return False

    def kill_server(self) -> None:
        """End the API server at once."""
        self._processes["kube-apiserver"].kill()
        self._processes.pop("kube-apiserver").wait()

    @property
    def authority(self) -> pathlib.Path:
        """The certificate that the API server has signed for itself."""
        return self.folder / "certificates" / "apiserver.crt"

    def signal(self, program: str, number: signal.Signals) -> None:
        """Freeze a program (SIGSTOP), or let it go on (SIGCONT)."""
        self._processes[program].send_signal(number)

    def _give_rights(self) -> None:
        role = page_role()
        for name in USERS:
            rules = [rule for rule in role["rules"] if not _about(rule, name)]
            found = {**role, "metadata": {"name": name}, "rules": rules}
            assert name == "drain" or len(rules) < len(role["rules"]), f"the page's ClusterRole has no rule that {name} could lack"
            self.make("/apis/rbac.authorization.k8s.io/v1/clusterroles", found)
            self.bind(name, {"kind": "User", "name": name, "apiGroup": "rbac.authorization.k8s.io"}, name)

    def bind(self, name: str, subject: Json, role: str) -> None:
        """Give somebody the rights of a ClusterRole."""
        given = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
        self.make("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {"metadata": {"name": name}, "roleRef": given, "subjects": [subject]})

    def _start_the_rest(self, *ports: int) -> None:
        config = str(self.kubeconfig(self.folder / "admin.conf", "admin"))
        ready = yaml.safe_load((FOLDER / "stage" / READY).read_text())
        ready["spec"]["delay"] = _after(READY_AFTER)
        stages = [*((FOLDER / "stage" / name).read_text() for name in STAGES), yaml.safe_dump(ready), yaml.safe_dump(END)]
        (self.folder / "stages.yaml").write_text("\n---\n".join(stages))
        self._start(
            "kube-controller-manager", f"--kubeconfig={config}", "--leader-elect=false", f"--secure-port={ports[0]}", "--bind-address=127.0.0.1",
            f"--cert-dir={self.folder}/controllers", "--kube-api-qps=200", "--kube-api-burst=400",
        )  # fmt: skip
        self._start(
            "kube-scheduler", f"--kubeconfig={config}", "--leader-elect=false", f"--secure-port={ports[1]}", "--bind-address=127.0.0.1",
            f"--cert-dir={self.folder}/scheduler", "--kube-api-qps=200", "--kube-api-burst=400",
        )  # fmt: skip
        self._start(
            "kwok", f"--kubeconfig={config}", f"--config={self.folder}/stages.yaml", "--manage-all-nodes=false",
            "--manage-nodes-with-label-selector=lab/kubelet=runs", "--node-lease-duration-seconds=40", f"--server-address=127.0.0.1:{ports[2]}",
        )  # fmt: skip
        wait_for(lambda: self.ask("GET", "/api/v1/namespaces/default").code == 200, "there is no namespace default")

    # What is asked of it.

    def ask(self, method: str, path: str, body: t.Any = None, user: str = "admin", timeout: float = 30, kind: str = "application/json") -> Answer:
        """Return what the API server answers to one request."""
        headers = {"Authorization": f"Bearer {self._tokens[user]}", "Content-Type": kind}
        data = None if body is None else json.dumps(body)
        found = self._session.request(method, self.address + path, data=data, headers=headers, timeout=timeout, verify=str(self.authority))
        parsed = found.json() if "json" in found.headers.get("Content-Type", "") else {"text": found.text}
        return Answer(found.status_code, parsed, found.headers)

    def make(self, path: str, body: Json) -> Json:
        """Make an object."""
        found = self.ask("POST", path, body)
        assert found.code in (200, 201), (path, found)
        return found.body

    def change(self, path: str, body: Json) -> Json:
        """Change an object by a merge patch."""
        found = self.ask("PATCH", path, body, kind=MERGE)
        assert found.code == 200, (path, found)
        return found.body

    def remove(self, path: str, **options: t.Any) -> None:
        """Remove an object."""
        found = self.ask("DELETE", path, options or None)
        assert found.code in (200, 202), (path, found)

    def node(self, name: str) -> Json:
        """Return a node, {} if there is none."""
        found = self.ask("GET", f"/api/v1/nodes/{name}")
        return found.body if found.code == 200 else {}

    def cordoned(self, name: str) -> tuple[bool, str | None]:
        """Return whether a node takes no pods, and the event that it is annotated with."""
        node = self.node(name)
        return node["spec"].get("unschedulable") is True, node["metadata"].get("annotations", {}).get("maintenance.azure/event")

    def pods(self, **selected: str) -> list[Json]:
        """Return pods, by namespace or node."""
        place = f"/api/v1/namespaces/{selected['namespace']}/pods" if "namespace" in selected else "/api/v1/pods"
        query = f"?fieldSelector=spec.nodeName={selected['node']}" if "node" in selected else ""
        return list(self.ask("GET", place + query).body["items"])

    def token(self, user: str) -> str:
        """Return the token of a user."""
        return self._tokens[user]

    def kubeconfig(self, path: pathlib.Path, user: str = "drain", token: str = "", current: str = "lab", trusted: bool = True) -> pathlib.Path:
        """Write a kubeconfig with two contexts, of which one leads nowhere."""
        authority = {"certificate-authority": str(self.authority)} if trusted else {}
        clusters = [{"name": "lab", "cluster": {"server": self.address, **authority}}, {"name": "gone", "cluster": {"server": "https://127.0.0.1:9"}}]
        contexts = [{"name": name, "context": {"cluster": name, "user": user}} for name in ("lab", "gone")]
        users = [{"name": user, "user": {"token": token or self._tokens[user]}}]
        whole = {"apiVersion": "v1", "kind": "Config", "clusters": clusters, "contexts": contexts, "users": users, "current-context": current}
        path.write_text(json.dumps(whole))
        return path

    def kubectl(self, *arguments: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Run kubectl of the same version as an administrator."""
        command = [str(FOLDER / "bin" / "kubectl"), "--kubeconfig", str(self.folder / "admin.conf"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, env={**os.environ, "HOME": str(self.folder)})

    def close(self) -> None:
        for process in reversed(self._processes.values()):
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()


def _about(rule: Json, name: str) -> bool:
    """Return whether a rule is the one that a user lacks."""
    return {"no-nodes": "nodes", "no-pods": "pods", "no-evictions": "pods/eviction"}.get(name) in rule["resources"]


class Sampler:
    """Looks at something again and again, beside a test. A look that the API server does not answer is left out."""

    def __init__(self, look: t.Callable[[], t.Any], every: float = 1.0) -> None:
        self.seen: list[t.Any] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample, args=(look, every), daemon=True)

    def _sample(self, look: t.Callable[[], t.Any], every: float) -> None:
        while not self._ended.wait(every):
            try:
                self.seen.append(look())
            except (OSError, KeyError):
                continue

    def __enter__(self) -> Sampler:
        self._thread.start()
        return self

    def __exit__(self, *_error: t.Any) -> None:
        self._ended.set()
        self._thread.join(60)
