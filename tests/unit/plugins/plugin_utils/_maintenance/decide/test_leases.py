# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several runs at once: all VMs of an event or none, nothing before a fresh observation, and no run passes another's lease."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_schema import event_digest
from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config import settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import leases
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.status import status
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import (
    acts,
    at,
    event,
    noted,
    plan,
    record,
    vm,
)

RUN = {"id": "run000mine", "who": "alice on deploy1"}
PAUSE = event(event_type="Freeze", duration_in_seconds=5)


def lease(event_id: str = "E1", run: str = "run000mine", *, left: float = 100, **more: Any) -> dict[str, Any]:
    """A lease as an observation shows it."""
    found = {
        "name": f"claim-{run}-{event_digest(event_id)}.1.json",
        "run": run,
        "digest": event_digest(event_id),
        "event_id": event_id,
        "kind": "events",
        "who": "bob on deploy2",
        "groups": {},
        "made_at": at(-10),
        "limit": at(left),
        "expired": left < 0,
    }
    return {**found, **more}


def ours(host: str, *events: dict[str, Any], records: Any = (), leases: Any = None, **more: Any) -> dict[str, Any]:
    """A VM that this run has leased for E1, and that has said so before it was observed."""
    seen = vm(host, list(events), list(records), leases=[lease()] if leases is None else leases, **more)
    return {**seen, "acknowledged": ["e1"]}


def theirs(**more: Any) -> dict[str, Any]:
    # Of a higher rank, so that this run releases.
    return lease(more.pop("event_id", "E9"), "ran00other", **more)


def only(found: dict[str, Any], act: str) -> dict[str, Any]:
    """The one step of this kind."""
    (step,) = [step for step in found["actions"] if step["action"] == act]
    return step


def both(**more: Any) -> dict[str, Any]:
    return event(resources=("vm1", "vm2"), **more)


def test_before_a_drain_begins_all_vms_of_the_event_are_leased() -> None:
    found = plan(vm("vm1", [both()]), vm("vm2", [both()]), vm("vm3"), run=RUN)
    assert acts(found) == ["acquire vm1 E1", "acquire vm2 E1"]
    step = next(step for step in found["actions"] if step["action"] == "acquire")
    assert step["lease"] == {"run": "run000mine", "who": "alice on deploy1", "kind": "events", "seconds": 180.0, "groups": {}}
    assert found["requeue"]["seconds"] == 0


def test_whoever_only_observations_on_leases_nothing() -> None:
    assert acts(plan(vm("vm1", [event()]))) == ["drain vm1 E1"]


def test_one_lease_too_few_and_nothing_begins() -> None:
    assert acts(plan(ours("vm1", both()), vm("vm2", [both()]), run=RUN)) == ["acquire vm2 E1"]


def test_a_lease_that_was_not_acknowledged_before_the_observation_does_not_count() -> None:
    late = {**ours("vm2", both()), "acknowledged": []}
    assert acts(plan(ours("vm1", both()), late, run=RUN)) == ["acquire vm2 E1"]


def test_with_all_leases_the_drain_begins_under_them() -> None:
    found = plan(ours("vm1", both()), ours("vm2", both()), run=RUN)
    assert acts(found) == ["drain vm1 E1", "drain vm2 E1"]
    assert all(step["lease"] == {"run": "run000mine", "seconds": 180.0} for step in found["actions"] if step["action"] == "drain")


def test_a_vm_that_cannot_be_read_is_not_waited_for_when_the_others_must_drain() -> None:
    late = both(due=100)
    silent = vm("vm2", state="unreachable", identity_hint={"name": "vm2"})
    assert acts(plan(vm("vm1", [late]), silent, run=RUN)) == ["acquire vm1 E1"]
    assert acts(plan(ours("vm1", late), silent, run=RUN)) == ["drain vm1 E1"]


