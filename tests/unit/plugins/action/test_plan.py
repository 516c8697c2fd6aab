# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plan: whose variables it reads, when, and what it keeps in its own result."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator, Mapping
from typing import Any
from unittest import mock

import pytest
from ansible.errors import AnsibleError
from ansible.parsing.dataloader import DataLoader

from ansible_collections.maintenance.azure.plugins.action import plan as module
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import gate_loop, observations, pass_loop
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._loop.passes import SETTINGS, observation
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import NOW, at, event

EVIL = {"respond_policy": []}
METHODS = [str(pathlib.Path(module.__file__).parents[2] / "roles" / "drain" / "tasks" / "methods")]


def of_all(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The observations of all hosts, also of those that take no part."""
    return observations.unpack(state["resting"], state["observations"])


class HostVars(Mapping[str, Any]):
    """As Ansible's: a host that the inventory does not have raises nothing, and get() must not be asked."""

    def __init__(self, hosts: dict[str, dict[str, Any]]) -> None:
        self.hosts = hosts
        self.read: list[str] = []

    def __getitem__(self, name: str) -> Any:
        self.read.append(name)
        return self.hosts.get(name, mock.sentinel.undefined)

    def __contains__(self, name: object) -> bool:
        return name in self.hosts

    def __iter__(self) -> Iterator[str]:
        return iter(self.hosts)

    def __len__(self) -> int:
        return len(self.hosts)

    def raw_get(self, name: str) -> Any:
        return self.hosts[name]

    def get(self, key: str, default: Any = None) -> Any:
        raise AssertionError(f"hostvars.get({key!r})")


class Play:
    """A play with some hosts, whose task with action plan is run."""

    def __init__(self, **hosts: dict[str, Any]) -> None:
        self.hosts = HostVars(hosts)
        self.variables: dict[str, Any] = {
            "hostvars": self.hosts,
            "inventory_hostname": next(iter(hosts), ""),
            "ansible_play_hosts_all": list(hosts),
            "ansible_play_batch": list(hosts),
            "ansible_play_hosts": list(hosts),
        }

    def run(self, check_mode: bool = False, template: Any = lambda value: value, **arguments: Any) -> dict[str, Any]:
        self.hosts.read.clear()
        task = mock.Mock(args=arguments, check_mode=check_mode, async_val=0, diff=False, environment=[], action="maintenance.azure.plan")
        templar = mock.Mock(template=template)
        action = module.ActionModule(task, mock.Mock(), mock.Mock(), DataLoader(), templar, None)
        with mock.patch.object(module.time, "time", lambda: NOW):
            return action.run(None, self.variables)

    def begin(self, check_mode: bool = False, **given: Any) -> dict[str, Any]:
        """Begin, and register the result."""
        settings = {**SETTINGS, "notify": False}
        self.variables["p"] = found = self.run(check_mode, begin={"settings": settings, **given})
        return found

    def begin_gate(self, batch: Any = ("a",), check_mode: bool = False, **given: Any) -> dict[str, Any]:
        asked = {"ask": {"upgrade": "x", "batch": list(batch)}, "run": "run000mine", **given}
        self.variables["p"] = found = self.run(check_mode, begin_gate=asked)
        return found


def observed(name: str, *events: Any, **vm_settings: Any) -> dict[str, Any]:
    return {"observe_result": {**observation(name, events=events), "vm_settings": vm_settings}}


def drained(name: str) -> dict[str, Any]:
    """Return a VM that an event names, with a drain method."""
    return observed(name, event(resources=(name,)), drain_methods=[{"method": "none"}])


# Failures


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "one of the following is required: begin, begin_gate, begin_methods, begin_upgrade, approvers, check_settings, go_on"),
        ({"begin": {}, "begin_gate": {"ask": {}, "run": "r"}}, "mutually exclusive"),
        ({"begin_gate": {"ask": {}, "run": "r"}, "go_on": "p"}, "mutually exclusive"),
        ({"begin_gate": {"run": "r"}}, "missing required arguments: ask"),
        ({"begin": {"nothing": 1}}, "Unsupported parameters"),
    ],
)
def test_options_that_cannot_be_right_are_errors(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(Exception, match=words):
        Play(a=observed("a")).run(**arguments)


@pytest.mark.parametrize("registered", [None, "text", {}, {"do": "act"}, {"skipped": True}, dict.fromkeys(gate_loop.KEYS - {"gate"})])
def test_without_a_pass_nothing_goes_on(registered: Any) -> None:
    play = Play(a=observed("a"))
    play.variables["p"] = registered
    found = play.run(go_on="p")
    assert found["failed"]
    assert "nothing of a pass was registered under this name" in found["msg"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"policy": "nobody"}, "no policy named"),
        ({"policy": [{"name": "x", "when": "((", "drain": True, "approve": "now"}]}, "when"),
        ({"settings": {"nothing": 1}}, "unknown setting"),
        ({"notify_tasks": "nofity.yml"}, "respond_notify_tasks: there is no file nofity.yml in /nowhere, /there"),
    ],
)
def test_what_was_asked_for_wrongly_fails_with_a_line_that_can_be_printed(given: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PWD", "/there")
    play = Play(a=observed("a"))
    play.variables["playbook_dir"] = "/nowhere"
    found = play.begin(**given)
    assert found["failed"]
    assert words in found["msg"]
    assert found["msg"].isprintable()
    assert "exception" not in found


@pytest.mark.parametrize(
    ("message", "near"),
    [("[{phase}] {evnt}", "{evnt} (did you mean event_id?)"), ("{ text } {host}", "{ text } (did you mean text?), {host} (did you mean hosts?)")],
)
def test_what_is_almost_a_field_of_a_message_is_refused_at_the_start(message: str, near: str) -> None:
    play = Play(a=observed("a"))
    play.variables["respond_notify_message"] = message
    found = play.begin()
    fields = "{text}, {phase}, {hosts}, {event_id}, {event_type}, {not_before}, {reason}, {next}"
    assert (found["failed"], found["msg"]) == (True, f"respond_notify_message has no field {near}; there are {fields}")
    play.variables["respond_notify_message"] = '{"text": "{text}"} {user} {} {{x}}'
    assert "failed" not in play.begin(), "other braces are the operator's own"


def test_the_tasks_that_notify_are_found_as_those_of_a_drain_method_are_and_are_a_list(tmp_path: pathlib.Path) -> None:
    (tmp_path / "notify.yml").write_text("[]")
    play = Play(a=observed("a"))
    play.variables |= {"playbook_dir": "/nowhere", "inventory_dir": str(tmp_path)}
    for name in ("notify.yml", str(tmp_path / "notify.yml")):
        assert play.begin(notify_tasks=name)["request"]["notify_tasks"] == str(tmp_path / "notify.yml")
    for content in ("password: hunter2", "- {", "- text"):
        (tmp_path / "notify.yml").write_text(content)
        found = play.begin(notify_tasks="notify.yml")
        assert found["msg"].startswith(f'respond_notify_tasks is "{tmp_path}/notify.yml", and that is no '), content
        assert "hunter2" not in found["msg"]


def test_a_gate_that_was_asked_for_wrongly_fails() -> None:
    play = Play(a=observed("a"))
    play.begin_gate(ask={"batch": ["a"]})
    found = play.run(go_on="p")
    assert (found["failed"], "upgrade must be" in found["msg"]) == (True, True)
    assert play.begin_gate(settings={"capacity": [{}]})["failed"]


def test_where_every_host_is_refused_it_fails() -> None:
    found = Play(a={**observed("a"), "ansible_facts": EVIL}, b={"ansible_facts": EVIL}).begin()
    assert found["failed"]
    assert "a: the setting respond_policy comes from its facts" in found["msg"]
    assert "Nothing was done" in found["msg"]


# A pass


def test_a_pass_is_begun_and_goes_on_by_what_is_registered() -> None:
    play = Play(a=drained("a"), b=observed("b"))
    found = play.begin(who="alice")
    assert found.keys() >= pass_loop.KEYS
    assert (found["changed"], found["do"], found["involved"], found["staying"]) == (False, "acquire", ["a"], ["a", "b"])
    assert len(found["run"]) == module.RUN_ID_LENGTH
    assert found["actions"]["a"][0]["lease"]["who"] == "alice"
    play.hosts.read.clear()
    again = play.run(go_on="p")
    assert (again["number"], again["run"], again["request"]) == (1, found["run"], found["request"])
    assert set(play.hosts.read) == {"a"}, "the variables of a host that takes no part cost time for nothing"


def test_runs_have_names_of_their_own() -> None:
    names = {Play(a=observed("a")).begin()["run"] for _time in range(20)}
    assert len(names) == 20
    assert all(set(name) <= set(module.RUN_ID_LETTERS) for name in names)


def test_in_check_mode_a_run_has_no_name_and_nothing_is_taken() -> None:
    found = Play(a=drained("a")).begin(check_mode=True)
    assert (found["run"], found["do"], found["actions"], found["request"]["check_mode"]) == ("", "by_tasks", {}, True)
    assert [(stage["name"], stage["place"]) for stage in found["stages"]] == [("drain", 0)], "role drain says what it would do, and nothing else is taken"
    assert Play(a=observed("a")).begin(check_mode=True)["do"] == "end"


NOTHING_DONE = {"run_drained": 0, "run_approved": 0, "run_recovered": 0}


def test_the_statistics_of_workflows_come_with_the_end_of_a_pass_and_with_a_state_that_is_only_shown() -> None:
    idle, busy = Play(a=observed("a")).begin(), Play(a=drained("a")).begin()
    assert idle["do"] == "end"
    assert idle["ansible_stats"] == {
        "data": {"respond_stats": {**idle["plan"]["counts"], **NOTHING_DONE, "next_look_in": idle["plan"]["next_look_in"]}},
        "per_host": False,
        "aggregate": False,
    }
    assert "ansible_stats" not in busy
    shown = Play(a=drained("a")).begin(only_shows=True)
    assert (shown["do"], shown["ansible_stats"]["data"]["respond_stats"]["events"]) == ("acquire", 1)


def test_a_gate_sets_no_statistics_of_a_pass() -> None:
    play = Play(a=observed("a"))
    assert "ansible_stats" not in play.begin_gate(ask={"upgrade": "x", "batch": ["a"]})
    assert "ansible_stats" not in play.run(go_on="p")


def test_policy_and_settings_are_frozen() -> None:
    play = Play(a=drained("a"))
    play.begin(policy=[{"name": "never", "drain": False, "approve": "never"}])
    play.variables["respond_policy"] = "default"
    again = play.run(go_on="p")
    assert [rule["name"] for rule in again["request"]["policy"]] == ["never"]
    assert again["plan"]["events"][0]["rule"]["name"] == "never"


def test_answers_of_iterations_are_read_from_both_registers() -> None:
    play = Play(a=drained("a"))
    (lease, *others) = play.begin()["actions"]["a"]
    asked = [{key: one.get(key) for key in ("action", "event_id", "event_ids", "iteration")} for one in (lease, *others)]
    results = [{"action": one["action"], "failed": False, "leases": ["x"]} for one in (lease, *others)]
    play.hosts.hosts["a"]["__respond_acted"] = {"asked": asked, "results": results}
    assert play.run(go_on="p")["observations"][0]["acknowledged"] == ["e1"]


def test_identities_come_from_the_inventory() -> None:
    vm_id = "11111111-0000-4000-8000-000000000000"
    play = Play(a={**observed("a"), "vmid": vm_id}, b={**observed("b"), "vmid": vm_id, "ansible_facts": {"vmid": vm_id}})
    assert [one["expected_identity"] for one in of_all(play.begin())] == [{"vm_id": vm_id}, {}]


# What is checked and kept before any VM is asked


def test_what_was_checked_before_is_what_the_pass_begins_with() -> None:
    play = Play(a=drained("a"))
    kept = play.variables["p"] = play.run(begin={"policy": [{"name": "never", "drain": False, "approve": "never"}], "settings": SETTINGS}, check_only=True)
    assert "plan" not in kept
    assert play.hosts.read == []
    found = play.run(begin={"policy": "default", "settings": {"pass_interval": 5}}, go_on="p")
    assert found["request"] == kept["request"]
    assert (found["run"], found["request"]["policy"][0]["name"]) == (kept["request"]["settings"]["run"]["id"], "never")


def test_options_of_role_respond_are_checked_once_for_all_hosts() -> None:
    play = Play(a=observed("a"))
    play.variables |= {"respond_unmanaged": "wat", "respond_wait": "yes"}
    found = play.run(begin={}, check_only=True)
    assert (found["failed"], found["msg"]) == (True, "value of respond_unmanaged must be one of: wait, ignore, got: wat")


@pytest.mark.parametrize("given", [{"policy": "nobody"}, {"settings": {"nothing": 1}}])
def test_what_is_wrong_is_found_before_any_vm_is_asked(given: dict[str, Any]) -> None:
    play = Play(a=observed("a"))
    assert play.run(begin=given, check_only=True)["failed"]
    assert play.hosts.read == []


def test_a_setting_of_the_fleet_that_cannot_be_evaluated_is_named() -> None:
    """Core's own error names neither the option nor the group: "Finalization of task args for 'maintenance.azure.plan' failed: ... 'begin'"."""
    play = Play(a=observed("a"))
    groups = {"web": ["a"], "ungrouped": []}
    play.variables |= {"__respond_begin": {"policy": "default"}, "respond_capacity": [{"name": "web", "members": "{{ groups['wbe'] }}"}], "groups": groups}

    def template(value: Any) -> Any:
        if "wbe" in str(value):
            raise AnsibleError("object of type 'dict' has no attribute 'wbe'")
        return value

    found = play.run(begin_variable="__respond_begin", check_only=True, template=template)
    assert (found["failed"], found["msg"]) == (True, "respond_capacity: the inventory has no group wbe (did you mean web?).")
    play.variables["respond_capacity"] = []
    assert play.run(begin_variable="__respond_begin", check_only=True, template=template)["request"]["policy"]


@pytest.mark.parametrize("given", [{"lease_seconds": 20}, {"lease_seconds": 0}, {"verify_seconds": 0}])
def test_a_time_that_cannot_work_is_refused_before_any_vm_is_asked(given: dict[str, Any]) -> None:
    for begun in (
        {"begin": {"settings": given}, "check_only": True},
        {"begin_gate": {"ask": {"upgrade": "x", "batch": ["a"]}, "run": "run0", "settings": given}},
    ):
        play = Play(a=observed("a"))
        found = play.run(**begun)
        assert found["failed"] and re.match(r"respond_timing: \w+_seconds is \d+; it must be ", found["msg"])
        assert play.hosts.read == []


@pytest.mark.parametrize("seconds", [0, 20])
def test_a_batch_is_not_leased_for_less_than_an_action_takes(seconds: int) -> None:
    play = Play(a=observed("a"))
    found = play.run(begin_gate={"ask": {"upgrade": "x", "batch": ["a"]}, "run": "run0", "leases": {"gate_lease_seconds": seconds}})
    assert found["failed"] and found["msg"].startswith(f"gate_lease_seconds is {seconds}; it must be 151 to 21600: ") and play.hosts.read == []


def test_what_is_wrong_with_a_setting_of_one_vm_is_no_fault_of_the_fleet() -> None:
    play = Play(a=observed("a"))
    play.variables |= {"respond_health": 5, "respond_labels": "x", "respond_exclude": "perhaps", "respond_observation_seconds": "soon"}
    assert "failed" not in play.run(begin={}, check_only=True)


def test_a_host_with_settings_in_its_facts_says_not_what_rules_the_fleet() -> None:
    play = Play(a=observed("a"), b=observed("b"))
    play.variables["ansible_facts"] = EVIL
    play.variables["p"] = kept = play.run(begin={"policy": "documentation"}, check_only=True)
    assert "request" not in kept
    del play.variables["ansible_facts"]
    assert play.run(begin={"policy": "default"}, go_on="p")["request"]["policy"][1]["name"] == "short pause"


def test_a_variable_of_an_old_name_is_refused_before_any_vm_is_asked() -> None:
    play = Play(a=observed("a"))
    play.variables["respond_look_seconds"] = 5
    found = play.run(begin={}, check_only=True)
    assert found["failed"] and "respond_look_seconds is respond_observation_seconds now" in found["msg"]
    assert play.hosts.read == []


def test_a_fact_of_an_old_name_stops_no_other_host() -> None:
    """The first host of the play may be a VM that an attacker has taken over."""
    play = Play(a=observed("a"), b=observed("b"))
    play.variables.update(respond_look_seconds=5, ansible_facts={"respond_look_seconds": 5})
    assert "failed" not in play.run(begin={}, check_only=True)


# Settings of VMs


def test_settings_of_a_vm_are_those_of_its_first_observation_else_as_noted_else_of_the_inventory() -> None:
    noted = {"__respond_vm_settings": {"vm_settings": {"labels": {"of": "write"}}}, "respond_labels": {"of": "inventory"}}
    hosts = {
        "a": {**noted, **observed("a", labels={"of": "observation"})},
        "b": {**noted, "observe_result": {"unreachable": True}},
        "c": {"respond_labels": {"of": "inventory"}, "respond_exclude": True},
        "d": {},
    }
    vms = Play(**hosts).begin(only_shows=True)["vms"]
    assert [vms[host]["labels"].get("of") for host in hosts] == ["observation", "write", "inventory", None]
    assert [vms[host]["excluded"] for host in hosts] == [False, False, True, False]


CLUSTERED = [{"method": "none", "cluster": "pg"}]


def test_a_cluster_has_all_hosts_of_the_inventory_that_name_it_but_those_that_choose_it_by_facts() -> None:
    others = {"b": {"drain_methods": CLUSTERED}, "c": {"drain_methods": CLUSTERED, "ansible_facts": EVIL}, "d": {}}
    play = Play(a=observed("a", drain_methods=CLUSTERED), **others)
    play.variables.update(ansible_play_hosts_all=["a"], ansible_play_batch=["a"], ansible_play_hosts=["a"])
    assert play.begin()["request"]["settings"]["clusters"] == {"pg": ["a", "b"]}
    found = play.begin_gate()
    assert (found["gate"]["settings"]["clusters"], share(found)) == ({"pg": ["a", "b"]}, {"a": ["b"]})


def test_a_cluster_of_one_host_is_told_where_misspelt_options_are() -> None:
    pass_ = Play(a=observed("a", drain_methods=CLUSTERED), b={"drain_methods": [{"method": "none", "cluster": "pq"}]}).begin()
    assert "Only one host names these clusters in drain_methods, so it waits for no other: pg (a), pq (b). Check their names." in pass_["request"]["misspelt"]


def test_without_a_cluster_no_other_host_is_read() -> None:
    play = Play(a=observed("a", drain_methods=[{"method": "none"}]), b={"drain_methods": CLUSTERED})
    play.variables.update(ansible_play_hosts_all=["a"], ansible_play_batch=["a"], ansible_play_hosts=["a"])
    assert "clusters" not in play.begin(settings={**SETTINGS, "clusters": {"pg": ["x"]}})["request"]["settings"]
    assert "b" not in play.hosts.read


# VMs that are drained alike


ALIKE = {"settings": {**SETTINGS, "notify": False, "alike": True}}
WRITTEN: dict[str, Any] = {"drain_methods": [{"method": "none"}], "group_names": ["web"]}


def alike(play: Play, **given: Any) -> Any:
    settings = play.begin(**{**ALIKE, **given})["request"]["settings"]
    return [one["members"] for one in settings["alike"]] if "alike" in settings else None


def limit(play: Play, *hosts: str) -> Play:
    play.variables.update(ansible_play_hosts_all=list(hosts), ansible_play_batch=list(hosts), ansible_play_hosts=list(hosts))
    return play


def test_alike_vms_are_those_of_the_whole_inventory_as_it_is_written_whatever_the_play_is_limited_to() -> None:
    hosts = {name: {**drained(name), **WRITTEN} for name in "abc"}
    hosts |= {"e": {**drained("e"), **WRITTEN, "ansible_facts": EVIL}, "x": {"drain_methods": "{{ x }}"}, "y": {"drain_methods": "{{ x }}"}}
    # One whose facts have settings stays a member: a VM leaves no group by what it says of itself.
    assert alike(Play(**hosts)) == [["a", "b", "c", "e"], ["x", "y"]]
    assert alike(limit(Play(**hosts), "b")) == [["a", "b", "c", "e"]], "and only the groups that this run has a host of"
    assert limit(Play(**hosts), "b").begin(**ALIKE)["request"]["settings"]["alike"][0] == {"name": "alike a", "members": ["a", "b", "c", "e"], "what": "none"}


def test_a_vm_chooses_no_group_by_what_it_returns() -> None:
    """The settings of a first observation are as evaluated, perhaps with facts of the VM."""
    hosts = {"a": {**drained("a"), **WRITTEN}, "b": {**observed("b", drain_methods=[{"method": "service"}], exclude=True), **WRITTEN}}
    assert alike(Play(**hosts)) == [["a", "b"]]


def test_those_of_declared_groups_and_retired_ones_are_left_out() -> None:
    hosts = {name: {**drained(name), **WRITTEN} for name in "abcd"}
    more = {"capacity": [{"name": "web", "members": ["a"], "max_unavailable": 1}], "retired": ["D"], "clusters": {"pg": ["b"]}}
    assert alike(Play(**hosts), settings={**ALIKE["settings"], **more}) == [["b", "c"]]


@pytest.mark.parametrize("given", [False, None, "false", "no"])
def test_without_the_option_there_are_none(given: Any) -> None:
    hosts = {name: {**drained(name), **WRITTEN} for name in "ab"}
    assert alike(Play(**hosts), settings={**ALIKE["settings"], "alike": given}) is None
    assert alike(Play(**hosts), settings={**SETTINGS, "notify": False}) is None


@pytest.mark.parametrize("kept", [{"events": [event(resources=("a",))]}, {"records": [{}]}, {"leases": [{}]}, {}])
def test_no_host_is_read_for_them_where_nothing_can_go(kept: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    play = Play(a={**observed("a"), **WRITTEN}, b=dict(WRITTEN), c={"observe_result": {"unreachable": True}})
    play.hosts.hosts["a"]["observe_result"] |= kept
    raw: list[str] = []
    monkeypatch.setattr(HostVars, "raw_get", lambda self, name: raw.append(name) or self.hosts[name])
    limit(play, "a", "c")
    assert (alike(play) is None) is not bool(kept)
    assert ("b" in raw) is bool(kept)
    assert alike(play, only_shows=True) == [["a", "b"]], "what only shows the state lists them"


def test_an_upgrade_has_none() -> None:
    """Its batches are its owner's choice."""
    play = Play(a={**drained("a"), **WRITTEN}, b={**drained("b"), **WRITTEN})
    found = play.begin_gate(settings={"alike": True})
    assert (found["contact"], share(found)) == (["a"], {"a": []})


# Whose it is


FOLDERS = {"folders": METHODS}


def balanced(server: str | None = None, **options: Any) -> list[dict[str, Any]]:
    return [{"method": "haproxy", "balancers": ["lb1"], **({} if server is None else {"server": server}), **options}]


def in_haproxy(name: str, methods: Any, *events: Any, **more: Any) -> dict[str, Any]:
    """Return a VM with these methods, as its inventory has them and as they were evaluated."""
    return {"drain_methods": methods, **observed(name, *events, drain_methods=methods, **FOLDERS, **more)}


def wrong(state: Mapping[str, Any]) -> dict[str, list[str]]:
    return {one["host"]: one["wrong_settings"] for one in of_all(state) if one.get("wrong_settings")}


SAME = (
    "web1, web2 have the same server web1 on balancer lb1 in drain_methods (haproxy), so that a drain of one would take out another: "
    "give each its own server, or remove server from the group's variables."
)
LB: dict[str, Any] = {"lb1": {}}


@pytest.mark.parametrize("only_shows", [False, True])
@pytest.mark.parametrize("check_mode", [False, True])
def test_two_hosts_with_one_server_have_wrong_settings_and_others_go_on(only_shows: bool, check_mode: bool) -> None:
    hosts = {name: in_haproxy(name, balanced("web1"), event(resources=("web2",))) for name in ("web1", "web2")}
    found = Play(**hosts, web3=in_haproxy("web3", balanced(), event("e3", ("web3",))), **LB).begin(check_mode, only_shows=only_shows)
    assert wrong(found) == {"web1": [SAME], "web2": [SAME]}
    assert f"wrong settings on web1, web2: {SAME}".rstrip(".") in found["plan"]["fails"]
    assert [one["host"] for one in found["plan"]["actions"] if one["action"] == "acquire"] in (["web3"], [])
    assert not [one for one in found["plan"]["actions"] if one["host"] in ("web1", "web2") and one["action"] != "write"], "nothing is set"
    assert any(one["host"] == "web3" for one in found["plan"]["actions"])


def test_it_is_told_without_any_event() -> None:
    assert wrong(Play(**{name: in_haproxy(name, balanced("web1")) for name in ("web1", "web2")}, **LB).begin()) == {"web1": [SAME], "web2": [SAME]}


def test_former_entries_and_hosts_that_are_left_alone_claim_nothing() -> None:
    former = {"drain_methods_former": balanced("web1")}
    assert wrong(Play(web1=in_haproxy("web1", balanced()), web2=in_haproxy("web2", balanced(), **former), **LB).begin()) == {}
    assert wrong(Play(web1=in_haproxy("web1", balanced()), web2=in_haproxy("web2", balanced("web1"), exclude=True), **LB).begin()) == {}
    refused = {**in_haproxy("web2", balanced("web1")), "ansible_facts": EVIL}
    assert wrong(Play(web1=in_haproxy("web1", balanced()), web2=refused, **LB).begin()) == {}


@pytest.mark.parametrize(
    ("other", "is_wrong"),
    [
        ({"drain_methods": balanced("web1")}, True),
        ({"drain_methods": balanced("web1", balancers="{{ groups['lb'] }}")}, False),
        ({"drain_methods": balanced("web2")}, False),
        ({"drain_methods": balanced("web1", backends=["a"])}, True),
        ({"drain_methods": balanced("web1"), "respond_exclude": True}, False),
        ({"drain_methods": balanced("web1"), "ansible_facts": EVIL}, False),
        ({}, False),
    ],
)
def test_a_host_that_is_not_in_this_run_is_compared_by_what_is_written(other: dict[str, Any], is_wrong: bool) -> None:
    hosts = {"web1": in_haproxy("web1", balanced(), event(resources=("web1",))), "web2": other, **LB}
    assert wrong(limit(Play(**hosts), "web1").begin()) == ({"web1": [SAME]} if is_wrong else {})


def test_one_whose_name_is_claimed_is_read_though_all_of_it_is_a_template() -> None:
    """A copied host_vars/web1.yml: the other one names its server by a template."""
    hosts = {"web2": in_haproxy("web2", balanced("web1"), event(resources=("web2",))), "web1": {"drain_methods": balanced()}, **LB}
    assert list(wrong(limit(Play(**hosts), "web2").begin())) == ["web2"]


def test_without_events_no_other_host_is_read_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    play = limit(Play(web1=in_haproxy("web1", balanced()), web2={"drain_methods": balanced("web1")}, **LB), "web1")
    raw: list[str] = []
    monkeypatch.setattr(HostVars, "raw_get", lambda self, name: raw.append(name) or self.hosts[name])
    assert (wrong(play.begin()), "web2" in play.hosts.read, "web2" in raw) == ({}, False, False)


def test_few_hosts_are_evaluated_for_it() -> None:
    hosts = {f"x{number}": {"drain_methods": balanced("web1")} for number in range(200)}
    play = limit(Play(web1=in_haproxy("web1", balanced(), event(resources=("web1",))), **hosts, **LB), "web1")
    (words,) = wrong(play.begin())["web1"]
    assert words.startswith("web1, x0, x1, x10, x11, x12 and 45 more have the same server web1")
    assert len([name for name in play.hosts.read if name.startswith("x")]) == module.MOST_NAMESAKES


@pytest.mark.parametrize("written", ["{{ ansible_facts.hostname }}", "{{ name_in_balancer }}"])
def test_a_vm_that_makes_the_name_by_its_facts_stops_no_other(written: str) -> None:
    """Rule 9: any variable of a template may be a fact. What only a fact may say is compared with no other host's."""
    by_facts = [{**balanced()[0], "server": written}]
    facts = {"hostname": "web1", "name_in_balancer": "web1"}
    liar = {**in_haproxy("liar", balanced("web1"), event(resources=("liar",))), "drain_methods": by_facts, "ansible_facts": facts}
    web1 = in_haproxy("web1", balanced(), event("e1", ("web1",)))
    assert wrong(Play(web1=web1, liar=liar, **LB).begin()) == {}
    assert wrong(Play(web1={**web1, "drain_methods": by_facts}, liar=liar, **LB).begin()) == {}
    # The interpreter that Ansible has found is no fact that names anything.
    found = {"discovered_interpreter_python": "/usr/bin/python3"}
    assert list(wrong(Play(web1=web1, liar={**liar, "ansible_facts": found}, **LB).begin())) == ["web1", "liar"]


def test_a_name_that_several_clusters_may_have_is_a_warning() -> None:
    one = [{"method": "slurm", "node": "n1", "cluster": "x"}]
    found = Play(a=in_haproxy("a", one), b=in_haproxy("b", one)).begin()
    assert (wrong(found), found["plan"]["summary"]["misspelt"][-1]) == (
        {},
        "a, b have the same node n1 in drain_methods (slurm). Correct node, or name the cluster of each (cluster).",
    )


def test_an_upgrade_begins_with_no_such_settings() -> None:
    hosts = {name: in_haproxy(name, balanced("web1")) for name in ("web1", "web2")}
    found = limit(Play(**hosts, **LB), "web1", "web2").run(check_settings=True)
    assert (found["failed"], found["msg"]) == (True, f"wrong settings on web1, web2: {SAME.rstrip('.')}. Nothing was done.")


def test_what_comes_later_changes_no_setting_of_the_run() -> None:
    play = Play(a=drained("a"))
    play.begin()
    play.hosts.hosts["a"] |= {"drain_methods": [], "__respond_vm_settings": {"vm_settings": {"exclude": True}}, "respond_exclude": True}
    play.hosts.hosts["a"]["observe_result"] |= {"vm_settings": {"exclude": True}, "now": at(1)}
    found = play.run(go_on="p")
    assert (found["observations"][0]["state"], found["observations"][0]["methods"]) == ("ok", ["none"])


# A pause and a start gate


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"settings": {"paused": {"who": "alice"}}}, "respond_paused lacks why and until. Write respond_paused: {who: alice,"),
        ({"start_when": {"comand": ["true"]}}, "respond_start_when has the unknown key comand (did you mean command?)"),
        ({"start_when": "curl x"}, "respond_start_when must be a dictionary with one of url, command, prometheus, not 'curl x'"),
    ],
)
def test_a_wrong_pause_or_gate_is_refused_before_any_vm_is_asked(given: dict[str, Any], words: str) -> None:
    play = Play(a=observed("a"))
    found = play.run(begin=given, check_only=True)
    assert found["failed"] and words in found["msg"] and found["msg"].isprintable()
    assert play.hosts.read == []


