# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a pause and a start gate hold, and what goes on: by hand, for any fleet, and in a closed loop."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import approval_blockers, deadlines, intents, start_holds
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.status import status
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.budget.test_capacity_any import fleet, observation
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import SETTINGS, acts, at, event, method, noted, plan, record, vm
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.world import START, World

NAMES = ("vm1", "vm2", "vm3", "vm4", "vm5")
# A whole drain and the margin: from here on it begins in any case.
DEADLINE = SETTINGS["drain_seconds"] + 30
TEXT = f"paused by alice until {timestamps.to_the_second(timestamps.parse(at(7200)) or 0.0)}: release night"
PAUSED = {"who": "alice", "why": "release night", "until": at(7200)}
NO = {"go": False, "text": "http://127.0.0.1:9/ answered 503"}
SHORT = {"event_type": "Freeze", "duration_in_seconds": 5}
HOLDS: dict[str, dict[str, Any]] = {"pause": {"paused": PAUSED}, "gate": {"start_gate": NO}}
each_hold = pytest.mark.parametrize("hold", HOLDS.values(), ids=HOLDS)
AT_ONCE = [{"drain": True, "approve": "after_drain", "drain_at": "now"}]
LET_COME = [{"drain": True, "approve": "after_drain", "hold_at_deadline": "let_it_come"}]


def override(action: str, **more: Any) -> dict[str, Any]:
    return {"action": action, "who": "bob", "why": "agreed", "vm": None, "at": at(-5), "until": at(3600), **more}


# What is held


@each_hold
def test_a_drain_does_not_begin_and_says_why(hold: dict[str, Any]) -> None:
    found = plan(vm("vm1", [event()], [record("noticed")]), **hold)
    assert acts(found) == []
    assert noted(found)["phase"] == "held"
    assert found["events"][0]["phase"] == "held"
    assert found["failed"] == []
    assert not found["done"]


def test_the_reasons_and_ways_out() -> None:
    entry = plan(vm("vm1", [event()], [record("noticed")]), paused=PAUSED)["events"][0]
    assert (entry["reason"], entry["next"]) == (TEXT, "remove respond_paused; otherwise observe again in 11 min")
    entry = plan(vm("vm1", [event()], [record("noticed")]), start_gate=NO)["events"][0]
    assert entry["reason"] == "start gate says no: http://127.0.0.1:9/ answered 503"
    assert entry["next"] == "see why the start gate (respond_start_when) says no; otherwise observe again in 60 s"


def test_an_event_is_noticed_and_told_of_while_the_fleet_is_paused() -> None:
    found = plan(vm("vm1", [event()]), paused=PAUSED)
    assert acts(found, notes=True) == ["write vm1 E1"]
    assert noted(found) == {"phase": "noticed"}
    assert [step["phase"] for step in found["actions"] if step["action"] == "notify"] == ["noticed", "held"]


@each_hold
def test_what_a_record_keeps_does_not_change_from_pass_to_pass(hold: dict[str, Any]) -> None:
    kept = noted(plan(vm("vm1", [event()], [record("noticed")]), **hold))
    other = {"start_gate": {**NO, "text": "something else"}} if "start_gate" in hold else hold
    assert noted(plan(vm("vm1", [event()], [{**record("held"), **kept}]), now=60, **other)) == {}


@each_hold
def test_an_approval_without_a_drain_is_held_and_says_why(hold: dict[str, Any]) -> None:
    one = vm("vm1", [event(**SHORT)], [record("noticed", event(**SHORT))])
    assert acts(plan(one)) == ["approve vm1 E1"]
    found = plan(one, **hold)
    assert acts(found) == []
    assert noted(found)["phase"] == "held"
    assert found["events"][0]["phase"] == "held"


def test_a_pause_holds_the_approval_of_what_is_drained_and_a_gate_does_not() -> None:
    drained = vm("vm1", [event()], [record("drained")])
    assert acts(plan(drained)) == ["approve vm1 E1"]
    found = plan(drained, paused=PAUSED)
    assert acts(found) == []
    assert (found["events"][0]["phase"], found["events"][0]["reason"]) == ("drained", TEXT)
    # It is out of service already: held, it would only be so for longer.
    assert acts(plan(drained, start_gate=NO)) == ["approve vm1 E1"]


