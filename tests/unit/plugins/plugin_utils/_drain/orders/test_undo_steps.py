# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What undoes a drain: by the VM's own record there, by the controller's variables everywhere else."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.orders.method_orders import drain_orders, finding_of, undo_orders
from ansible_collections.maintenance.azure.tests.unit.plugins import builders

READY = {"state": "ready", "up": True}
EVIL = "/tmp/evil.yml"


def entry(identifier: str, kind: str, before: Any = None, **more: Any) -> dict[str, Any]:
    """A method in a record, drained unless more says otherwise."""
    return builders.method(kind, **{"id": identifier, "before": {} if before is None else before, **more})


def haproxy(identifier: str = "1-haproxy", server: str = "web1", balancers: Any = None, **more: Any) -> dict[str, Any]:
    """What method haproxy leaves in a record."""
    return entry(identifier, "haproxy", {"server": server, "balancers": balancers or {"lb1": {"app": dict(READY)}}}, outside=True, **more)


def record(*methods: dict[str, Any], phase: str = "gone") -> dict[str, Any]:
    return builders.record(phase, *methods)


def undo(its: Any, methods: Any = (), former: Any = (), system: str = "linux") -> list[Any]:
    return list(undo_orders(its, list(methods), list(former), "web1", system))


def runs(steps: list[Any]) -> list[str]:
    return [step["id"] for step in steps if step["runs"]]


def reports(steps: list[Any]) -> str:
    return " ".join(step["report"] for step in steps if step["report"])


def test_a_former_entry_that_cannot_be_used_is_reported_and_nothing_of_it_runs() -> None:
    wrong = {1: "drain_methods_former, entry 1 (tasks): undo: there is no file z.yml in /play."}
    its = record(entry("leave", "tasks", outside=True), haproxy("2-haproxy"))
    former = [{"name": "leave", "method": "tasks", "undo": "z.yml"}, {"name": "2-haproxy", "method": "haproxy", "balancers": ["lb1"]}]
    steps = undo_orders(its, [], former, "web1", "linux", wrong)
    assert runs(steps) == ["2-haproxy"]
    said = reports(steps)
    assert said.count("there is no file z.yml in /play") == 1 and "by hand" in said and "Correct the entry" in said
    # A misspelt name or kind is found nowhere: the report says what is wrong there.
    unfound = undo_orders(its, [], [{"name": "leave", "method": "task", "undo": "z.yml"}], "web1", "linux", {1: "entry 1 (task): there is no method task."})
    assert runs(unfound) == [] and all("there is no method task." in step["report"] for step in unfound)
    assert runs(undo_orders(its, [], former, "web1", "linux", {})) == ["2-haproxy", "leave"]


LB1 = {"method": "haproxy", "balancers": ["lb1"]}
TASKS = {"method": "tasks", "begin": "a.yml", "check": "b.yml", "undo": "c.yml"}
TASKS_2 = {"method": "tasks", "begin": "x.yml", "check": "y.yml", "undo": "z.yml"}


# --- A VM's own record, on that VM ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["service", "probe_file", "command", "none"])
def test_a_local_method_is_undone_as_its_record_says_whatever_the_settings_say(kind: str) -> None:
    its = record(entry(f"1-{kind}", kind, {"a": "b"}, options={"undo": "{{ lookup('pipe', 'id') }}"}))
    (step,) = undo(its, [{"method": "service", "names": ["other"]}])
    assert (step["where"], step["kind"], step["runs"], step["ends"]) == ("own", kind, True, True)
    assert step["given"] == {}


def test_the_last_method_comes_first_and_one_that_is_undone_or_found_nothing_runs_no_more() -> None:
    found_nothing = {**entry("3-service", "service"), "before": None}
    its = record(entry("1-none", "none"), entry("2-command", "command", state="undone"), found_nothing, haproxy("4-haproxy"))
    steps = undo(its, [LB1])
    assert [step["id"] for step in steps] == ["4-haproxy", "3-service", "1-none"] and runs(steps) == ["4-haproxy", "1-none"]
    assert all(step["ends"] for step in steps)