def test_a_start_gate_is_asked_and_its_answer_kept() -> None:
    with mock.patch.object(module.start_gate, "ask", return_value={"go": False, "text": "no"}) as ask:
        play = Play(a=drained("a"))
        found = play.begin(start_when={"url": "http://127.0.0.1:9/"})
        assert (found["do"], found["start_gate"]) == ("act", {"go": False, "text": "no", "asked_at": NOW})
        assert ask.call_args.args == ({"url": "http://127.0.0.1:9/", "command": [], "prometheus": {}, "timeout": 10.0}, True)
        again = play.run(go_on="p")
        assert (again["number"], ask.call_count) == (1, 1)


@pytest.mark.parametrize(("check_mode", "only_shows"), [(True, False), (False, True)])
def test_no_command_is_run_where_nothing_is_done(check_mode: bool, only_shows: bool) -> None:
    with mock.patch.object(module.start_gate.subprocess, "Popen", side_effect=AssertionError):
        found = Play(a=drained("a")).begin(check_mode=check_mode, start_when={"command": ["may-start"]}, only_shows=only_shows)
    assert found["plan"]["events"][0]["reason"] == (
        "start gate says no: the command may-start is not run in check mode, by status or by decide, which counts as no"
    )


# Gates


def share(found: dict[str, Any]) -> dict[str, list[str]]:
    return {host: [one["host"] for one in others] for host, others in found["share"].items()}


