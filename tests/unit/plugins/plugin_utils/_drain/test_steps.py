# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a drain and an undo, from the first to the last, without Ansible: what each asks for, and what comes of every answer."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.kinds.registry import kind_of
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.preview_steps import PreviewSteps
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings import catalogue
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.steps import Came, Steps, failure, stage_of
from ansible_collections.maintenance.azure.tests.unit.plugins import builders

METHODS = pathlib.Path(__file__).resolve().parents[5] / "roles" / "drain" / "tasks" / "methods"
EVENT = {"event_id": "E1"}
SERVICE, OWN = {"method": "service", "names": ["app"]}, {"method": "own"}
LEASE = {"run": "run00001"}


@pytest.fixture(name="own")
def _own(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with an operator's own method, and files for method tasks."""
    (tmp_path / "own").mkdir()
    for name in ("own/begin.yml", "own/check.yml", "own/undo.yml", "begin.yml", "check.yml", "undo.yml"):
        (tmp_path / name).write_text("---")
    return tmp_path


def begin(own: pathlib.Path, *methods: Any, act: str = "drain", **more: Any) -> Steps:
    request: dict[str, Any] = {
        "act": act, "host": "web1", "system": "linux", "methods": list(methods), "former": [], "folders": [str(METHODS), str(own)], "own_folder": str(own),
        "places": [str(own)], "event": EVENT, "record": {}, "deadline": "", "rule": {}, "lease": {}, "verify": False, "keep_phase": False, "vm_id": "vm-1",
        "vm_name": "web1", "boot_id": "boot-1", "keeper": "", "now": "2026-11-24T12:00:00", "check_mode": False, "refused": "",
        "must": False, "away": [],
    }  # fmt: skip
    kind = PreviewSteps if more.get("check_mode") else Steps
    return kind.begin({**request, **more})  # type: ignore[typeddict-item]


def record(*methods: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return builders.record("draining", *(builders.method("own", "begun", **{"boot_id": "boot-1", **one}) for one in methods), **{"event": EVENT, **more})


def acted(state: str, written: Any = None, **more: Any) -> Came:
    return Came(result={"results": [{"state": state, "record": written, **more}]})


def said(state: str | None = None, **more: Any) -> Came:
    return Came(answer={"state": state, **more})


# What HAProxy's find.yml ends with.
FOUND = {"server": "web1", "balancers": {"lb1": {"web": {"state": "ready", "up": True}}, "lb2": {"web": {"state": "maint", "up": False}}}}
WEB = "server web1 of backend web on balancer"
BROKEN = Came(failed=True, message="why", failure="A task: why")
AWAY = Came(result={"unreachable": True})


def asked(steps: Steps, *came: Came) -> list[str]:
    """Take the steps with these answers, and return what was asked for, in order."""
    found = [place(steps)]
    for one in came:
        steps.go_on(one)
        found.append(place(steps))
    return found


def place(steps: Steps) -> str:
    state = steps.state
    name = state["do"]
    if name == "stage":
        return pathlib.Path(state["file"]).stem
    if name == "act":
        methods = state["action"]["methods"]
        told = [key for key in ("finding", "answer") if methods and key in methods[0]]
        return " ".join(["act", *(told or [method["id"] for method in methods])])
    return str(name)


def test_methods_of_the_vm_are_one_step(own: pathlib.Path) -> None:
    steps = begin(own, SERVICE, {"method": "none"}, deadline="2026-11-24T11:00:00", lease=LEASE)
    assert asked(steps, acted("drained", {"phase": "drained"}, warning="slow")) == ["act 1-service 2-none", "end"]
    action = steps.state["action"]
    assert action["late"] and action["complete"] and action["stop_at_finding"] and action["lease"] == LEASE and action["deadline"]
    assert steps.state["identity"] == {"vm_id": "vm-1", "vm_name": "web1"} and steps.state["boot_id"] == "boot-1"
    assert steps.result() == {"state": "drained", "error": None, "record": {"phase": "drained"}, "warning": "slow"}


def test_a_method_that_is_tasks_is_recorded_before_it_begins(own: pathlib.Path) -> None:
    steps = begin(own, OWN, SERVICE)
    found = asked(steps, acted("found", record({})), said(), said("drained"), acted("drained"), acted("drained"))
    assert found == ["act finding", "begin", "check", "act answer", "act 2-service", "end"]
    assert steps.result()["state"] == "drained"


def test_what_it_finds_is_recorded_first(own: pathlib.Path) -> None:
    (own / "own" / "find.yml").write_text("---")
    steps = begin(own, OWN)
    assert asked(steps, said(finding={"was": "up"}), acted("found", record({"state": "found", "before": {"was": "up"}}))) == ["find", "act finding", "begin"]
    assert steps.state["action"]["methods"][0]["finding"] == steps.state["method"]["finding"] == {"was": "up"}
    steps = begin(own, OWN)
    assert asked(steps, said(), acted("failed")) == ["find", "act answer", "end"] and "must end by setting" in steps.result()["error"]


@pytest.mark.parametrize("state", ["drained", "draining", "failed"])
def test_what_has_begun_is_checked(own: pathlib.Path, state: str) -> None:
    steps = begin(own, OWN, record=record({}))
    assert asked(steps, said(state), acted(state)) == ["check", "act answer", "end"]
    assert steps.result()["state"] == state


def test_what_is_lost_begins_again_once(own: pathlib.Path) -> None:
    steps = begin(own, OWN, record=record({"state": "drained"}, phase="drained"))
    found = asked(steps, said("lost"), acted("found", record({})), said(), said("lost"), acted("draining"))
    assert found == ["check", "act finding", "begin", "check", "act answer", "end"] and steps.result()["state"] == "draining"


@pytest.mark.parametrize(("state", "boot", "verify", "first"), [
    ("begun", "boot-1", False, "check"), ("begun", "boot-0", False, "act finding"), ("begun", "boot-0", True, "check"),
    ("found", "boot-1", False, "act finding"), ("failed", "boot-1", False, "act finding"), ("undone", "boot-1", False, "act finding"),
    ("drained", "boot-0", False, "check"),
])  # fmt: skip
def test_where_a_second_run_continues(own: pathlib.Path, state: str, boot: str, verify: bool, first: str) -> None:
    assert place(begin(own, OWN, record=record({"state": state, "boot_id": boot}), verify=verify)) == first


def test_a_drain_that_is_not_done_is_the_last(own: pathlib.Path) -> None:
    for state in ("draining", "failed"):
        assert asked(begin(own, OWN, SERVICE, record=record({})), said(state), acted(state)) == ["check", "act answer", "end"]


def test_a_failed_task_is_the_failed_drain_and_is_recorded(own: pathlib.Path) -> None:
    for came in ((BROKEN,), (acted("found", record({})), BROKEN), (acted("found", record({})), said(), BROKEN)):
        steps = begin(own, OWN)
        asked(steps, *came)
        assert place(steps) == "act answer" and steps.state["action"]["methods"][0]["answer"] == {"state": "failed", "error": "A task: why"}


def test_a_stage_that_has_ended_the_host_does_not_run_again_and_has_failed(own: pathlib.Path) -> None:
    steps = begin(own, OWN)
    asked(steps, acted("found", record({})))
    left = stage_of(steps.state)
    again = begin(own, OWN, record=record({"state": "found"}), ended=[left])
    assert asked(again, acted("found", record({"state": "found"}))) == ["act finding", "act answer"]
    assert "the tasks of begin ended the host" in again.state["action"]["methods"][0]["answer"]["error"]
    assert place(begin(own, OWN, record=record({}), ended=[left])) == "check", "another stage runs"
    another = begin(own, {**OWN, "name": "another"}, ended=[left])
    assert asked(another, acted("found", record({"id": "another", "state": "found"}))) == ["act finding", "begin"], "and that of another method"


def test_a_record_that_cannot_be_written_ends_the_drain(own: pathlib.Path) -> None:
    for came in ((BROKEN, BROKEN), (BROKEN, acted("failed"))):
        steps = begin(own, SERVICE)
        assert asked(steps, *came) == ["act 1-service", "act", "end"] and steps.result()["error"] == "why"
    assert steps.state["action"] == {"action": "drain", "event_id": "E1", "event": EVENT, "lease": {}, "methods": [], "problem": "why"}


def test_a_vm_that_cannot_be_reached_is_asked_for_nothing_more(own: pathlib.Path) -> None:
    for steps, came in (
        (begin(own, SERVICE, OWN), (AWAY,)),
        (begin(own, OWN), (AWAY,)),
        (begin(own, OWN), (acted("found", record({})), Came(lost=True))),
        (begin(own, SERVICE), (BROKEN, AWAY)),
        (begin(own, OWN, act="undo", lease=LEASE, record=record({})), (AWAY,)),
    ):
        assert asked(steps, *came)[-1] == "end"
        assert (steps.result()["state"], steps.result()["error"]) == ("unreachable", "The VM cannot be reached.")


def test_wrong_settings_are_recorded_and_nothing_is_done(own: pathlib.Path) -> None:
    for steps, words in ((begin(own), "at least one method"), (begin(own, {"method": "x"}), "method must be"), (begin(own, SERVICE, refused="old"), "old")):
        assert asked(steps, acted("failed")) == ["act", "end"] and words in steps.result()["error"]
    assert place(begin(own, {"method": "x"}, check_mode=True)) == "end"


def test_a_drained_vm_is_verified_whatever_the_settings_say_by_now(own: pathlib.Path) -> None:
    drained = record({"id": "1-service", "method": "service", "state": "drained", "options": {"names": ["app"]}}, phase="drained")
    assert place(begin(own, {"method": "x"}, record=drained)) == "act 1-service"


def test_check_mode_says_what_would_be_done(own: pathlib.Path) -> None:
    steps = begin(own, SERVICE, OWN, check_mode=True)
    assert (place(steps), steps.state["would"]) == ("act 1-service", ["web1: Would drain for event E1: 1-service, 2-own"])
    steps.go_on(acted("draining", would={"1-service": "would stop app", "3-made-up": "x"}))
    lines = ["web1: 1-service: would stop app", "web1: 2-own: its tasks are not run in check mode"]
    assert (place(steps), steps.state["would"][1:], steps.result()["state"]) == ("end", lines, "draining")
    undo = begin(own, OWN, act="undo", check_mode=True, record=record({}))
    assert (place(undo), undo.state["would"], undo.result()["state"]) == ("end", ["web1: Would undo for event E1: 1-own"], "undoing")
    nothing = begin(own, act="undo", check_mode=True)
    assert (nothing.state["would"], nothing.result()["state"]) == (["web1: Would undo for event E1: nothing"], "undone")


def seen(**more: Any) -> Came:
    """What HAProxy's tasks have registered: the answers of two balancers, of which only the first has the server in service."""
    up, out = ({"state": state, "up": up, "sessions": 0, "status": ""} for state, up in (("ready", True), ("maint", False)))
    return Came(answer={"results": [{"__drain_balancer": name, "backends": {"web": one}, "left": more} for name, one in (("lb1", up), ("lb2", out))]})


LEFT = {"server": "web1", "tracks": "", "takes": True, "weighs": True, "others": 0, "candidates": 1, "missing": 0, "out": []}
LAST = "web1 is the last server of backend web that takes sessions on lb1"


@pytest.mark.parametrize(
    ("kind", "came", "line", "state"),
    [
        ("kubernetes", said("found", finding={"server": "web1"}, would="would set web1 to drain"), "would set web1 to drain", "draining"),
        ("kubernetes", said("found", finding={"server": "web1"}), "would drain: server web1", "draining"),
        ("haproxy", seen(), f"would take out of service: {WEB} lb1 (ready); would leave as it is: {WEB} lb2 (maint)", "draining"),
        ("haproxy", seen(web={**LEFT, "candidates": 0}), f"would take out of service: {WEB} lb1 (ready); would leave as it is: {WEB} lb2", "draining"),
        ("haproxy", seen(web=LEFT), f"would wait: {LAST}", "draining"),
        ("haproxy", BROKEN, "would be refused: A task: why", "failed"),
        ("kubernetes", said("found"), "would be refused: kubernetes: find.yml must end", "failed"),
        ("haproxy", said("found"), "would be refused: no load balancer was asked", "failed"),
    ],
)
def test_check_mode_asks_a_method_of_ours_that_is_tasks_and_goes_on(
    own: pathlib.Path, monkeypatch: pytest.MonkeyPatch, kind: str, came: Came, line: str, state: str
) -> None:
    for needed in ("missing_modules", "missing_packages"):
        monkeypatch.setattr(catalogue, needed, lambda *_given: [])
    entry = {"method": kind, **({"balancers": ["lb1"]} if kind == "haproxy" else {})}
    steps = begin(own, entry, SERVICE, check_mode=True)
    assert place(steps) == "find"
    steps.go_on(came)
    assert steps.state["would"][1].startswith(f"web1: 1-{kind}: {line}") and place(steps) == "act 2-service"
    steps.go_on(acted("draining", would={"2-service": "would stop app"}))
    assert (place(steps), steps.result()["state"]) == ("end", state)


def test_check_mode_says_what_an_operator_has_to_know(own: pathlib.Path) -> None:
    steps = begin(own, {"method": "haproxy", "balancers": ["lb1"]}, check_mode=True)
    steps.go_on(seen(web={**LEFT, "candidates": 0}))
    assert steps.state["would"][1].endswith("(maint); web1 is the only server of backend web on lb1: nothing else is asked to serve meanwhile; "
                                            "web1 is the only server of backend web on lb2: nothing else is asked to serve meanwhile")  # fmt: skip


BALANCED = {"method": "haproxy", "balancers": ["lb1", "lb2"]}
HAD = {"id": "1-haproxy", "method": "haproxy", "before": FOUND, "outside": True}
# It waits, as the engine answers that.
WAITING = acted("draining", error="1-haproxy: not yet: why")


def test_one_that_may_not_begin_yet_is_recorded_and_the_drain_ends_for_now(own: pathlib.Path) -> None:
    steps = begin(own, BALANCED, SERVICE)
    assert asked(steps, seen(web=LEFT), WAITING) == ["find", "act answer", "end"]
    assert steps.state["action"]["methods"][0]["answer"]["state"] == "not_yet" and LAST in steps.state["action"]["methods"][0]["answer"]["error"]
    assert (steps.result()["state"], steps.result()["error"]) == ("draining", "1-haproxy: not yet: why")


def test_a_begin_that_is_refused_waits(own: pathlib.Path) -> None:
    steps = begin(own, BALANCED)
    found = asked(steps, seen(), acted("found", record({**HAD, "state": "found"})), seen(web=LEFT), WAITING)
    assert found == ["find", "act finding", "begin", "act answer", "end"]
    assert steps.state["action"]["methods"][0]["answer"]["state"] == "not_yet"


@pytest.mark.parametrize("state", ["found", "begun", "drained", "failed"])
def test_what_may_have_acted_before_does_not_wait_but_is_held(own: pathlib.Path, state: str) -> None:
    """A run that was killed at its begin, or a HAProxy that has restarted: something may be set on another balancer, and its finding must not be lost."""
    steps = begin(own, BALANCED, record=record({**HAD, "state": state, "boot_id": "boot-0"}))
    found = asked(steps, *([seen(web=LEFT)] * (2 if state == "drained" else 1)))
    assert found == [*(["check"] if state == "drained" else []), "find", "act answer"]
    answer = steps.state["action"]["methods"][0]["answer"]
    assert answer["state"] == "draining" and answer["hold"] == answer["error"] and LAST in answer["hold"]


@pytest.mark.parametrize("boot", ["boot-1", "boot-0"])
def test_what_is_away_in_the_middle_is_recorded_and_holds_nothing(own: pathlib.Path, boot: str) -> None:
    """Nor after a boot, where it is found again."""
    steps = begin(own, BALANCED, record=record({**HAD, "state": "begun", "boot_id": boot}))
    gone = Came(answer={"results": [{"__drain_balancer": "lb1", "unreachable": True, "msg": "no route"}]})
    assert asked(steps, gone) == ["check" if boot == "boot-1" else "find", "act answer"]
    answer = {"state": "draining", "error": "load balancer lb1 cannot be reached: no route", "away": 120}
    assert steps.state["action"]["methods"][0]["answer"] == answer


def test_a_hold_of_a_check_is_recorded(own: pathlib.Path) -> None:
    steps = begin(own, OWN, record=record({}))
    assert asked(steps, said("drained", hold="why"), acted("drained", error="why")) == ["check", "act answer", "end"]
    assert steps.state["action"]["methods"][0]["answer"] == {"state": "drained", "error": None, "hold": "why"}
    assert asked(begin(own, OWN, record=record({})), said("not_yet")) == ["check", "act answer"], "of a check it is none"


def test_what_an_operator_has_to_know_of_a_finding_is_a_warning(own: pathlib.Path) -> None:
    steps = begin(own, BALANCED, {"method": "patroni"})
    asked(steps, seen(web=LEFT), acted("found", record({**HAD, "state": "found"})))
    assert LAST in steps.result()["warning"] and "because method 2-patroni hands its role over" in steps.result()["warning"]


@pytest.mark.parametrize(("owner", "told"), [("web2", True), ("web1", False), ("", False)])
def test_a_server_with_the_address_of_another_host_is_a_warning(own: pathlib.Path, owner: str, told: bool) -> None:
    """A name that is right in the settings may stand for another VM in HAProxy. Which host has an address is asked of the inventory alone."""
    steps = begin(own, BALANCED)
    entry = {**LEFT, "takes": False, "address": "10.0.0.2", "server": "web1"}
    steps.go_on(dataclasses.replace(seen(web=entry), owner=lambda address, name: owner if (address, name) == ("10.0.0.2", "web1") else ""))
    steps.go_on(acted("found", record({**HAD, "state": "found"})))
    assert ("has the address 10.0.0.2 of web2" in (steps.result()["warning"] or "")) is told


def test_a_stage_knows_who_is_away_and_whether_it_must_begin(own: pathlib.Path) -> None:
    targets = [{"method": "haproxy", "server": "web2", "balancers": ["lb1"], "backends": []}, {"method": "own", "name": "x"}]
    method = begin(own, BALANCED, must=True, away=targets).state["method"]
    assert (method["must"], method["away"], method["hands_over"]) == (True, {"lb1": {"*": ["web2"]}}, "")
    (own / "own" / "find.yml").write_text("---")
    method = begin(own, OWN, must="false", away=targets).state["method"]
    assert (method["must"], method["away"]) == (False, [{"method": "own", "name": "x"}])


def test_a_vm_that_was_hit_has_not_gone_on_all_the_time(own: pathlib.Path) -> None:
    for key in ("approved_at", "started_at"):
        steps = begin(own, BALANCED, act="undo", record=record(HAD, **{key: "2026-11-24T12:00:00Z"}), keep_phase=True)
        assert steps.state["method"]["untouched"] is False


@pytest.mark.parametrize("phase", ["approved", "started"])
def test_what_is_approved_waits_for_nothing(own: pathlib.Path, phase: str) -> None:
    assert begin(own, BALANCED, record=record({**HAD, "state": "drained", "boot_id": "boot-0"}, phase=phase)).state["method"]["must"] is True


@pytest.mark.parametrize(("more", "others", "untouched"), [
    ({}, (), True), ({"keep_phase": False}, (), False), ({"boot_id": "boot-2"}, (), False), ({"boot_id": ""}, (), False),
    ({}, ({"id": "2-service", "method": "service", "state": "undone", "times": {"begun": "x", "undone": "y"}},), False),
    ({}, ({"id": "2-service", "method": "service", "state": "undone", "times": {"drained": "x", "undone": "y"}},), False),
    ({}, ({"id": "2-service", "method": "service", "state": "undone", "times": {"found": "x", "undone": "y"}},), True),
])  # fmt: skip
def test_an_undo_knows_whether_the_vm_has_gone_on_all_the_time(own: pathlib.Path, more: dict[str, Any], others: Any, untouched: bool) -> None:
    steps = begin(own, BALANCED, act="undo", record=record(HAD, *others), **{"keep_phase": True, **more})
    assert place(steps) == "undo" and steps.state["method"]["untouched"] is untouched
    assert steps.state["method"]["calls"]["lb1"]["check_first"] == ([] if untouched else ["web"])


def test_check_mode_fails_where_a_drain_would(own: pathlib.Path) -> None:
    for came, words in (
        (acted("failed", error="1-service: no unit app", would={"1-service": "would be refused: no unit app"}), "no unit app"),
        (acted("lost"), "has answered lost"),
        (Came(result={}), "has not answered"),
        (BROKEN, "why"),
    ):
        steps = begin(own, SERVICE, check_mode=True)
        steps.go_on(came)
        assert place(steps) == "end"
        assert (steps.result()["state"], words in str(steps.result()["error"])) == ("failed", True), came
    steps = begin(own, SERVICE, check_mode=True)
    steps.go_on(AWAY)
    assert steps.result()["state"] == "unreachable"


OUTSIDE = {**OWN, "outside": True}


def test_each_write_is_copied_once_to_the_keeper(own: pathlib.Path) -> None:
    written = record({"outside": True})
    steps = begin(own, OUTSIDE, keeper="web2")
    kept = Came(result={"record": {}})
    assert asked(steps, acted("found", written), kept, said(), said("drained"), acted("drained", written), kept) == [
        "act finding", "replica", "begin", "check", "act answer", "replica", "end",
    ]  # fmt: skip
    assert steps.result()["warning"] is None and steps.state["replica"]["methods"][0]["id"] == "1-own"


@pytest.mark.parametrize(("came", "why"), [
    (Came(result={"msg": "disk full"}), "web2: disk full"), (Came(result={"unreachable": True, "msg": "gone"}), "web2: gone"),
    (Came(result={"record": {}}, failed=True, message="timed out"), "web2: timed out"), (Came(), "web2: no answer"),
])  # fmt: skip
def test_without_a_copy_the_drain_goes_on_and_says_so(own: pathlib.Path, came: Came, why: str) -> None:
    written = record({"outside": True})
    steps = begin(own, OUTSIDE, keeper="web2")
    found = asked(steps, acted("found", written), came, said(), said("drained"), acted("drained", written))
    assert found == ["act finding", "replica", "begin", "check", "act answer", "end"]
    assert steps.result()["warning"] == (
        f"The record of event E1 of web1 has no copy on another VM ({why}). "
        "If this VM is lost with its disk, what was changed outside it has to be put back by hand."
    )


def test_without_a_keeper_no_copy_is_tried(own: pathlib.Path) -> None:
    steps = begin(own, OUTSIDE)
    assert asked(steps, acted("found", record({"outside": True}))) == ["act finding", "begin"]
    assert "(no other VM can keep it)" in steps.result()["warning"]


WSFC = {"method": "wsfc", "availability_groups": ["Orders"], "replicas": {"SQL2": "sql2"}}


def test_another_host_takes_over_before_the_method_acts(own: pathlib.Path) -> None:
    steps = begin(own, WSFC, system="windows")
    assert asked(steps, acted("found", handover={"Orders": "SQL2"})) == ["act 1-wsfc", "failover"]
    assert steps.state["failovers"] == [{"host": "sql2", "instance": "SQL2", "group": "Orders", "primary": ["web1"]}]
    assert asked(steps, Came(result={"results": [{"failed": True, "msg": "not in step"}]}), acted("failed"))[1:] == ["act 1-wsfc", "end"]
    assert steps.state["action"]["problem"] == "not in step" and not steps.state["action"]["stop_at_finding"]


def test_a_failover_that_the_settings_do_not_name_is_refused(own: pathlib.Path) -> None:
    steps = begin(own, WSFC, system="windows")
    assert asked(steps, acted("found", handover={"Orders": "SQL9"}), acted("failed")) == ["act 1-wsfc", "act", "end"]
    assert "do not name" in steps.result()["error"]


def test_what_was_found_and_needs_no_other_host_goes_on_at_once(own: pathlib.Path) -> None:
    steps = begin(own, {**SERVICE, "outside": True})
    assert asked(steps, acted("found"), acted("drained")) == ["act 1-service", "act 1-service", "end"]
    assert steps.state["action"]["stop_at_finding"] is False


def test_an_undo_is_in_reverse(own: pathlib.Path) -> None:
    service = {"id": "2-service", "method": "service", "options": {"names": ["app"]}}
    steps = begin(own, OWN, SERVICE, act="undo", record=record({}, service, vm_id="VM-1"), keep_phase=True)
    assert asked(steps, acted("undone"), said("undone"), acted("undone")) == ["act 2-service", "undo", "act answer", "end"]
    assert steps.state["identity"] == {"vm_id": "vm-1"} and steps.state["boot_id"] == "" and steps.state["action"]["keep_phase"]
    assert steps.result()["state"] == "undone"


def test_what_an_undo_has_to_tell_is_in_its_result(own: pathlib.Path) -> None:
    service = {"id": "2-service", "method": "service", "options": {"names": ["app"]}}
    steps = begin(own, OWN, SERVICE, act="undo", record=record({}, service, vm_id="VM-1"))
    assert asked(steps, acted("undone", warning="A person has drained it."), said("undone"), acted("undone", warning="Look."))[-1] == "end"
    assert steps.result()["warning"] == "A person has drained it. Look."


def test_an_undo_by_tasks_goes_on_only_under_its_lease(own: pathlib.Path) -> None:
    steps = begin(own, OWN, act="undo", record=record({}), lease=LEASE)
    assert asked(steps, Came(result={"record": record({"state": "undone"})}), acted("undone")) == ["lease", "act answer", "end"]
    steps = begin(own, OWN, act="undo", record=record({}), lease=LEASE)
    assert asked(steps, BROKEN) == ["lease", "end"] and steps.result()["error"] == "A task: why"


def test_nothing_to_undo_is_recorded(own: pathlib.Path) -> None:
    steps = begin(own, act="undo", lease=LEASE)
    assert asked(steps, acted("undone")) == ["act", "end"] and steps.state["action"]["complete"]


def test_the_record_of_another_vm_is_not_undone(own: pathlib.Path) -> None:
    steps = begin(own, OWN, act="undo", record=record({}, vm_id="vm-2"))
    assert asked(steps, acted("failed")) == ["act answer", "end"]
    assert steps.result()["error"] == "The record is of the VM vm-2, and this one is vm-1."


def test_an_undo_without_its_tasks_has_failed(own: pathlib.Path) -> None:
    steps = begin(own, {"method": "gone"}, act="undo", record=record({"id": "1-gone", "method": "gone"}))
    assert asked(steps, acted("failed")) == ["act answer", "end"] and "no folder has tasks of method gone" in steps.result()["error"]


def test_what_the_settings_name_no_more_is_reported(own: pathlib.Path) -> None:
    steps = begin(own, act="undo", record=record({}))
    assert asked(steps, acted("undone")) == ["act 1-own", "end"]
    assert steps.result()["state"] == "undoing" and "1-own" in steps.result()["error"]


def test_files_of_method_tasks_are_found_and_judged(own: pathlib.Path) -> None:
    given = {"method": "tasks", "begin": "begin.yml", "check": "check.yml", "undo": "undo.yml"}
    steps = begin(own, given)
    assert asked(steps, acted("found", record({"id": "1-tasks", "method": "tasks"})), Came(answer=""), Came(answer="drained"), acted("drained"))[-1] == "end"
    assert steps.state["method"]["options"]["check"] == str(own / "check.yml") and steps.state["action"]["methods"][0]["given"]["check"] == "check.yml"
    steps = begin(own, given)
    asked(steps, acted("found"), Came(answer="failed"))
    assert steps.state["action"]["methods"][0]["answer"] == {"state": "failed", "error": "begin.yml says that the drain failed."}
    steps = begin(own, given, act="undo", record=record({"id": "1-tasks", "method": "tasks", "outside": True}))
    assert asked(steps, Came(answer="undoing"), acted("undoing"))[1:] == ["act answer", "end"]
    (own / "check.yml").unlink()
    settled = record({"id": "1-tasks", "method": "tasks", "state": "drained"}, phase="drained")
    steps = begin(own, given, record=settled)
    assert "there is no file check.yml" in steps.state["action"]["methods"][0]["answer"]["error"]
    # An undo needs no file but its own.
    assert place(begin(own, {**given, "begin": "gone.yml"}, act="undo", record=settled)) == "undo"


def test_a_drained_method_whose_folder_is_gone_is_refused(own: pathlib.Path) -> None:
    gone = record({"id": "1-gone", "method": "gone", "state": "drained"}, phase="drained")
    steps = begin(own, {"method": "gone"}, record=gone)
    assert asked(steps, acted("failed")) == ["act", "end"] and "no folder has tasks" in steps.result()["error"]


@pytest.mark.parametrize("written", ["x", ["x"], 1, {"methods": "x"}, {"methods": ["x", {"id": "1-own", "state": [], "before": [], "boot_id": {}}]}])
def test_no_record_that_a_vm_returns_breaks_a_step(own: pathlib.Path, written: Any) -> None:
    for came in (acted("found", written), Came(result={"results": written}), acted("found", written, handover="x")):
        steps = begin(own, OUTSIDE, keeper="web2")
        asked(steps, came, Came(), Came(), Came(), Came())
        assert steps.result()["state"] in ("failed", "draining") or place(steps) != "end"


def test_a_failure_is_one_line_and_of_a_loop_the_first() -> None:
    assert failure("T", {"msg": "m", "rc": 3, "stderr": "x" * 500}) == ("m", "T: m, exit code 3: " + "x" * 400)
    assert failure("T", {"msg": "All", "results": [{"msg": "a"}, {"failed": True, "msg": "b"}]}) == ("All", "T: b")
    assert failure("", {}) == ("The drain failed.", "failed")
    assert failure("", {"msg": "lb1: no answer"})[1] == "lb1: no answer"


@pytest.mark.parametrize(
    ("kind", "finding", "words"),
    [
        ("haproxy", FOUND, f"{WEB} lb1 (ready), {WEB} lb2 (maint)"),
        ("own", {"sites": {"shop": "started", "api": "stopped"}, "pools": ["a", "b"], "up": True}, "sites shop started, api stopped, pools a and b, up True"),
        ("service", {"web.service": "active"}, "web.service active"),
        ("own", "text", "text"),
    ],
)
def test_a_finding_is_shown_in_words(kind: str, finding: Any, words: str) -> None:
    assert kind_of(kind).shown(finding) == words


URL = "it answers with 200"
NOT_THERE = "/srv/x is not there: is path right?"


@pytest.mark.parametrize(("methods", "doubts", "refused"), [
    ([SERVICE], [NOT_THERE], True), ([SERVICE], [""], False), ([SERVICE], [None], False), ([SERVICE], None, False), ([SERVICE], ["", NOT_THERE], False),
    # Tasks cannot tell; HAProxy can.
    ([SERVICE, OWN], [NOT_THERE], True), ([SERVICE, BALANCED], [NOT_THERE], False),
], ids=str)  # fmt: skip
def test_check_mode_refuses_a_drain_that_would_take_nothing_out(own: pathlib.Path, methods: Any, doubts: Any, refused: bool) -> None:
    for serves in (URL, ""):
        steps = begin(own, *methods, check_mode=True, serves=serves)
        steps.go_on(acted("draining", would={"1-service": "nothing of it runs"}, **({} if doubts is None else {"doubts": doubts})))
        if place(steps) != "end":
            steps.go_on(seen())
        expected = refused and serves
        assert (steps.result()["state"], steps.result()["error"]) == (
            ("failed", f"its health check finds it in service ({URL}), and {NOT_THERE}") if expected else ("draining", None)
        )
        assert (f"web1: would fail: its health check finds it in service ({URL}), and {NOT_THERE}" in steps.state["would"]) == bool(expected)


def test_in_check_mode_no_more_doubts_are_kept_than_methods_were_asked(own: pathlib.Path) -> None:
    # The state goes through the play: what a VM adds to it, every iteration would carry.
    steps = begin(own, SERVICE, check_mode=True, serves="x" * 5000)
    steps.go_on(acted("draining", would={"1-service": "nothing of it runs"}, doubts=["\x1b[2J\u202e" + "y" * 5000] * 1000))
    assert len(steps.state["doubts"]) == 1
    words = steps.result()["error"]
    assert words is not None and words.isprintable() and len(words) < 750
