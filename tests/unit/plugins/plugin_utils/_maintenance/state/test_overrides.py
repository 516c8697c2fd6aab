# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a manual override means for the plan, and what it does not mean."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.status import status
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import (
    acts,
    at,
    event,
    method,
    noted,
    plan,
    record,
    vm,
)

BOTH = event("E1", ("vm1", "vm2"))


def word(action: str, *, who: str = "alice", why: str | None = "because", ago: float = 10, until: float | None = 3600, **more: Any) -> dict[str, Any]:
    """What was said some seconds ago."""
    ends = None if until is None else at(until)
    return {"action": action, "who": who, "why": why, "at": at(-ago), "until": ends, "vm": None, "beside": [], **more}


def said(action: str, its_event: dict[str, Any] | None = None, phase: str = "noticed", **more: Any) -> dict[str, Any]:
    """A record with a word in it."""
    keys = {key: more.pop(key) for key in ("methods", "history", "rule", "verified_at", "outcome", "boot_id", "reason") if key in more}
    return record(phase, its_event or event(), decision=word(action, **more), **keys)


def entry(found: dict[str, Any], event_id: str = "E1") -> dict[str, Any]:
    return next(one for one in found["events"] if one["event_id"] == event_id)


def lines(found: dict[str, Any]) -> str:
    return "\n".join(status(found))


# --- approve -------------------------------------------------------------------------------------------------------------


def test_approve_waits_for_no_drain() -> None:
    found = plan(vm("vm1", [event()], [said("approve")]))
    assert acts(found) == ["approve vm1 E1"]
    assert found["actions"][0]["reason"].startswith("approved by alice until ")
    assert "approved by alice until" in lines(found)
    # Not without it.
    assert acts(plan(vm("vm1", [event()], [record("noticed")]))) == ["drain vm1 E1"]


@pytest.mark.parametrize("phase", ["draining", "drained"])
def test_approve_puts_nothing_back_and_goes_on_with_what_began(phase: str) -> None:
    found = plan(vm("vm1", [BOTH], [said("approve", BOTH, phase)]), vm("vm2", [BOTH], [said("approve", BOTH)]))
    assert acts(found) == ["approve vm1 E1"] + (["drain vm1 E1"] if phase == "draining" else [])
    # The record keeps what the policy said: nothing is left of the word when its time is over.
    assert all(step["rule"]["approve"] == "after_drain" for step in found["actions"] if step["action"] == "drain")


def test_approve_does_not_undo_a_failed_drain_first() -> None:
    seen = [vm("vm1", [BOTH], [said("approve", BOTH, "drained")]), vm("vm2", [BOTH], [said("approve", BOTH, "failed")])]
    assert acts(plan(*seen)) == ["approve vm1 E1"]
    seen[0]["observation"]["records"][0]["decision"] = None
    assert "approve vm1 E1" not in acts(plan(*seen))


def test_approve_waits_for_no_window_no_capacity_no_method_and_no_unmanaged_vm() -> None:
    # Now it is Friday.
    window = [{"drain": True, "approve": "after_drain", "window": {"days": ["sun"], "from": "01:00", "to": "02:00"}}]
    never = [{"drain": True, "approve": "never"}]
    strange = event("E1", ("vm1", "stranger"))
    groups = [{"name": "web", "members": ["vm1", "vm9"], "max_unavailable": 0}]
    for its, more in (
        (event(), {"policy": window}),
        (event(), {"policy": never}),
        (event(), {"capacity": groups}),
        (strange, {}),
    ):
        known = {"vm1": vm("vm1", [its], [said("approve", its)])}
        assert acts(plan(*known.values(), **more)) == ["approve vm1 E1"], more
        known["vm1"]["observation"]["records"][0]["decision"] = None
        assert "approve vm1 E1" not in acts(plan(*known.values(), **more)), more
    assert acts(plan(vm("vm1", [event()], [said("approve")], methods=()))) == ["approve vm1 E1"]


@pytest.mark.parametrize("state", ["failed", "unreachable"])
def test_approve_is_held_by_a_vm_that_was_not_read(state: str) -> None:
    found = plan(vm("vm1", [BOTH], [said("approve", BOTH)]), vm("vm2", state=state, identity_hint={"name": "vm2"}))
    assert acts(found) == []
    assert "vm2 could not be read" in entry(found)["reason"]
    assert "az maintenance scheduledevents acknowledge" in entry(found)["reason"]
    assert "approved by alice" in lines(found)


