# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The iterations of a gate: whom it observes, that no old observation and no missing one is taken for a new one, and when it acts, waits and ends."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import gate_loop, vm_settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop.gate_loop import GateRequest, GateState
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop.observations import HostResults
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._loop.passes import observation
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._loop.registers import JUNK, KEPT
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._loop.test_vm_settings import METHODS, TARGETS
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import NOW, SETTINGS, event
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.upgrade.test_gate import NAME, OURS, RUN, lease, lease_of_other_run

WEB = {"name": "web", "members": ["a", "b", "c"], "max_unavailable": 1}
DATA = {"name": "db", "members": ["c", "d"], "max_unavailable": 1}
DO = ("observe", "take", "wait", "leases", "end")


def request(batch: Any = ("a",), capacity: Any = (), **more: Any) -> GateRequest:
    given: Any = {
        "ask": {"upgrade": NAME, "batch": list(batch)},
        "policy": "default",
        "settings": {**SETTINGS, "capacity": list(capacity), "run": RUN},
        "wait_timeout": 100.0,
        "places": [],
        "check_mode": False,
    }
    return {**given, **more}


class Gate:
    """A gate by hand: a clock, and what the hosts registered."""

    def __init__(self, members: Any = None, present: Any = None, refused: Any = (), asked: GateRequest | None = None, **more: Any) -> None:
        self.now = NOW
        self.request = asked or request(**more)
        batch = self.request["ask"]["batch"]
        self.members = gate_loop.members_of(self.request, ()) if members is None else list(members)
        self.observed: dict[str, Any] = {name: observation(name) for name in batch}
        self.acted: dict[str, Any] = {}
        self.facts: dict[str, Any] = {}
        self.given: dict[str, Any] = {}
        self.others: dict[str, Any] = {}
        """What a host of the batch registers of its share, by host. Without an entry all of it is well."""
        self.state: GateState = gate_loop.begin(self.request, self.members, batch if present is None else present, refused, self.now)

    def of_others(self, host: str) -> Any:
        number = self.state["number"]
        return self.others.get(host, [of_other(one["host"], number, now=timestamps.form(self.now)) for one in self.state["share"].get(host, ())])

    def go_on(self, seconds: float = 1) -> GateState:
        self.now += seconds
        # Real observations differ in their time.
        self.observed = {
            host: {**found, "now": timestamps.form(self.now)} if isinstance(found, dict) and "now" in found else found for host, found in self.observed.items()
        }
        read: gate_loop.BatchResults = {
            "of": lambda host: HostResults(self.observed.get(host), self.acted.get(host), self.facts.get(host), {}),
            "settings": self.given.get,
            "others": self.of_others,
            "inventory": None,
        }
        self.state = gate_loop.go_on(self.state, read, self.now)
        check(self.state)
        return self.state

    def share(self) -> dict[str, list[str]]:
        return {host: [one["host"] for one in others] for host, others in self.state["share"].items()}

    def states(self) -> list[str]:
        return [one["state"] for one in self.state["observations"]]

    def acts(self) -> dict[str, list[str]]:
        return {host: [one["action"] for one in taken] for host, taken in self.state["actions"].items()}

    def answer(self, **of_leases: Any) -> None:
        """Do what the batch is asked for: acquire and release its leases."""
        for host, actions in self.state["actions"].items():
            asked = [{key: action.get(key) for key in KEPT} for action in actions]
            self.acted[host] = {"asked": asked, "results": [{"action": one["action"], "failed": False, "leases": ["x"], **of_leases} for one in actions]}
            kept = [one for one in self.observed[host]["leases"] if one["run"] != RUN["id"]] if "leases" in self.observed[host] else []
            mine = [lease()] if any(one["action"] == "acquire" for one in actions) else []
            self.observed[host] = {**self.observed[host], "leases": kept + mine}


def check(state: GateState) -> None:
    assert state.keys() == gate_loop.KEYS
    assert state["do"] in DO
    assert state["pause"] >= 1
    assert state["actions"].keys() <= set(state["involved"])
    assert {one["number"] for others in state["share"].values() for one in others} <= {state["number"]}


def of_other(name: str, number: Any, **more: Any) -> dict[str, Any]:
    return {"__gate_item": {"host": name, "number": number}, **observation(name), **more}


# Whom it observes


def test_members_are_the_batch_and_all_that_share_a_group() -> None:
    assert gate_loop.members_of(request("b"), ()) == ["b"]
    assert gate_loop.members_of(request("b", [WEB]), ()) == ["b", "a", "c"]
    assert gate_loop.members_of(request("b", [DATA]), ()) == ["b"]
    assert gate_loop.members_of(request("bd", [WEB, DATA]), ()) == ["b", "d", "a", "c"]
    assert gate_loop.members_of(request("b", [WEB]), ["k", "a"]) == ["b", "a", "c", "k"]
    with pytest.raises(WrongInput, match=r"group 1 of the capacity"):
        gate_loop.members_of(request("b", [{}]), ())