@pytest.mark.parametrize("kind", ["iis", "wsfc"])
def test_windows_methods_are_local_on_windows_only_and_name_no_other_host(kind: str) -> None:
    its = record(entry(f"1-{kind}", kind, {"node": "n"}, options={"replicas": {"SQL2": "localhost"}, "instance": "i"}))
    (step,) = undo(its, [], system="windows")
    assert step["where"] == "own" and step["runs"] and (kind != "wsfc" or step["override"] == {"replicas": {}})
    assert runs(undo(its)) == [] and "drain_methods has no method of that name and kind" in reports(undo(its))


# --- Elsewhere, only what finding and variables name -----------------------------------------------------------------------


def test_haproxy_options_come_from_the_variables() -> None:
    its = record(haproxy(options={"socket": "evil:1", "server": "db1", "balancers": ["localhost"]}))
    (step,) = undo(its, [{**LB1, "socket": "/run/s"}])
    assert step["where"] == "controller" and step["runs"] and step["ends"]
    assert step["given"] == {"balancers": ["lb1"], "socket": "/run/s", "server": "web1", "backends": ["app"]}
    assert finding_of(its["methods"][0]["before"], step, "web1") == its["methods"][0]["before"]


@pytest.mark.parametrize("balancer", ["localhost", "web2", "lb2", "{{ lookup('pipe', 'id') }}"])
def test_a_balancer_that_the_variables_do_not_name_is_never_asked_and_is_reported(balancer: str) -> None:
    its = record(haproxy(balancers={"lb1": {"app": READY}, balancer: {"app": READY}}))
    (step,) = undo(its, [LB1])
    assert step["given"]["balancers"] == ["lb1"] and step["runs"] and step["ends"] is False
    assert "was ready before the drain" in step["report"] and "by_hand: true" in step["report"] and balancer[:20] in step["report"]
    # Nor when the VM answers a write with another finding than it had.
    assert list(finding_of({"server": "web1", "balancers": {balancer: {"app": READY}}}, step, "web1")["balancers"]) == []
    only = record(haproxy(balancers={balancer: {"app": READY}}))
    assert runs(undo(only, [LB1])) == [] and undo(only, [LB1])[0]["ends"] is False


def test_a_report_says_what_to_do_by_hand_and_keeps_nothing_else() -> None:
    its = record(entry("1-command", "command", options={"undo": "true"}), haproxy("2-haproxy", balancers={"lb2": {"app": READY}}))
    steps = undo(its, [{"method": "command"}, {**LB1, "balancers": ["lb1"]}])
    assert runs(steps) == ["1-command"]
    assert steps[0]["report"] == (
        "web1: its record says that server web1 of backend app on balancer lb2 was ready before the drain, and drain_methods does not name it; nothing was "
        "changed there. If it was a method of web1, list it with its options in drain_methods_former of web1, and with by_hand: true once you have put back "
        "by hand what it changed. If it never was, the record was tampered with: do nothing that it names."
    )


@pytest.mark.parametrize("balancers", [{"lb1": {"app": READY}}, {"lb1": {"app": READY}, "lb2": {"app": {"state": "maint", "up": True}, "b": READY}}])
@pytest.mark.parametrize("methods", [[], [{"method": "service"}], [LB1], [{**LB1, "backends": ["shop"]}], [{**LB1, "by_hand": True}]])
@pytest.mark.parametrize("kind", ["haproxy", "tasks", "own_method"])
def test_what_only_a_record_names_is_told_without_a_command_and_without_a_setting_to_paste(kind: str, methods: Any, balancers: Any) -> None:
    """Planted: the server is another VM's."""
    its = haproxy("web2", server="web2", balancers=balancers)
    told = reports(undo(record({**its, "method": kind}), methods)) + reports(undo(record({**its, "method": kind}), [], methods))
    assert "its record says" in told and "web2" in told
    assert not any(part in told for part in ("set server", "socat", "echo", "{", "method:", "name:", "balancers:")), told


