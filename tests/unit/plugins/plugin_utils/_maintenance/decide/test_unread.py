# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that could read nobody, or too few, must not look like one without events."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.status import status
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import at, event, plan, record, vm

SUDO = "sudo: a password is required"
OFF = "Failed to connect"


def failing(*hosts: str, error: str = SUDO, state: str = "failed") -> list[dict[str, Any]]:
    return [vm(host, state=state, error=error) for host in hosts]


def test_where_nobody_could_be_read_the_commonest_cause_is_the_headline() -> None:
    found = plan(*failing("web4", error="timed out"), *failing("web1", "web2", "web3"))
    text = f"Could not read any of 4 VMs: {SUDO} (3); timed out (1)"
    assert found["fails"] == [text]
    lines = status(found)
    assert lines[0] == f"{text}."
    assert f"Could not be read: web1, web2, web3: {SUDO}." in lines
    assert "no events" not in " ".join(lines)


def test_one_cause_of_all_stands_once() -> None:
    assert status(plan(*failing("web1", "web2"))) == [f"Could not read any of 2 VMs: {SUDO} (2)."]


def test_many_causes_are_counted() -> None:
    found = plan(*(one for number in range(5) for one in failing(f"web{number}", error=f"cause {number}")))
    assert found["not_answered"].endswith("cause 2 (1); 2 other causes")


def test_a_run_over_one_vm_that_is_not_reached_has_observed_nothing() -> None:
    found = plan(*failing("web1", error=OFF, state="unreachable"))
    assert (found["fails"], status(found)) == ([f"Could not read web1: {OFF}"], [f"Could not read web1: {OFF}."])
    assert plan(*failing("web1", error=OFF, state="unreachable"), allow_empty=True)["fails"] == []


def test_a_single_vm_that_answers_nonsense_fails_the_run() -> None:
    assert plan(*failing("web1"), allow_empty=True)["fails"] == [f"Could not read web1: {SUDO}"]


def test_two_vms_that_are_not_reached_fail_the_run() -> None:
    assert plan(*failing("web1", "web2", error=OFF, state="unreachable"))["fails"]


def test_a_pool_may_be_switched_off_by_design() -> None:
    pool = failing("web1", "web2", error=OFF, state="unreachable")
    assert plan(*pool, allow_empty=True)["fails"] == []
    # Somebody answers there, and not as asked.
    assert plan(*pool, *failing("web3"), allow_empty=True)["fails"]


def test_without_any_vm_nothing_fails_here() -> None:
    """Lookup hosts of the playbooks refuses an inventory that matches none."""
    assert plan()["fails"] == []


def test_a_run_whose_vms_are_all_left_alone_has_observed_nobody() -> None:
    """One respond_exclude in the variables of all hosts, and each scheduled run would be green and serve nobody."""
    left_alone = [vm(name, state="excluded") for name in ("web1", "web2")]
    text = "No VM was observed: all 2 are left alone (respond_exclude) or retired (respond_retired)"
    assert (plan(*left_alone)["fails"], status(plan(*left_alone))[0]) == ([text], f"{text}.")
    assert plan(*left_alone, allow_empty=True)["fails"] == []
    assert plan(*left_alone, vm("web3"))["fails"] == []


def test_vms_that_answered_earlier_in_the_run_count() -> None:
    before = vm("web1")["observation"]
    found = plan(vm("web1", state="unreachable", reached_before=True, last_observation=before), *failing("web2", error=OFF, state="unreachable"))
    assert found["fails"] == []


@pytest.mark.parametrize(("share", "fails"), [(0, False), (0.5, False), (0.67, True), (1, True)])
def test_people_may_ask_for_more(share: float, fails: bool) -> None:
    found = plan(vm("web1"), vm("web2"), *failing("web3", "web4"), min_answered=share)
    assert bool(found["fails"]) is fails
    if fails:
        assert "Only 2 of 4 VMs answered, and respond_min_answered" in found["fails"][0]


@pytest.mark.parametrize("share", [1.5, -1, "most"])
def test_a_share_is_between_0_and_1(share: Any) -> None:
    with pytest.raises(WrongInput, match="min_answered"):
        plan(vm("web1"), min_answered=share)


# --- Records that cannot be written ----------------------------------------------------------------------------------------

FULL = "cannot write records to /var/lib/azure-maintenance: No space left on device."


@pytest.mark.parametrize(("known", "verb"), [((), "drain"), ((record("draining"),), "drain")])
def test_a_vm_that_cannot_write_its_records_is_the_headline_and_fails_the_run(known: Any, verb: str) -> None:
    found = plan({**vm("vm1", [event()], known), "cannot_write": FULL})
    assert found["fails"] == [f"vm1: cannot {verb}: {FULL.rstrip('.')}"]
    line = status(found)[0]
    assert f"cannot {verb} vm1: {FULL.rstrip('.')}" in line
    assert line.endswith("Next: let vm1 write records again.")


