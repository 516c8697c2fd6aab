# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table with a row for each VM, and what status leaves out."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import observations
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.planner import make_plan
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.status import status
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.timeline import timeline
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import SETTINGS, at, event, method, record, vm

PHASES = (("noticed", -100), ("draining", -98), ("drained", -90), ("approved", -80), ("started", -70), ("gone", -30), ("recovering", -25), ("recovered", -20))


def course(its_event: dict[str, Any], *phases: tuple[str, float]) -> dict[str, Any]:
    return {**record(phases[-1][0], its_event), "history": [{"phase": phase, "at": at(seconds)} for phase, seconds in phases]}


def test_each_vm_has_a_row_and_the_event_its_whole_id_once() -> None:
    whole = event("602D9444-D2CD-49C7-8624-8643E7171297", ("web1", "web2"))
    lines = timeline({"web1": [course(whole, *PHASES)], "web2": [{**course(whole, *PHASES[:3]), "approving_at": at(-85)}]}, "vm")
    assert lines == [
        "Reboot 602D9444-D2CD-49C7-8624-8643E7171297, times in UTC:",
        "VM    Noticed   Drained   Approved  Hit       Back      Drain took  Out of service for",
        "web1  07:58:20  07:58:30  07:58:40  07:58:50  07:59:40  8 s         78 s",
        "web2  07:58:20  07:58:30  07:58:40  -         -         8 s         -",
    ]
    assert timeline({}, "vm") == []


def test_a_drain_that_waited_for_others_took_no_longer_for_that() -> None:
    phases = (("noticed", -3000), ("draining", -2990), *PHASES[2:])
    waited = {**course(event(), *phases), "methods": [method("undone", times={"found": at(-95), "begun": at(-94), "undone": at(-25)})]}
    _id, _headings, web1 = timeline({"web1": [waited]}, "vm")
    assert web1.endswith("5 s         75 s")


@pytest.mark.parametrize("first", ["held", "draining", "started"])
def test_an_event_is_noticed_when_its_record_begins_with_another_phase(first: str) -> None:
    """It is held while only other VMs list it; a watcher drains; a VM that was off learns of an event that has started."""
    again = [(first, -100), ("gone", -30), ("noticed", -20)]
    _id, _headings, web1 = timeline({"web1": [course(event(), *again)]}, "vm")
    assert web1.startswith("web1  07:58:20  ")


def test_the_word_of_one_vm_approves_nothing_for_another() -> None:
    """Each VM of an event notes first that it is about to be approved."""
    both = event("E1", ("web1", "evil"))
    _id, _headings, web1, evil = timeline({"web1": [course(both, *PHASES[:3])], "evil": [{**course(both, *PHASES[:2]), "approved_at": at(-99)}]}, "vm")
    assert ("not yet" in web1, "07:58:21" in evil) == (True, True)


@pytest.mark.parametrize(
    ("phases", "more", "words"),
    [
        (3, {}, "not yet"),
        (3, {"approving_at": at(-85)}, "not known"),
        (3, {"started_at": at(-70)}, "not by us"),
        (3, {"outcome": "cancelled"}, "not needed"),
        (3, {"outcome": "unknown"}, "not known"),
        (3, {"outcome": "completed"}, "not by us"),
        (3, {"approved_at": at(-80)}, "07:58:40"),
        (4, {"outcome": "cancelled"}, "07:58:40"),
    ],
)
def test_an_event_without_an_approval_has_the_reason_in_its_place(phases: int, more: dict[str, Any], words: str) -> None:
    _id, headings, row = timeline({"web1": [{**course(event(), *PHASES[:phases]), **more}]}, "vm")
    place = headings.index("Approved")
    assert row[place:].startswith(f"{words}  ")


def test_an_end_that_no_vm_saw_is_told_in_words() -> None:
    (line,) = [line for line in timeline({"web1": [{**course(event(), *PHASES[:2], ("gone", -30)), "outcome": "unknown"}]}) if "gone" in line]
    assert line.endswith("gone      not known whether it took place")


def plan(*vms: dict[str, Any], **more: Any) -> dict[str, Any]:
    return make_plan(list(vms), settings={**SETTINGS, **more}, now=at(0))