def test_an_operator_s_approval_answers_for_the_gate_and_not_for_the_pause() -> None:
    one = vm("vm1", [event()], [record("noticed", decision=override("approve"))])
    assert acts(plan(one, start_gate=NO)) == ["approve vm1 E1"]
    assert acts(plan(one, paused=PAUSED)) == []


def test_an_announced_approval_passes_the_gate_and_not_the_pause() -> None:
    one = vm("vm1", [event(**SHORT)], [record("noticed", event(**SHORT), approving_at=at(-1))])
    assert acts(plan(one, start_gate=NO)) == ["approve vm1 E1"]
    assert acts(plan(one, paused=PAUSED)) == []


@each_hold
def test_a_failed_drain_is_not_tried_again(hold: dict[str, Any]) -> None:
    failed = record("failed", ago=100, methods=[method("undone")])
    assert acts(plan(vm("vm1", [event()], [failed]))) == ["drain vm1 E1"]
    assert acts(plan(vm("vm1", [event()], [failed]), **hold)) == []
    assert acts(plan(vm("vm1", [event(due=DEADLINE)], [failed]), **hold)) == ["drain vm1 E1"]


@each_hold
def test_an_event_without_a_time_is_held(hold: dict[str, Any]) -> None:
    assert acts(plan(vm("vm1", [event(due=None)], [record("noticed", event(due=None))]), **hold)) == []


@each_hold
def test_drain_at_now_and_seconds_do_not_pass_it(hold: dict[str, Any]) -> None:
    for drain_at in ("now", 800):
        policy = [{"drain": True, "approve": "after_drain", "drain_at": drain_at}]
        one = vm("vm1", [event(due=700)], [record("noticed", event(due=700))])
        assert acts(plan(one, policy=policy)) == ["drain vm1 E1"]
        assert acts(plan(one, policy=policy, **hold)) == []


def test_a_held_event_takes_no_place_and_no_lease() -> None:
    capacity = [{"name": "all", "members": ["vm1", "vm2"], "max_unavailable": 1}]
    found = plan(vm("vm1", [event()], [record("noticed")]), vm("vm2"), paused=PAUSED, capacity=capacity, run={"id": "run000mine"})
    assert acts(found) == []


def test_an_override_that_holds_is_named_once_the_pause_is_over() -> None:
    one = vm("vm1", [event()], [record("noticed", decision=override("hold"))])
    assert plan(one, paused=PAUSED)["events"][0]["reason"] == TEXT
    assert plan(one)["events"][0]["reason"].startswith("held by bob")
    # The end of the pause is not the end of the override.
    assert acts(plan(one, start_gate=NO)) == []


def test_an_event_that_nothing_begins_for_is_not_held() -> None:
    policy = [{"drain": False, "approve": "never"}]
    found = plan(vm("vm1", [event()], [record("noticed")]), policy=policy, paused=PAUSED)
    assert found["events"][0]["phase"] == "noticed"
    assert noted(found) == {}


def test_an_event_far_away_waits_for_its_time_and_not_for_the_gate() -> None:
    far = event(due=3 * 86400)
    found = plan(vm("vm1", [far], [record("noticed", far)]), start_gate=NO)
    assert (found["events"][0]["phase"], noted(found)) == ("noticed", {})


# What goes on


@each_hold
def test_at_its_deadline_a_drain_begins(hold: dict[str, Any]) -> None:
    for due, wanted in ((DEADLINE + 1, []), (DEADLINE, ["drain vm1 E1"]), (5, ["drain vm1 E1"])):
        found = plan(vm("vm1", [event(due=due)], [record("noticed", event(due=due))]), **hold)
        assert acts(found) == wanted, due
    started = event(status="Started")
    assert acts(plan(vm("vm1", [started], [record("noticed", started)]), **hold)) == ["drain vm1 E1"]
    # By a schedule, one pass earlier.
    assert acts(plan(vm("vm1", [event(due=DEADLINE + 300)], [record("noticed")]), pass_interval=300, **hold)) == ["drain vm1 E1"]