@pytest.mark.parametrize("other_event", ["E1", "E9"])
def test_another_run_on_one_vm_keeps_this_run_from_all_of_them(other_event: str) -> None:
    found = plan(ours("vm1", both()), vm("vm2", [both()], leases=[theirs(event_id=other_event)]), run=RUN)
    assert acts(found) == ["release vm1 E1"]
    assert only(found, "release")["continues"]
    (shown,) = found["events"]
    assert shown["phase"] == "held"
    assert shown["reason"] == f"run ran00other of bob on deploy2 is at work on vm2 for {other_event}"


def test_nobody_passes_a_lease_that_was_made_later() -> None:
    found = plan(ours("vm1", event(), leases=[lease(made_at=at(-500)), theirs(made_at=at(-1))]), run=RUN)
    assert acts(found) == ["release vm1 E1"]


def test_who_gave_way_comes_back_after_a_random_part_of_the_pause() -> None:
    seen = vm("vm1", [event()], [{**record("noticed"), "methods": []}], leases=[theirs()])
    waits = {plan(seen, run={"id": f"run{number:05}"}, notify=False)["requeue"]["seconds"] for number in range(40)}
    assert len(waits) > 30
    assert all(1 <= seconds <= 30 for seconds in waits)
    chosen = settings.load({"run": RUN})
    assert leases.pause(chosen, 5.0) == leases.pause(chosen, 5.0)
    assert leases.pause(chosen, 5.0) != leases.pause(chosen, 6.0)


def test_a_lease_whose_time_is_over_is_removed_before_anything_begins() -> None:
    found = plan(ours("vm1", event(), leases=[lease(), theirs(left=-1)]), run=RUN)
    assert acts(found) == ["acquire vm1 E1"]
    assert only(found, "acquire")["expired"] == [theirs()["name"]]


def test_what_dead_runs_left_elsewhere_is_removed_too() -> None:
    found = plan(vm("vm1"), vm("vm2", leases=[theirs(left=-1), theirs(event_id="E8")]), run=RUN)
    assert acts(found) == ["release vm2 "]
    assert found["actions"][0]["expired"] == [theirs()["name"]]
    assert not found["actions"][0]["continues"]
    assert acts(plan(vm("vm2", leases=[theirs(left=-1)]))) == []


def test_what_needs_no_lease_any_more_is_released() -> None:
    drained = record("drained", both(), ago=10)
    found = plan(
        ours("vm1", both(), records=[{**drained, "approved_at": at(-5), "phase": "approved"}]),
        ours("vm2", both(), records=[{**drained, "approved_at": at(-5), "phase": "approved"}]),
        run=RUN,
    )
    assert acts(found) == ["release vm1 E1", "release vm2 E1"]


def test_the_last_release_is_nothing_to_wait_for() -> None:
    over = record("recovered", event(), outcome="completed", missing_since=at(-100))
    found = plan(ours("vm1", records=[over]), run=RUN)
    assert acts(found) == ["release vm1 E1"]
    assert found["done"]


def test_an_approval_is_noted_on_every_vm_before_it_is_given() -> None:
    ready = record("drained", both(), ago=10)
    one = ours("vm1", both(), records=[ready])
    two = ours("vm2", both(), records=[ready])
    found = plan(one, two, run=RUN)
    assert acts(found) == []
    assert noted(found, "vm1")["approving_at"] is True
    assert noted(found, "vm2")["approving_at"] is True
    assert all(step["lease"]["run"] == "run000mine" for step in found["actions"] if "approving_at" in step.get("stamp", ()))
    noted_on_one = plan(ours("vm1", both(), records=[{**ready, "approving_at": at(-3)}]), two, run=RUN)
    assert acts(noted_on_one) == []
    given = plan(*(ours(name, both(), records=[{**ready, "approving_at": at(-3)}]) for name in ("vm1", "vm2")), run=RUN)
    assert acts(given) == ["approve vm1 E1"]
    assert given["actions"][-1]["lease"] == {"run": "run000mine", "seconds": 180.0}


def test_a_note_of_an_approval_is_never_written_without_all_leases() -> None:
    ready = record("drained", both(), ago=10)
    found = plan(ours("vm1", both(), records=[ready]), vm("vm2", [both()], [ready]), run=RUN)
    assert acts(found) == ["acquire vm2 E1"]
    assert "approving_at" not in noted(found, "vm1")


