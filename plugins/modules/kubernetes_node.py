#!/usr/bin/python

# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

DOCUMENTATION = r"""
module: kubernetes_node
short_description: (internal) Cordon a node of Kubernetes for an event, evict pods from it, and see what is left
version_added: 2.4.0
author: The maintenance.azure authors (@maintenance-azure)
description:
  - Internal, for drain method C(kubernetes) of role P(maintenance.azure.drain#role), which runs it on the controller. It never waits for a pod.
  - Returns how the node is, and of each pod on it what a drain has to know. Nothing else of a pod leaves the module, as its environment may hold secrets.
  - It connects as the modules of the collection C(kubernetes.core) do, with the same environment variables, such as E(K8S_AUTH_CONTEXT).
requirements: [kubernetes.core, "kubernetes >= 24.2.0"]
options:
  node: {type: str, required: true, description: Name of the node.}
  kubeconfig: {type: path, description: "A kubeconfig file. By default what the modules of C(kubernetes.core) use."}
  context: {type: str, description: "A context of that file. By default its current one."}
  cordon: {type: str, description: "An EventId. A node that takes pods is made unschedulable, and annotated with it, in one request."}
  uncordon: {type: str, description: "An EventId. A node that is annotated with it takes pods again and loses the annotation, in one request."}
  evict: {type: list, elements: dict, default: [], description: "Pods to evict, each with C(namespace), C(name) and C(uid). One with another uid by now stays."}
  grace_period: {type: int, description: Seconds that an evicted pod has to end. By default what the pod says.}
  timeout:
    description: Seconds for each request, with all tries of it and its whole answer. A run of the module takes 30 seconds at most.
    type: float
    default: 10.0
extends_documentation_fragment: [maintenance.azure.attributes, maintenance.azure.attributes.checked]
attributes:
  check_mode:
    support: full
    details: >-
      The API server is asked whether it would do it (C(dryRun)), and so whether it may be done. A dry run of an eviction is about one pod alone.
  diff_mode: {support: full}
  idempotent: {support: full}
"""

EXAMPLES = r"""
- name: Let no new pods come to the node
  maintenance.azure.kubernetes_node: {node: worker1, cordon: C7061BAC-AFDC-4513-B24B-AA5F13A16123}
  delegate_to: localhost
"""

RETURN = r"""
error_kind:
  description: >-
    V(refused) when the API server does not let it, and will not later; V(away) when it does not answer, or not now; V(bad_answer) when the result of
    the host is not a valid result of this module.
  returned: failure
  type: str
evictions:
  description: >-
    What the API server answered for each pod of O(evict). C(code) is that of HTTP, and 0 where it was not asked, for lack of time.
    C(reason) and C(cause) are those of its Status, or empty.
  returned: always
  type: list
  elements: dict
  sample:
    - {namespace: shop, name: web-0, code: 429, reason: TooManyRequests, cause: DisruptionBudget, message: The disruption budget web needs 2 healthy pods}
node:
  description: The node after the changes, null where the cluster has none of this name. C(event) is the EventId of its annotation, or null.
  returned: success
  type: dict
  sample: {name: worker1, unschedulable: true, event: C7061BAC-AFDC-4513-B24B-AA5F13A16123, ready: true}
pods:
  description: The pods on the node after the changes. C(owner) is the kind of their controller, or empty, C(local) whether they have an C(emptyDir).
  returned: success
  type: list
  elements: dict
  sample: [{namespace: shop, name: web-0, uid: 0d1f, owner: StatefulSet, mirror: false, finished: false, local: false, ending: true, ready: true}]
"""

import contextlib
import json
import os
import re
import signal
import sys
import time
import typing as t
from urllib.parse import quote

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._scheduled_events.core.printable_text import printable, shortened
from ..module_utils._scheduled_events.core.types import Data, Values

MISSING = ""
try:
    from ansible_collections.kubernetes.core.plugins.module_utils.k8s.client import get_api_client
except ImportError:
    MISSING = "the controller has no collection kubernetes.core. To install it: ansible-galaxy collection install kubernetes.core"
try:
    from kubernetes.client.exceptions import ApiException
    from urllib3.exceptions import HTTPError, NewConnectionError, SSLError
    from urllib3.exceptions import TimeoutError as HTTPTimeout
    from urllib3.util import Retry
except ImportError:
    MISSING = f"the Python of the controller has no package kubernetes. To install it: {sys.executable} -m pip install 'kubernetes>=24.2'"