def test_what_drained_at_its_deadline_is_not_approved_while_paused() -> None:
    near = event(due=60)
    assert acts(plan(vm("vm1", [near], [record("drained", near)]), paused=PAUSED)) == []
    assert acts(plan(vm("vm1", [near], [record("drained", near)]), start_gate=NO)) == ["approve vm1 E1"]


def test_at_its_deadline_let_it_come_counts_for_a_pause_as_for_any_other_hold() -> None:
    near = vm("vm1", [event(due=60)], [record("noticed", event(due=60))])
    assert acts(plan(near, policy=LET_COME, paused=PAUSED)) == []
    # A gate is not asked at the deadline, so it holds nothing.
    assert acts(plan(near, policy=LET_COME, start_gate=NO)) == ["drain vm1 E1"]


@each_hold
@pytest.mark.parametrize(
    ("one", "wanted"),
    [
        (vm("vm1", [], [record("drained", missing_since=at(-60))]), ["recover vm1 E1"]),
        (vm("vm1", [], [record("gone", outcome="completed")]), ["recover vm1 E1"]),
        (vm("vm1", [event()], [record("failed", methods=[method("failed")])]), ["undo vm1 E1"]),
        (vm("vm1", [event()], [record("draining")]), ["drain vm1 E1"]),
        (vm("vm1", [event(status="Started")], [record("drained", event(), boot_id="old")]), ["drain vm1 E1"]),
        (vm("vm1", [event()], [record("drained", boot_id="old")]), ["drain vm1 E1"]),
        (vm("vm1", [], [record("recovered", ago=90000, outcome="completed")]), ["prune vm1 E1"]),
    ],
    ids=["missing", "gone", "undo", "draining", "after its boot", "verify", "prune"],
)
def test_what_was_begun_goes_on(one: dict[str, Any], wanted: list[str], hold: dict[str, Any]) -> None:
    assert acts(plan(one)) == acts(plan(one, **hold)) == wanted


@each_hold
def test_a_vm_comes_back_although_a_held_event_names_it(hold: dict[str, Any]) -> None:
    over = record("gone", event("E0"), outcome="completed")
    found = plan(vm("vm1", [event()], [over, record("noticed", event())]), **hold)
    assert acts(found) == ["recover vm1 E0"]


# The pause in reports


def test_a_paused_fleet_is_the_first_line_of_every_report() -> None:
    line = f"P{TEXT[1:]}. No drain and no approval begins, except a drain at its deadline. Next: remove respond_paused."
    fleets = ((), (vm("vm1", [event()]),), (vm("vm1", state="unreachable"), vm("vm2", state="unreachable")))
    for given_ in fleets:
        found = plan(*given_, paused=PAUSED)
        assert status(found)[0] == line
        data = status(found, form="json")
        assert next(iter(data)) == "paused"
        assert data["paused"]["line"] == line and data["paused"]["who"] == "alice"
    explained = plan(vm("vm1", [event("abcdef")]), paused=PAUSED)
    assert status(explained, event_id="abcd")[0] == line
    assert next(iter(status(explained, form="json", event_id="abcd"))) == "paused"


def test_without_a_pause_nothing_is_said() -> None:
    found = plan(vm("vm1", [event()]))
    assert found["paused"] is None
    assert status(found, form="json")["paused"] is None
    assert not [line for line in status(found) if "aused" in line]


def test_after_its_end_nothing_is_paused_and_a_line_says_so() -> None:
    over = {**PAUSED, "until": at(0)}
    found = plan(vm("vm1", [event()], [record("held", reason=TEXT)]), paused=over)
    assert acts(found) == ["drain vm1 E1"]
    assert found["paused"] is None
    ends = timestamps.to_the_second(timestamps.parse(at(0)) or 0.0)
    assert f"Problem on respond_paused: the pause of alice ended at {ends}, and nothing is paused; remove it." in status(found)


def test_what_an_operator_wrote_is_printed_in_one_visible_line() -> None:
    found = plan(vm("vm1", [event()], [record("noticed")]), paused={**PAUSED, "why": "a\n\x1b[2Jb"})
    assert all(line.isprintable() for line in status(found))