def test_what_is_about_to_be_approved_is_not_put_back() -> None:
    good = record("drained", both(), ago=10, approving_at=at(-3))
    bad = record("failed", both(), ago=5, reason="no", approving_at=at(-3))
    found = plan(ours("vm1", both(), records=[good]), ours("vm2", both(), records=[bad]), run=RUN)
    assert not [act for act in acts(found) if act.startswith("undo")]
    without = plan(ours("vm1", both(), records=[{**good, "approving_at": None}]), ours("vm2", both(), records=[{**bad, "approving_at": None}]), run=RUN)
    assert "undo vm1 E1" in acts(without)


def test_the_vm_that_approves_is_leased_even_if_the_event_does_not_name_it() -> None:
    ready = record("drained", event(), ago=10, approving_at=at(-3))
    unlisted = ours("vm1", records=[ready])
    found = plan(unlisted, vm("vm2", [event()]), run=RUN)
    assert acts(found) == ["acquire vm2 E1"]
    assert acts(plan(unlisted, ours("vm2", event()), run=RUN)) == ["approve vm2 E1"]


def test_recovery_leases_only_its_own_vm() -> None:
    over = record("gone", both(), outcome="completed", missing_since=at(-60))
    silent = vm("vm2", state="unreachable", identity_hint={"name": "vm2"})
    assert acts(plan(vm("vm1", records=[over]), silent, run=RUN)) == ["acquire vm1 E1"]
    assert acts(plan(ours("vm1", records=[over]), silent, run=RUN)) == ["recover vm1 E1"]
    held = plan(ours("vm1", records=[over], leases=[lease(), theirs()]), silent, run=RUN)
    assert acts(held) == ["release vm1 E1"]


GROUP = {"name": "web", "members": ["vm1", "vm2", "vm3"], "max_unavailable": 1}


def test_a_lease_takes_room_in_its_groups() -> None:
    one = ours("vm1", event())
    assert acts(plan(one, vm("vm2"), vm("vm3"), run=RUN, capacity=[GROUP])) == ["drain vm1 E1"]
    found = plan(one, vm("vm2", leases=[theirs()]), vm("vm3"), run=RUN, capacity=[GROUP])
    assert acts(found) == ["release vm1 E1"]
    assert "vm2 (leased by run ran00other of bob on deploy2)" in found["events"][0]["reason"]
    # Only slow, perhaps: it counts until it is removed, and that is done at once.
    late = plan(one, vm("vm2", leases=[theirs(left=-1)]), vm("vm3"), run=RUN, capacity=[GROUP])
    assert acts(late) == ["release vm2 ", "release vm1 E1"] or acts(late) == ["release vm1 E1", "release vm2 "]


def test_runs_with_other_lists_of_members_hold_each_other_where_they_meet() -> None:
    """A lease counts for its own VM: elsewhere its word about the group would be one VM's word about all others."""
    one = ours("vm1", event())
    (group,) = settings.load({"capacity": [GROUP]}).capacity
    wide = {**GROUP, "max_unavailable": 2}
    agreed = plan(one, vm("vm2", leases=[theirs(groups={"web": group.hash})]), vm("vm3"), run=RUN, capacity=[wide])
    assert acts(agreed) == ["drain vm1 E1"]
    found = plan(one, vm("vm2", leases=[theirs(groups={"web": "another"})]), vm("vm3"), run=RUN, capacity=[wide])
    assert acts(found) == ["drain vm1 E1"]
    assert "at work on vm2, declares other members for capacity group 'web'" in found["summary"]["problems"][0]
    # A dead one says nothing any more; a live one on a VM of the event holds it.
    dead = plan(one, vm("vm2", leases=[theirs(groups={"web": "another"}, left=-1)]), vm("vm3"), run=RUN, capacity=[wide])
    assert not [text for text in dead["summary"]["problems"] if "declares" in text]
    met = plan(ours("vm1", event(), leases=[theirs(groups={"web": "another"})]), vm("vm2"), vm("vm3"), run=RUN, capacity=[wide])
    assert not [word for word in acts(met) if word.startswith("drain")]
    assert "declares other members" in met["events"][0]["reason"]