def test_approve_is_held_by_a_name_that_may_be_a_vm_that_was_not_read() -> None:
    its = event("E1", ("vm1", "odd"))
    found = plan(vm("vm1", [its], [said("approve", its)]), vm("host7", state="unreachable"))
    assert acts(found) == []
    assert "odd may be a VM that was not read; if it must start anyway, approve it with Azure's own command" in entry(found)["reason"]


def test_what_was_approved_is_not_drained_afterwards() -> None:
    its = said("approve", approved_at=None)
    its["approved_at"] = at(-5)
    found = plan(vm("vm1", [event()], [its]))
    assert acts(found) == []
    assert noted(found)["phase"] == "approved"


def test_approve_takes_its_room_first() -> None:
    groups = [{"name": "web", "members": ["vm1", "vm2"], "max_unavailable": 1}]
    other = event("E2", ("vm2",), due=800)
    found = plan(vm("vm1", [event(), other], [said("approve")]), vm("vm2", [event(), other]), capacity=groups)
    assert acts(found) == ["approve vm1 E1"]
    assert "E1 takes it now" in entry(found, "E2")["reason"]


# --- hold ----------------------------------------------------------------------------------------------------------------


def test_hold_begins_nothing_and_approves_nothing() -> None:
    found = plan(vm("vm1", [event()], [said("hold")]))
    assert acts(found) == []
    assert entry(found)["reason"] == "held by alice until 2027-01-15 09:00 UTC: because"
    blocker = {"kind": "override", "subjects": ["hold", "alice", entry(found)["decision"]["at"]]}
    assert noted(found) == {"phase": "held", "reason": entry(found)["reason"], "blocker": blocker}
    assert "held: held by alice until" in lines(found)
    # It wakes when its deadline comes (in 700 s) or the word ends.
    kept = noted(plan(vm("vm1", [event()], [said("hold", until=100)])))
    waiting = plan(vm("vm1", [event()], [{**said("hold", phase="held", until=100), **kept}]), longest_requeue=9999)
    assert 90 < waiting["requeue"]["seconds"] <= 100
    assert not waiting["done"]
    pause = event(event_type="Freeze", duration_in_seconds=5)
    assert acts(plan(vm("vm1", [pause], [said("hold", pause)]))) == []
    assert acts(plan(vm("vm1", [pause], [record("noticed", pause)]))) == ["approve vm1 E1"]


def test_hold_is_a_hold_for_all_vms_of_the_event() -> None:
    assert acts(plan(vm("vm1", [BOTH], [said("hold", BOTH)]), vm("vm2", [BOTH]))) == []


def test_hold_puts_nothing_back_and_goes_on_with_what_began() -> None:
    assert acts(plan(vm("vm1", [event()], [said("hold", phase="drained")]))) == []
    assert acts(plan(vm("vm1", [event()], [said("hold", phase="draining")]))) == ["drain vm1 E1"]
    assert acts(plan(vm("vm1", [event()], [record("drained")]))) == ["approve vm1 E1"]


def test_hold_drains_at_the_deadline_and_still_does_not_approve() -> None:
    late = event(due=229)
    assert acts(plan(vm("vm1", [late], [said("hold", late)]))) == ["drain vm1 E1"]
    at_once = [{"drain": True, "approve": "after_drain", "drain_at": "now"}]
    assert acts(plan(vm("vm1", [event()], [said("hold")]), policy=at_once)) == []
    early = event(due=231)
    assert acts(plan(vm("vm1", [early], [said("hold", early)]))) == []
    assert acts(plan(vm("vm1", [late], [said("hold", late, "drained")]))) == []
    started = event(status="Started")
    assert acts(plan(vm("vm1", [started], [said("hold", started)]))) == ["drain vm1 E1"]


def test_hold_leaves_the_others_drained_when_one_failed() -> None:
    seen = [vm("vm1", [BOTH], [record("drained", BOTH)]), vm("vm2", [BOTH], [record("failed", BOTH, methods=[method("undone")])])]
    assert acts(plan(*seen)) == ["undo vm1 E1"]
    for action in ("hold", "let_it_come"):
        seen[1]["observation"]["records"][0]["decision"] = word(action)
        assert acts(plan(*seen)) == []