def test_a_gate_is_begun_and_goes_on() -> None:
    play = Play(a=observed("a"), b={}, c={})
    capacity = [{"name": "web", "members": ["a", "b", "stranger"], "max_unavailable": 1}]
    found = play.begin_gate(settings={**SETTINGS, "capacity": capacity})
    assert found.keys() >= gate_loop.KEYS
    assert (found["do"], share(found), found["run"]) == ("observe", {"a": ["b", "stranger"]}, "run000mine")
    play.hosts.hosts["a"]["__gate_answers"] = {"results": [{"__gate_item": {"host": "b", "number": 1}, **observation("b")}]}
    found = play.run(go_on="p")
    # A member that the inventory does not have is an observation that failed.
    assert [(one["host"], one["state"]) for one in found["observations"]] == [("a", "ok"), ("b", "ok"), ("stranger", "failed")]
    assert (found["do"], found["plan"]["go"]) == ("wait", False)


def test_members_whose_facts_have_settings_are_not_asked() -> None:
    play = Play(a=observed("a"), b={"ansible_facts": EVIL})
    capacity = [{"name": "web", "members": ["a", "b"], "max_unavailable": 1}]
    found = play.begin_gate(settings={**SETTINGS, "capacity": capacity})
    assert (found["refused"], share(found)) == (["b"], {"a": []})


