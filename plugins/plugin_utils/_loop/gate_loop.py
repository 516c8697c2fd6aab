# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The iterations of a gate: observe the batch and all members of its capacity groups, decide, then act, wait or end."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict

from ...module_utils._scheduled_events.core.types import Data, Values
from .._core import plain_values
from .._core.wrong_input import WrongInput
from .._maintenance.budget import allocation
from .._maintenance.config import settings as settings_module
from .._maintenance.core import timestamps
from .._maintenance.upgrade.gate import make_gate
from . import observations, shared_folders, vm_settings
from .observations import HostResults, Observation
from .pass_loop import MOST_ITERATIONS
from .vm_settings import VMSettings

# Leases that could not be acquired, perhaps on a full disk, are requested again after so many seconds.
RETRY_SECONDS = 5.0
# The actions that an iteration takes: those of the batch under its leases, and on others the removal of ended runs' leases.
ACTIONS = ("acquire", "release", "write")


class GateRequest(TypedDict):
    """The request to the gate, frozen at its begin. Times are in seconds."""

    ask: Data
    """The request as filter C(gate) takes it: the upgrade, the batch, and which events count."""
    policy: Any
    settings: Data
    wait_timeout: float
    places: list[str]
    """Where relative paths of task files are looked for."""
    check_mode: bool


class Other(TypedDict):
    """A VM outside the batch in one iteration. By the iteration's number an observation of an earlier one is never taken for one of this."""

    host: str
    number: int
    actions: list[Data]
    observe: bool


class GateState(TypedDict):
    """The state in the registered result of the action C(plan), which the tasks of the loop read."""

    gate: GateRequest
    run: str
    vms: dict[str, VMSettings]
    observations: list[Observation]
    plan: Data
    """The answer of the gate; empty before the first observation."""
    report: str
    """The same for people."""
    began: float
    number: int
    do: str
    """The next iteration: C(observe), C(take), C(wait), C(leases) or C(end)."""
    actions: dict[str, list[Data]]
    """The actions that maintenance_act takes on the VMs of the batch."""
    share: dict[str, list[Other]]
    """The other VMs on which each host of the batch acts, and which it observes."""
    refused: list[str]
    """Members whose facts have settings."""
    contact: list[str]
    involved: list[str]
    pause: int
    waited: int
    acquired: bool
    """Whether the last iteration requested leases."""


KEYS = frozenset(GateState.__annotations__)


class BatchResults(TypedDict):
    """Access to the results of a gate's iteration."""

    of: Callable[[str], HostResults]
    settings: Callable[[str], Any]
    """The settings of a host, as option C(vm_settings) of maintenance_act."""
    others: Callable[[str], Sequence[Any]]
    """The observations of other VMs that a host of the batch has registered."""
    inventory: Sequence[str] | None
    """All hosts there are, if they are known."""


def members_of(request: GateRequest, keepers: Sequence[str]) -> list[str]:
    """Return the hosts that the gate observes: the batch, all members of its capacity groups, and C(keepers), which may have replicas of its records.

    Raise WrongInput.
    """
    batch = plain_values.texts(request["ask"].get("batch"))
    chosen = settings_module.load(request["settings"])
    involved = allocation.involved(chosen, set(batch))
    mates = [member for group in chosen.capacity for member in group.members if member in involved]
    return list(dict.fromkeys([*batch, *mates, *keepers]))


def begin(request: GateRequest, members: Sequence[str], present: Sequence[str], refused: Sequence[str], now: float, dead_run: str = "") -> GateState:
    """Return the state before the first observation.

    C(present) are the hosts of the batch that take part, C(refused) the members whose facts have settings. C(dead_run) is a run that the operator declares
    dead: its leases are removed, and its drained VMs are adopted. If it is alive after all, it stops at its next action.
    """
    run = plain_values.text(plain_values.mapping(request["settings"].get("run")).get("id")) or ""
    # This run's own leases, of an earlier process perhaps, it renews or releases itself. In check mode it has no id.
    removals = [{"action": "release", "host": host, "lease": {"run": dead_run}} for host in members if run and dead_run not in ("", run)]
    state: GateState = {
        "gate": request,
        "run": run,
        "vms": {},
        "observations": [{"host": name, "state": "failed"} for name in members],
        "plan": {},
        "report": "",
        "began": now,
        "number": 1,
        "do": "take" if removals else "observe",
        "actions": {},
        "share": {},
        "refused": list(refused),
        "contact": list(present),
        "involved": list(present),
        "pause": 0,
        "waited": 0,
        "acquired": False,
    }
    return _with_actions(state, removals)