def test_the_order_of_members_makes_no_other_group() -> None:
    one, other, less = (
        settings.load({"capacity": [{**GROUP, "members": members}]}).capacity[0].hash
        for members in (["vm1", "vm2", "vm3"], ["vm3", "vm2", "vm1"], ["vm1", "vm2"])
    )
    assert one == other
    assert one != less


def test_what_only_says_that_it_begins_waits_and_counts_when_the_room_is_taken() -> None:
    begun = record("draining", event())
    begun["methods"][0]["state"] = "found"
    full = vm("vm2", [event("E2", ("vm2",))], [record("drained", event("E2", ("vm2",)))])
    found = plan(ours("vm1", event(), records=[begun]), full, vm("vm3"), run=RUN, capacity=[GROUP])
    assert [act for act in acts(found) if "vm1" in act] == ["release vm1 E1"]
    assert "vm1" in found["capacity"][0]["out"]
    acted = record("draining", event())
    assert "drain vm1 E1" in acts(plan(ours("vm1", event(), records=[acted]), full, vm("vm3"), run=RUN, capacity=[GROUP]))


def test_status_says_who_is_at_work() -> None:
    found = plan(vm("vm1", [event()], leases=[theirs(left=-5)]), vm("vm2", leases=[theirs()]))
    lines = [line for line in status(found) if line.startswith("At work")]
    assert lines == [
        "At work: run ran00other of bob on deploy2 for event E9 on vm1, since 07:59:50 UTC; its time limit has passed, so the next run takes over.",
        "At work: run ran00other of bob on deploy2 for event E9 on vm2, since 07:59:50 UTC. If it is dead, the next run takes over at 08:01:40 UTC.",
    ]


@pytest.mark.parametrize("run", [{"id": "Bad Id"}, {"id": "ab"}, {"id": "abcd", "kind": "party"}, {"name": "x"}, "abcd", 5])
def test_a_run_that_cannot_be_is_refused(run: Any) -> None:
    with pytest.raises(WrongInput, match="setting run"):
        settings.load({"run": run})


def test_a_vm_that_the_event_no_longer_names_does_not_hold_it() -> None:
    """Another run is at work on a VM whose failed drain is undone; the event is of the other VM alone."""
    now = event(resources=("vm1",), due=3600)
    found = plan(vm("vm1", [now]), vm("vm2", [now], [record("failed", both())], leases=[theirs()]), run=RUN)
    assert (found["events"][0]["phase"], acts(found)) == ("noticed", ["acquire vm1 E1"])


def test_a_vm_that_the_event_no_longer_names_is_leased_before_it_is_undone() -> None:
    now = event(resources=("vm1",), due=3600)
    failed = vm("vm2", [now], [record("failed", both())])
    assert acts(plan(ours("vm1", now), failed, run=RUN)) == ["acquire vm2 E1", "drain vm1 E1"]


def test_events_that_are_not_this_runs_business_are_not_leased() -> None:
    assert acts(plan(vm("vm1", [event()]), run=RUN, only_events=["E7"])) == []


def test_a_short_pause_is_leased_and_noted_as_well() -> None:
    assert acts(plan(vm("vm1", [PAUSE]), run=RUN)) == ["acquire vm1 E1"]
    noticed = {**record("noticed", PAUSE), "methods": [], "rule": None}
    assert noted(plan(ours("vm1", PAUSE, records=[noticed]), run=RUN))["approving_at"] is True
    assert acts(plan(ours("vm1", PAUSE, records=[{**noticed, "approving_at": at(-1)}]), run=RUN)) == ["approve vm1 E1"]


def test_the_first_note_is_written_only_where_there_is_no_record_yet() -> None:
    """Another run may have noticed it, and begun, since this run looked."""
    found = plan(vm("vm1", [event()]), run=RUN)
    assert [step["expected_revision"] for step in found["actions"] if step["action"] == "write"] == [0]


# --- The pause after giving way -----------------------------------------------------------------------------------------