def test_a_former_entry_ends_it_by_undoing_it_or_by_a_persons_word() -> None:
    its = record(haproxy(balancers={"lb1": {"app": READY}, "lb2": {"app": READY}}))
    gone = {"method": "haproxy", "balancers": ["lb2"], "socket": "/run/old"}
    for name in ({}, {"name": "1-haproxy"}):
        steps = undo(its, [LB1], [{**gone, **name}])
        assert {step["given"]["balancers"][0]: step["given"].get("socket") for step in steps} == {"lb1": None, "lb2": "/run/old"}
        assert [step["ends"] for step in steps] == [False, True] and reports(steps) == ""
        (only,) = undo(its, [LB1], [{**gone, **name, "by_hand": True}])
        assert only["given"]["balancers"] == ["lb1"] and only["ends"] and only["report"] is None
    # What was in maintenance before is left there in any case.
    assert undo(record(haproxy(balancers={"lb2": {"app": {"state": "maint", "up": False}}})), [LB1])[0]["ends"]


def test_another_server_or_backend_than_the_variables_give_this_host_is_left_alone() -> None:
    assert runs(undo(record(haproxy(server="db1")), [LB1])) == []
    assert runs(undo(record(haproxy(server="db1")), [{**LB1, "server": "db1"}])) == ["1-haproxy"]
    (step,) = undo(record(haproxy(balancers={"lb1": {"app": READY, "admin": READY}})), [{**LB1, "backends": ["app"]}])
    assert step["given"]["backends"] == ["app"] and "backend admin" in step["report"]


@pytest.mark.parametrize(
    "before",
    [
        {"server": "web1"},
        {"server": "web1 state ready; quit", "balancers": {"lb1": {"app": READY}}},
        {"server": "web1", "balancers": {"lb1": {"app": {"state": "stopped", "up": True}}}},
        {"server": "web1", "balancers": {"lb1": {"app": {"state": "ready\nquit", "up": True}}}},
        {"server": "web1", "balancers": {"lb1": {"app/../x": READY}}},
        {"server": "web1", "balancers": {"lb1": {"app": {**READY, "weight": 5}}}},
        {"server": "web1", "balancers": {"lb1": {"app": READY}}, "socket": "x"},
        {"server": "web1", "balancers": {"lb1\n": {"app": READY}}},
        {"server": "web1", "balancers": ["lb1"]},
        {"server": "web1", "balancers": {f"lb{place}": {} for place in range(100)}},
        {"server": "web1", "balancers": {"lb1": {f"b{place}": READY for place in range(2000)}}},
        "text",
        7,
    ],
)
def test_a_finding_of_another_shape_is_reported_and_not_used(before: Any) -> None:
    steps = undo(record({**haproxy(), "before": before}), [LB1])
    assert runs(steps) == [] and "malformed" in reports(steps) and steps[0]["ends"] is False
    assert finding_of(before, {"where": "controller", "kind": "haproxy", "given": LB1}, "web1") == {}


@pytest.mark.parametrize(("identifier", "kind"), [("../../x", "none"), ("1-x", "../../x"), ("1-none\n", "none"), ("x" * 64, "none"), ("1-x", "/tmp/evil")])
def test_a_name_or_kind_that_is_none_runs_nothing_and_never_becomes_a_folder(identifier: str, kind: str) -> None:
    for steps in (undo(record(entry(identifier, kind))), drain_orders(record(entry(identifier, kind), phase="drained"), [LB1], [], "web1", "linux")):
        assert runs(steps) == [] and steps[0]["kind"] == "none" and "malformed" in reports(steps)