def _with_actions(state: GateState, actions: Iterable[Values], *, is_over: bool = False) -> GateState:
    """Return the state with what each host of the batch does in the next iteration, on its VM and on others. When it is over, no VM is observed."""
    asked: dict[str, list[Data]] = {}
    for action in actions:
        asked.setdefault(action["host"], []).append({**action, "iteration": f"{state['run']} iteration {state['number']}"})
    left_out, present = {*plain_values.texts(state["gate"]["ask"].get("batch")), *state["refused"]}, state["involved"]
    names = [str(one["host"]) for one in state["observations"] if one["host"] not in left_out and (one["host"] in asked or not is_over)]
    others: list[Other] = [{"host": name, "number": state["number"], "actions": asked.get(name, []), "observe": not is_over} for name in names]
    share = {host: others[place :: len(present)] for place, host in enumerate(present)}
    return {**state, "actions": {host: asked[host] for host in present if host in asked}, "share": share}


def go_on(state: GateState, results: BatchResults, now: float) -> GateState:
    """Return the state after an iteration: the observations, the answer of the gate, and the next iteration. Raise WrongInput."""
    if state["do"] == "leases":
        return {**state, "do": "end"}
    # The tasks of the upgrade that this gate is for may change variables; the gate uses their values of its first observation.
    vms = state["vms"] or _settings(state, results)
    observed = _observe(state, vms, results)
    request = state["gate"]
    plan = make_gate(
        observed, request["ask"], policy=request["policy"], settings=request["settings"], now=timestamps.form(now), seen=state["plan"].get("seen", {})
    )
    state = {**state, "vms": vms, "observations": observed, "plan": plan, "number": state["number"] + 1, "waited": int(now - state["began"])}
    return _next(state, plan, now)


def _settings(state: GateState, results: BatchResults) -> dict[str, VMSettings]:
    """Return the settings of all VMs. Raise WrongInput: the batch is about to be drained with them."""
    names = [str(one["host"]) for one in state["observations"]]
    vms = {name: vm_settings.read(results["settings"](name), name, state["gate"]["places"], results["inventory"]) for name in names}
    vm_settings.refuse_wrong(vms)
    if shared := shared_folders.by_variables(vms):
        raise WrongInput(f"{shared}. Nothing was done.")
    return vms


def _observe(state: GateState, vms: Mapping[str, VMSettings], results: BatchResults) -> list[Observation]:
    """Return one observation for each member. An observation of an earlier iteration does not count."""
    others: Data = {}
    for host in state["involved"]:
        for result in results["others"](host):
            # The item of the task's loop.
            item = plain_values.mapping(plain_values.mapping(result).get("__gate_item"))
            if plain_values.whole(item.get("number")) == state["number"]:
                others[str(item.get("host"))] = result
    found = []
    for before in state["observations"]:
        name, given = str(before["host"]), results["of"](str(before["host"]))
        if name not in state["involved"]:
            # Hosts of the batch observe themselves only, and what other hosts registered about themselves is of another play.
            given = given._replace(observed=None if name in state["gate"]["ask"]["batch"] else others.get(name), acted=None)
        observed = observations.observation(name, given, vms[name], before, state["actions"].get(name, ()))
        found.append(observations.unless_old(observed, before))
    return found


def _next(state: GateState, plan: Values, now: float) -> GateState:
    """Return the state with the next iteration, by the answer of the gate."""
    check_mode = state["gate"]["check_mode"]
    acquires = any(action["action"] == "acquire" for action in plan["actions"])
    seconds = (RETRY_SECONDS if state["acquired"] else 0.0) if acquires else float(plan["requeue"]["seconds"])
    left = state["began"] + state["gate"]["wait_timeout"] - now
    # After leases were acquired, one more observation follows even at the timeout. A batch that never fits does not wait.
    over = plan["go"] or plan["nothing_to_do"] or plan["never"] or check_mode or (left <= 0 and (not acquires or seconds > 0))
    over = over or state["number"] >= MOST_ITERATIONS
    state = _with_actions(state, [action for action in plan["actions"] if action["action"] in ACTIONS and not check_mode], is_over=over)
    return {
        **state,
        "do": ("leases" if state["actions"] or any(state["share"].values()) else "end") if over else "wait" if seconds > 0 else "take",
        "report": _report(state, plan),
        "pause": math.ceil(max(min(seconds, left), 1.0)),
        "acquired": acquires,
    }


def _report(state: GateState, plan: Values) -> str:
    names, why = ", ".join(plan["batch"]), "; ".join(plan["why"])
    if plan["nothing_to_do"]:
        return f"{why}."
    if not plan["go"]:
        return f"The gate is closed for {names}: {why}."
    if state["gate"]["check_mode"]:
        return f"The gate would open for {names}."
    them = "them" if len(plan["batch"]) > 1 else "it"
    return (
        f"The gate is open for {names} (run {state['run']}). This run has leased {them} until {plan['leased_until']}: "
        "until then no other run drains, recovers or upgrades there."
    )