def test_runs_that_gave_way_come_back_at_different_moments_of_the_next_half_minute() -> None:
    pauses = []
    for number in range(200):
        found = plan(vm("vm1", [event()], [record("noticed")], leases=[theirs()]), run={**RUN, "id": f"run{number:05}"})
        assert acts(found) == []
        pauses.append(found["requeue"]["seconds"])
    assert all(1 <= seconds <= 30 for seconds in pauses)
    assert min(pauses) < 2 and max(pauses) > 29
    assert sum(pauses) / len(pauses) == pytest.approx(15.5, abs=1.5)
    assert len(set(pauses)) == len(pauses)


def test_what_a_person_reads_of_another_run_names_it_its_purpose_and_the_vm() -> None:
    found = plan(vm("vm1", [event()], [record("noticed")], leases=[theirs()]), run=RUN)
    text = found["events"][0]["parts"][0]["reason"]
    assert "bob on deploy2" in text and text.endswith("is at work on vm1 for E9")
    nameless = plan(vm("vm1", [event()], [record("noticed")], leases=[theirs(event_id="", digest="0" * 16)]), run=RUN)
    assert "is at work on vm1" in nameless["events"][0]["parts"][0]["reason"]


def test_the_plan_shows_every_lease_and_whose_it_is() -> None:
    found = plan(vm("vm1", [event()], leases=[lease(), theirs(left=-5), lease("E8", "run0000aaa")]), run=RUN)
    shown = [(one["host"], one["run"], one["event_id"], one["expired"], one["ours"]) for one in found["leases"]]
    assert shown == [("vm1", "run000mine", "E1", False, True), ("vm1", "ran00other", "E9", True, False), ("vm1", "run0000aaa", "E8", False, False)]


def test_an_expired_lease_is_removed_once_and_this_runs_own_released_where_nothing_is_done() -> None:
    idle = plan(vm("vm1", leases=[lease(), theirs(left=-5)]), run=RUN)
    (release,) = [step for step in idle["actions"] if step["action"] == "release"]
    assert (release["event_id"], release["continues"]) == ("E1", False)
    assert release["expired"] == [theirs()["name"]]
    two = plan(vm("vm1", leases=[lease(), lease("E2"), theirs(left=-5)]), run=RUN)
    assert [bool(step["expired"]) for step in two["actions"] if step["action"] == "release"] == [True, False]
    assert [step["continues"] for step in two["actions"] if step["action"] == "release"] == [False, True]
    assert idle["done"]


def test_spaces_in_a_liars_form_of_an_id_are_in_no_lease() -> None:
    # Of a longer text an observation shows the beginning alone: a lease for it could not be released by its id.
    liar = event(" " * 5000 + "E1", ("liar", "web1"))
    found = plan(vm("liar", [liar]), vm("web1", [event("E1", ("liar", "web1"))]), run=RUN)
    assert {step["host"]: step["event_id"] for step in found["actions"] if step["action"] == "acquire"} == {"liar": "E1", "web1": "E1"}


# --- Runs that meet --------------------------------------------------------------------------------------------------------


LOWER = "zzz00other"


def met(*leases_of_vm2: dict[str, Any], looks: int = 0, **more: Any) -> dict[str, Any]:
    """The plan of a run with leases on both VMs of an event, where vm2 has these as well."""
    return plan(ours("vm1", both()), ours("vm2", both(), leases=[lease(), *leases_of_vm2]), run={**RUN, "looks": looks}, **more)


@pytest.mark.parametrize(
    ("others", "keeps"),
    [
        ([("events", LOWER)], True),
        ([("events", "aaa00other")], False),
        # An upgrade gives way to events, whatever their ids.
        ([("upgrade", "aaa00other")], True),
        ([("upgrade", "aaa00other"), ("events", LOWER)], True),
        ([("events", LOWER), ("events", "aaa00other")], False),
    ],
)
def test_of_runs_that_meet_the_rank_decides_who_releases_and_none_acts(others: list[tuple[str, str]], keeps: bool) -> None:
    found = met(*[lease("E9", run, kind=kind) for kind, run in others])
    assert acts(found) == ([] if keeps else ["release vm1 E1", "release vm2 E1"])
    assert found["requeue"]["meets_in"] == (1.0 if keeps else 2.0)
    assert found["requeue"]["seconds"] <= 2.0
    assert found["events"][0]["phase"] == "held"