ANNOTATION = "maintenance.azure/event"
MIRROR = "kubernetes.io/config.mirror"
MERGE = "application/merge-patch+json"
DRY_RUN = "All"
BUDGET = "DisruptionBudget"
# Pods of one page, and the most that a node is asked for; Kubernetes itself supports 110. And bytes of one answer.
PAGE = 500
MOST_PODS = 5000
LONGEST_ANSWER = 16 * 1024 * 1024
# Seconds after which no further pod is evicted: the rest is for the next look. And asked whether it would be.
EVICTIONS_WITHIN = 20.0
TRIED_WITHIN = 5.0
# Seconds that a run takes at most, however slowly an API server answers: the controller has other VMs to serve.
WITHIN = 30.0
# How often a change is tried that somebody else's change has overtaken, and a request that meets no connection, as the client does by itself.
TRIES = 3
LONGEST_MESSAGE = 300
# What Python quotes of a header that it refuses.
SECRET = re.compile(r"\b(Bearer|Basic)\b")
Json = Data


# Refusals that another time, or another token, may not meet; any other of 400 and more ends it. 403: a server that has just started knows no
# right for some seconds (seen with 1.36.3).
LATER = (401, 403, 408, 409, 429)
HELP = {
    401: ". Give its user a new token or certificate: in the kubeconfig, or as K8S_AUTH_API_KEY",
    403: ". Give its user the rights in docs/drain-methods.md, kubernetes",
}


class ClusterError(Exception):
    """The API server has refused a request, or has not answered it (code 0)."""

    def __init__(self, code: int, message: str, reason: str = "", cause: str = "") -> None:
        super().__init__(f"the API server answers {code}: {message}{HELP.get(code, '')}" if code else f"the API server cannot be asked: {message}")
        self.code = code
        self.message = message
        self.reason = reason
        self.cause = cause

    @property
    def kind(self) -> str:
        """Whether it is so for good."""
        return "refused" if 400 <= self.code < 500 and self.code not in LATER else "away"


class Late(Exception):
    """The time is over. No OSError, which the client would take for a broken connection and try again."""


@contextlib.contextmanager
def at_most(seconds: float) -> t.Iterator[None]:
    """Bound all of what is done here, whatever tries, reads and programs for tokens a library makes of it: its limits begin anew with each of them."""

    def late(*_given: t.Any) -> None:
        raise Late

    before = signal.signal(signal.SIGALRM, late)
    # Again and again: what calls a program for a token goes on after any error.
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.01), 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def error_of(error: Exception, seconds: float) -> ClusterError:
    """Return what a client's error says, in one line."""
    if isinstance(error, ClusterError):
        return error
    if isinstance(error, ApiException) and error.status:
        message, reason, cause = status_of(error.body)
        return ClusterError(int(error.status), shortened(message or str(error.reason), LONGEST_MESSAGE), reason, cause)
    # The last try says why; the error around it has its address.
    last, pool = getattr(error, "reason", None) or error, getattr(error, "pool", None)
    where = f"{pool.host}:{pool.port}" if pool else "it"
    if isinstance(last, SSLError):
        why = getattr(last.args[0] if last.args else None, "verify_message", "") or "no TLS"
        return ClusterError(0, f"the certificate of {where} is not trusted ({why}). Give its CA: in the kubeconfig, or as K8S_AUTH_SSL_CA_CERT")
    if isinstance(last, NewConnectionError):
        why = getattr(last.__cause__, "strerror", None) or "no connection"
        return ClusterError(0, f"{where} is not reachable ({why}). See whether it runs, and whether the kubeconfig or K8S_AUTH_HOST has its address")
    if isinstance(last, (Late, HTTPTimeout)):
        return ClusterError(0, f"no answer within {seconds:g} s. See whether it is overloaded, or a firewall lies between")
    words = str(last).strip().partition("\n")[0]
    if SECRET.search(words):
        return ClusterError(0, "the token of its user cannot be sent: it has a line end, or a character that no header may have. Give it without")
    return ClusterError(0, f"{type(last).__name__}: {words}"[:LONGEST_MESSAGE])


