# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Module kubernetes_node: what it asks of the API server, and what of a node and its pods it tells. tests/playbooks/drain/test_kubernetes.py has the client."""

from __future__ import annotations

import contextlib
import io
import signal
import time
from typing import Any

import pytest
import yaml

from ansible_collections.maintenance.azure.plugins.modules import kubernetes_node as module
from ansible_collections.maintenance.azure.plugins.modules.kubernetes_node import Cluster, ClusterError, patch_for, status_of, told_node, told_pod, work

EVENT = "C7061BAC-AFDC-4513-B24B-AA5F13A16123"
OPTIONS: dict[str, Any] = {"node": "worker1", "cordon": None, "uncordon": None, "evict": [], "grace_period": None}


def node(unschedulable: Any = None, event: str | None = None, version: str = "7") -> dict[str, Any]:
    annotations = {} if event is None else {"annotations": {module.ANNOTATION: event}}
    return {
        "metadata": {"name": "worker1", "resourceVersion": version, **annotations},
        "spec": {} if unschedulable is None else {"unschedulable": unschedulable},
    }


class Played(Cluster):
    """A cluster whose answers are listed; one that is an error is raised."""

    def __init__(self, *answers: Any) -> None:
        super().__init__(None, 1.0, False)
        self.answers, self.asked = list(answers), []  # type: ignore[var-annotated]

    def ask(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        self.asked.append((method, path, body, more))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


NO_PODS: dict[str, Any] = {"items": []}


@pytest.mark.parametrize(("is_now", "asked", "patch"), [
    (node(), {"cordon": EVENT}, (EVENT, True)),
    (node(False, "another"), {"cordon": EVENT}, (EVENT, True)),
    (node(True), {"cordon": EVENT}, None),
    (node(True, EVENT), {"cordon": EVENT}, None),
    (node(True, EVENT), {"uncordon": EVENT}, (None, None)),
    (node(None, EVENT), {"uncordon": EVENT}, (None, None)),
    (node(True), {"uncordon": EVENT}, None),
    (node(True, EVENT + "-1"), {"uncordon": EVENT}, None),
    (node(True, EVENT), {}, None),
])  # fmt: skip
def test_one_request_changes_state_and_annotation_and_only_where_it_is_ours(is_now: Any, asked: Any, patch: Any) -> None:
    found = patch_for(is_now, {**OPTIONS, **asked})
    if patch is None:
        assert found is None
    else:
        event, unschedulable = patch
        metadata = {"annotations": {module.ANNOTATION: event}, "resourceVersion": "7"}
        assert found == {"metadata": metadata, "spec": {"unschedulable": unschedulable}}


def test_a_change_that_was_overtaken_is_decided_anew() -> None:
    conflict = ClusterError(409, "modified")
    cluster = Played(node(), conflict, node(True, version="8"), NO_PODS)
    result = work(cluster, {**OPTIONS, "cordon": EVENT})
    assert result["changed"] is False and result["node"]["event"] is None, "a person was quicker: theirs"
    busy = Played(*[node(), conflict] * module.TRIES)
    with pytest.raises(ClusterError, match="409"):
        work(busy, {**OPTIONS, "cordon": EVENT})
    assert busy.answers == []


def test_a_node_that_is_not_there_is_no_failure_and_has_no_pods() -> None:
    assert work(Played(ClusterError(404, "not found")), {**OPTIONS, "uncordon": EVENT}) == {
        "changed": False, "node": None, "pods": [], "evictions": [], "diff": {"before": {}, "after": {}},
    }  # fmt: skip
    with pytest.raises(ClusterError):
        work(Played(ClusterError(503, "unavailable")), OPTIONS)


def test_evictions_end_in_time_and_name_the_pod_s_uid() -> None:
    pods = [{"namespace": "shop", "name": f"web-{number}", "uid": f"u{number}"} for number in range(3)]
    clock = iter([0.0, 1.0, 2.0, module.EVICTIONS_WITHIN])
    cluster = Played(node(True), {}, ClusterError(429, "held"), NO_PODS)
    result = work(cluster, {**OPTIONS, "evict": pods, "grace_period": 0}, lambda: next(clock))
    assert [one["code"] for one in result["evictions"]] == [201, 429, 0] and result["changed"] is True
    method, path, body, _more = cluster.asked[1]
    assert (method, path) == ("POST", "/api/v1/namespaces/shop/pods/web-0/eviction")
    assert body["deleteOptions"] == {"preconditions": {"uid": "u0"}, "gracePeriodSeconds": 0}


def test_names_do_not_leave_their_place_in_a_path() -> None:
    cluster = Played(node(), {}, NO_PODS)
    work(cluster, {**OPTIONS, "evict": [{"namespace": "a/../b", "name": "x?y", "uid": "u"}]})
    assert cluster.asked[1][1] == "/api/v1/namespaces/a%2F..%2Fb/pods/x%3Fy/eviction"


def test_all_pages_are_read_up_to_a_limit() -> None:
    page = {"metadata": {"continue": "next"}, "items": [{}] * module.PAGE}
    cluster = Played(node(), page, {"items": [{}]})
    assert len(work(cluster, OPTIONS)["pods"]) == module.PAGE + 1 and cluster.asked[2][3]["_continue"] == "next"
    with pytest.raises(ClusterError, match="more than 5000 pods"):
        Played(*[page] * (module.MOST_PODS // module.PAGE)).pods("worker1")


@pytest.mark.parametrize(("more", "words"), [(0, ""), (1, "is no object, or larger than 16777216 bytes")])
def test_an_answer_has_a_limit(more: int, words: str) -> None:
    class Client:
        def request(self, *_given: Any, **_options: Any) -> Any:
            return io.BytesIO(b'{"items": "%s"}' % (b"x" * (module.LONGEST_ANSWER - 13 + more)) + b"never read" * more)

    cluster = Cluster(Client(), 1.0, False)
    with pytest.raises(ClusterError, match=words) if more else contextlib.nullcontext():
        assert len(cluster.ask("GET", "/api/v1/pods")["items"]) == module.LONGEST_ANSWER - 13


def test_what_is_told_of_a_pod_has_no_environment() -> None:
    secret = {"containers": [{"env": [{"name": "PASSWORD", "value": "hidden"}]}], "volumes": [{"name": "a", "emptyDir": {}}]}
    owners = [{"kind": "Foreign"}, {"kind": "StatefulSet", "controller": True}]
    metadata = {"namespace": "shop", "name": "web-0", "uid": "u", "ownerReferences": owners, "deletionTimestamp": "now", "annotations": {module.MIRROR: "x"}}
    assert told_pod({"metadata": metadata, "spec": secret, "status": {"phase": "Failed"}}) == {
        "namespace": "shop", "name": "web-0", "uid": "u", "owner": "StatefulSet", "mirror": True, "finished": True, "local": True, "ending": True,
        "ready": False,
    }  # fmt: skip
    assert told_pod({}) == {
        "namespace": "", "name": "", "uid": "", "owner": "", "mirror": False, "finished": False, "local": False, "ending": False,
        "ready": False,
    }  # fmt: skip
    conditions = [{"type": "DiskPressure", "status": "True"}, {"type": "Ready", "status": "Unknown"}]
    assert told_node({"status": {"conditions": conditions}}) == {"name": "", "unschedulable": False, "event": None, "ready": False}


@pytest.mark.parametrize(("body", "told"), [
    ('{"message": "Cannot evict", "reason": "TooManyRequests", "details": {"causes": [{"reason": "DisruptionBudget", "message": "The budget web"}]}}',
     ("The budget web", "TooManyRequests", "DisruptionBudget")),
    ('{"message": "This pod has more than one", "code": 500}', ("This pod has more than one", "", "")),
    ('{"message": "DisruptedPods map too big", "reason": "Forbidden", "details": {"group": "policy", "kind": "poddisruptionbudget", "name": "web"}}',
     ("DisruptedPods map too big", "Forbidden", "DisruptionBudget")),
    ('{"details": null}', ("", "", "")), ('{"details": {"causes": ["x"]}}', ("", "", "")), ("[]", ("", "", "")), ("<html>", ("", "", "")), (None, ("", "", "")),
])  # fmt: skip
def test_words_reason_and_cause_of_a_refusal(body: Any, told: tuple[str, str, str]) -> None:
    assert status_of(body) == told


@pytest.mark.parametrize(("code", "kind"), [(0, "away"), (401, "away"), (403, "refused"), (404, "refused"), (409, "away"), (429, "away"), (500, "away")])
def test_what_another_time_may_not_meet_is_no_refusal(code: int, kind: str) -> None:
    assert ClusterError(code, "no").kind == kind


def test_a_time_limit_holds_for_what_goes_on_after_an_error() -> None:
    """A program for a token is waited for by code that logs any error and goes on."""
    begun, late = time.monotonic(), 0
    with pytest.raises(module.Late), module.at_most(0.05):  # noqa: PT012  what goes on is the case
        try:
            time.sleep(30)
        except module.Late:
            late += 1
        time.sleep(30)
    assert late == 1 and time.monotonic() - begun < 10
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_what_has_left_is_told_although_the_next_request_fails() -> None:
    cluster = Played(node(True), {}, ClusterError(0, "gone"))
    with pytest.raises(ClusterError):
        work(cluster, {**OPTIONS, "evict": [{"namespace": "shop", "name": "web-0", "uid": "u"}]})
    assert [one["code"] for one in cluster.evictions] == [201]


def test_options_are_those_of_the_documentation() -> None:
    documented = yaml.safe_load(module.DOCUMENTATION)["options"]
    assert {key: (value["type"], value.get("default"), value.get("required", False)) for key, value in documented.items()} == {
        key: (value["type"], value.get("default"), value.get("required", False)) for key, value in module.arguments().items()
    }