def test_hold_does_not_retry_a_failed_drain() -> None:
    its = record("failed", methods=[method("undone")], ago=200)
    assert acts(plan(vm("vm1", [event()], [its]))) == ["drain vm1 E1"]
    assert acts(plan(vm("vm1", [event()], [{**its, "decision": word("hold")}]))) == []


def test_what_is_over_comes_back_whatever_was_said() -> None:
    for action in ("hold", "approve", "let_it_come"):
        gone = said(action, phase="drained")
        gone["missing_since"] = at(-20)
        assert acts(plan(vm("vm1", [], [gone]))) == ["recover vm1 E1"], action


# --- let_it_come ---------------------------------------------------------------------------------------------------------


def test_let_it_come_never_drains_and_never_approves() -> None:
    for its in (event(), event(due=100), event(due=None), event(status="Started")):
        assert acts(plan(vm("vm1", [its], [said("let_it_come", its)]))) == []
    assert "left alone (no drain, no approval) by alice until" in lines(plan(vm("vm1", [event()], [said("let_it_come")])))


def test_let_it_come_puts_nothing_back() -> None:
    assert acts(plan(vm("vm1", [event()], [said("let_it_come", phase="drained")]))) == []
    assert acts(plan(vm("vm1", [event()], [said("let_it_come", phase="draining")]))) == ["drain vm1 E1"]


# --- Which word counts ---------------------------------------------------------------------------------------------------


def test_an_approval_counts_when_every_vm_of_the_event_that_answers_carries_it() -> None:
    both = [vm("vm1", [BOTH], [said("approve", BOTH, ago=20)]), vm("vm2", [BOTH], [said("approve", BOTH, ago=10)])]
    assert acts(plan(*both)) == ["approve vm1 E1"]
    one = plan(both[0], vm("vm2", [BOTH], [record("noticed", BOTH)]))
    assert "approve vm1 E1" not in acts(one)
    assert "it does not count, because vm2 does not have it" in one["summary"]["problems"][0]
    # What one VM says ends nothing that stands on another.
    older, newer = said("hold", BOTH, ago=20), said("approve", BOTH, ago=10)
    assert acts(plan(vm("vm1", [BOTH], [older]), vm("vm2", [BOTH], [newer]))) == []
    # Who cannot be read is not asked, and holds the approval by that.
    silent = plan(both[0], vm("vm2", state="unreachable", identity_hint={"name": "vm2"}))
    assert acts(silent) == []
    assert entry(silent)["decision"]["action"] == "approve"


@pytest.mark.parametrize("action", ["approve", "hold", "let_it_come"])
def test_a_word_from_the_future_does_not_count(action: str) -> None:
    undecided = acts(plan(vm("vm1", [event()], [record("noticed")])))
    ahead = plan(vm("vm1", [event()], [said(action, ago=-61)]))
    assert acts(ahead) == undecided
    assert "dated in the future" in ahead["summary"]["problems"][0]
    assert acts(plan(vm("vm1", [event()], [said(action, ago=-59)]))) != undecided


def test_a_word_of_a_vm_that_the_event_does_not_name_does_not_count() -> None:
    undecided = acts(plan(vm("vm1", [event()])))
    for action in ("approve", "hold", "let_it_come"):
        found = plan(vm("vm1", [event()]), vm("vm9", [event()], [said(action)]))
        assert acts(found) == undecided
        assert "the event does not name this VM" in found["summary"]["problems"][0]


def test_let_it_come_leaves_only_those_undrained_that_carry_it() -> None:
    """It is a hold for the others. Else one VM's word would leave them serving when they are hit."""
    near = event("E1", ("vm1", "vm2"), due=229)
    assert acts(plan(vm("vm1", [near]), vm("vm2", [near], [said("let_it_come", near)]))) == ["drain vm1 E1"]
    early = event("E1", ("vm1", "vm2"), due=231)
    assert acts(plan(vm("vm1", [early]), vm("vm2", [early], [said("let_it_come", early)]))) == []


