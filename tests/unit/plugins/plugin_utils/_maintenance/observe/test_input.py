# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Input: settings, unusual observations, tagged and lazy types, names and identities."""

from __future__ import annotations

from collections import UserDict, UserList
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._core import plain_values
from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import Settings, load
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.planner import make_plan
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import acts, at, event, plan, record, vm


class TaggedText(str):
    """Text as core 2.19 and later tag it."""


def tagged(value: Any) -> Any:
    """Return the value in other types: mappings and lists that are not dict and list, tagged text."""
    if isinstance(value, dict):
        return UserDict({TaggedText(key): tagged(item) for key, item in value.items()})
    if isinstance(value, (list, tuple)):
        return UserList([tagged(item) for item in value])
    return TaggedText(value) if isinstance(value, str) else value


def types(value: Any) -> set[type]:
    """Return all types inside."""
    found = {type(value)}
    if isinstance(value, dict):
        for key, item in value.items():
            found |= types(key) | types(item)
    elif isinstance(value, list):
        for item in value:
            found |= types(item)
    return found


def test_tagged_and_lazy_types_give_the_same_plain_plan() -> None:
    seen = [vm("vm1", [event()], [record("drained")]), vm("vm2", state="unreachable")]
    policy = [{"when": "event_type == 'Reboot'", "drain": True, "approve": "after_drain"}]
    expected = make_plan(seen, policy=policy, settings={"unmanaged": "wait"}, now=at(0))
    found = make_plan(tagged(seen), policy=tagged(policy), settings=tagged({"unmanaged": "wait"}), now=TaggedText(at(0)))
    assert found == expected
    assert types(found) <= {dict, list, str, int, float, bool, type(None)}


def test_numbers_as_text() -> None:
    seen = vm("vm1", [event(duration_in_seconds="5", event_type="Freeze")], document_incarnation="7", uptime_seconds="100.5")
    found = plan(seen, gone_seconds="10", retries="2", has_health="False", only_events="")
    assert acts(found) == ["approve vm1 E1"]
    assert found["requeue"]["watch"] == [{"host": "vm1", "incarnation": 7}]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"gone_second": 1}, "unknown setting 'gone_second'"),
        ({"retries": "many"}, "respond_timing: retries must be a number"),
        ({"margin": -1}, "respond_timing: margin must be a number"),
        ({"margin": float("inf")}, "respond_timing: margin must be a number"),
        ({"unmanaged": "perhaps"}, "respond_unmanaged must be one of wait, ignore"),
        ({"has_health": "perhaps"}, "respond_health must be true or false"),
        ({"only_events": [1]}, "respond_only_events must be a list of event ids, .* not .1.; quote"),
        # None of these is an empty list: without event ids all events are meant.
        ({"only_events": True}, "respond_only_events must be a list"),
        ({"only_events": 5}, "respond_only_events must be a list"),
        ({"only_events": {"a": 1}}, "respond_only_events must be a list"),
        ({"only_events": b"a"}, "respond_only_events must be a list"),
        ({"retired": {"web3": True}}, "respond_retired must be a list of names of VMs"),
        ([], "settings must be a dictionary"),
    ],
)
def test_settings_that_cannot_be_used(given: Any, message: str) -> None:
    with pytest.raises(WrongInput, match=message):
        load(given)


def test_settings_may_be_left_out() -> None:
    assert load(None) == load({}) == load({"margin": None}) == Settings()
    assert load({"only_events": "ABC"}).only_events == ("abc",)


@pytest.mark.parametrize("now", [None, "", "soon", 5])
def test_a_plan_needs_the_time(now: Any) -> None:
    with pytest.raises(WrongInput, match="now must be a time"):
        make_plan([], now=now)


@pytest.mark.parametrize("given", [None, "vm1", {"host": "vm1"}, 7, [{}], ["vm1"], [{"host": ""}]])
def test_observations_that_are_none(given: Any) -> None:
    with pytest.raises(WrongInput):
        make_plan(given, now=at(0))


def test_times() -> None:
    for text in ("2027-01-15T08:00:00Z", "2027-01-15T08:00:00", "2027-01-15T09:00:00+01:00", " 2027-01-15T08:00:00.000000Z"):
        assert timestamps.parse(text) == timestamps.parse(at(0))
    for text in (None, "", "Mon, 19 Sep", 5, True, "9999-99-99"):
        assert timestamps.parse(text) is None
    assert timestamps.form(1e18).startswith("9999")


def test_plain() -> None:
    assert plain_values.plain({1: (TaggedText("a"), {2})}) == {"1": ["a", [2]]}
    assert plain_values.flag("yes") is True
    assert plain_values.flag("no") is False
    assert plain_values.flag("") is None
    assert plain_values.number(True) is None
    assert plain_values.number("nan") is None


