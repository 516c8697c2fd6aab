# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method kubernetes: what is evicted next, and how far it is, from one observation; and what the controller takes from a record."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.kinds.kubernetes import view as kubernetes
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.kinds.kubernetes.kubernetes import Kubernetes
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.kinds.kubernetes.view import View
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.orders.method_orders import undo_orders

EVENT = "C7061BAC-AFDC-4513-B24B-AA5F13A16123"
NODE = {"name": "worker1", "unschedulable": True, "event": EVENT, "ready": True}
FOUND = {"node": "worker1", "unschedulable": False, "ready": True}


def pod(name: str, **more: Any) -> dict[str, Any]:
    plain = {
        "namespace": "shop",
        "uid": f"uid-{name}",
        "owner": "ReplicaSet",
        "mirror": False,
        "finished": False,
        "local": False,
        "ending": False,
        "ready": True,
    }
    return {**plain, "name": name, **more}


def said(name: str, code: int, message: str = "", cause: str = "", reason: str = "Forbidden") -> dict[str, Any]:
    return {"namespace": "shop", "name": name, "code": code, "message": message, "cause": cause, "reason": reason}


def view(*pods: Any, node: Any = None, evictions: Any = (), before: Any = None, asked: str = "worker1", event: str = EVENT, **options: Any) -> View:
    known = NODE if node is None else node
    seen = {"node": known, "pods": list(pods), "evictions": list(evictions), "diff": {"before": known}, "asked": asked, "event_id": event}
    return kubernetes.view([seen], FOUND if before is None else before, options)


def test_what_must_leave_is_what_kubectl_drain_takes() -> None:
    found = view(
        pod("a"), pod("b", ending=True), pod("c", mirror=True, owner="Node"), pod("d", finished=True, owner=""), pod("e", owner="DaemonSet", local=True)
    )
    assert found["to_evict"] == [{"namespace": "shop", "name": "a", "uid": "uid-a"}]
    assert found["checked"] == {"state": "draining", "error": "pods left: 2, ending: shop/a, shop/b", "moved": True}
    assert view(pod("c", mirror=True, owner="Node"))["checked"] == {"state": "drained", "error": None, "moved": True}
    only = view(pod("a"), pod("b", owner=""), cordon_only="yes")
    assert (only["to_evict"], only["refused"], only["checked"]["state"]) == ([], "", "drained")


@pytest.mark.parametrize(
    ("option", "mine"), [("force", {"owner": ""}), ("delete_emptydir_data", {"local": True}), ("ignore_daemonsets", {"owner": "DaemonSet", "local": True})]
)
def test_each_option_keeps_its_pods_or_lets_them_go(option: str, mine: dict[str, Any]) -> None:
    refused = view(pod("a", **mine), pod("b"), **{option: False})
    assert f"shop/a {kubernetes.REASONS[option]} ({option})" in refused["refused"] and "shop/b" not in refused["refused"]
    assert refused["to_evict"] == [] and refused["checked"] == {"state": "failed", "error": refused["refused"]}
    went = view(pod("a", **mine), **{option: True})
    # Those of a DaemonSet are let alone, the others go.
    assert went["refused"] == "" and [one["name"] for one in went["to_evict"]] == ([] if option == "ignore_daemonsets" else ["a"])
    # One that is ending already is nobody's decision any more.
    assert view(pod("a", **{**mine, "ending": True}), **{option: False})["refused"] == ""


def test_nothing_is_evicted_from_a_node_that_takes_pods() -> None:
    found = view(pod("a"), node={**NODE, "unschedulable": False})
    assert (found["to_evict"], found["checked"]) == ([], {"state": "lost", "error": "the node takes pods again"})


@pytest.mark.parametrize(("code", "message", "state", "words"), [
    (201, "", "draining", "ending: shop/a"),
    (404, "gone", "draining", "ending: shop/a"),
    (409, "Precondition failed", "draining", "ending: shop/a"),
    (429, "The disruption budget web needs 2", "draining", "not evicted yet: shop/a (The disruption budget web needs 2)"),
    (0, "timed out", "draining", "not evicted yet: shop/a (timed out)"),
    (500, "etcdserver: request timed out", "draining", "not evicted yet: shop/a"),
    (500, f"This pod has {kubernetes.SEVERAL_BUDGETS}, which", "failed", "not evicted: shop/a: This pod has more"),
    (403, "forbidden", "failed", "not evicted: shop/a: forbidden"),
])  # fmt: skip
def test_each_answer_to_an_eviction(code: int, message: str, state: str, words: str) -> None:
    checked = view(pod("a"), evictions=[said("a", code, message)])["checked"]
    assert checked["state"] == state and words in str(checked["error"])


