# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When drains begin, how long they may take, how long a run waits, and when it is done."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import NOW, acts, at, event, method, noted, plan, record, vm

DRAIN = {"drain": True, "approve": "after_drain"}


def begins(due: float | None, policy: Any = "default", **settings: Any) -> bool:
    return acts(plan(vm("vm1", [event(due=due)]), policy=policy, **settings)) == ["drain vm1 E1"]


def deadline(due: float | None, its_record: Any = None, status: str = "Scheduled", **settings: Any) -> float:
    records = [its_record] if its_record else []
    found = plan(vm("vm1", [event(due=due, status=status)], records), **settings)
    (step,) = [step for step in found["actions"] if step["action"] == "drain"]
    return (timestamps.parse(step["deadline"]) or 0.0) - NOW


def test_the_usual_notice_is_drained_at_once_and_days_of_notice_are_not() -> None:
    assert begins(900)
    assert begins(3600)
    assert begins(None)
    assert begins(-5)
    assert not begins(3 * 86400)
    found = plan(vm("vm1", [event(due=3 * 86400)]))
    assert not found["done"]


def test_drain_at_a_margin() -> None:
    late = [{**DRAIN, "drain_at": 400}]
    assert not begins(500, late)
    assert begins(400, late)
    assert begins(3 * 86400, [{**DRAIN, "drain_at": "now"}])


def test_a_schedule_begins_early_enough() -> None:
    late = [{**DRAIN, "drain_at": 100}]
    assert not begins(531, late, pass_interval=300)
    assert begins(530, late, pass_interval=300)
    assert begins(230, late)
    assert not begins(231, late)


def test_what_cannot_be_approved_is_drained_near_its_time() -> None:
    names = event(resources=("vm1", "db9"), due=900)
    found = plan(vm("vm1", [names], [record("noticed", names)]))
    assert acts(found) == []
    assert noted(found)["phase"] == "held"
    near = event(resources=("vm1", "db9"), due=229)
    assert acts(plan(vm("vm1", [near], [record("noticed", near)]))) == ["drain vm1 E1"]
    come = [{**DRAIN, "hold_at_deadline": "let_it_come"}]
    assert acts(plan(vm("vm1", [near], [record("noticed", near)]), policy=come)) == []


def test_a_window_holds_the_approval_and_opens_the_drain() -> None:
    # NOW is Friday, 2027-01-15 08:00 UTC.
    closed = [{**DRAIN, "window": {"days": ["sat"]}}]
    opened = [{**DRAIN, "window": {"days": ["fri"]}}]
    assert begins(5 * 86400, opened)
    assert not begins(900, closed)
    assert begins(229, closed)
    drained = vm("vm1", [event()], [record("drained")])
    assert acts(plan(drained, policy=closed)) == []
    assert acts(plan(drained, policy=opened)) == ["approve vm1 E1"]


def test_deadlines() -> None:
    assert deadline(None) == pytest.approx(200)
    assert deadline(900) == pytest.approx(200)
    assert deadline(150) == pytest.approx(120)
    assert deadline(900, pass_interval=800) == pytest.approx(70)
    assert deadline(100, pass_interval=300) == pytest.approx(70)
    assert deadline(5) == pytest.approx(10)
    assert deadline(900, record("draining", ago=99)) == pytest.approx(100)
    assert deadline(40, record("draining", ago=99)) == pytest.approx(10)
    assert deadline(None, record("draining", ago=99), status="Started") == pytest.approx(100)


def test_a_deadline_is_by_the_controllers_clock() -> None:
    ahead = vm("vm1", [event(due=900)], [record("draining", ago=-3501)], now=at(3600))
    (step,) = [step for step in plan(ahead)["actions"] if step["action"] == "drain"]
    assert (timestamps.parse(step["deadline"]) or 0.0) - NOW == pytest.approx(100)
    assert plan(ahead)["summary"]["clocks"] == ["vm1"]


