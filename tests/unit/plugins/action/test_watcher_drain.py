# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action watcher_drain: what is wrong is the task's own message, and where the watcher drains nothing, a note says why."""

from __future__ import annotations

from typing import Any

import pytest
from controller_actions import run_action

from ansible_collections.maintenance.azure.plugins.action import watcher_drain

SERVICE = {"method": "service", "names": ["nginx.service"]}
HAPROXY = {"method": "haproxy", "balancers": ["lb1"]}
WRONG = {"policy": "no such policy", "former": 7}


def run(**arguments: Any) -> dict[str, Any]:
    return run_action(watcher_drain, arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"policy": "defualt"}, "there is no policy named 'defualt'"),
        ({"policy": [{"name": "big", "when": "length(resources) > `1`", "drain": True, "approve": "never"}]}, "rule 1 of the policy ('big'): when cannot be"),
        ({"methods": [{"method": "servis"}]}, "drain_methods, entry 1 (servis): method must be "),
        ({"methods": "service"}, "drain_methods must be a list with at least one method, and is service."),
        ({"former": "haproxy"}, "drain_methods_former must be a list"),
        ({"methods": [{"method": "service", "names": ["a\nb\x1b[31m", 1]}]}, "drain_methods, entry 1 (service): names is wrong"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_in_one_line(arguments: dict[str, Any], words: str) -> None:
    found = run(**{"methods": [SERVICE], "types": ["Preempt"], **arguments})
    assert (found["failed"], found["msg"].startswith(words), found["msg"].isprintable()) == (True, True, True), found["msg"]
    assert "exception" not in found and "content" not in found


@pytest.mark.parametrize(
    ("arguments", "note"),
    [
        ({"types": [], "methods": [{"method": "servis"}], **WRONG}, "watch_drain is empty, so the watcher drains nothing."),
        ({"methods": [SERVICE], **WRONG}, "watch_drain is empty, so the watcher drains nothing."),
        ({"types": ["Preempt"], "methods": [], **WRONG}, "drain_methods is empty, so the watcher drains nothing."),
        ({"types": ["Preempt"], **WRONG}, "drain_methods is empty, so the watcher drains nothing."),
        (
            {"types": ["Preempt"], "methods": [HAPROXY, {**SERVICE, "name": "far", "outside": True}], "policy": "no such policy"},
            "No method of drain_methods runs on the VM alone (1-haproxy, far), so the watcher drains nothing.",
        ),
    ],
    ids=str,
)
def test_where_the_watcher_drains_nothing_a_note_says_why(arguments: dict[str, Any], note: str) -> None:
    found = run(**arguments)
    assert {key: found.get(key) for key in ("failed", "changed", "content", "drains", "note")} == {
        "failed": None,
        "changed": False,
        "content": {},
        "drains": False,
        "note": note,
    }


def test_the_content_has_the_rules_and_the_methods_of_the_vm() -> None:
    found = run(types=["Preempt"], methods=[SERVICE])
    assert (found["drains"], found["note"], found["changed"]) == (True, "", False)
    assert [row["name"] for row in found["content"]["rules"]] == ["short pause that hurts", "short pause", "everything else"]
    assert [one["id"] for one in found["content"]["methods"]] == ["1-service"]


def test_a_note_names_what_is_left_to_the_controller() -> None:
    found = run(types=["Preempt"], methods=[HAPROXY, SERVICE], policy="documentation")
    assert (found["drains"], found["note"]) == (True, "The watcher leaves these drain methods to the controller: 1-haproxy.")
    assert found["content"]["elsewhere"] == ["1-haproxy"]


class HostVars(dict[str, dict[str, Any]]):
    """As Ansible's, which also counts what is read."""

    def __init__(self, **hosts: Any) -> None:
        super().__init__(hosts)
        self.read: list[str] = []

    def raw_get(self, name: str) -> dict[str, Any]:
        self.read.append(name)
        return self[name]


ALIKE = {"drain_methods": [SERVICE], "group_names": ["web"]}
APPROVES = {
    "policy": [{"name": "short", "when": "event_type == 'Freeze'", "drain": False, "approve": "now"}, {"name": "x", "drain": True, "approve": "after_drain"}]
}


def approvals(hosts: dict[str, Any], types: Any = ("Freeze",), **arguments: Any) -> tuple[list[str], str]:
    variables = {"hostvars": HostVars(**hosts), "group_names": ["web"], "groups": {"web": ["vm1"], "all": list(hosts)}}
    given = {"methods": [SERVICE], "types": list(types), "alike": True, **APPROVES, **arguments}
    found = run_action(watcher_drain, given, variables)
    assert "failed" not in found, found["msg"]
    return [row["approve"] for row in found["content"]["rules"]], found["note"]


NOTE = "The watcher leaves approvals to a run, which knows the VMs that stand in for this one."


def test_a_vm_to_which_others_are_alike_approves_nothing_by_itself() -> None:
    assert approvals({"vm1": ALIKE, "vm2": ALIKE}) == (["never", "after_drain"], NOTE)
    with_facts = {**ALIKE, "ansible_facts": {"respond_policy": []}}
    assert approvals({"vm1": ALIKE, "vm2": with_facts}) == (["never", "after_drain"], NOTE), "a fact takes no VM out of its group"
    assert approvals({"vm1": ALIKE, "vm2": ALIKE}, ["Preempt"]) == (["never", "after_drain"], ""), "nothing to say: none is approved undrained"


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"drain_methods": [HAPROXY]},
        {**ALIKE, "respond_exclude": True},
        {**ALIKE, "ansible_facts": {"drain_methods": []}},
    ],
)
def test_a_vm_that_stands_alone_approves_what_the_policy_approves(other: dict[str, Any]) -> None:
    assert approvals({"vm1": ALIKE, "vm2": other}) == (["now", "after_drain"], "")