@pytest.mark.parametrize(("cause", "reason", "state"), [
    ("DisruptionBudget", "Forbidden", "draining"), ("NamespaceTerminating", "Forbidden", "draining"), ("", "TooManyRequests", "draining"),
    ("", "Forbidden", "failed"), ("Another", "Forbidden", "failed"),
])  # fmt: skip
def test_a_403_for_now_is_asked_again_by_its_cause_and_reason(cause: str, reason: str, state: str) -> None:
    # Its words say the opposite.
    words = "DisruptionBudget NamespaceTerminating" if state == "failed" else "never"
    assert view(pod("a"), evictions=[said("a", 403, words, cause, reason)])["checked"]["state"] == state


HELD = "The disruption budget zero needs 1 healthy pods and has 1 currently"


def test_a_preview_says_what_is_held_and_what_helps() -> None:
    cordoned = {**NODE, "unschedulable": False}
    found = view(pod("a"), pod("b", ready=False), node=cordoned)
    assert [one["name"] for one in found["to_try"]] == ["a", "b"] and "of 2 it is not known" in found["would"]
    answers = [said("a", 429, HELD, "DisruptionBudget"), said("b", 429, HELD, "DisruptionBudget")]
    found = view(pod("a"), pod("b", ready=False), pod("c"), node=cordoned, evictions=[*answers, said("c", 201)])
    held = HELD.replace("The", "the")
    assert found["refused"] == "" and found["would"] == (
        f"would cordon node worker1, and evict 3 pods: shop/a, shop/b, shop/c; shop/a is held: {held} ({kubernetes.NO_ROOM}); "
        f"shop/b is held: {held} ({kubernetes.NOT_READY}); each was asked about alone, so together fewer may go at once"
    )
    # A webhook that cannot be asked for nothing, and a broken server, say nothing of the eviction.
    for code in (400, 500, 0):
        found = view(pod("a"), node=cordoned, evictions=[said("a", code, "side effects")])
        assert found["refused"] == "" and found["would"].endswith("and evict 1 pod: shop/a; of 1 it is not known whether they are held")
    refused = view(pod("a"), node=cordoned, evictions=[said("a", 403, "User drain cannot create resource pods/eviction")])["refused"]
    assert refused == f"node worker1: no right to evict shop/a: User drain cannot create resource pods/eviction. {kubernetes.RIGHTS}"


def lost(kind: str = "away", state: str = "begun", **more: Any) -> View:
    seen = {"asked": "worker1", "event_id": EVENT, "msg": "the API server cannot be asked: gone", "error_kind": kind, "state": state, **more}
    return kubernetes.view([seen], {}, {})


def test_an_api_server_that_has_answered_and_does_not_now_is_waited_for() -> None:
    words = "node worker1: the API server cannot be asked: gone"
    assert lost()["checked"] == {"state": "draining", "error": words, "away": 120, "moved": False}
    assert lost(evictions=[said("a", 201)])["checked"]["moved"] is True
    # After a boot, too, where it is found again; before anything is changed it is refused.
    assert lost()["away"] == {"state": "not_yet", "error": words, "away": 120, "moved": False} and lost()["refused"] == ""
    assert lost(state="new")["away"] == {} and lost(state="new")["refused"] == words
    # No right is an answer.
    assert lost("refused")["checked"] == {"state": "failed", "error": words} and lost("refused")["away"] == {}
    judged = Kubernetes().judge(lost()["checked"], "check", {})
    assert judged == {"state": "draining", "error": words, "away": 120}


def test_many_are_counted_and_some_are_named() -> None:
    assert view(*[pod(f"p{number}") for number in range(9)])["checked"]["error"] == (
        "pods left: 9, ending: shop/p0, shop/p1, shop/p2, shop/p3, shop/p4, and 4 more"
    )


@pytest.mark.parametrize(("node", "before", "state", "words"), [
    ({**NODE, "event": None, "unschedulable": False}, FOUND, "undone", None),
    # Somebody else's, who keeps it out.
    ({**NODE, "event": None}, FOUND, "undone", None),
    ({**NODE, "event": EVENT + " and more"}, FOUND, "undone", None),
    (NODE, FOUND, "undoing", "still annotated"),
    ({**NODE, "event": None, "ready": False}, FOUND, "undoing", "not ready yet"),
    ({**NODE, "event": None, "ready": False}, {**FOUND, "ready": False}, "undone", None),
    ({}, FOUND, "undoing", "the cluster has no node worker1"),
])  # fmt: skip
def test_undone_is_what_is_seen(node: Any, before: Any, state: str, words: str | None) -> None:
    undone = view(node=node, before=before)["undone"]
    assert undone["state"] == state and (words or "") in str(undone["error"])