def test_task_files_come_from_the_variables() -> None:
    its = record(entry("1-tasks", "tasks", options={"begin": EVIL, "check": EVIL, "undo": EVIL}))
    (step,) = undo(its, [TASKS])
    assert step["given"] == {"begin": "a.yml", "check": "b.yml", "undo": "c.yml"} and step["runs"]
    steps = undo(its, [LB1])
    assert runs(steps) == [] and "drain_methods_former" in reports(steps) and EVIL not in str(steps)


def test_a_kind_of_ones_own_is_one_that_the_settings_name() -> None:
    its = record(entry("1-flagged", "flagged", {"was": 1}, options={"size": 3}))
    (step,) = undo(its, [{"method": "flagged", "size": 9}, {"method": "misspelt"}])
    assert step["kind"] == "flagged" and step["given"] == {"size": 9} and step["where"] == "controller"
    assert runs(undo(its, [{"method": "misspelt"}])) == []
    assert runs(undo(its, [], [{"method": "flagged"}])) == ["1-flagged"]


# --- Which method it was -------------------------------------------------------------------------------------------------


def test_a_swapped_order_never_runs_another_methods_undo() -> None:
    a = entry("1-tasks", "tasks", options={key: TASKS[key] for key in ("begin", "check", "undo")})
    b = entry("2-tasks", "tasks", options={key: TASKS_2[key] for key in ("begin", "check", "undo")})
    for methods in ([TASKS, TASKS_2], [TASKS_2, TASKS], [TASKS_2, LB1, TASKS]):
        assert [step["given"]["undo"] for step in undo(record(a, b), methods)] == ["z.yml", "c.yml"], methods
    # Options that changed as well: nobody can say which it was.
    steps = undo(record(a, b), [{**TASKS_2, "undo": "n.yml"}, {**TASKS, "undo": "m.yml"}])
    assert runs(steps) == [] and reports(steps).count("drain_methods has no method of that name and kind") == 2
    # With names there is nothing to guess.
    named = [{**entry("one", "tasks"), "options": {"undo": "o"}}, {**entry("two", "tasks"), "options": {"undo": "p"}}]
    steps = undo(record(*named), [{**TASKS_2, "name": "two"}, {**TASKS, "name": "one"}])
    assert [step["given"]["undo"] for step in steps] == ["z.yml", "c.yml"]


def test_a_single_method_of_its_kind_is_found_wherever_it_stands() -> None:
    its = record(haproxy("1-haproxy"), entry("2-tasks", "tasks", options={"undo": "old.yml"}))
    steps = undo(its, [{"method": "none"}, TASKS, {**LB1, "maintenance": False}])
    assert runs(steps) == ["2-tasks", "1-haproxy"] and steps[1]["given"]["maintenance"] is False


def test_a_renamed_method_is_another_one_until_the_former_name_is_listed() -> None:
    its = record(entry("leave", "tasks", options={"undo": "c.yml"}))
    steps = undo(its, [{**TASKS, "name": "leave-shop"}])
    assert runs(steps) == [] and "list it with its options in drain_methods_former of web1" in reports(steps)
    (step,) = undo(its, [{**TASKS, "name": "leave-shop"}], [{"name": "leave", "method": "tasks", "undo": "c.yml"}])
    assert step["runs"] and step["given"] == {"undo": "c.yml"}
    (step,) = undo(its, [], [{"name": "leave", "method": "tasks", "by_hand": True}])
    assert not step["runs"] and step["ends"]
    # The same name of another kind is another method.
    assert runs(undo(its, [{"name": "leave", "method": "haproxy", "balancers": ["lb1"]}])) == []
    # A record of 1.3.1, and the method has got a name since.
    assert runs(undo(record(haproxy()), [{**LB1, "name": "shop"}])) == ["1-haproxy"]
    old = record(entry("1-tasks", "tasks", options={key: TASKS[key] for key in ("begin", "check", "undo")}))
    assert runs(undo(old, [{**TASKS, "name": "leave"}])) == ["1-tasks"]
    assert runs(undo(old, [{**TASKS_2, "name": "leave"}])) == []


