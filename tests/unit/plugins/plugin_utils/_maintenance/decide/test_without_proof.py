# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A drain that took nothing out is no drain: its methods say drained, and the health check says that the VM serves."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain import doubts
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.kinds.registry import kind_of
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import acts, at, event, method, noted, plan, record, vm

URL = "http://127.0.0.1/ answers with status 200"
MISSPELT = {"path": "/srv/raedy", "present_means": "in"}
ABSENT = method(id="1-probe_file", method="probe_file", options=MISSPELT, before={"kind": "absent"})
TAKEN = method(id="1-probe_file", method="probe_file", options=MISSPELT, before={"kind": "file", "mode": "644"})
WHY = f"its health check finds it in service ({URL}), and /srv/raedy is not there: is path right? If so, set may_be_absent: true"


def drained(*methods: dict[str, Any], phase: str = "drained", **more: Any) -> dict[str, Any]:
    observation = {"in_service": True, "in_service_why": URL, "events": [event()], **more}
    return vm("vm1", records=[record(phase, methods=list(methods)), *observation.pop("beside", [])], **observation)


def approvals(found: dict[str, Any]) -> list[str]:
    return [word for word in acts(found) if word.startswith("approve")]


def test_a_file_that_was_not_there_is_no_drain_while_the_vm_serves() -> None:
    found = plan(drained(ABSENT))
    assert acts(found) == [] and not found["done"]
    assert noted(found) == {"phase": "failed", "reason": WHY}
    assert found["fails"] == [f"vm1: {WHY}"] and found["events"][0]["reason"] == WHY


def test_it_fails_is_put_back_and_tried_again_with_the_settings_as_they_are_then() -> None:
    failed = record("failed", methods=[ABSENT], reason=WHY, ago=5)
    found = plan(vm("vm1", [event()], [failed], in_service=True, in_service_why=URL))
    assert acts(found) == ["undo vm1 E1"] and found["fails"] == [f"vm1: the drain failed; its record says: {WHY}"]
    undone = record("failed", methods=[{**ABSENT, "state": "undone"}], reason=WHY, ago=5000)
    assert acts(plan(vm("vm1", [event(due=None)], [undone], in_service=True, in_service_why=URL))) == ["drain vm1 E1"]


def test_near_its_begin_it_stays_as_it_is_and_is_not_approved() -> None:
    near = event(due=60)
    found = plan(vm("vm1", [near], [record("failed", near, methods=[ABSENT], reason=WHY, ago=5)], in_service=True, in_service_why=URL))
    assert acts(found) == [] and found["fails"]


@pytest.mark.parametrize("seen", [{"in_service": False}, {"in_service": None}])
def test_without_a_health_check_that_says_that_it_serves_it_is_approved(seen: dict[str, Any]) -> None:
    assert approvals(plan(drained(ABSENT, **seen))) == ["approve vm1 E1"]


SERVICE = {"id": "2-service", "method": "service", "options": {"names": ["a", "b"]}}
NONE_RAN, ONE_RAN = method(**SERVICE, before={"a": "inactive", "b": "failed"}), method(**SERVICE, before={"a": "inactive", "b": "active"})
NEUTRAL = [method(id=f"3-{kind}", method=kind, before={}) for kind in ("command", "tasks", "none", "silence", "own")]


@pytest.mark.parametrize("methods", [
    (TAKEN,), (ABSENT, ONE_RAN), (ONE_RAN,), NEUTRAL, (NEUTRAL[0],),
    ({**ABSENT, "options": {**MISSPELT, "present_means": "out"}},),
    ({**ABSENT, "options": {**MISSPELT, "may_be_absent": True}},),
    ({**ABSENT, "options": {**MISSPELT, "may_be_absent": "True"}},),
    ({**NONE_RAN, "options": {"may_be_stopped": True}},),
    (ABSENT, method(id="2-haproxy", method="haproxy", before={"server": "vm1", "balancers": {}}, outside=True)),
    (ABSENT, method(id="2-kubernetes", method="kubernetes", before={"node": "vm1"}, outside=True)),
    (ABSENT, method(id="2-patroni", method="patroni", before={"role": "replica"})),
], ids=str)  # fmt: skip
def test_what_proves_that_it_is_out_or_cannot_tell_is_approved(methods: Any) -> None:
    assert approvals(plan(drained(*methods))) == ["approve vm1 E1"]


@pytest.mark.parametrize(("methods", "words"), [
    ((NONE_RAN,), "a, b did not run: is names right? If so, set may_be_stopped: true"),
    ((method(**SERVICE, before={"W3SVC": "stopped"}),), "W3SVC did not run: is names right?"),
    ((ABSENT, NONE_RAN), "/srv/raedy is not there: is path right?"),
    ((ABSENT, *NEUTRAL), "/srv/raedy is not there: is path right?"),
    ((*NEUTRAL, NONE_RAN), "a, b did not run: is names right?"),
    (({**ABSENT, "options": {**MISSPELT, "may_be_absent": False}},), "/srv/raedy is not there: is path right?"),
], ids=str)  # fmt: skip
def test_what_proves_nothing_is_said(methods: Any, words: str) -> None:
    found = plan(drained(*methods))
    assert approvals(found) == [] and found["fails"][0].startswith(f"vm1: its health check finds it in service ({URL}), and {words}")