def test_it_goes_by_the_same_groups_as_a_run() -> None:
    hosts = {"vm1": ALIKE, "vm2": ALIKE}
    assert approvals(hosts, alike=False)[0] == approvals(hosts, alike="no")[0] == ["now", "after_drain"]
    assert approvals(hosts, retired="vm2")[0] == ["now", "after_drain"]
    other = [{"name": "x", "members": ["vm2"], "max_unavailable": 1}]
    assert approvals(hosts, capacity=other)[0] == ["now", "after_drain"], "it has a limit of its own, and this one stands alone then"
    own = [{"name": "x", "members": ["vm1"], "max_unavailable": 1}]
    assert approvals(hosts, capacity=own, alike=False) == (["never", "after_drain"], NOTE)
    found = run(methods=[SERVICE], types=["Freeze"], capacity=[{"name": "x"}], **APPROVES)
    assert (found["failed"], found["msg"]) == (
        True,
        "group 1 of the capacity ('x'): members must be a list of inventory hosts, such as groups['web'], not None",
    )


def test_those_of_its_own_groups_are_read_first() -> None:
    hosts: dict[str, Any] = {"vm1": ALIKE, **{f"x{number}": ALIKE for number in range(100)}, "vm9": ALIKE}
    variables = {"hostvars": HostVars(**hosts), "group_names": ["web"], "groups": {"web": ["vm1", "vm9"], "all": list(hosts)}}
    run_action(watcher_drain, {"methods": [SERVICE], "types": ["Freeze"], "alike": True, **APPROVES}, variables)
    assert variables["hostvars"].read == ["vm1", "vm9"]
    variables["hostvars"].read.clear()
    run_action(
        watcher_drain, {"methods": [SERVICE], "types": ["Freeze"], "alike": True, "policy": [{"name": "x", "drain": True, "approve": "never"}]}, variables
    )
    assert variables["hostvars"].read == [], "where it approves nothing anyway, nothing is read"


@pytest.mark.parametrize(
    ("types", "words"),
    [
        (["preempt"], "watch_drain names the type preempt (did you mean Preempt?). Azure has Freeze, Reboot, Redeploy, Preempt, Terminate."),
        (["Rebot"], "watch_drain names the type Rebot (did you mean Reboot?). Azure has"),
        (["all"], "watch_drain names the type all. Azure has"),
    ],
)
def test_a_type_that_azure_does_not_have_is_refused(types: list[str], words: str) -> None:
    found = run(methods=[SERVICE], types=types)
    assert found["failed"] and found["msg"].startswith(words)


@pytest.mark.parametrize(("given", "types"), [("Preempt,Reboot", ["Preempt", "Reboot"]), ("[]", []), ("", []), ([], []), (["Preempt"], ["Preempt"])])
def test_types_as_an_extra_variable_gives_them(given: Any, types: list[str]) -> None:
    found = run(methods=[SERVICE], types=given)
    assert (found["types"], found["drains"]) == (types, bool(types))