def test_of_words_said_at_once_the_strictest_counts() -> None:
    for others in (["approve", "hold"], ["hold", "let_it_come"], ["approve", "let_it_come"]):
        found = plan(vm("vm1", [BOTH], [said(others[0], BOTH)]), vm("vm2", [BOTH], [said(others[1], BOTH)]))
        assert entry(found)["decision"]["action"] == {"approve": others[1]}.get(others[0], "hold")


def test_a_release_ends_what_was_said_before_where_it_stands() -> None:
    undecided = acts(plan(vm("vm1", [BOTH], [record("noticed", BOTH)]), vm("vm2", [BOTH], [record("noticed", BOTH)])))
    release = said("release", BOTH, ago=10, until=None)
    hold = word("hold", ago=20)
    ended = {**release, "decision": {**release["decision"], "beside": [hold]}}
    assert acts(plan(vm("vm1", [BOTH], [ended]), vm("vm2", [BOTH], [release]))) == undecided
    assert acts(plan(vm("vm1", [BOTH], [said("hold", BOTH, ago=5)]), vm("vm2", [BOTH], [release]))) == []
    # A VM that has not got it holds on.
    assert acts(plan(vm("vm1", [BOTH], [said("hold", BOTH, ago=20)]), vm("vm2", [BOTH], [release]))) == []


def test_a_newer_word_ends_older_ones_for_good() -> None:
    ended = said("hold", BOTH, ago=10, until=-1)
    found = plan(vm("vm1", [BOTH], [said("approve", BOTH, ago=20)]), vm("vm2", [BOTH], [ended]))
    assert entry(found)["decision"] is None
    assert acts(found) == ["drain vm1 E1", "drain vm2 E1"]


def test_a_word_counts_until_its_time_is_over_by_the_controllers_clock() -> None:
    for left, wanted in ((1, []), (0, ["drain vm1 E1"])):
        # The VM's own clock is an hour off.
        assert acts(plan(vm("vm1", [event()], [said("hold", until=left)], now=at(3600), uptime_seconds=90_000.0))) == wanted


def test_what_cannot_be_understood_holds() -> None:
    for odd in ({**word("hold"), "action": "postpone"}, {"action": "hold"}, "hold", {**word("retire_vm"), "vm": None}):
        assert acts(plan(vm("vm1", [event()], [record("noticed", decision=odd)]))) == []


# --- Retired VMs: the controller's word ------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["unreachable", "failed", "ok"])
def test_nobody_waits_for_a_retired_vm(state: str) -> None:
    dead = vm("vm2", [BOTH], [record("draining", BOTH)], state=state, reached_before=True, identity_hint={"name": "vm2"})
    seen = [vm("vm1", [BOTH], [record("drained", BOTH)]), dead]
    found = plan(*seen, retired=["VM2"])
    assert acts(found) == ["approve vm1 E1"]
    assert found["actions"][0]["approve_for"] == ["vm1", "vm2"]
    assert "vm2" not in found["involved"]
    assert found["failed"] == []
    assert entry(found)["retired"] == ["vm2"]
    assert "Retired (respond_retired), so nothing waits for them: vm2." in lines(found)
    assert "vm1, vm2 (retired)" in lines(found)
    assert acts(plan(*seen)) != acts(found)


@pytest.mark.parametrize("action", ["approve", "release", "hold"])
def test_nobody_is_asked_to_say_again_what_is_over(action: str) -> None:
    over = {"outcome": "completed", "missing_since": at(-60)}
    live = plan(vm("vm1", [BOTH], [said(action, BOTH)]), vm("vm2", [BOTH], [said("hold", BOTH)] if action == "release" else [record("drained", BOTH)]))
    assert ("repeat it" in lines(live)) == (action != "hold")
    other = {"decision": word("hold")} if action == "release" else {}
    ended = plan(vm("vm1", [], [said(action, BOTH, "recovered", **over)]), vm("vm2", [], [record("recovered", BOTH, **over, **other)]))
    assert entry(ended)["phase"] == "recovered" and ended["summary"]["problems"] == []


def test_no_vm_retires_another_or_itself() -> None:
    for carrier in ("vm1", "vm2"):
        seen = {name: vm(name, [BOTH], [record("drained", BOTH)]) for name in ("vm1", "vm2")}
        before = acts(plan(*seen.values()))
        seen[carrier]["observation"]["records"][0]["decision"] = word("retire_vm", vm="vm2")
        assert acts(plan(*seen.values())) == before
    its = record("drained", BOTH, decision=word("retire_vm", vm="vm2"))
    assert acts(plan(vm("vm1", [BOTH], [its]), vm("vm2", state="unreachable", identity_hint={"name": "vm2"}))) == []