def test_windows_services_that_ran_prove_it() -> None:
    for state in ("started", "start_pending", "paused"):
        assert approvals(plan(drained(method(**SERVICE, before={"W3SVC": state})))) == ["approve vm1 E1"]


def test_the_drain_of_another_event_proves_it_as_long_as_it_is_not_undone() -> None:
    other = event("E2", due=5000)

    def beside(taken: dict[str, Any]) -> dict[str, Any]:
        return plan(drained(ABSENT, events=[event(), other], beside=[record("drained", other, methods=[taken], order=0)]))

    assert "approve vm1 E1" in approvals(beside(TAKEN))
    # Of a drain of the same misspelt file neither one is approved.
    found = beside(ABSENT)
    assert approvals(found) == [] and [one["event_id"] for one in found["failed"]] == ["E1", "E2"] and found["fails"] == [f"vm1: {WHY}"]
    assert approvals(beside({**TAKEN, "state": "undone"})) == []


def test_an_operator_approves_it() -> None:
    decided = {"action": "approve", "who": "ann", "why": "it is right", "vm": None, "at": at(-5), "until": at(3600)}
    observed = drained(ABSENT)
    observed["observation"]["records"][0]["decision"] = decided
    assert approvals(plan(observed)) == ["approve vm1 E1"]


@pytest.mark.parametrize("key", ["approving_at", "approved_at", "started_at"])
def test_what_may_begin_any_moment_stays_as_it_is(key: str) -> None:
    observed = drained(ABSENT)
    observed["observation"]["records"][0][key] = at(-2)
    found = plan(observed)
    assert found["fails"] == [] and noted(found).get("phase") != "failed"


def test_others_of_the_event_are_not_approved_either_and_come_back() -> None:
    both = event(resources=("vm1", "vm2"))
    wrong = vm("vm1", [both], [record("drained", both, methods=[ABSENT])], in_service=True, in_service_why=URL)
    right = vm("vm2", [both], [record("drained", both)], in_service=True, in_service_why=URL)
    assert approvals(plan(wrong, right)) == []
    failed = vm("vm1", [both], [record("failed", both, methods=[ABSENT], reason=WHY, ago=5)], in_service=True, in_service_why=URL)
    assert acts(plan(failed, right)) == ["undo vm1 E1", "undo vm2 E1"]


@pytest.mark.parametrize("seen,serves", [({"in_service": True, "in_service_why": URL}, URL), ({"in_service": False, "in_service_why": "no"}, None), ({}, None)])
def test_what_the_health_check_says_goes_with_the_drain_for_check_mode(seen: dict[str, Any], serves: str | None) -> None:
    (action,) = [one for one in plan(vm("vm1", [event()], **seen))["actions"] if one["action"] == "drain"]
    assert action.get("serves") == serves
    other = record("drained", event("E2"), methods=[TAKEN])
    (action,) = [one for one in plan(vm("vm1", [event(), event("E2")], [other], **seen))["actions"] if one["action"] == "drain"]
    assert "serves" not in action


@pytest.mark.parametrize("before", [None, [], "absent", {"kind": ["absent"]}, {"kind": {"a": 1}}, 7], ids=str)
def test_whatever_a_record_holds_there_is_an_answer(before: Any) -> None:
    for kind in ("probe_file", "service", "none", "?", "iis"):
        assert plan(drained(method(id="1-x", method=kind, options=None, before=before)))["events"]


# --- A VM that lies in its records ------------------------------------------------------------------------------------------


def test_many_records_with_many_methods_are_looked_at_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    # At the limits of records and methods the plan took over two minutes, for all VMs, when each event looked at all of them.
    asked: list[str] = []
    monkeypatch.setattr(doubts, "kind_of", lambda kind: asked.append(kind) or kind_of(kind))
    events = [event(f"E{number}", ("liar",)) for number in range(20)]
    records = [record("drained", one, methods=[method(id=f"{number}-service", before={"a": "inactive"}) for number in range(20)]) for one in events]
    plan(vm("vm1"), vm("liar", events, records, in_service=True, in_service_why=URL))
    assert len(asked) == 400


def test_a_finding_of_many_or_strange_names_is_a_short_and_visible_reason() -> None:
    names = {f"\x1b[2J\u202e{number}": "inactive" for number in range(5000)}
    found = plan(drained(method(**SERVICE, before=names), in_service_why="\x1b[2J" + "x" * 4000))
    words = noted(found)["reason"]
    assert words.isprintable() and len(words) < 700 and words.endswith("is names right? If so, set may_be_stopped: true")


@pytest.mark.parametrize("kind", ["service", "probe_file", "windows_service", "haproxy", "tasks", "x"])
@pytest.mark.parametrize("finding", [None, 5, "x", [], {}, {"a": []}, {"a": {"b": 1}}, {"kind": ["absent"]}, {"kind": "absent"}])
def test_no_finding_stops_the_plan_for_the_others(kind: str, finding: Any) -> None:
    lie = method(id="1-x", method=kind, before=finding, options={"path": ["x"], "present_means": {}, "names": 5})
    seen = vm("vm1", [event()], [record("drained", methods=[lie])], in_service=True, in_service_why=URL)
    assert "drain vm2 E2" in acts(plan(seen, vm("vm2", [event("E2", ("vm2",))])))
