# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The life of an event (facts, parts e1 and b2)."""

from __future__ import annotations

import pytest
from imds_simulator.events.event import EventError
from imds_simulator.vm import Vm
from simulator_bench import START, Bench


@pytest.mark.parametrize(("event_type", "seconds"), [("Freeze", 900), ("Reboot", 900), ("Redeploy", 600), ("Preempt", 30), ("Terminate", 300)])
def test_minimum_notice(bench: Bench, event_type: str, seconds: int) -> None:
    event = bench.create(event_type)
    assert event.not_before_date == START + seconds
    bench.advance(seconds - 0.001)
    assert bench.shown() == [(event_type, "Scheduled")]
    bench.advance(0.001)
    assert bench.shown() == [(event_type, "Started")]
    assert bench.document()["Events"][0]["NotBefore"] == ""


def test_each_visible_change_counts_one_and_the_id_stays(bench: Bench) -> None:
    assert bench.document() == {"DocumentIncarnation": 1, "Events": []}
    event = bench.create()
    documents = [bench.document()]
    assert bench.approve(event.event_id) == 200
    assert bench.document() == documents[0], "an approval alone changes nothing visible"
    bench.advance(5)
    documents.append(bench.document())
    bench.advance(600)
    documents.append(bench.document())
    assert [document["DocumentIncarnation"] for document in documents] == [2, 3, 4]
    assert [[entry["EventId"] for entry in document["Events"]] for document in documents] == [[event.event_id]] * 2 + [[]]
    assert bench.log() == ["created", "approved", "started", "impact", "impact_ended", "finished"]


def test_an_approval_just_before_not_before_starts_nothing_twice(bench: Bench) -> None:
    event = bench.create()
    bench.advance(898)
    bench.approve(event.event_id)
    bench.advance(2)
    assert bench.shown() == [("Reboot", "Started")]
    bench.advance(100)
    assert bench.log().count("started") == 1


def test_an_approval_of_a_started_event_is_fine_and_of_a_gone_one_is_unknown(bench: Bench) -> None:
    event = bench.create(started_seconds=10)
    bench.simulator.machine.start(event)
    assert bench.approve(event.event_id) == 200
    assert event.approved_by == []
    bench.advance(10)
    assert bench.approve(event.event_id) == 400


def test_ids_are_compared_without_case_and_a_second_vm_may_approve_too(bench: Bench) -> None:
    event = bench.create("Freeze", "web1", "web2")
    assert bench.approve(event.event_id.lower()) == 200
    assert bench.approve(event.event_id, vm="web2") == 200
    assert event.approved_by == ["web1", "web2"]


def test_one_unknown_id_spoils_the_whole_request(bench: Bench) -> None:
    event = bench.create()
    assert bench.approve(event.event_id, "unknown") == 400
    assert event.approved_by == []


def test_a_hardware_failure_is_started_at_once(bench: Bench) -> None:
    bench.create("Reboot", status="Started")
    assert bench.document()["DocumentIncarnation"] == 2
    assert bench.shown() == [("Reboot", "Started")]


def test_a_cancelled_event_has_no_impact(bench: Bench) -> None:
    bench.create(cancel_after=480)
    bench.advance(2000)
    assert bench.log() == ["created", "cancelled"]
    assert bench.document() == {"DocumentIncarnation": 3, "Events": []}


@pytest.mark.parametrize(("tenants", "seconds"), [([300], 305), ([None], 900), ([10, 600], 605)])
def test_other_tenants_of_the_node_have_to_agree(bench: Bench, tenants: list[float | None], seconds: float) -> None:
    event = bench.create("Freeze", tenants=tenants)
    bench.approve(event.event_id)
    bench.advance(seconds - 1)
    assert bench.shown() == [("Freeze", "Scheduled")]
    bench.advance(1)
    assert bench.shown() == [("Freeze", "Started")]


def test_required_approvals(bench: Bench) -> None:
    needs_all = bench.create("Freeze", "web1", "WEB2", approvals="all")
    counts_none = bench.create("Freeze", approvals="none")
    bench.approve(needs_all.event_id, counts_none.event_id)
    bench.advance(60)
    assert [needs_all.state, counts_none.state] == ["scheduled", "scheduled"]
    bench.approve(needs_all.event_id, vm="web2")
    bench.create("Reboot", approvals="automatic")
    bench.advance(5)
    assert [status for _kind, status in bench.shown()] == ["Started", "Scheduled", "Started"]


@pytest.mark.parametrize("earlier", [300, 600])
def test_a_terminate_waits_for_an_earlier_or_equal_one_of_its_group(bench: Bench, earlier: int) -> None:
    first, second = bench.create("Terminate", "web1", notice=earlier), bench.create("Terminate", "web2", notice=600)
    bench.approve(second.event_id)
    bench.advance(60)
    assert second.state == "scheduled"
    bench.approve(first.event_id)
    bench.advance(5)
    assert [first.state, second.state] == ["started", "started"]