def test_the_hosts_of_the_batch_share_the_others() -> None:
    assert Gate(["a", "b", "c", "d", "e"], batch="ab").share() == {"a": ["c", "e"], "b": ["d"]}
    assert Gate(["a", "b", "c", "d", "e"], ["b"], batch="ab").share() == {"b": ["c", "d", "e"]}
    # A VM whose facts have settings is not asked, and its endpoint is its own affair.
    assert Gate(["a", "b", "c", "d"], refused=["c"]).share() == {"a": ["b", "d"]}
    assert Gate(["a"]).share() == {"a": []}


def test_before_the_first_observation_nothing_is_known() -> None:
    its = Gate(capacity=[WEB])
    assert (its.state["do"], its.states(), its.state["plan"], its.state["contact"]) == ("observe", ["failed"] * 3, {}, ["a"])


# Observations


def test_hosts_of_the_batch_observe_themselves_and_others() -> None:
    its = Gate(capacity=[WEB])
    its.go_on()
    assert its.states() == ["ok", "ok", "ok"]
    its.others["a"] = [of_other("b", "2"), of_other("c", 2)]
    its.go_on()
    assert its.states() == ["ok", "ok", "ok"]


@pytest.mark.parametrize("number", [0, 2, None, "x", [1]])
def test_an_observation_of_another_iteration_is_none(number: Any) -> None:
    its = Gate(capacity=[WEB])
    its.others["a"] = [of_other("b", number), of_other("c", 1)]
    # What a member registered of itself is of another play.
    its.observed["b"] = observation("b")
    assert its.go_on()["do"] == "wait"
    assert its.states() == ["ok", "failed", "ok"]


def test_the_iterations_are_counted() -> None:
    its = Gate(capacity=[WEB])
    assert its.state["number"] == 1
    its.go_on()
    its.others["a"] = [of_other("b", 1), of_other("c", 1)]
    its.go_on()
    assert (its.state["number"], its.states()) == (3, ["ok", "failed", "failed"])


def test_who_of_the_batch_takes_no_part_any_more_was_not_observed() -> None:
    its = Gate(["a", "b", "c"], ["a"], batch="ab")
    its.others["a"] = [of_other("b", 1), of_other("c", 1)]
    its.go_on()
    assert its.states() == ["ok", "failed", "ok"]


@pytest.mark.parametrize(
    ("result", "state"),
    [
        (of_other("b", 1, unreachable=True), "unreachable"),
        (of_other("b", 1, failed=True), "failed"),
        ({"__gate_item": {"host": "b", "number": 1}, "msg": "timed out"}, "failed"),
        ({"__gate_item": {"host": "b"}}, "failed"),
        ({"__gate_item": "b1"}, "failed"),
        ({"__gate_item": None}, "failed"),
        ({}, "failed"),
        (None, "failed"),
        ("text", "failed"),
    ],
)
def test_an_observation_that_failed_is_never_a_good_one(result: Any, state: str) -> None:
    its = Gate(["a", "b"])
    its.others["a"] = [result]
    its.go_on()
    assert its.states() == ["ok", state]


def test_what_the_inventory_says_of_a_member_comes_along() -> None:
    its = Gate(["a", "b"])
    its.given["b"] = {"exclude": "yes", "labels": {"role": "replica"}, "drain_methods": [{"method": "iis"}, 5]}
    (_first, found) = its.go_on()["observations"]
    assert (found["state"], found["labels"], found["methods"]) == ("excluded", {"role": "replica"}, ["iis"])


def test_targets_are_those_of_the_variables() -> None:
    its = Gate(batch=["web1"])
    its.given["web1"] = {"drain_methods": METHODS}
    its.observed["web1"] = observation("web1", targets=["evil"])
    assert its.go_on()["observations"][0]["targets"] == TARGETS


def test_what_the_variables_said_at_the_first_observation_counts() -> None:
    its = Gate()
    its.given["a"] = {"labels": {"role": "replica"}}
    its.go_on()
    its.given["a"] = {"labels": {"role": "evil"}, "exclude": True}
    assert its.go_on()["observations"][0]["labels"] == {"role": "replica"}
    assert its.state["vms"]["a"] == vm_settings.read({"labels": {"role": "replica"}}, "a")