def test_only_hosts_of_the_batch_that_are_present_take_part() -> None:
    play = Play(a=observed("a"), b=observed("b"), c=observed("c"))
    play.variables["ansible_play_hosts"] = ["b", "c"]
    found = play.begin_gate(batch="ab")
    assert (found["contact"], share(found)) == (["b"], {"b": []})


@pytest.mark.parametrize(
    ("localhost", "others"),
    [
        # Whom playbook rolling_upgrade has found; elsewhere one VM of the play, which an earlier run would have taken.
        ({"upgrade_plan": {"keepers": ["d", "b"]}}, ["d"]),
        ({"upgrade_plan": {"keepers": []}}, []),
        ({}, ["c"]),
    ],
)
def test_an_upgrade_observes_who_may_keep_what_its_batch_has_lost(localhost: dict[str, Any], others: list[str]) -> None:
    play = Play(a=observed("a"), b=observed("b"), c=observed("c"), d=observed("d"), localhost=localhost)
    play.variables.update(ansible_play_hosts=list("abcd"), ansible_play_hosts_all=list("abcd"))
    assert share(play.begin_gate(batch="ab", keepers=True)) == {"a": others[::2], "b": others[1::2]}
    assert share(play.begin_gate(batch="abcd", keepers=True))["a"] == []