def test_a_clock_is_compared_with_the_time_at_which_its_vm_answered() -> None:
    # The slowest host of 500 has answered now, the first one 20 minutes ago, and vm3's clock is an hour ahead.
    its, began = event(due=900), record("draining", ago=1300)
    answered = [
        vm("vm1", [its], [began], now=at(-1200.5), answered_at=at(-1200)),
        vm("vm2", now=at(-90), answered_at=at(-89)),
        vm("vm3", now=at(2400), answered_at=at(-1200)),
        vm("vm4", now=at(0), answered_at=at(0)),
    ]
    found = plan(*answered)
    assert found["summary"]["clocks"] == ["vm3"]
    (step,) = [step for step in found["actions"] if step["action"] == "drain" and step["host"] == "vm1"]
    assert (timestamps.parse(step["deadline"]) or 0.0) - NOW == pytest.approx(-1301 + 200), "a drain's limit moved with the age of the observation"


def test_started_before_drained_goes_on_draining() -> None:
    found = plan(vm("vm1", [event(status="Started")], [record("draining")]))
    assert acts(found) == ["drain vm1 E1"]
    assert noted(found) == {"started_at": True}
    assert acts(plan(vm("vm1", [event(status="Started")]))) == ["drain vm1 E1"]


def test_noticed_and_drain_in_one_pass() -> None:
    found = plan(vm("vm1", [event()]))
    assert [step["action"] for step in found["actions"]] == ["write", "drain", "notify"]
    assert noted(found) == {"phase": "noticed"}
    assert found["requeue"]["seconds"] == 0


@pytest.mark.parametrize(("ago", "seconds"), [(1, 5), (100, 10), (290, 29), (1000, 30)])
def test_a_long_drain_is_looked_at_less_often(ago: float, seconds: float) -> None:
    found = plan(vm("vm1", [event(due=None)], [record("draining", event(due=None), ago=ago)]), drain_seconds=5000)
    assert found["actions"][0]["continues"]
    assert found["requeue"]["seconds"] == pytest.approx(seconds, abs=0.3)
    assert found["requeue"]["watch"] == [{"host": "vm1", "incarnation": 3}]


def test_the_wait_grows_while_nothing_happens_and_ends_at_the_start() -> None:
    def wait(due: float, ago: float) -> float:
        approved = record("approved", event(due=due), ago=ago, approved_at=at(-ago))
        seconds = plan(vm("vm1", [event(due=due)], [approved]))["requeue"]["seconds"]
        assert isinstance(seconds, float)
        return seconds

    assert wait(5000, 100) == pytest.approx(50)
    assert wait(20, 100) == pytest.approx(21)
    assert wait(5000, 5000) == 300


def test_one_vm_is_watched_for_each_group_and_at_most_four() -> None:
    names = tuple(f"vm{number}" for number in range(9))
    events = [event(f"E{number}", (name,)) for number, name in enumerate(names)]
    assert len(plan(*[vm(name, events) for name in names])["requeue"]["watch"]) == 1
    assert len(plan(*[vm(name, [events[number]]) for number, name in enumerate(names)])["requeue"]["watch"]) == 4


def test_done() -> None:
    recovered = record("recovered", outcome="completed")
    assert plan(vm("vm1"))["done"]
    assert plan(vm("vm1", [], [recovered]))["done"]
    assert plan(vm("vm1"), vm("vm2", state="unreachable"))["done"]
    assert not plan(vm("vm1"), vm("vm2", state="unreachable", reached_before=True))["done"]
    idle = vm("vm2")["observation"]
    assert plan(vm("vm1"), vm("vm2", state="unreachable", reached_before=True, last_observation=idle))["done"]
    busy = vm("vm2", [event(resources=("vm2",))], [record("approved", event(resources=("vm2",)))])["observation"]
    silent = plan(vm("vm1"), vm("vm2", state="unreachable", reached_before=True, last_observation=busy))
    assert not silent["done"]
    assert silent["actions"] == []
    assert silent["events"][0]["unknown"] == ["vm2"]
    assert silent["involved"] == ["vm2"]
    assert not plan(vm("vm1", [event()], [record("started")]))["done"]