def test_a_vm_whose_facts_have_settings_is_not_seen() -> None:
    its = Gate(["a", "b"])
    its.facts["b"] = {"respond_endpoint": "http://x"}
    (first, second) = its.go_on()["observations"]
    assert (first["state"], second["state"]) == ("ok", "failed")
    assert "respond_endpoint" in second["error"]


# Leases


def test_the_batch_is_leased_observed_once_more_and_goes() -> None:
    its = Gate(batch="ab", capacity=[{**WEB, "max_unavailable": 2}])
    state = its.go_on()
    assert (state["do"], its.acts(), state["acquired"]) == ("take", {"a": ["acquire"], "b": ["acquire"]}, True)
    assert {one["iteration"] for taken in state["actions"].values() for one in taken} == {"run000mine iteration 2"}
    its.answer()
    state = its.go_on()
    assert (state["do"], state["plan"]["go"], its.acts()) == ("end", True, {})
    until = state["plan"]["leased_until"]
    assert until and state["report"].startswith(f"The gate is open for a, b (run run000mine). This run has leased them until {until}: until then no other run ")
    assert [one["acknowledged"] for one in state["observations"]] == [[OURS.lower()], [OURS.lower()], []]


def test_what_was_acquired_is_observed_once_more_whatever_the_time() -> None:
    its = Gate(wait_timeout=10.0)
    assert its.go_on(50)["do"] == "take"
    its.answer()
    state = its.go_on()
    assert (state["do"], state["plan"]["go"], state["waited"]) == ("end", True, 51)


def test_leases_that_could_not_be_acquired_are_asked_for_again_after_a_pause() -> None:
    """On a full disk perhaps."""
    its = Gate()
    its.go_on()
    state = its.go_on()
    assert (state["do"], state["pause"], its.acts()) == ("wait", gate_loop.RETRY_SECONDS, {"a": ["acquire"]})
    its.now += 200
    assert (its.go_on()["do"], its.acts()) == ("leases", {"a": ["acquire"]})


@pytest.mark.parametrize("found", [{"failed": True}, {"failed": True, "leases": ["x"]}])
def test_a_lease_that_was_not_acknowledged_opens_nothing(found: dict[str, Any]) -> None:
    its = Gate()
    its.go_on()
    its.answer(**found)
    state = its.go_on()
    assert (state["plan"]["go"], state["observations"][0]["acknowledged"]) == (False, [])


def test_only_the_batch_acknowledges() -> None:
    its = Gate(["a", "b"])
    its.go_on()
    its.answer()
    its.acted["b"] = its.acted["a"]
    its.go_on()
    assert [one["acknowledged"] for one in its.state["observations"]] == [[OURS.lower()], []]


def test_what_was_released_must_be_acknowledged_anew() -> None:
    its = Gate()
    its.go_on()
    its.answer()
    its.observed["a"] = observation("a", leases=[lease(), lease_of_other_run()])
    state = its.go_on()
    assert (state["do"], its.acts(), state["observations"][0]["acknowledged"]) == ("wait", {"a": ["release"]}, [OURS.lower()])
    its.answer()
    assert its.go_on()["observations"][0]["acknowledged"] == []


@pytest.mark.parametrize("is_over", [False, True])
def test_expired_leases_of_others_are_removed_elsewhere(is_over: bool) -> None:
    its = Gate(capacity=[WEB])
    dead = lease_of_other_run(left=-50)
    its.others["a"] = [of_other("b", 1, leases=[dead]), of_other("c", 1)]
    its.observed["a"] = observation("a", events=[event(resources=("a",))])
    state = its.go_on(200 if is_over else 1)
    assert (state["do"], state["actions"]) == ("leases" if is_over else "wait", {})
    (first, *others) = state["share"]["a"]
    assert [(one["action"], one["host"], one["expired"]) for one in first["actions"]] == [("release", "b", [dead["name"]])]
    # Where others have nothing to remove, they are only observed, and at the end not even that.
    assert [first["observe"], *(one["observe"] for one in others)] == ([False] if is_over else [True, True])
    assert not any(one["actions"] for one in others)


@pytest.mark.parametrize(("dead", "run_id"), [("run000dead", RUN["id"]), ("", RUN["id"]), (RUN["id"], RUN["id"]), ("run000dead", "")])
def test_the_leases_of_a_dead_run_are_removed_before_the_first_observation(dead: str, run_id: str) -> None:
    """Not in check mode, in which a run has no id, and not its own."""
    asked = request("ab")
    asked["settings"]["run"] = {**RUN, "id": run_id}
    state = gate_loop.begin(asked, ["a", "b", "c"], ["a"], (), NOW, dead)
    removes = dead == "run000dead" and bool(run_id)
    removal = {"action": "release", "lease": {"run": dead}, "iteration": f"{run_id} iteration 1"}
    assert state["do"] == ("take" if removes else "observe")
    assert state["actions"] == ({"a": [{**removal, "host": "a"}]} if removes else {})
    assert state["share"] == {"a": [{"host": "c", "number": 1, "actions": [{**removal, "host": "c"}] if removes else [], "observe": True}]}