def test_settings_that_are_none_name_nothing() -> None:
    for wrong in (None, "text", {"method": "haproxy"}, [None], ["haproxy"], [{"method": "../haproxy"}], [{"method": "haproxy", "name": "../x"}], 7):
        assert [step["runs"] for step in undo_orders(record(haproxy()), wrong, wrong, "web1", "linux")] == [False]
        assert drain_orders({}, wrong, wrong, "web1", "linux") == []
    twice = [{**TASKS, "name": "same"}, {**TASKS_2, "name": "same"}]
    assert runs(undo(record(entry("same", "tasks")), twice)) == []
    for wrong in (None, [], "x", {"methods": "x"}, {"methods": [None, 7, "x"]}):
        assert all(not step["runs"] for step in undo_orders(wrong, [LB1], [], "web1", "linux"))


# --- A drain that goes on ------------------------------------------------------------------------------------------------


def test_a_drain_takes_what_acts_elsewhere_from_the_variables_and_the_rest_as_it_began() -> None:
    its = record(haproxy(options={"socket": "evil"}), entry("2-service", "service", options={"names": ["old"]}), phase="draining")
    first, second = drain_orders(its, [LB1, {"method": "service", "names": ["new"]}], [], "web1", "linux")
    assert first["given"] == {"balancers": ["lb1"]} and first["where"] == "controller"
    assert second["where"] == "own"
    for phase in ("drained", "approved", "started"):
        settled = drain_orders({**its, "phase": phase}, [{"method": "none"}, {**LB1, "sessions": 2}], [LB1], "web1", "linux")
        assert [step["id"] for step in settled] == ["1-haproxy", "2-service"]
        assert settled[0]["given"]["sessions"] == 2 and settled[1]["where"] == "own"


def test_a_drained_method_that_the_settings_name_no_more_is_reported_and_not_run() -> None:
    its = record(haproxy(), entry("2-tasks", "tasks", options={"check": EVIL}), phase="drained")
    steps = drain_orders(its, [{"method": "none"}], [{**LB1}], "web1", "linux")
    assert runs(steps) == [] and reports(steps).count("cannot be checked") == 2
    moved = drain_orders(record(haproxy(), phase="drained"), [{"method": "haproxy", "balancers": ["lb9"]}], [], "web1", "linux")
    assert runs(moved) == []
    clash = drain_orders(record(entry("x", "tasks"), phase="draining"), [{**LB1, "name": "x"}], [], "web1", "linux")
    assert runs(clash) == [] and "Give the new one another name" in reports(clash)


def test_replicas_of_a_windows_cluster_come_from_the_variables() -> None:
    given = {"method": "wsfc", "availability_groups": ["Orders"], "replicas": {"SQL2": "sql2"}}
    wanted = {"replicas": {"SQL2": "sql2"}, "availability_groups": ["Orders"]}
    assert drain_orders({}, [given], [], "web1", "windows")[0]["override"] == wanted
    evil = {"replicas": {"SQL2": "localhost", "X": "dc1"}, "availability_groups": ["Orders", "Other"]}
    for phase in ("draining", "drained"):
        its = record(entry("1-wsfc", "wsfc", {"node": "n"}, options=evil), phase=phase)
        (step,) = drain_orders(its, [given], [], "web1", "windows")
        assert step["override"] == wanted and step["where"] == "own"
    (step,) = drain_orders(its, [{"method": "none"}], [], "web1", "windows")
    assert step["override"] == {"replicas": {}, "availability_groups": []}


def test_a_local_method_that_says_outside_is_one_that_acts_elsewhere() -> None:
    its = record(entry("1-command", "command", options={"undo": "evil"}, outside=True))
    (step,) = undo(its, [{"method": "command", "undo": "good", "outside": True}])
    assert step["where"] == "controller" and step["given"] == {"undo": "good"}
    assert runs(undo(its)) == []