def test_in_check_mode_a_gate_has_no_lease() -> None:
    play = Play(a=observed("a"))
    assert play.begin_gate(check_mode=True)["run"] == ""
    found = play.run(go_on="p")
    assert (found["do"], found["plan"]["go"], found["actions"]) == ("end", True, {})


class Unreadable(dict[str, Any]):
    """The variables of a host, one of which is made of a fact that the VM does not bring along."""

    def get(self, name: str, default: Any = None) -> Any:
        if name in ("respond_labels", "vmid"):
            raise AnsibleError(f"{name} is undefined")
        return super().get(name, default)


def test_a_variable_that_cannot_be_made_stops_no_other_host() -> None:
    play = Play(a=observed("a"), b=Unreadable())
    found = play.begin()
    assert [(one["host"], one["state"]) for one in of_all(found)] == [("a", "resting"), ("b", "failed")]
    assert "failed" not in found
    capacity = [{"name": "web", "members": ["a", "b"], "max_unavailable": 1}]
    play.begin_gate(settings={**SETTINGS, "capacity": capacity})
    assert [one["host"] for one in play.run(go_on="p")["observations"]] == ["a", "b"]


def test_what_hosts_of_another_batch_have_registered_is_of_another_time() -> None:
    play = Play(a=observed("a"), b=observed("b"))
    play.variables["ansible_play_batch"] = ["a"]
    assert [(one["host"], one["state"]) for one in of_all(play.begin())] == [("a", "resting"), ("b", "failed")]