def test_who_keeps_its_leases_goes_on_only_when_no_other_live_lease_is_left() -> None:
    assert acts(met(looks=3)) == ["drain vm1 E1", "drain vm2 E1"]
    assert met(looks=3)["requeue"]["meets_in"] is None


@pytest.mark.parametrize("other", [LOWER, "aaa00other"])
def test_no_run_looks_more_often_than_so_many_times(other: str) -> None:
    found = met(lease("E9", other), looks=leases.MOST_LOOKS)
    assert acts(found) == ["release vm1 E1", "release vm2 E1"]
    assert found["requeue"]["meets_in"] is None


def test_who_has_released_looks_again_and_who_comes_later_does_not() -> None:
    other = vm("vm2", [both()], leases=[lease("E9", "aaa00other")])
    assert plan(vm("vm1", [both()]), other, run={**RUN, "looks": 1})["requeue"]["meets_in"] == 2.0
    assert plan(vm("vm1", [both()]), other, run=RUN)["requeue"]["meets_in"] is None


@pytest.mark.parametrize(("other", "keeps"), [(LOWER, True), ("aaa00other", False)])
def test_of_runs_that_meet_in_the_last_place_of_a_group_one_keeps_its_lease(other: str, keeps: bool) -> None:
    one, two = ours("vm1", event()), vm("vm2", leases=[lease("E9", other)])
    found = plan(one, two, vm("vm3"), run=RUN, capacity=[GROUP])
    assert acts(found) == ([] if keeps else ["release vm1 E1"])
    assert found["requeue"]["meets_in"] == (1.0 if keeps else 2.0)
    # What is out for another reason is no meeting: it does not end in a few seconds.
    out = vm("vm2", [], [record("drained", event("E9", ("vm2",)))], leases=[lease("E9", other)])
    assert plan(one, out, vm("vm3"), run=RUN, capacity=[GROUP])["requeue"]["meets_in"] is None


@pytest.mark.parametrize("other", [LOWER, "aaa00other"])
def test_who_keeps_its_leases_drains_what_is_urgent_and_not_contested(other: str) -> None:
    found = plan(ours("vm1", both(due=100)), ours("vm2", both(due=100), leases=[lease(), lease("E9", other)]), run=RUN)
    assert "drain vm1 E1" in acts(found)
    assert "drain vm2 E1" not in acts(found)


@pytest.mark.parametrize(("other", "keeps"), [(LOWER, True), ("aaa00other", False)])
def test_of_runs_that_meet_in_a_recovery_one_keeps_its_lease(other: str, keeps: bool) -> None:
    over = record("gone", missing_since=at(-200), outcome="completed", started_at=at(-300))
    found = plan(ours("vm1", records=[over], leases=[lease(), lease("E1", other)]), run=RUN)
    assert acts(found) == ([] if keeps else ["release vm1 E1"])
    assert found["requeue"]["meets_in"] == (1.0 if keeps else 2.0)


# --- After a killed run -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phase", "listed", "what"),
    [
        ("noticed", True, "drains its VMs"),
        ("draining", True, "goes on with the drain"),
        ("drained", True, "approves it"),
        ("gone", False, "recovers its VMs"),
    ],
)
def test_status_says_when_the_next_run_takes_over_and_what_it_does(phase: str, listed: bool, what: str) -> None:
    over = {} if listed else {"missing_since": at(-200), "outcome": "completed", "started_at": at(-300)}
    # A watcher or a policy may begin later: its drain is due.
    its = event(due=100 if phase == "noticed" else 900)
    found = plan(vm("vm1", [its] if listed else [], [record(phase, its, **over)], leases=[theirs(event_id="E1")]))
    assert found["events"][0]["next"] == f"wait for run ran00other of bob on deploy2; if it is dead, the next run takes over at 08:01:40 UTC and {what}"