def test_a_run_comes_back_when_the_pause_ends_or_at_the_deadline() -> None:
    for until, seconds in ((42, 42), (7200, 3600 - DEADLINE)):
        pause = {**PAUSED, "until": at(until)}
        kept = noted(plan(vm("vm1", [event(due=3600)], [record("noticed", event(due=3600))]), paused=pause))
        one = vm("vm1", [event(due=3600)], [{**record("held", event(due=3600), ago=5000), **kept}])
        assert plan(one, paused=pause, longest_requeue=1e6)["requeue"]["seconds"] == seconds


def test_a_gate_that_says_no_is_asked_again_after_a_minute() -> None:
    one = vm("vm1", [event()], [record("held", blocker={"kind": "start_gate", "subjects": []}, ago=5000)])
    assert plan(one, start_gate=NO, longest_requeue=1e6)["requeue"]["seconds"] == 60


# What the gate is asked about


def test_the_plan_says_for_which_events_something_begins_that_could_wait() -> None:
    assert plan(vm("vm1", [event()]))["begins"] == ["E1"]
    assert plan(vm("vm1", [event(**SHORT)], [record("noticed", event(**SHORT))]))["begins"] == ["E1"]
    # With a run, the leases come first.
    assert plan(vm("vm1", [event()]), run={"id": "run000mine"})["begins"] == ["E1"]


@pytest.mark.parametrize(
    "one",
    [
        vm("vm1"),
        vm("vm1", [event(due=DEADLINE)]),
        vm("vm1", [event(status="Started")]),
        vm("vm1", [event(due=3 * 86400)]),
        vm("vm1", [event()], [record("draining")]),
        vm("vm1", [event()], [record("drained")]),
        vm("vm1", [event()], [record("drained", boot_id="old")]),
        vm("vm1", [event()], [record("failed", methods=[method("failed")])]),
        vm("vm1", [], [record("gone", outcome="completed")]),
        vm("vm1", [event()], methods=()),
        vm("vm1", [event()], [record("noticed", decision=override("approve"))]),
        vm("vm1", [event(**SHORT)], [record("noticed", event(**SHORT), approving_at=at(-1))]),
    ],
    ids=["nothing", "deadline", "started", "far", "draining", "drained", "verify", "undo", "recover", "no method", "operator", "announced"],
)
def test_nothing_is_asked_about_what_does_not_begin_or_cannot_wait(one: dict[str, Any]) -> None:
    assert plan(one)["begins"] == []


def test_nothing_is_asked_while_the_fleet_is_paused() -> None:
    assert plan(vm("vm1", [event()]), paused=PAUSED)["begins"] == []


# Any fleet


def late(found: dict[str, Any], seen: dict[str, Any], event_id: str) -> bool:
    """Whether the event is at its deadline for a VM, by the VM's own document and its own record."""
    (its,) = [one for one in seen["observation"]["events"] if one["event_id"] == event_id] or [None]
    (kept,) = [one for one in seen["observation"]["records"] if one["event"]["event_id"] == event_id] or [None]
    if kept is not None and kept["phase"] in ("approved", "started", "gone", "recovering", "recovered"):
        return True
    if its is None:
        return False
    return its["event_status"] == "Started" or (its["not_before"] is not None and (timestamps.parse(its["not_before"]) or 0.0) - NOW <= DEADLINE)


NOW = timestamps.parse(at(0)) or 0.0


def begun(found: dict[str, Any], seen: list[dict[str, Any]], *, gate: bool) -> list[str]:
    """Return what a plan begins that could wait, by its actions alone."""
    by_name = {one["host"]: one for one in seen}
    starts = []
    for step in found["actions"]:
        one = by_name[step["host"]]
        records = one["observation"]["records"]
        kept = next((its for its in records if its["event"]["event_id"] == step["event_id"]), None)
        changed = kept is not None and any(how["state"] != "undone" for how in kept["methods"])
        if step["action"] == "drain" and not changed and (kept is None or kept["phase"] != "draining") and not late(found, one, step["event_id"]):
            starts.append(f"drain {step['host']} {step['event_id']}")
        if step["action"] == "approve":
            for event_id in step["event_ids"]:
                entry = next(its for its in found["events"] if its["event_id"] == event_id)
                if not gate or not entry["rule"]["drain"]:
                    starts.append(f"approve {event_id}")
    return starts