# Settings of all hosts, and misspelt variables

TYPO = {"drain_methods": [{"method": "probefile"}], "folders": ["/nowhere"]}


def test_facts_of_a_vm_neither_fail_the_run_as_options_nor_are_warned_about() -> None:
    play = Play(a={**observed("a"), "ansible_facts": {"gate_nmae": 1}, "gate_nmae": 1})
    play.variables |= {"ansible_facts": {"respond_unmanaged": "wat", "respond_wiat": 1}, "respond_unmanaged": "wat", "respond_wiat": 1}
    assert play.run(begin={}, check_only=True).get("failed") is None
    with mock.patch.object(module.Display, "warning") as warned:
        play.run(begin={})
    assert warned.call_args_list == []


def test_settings_of_every_host_are_checked_at_the_begin_of_a_pass() -> None:
    found = Play(a=observed("a"), b=observed("b", **TYPO), c=observed("c", **TYPO)).begin()
    (line,) = found["plan"]["summary"]["wrong_settings"]
    assert line.startswith("b, c: drain_methods, entry 1 (probefile)") and line.endswith("(did you mean probe_file?).")
    assert found["do"] == "end"


def test_a_host_that_the_inventory_does_not_have_is_a_wrong_setting() -> None:
    balanced = {"drain_methods": [{"method": "haproxy", "balancers": ["bb"]}], "folders": METHODS}
    found = Play(a=observed("a", **balanced), b=observed("b")).begin()
    assert found["plan"]["fails"] == ["wrong settings on a: drain_methods, entry 1 (haproxy): balancers: the inventory has no host bb (did you mean b?)"]
    assert Play(a=observed("a", **balanced), bb={}).begin()["plan"]["summary"]["wrong_settings"] == []
    play = Play(a={"__respond_vm_settings": {"vm_settings": balanced}})
    assert "balancers: the inventory has no host bb" in play.run(check_settings=True)["msg"]


