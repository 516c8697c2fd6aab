# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What maintenance_act takes of a plan, and what is left to tasks: nothing but the engine's own methods ever goes to a VM."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.orders import drain_order, undo_order
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.registry import methods_of
from ansible_collections.maintenance.azure.plugins.plugin_utils._core import modules
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.orders.vm_actions import ALWAYS, needs_failover, split
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.act import stages
from ansible_collections.maintenance.azure.tests.unit.plugins import builders

NOW = "2026-11-21T20:00:00.5+00:00"
EVENT = {"event_id": "E1", "event_type": "Reboot"}
SERVICE = {"method": "service", "names": ["nginx"]}


ITERATION = "run1 iteration 0"


def vm(*methods: Any, records: Any = (), former: Any = (), system: str = "linux") -> Any:
    known = {"records": list(records), "methods": list(methods), "former": list(former), "folders": [], "places": [], "iteration": ITERATION}
    return {"host": "web1", "system": system, "now": NOW, **known}


def drain(**keys: Any) -> dict[str, Any]:
    return {"action": "drain", "event_id": "E1", "event": EVENT, "lease": {"run": "run1"}, "rule": {"name": "r"}, "verify": None, "deadline": None, **keys}


def recorded(*methods: dict[str, Any], phase: str = "drained", event_id: str = "E1") -> dict[str, Any]:
    entries = [builders.method(one["method"], **{"id": f"{place}-{one['method']}", **one}) for place, one in enumerate(methods, 1)]
    return builders.record(phase, *entries, event={**EVENT, "event_id": event_id})


def test_a_drain_of_the_engines_methods_goes_to_the_vm() -> None:
    taken = split([drain()], vm(SERVICE, {"method": "none"}))
    (one,) = taken["on_vm"]
    assert taken["by_tasks"] == []
    assert [(step["id"], step["kind"], step["given"]) for step in one["methods"]] == [("1-service", "service", {"names": ["nginx"]}), ("2-none", "none", {})]
    assert (one["late"], one["deadline"], one["lease"], one["rule"], one["event"]) == (False, None, {"run": "run1"}, {"name": "r"}, EVENT)
    order = drain_order(one)
    assert (order.complete, order.stop_at_finding, order.problem, order.methods[0].by_record) == (True, False, None, True)


@pytest.mark.parametrize(
    ("deadline", "late"),
    [
        ("2026-11-21T19:59:59Z", True),
        ("2026-11-21T20:00:00Z", False),
        ("2026-11-21T20:00:00.1+00:00", False),
        ("2026-11-22", False),
        ("", False),
        (None, False),
    ],
)
def test_whether_it_is_late_says_the_controllers_clock(deadline: Any, late: bool) -> None:
    (one,) = split([drain(deadline=deadline)], vm(SERVICE))["on_vm"]
    assert one["late"] is late


@pytest.mark.parametrize(
    "methods",
    [
        [SERVICE, {"method": "haproxy", "balancers": ["lb1"]}],
        [{"method": "tasks", "begin": "b", "check": "c", "undo": "u"}],
        [{"method": "own"}],
        [{**SERVICE, "outside": True}],
        [{"method": "service"}],  # wrong: role drain says what
        [],
        [SERVICE, SERVICE, "x"],
    ],
)
def test_what_acts_elsewhere_or_is_wrong_is_left_to_tasks(methods: Any) -> None:
    given = drain()
    assert split([given], vm(*methods)) == {"iteration": ITERATION, "on_vm": [], "by_tasks": [given]}


def test_a_vm_that_is_drained_is_checked_as_it_is_recorded_whatever_the_settings_say_now() -> None:
    record = recorded({"method": "command", "options": {"begin": "x"}})
    (one,) = split([drain()], vm({"method": "service"}, records=[record]))["on_vm"]
    assert [(step["kind"], step["where"]) for step in one["methods"]] == [("command", "own")]


def test_a_drain_whose_record_acts_outside_is_left_to_tasks() -> None:
    for method in ({"method": "haproxy", "outside": True}, {"method": "service", "outside": True}):
        assert split([drain()], vm(SERVICE, records=[recorded(method)]))["on_vm"] == []
        assert split([drain()], vm(SERVICE, records=[recorded(method, phase="failed")]))["on_vm"] == []


@pytest.mark.parametrize(("act", "keeps"), [("undo", True), ("recover", False)])
def test_an_undo_is_made_of_the_record_last_method_first(act: str, keeps: bool) -> None:
    record = recorded({"method": "service", "options": {"names": ["a"]}}, {"method": "none"}, {"method": "command", "state": "undone"})
    (one,) = split([{"action": act, "event_id": "E1", "lease": None}], vm(records=[record]))["on_vm"]
    assert ([step["id"] for step in one["methods"]], one["keep_phase"], one["reports"]) == (["2-none", "1-service"], keeps, [])
    assert undo_order(one).complete and one["event"] == EVENT


@pytest.mark.parametrize(
    ("kind", "entry", "system"),
    [
        ("tasks", {"method": "tasks", "undo": "u"}, "linux"),
        ("own", {"method": "own"}, "linux"),
        ("wsfc", {"method": "wsfc"}, "linux"),
    ],
)
def test_an_undo_that_the_engine_cannot_run_is_left_to_tasks_as_a_whole(kind: str, entry: Any, system: str) -> None:
    record = recorded({"method": "none"}, {"method": kind, "outside": False, "options": {"names": ["nginx"]}})
    given = {"action": "recover", "event_id": "E1", "lease": None}
    assert split([given], vm({"method": "none"}, entry, records=[record], system=system)) == {"iteration": ITERATION, "on_vm": [], "by_tasks": [given]}