# Waiting, and the end


def test_it_waits_while_an_event_is_listed_and_ends_with_its_time() -> None:
    its = Gate(capacity=[WEB])
    its.observed["a"] = observation("a", events=[event(resources=("a",))])
    state = its.go_on()
    assert (state["do"], state["actions"]) == ("wait", {})
    assert 1 <= state["pause"] <= 30
    its.now += 97.5
    assert (its.go_on()["do"], its.state["pause"]) == ("wait", 1)
    assert its.state["report"] == f"The gate is closed for a: {its.state['plan']['why'][0]}."
    state = its.go_on(5)
    assert (state["do"], state["plan"]["go"]) == ("end", False)


def test_where_its_time_is_over_its_leases_are_released() -> None:
    its = Gate()
    its.go_on()
    its.answer()
    its.observed["a"] = {**its.observed["a"], "events": [event(resources=("a",))]}
    state = its.go_on(200)
    assert (state["do"], its.acts()) == ("leases", {"a": ["release"]})
    assert its.go_on()["do"] == "end"


def test_after_the_last_leases_nothing_is_observed() -> None:
    its = Gate()
    its.observed["a"] = observation("a", events=[event(resources=("a",))])
    before = its.state = {**its.go_on(), "do": "leases"}
    its.observed = {}
    assert its.go_on(5000) == {**before, "do": "end"}


def test_a_batch_that_never_fits_is_not_waited_for() -> None:
    its = Gate(batch="ab", capacity=[WEB])
    state = its.go_on()
    assert (state["do"], state["plan"]["go"], state["actions"]) == ("end", False, {})
    assert state["plan"]["never"]


def test_a_batch_that_is_done_ends() -> None:
    asked = request()
    asked["ask"]["marks"] = True
    its = Gate(asked=asked)
    its.observed["a"] = observation("a", upgrades=[{"name": NAME, "state": "done"}])
    state = its.go_on()
    assert (state["do"], state["plan"]["nothing_to_do"], its.acts()) == ("end", True, {})
    assert state["report"] == f"upgrade {NAME!r} is done on a."


def test_in_check_mode_it_asks_once_and_takes_nothing() -> None:
    without = {**SETTINGS, "run": {"id": ""}}
    its = Gate(check_mode=True, settings=without)
    state = its.go_on()
    assert (state["do"], state["plan"]["go"], state["actions"]) == ("end", True, {})
    assert state["report"] == "The gate would open for a."
    its = Gate(check_mode=True, settings=without, capacity=[])
    its.observed["a"] = observation("a", events=[event(resources=("a",))], leases=[lease_of_other_run(left=-50)])
    state = its.go_on()
    assert (state["do"], state["plan"]["go"], state["actions"]) == ("end", False, {})


def test_errors_of_what_was_asked_for_are_named() -> None:
    asked = request()
    asked["ask"]["upgrade"] = ""
    its = Gate(asked=asked)
    with pytest.raises(WrongInput, match="upgrade must be"):
        its.go_on()


# Anything


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(JUNK, max_size=3), st.lists(JUNK, min_size=4, max_size=4), st.integers(0, 3), st.floats(0, 60))
def test_whatever_the_hosts_register_a_gate_goes_on_and_ends(others: list[Any], of_hosts: list[Any], iteration: int, seconds: float) -> None:
    its = Gate(capacity=[WEB])
    for number in range(300):
        if number == iteration:
            observed, acted, facts, records = of_hosts
            junk = {**(observed if isinstance(observed, dict) else {}), "events": acted}
            its.others["a"] = [*others, {"__gate_item": {"host": "b", "number": its.state["number"]}, **junk}]
            its.observed["a"] = observed if seconds < 30 else {**observation("a"), "records": records, "leases": acted}
            its.acted["a"], its.facts["b"], its.given["c"] = acted, facts, records
        if its.go_on(its.state["pause"] + seconds)["do"] == "end":
            return
    raise AssertionError("it does not end")


def test_a_batch_with_wrong_settings_is_refused_before_any_lease() -> None:
    its = Gate(batch=("a", "b"))
    typo = {"drain_methods": [{"method": "probefile"}], "folders": ["/nowhere"]}
    its.given = {"a": typo, "b": typo}
    with pytest.raises(WrongInput, match=r"^wrong settings on a, b: .*did you mean probe_file\?.* Nothing was done\.$"):
        its.go_on()