def test_settings_can_be_checked_alone() -> None:
    play = Play(a={"__respond_vm_settings": {"vm_settings": {**TYPO, "drain_methods": []}}})
    assert play.run(check_settings=True) == {"changed": False, "_ansible_verbose_override": True}
    play = Play(a={"__respond_vm_settings": {"vm_settings": TYPO}}, b={"__respond_vm_settings": {"vm_settings": TYPO}})
    play.hosts.hosts["c"] = {"__respond_vm_settings": {"vm_settings": TYPO}, "ansible_facts": EVIL}
    play.variables["ansible_play_hosts"] = ["a", "b", "c"]
    found = play.run(check_settings=True)
    assert (found["failed"], found["msg"].startswith("wrong settings on a, b: drain_methods, entry 1 (probefile)")) == (True, True)


@pytest.mark.parametrize("kind", ["begin", "begin_gate", "check_settings"])
def test_a_misspelt_variable_of_any_host_is_warned_about_once(kind: str) -> None:
    play = Play(a={**observed("a"), "drain_methds": []}, b={**observed("b"), "drain_methds": [], "drain_team": 1})
    play.variables["respond_capacty"] = []
    asked = {"ask": {"upgrade": "x", "batch": ["a", "b"]}, "run": "run000mine"}
    with mock.patch.object(module.Display, "warning") as warned:
        play.run(**{kind: {"begin": {}, "begin_gate": asked, "check_settings": True}[kind]})
    assert [call.args[0].partition("Did you mean ")[2] for call in warned.call_args_list] == ["drain_methods?", "respond_capacity?"]