def test_an_idle_vm_with_a_full_disk_fails_nothing() -> None:
    assert plan({**vm("vm1"), "cannot_write": FULL})["fails"] == []


def test_the_failures_of_one_vm_crowd_out_no_others() -> None:
    many = [event(f"X{number}", ("evil",)) for number in range(40)]
    evil = {**vm("evil", many), "cannot_write": "lies " * 400}
    found = plan(evil, {**vm("vm1", [event()]), "cannot_write": FULL})
    assert [line[:21] for line in found["fails"]] == ["vm1: cannot drain: ca", "evil: cannot drain: l", "evil: 35 more"]
    assert max(map(len, found["fails"])) <= 300
    assert f"vm1: cannot drain: {FULL.rstrip('.')}" in found["fails"]


def test_an_observation_that_could_not_write_is_the_headline_too() -> None:
    """So status says it before any run has tried."""
    found = plan(vm("vm1", [event()], records_problems=[FULL], cannot_write=FULL))
    assert status(found)[0].endswith("Next: let vm1 write records again.")
    assert found["fails"] == [f"vm1: cannot drain: {FULL.rstrip('.')}"]


def test_a_beginning_of_an_id_selects_nothing_and_is_told() -> None:
    found = plan(vm("vm1", [event("621C62B9-1")]), only_events=["621c62b9"])
    assert "Problem on respond_only_events: 621c62b9 is only the beginning of 621C62B9-1; give the whole id." in status(found)
    assert found["fails"] == ["respond_only_events: 621c62b9 is only the beginning of 621C62B9-1; give the whole id"], "nothing was done for it"
    whole = "11111111-2222-3333-4444-555555555555"
    assert plan(vm("vm1", [event(f"{whole}0")]), only_events=[whole])["fails"] == [], "an event that is over, and the id of one that a VM invents"


def test_wrong_settings_are_what_comes_next() -> None:
    found = plan({**vm("vm1", [event()]), "wrong_settings": ["drain_methods: no method probefile"]})
    assert status(found)[0].endswith("Next: correct the settings of vm1.")
    assert found["unserved"] == found["fails"] == ["wrong settings on vm1: drain_methods: no method probefile"]


def test_wrong_settings_of_a_vm_that_is_not_asked_fail_the_run_though_others_answer() -> None:
    web1 = {**vm("web1", state="failed", error="its settings are wrong"), "wrong_settings": ["respond_health: there is no key prot."]}
    found = plan(web1, vm("web2", [event(resources=("web2",))]))
    assert found["fails"] == found["unserved"] == ["wrong settings on web1: respond_health: there is no key prot"]
    assert {action["host"] for action in found["actions"]} == {"web2"}


def test_a_window_that_never_opens_fails_the_run_and_keeps_it_from_nothing() -> None:
    rules = [{"drain": True, "approve": "after_drain", "window": {"only_dates": ["2026-01-01"]}, "when": "event_type == 'freeze'"}]
    found = plan(vm("vm1", [event()]), policy=[*rules, {"drain": True, "approve": "after_drain"}])
    assert (
        found["unserved"]
        == found["fails"]
        == ["respond_policy: the window of 'rule 1' does not open in the next 400 days; correct its days and dates, or remove it"]
    )
    assert {action["host"] for action in found["actions"]} == {"vm1"}
    assert "Problem on respond_policy: 'rule 1': event_type is never 'freeze'; Azure writes 'Freeze'." in status(found)


def test_a_failed_drain_leaves_nothing_unserved() -> None:
    once = [record("failed", ago=300, history=[{"phase": "failed", "at": at(-300)}], undone=True, methods=[])]
    found = plan(vm("vm1", [event()], once), retries=0)
    assert (bool(found["fails"]), found["unserved"]) == (True, [])


@pytest.mark.parametrize("older", [event(status="Scheduled"), event(status="Scheduled", due=100)])
def test_a_document_that_was_read_before_the_start_is_no_problem(older: dict[str, Any]) -> None:
    found = plan(vm("vm1", [event(status="Started")]), vm("vm2", [older]))
    assert not any("otherwise" in line for line in status(found))
    assert any("vm2 lists it otherwise" in line for line in status(plan(vm("vm1", [event(status="Started")]), vm("vm2", [event(event_type="Freeze")]))))


def test_one_that_answers_what_no_intact_vm_answers_fails_the_run_beside_others() -> None:
    bad, dead = {**failing("web2")[0], "unusable": True}, failing("web3", state="unreachable")[0]
    (why,) = plan(vm("web1"), bad, dead)["fails"]
    assert why.startswith("What web2 answered is not usable")
    assert plan(vm("web1"), {**vm("web2"), "unusable": True}, dead)["fails"] == []