def test_what_is_not_known_is_told_and_nothing_follows() -> None:
    for observed in ([], [{"asked": "worker1", "event_id": EVENT, "msg": "refused"}], [{"asked": "worker1", "event_id": EVENT, "pods": []}], "x", None):
        found = kubernetes.view(observed, {}, {})
        assert (
            found["lost"]
            and found["refused"]
            and found["to_evict"] == []
            and found["checked"]["state"] in ("failed", "draining")
            and found["undone"]["state"] == "undoing"
        )
    assert "cannot be the name of a node" in view(asked="Worker1")["lost"] and "cannot be the name of a node" in view(asked="a/../b")["lost"]
    assert "unusual form" in view(event="two words")["refused"]


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from([EVENT, "worker1"])
    | st.just(5000).map(lambda digits: 10**digits),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", *NODE, *pod("x"), *said("x", 1), "before"]), inner, max_size=4),
    max_leaves=12,
)
KEYS = ("node", "pods", "evictions", "diff", "asked", "event_id", "msg")


@given(st.dictionaries(st.sampled_from(KEYS), JUNK) | JUNK, JUNK, JUNK)
def test_no_answer_breaks_it_and_each_line_can_be_printed(seen: Any, before: Any, options: Any) -> None:
    found = kubernetes.view([seen], before, options)
    assert found["checked"]["state"] in ("drained", "draining", "lost", "failed") and found["undone"]["state"] in ("undone", "undoing")
    for words in (found["lost"], found["refused"], found["checked"]["error"] or "", found["undone"]["error"] or ""):
        assert words.isprintable()
    # Drained only where the answer has pods, and says of the node that no new ones come.
    if found["checked"]["state"] == "drained":
        assert "pods" in seen and seen["node"]["unschedulable"] not in (False, None)


@given(JUNK | st.dictionaries(st.sampled_from(["node", "unschedulable", "ready", "x"]), JUNK))
def test_of_a_record_only_a_node_of_the_settings_is_taken(before: Any) -> None:
    kind = Kubernetes()
    assert kind.used(before, {"node": "other"}, "web1") == {}
    parts = kind.parts(before)
    assert parts is None or (parts[0].finding == kind.used(before, {"node": parts[0].name}, "web1") == kind.for_replica(before))
    assert kind.by_hand(before if isinstance(before, dict) else {}, {}, [])


def test_how_a_person_undoes_it() -> None:
    kind, targets = Kubernetes(), [{"node": "worker1"}]
    assert kind.by_hand(FOUND, {}, targets) == "kubectl uncordon worker1, then kubectl annotate node worker1 maintenance.azure/event-"
    assert kind.by_hand({**FOUND, "unschedulable": True}, {}, targets).startswith("nothing to do")
    assert kind.by_hand(FOUND, {}, [{"node": "worker2"}]).startswith("the record names what the host's variables do not give it")


def test_copies_give_back_the_node_that_the_settings_name() -> None:
    kind = Kubernetes()
    assert kind.target({}, "worker1", False) == {"node": "worker1"} and kind.target({"node": "x"}, "worker1", True) == {}
    copies = [{**FOUND, "unschedulable": True}, {**FOUND, "node": "worker2"}, FOUND, "junk"]
    # One that says that nothing has to come back wins over none.
    assert kind.agreed(copies, [{"node": "worker1"}]) == (FOUND, [])
    assert kind.agreed(copies, [{"node": "worker3"}]) == (None, [])


def test_the_undo_goes_to_the_node_of_the_settings_alone() -> None:
    one = {
        "id": "1-kubernetes",
        "method": "kubernetes",
        "state": "drained",
        "before": FOUND,
        "options": {},
        "outside": True,
        "at": None,
        "boot_id": None,
        "error": None,
    }

    def orders(*methods: Any, former: Any = ()) -> Any:
        return undo_orders({"methods": [one]}, list(methods), list(former), "web1", "linux")

    (order,) = orders({"method": "kubernetes", "node": "worker1"})
    assert (order["runs"], order["given"]["node"], order["report"]) == (True, "worker1", None)
    for methods in (({"method": "kubernetes", "node": "worker2"},), ()):
        (order,) = orders(*methods)
        assert not order["runs"] and "node worker1 took pods before the drain" in order["report"]
    (order,) = orders(former=[{"name": "1-kubernetes", "method": "kubernetes", "by_hand": True}])
    assert (order["runs"], order["report"]) == (False, None)