def test_an_earlier_terminate_does_not_wait_for_a_later_one(bench: Bench) -> None:
    first, second = bench.create("Terminate", "web1", notice=300), bench.create("Terminate", "web2", notice=600)
    bench.approve(first.event_id)
    bench.advance(5)
    assert [first.state, second.state] == ["started", "scheduled"]


def test_terminates_of_different_groups_are_not_coupled() -> None:
    bench = Bench(Vm("web1", group="a"), Vm("web2", group="b"))
    bench.create("Terminate", "web1")
    second = bench.create("Terminate", "web2")
    bench.approve(second.event_id, vm="web2")
    bench.advance(5)
    assert second.state == "started"
    bench.close()


def test_a_preempted_vm_is_gone(bench: Bench) -> None:
    bench.create("Preempt")
    bench.advance(31)
    assert [vm.gone for vm in bench.simulator.groups.vms.values()] == [True, False]


def test_impacts_are_logged_with_their_kind_and_length(bench: Bench) -> None:
    bench.create(status="Started", impact_type="Freeze", impact_seconds=7, secondary_impacts=[{"after": 100, "seconds": 2}])
    bench.advance(200)
    impacts = [entry for entry in bench.simulator.recorder.log() if entry["transition"].startswith("impact")]
    shown = [(entry["at"], entry["transition"], entry["secondary"]) for entry in impacts]
    assert shown == [(1, "impact", False), (8, "impact_ended", False), (100, "impact", True), (102, "impact_ended", True)]
    assert {entry.get("impact_type", "Freeze") for entry in impacts} == {"Freeze"}
    assert bench.document()["DocumentIncarnation"] == 2


def test_the_eleventh_user_event_waits_or_is_refused() -> None:
    bench = Bench("web1", user_event_limit=10)
    events = [bench.create(event_source="User", started_seconds=10) for _number in range(11)]
    bench.create(event_source="Platform")
    assert len(bench.shown()) == 11
    assert events[10].state == "waiting"
    bench.simulator.machine.cancel(events[0])
    assert events[10].state == "scheduled"
    bench.simulator.switches.change({"user_event_overflow": "refuse"})
    with pytest.raises(EventError, match="10 user-initiated"):
        bench.create(event_source="User")
    bench.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colour": "red"}, "has no 'colour'"),
        ({"resources": "web1"}, "cannot be 'web1'"),
        ({"status": "Completed"}, "one of Scheduled, Started"),
        ({"duration_in_seconds": True}, "cannot be True"),
        ({"not_before": "tomorrow"}, "not an ISO 8601 date"),
    ],
)
def test_invalid_event_options_are_refused_without_effect(bench: Bench, options: dict[str, object], message: str) -> None:
    with pytest.raises(EventError, match=message):
        bench.simulator.machine.create(options)
    assert bench.simulator.machine.events == {}


def test_an_id_is_used_once(bench: Bench) -> None:
    bench.create(event_id="A1")
    with pytest.raises(EventError, match="new EventId"):
        bench.create(event_id="a1")


def test_impossible_transitions_are_errors(bench: Bench) -> None:
    event = bench.create()
    with pytest.raises(EventError, match="only a started one"):
        bench.simulator.machine.finish(event)
    bench.simulator.machine.start(event)
    with pytest.raises(EventError, match="cannot start"):
        bench.simulator.machine.start(event)
    bench.simulator.machine.cancel(event)
    with pytest.raises(EventError, match="gone already"):
        bench.simulator.machine.cancel(event)


@pytest.mark.parametrize(
    "event_type,notice,good",
    [("Freeze", 900, True), ("Freeze", 899, False), ("Redeploy", 600, True), ("Preempt", 29, False), ("Terminate", 300, True), ("Terminate", 901, False)],
)
def test_the_notice_of_azure_can_be_enforced(event_type: str, notice: int, good: bool) -> None:
    bench = Bench("web1", minimum_notice=True)
    if good:
        assert bench.create(event_type=event_type, notice=notice).listed
    else:
        with pytest.raises(EventError, match=f"Azure gives {event_type} .* of notice, not {notice} "):
            bench.create(event_type=event_type, notice=notice)
    # A host that fails gives none.
    assert bench.create(event_type="Reboot", status="Started").state == "started"
    bench.close()


def test_fault_domains_can_be_kept_apart() -> None:
    vms = [Vm("web1", fault_domain="0"), Vm("web2", fault_domain="1"), Vm("web3", fault_domain="0"), Vm("db1", group="db", fault_domain="1")]
    bench = Bench(*vms, domains_apart=True)
    bench.create(resources=["web1"])
    for hit in (["web2"], ["web3", "web2"]):
        with pytest.raises(EventError, match="two fault domains of group default"):
            bench.create(resources=hit)
    assert all(bench.create(resources=[name]).listed for name in ("web3", "db1"))
    # A person may do what routine maintenance does not.
    assert bench.create(resources=["web2"], event_source="User").listed
    bench.close()