def test_what_is_over_goes_last_and_leaves_after_an_hour() -> None:
    old, ended, new = event("OLD"), event("ENDED"), event("NEW")
    courses = [course(old, *((phase, seconds - 4000) for phase, seconds in PHASES)), course(ended, *PHASES)]
    for one in courses:
        one.update(outcome="completed")
    found = plan(vm("vm1", [new], courses))
    lines = status(found)
    assert [line.split(":")[0] for line in lines[:2]] == ["1. new", "2. ende"]
    assert "2 events" in lines[2]
    assert any("OLD" in line for line in status(found, event_id="OLD"))
    assert [one["event_id"] for one in status(found, "json")["events"]] == ["NEW", "ENDED", "OLD"]


def test_an_empty_list_proves_nothing_but_a_full_one_does() -> None:
    told = [bool(plan(vm("vm1", events, enabled_at=at(-10)))["summary"]["enabling"]) for events in ([], [event()])]
    assert told == [True, False]


def test_a_vm_that_was_let_go_is_not_one_that_cannot_be_read() -> None:
    """An event on db1 first; web3 left the run, and then has an event too."""
    web3 = observations.resting(vm("web3"))
    found = plan(vm("db1", [event("E1", ("db1",)), event("E2", ("web3",))], [record("drained", event("E1", ("db1",)))]), web3)
    line = next(line for line in status(found) if "E2" in line)
    assert "could not be read" not in line and "acknowledge" not in line
    assert line.endswith("web3 had no event when this run began, and no longer takes part in it. Next: the next run handles it.")
    assert found["next_look_in"] == 1


def test_with_events_of_its_own_alone_nothing_more_is_due() -> None:
    web3 = observations.resting(vm("web3"))
    assert plan(vm("db1"), web3)["next_look_in"] is None


# --- Times -------------------------------------------------------------------------------------------------------------


def test_status_of_a_recovered_event_has_every_phase_with_its_time() -> None:
    found = plan(vm("vm1", [], [{**course(event("E1"), *PHASES), "outcome": "completed"}]))
    (one,) = status(found, "json", "E1")["events"]
    times = one["parts"][0]["times"]
    assert one["phase"] == "recovered" and times["phases"] == dict.fromkeys(("held", "failed")) | {phase: at(seconds) for phase, seconds in PHASES}
    assert [item["phase"] for item in times["history"]] == [phase for phase, _seconds in PHASES]
    assert (times["drain_seconds"], times["impact_seconds"], times["out_of_service_seconds"]) == (8.0, 40.0, 78.0)
    assert status(found, event_id="E1")[-1].startswith("vm1  07:58:20  07:58:30  07:58:40  07:58:50  07:59:40  8 s")


def test_what_is_unknown_is_none_and_never_zero() -> None:
    """An event that hit its VM undrained, and a clock that was put back while the VM drained."""
    hit, back = course(event("E1"), PHASES[0], PHASES[4], *PHASES[5:]), course(event("E2"), ("noticed", -100), ("draining", -50), ("drained", -60))
    found = {one["event_id"]: one["parts"][0]["times"] for one in plan(vm("vm1", [], [hit, back]))["events"]}
    assert (found["E1"]["drain_seconds"], found["E1"]["out_of_service_seconds"], found["E1"]["impact_seconds"]) == (None, None, 40.0)
    assert (found["E2"]["drain_seconds"], found["E2"]["impact_seconds"]) == (None, None)


def test_a_pass_ends_with_the_table_of_what_ended_in_it() -> None:
    found = plan(vm("vm1", [], [{**course(event(name), *PHASES), "outcome": "completed"} for name in ("E1", "E2")]))
    assert not any("times in UTC" in line for line in status(found))
    lines = status({**found, "ended": ["E2"]})
    assert [line for line in lines if "times in UTC" in line] == ["Reboot E2, times in UTC:"]
    assert "Out of service for" in lines[-2] and lines[-1].endswith("8 s         78 s")


def test_a_long_history_is_cut_in_a_plan() -> None:
    """A VM may have hundreds of records with hundreds of phases, and the plan is made in each iteration."""
    long = course(event(), *((("draining", "held")[number % 2], number - 1000) for number in range(200)))
    times = plan(vm("vm1", [], [long]))["events"][0]["parts"][0]["times"]
    assert len(times["history"]) == 40 and times["history"][-1]["at"] == at(-801)