class Cluster:
    """The API server, as a client of kubernetes.core reaches it."""

    def __init__(self, client: t.Any, timeout: float, dry_run: bool, until: float = float("inf")) -> None:
        self._client = client
        self._timeout = timeout
        self._until = until
        self.evictions: list[Json] = []
        """What was answered to them: what has left stays so, whatever the next request meets."""
        self.evict_within = TRIED_WITHIN if dry_run else EVICTIONS_WITHIN
        self._dry = {"dry_run": DRY_RUN} if dry_run else {}

    def ask(self, method: str, path: str, body: Json | None = None, **more: t.Any) -> Json:
        """Return the object in the answer. Raise ClusterError."""
        changes = self._dry if body is not None else {}
        seconds = min(self._timeout, self._until - time.monotonic())
        try:
            with at_most(seconds):
                answer = self._client.request(method, path, body=body, serialize=False, _request_timeout=self._timeout, **changes, **more)
                # A node's kubelet writes pods of its own, as large and as many as it likes, and the controller has other VMs to serve.
                data = answer.read(LONGEST_ANSWER + 1)
            found = json.loads(data) if len(data) <= LONGEST_ANSWER else None
        except (ApiException, HTTPError, OSError, Late) as error:
            raise error_of(error, self._timeout if seconds > 0 else WITHIN)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise ClusterError(0, f"its answer is no object, or larger than {LONGEST_ANSWER} bytes")
        return found

    def node(self, name: str) -> Json | None:
        """Return a node, or None."""
        try:
            return self.ask("GET", f"/api/v1/nodes/{quote(name, safe='')}")
        except ClusterError as error:
            if error.code == 404:
                return None
            raise

    def pods(self, node: str) -> list[Json]:
        """Return what a drain has to know of the pods on a node."""
        found: list[Json] = []
        more: Json = {}
        while len(found) < MOST_PODS:
            page = self.ask("GET", "/api/v1/pods", field_selector=f"spec.nodeName={node}", limit=PAGE, **more)
            found += map(told_pod, page.get("items") or [])
            following = (page.get("metadata") or {}).get("continue")
            if not following:
                return found
            more = {"_continue": following}
        raise ClusterError(0, f"node {node} has more than {MOST_PODS} pods")

    def evict(self, pod: Values, grace_period: int | None) -> Json:
        """Return what became of one eviction: Kubernetes asks the disruption budgets."""
        names = {key: str(pod.get(key) or "") for key in ("namespace", "name")}
        options: Json = {"preconditions": {"uid": str(pod.get("uid") or "")}}
        if grace_period is not None:
            options["gracePeriodSeconds"] = grace_period
        if self._dry:
            options["dryRun"] = [DRY_RUN]
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": names, "deleteOptions": options}
        path = "/api/v1/namespaces/{namespace}/pods/{name}/eviction".format(**{key: quote(value, safe="") for key, value in names.items()})
        try:
            self.ask("POST", path, body)
        except ClusterError as error:
            kinds = {"reason": printable(error.reason, LONGEST_MESSAGE), "cause": printable(error.cause, LONGEST_MESSAGE)}
            return {**names, "code": error.code, **kinds, "message": printable(error.message, LONGEST_MESSAGE)}
        return {**names, "code": 201, "message": ""}


def status_of(body: t.Any) -> tuple[str, str, str]:
    """Return of a Status the words, those of its first cause, which name the budget, or its message; its reason, and the reason of that cause."""
    try:
        status = json.loads(body)
        details = status.get("details") or {}
        cause = (details.get("causes") or [{}])[0]
        # Up to 1.36 a budget that knows no more of its pods has no cause.
        kind = cause.get("reason") or (BUDGET if details.get("kind") == "poddisruptionbudget" else "")
        return str(cause.get("message") or status.get("message") or ""), str(status.get("reason") or ""), str(kind)
    except (TypeError, ValueError, AttributeError, KeyError, IndexError):
        return "", "", ""


def told_node(node: Json | None) -> Json | None:
    """Return what a drain has to know of a node."""
    if node is None:
        return None
    metadata, spec, status = (node.get(key) or {} for key in ("metadata", "spec", "status"))
    return {
        "name": str(metadata.get("name") or ""),
        "unschedulable": spec.get("unschedulable") is True,
        "event": (metadata.get("annotations") or {}).get(ANNOTATION),
        "ready": is_ready(status),
    }


def is_ready(status: Json) -> bool:
    """Return whether a node or a pod is ready."""
    return [one.get("status") for one in status.get("conditions") or [] if one.get("type") == "Ready"] == ["True"]