def test_a_record_of_another_vm_is_left_alone() -> None:
    foreign = {**record("drained"), "vm_id": "X"}
    found = plan(vm("vm1", [], [foreign], identity={"name": "vm1", "vm_id": "y"}))
    assert found["actions"] == []
    assert "belongs to VM X" in found["summary"]["problems"][0]
    own = {**record("drained", missing_since=at(-20)), "vm_id": "Y"}
    assert acts(plan(vm("vm1", [], [own], identity={"name": "vm1", "vm_id": "y"}))) == ["recover vm1 E1"]


def test_one_vm_twice_in_the_inventory_is_reported_and_not_approved() -> None:
    """Their answers do not show which of them is the VM, and believing one of them could hide the other."""
    identity = {"name": "vm1", "vm_id": "y"}
    found = plan(vm("a", [event()], vm_name="vm1", identity=identity), vm("b", [event()], vm_name="vm1", identity=identity))
    assert acts(found) == []
    near = event(due=229)
    seen = [vm(host, [near], vm_name="vm1", identity=identity) for host in ("a", "b")]
    assert acts(plan(*seen)) == ["drain a E1", "drain b E1"]
    assert "a and b both say that they are VM vm1" in found["summary"]["problems"][0]
    done = [vm(host, [event()], [record("drained")], vm_name="vm1", identity=identity) for host in ("a", "b")]
    assert acts(plan(done[0])) == ["approve a E1"]
    assert acts(plan(*done)) == []


def test_two_vms_of_one_name_are_told_what_tells_them_apart() -> None:
    def held(**more: str) -> str:
        two = [vm(host, [event()] if host == "a" else [], vm_name="vm1", identity={"name": "vm1", "vm_id": host, **more}) for host in ("a", "b")]
        return str(plan(*two)["events"][0]["reason"])

    lacking = "a and b both say that they are VM vm1; the metadata of a lacks the resource group (resourceGroupName)"
    assert held().startswith(lacking) and "respond_vm_id" not in held()
    assert held(resource_group="rg").endswith("set respond_vm_id in the inventory to tell them apart")


def test_names_are_found_by_identity_and_not_by_inventory() -> None:
    found = plan(vm("web-1.example", [event(resources=("WEB1",))], vm_name="web1", identity={"name": "web1"}))
    assert found["events"][0]["hosts"] == ["web-1.example"]
    swapped = plan(vm("vm1", [event()], vm_name="vm2", identity={"name": "vm2"}))
    assert swapped["events"][0]["phase"] == "foreign"


def test_one_event_seen_by_many_is_one() -> None:
    two = event(resources=("vm1", "vm2"))
    found = plan(vm("vm1", [two]), vm("vm2", [{**two, "event_id": "e1"}]), vm("vm3", [two]))
    assert len(found["events"]) == 1
    assert acts(found) == ["drain vm1 E1", "drain vm2 e1"]
    assert found["events"][0]["conflict"] is None


def test_a_vm_that_missed_the_event_holds_the_approval_and_is_drained_when_it_lists_it() -> None:
    two = event(resources=("vm1", "vm2"))
    found = plan(vm("vm1", [two]), vm("vm2", []))
    assert acts(found) == []
    assert found["differing"] == ["vm1", "vm2"]
    assert "read once more" in found["events"][0]["reason"]
    # At its deadline each VM goes by its own document.
    near = event(resources=("vm1", "vm2"), due=229)
    assert acts(plan(vm("vm1", [near]), vm("vm2", []))) == ["drain vm1 E1"]
    assert acts(plan(vm("vm1", [two]), vm("vm2", [two]))) == ["drain vm1 E1", "drain vm2 E1"]


def test_each_vm_goes_by_the_rule_for_its_own_version_and_differences_are_not_approved() -> None:
    known = event(resources=("vm1", "vm2"), event_type="Freeze", duration_in_seconds=5)
    unknown = {**known, "duration_in_seconds": None}
    near = {"not_before": at(229)}
    assert acts(plan(vm("vm1", [{**known, **near}]), vm("vm2", [{**unknown, **near}]))) == ["drain vm2 E1"]
    done = vm("vm2", [unknown], [record("drained", unknown)])
    assert acts(plan(vm("vm1", [known]), done)) == []
    seen = [{**one, "listed_before": one["observation"]["events"]} for one in (vm("vm1", [known]), done)]
    found = plan(*seen)
    assert (acts(found), found["differing"]) == ([], [])
    assert "contradict each other (vm1: Freeze Scheduled" in found["events"][0]["reason"]


def test_a_new_resource_counts_at_once() -> None:
    grown = event(resources=("vm1", "vm2"))
    assert acts(plan(vm("vm1", [event()], [record("drained")]))) == ["approve vm1 E1"]
    assert acts(plan(vm("vm1", [event()], [record("drained")]), vm("vm2", [grown]))) == []
    near = event(resources=("vm1", "vm2"), due=229)
    assert acts(plan(vm("vm1", [event(due=229)], [record("drained")]), vm("vm2", [near]))) == ["drain vm2 E1"]
