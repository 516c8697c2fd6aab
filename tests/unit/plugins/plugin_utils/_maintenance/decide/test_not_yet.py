# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drains whose methods say "not yet", because too few others serve: they take no place and no time, and what is out already comes back."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_schema import event_digest
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.status import status
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import NOW, acts, at, event, method, noted, plan, record, vm

WHY = "1-haproxy: not yet: vm1 is the last server of backend web that takes sessions on lb1 (vm2: DOWN)"
SAID = {"reason": WHY, "blocker": {"kind": "needed", "subjects": []}}
LAST = 150
"""The seconds before NotBefore at which a drain of which no time is known begins in any case: 120 and a margin of 30."""
WEB = [{"name": "web", "members": ["vm1", "vm2"], "max_unavailable": 1}]
PAUSE = {"event_type": "Freeze", "duration_in_seconds": 5}


def waits(its: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return record("draining", its, **{"methods": [], **SAID, **more})


def out(phase: str, its: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A record of a drain whose check has said that the VM should serve."""
    return record(phase, its, **{**SAID, **more})


def target(server: str, *balancers: str) -> dict[str, Any]:
    return {"name": "1-haproxy", "method": "haproxy", "server": server, "balancers": list(balancers or ("lb1",)), "backends": []}


def behind(host: str, *events: dict[str, Any], records: Any = (), balancer: str = "lb1", **more: Any) -> dict[str, Any]:
    return vm(host, events, records, methods=["haproxy"], targets=[target(host, balancer)], **more)


def drains(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for step in found["actions"] if step["action"] == "drain"]


# --- It waits ------------------------------------------------------------------------------------------------------------


def test_it_is_told_as_held_with_its_reason_and_ends_green() -> None:
    found = plan(vm("vm1", [event()], [waits()]))
    (entry,) = found["events"]
    assert entry["phase"] == "held" and WHY in entry["reason"]
    assert any(WHY in line for line in status(found))
    assert found["fails"] == []


@pytest.mark.parametrize("undone", [[], [method("undone")]])
def test_who_waits_takes_no_place(undone: list[dict[str, Any]]) -> None:
    """vm2 is what vm1 waits for, and its own event cures it: it gets the only place, in the same plan and in a later one."""
    e1, e2 = event(), event("E2", ("vm2",), due=950)
    first, second = vm("vm1", [e1], [waits(e1, methods=undone)]), vm("vm2", [e2])
    assert acts(plan(first, second, capacity=WEB)) == ["drain vm2 E2"]
    assert acts(plan(first, vm("vm2", [e2], [record("draining", e2)]), capacity=WEB)) == ["drain vm2 E2"]
    # With room for both, both go on; and what has set something is out, whatever else its record says.
    assert acts(plan(first, second, capacity=[{**WEB[0], "max_unavailable": 2}])) == ["drain vm1 E1", "drain vm2 E2"]
    assert "drain vm2 E2" not in acts(plan(vm("vm1", [e1], [waits(e1, methods=[method("found")])]), second, capacity=WEB))


def test_no_time_runs_while_it_waits() -> None:
    far = event(due=3000)
    (ask,) = drains(plan(vm("vm1", [far], [waits(far, ago=3000)])))
    assert ask["deadline"] == at(200), "as of a drain that begins now"
    # From the moment at which something was set it does, however long it has waited before.
    begun = [method("begun", times={"found": at(-60), "begun": at(-59)})]
    (check,) = drains(plan(vm("vm1", [far], [record("draining", far, ago=3000, methods=begun)])))
    assert check["deadline"] == at(140)


def test_between_two_questions_it_does_nothing_and_keeps_no_lease() -> None:
    lease = {"name": "lease-1", "run": "abcd", "digest": event_digest("E1"), "event_id": "E1", "kind": "events", "expired": False}
    seen = vm("vm1", [event()], [waits()], leases=[lease], drain_asked_at=NOW - 4, acknowledged=["E1"])
    found = plan(seen, run={"id": "abcd", "who": "me"}, check_interval=5)
    assert acts(found) == ["release vm1 E1"] and found["requeue"]["seconds"] == 6
    later = plan({**seen, "drain_asked_at": NOW - 10}, run={"id": "abcd", "who": "me"}, check_interval=5)
    assert acts(later) == ["drain vm1 E1"]


def test_what_would_keep_it_from_beginning_does_so_while_it_waits() -> None:
    pause = {"who": "alice", "why": "release", "until": timestamps.form(NOW + 500)}
    found = plan(vm("vm1", [event()], [waits()]), paused=pause)
    assert acts(found) == [] and "Paused by alice" in " ".join(status(found))


@pytest.mark.parametrize(
    ("due", "more", "times", "must"),
    [
        (LAST + 1, {}, [], False),
        (LAST, {}, [], True),
        # The longest of the last ones, doubled; never longer than a drain may take.
        (LAST + 60, {}, [10.0, 90.0, 20.0], True),
        (LAST + 61, {}, [10.0, 90.0, 20.0], False),
        (230, {}, [500.0], True),
        (231, {}, [500.0], False),
        (5, PAUSE, [], False),
    ],
)
def test_at_its_deadline_it_begins_whoever_serves(due: float, more: dict[str, Any], times: list[float], must: bool) -> None:
    its = event(due=due, **more)
    known = {"drain_times": {"methods": ["service"], "seconds": times}} if times else {}
    drain_it = [{"drain": True, "approve": "after_drain"}]
    (ask,) = drains(plan(vm("vm1", [its], [waits(its)], **known), policy=drain_it))
    assert ask.get("must", False) is must


def test_a_short_pause_that_hurts_is_drained_for_at_its_deadline() -> None:
    its = event(due=5, **PAUSE)
    (ask,) = drains(plan(vm("vm1", [its], [waits(its)], short_pause_hurts=True)))
    assert ask["must"] is True


def test_an_operator_may_approve_it_as_it_is() -> None:
    decision = {"action": "approve", "who": "alice", "why": "x", "at": at(-5), "until": at(900), "vm": None}
    for one in (waits(decision=decision), out("drained", decision=decision)):
        assert acts(plan(vm("vm1", [event()], [one]))) == ["approve vm1 E1"]


# --- It is out, and should serve -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", ["draining", "drained"])
def test_it_is_put_back_and_not_approved(phase: str) -> None:
    found = plan(vm("vm1", [event()], [out(phase)]))
    assert acts(found) == ["undo vm1 E1"]
    assert noted(found) == {"phase": "held", "reason": WHY, "blocker": {"kind": "needed", "subjects": ["vm1"]}}
    assert found["fails"] == []


@pytest.mark.parametrize(("due", "goes_back"), [(LAST + 31, True), (LAST + 30, False), (40, False)])
def test_near_its_deadline_it_stays_out_unapproved_and_the_run_is_red(due: float, goes_back: bool) -> None:
    its = event(due=due)
    found = plan(vm("vm1", [its], [out("drained", its, ago=14)]))
    assert acts(found) == (["undo vm1 E1"] if goes_back else [])
    # Others may serve again: it is asked, and may be approved then.
    later = plan(vm("vm1", [its], [out("drained", its, ago=16)]))
    assert acts(later) == (["undo vm1 E1"] if goes_back else ["drain vm1 E1"]) and all(step["verify"] for step in drains(later))
    assert [WHY in line for line in found["fails"]] == ([] if goes_back else [True])
    assert acts(plan(vm("vm1", [its], [out("draining", its)]))) == (["undo vm1 E1"] if goes_back else ["drain vm1 E1"])


def test_what_may_begin_any_moment_is_not_put_back() -> None:
    started = event(status="Started")
    assert "undo vm1 E1" not in acts(plan(vm("vm1", [started], [out("drained", started, started_at=at(-1))])))
    assert "undo vm1 E1" not in acts(plan(vm("vm1", [event()], [out("drained", approving_at=at(-1))])))


def test_after_three_times_it_serves_until_its_deadline() -> None:
    entries = [("noticed", at(-90)), *[(phase, at(-80 + number)) for number, phase in enumerate(("draining", "held") * 3)]]

    def put_back(due: float, times: int) -> dict[str, Any]:
        its = event(due=due)
        back = record("held", its, reason=WHY, blocker={"kind": "needed", "subjects": ["vm1"]}, methods=[method("undone")])
        back["history"] = [{"phase": phase, "at": moment} for phase, moment in entries[: 1 + 2 * times]]
        return plan(vm("vm1", [its], [back]))

    assert acts(put_back(900, 2)) == ["drain vm1 E1"]
    found = put_back(900, 3)
    assert acts(found) == [] and noted(found) == {}
    assert "put back 3 times" in found["events"][0]["reason"]
    assert acts(put_back(LAST, 3)) == ["drain vm1 E1"]


def test_what_waits_for_another_reason_stays_as_it_is() -> None:
    """As where a later method of its list waits for an election: to put back what the earlier ones did, and do it again, helps none."""
    waiting = record("draining", **{**SAID, "blocker": {"kind": "not_yet", "subjects": []}})
    assert acts(plan(vm("vm1", [event()], [waiting]))) == ["drain vm1 E1"]


def test_after_the_note_of_its_approval_it_is_approved() -> None:
    """Nothing puts it back from then on: held, it would be out of service until Azure comes, and no longer be asked."""
    drained = record("drained", **SAID, verified_at=at(-1))
    found = plan(behind("vm1", event(), records=[{**drained, "approving_at": at(-3)}]))
    assert acts(found) == ["approve vm1 E1"]
    assert "approve vm1 E1" not in acts(plan(behind("vm1", event(), records=[drained])))


@pytest.mark.parametrize(("verified", "drained", "goes"), [(-30, -3, False), (-4, -3, False), (-3, -3, True), (-2, -30, True)])
def test_who_asks_is_asked_again_after_the_last_vm_of_the_event_was_drained(verified: float, drained: float, goes: bool) -> None:
    both = event(resources=("vm1", "db1"))
    first = behind("vm1", both, records=[record("drained", both, ago=30, verified_at=at(verified))])
    other = vm("db1", [both], [record("drained", both, ago=-drained, verified_at=at(drained))])
    wanted = ["approve vm1 E1"] if goes else ["drain vm1 E1"]
    assert acts(plan(first, other)) == wanted
    # Of a method that asks no other VM, the usual time is enough.
    assert acts(plan({**first, "targets": []}, other)) == ["approve vm1 E1"]


def test_while_others_of_its_event_drain_it_is_asked_now_and_then() -> None:
    both = event(resources=("vm1", "db1"))
    other = vm("db1", [both], [record("draining", both, ago=30)])
    for ago, asked in ((14, False), (16, True)):
        found = plan(behind("vm1", both, records=[record("drained", both, ago=30, verified_at=at(-ago))]), other)
        assert ("drain vm1 E1" in acts(found)) is asked, ago
        assert all(step["verify"] for step in drains(found) if step["host"] == "vm1")
    assert acts(plan(vm("vm1", [both], [record("drained", both, ago=30)]), other)) == ["drain db1 E1"]


# --- Who asks, and who does not count ------------------------------------------------------------------------------------


def test_of_vms_that_ask_one_balancer_one_begins() -> None:
    events = [event(f"E{number}", (f"vm{number}",)) for number in (1, 2, 3)]
    seen = [behind("vm1", events[0]), behind("vm2", events[1]), behind("vm3", events[2], balancer="lb2")]
    assert acts(plan(*seen)) == ["drain vm1 E1", "drain vm3 E3"]
    # One that waits asks in turn; one that has begun keeps no other waiting.
    waiting = behind("vm1", events[0], records=[waits(events[0])])
    assert acts(plan(waiting, seen[1])) == ["drain vm1 E1"]
    assert acts(plan({**waiting, "drains_asked": 1}, seen[1])) == ["drain vm2 E2"]
    assert acts(plan(behind("vm1", events[0], records=[record("draining", events[0])]), seen[1])) == ["drain vm1 E1", "drain vm2 E2"]
    # At their deadlines nothing is asked.
    near = [event(f"E{number}", (f"vm{number}",), due=LAST) for number in (1, 2)]
    assert acts(plan(*(behind(f"vm{number}", one) for number, one in enumerate(near, 1)))) == ["drain vm1 E1", "drain vm2 E2"]


def test_who_is_leased_by_another_run_or_taken_by_the_event_does_not_count() -> None:
    both, lease = event(resources=("vm1", "vm2")), {"name": "lease-x", "run": "other", "digest": "d", "event_id": "E9", "kind": "events", "expired": False}
    seen = [behind("vm1", both), behind("vm2", both), behind("vm3", leases=[lease]), behind("vm4"), behind("vm5", balancer="lb2", leases=[lease])]
    (ask,) = drains(plan(*seen))
    assert [one["server"] for one in ask["away"]] == ["vm2", "vm3"]
    # A lease that has expired is that of a dead run; and what asks no balancer is told nothing.
    (ask,) = drains(plan(seen[0], seen[1], behind("vm3", leases=[{**lease, "expired": True}])))
    assert [one["server"] for one in ask["away"]] == ["vm2"]
    assert all("away" not in one for one in drains(plan(vm("vm1", [both]), vm("vm2", [both]))))