def test_held_for_ever_keeps_nobody_waiting() -> None:
    told = ["noticed", "held"]
    held = plan(vm("vm1", [event()], [record("noticed")], methods=()))["actions"][0]["changes"]
    found = plan(vm("vm1", [event()], [{**record("held", told=told), **held}], methods=()))
    assert found["actions"] == []
    assert found["done"]
    watch = plan(vm("vm1", [event()], [record("noticed", told=told)]), policy=[{"drain": False, "approve": "never"}])
    assert watch["done"]


def test_old_records_are_forgotten_after_a_day() -> None:
    old = record("recovered", ago=86_401, outcome="completed")
    assert acts(plan(vm("vm1", [], [old]))) == ["prune vm1 E1"]
    assert acts(plan(vm("vm1", [], [{**old, "phase": "failed", "methods": [method("undone")]}], in_service=False), has_health=True)) == []


def test_people_are_told_once() -> None:
    found = plan(vm("vm1", [event()], [record("drained", told=["noticed"])]))
    tells = [step for step in found["actions"] if step["action"] == "notify"]
    assert [(step["phase"], step["changes"]) for step in tells] == [("drained", {"told": ["drained"]})]
    assert found["events"][0]["notify"] == ["drained"]
    assert found["events"][0]["lead"] == "vm1"
    two = event(resources=("vm1", "vm2"))
    both = plan(vm("vm1", [two], [record("noticed", two, told=[])]), vm("vm2", [two], [record("noticed", two, told=[])]))
    assert [step["host"] for step in both["actions"] if step["action"] == "notify"] == ["vm1"]


def test_a_record_that_says_it_already_is_not_written_again() -> None:
    for its_record in (record("drained"), record("draining"), record("held", reason="x")):
        found = plan(vm("vm1", [event()], [its_record]))
        written = [step for step in found["actions"] if step["action"] == "write"]
        again = {**its_record, **(written[0]["changes"] if written else {})}
        assert not [step for step in plan(vm("vm1", [event()], [again]))["actions"] if step["action"] == "write"]


def test_nobody_waits_for_a_vm_that_was_deleted() -> None:
    for kind in ("Preempt", "Terminate"):
        ending = event(event_type=kind)
        for phase, more, done in (("approved", {"approved_at": at(-9)}, True), ("started", {"started_at": at(-9)}, True), ("drained", {}, False)):
            before = vm("vm1", [ending], [record(phase, ending, **more)])["observation"]
            found = plan(vm("vm1", state="unreachable", reached_before=True, last_observation=before))
            assert found["done"] is done, (kind, phase)
    before = vm("vm1", [event()], [record("started", started_at=at(-9))])["observation"]
    assert not plan(vm("vm1", state="unreachable", reached_before=True, last_observation=before))["done"]


# --- How long until a drain begins --------------------------------------------------------------------------------------


def waits(its_event: dict[str, Any], policy: Any = "default", its_record: dict[str, Any] | None = None, **settings: Any) -> tuple[float, str | None]:
    """How long a drain that does not begin yet is waited for, and why."""
    found = plan(vm("vm1", [its_event], [its_record or record("noticed", its_event)]), policy=policy, longest_requeue=1e7, **settings)
    assert acts(found) == []
    return found["requeue"]["seconds"], found["events"][0]["parts"][0]["reason"]


def test_more_than_an_hour_of_notice_is_not_used_up() -> None:
    assert begins(3600)
    assert waits(event(due=3601)) == (1, "the drain begins closer to NotBefore")
    assert waits(event(due=90_000)) == (86_400, "the drain begins closer to NotBefore")


def test_a_margin_is_waited_for_but_not_beyond_the_last_moment_for_a_whole_drain() -> None:
    assert waits(event(due=900), [{**DRAIN, "drain_at": 400}]) == (500, "the drain begins closer to NotBefore")
    assert waits(event(due=900), [{**DRAIN, "drain_at": 100}]) == (670, "the drain begins closer to NotBefore")
    assert waits(event(due=900), [{**DRAIN, "drain_at": 100}], pass_interval=300) == (370, "the drain begins closer to NotBefore")


