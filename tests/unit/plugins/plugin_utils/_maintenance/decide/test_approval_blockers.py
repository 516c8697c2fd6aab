# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an approval waits for, in the words that a person reads: which VM, and what can be done."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import acts, at, event, method, plan, record, vm

TWO = event(resources=("vm1", "vm2"))
PAUSE = {"event_type": "Freeze", "duration_in_seconds": 5}
NO_METHOD = "no drain method is configured; set drain_methods, or the method none where nothing has to be drained"


def drained(host: str, its_event: dict[str, Any] = TWO, *, ago: float = 20, **more: Any) -> dict[str, Any]:
    return vm(host, [its_event], [record("drained", its_event, ago=ago)], **more)


def silent(host: str, **identity: str) -> dict[str, Any]:
    hint = {"name": host, "resource_group": "RG", "subscription_id": "S", **identity}
    return vm(host, state="unreachable", reached_before=True, identity_hint=hint)


def reason(*observations: dict[str, Any], **given: Any) -> str:
    """Why the only event is not approved."""
    found = plan(*observations, **given)
    assert not [word for word in acts(found) if word.startswith("approve")]
    return str(found["events"][0]["reason"])


def test_who_is_not_drained_yet_is_named() -> None:
    assert reason(drained("vm1"), vm("vm2", [TWO], [record("draining", TWO)])) == "waits for vm2 to drain"
    draining = [vm(name, [TWO], [record("draining", TWO)]) for name in ("vm1", "vm2")]
    assert reason(*draining) == "waits for vm1, vm2 to drain"
    assert reason(drained("vm1", boot_id="another"), drained("vm2", ago=300)) == "waits for vm1 to drain"


def test_who_is_checked_once_more_is_named() -> None:
    assert reason(drained("vm1", ago=300), drained("vm2")) == "checks once more that vm1 is drained"
    found = plan(drained("vm1"), drained("vm2", ago=300))
    assert [(part["host"], part["intent"]) for part in found["events"][0]["parts"]] == [("vm1", "stay"), ("vm2", "verify")]


def test_who_could_not_be_read_is_named() -> None:
    assert reason(drained("vm1"), silent("vm2")) == "vm2 could not be read"
    unnamed = reason(drained("vm1"), vm("other", state="unreachable", reached_before=True))
    assert unnamed == "vm2 may be a VM that was not read"


@pytest.mark.parametrize(
    ("identity", "text"),
    [
        ({}, "--resource-group rg --resource-type virtualMachines --resource-name vm1"),
        ({"scale_set": "web"}, "--resource-group rg --resource-type virtualMachineScaleSets --resource-name web"),
    ],
)
def test_where_no_vm_of_it_can_be_read_the_command_for_the_first_is_said(identity: dict[str, str], text: str) -> None:
    said = reason(silent("vm1", **identity), silent("vm2"), vm("vm3", [TWO]))
    assert said == (
        "vm1, vm2 could not be read; if it must start anyway, approve it with Azure's own command: "
        f"az maintenance scheduledevents acknowledge {text} --scheduled-events-id E1"
    )


def test_who_has_no_method_is_named() -> None:
    assert reason(drained("vm1"), vm("vm2", [TWO], methods=())) == f"vm2: {NO_METHOD}"
    assert reason(vm("vm1", [TWO], methods=()), vm("vm2", [TWO], methods=())) == f"vm1, vm2: {NO_METHOD}"
    # A policy that drains nothing needs none.
    short = event(**PAUSE)
    assert acts(plan(vm("vm1", [short], methods=()))) == ["approve vm1 E1"]


def test_the_policy_is_named_by_its_rule() -> None:
    watch = [{"name": "watch", "drain": False, "approve": "never"}]
    assert reason(vm("vm1", [event()], [record("noticed")]), policy=watch) == "the policy (rule 'watch') never approves it"
    closed = [{"drain": True, "approve": "after_drain", "window": {"days": ["sat"]}}]
    assert reason(vm("vm1", [event()], [record("drained")]), policy=closed) == "the policy's window for approvals is closed; it opens 2027-01-16 00:00 UTC"
    (blocker,) = plan(vm("vm1", [event()], [record("drained")]), policy=closed)["events"][0]["blockers"]
    assert (blocker["text"], blocker["retry_at"]) == ("the policy's window for approvals is closed", "2027-01-16T00:00:00Z")


def test_the_most_lasting_reason_is_said() -> None:
    names = event(resources=("vm1", "db9"))
    closed = [{"name": "watch", "drain": True, "approve": "never", "window": {"days": ["sat"]}}]
    seen = vm("vm1", [names], [record("noticed", names)], methods=())
    for given in ({}, {"policy": closed}):
        assert "it also names db9, which is not managed here" in reason(seen, **given)
    alone = vm("vm1", [event()], [record("noticed")], methods=())
    assert reason(alone, policy=closed) == "the policy (rule 'watch') never approves it"


