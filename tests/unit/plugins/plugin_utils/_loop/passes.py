# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pass by hand: a clock, what the hosts registered, and plans that are written down or made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import pass_loop
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop.observations import HostResults
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop.pass_loop import Request, State
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._loop.registers import KEPT
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import NOW, SETTINGS, vm

RUN = {"id": "run000mine", "who": "alice", "kind": "events"}
SERVICE = {"method": "service", "names": ["web"]}
OWN = {"method": "tasks", "begin": "b.yml", "check": "c.yml", "undo": "u.yml"}
DO = ("act", "acquire", "by_tasks", "wait", "pause", "release", "end")


def request(**more: Any) -> Request:
    given: Any = {
        "policy": "default",
        "settings": {**SETTINGS, "notify": False, "enabling_seconds": 0, "run": RUN},
        "wait": True,
        "wait_timeout": 600.0,
        "confirm_end": True,
        "misspelt": [],
        "wrong_names": [],
        "observation_seconds": 30.0,
        "notify_tasks": "",
        "notify_refused": "",
        "notify": {"seconds": 5.0, "wrong": "", "test": False},
        "places": [],
        "check_mode": False,
        "start_when": None,
        "runs_commands": True,
        "secret": "5ec2e7",
    }
    return {**given, **more}


def step(act: str = "drain", host: str = "vm1", **more: Any) -> dict[str, Any]:
    """Return an action of a plan."""
    of_drain = {"event": {"event_id": "E1"}, "rule": {}, "verify": None, "deadline": None}
    return {"host": host, "action": act, "event_id": "E1", "lease": None, "continues": False, "reason": "why", **(of_drain if act == "drain" else {}), **more}


def plan(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a plan; its fingerprint says which actions it has."""
    known = {
        "events": [],
        "differing": [],
        "involved": ["vm1", "vm2"],
        "done": False,
        "requeue": waiting(5),
        "failed": [],
        "not_back": [],
        "fails": [],
        "begins": [],
        "notices": [],
    }
    return {"actions": list(steps), "fingerprint": " ".join(f"{one['action']} {one['host']}" for one in steps), **known, **more}


def waiting(seconds: float, *watch: str) -> dict[str, Any]:
    watched = [{"host": host, "incarnation": 1} for host in watch]
    return {"seconds": seconds, "watch": watched, "why": "it takes its time", "confirms_in": None, "meets_in": None, "met": False}


class Pass:
    """One pass. Plans are taken one after the other, the last one again and again; without any the planner makes them."""

    def __init__(self, monkeypatch: Any = None, *plans: dict[str, Any], hosts: Sequence[str] = ("vm1", "vm2"), methods: Any = (SERVICE,)) -> None:
        self.hosts = list(hosts)
        self.now = NOW
        self.plans = list(plans)
        self.planned: list[tuple[list[dict[str, Any]], str]] = []
        """What each plan was asked with: the observations, and the time."""
        self.observed: dict[str, Any] = {host: observation(host) for host in hosts}
        self.acted: dict[str, Any] = {}
        self.facts: dict[str, Any] = {}
        self.drained: dict[str, Any] = {}
        self.left: set[str] = set()
        """Hosts that have left the play: what they have registered stays as it is."""
        self.asked_for: list[str] = []
        """Whose results were read in the last step."""
        self.given: dict[str, Any] = {host: {"drain_methods": list(methods)} for host in hosts}
        self.state: State
        if monkeypatch is not None:
            monkeypatch.setattr(pass_loop.planner, "make_plan", self._plan)

    def _plan(self, found: list[dict[str, Any]], *, policy: Any, settings: Any, now: str) -> dict[str, Any]:
        self.planned.append((found, now))
        return self.plans.pop(0) if len(self.plans) > 1 else self.plans[0]

    def _results(self, host: str) -> HostResults:
        self.asked_for.append(host)
        return HostResults(self.observed.get(host), self.acted.get(host), self.facts.get(host), {}, self.drained.get(host))

    def begin(self, present: Sequence[str] | None = None, **more: Any) -> State:
        self.asked_for = []
        self.state = pass_loop.begin(request(**more), self.hosts, self.hosts if present is None else present, self.given, self._results, self.now)
        return self.state

    def go_on(self, seconds: float = 1) -> State:
        self.asked_for = []
        self.now += seconds
        self._observe_again()
        before = {key: repr(value) for key, value in self.state.items()}
        after = pass_loop.go_on(self.state, self._results, self.now)
        assert {key: repr(value) for key, value in self.state.items()} == before, "a state is never changed"
        self.state = after
        return after

    def _observe_again(self) -> None:
        """Let those that take part in the iteration be observed at a new time, as real ones are."""
        for host in {*self.state["contact"], *self.state["actions"]} - self.left:
            found = self.observed.get(host)
            if isinstance(found, dict) and "events" in found and "now" in found:
                self.observed[host] = {**found, "now": timestamps.form(self.now)}

    def play(self, hook: Callable[[State], Any] = lambda state: None, most: int = 300) -> list[str]:
        """Go on to the end; return what the iterations did. C(hook) does what their tasks would."""
        done = []
        while self.state["do"] != "end":
            assert len(done) < most, f"it does not end: {done[-5:]}"
            check(self.state)
            done.append(self.state["do"])
            pause = self.state["pause"] if self.state["do"] in pass_loop.WAITS else 0
            hook(self.state)
            self.go_on(pause + 1)
        return done

    def answer(self, state: State, host: str, *results: dict[str, Any]) -> None:
        """Register the results of what a host was asked for, beside its observation."""
        asked = [{key: action.get(key) for key in KEPT} for action in state["actions"][host]]
        self.observed[host] = {**self.observed[host], "asked": asked, "results": [{"action": one["action"], **result} for one, result in zip(asked, results)]}


def check(state: State) -> None:
    """Check what holds in every state that goes on."""
    assert state["do"] in DO
    assert state.keys() == pass_loop.KEYS
    assert set(state["contact"]) <= set(state["involved"])
    assert set(state["listeners"]) <= set(state["involved"])
    assert state["actions"].keys() <= set(state["involved"])
    assert set(state["involved"]) <= set(state["staying"])
    if state["do"] in pass_loop.WAITS:
        assert (state["do"] == "wait") == bool(state["listeners"])
        assert state["contact"], "a wait that observes nobody learns nothing"
        assert state["pause"] >= 1, "without a pause it would spin"
        taken = [one for taken in state["assignments"].values() for one in (*taken["on_vm"], *taken["by_tasks"])]
        assert all(one["action"] in pass_loop.CHECKS for one in taken), "what begins is planned by an observation after the pause"
        assert state["actions"].keys() <= set(state["contact"])
    if state["do"] in ("release", "end"):
        assert not state["actions"]
        assert not state["stages"]


def observation(host: str, *records: Any, **more: Any) -> dict[str, Any]:
    """Return what a good observation registers."""
    return {**vm(host, more.pop("events", ()), records, **more)["observation"], "changed": False}