def test_a_retired_vm_that_has_no_name_keeps_no_name_unsure() -> None:
    other = event("E2", ("vm1", "odd"))
    its = [record("drained", other), record("noticed", BOTH)]
    dead = vm("vm2", state="unreachable")
    assert acts(plan(vm("vm1", [BOTH, other], its), dead, unmanaged="ignore")) != ["approve vm1 E2"]
    assert "approve vm1 E2" in acts(plan(vm("vm1", [BOTH, other], its), dead, unmanaged="ignore", retired=["vm2"]))


def test_an_event_that_names_only_a_retired_vm_is_closed() -> None:
    alone = event("E1", ("vm2",))
    seen = [vm("vm1", [alone]), vm("vm2", state="unreachable", reached_before=True, last_observation=vm("vm2", [alone])["observation"])]
    found = plan(*seen, retired=["vm2"])
    assert found["actions"] == []
    assert found["done"]
    assert found["failed"] == []
    assert entry(found)["phase"] == "retired"
    assert "no run waits for vm2" in lines(found)


def test_a_retired_name_that_nothing_knows_is_said() -> None:
    its = event("E1", ("vm1", "ghost"))
    seen = vm("vm1", [its], [record("drained", its)])
    groups = [{"name": "web", "members": ["vm1", "vm7"], "max_unavailable": 1}]
    found = plan(seen, retired=["Ghost", "VM7", "wbe3\x1b[2J"], capacity=groups)
    (said_,) = found["summary"]["problems"]
    assert said_.startswith("respond_retired: wbe3") and "\x1b" not in said_ and "correct the name" in said_
    assert not {"ghost", "vm7"} & set(said_.lower().split()) and found["failed"] == []
    assert "Problem on respond_retired: wbe3" in lines(found)
    assert plan(seen, vm("vm2"), retired=["vm2", "ghost"])["summary"]["problems"] == []


def test_a_retired_name_that_is_no_host_holds_nothing() -> None:
    its = event("E1", ("vm1", "ghost"))
    assert acts(plan(vm("vm1", [its], [record("drained", its)]), retired="ghost, other")) == ["approve vm1 E1"]
    assert acts(plan(vm("vm1", [its], [record("drained", its)]))) == []


def test_a_retired_vm_is_neither_out_nor_missing() -> None:
    known = vm("vm1", [event()], [record("noticed")])
    for others in ([vm("vm2", state="unreachable")], []):
        group = [{"name": "web", "members": ["vm1", "vm2"], "max_unavailable": 1}]
        found = plan(known, *others, capacity=group, retired=["vm2"])
        assert acts(found) == ["drain vm1 E1"]
        assert found["capacity"][0]["out"] == {}
        assert found["capacity"][0]["missing"] == []
        assert acts(plan(known, *others, capacity=group)) == []


def test_a_vm_that_is_not_retired_any_more_is_read_again() -> None:
    seen = [vm("vm1"), vm("vm2", [], [{**record("drained", BOTH), "missing_since": at(-20)}])]
    assert acts(plan(*seen)) == ["recover vm2 E1"]
    assert acts(plan(*seen, retired=["vm2"])) == []


def test_a_record_that_only_carries_a_word_is_no_part_of_the_event() -> None:
    its = event("E1", ("vm2",))
    carrier = record("held", its, decision=word("hold"), history=[{"phase": "held", "at": at(-10)}])
    group = [{"name": "web", "members": ["vm1", "vm2", "vm3"], "max_unavailable": 1}]
    for status_ in ("Scheduled", "Started"):
        now = event("E1", ("vm2",), status_)
        found = plan(vm("vm1", [now], [carrier], in_service=True), vm("vm2", [now], [record("noticed", now)]), vm("vm3"), capacity=group)
        assert not [step for step in found["actions"] if step["host"] == "vm1"]
        assert "vm1" not in found["capacity"][0]["out"]
    # What remains of it when all is over is not shown for ever.
    carrier["decision"] = word("hold", until=-1)
    assert plan(vm("vm1", [], [carrier]), vm("vm2"))["events"] == []