GROUPS = {"availability_groups": ["Orders"], "replicas": {"SQL2": "sql2"}}


@pytest.mark.parametrize("phase", ["drained", "draining"])
def test_on_windows_a_drain_of_a_cluster_node_goes_to_the_vm_unless_another_host_may_have_to_act_first(phase: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modules, "is_installed", lambda name: True)
    record = recorded({"method": "wsfc", "options": GROUPS}, phase=phase)
    # What the record says makes nothing happen on another host.
    (one,) = split([drain()], vm({"method": "wsfc"}, records=[record], system="windows"))["on_vm"]
    assert drain_order(one).methods[0].override == {"replicas": {}, "availability_groups": []}
    assert split([drain()], vm({"method": "wsfc", **GROUPS}, records=[record], system="windows"))["on_vm"] == []
    (one,) = split([{"action": "recover", "event_id": "E1", "lease": None}], vm({"method": "wsfc", **GROUPS}, records=[record], system="windows"))["on_vm"]
    assert undo_order(one).methods[0].override == {"replicas": {}}
    (one,) = split([drain()], vm(SERVICE, {"method": "iis", "sites": ["Shop"]}, system="windows"))["on_vm"]
    assert [step["kind"] for step in one["methods"]] == ["service", "iis"]


def test_without_a_modules_collection_nothing_of_the_drain_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modules, "is_installed", lambda name: name != "microsoft.iis.web_app_pool")
    # Role drain says what is missing.
    taken = split([drain()], vm(SERVICE, {"method": "iis", "sites": ["Shop"]}, system="windows"))
    assert (taken["on_vm"], [action["action"] for action in taken["by_tasks"]]) == ([], ["drain"])


def test_ids_compare_without_case() -> None:
    record = recorded({"method": "none"}, event_id="e1 ")
    (one,) = split([{"action": "recover", "event_id": "E1", "lease": None}], vm(records=[record]))["on_vm"]
    assert [step["id"] for step in one["methods"]] == ["1-none"]


def test_an_undo_without_a_record_is_left_to_tasks() -> None:
    given = {"action": "recover", "event_id": "E1", "lease": None}
    assert split([given], vm(SERVICE, records=[recorded({"method": "none"}, event_id="E2")])) == {"iteration": ITERATION, "on_vm": [], "by_tasks": [given]}


def test_actions_keep_the_order_of_the_plan() -> None:
    acts = ["acquire", "say", "approve", "recover", "drain", "replicate", "prune"]
    taken = split([{**drain(), "action": act} for act in acts], vm(SERVICE, records=[recorded({"method": "none"})]))
    assert [one["action"] for one in taken["on_vm"]] == ["acquire", "approve", "recover", "drain", "prune"]
    assert [one["action"] for one in taken["by_tasks"]] == ["say", "replicate"]


def test_what_is_empty_is_left_out_and_nothing_is_changed_in_place() -> None:
    given = {"action": "acquire", "event_id": "E1", "lease": {"run": "run1"}, "expired": None}
    assert split([given], vm())["on_vm"] == [{"action": "acquire", "event_id": "E1", "lease": {"run": "run1"}, "iteration": ITERATION}]
    assert "expired" in given


TEXT = st.sampled_from(
    [
        "E1",
        "e1",
        "service",
        "command",
        "wsfc",
        "haproxy",
        "tasks",
        "own",
        "none",
        "drained",
        "undone",
        "failed",
        "draining",
        "1-service",
        "a",
        "../x",
        "",
        "maint",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXT, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=6
)
METHOD = st.fixed_dictionaries({}, optional=dict.fromkeys(("id", "method", "state", "outside", "options", "before", "boot_id"), JSON)) | JSON
RECORD = st.fixed_dictionaries({"event": st.fixed_dictionaries({"event_id": TEXT})}, optional={"phase": TEXT, "methods": st.lists(METHOD, max_size=4)})
ENTRY = (
    st.fixed_dictionaries(
        {"method": TEXT},
        optional={
            "names": st.just(["a"]),
            "balancers": st.just(["lb1"]),
            "availability_groups": st.just(["Orders"]),
            "name": TEXT,
            "outside": JSON,
            "by_hand": JSON,
            "undo": TEXT,
        },
    )
    | JSON
)
ACTION = st.fixed_dictionaries({"action": st.sampled_from([*stages.ORDER, "say"]), "event_id": TEXT}, optional={"deadline": st.none() | TEXT, "event": JSON})


@settings(max_examples=300, deadline=None)
@given(
    st.lists(ACTION, max_size=4), st.lists(RECORD, max_size=3), st.lists(ENTRY, max_size=3), st.lists(ENTRY, max_size=2), st.sampled_from(["linux", "windows"])
)
def test_nothing_but_the_engines_methods_is_ever_sent(actions: Any, records: Any, methods: Any, former: Any, system: str) -> None:
    taken = split(actions, vm(*methods, records=records, former=former, system=system))
    assert len(taken["on_vm"]) + len(taken["by_tasks"]) == len(actions)
    for one in taken["on_vm"]:
        assert one["action"] in (*ALWAYS, "drain", "undo", "recover")
        for step in one.get("methods", ()) if one["action"] not in ALWAYS else ():
            assert not step["outside"] and not (one["action"] == "drain" and needs_failover(step))
            assert not step["runs"] or step["kind"] in methods_of(system)
        if one["action"] == "drain":
            assert one["methods"], "an empty list is not a drain"
            drain_order(one)
        elif one["action"] in ("undo", "recover"):
            undo_order(one)