def search(hold: dict[str, Any], examples: int = 150, phases: tuple[Phase, ...] = tuple(Phase)) -> list[int]:
    """Random fleets; how much each plan begins that could wait."""
    counts = []

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None, phases=phases, report_multiple_bugs=False)
    @given(st.randoms(use_true_random=True), st.sampled_from(["default", LET_COME, AT_ONCE]), st.booleans())
    def one(dice: random.Random, policy: Any, with_groups: bool) -> None:
        events, groups = fleet(dice)
        seen = [observation(dice, name, events) for name in NAMES]
        # The records that failed did so 20 seconds ago: they are retried now.
        found = plan(*seen, policy=policy, capacity=groups if with_groups else [], retry_pause=5, **hold)
        starts = begun(found, seen, gate="start_gate" in hold)
        counts.append(len(starts))
        assert not hold or not starts, starts

    one()
    return counts


@each_hold
def test_no_plan_begins_what_could_wait(hold: dict[str, Any]) -> None:
    search(hold)


def test_without_a_hold_plans_begin_enough() -> None:
    # A plan that never begins anything would pass too.
    assert sum(map(bool, search({}))) > 40


def test_a_hold_changes_nothing_of_what_comes_back() -> None:
    """For any fleet: undo, recovery and release go on as without it, but for VMs that a held event would have kept drained."""

    @settings(max_examples=100, deadline=None, derandomize=True, database=None)
    @given(st.randoms(use_true_random=True), st.sampled_from(list(HOLDS)))
    def one(dice: random.Random, kind: str) -> None:
        events, _groups = fleet(dice)
        seen = [observation(dice, name, events) for name in NAMES]
        free, held = plan(*seen), plan(*seen, **HOLDS[kind])
        back = [{word for word in acts(found) if word.split()[0] in ("recover", "undo", "prune")} for found in (free, held)]
        assert back[0] <= back[1]
        assert {word.split()[1] for word in back[1] - back[0]} <= {word.split()[1] for word in acts(free) if word.startswith(("drain", "approve"))}

    one()


MUTANTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "holds nothing": lambda patch: patch.setattr(start_holds, "find", lambda *given_: None),
    "approvals go": lambda patch: patch.setattr(approval_blockers, "_start_hold", lambda event_state: None),
    "drains go": lambda patch: patch.setattr(deadlines, "drain_blocker", deadlines._too_early),
    "retries go": lambda patch: patch.setattr(intents.deadlines, "start_hold", lambda *given_: None),
    "every drain is at its deadline": lambda patch: patch.setattr(deadlines, "must_drain", lambda *given_: True),
}


@pytest.mark.parametrize("mutant", MUTANTS)
@each_hold
def test_the_oracle_sees_what_begins(mutant: str, hold: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    MUTANTS[mutant](monkeypatch)
    with pytest.raises(AssertionError):
        search(hold, 300, (Phase.generate,))


# A closed loop


class PausedWorld(World):
    """A world whose fleet is paused for a while."""

    until = START + 400.0

    def approve(self, event_id: str) -> None:
        assert self.now >= self.until, f"{event_id} was approved while the fleet was paused"
        super().approve(event_id)


@pytest.mark.parametrize("seed", range(6))
def test_a_history_with_a_pause_ends_with_all_machines_serving(seed: int) -> None:
    world = PausedWorld(seed, 3, paused={"who": "alice", "why": "release", "until": timestamps.form(PausedWorld.until)})
    world.cut_chance = world.random.choice((0.0, 0.1))
    # Two at their deadline during the pause, one that waits for its end.
    world.create("Freeze", ["vm1"], 300.0)
    world.create("Reboot", ["vm1", "vm2"], 390.0)
    last = world.create("Freeze", ["vm3"], 900.0)
    while world.now < world.until:
        seen = world.run_pass()
        assert world.machines["vm3"].serving and world.machines["vm3"].stops_at is None, "it could have waited"
        world.advance(world.random.choice((1.0, 5.0, min(seen["requeue"]["seconds"] or 1.0, 20.0))))
    world.settle()
    assert world.undrained_starts == []
    assert last.approved and world.approvals == 1