def test_an_approval_says_by_which_rules_and_after_what() -> None:
    def said(*observations: dict[str, Any]) -> list[str]:
        return [step["reason"] for step in plan(*observations)["actions"] if step["action"] == "approve"]

    assert said(vm("vm1", [event(**PAUSE)])) == ["rule short pause: approved without a drain"]
    # One VM that a pause hurts is enough: the event waits for it.
    pause = event(resources=("vm1", "vm2"), **PAUSE)
    database = vm("vm2", [pause], [record("noticed", pause)], short_pause_hurts=True)
    assert reason(vm("vm1", [pause], [record("noticed", pause)]), database).startswith("waits for vm2 to drain")
    assert plan(vm("vm1", [pause]), database)["events"][0]["rule"]["name"] == "short pause that hurts"
    assert len(said(vm("vm1", [pause]), drained("vm2", pause, short_pause_hurts=True))) == 1
    assert said(drained("vm1"), drained("vm2")) == ["rule everything else: drained, verified"]
    other = event("E2")
    assert said(vm("vm1", [event(), other], [record("drained"), record("drained", other, order=2)])) == ["rule everything else: drained, verified"]


# --- A sibling whose drain failed -----------------------------------------------------------------------------------------


def failed(ago: float, state: str = "undone", **more: Any) -> dict[str, Any]:
    return vm("vm1", [TWO], [record("failed", TWO, ago=ago, reason="it hangs", methods=[method(state)], **more)])


def test_the_others_serve_until_the_failed_drain_is_tried_again() -> None:
    found = plan(failed(29), drained("vm2"))
    assert acts(found) == ["undo vm2 E1"]
    assert found["events"][0]["parts"][1]["reason"] == "vm1 could not be drained for it"
    # What failed is undone first, and at last nothing is tried again.
    assert acts(plan(failed(31, "failed"), drained("vm2"))) == ["undo vm1 E1", "undo vm2 E1"]
    assert acts(plan(failed(31), drained("vm2"), retries=0)) == ["undo vm2 E1"]
    assert acts(plan(failed(30), drained("vm2"))) == ["drain vm1 E1"]


def test_with_a_hold_what_is_drained_stays_drained() -> None:
    hold = {"action": "hold", "who": "alice", "why": "because", "at": at(-10), "until": at(3600), "vm": None, "beside": []}
    assert "undo vm2 E1" not in acts(plan(failed(29, decision=hold), drained("vm2")))


# --- Who approves ---------------------------------------------------------------------------------------------------------


def test_what_has_started_in_a_vms_own_document_is_not_approved_there() -> None:
    """Its own status counts, whatever another lists; one that is not named may approve where none of those can."""
    bystander = vm("vm3", [{**TWO, "event_status": "Started", "not_before": None}])
    assert acts(plan(bystander, drained("vm1"), drained("vm2"))) == ["approve vm1 E1"]


def test_a_request_that_failed_is_not_repeated_at_once_beside_one_that_is_new() -> None:
    other = event("E2")
    seen = vm("vm1", [event(), other], [record("drained"), record("drained", other, order=2)], could_not_approve=["E1"])
    found = plan(seen)
    assert [(step["event_ids"], step["continues"]) for step in found["actions"] if step["action"] == "approve"] == [(["E1"], True), (["E2"], False)]


def test_a_termination_is_approved_by_those_that_can() -> None:
    ending = {**TWO, "event_type": "Terminate"}
    assert acts(plan(drained("vm1", ending, could_not_approve=["E1"]), drained("vm2", ending))) == ["approve vm2 E1"]


@pytest.mark.parametrize(
    ("due", "timing", "waits"),
    [
        (900, {}, True),
        (900, {"pass_interval": 600, "undo_seconds": 600}, True),
        # The drain must begin now: the next pass would be too late.
        (900, {"pass_interval": 700}, False),
        # There is no time to undo and to drain again.
        (900, {"undo_seconds": 701}, False),
        (900, {"pass_interval": 700, "undo_seconds": 701}, False),
    ],
)
def test_the_others_serve_meanwhile_only_where_there_is_time_for_a_pass_and_for_an_undo(due: float, timing: dict[str, float], waits: bool) -> None:
    two = event(resources=("vm1", "vm2"), due=due)
    first = vm("vm1", [two], [record("failed", two, ago=1, reason="it hangs", methods=[method("undone")])])
    found = plan(first, vm("vm2", [two], [record("drained", two)]), **timing)
    assert ("undo vm2 E1" in acts(found)) is waits