def told_pod(pod: Json) -> Json:
    """Return what a drain has to know of a pod."""
    metadata, spec, status = (pod.get(key) or {} for key in ("metadata", "spec", "status"))
    owners = [str(one.get("kind") or "") for one in metadata.get("ownerReferences") or [] if one.get("controller") is True]
    return {
        **{key: str(metadata.get(key) or "") for key in ("namespace", "name", "uid")},
        "owner": "".join(owners[:1]),
        "mirror": MIRROR in (metadata.get("annotations") or {}),
        "finished": status.get("phase") in ("Succeeded", "Failed"),
        "local": any("emptyDir" in volume for volume in spec.get("volumes") or []),
        "ending": bool(metadata.get("deletionTimestamp")),
        "ready": is_ready(status),
    }


def patch_for(node: Json, options: Values) -> Json | None:
    """Return the change of a node that the options ask for, or None. It names the version that was read, so that nobody else's change is overwritten."""
    told = told_node(node) or {}
    if options["cordon"] and not told["unschedulable"]:
        event, unschedulable = options["cordon"], True
    elif options["uncordon"] and told["event"] == options["uncordon"]:
        event, unschedulable = None, None
    else:
        return None
    version = (node.get("metadata") or {}).get("resourceVersion")
    return {"metadata": {"annotations": {ANNOTATION: event}, "resourceVersion": version}, "spec": {"unschedulable": unschedulable}}


def change_node(cluster: Cluster, options: Values) -> tuple[Json | None, Json | None]:
    """Change the node where the options ask for it. Return it as it was and as it is."""
    for attempt in range(1, TRIES + 1):
        node = cluster.node(options["node"])
        patch = patch_for(node, options) if node else None
        if patch is None:
            return node, node
        try:
            return node, cluster.ask("PATCH", f"/api/v1/nodes/{quote(options['node'], safe='')}", patch, content_type=MERGE)
        except ClusterError as error:
            if error.code != 409 or attempt == TRIES:
                raise
    return None, None


def work(cluster: Cluster, options: Values, now: t.Callable[[], float] = time.monotonic) -> Json:
    """Change the node, evict, and say how it is then. Raise ClusterError."""
    before, after = (told_node(one) for one in change_node(cluster, options))
    evictions, until = cluster.evictions, now() + cluster.evict_within
    for pod in options["evict"]:
        late = {"namespace": str(pod.get("namespace")), "name": str(pod.get("name")), "code": 0, "message": "not asked for lack of time"}
        evictions.append(cluster.evict(pod, options["grace_period"]) if now() < until else late)
    return {
        "changed": before != after or any(one["code"] == 201 for one in evictions),
        "node": after,
        "pods": cluster.pods(options["node"]) if after else [],
        "evictions": evictions,
        "diff": {"before": before or {}, "after": after or {}},
    }


def arguments() -> dict[str, Data]:
    return {
        "node": {"type": "str", "required": True},
        "kubeconfig": {"type": "path"},
        "context": {"type": "str"},
        "cordon": {"type": "str"},
        "uncordon": {"type": "str"},
        "evict": {"type": "list", "elements": "dict", "default": []},
        "grace_period": {"type": "int"},
        "timeout": {"type": "float", "default": 10.0},
    }


def main() -> None:
    module = AnsibleModule(argument_spec=arguments(), supports_check_mode=True, mutually_exclusive=[("cordon", "uncordon")])
    options, cluster, until = module.params, None, time.monotonic() + WITHIN
    if MISSING:
        module.fail_json(msg=MISSING)
    # Only the address of the settings is asked: a redirect would bring the controller to ask, or to change, whatever the other side names.
    Retry.DEFAULT = Retry(TRIES, redirect=False)
    try:
        if (file := options["kubeconfig"]) and not os.access(file, os.R_OK):
            raise ClusterError(0, f"there is no kubeconfig {file} on the controller, or its user may not read it")
        # It asks what the server has, too.
        with at_most(options["timeout"]):
            client = get_api_client(**{key: options[key] for key in ("kubeconfig", "context") if options[key]}).client
        cluster = Cluster(client, options["timeout"], module.check_mode, until)
        result = work(cluster, options)
    except Exception as error:  # the client's own errors have no common class: a kubeconfig without the context, a token program that fails
        found = error_of(error, options["timeout"])
        module.fail_json(msg=printable(found), error_kind=found.kind, evictions=cluster.evictions if cluster else [])
    module.exit_json(**result)


if __name__ == "__main__":
    main()