def test_what_cannot_be_approved_waits_for_the_last_moment() -> None:
    names = event(resources=("vm1", "db9"), due=900)
    why = plan(vm("vm1", [names]))["events"][0]["reason"]
    assert why.startswith("it also names db9, which is not managed here") and "--limit" in why and "respond_unmanaged: ignore" in why
    held = record("held", names, reason=why, blocker={"kind": "unmanaged", "subjects": ["db9"]})
    seconds, reason = waits(names, its_record=held)
    assert seconds == 670
    assert reason == "it cannot be approved, so the drain begins shortly before NotBefore"


def override(until: float | None = 3600, action: str = "hold") -> dict[str, Any]:
    return {"action": action, "who": "alice", "why": "because", "at": at(-10), "until": None if until is None else at(until), "vm": None, "beside": []}


def test_what_an_operator_holds_is_looked_at_when_the_hold_or_the_time_for_it_ends() -> None:
    for until, due, seconds in ((100, 900, 100), (800, 900, 670), (100, None, 100), (4000, 90_000, 4000)):
        its = event(due=due)
        held = record("held", its, decision=override(until))
        found = plan(vm("vm1", [its], [held]), longest_requeue=1e7)
        assert not [word for word in acts(found) if word.startswith("drain")]
        again = plan(vm("vm1", [its], [{**held, **{key: value for key, value in noted(found).items() if value is not True}}]), longest_requeue=1e7)
        assert again["requeue"]["seconds"] == seconds, (until, due)


# --- The deadline of a drain --------------------------------------------------------------------------------------------


def test_a_drain_that_begins_has_ten_seconds_at_least() -> None:
    assert deadline(41) == pytest.approx(11)
    assert deadline(40) == pytest.approx(10)
    assert deadline(-100) == pytest.approx(10)


def test_a_drain_ends_in_the_pass_before_the_event_where_there_is_time_for_that() -> None:
    assert deadline(240, pass_interval=100) == pytest.approx(110)
    assert deadline(141, pass_interval=100) == pytest.approx(11)
    # Ten seconds are no time: then the drain has what is left until the event.
    assert deadline(140, pass_interval=100) == pytest.approx(110)


def test_a_failed_drain_is_put_back_while_there_is_time_to_drain_again() -> None:
    failed = record("failed", event(due=230), ago=5)
    assert acts(plan(vm("vm1", [event(due=230)], [failed]))) == ["undo vm1 E1"]
    assert acts(plan(vm("vm1", [event(due=229.5)], [failed]))) == []
    # An approval by an operator may start it any moment.
    assert acts(plan(vm("vm1", [event()], [{**failed, "decision": override(action="approve")}]))) == ["approve vm1 E1"]


def test_what_is_let_come_is_looked_at_when_that_ends_even_past_the_last_moment() -> None:
    its = event(due=100)
    held = record("noticed", its, decision=override(50, "let_it_come"))
    for _again in range(2):
        found = plan(vm("vm1", [its], [held]), longest_requeue=1e7)
        assert not [word for word in acts(found) if word.startswith("drain")]
        held = {**held, **{key: value for key, value in noted(found).items() if value is not True}}
    assert found["requeue"]["seconds"] == 50


def test_a_hold_that_ends_in_a_moment_is_waited_for_and_no_longer() -> None:
    its = event(due=None)
    held = record("noticed", its, decision=override(0.75))
    found = plan(vm("vm1", [its], [held]), longest_requeue=1e7)
    held = {**held, **{key: value for key, value in noted(found).items() if value is not True}}
    assert plan(vm("vm1", [its], [held]), longest_requeue=1e7)["requeue"]["seconds"] == 0.75


def test_an_override_that_cannot_be_read_holds_and_is_looked_at_as_often_as_anything_else() -> None:
    its = event(due=None)
    held = record("noticed", its, ago=40, decision={"action": "guess"})
    for _again in range(2):
        found = plan(vm("vm1", [its], [held]), longest_requeue=1e7)
        assert not [word for word in acts(found) if word.startswith("drain")]
        held = {**held, **{key: value for key, value in noted(found).items() if value is not True}}
    assert found["requeue"]["seconds"] == pytest.approx(21, abs=1)
