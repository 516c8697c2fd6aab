# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The iterations of role upgrade: drain or recover the VMs of a batch, until each is done, has failed, or its time is over.

A failure is that of one VM: the others continue.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

from ...module_utils._scheduled_events.core.names import folded
from ...module_utils._scheduled_events.core.printable_text import printable
from ...module_utils._scheduled_events.core.types import Data, Values
from ...module_utils._scheduled_events.journal.record_schema import NEEDED, NOT_YET
from .._core import plain_values
from .._drain.orders.method_orders import SETTLED
from .._drain.records.matching import find_record
from .._drain.records.replicas import asked_with, read_targets
from .._maintenance.core import actions, timestamps
from . import answers, assignments, observations
from .assignments import LoopState, nothing
from .observations import HostResults, Observation
from .vm_settings import VMSettings

DRAIN, RECOVER = "drain", "recover"
GOES_ON, DONE, FAILED = "goes_on", "done", "failed"
# The final states of the engine on the VM, by action.
ENGINE_STATES = {DRAIN: {"draining": GOES_ON, "drained": DONE}, RECOVER: {"undoing": GOES_ON, "undone": DONE}}
# The phase of a record while the action is under way.
PHASES = {DRAIN: "draining", RECOVER: "recovering"}
# The state of methods that are done.
SETTLED_METHODS = {DRAIN: "drained", RECOVER: "undone"}
# The most observations of one long drain.
MOST_OBSERVATIONS = 100
UNREACHABLE = "The VM cannot be reached."
NO_ANSWER = "It did not answer what it was asked for."
NOT_READABLE = "Its records could not be read."
NO_RECORD = "Nothing of it was recorded on the VM."

Results = Callable[[str], HostResults]


class MethodsRequest(TypedDict):
    """The request to drain or recover the VMs of a batch."""

    action: str
    """C(drain) or C(recover)."""
    upgrade: str
    """The upgrade's name."""
    places: list[str]
    """Where relative paths of task files are looked for."""


class Ask(TypedDict):
    """The request for one VM. Times are in seconds."""

    lease: Data
    """The run's lease on the VM: each action begins with a renewal of it."""
    seconds: float
    """How long the drain or the recovery may take."""
    interval: float
    """The least time between two observations."""
    keeper: str
    """The VM that keeps the replica of its record; empty without one."""
    keeper_path: str
    """Where it keeps it."""


class Progress(TypedDict):
    """The progress of one VM."""

    state: str
    """C(goes_on), C(done) or C(failed)."""
    error: str | None
    """Why it waits, or why it failed; None if unknown."""


class MethodsState(LoopState):
    """The state in the registered result of the action C(plan).

    C(plan) has the reason for a wait alone. C(listeners) is always empty: an upgrade waits for its own drain methods, not for news of events.
    """

    methods: MethodsRequest
    asks: dict[str, Ask]
    progress: dict[str, Progress]
    restarts: dict[str, list[str]]
    """For each VM the ids of ended restarts that were approved under this upgrade, whose records are not closed."""


KEYS = frozenset(MethodsState.__annotations__)


def begin(request: MethodsRequest, asks: Mapping[str, Ask], vms: Mapping[str, VMSettings], results: Results, now: float) -> MethodsState:
    """Return the state before the first action. C(asks) has the hosts that take part, each observed before, C(vms) also the keepers of their replicas."""
    systems = {host: vm["system"] for host, vm in vms.items()}
    paths = {host: assignments.keeper_path(host, ask["keeper"], vms, systems) for host, ask in asks.items()}
    found = [observations.observation(host, results(host), vms[host], {}) for host in asks]
    state: MethodsState = {
        "methods": request,
        "asks": {host: {**ask, "keeper_path": paths[host]} for host, ask in asks.items()},
        "vms": dict(vms),
        "observations": found,
        "progress": {host: {"state": GOES_ON, "error": None} for host in asks},
        "restarts": {},
        "plan": {},
        "began": now,
        "planned_at": now,
        "number": 0,
        **nothing(),
        "involved": list(asks),
        "waited": 0,
        "listeners": [],
    }
    return _take(state, now)


def go_on(state: MethodsState, results: Results, now: float) -> MethodsState:
    """Return the state after an iteration, from the results of the hosts, with the next iteration."""
    state = {**state, "number": state["number"] + 1, "waited": int(now - state["began"])}
    if state["do"] == "pause":
        return _take(state, now)
    found, progress = [], dict(state["progress"])
    for before in state["observations"]:
        host = str(before["host"])
        if host in state["contact"]:
            after = observations.observation(host, results(host), state["vms"][host], before)
            progress[host] = _in_time(state, after, _judge(state, before, after, results(host)), now)
            found.append(after)
        else:
            found.append(before)
    return _wait({**state, "observations": found, "progress": progress})


def _take(state: MethodsState, now: float) -> MethodsState:
    """Choose the next action of each VM that is not done. A VM without an observation is observed first."""
    state = {**state, "progress": {str(one["host"]): _initial_progress(state, one) for one in state["observations"]}}
    under_way = _under_way(state)
    ready = [one for one in state["observations"] if one["state"] == "ok" and state["progress"][str(one["host"])]["state"] == GOES_ON]
    steps = [actions.serialise(_action(state, one)) for one in ready]
    iteration = f"{state['methods']['action']} of {timestamps.form(state['began'])} iteration {state['number']}"
    assigned = assignments.assign({"actions": steps}, state["observations"], state["vms"], state["methods"]["places"], iteration, timestamps.form(now))
    by_tasks = any(taken["by_tasks"] for taken in assigned.values())
    return {
        **state,
        "restarts": _restarts(state),
        "do": "by_tasks" if by_tasks else "act" if under_way else "end",
        "assignments": assigned,
        "actions": {host: taken["on_vm"] for host, taken in assigned.items() if taken["on_vm"]},
        "stages": assignments.stages_of(assigned),
        "contact": under_way,
        "planned_at": now,
        "pause": 0,
    }


def _initial_progress(state: MethodsState, observed: Observation) -> Progress:
    """Return the progress of a VM before the first action, by whether its record needs recovery."""
    progress = state["progress"][str(observed["host"])]
    is_recorded = state["methods"]["action"] == DRAIN or bool(_record(state["methods"], observed))
    if progress["state"] != GOES_ON or observed["state"] != "ok" or is_recorded:
        return progress
    observation = plain_values.mapping(observed["observation"])
    if observation.get("records_readable") is False:
        return {"state": FAILED, "error": " ".join([NOT_READABLE, *plain_values.texts(observation.get("records_problems"))])}
    return {"state": DONE, "error": None}


def _wait(state: MethodsState) -> MethodsState:
    """Return the state with the time until the next observation and its reason, or with the end if all VMs are done."""
    under_way = _under_way(state)
    pauses = [max(state["asks"][host]["interval"], state["asks"][host]["seconds"] / MOST_OBSERVATIONS, 1.0) for host in under_way]
    seconds = math.ceil(min(pauses, default=0))
    why = "; ".join(f"{host}: {printable(state['progress'][host]['error'] or PHASES[state['methods']['action']])}" for host in under_way)
    return {
        **state,
        **nothing(),
        "restarts": _restarts(state),
        "do": "pause" if under_way else "end",
        "contact": under_way,
        "plan": {"requeue": {"seconds": seconds, "watch": [], "why": why}},
        "pause": seconds,
    }


def _under_way(state: MethodsState) -> list[str]:
    """Return the hosts that are not done. Later tasks read a host's last observation, so a host without one is not done either."""
    return [
        str(one["host"])
        for one in state["observations"]
        if state["progress"][str(one["host"])]["state"] == GOES_ON or (state["progress"][str(one["host"])]["state"] == DONE and one["state"] != "ok")
    ]


def _action(state: MethodsState, observed: Observation) -> actions.MethodAction:
    host = str(observed["host"])
    request, ask = state["methods"], state["asks"][host]
    event_id = _event_id(request)
    if request["action"] == RECOVER:
        return actions.Recover(host=host, event_id=event_id, reason="", lease=ask["lease"], keeper=ask["keeper"] or None)
    record = _record(request, observed)
    return actions.Drain(
        host=host,
        event_id=event_id,
        reason="",
        lease=ask["lease"],
        keeper=ask["keeper"] or None,
        event=_event(request, observed),
        deadline=timestamps.as_datetime(_until(state, host)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        rule={"name": "rolling upgrade", "drain": True, "approve": "never", "order": _order(record, observed)},
        verify=record.get("phase") in SETTLED,
        away=_away(state, host),
    )


def _away(state: MethodsState, host: str) -> tuple[Values, ...]:
    """Return the targets of the other VMs of the batch: they go together, so none of them counts as serving for another."""
    targets = {one: read_targets(state["vms"][one]["targets"]) for one in state["asks"]}
    return asked_with(targets[host], (target for one, of_one in targets.items() if one != host for target in of_one))


def _event_id(request: MethodsRequest) -> str:
    return f"upgrade:{request['upgrade']}"


def _event(request: MethodsRequest, observed: Observation) -> Data:
    """Return the subject of the drain in place of an event: no document ever lists it.

    Role respond does not act on it while the upgrade's lease is live, and recovers the VM after that.
    """
    return {
        "event_id": _event_id(request),
        "event_type": "Upgrade",
        "event_status": "Scheduled",
        "event_source": "User",
        "resource_type": "VirtualMachine",
        "resources": [plain_values.mapping(observed["observation"]).get("vm_name")],
        "not_before": None,
        "description": f"Rolling upgrade {request['upgrade']}",
        "duration_in_seconds": -1,
    }


def _order(record: Values, observed: Observation) -> int:
    """Return the number of this drain among the drains of the VM: after earlier drains, which are undone after it."""
    present = plain_values.whole(plain_values.mapping(record.get("rule")).get("order"))
    if present is not None:
        return present
    found = [plain_values.whole(plain_values.mapping(one.get("rule")).get("order")) for one in _records(observed)]
    return 1 + max((order for order in found if order is not None), default=0)


def _judge(state: MethodsState, before: Observation, after: Observation, given: HostResults) -> Progress:
    """Return the progress of a VM after an iteration: by its results if maintenance_act took the action, else by its record."""
    host, act = str(before["host"]), state["methods"]["action"]
    taken = state["assignments"].get(host)
    if taken is None:
        return state["progress"][host]
    if taken["on_vm"]:
        (answer,) = answers.read_answers(taken["on_vm"], (given.observed, given.acted))
        return _by_answer(act, answer.result, after)
    if after["state"] == "unreachable" or (after["state"] == "ok" and after["observation"] == before["observation"]):
        # Two observations differ at least in their time: this VM has left the loop.
        return {"state": FAILED, "error": UNREACHABLE if after["state"] == "unreachable" else NO_ANSWER}
    if after["state"] != "ok":
        # The action is repeated, and judged, when the VM can be observed.
        return state["progress"][host]
    return _by_record(act, _record(state["methods"], before), _record(state["methods"], after), plain_values.mapping(after["observation"]))


def _by_answer(act: str, result: Values | None, after: Observation) -> Progress:
    if result is None:
        return {"state": FAILED, "error": UNREACHABLE if after["state"] == "unreachable" else plain_values.text(after.get("error")) or NO_ANSWER}
    if result.get("failed"):
        return {"state": FAILED, "error": plain_values.text(result.get("msg"))}
    state = ENGINE_STATES[act].get(str(result.get("state")), FAILED)
    return {"state": state, "error": plain_values.text(result.get("error"))}


def _by_record(act: str, before: Values, record: Values, observation: Values) -> Progress:
    """Return the progress by the record that the tasks wrote. An action without a record has failed, unless it was under way before."""
    phase = record.get("phase")
    if phase == "failed":
        return {"state": FAILED, "error": plain_values.text(record.get("reason"))}
    if act == DRAIN and plain_values.mapping(record.get("blocker")).get("kind") in (NOT_YET, NEEDED):
        return {"state": GOES_ON, "error": plain_values.text(record.get("reason"))}
    if record.get("undone") is True if act == RECOVER else _is_verified(before, record, observation):
        return {"state": DONE, "error": None}
    written = record.get("revision") != before.get("revision")
    if phase == PHASES[act] or (act == DRAIN and phase in SETTLED and written):
        return {"state": GOES_ON, "error": _waits_for(act, record)}
    return {"state": FAILED, "error": NO_RECORD}


def _is_verified(before: Values, record: Values, observation: Values) -> bool:
    """Return whether the tasks have just verified all methods as drained, in the present boot of the VM."""
    verified_at = record.get("verified_at")
    is_new = bool(verified_at) and verified_at != before.get("verified_at")
    return record.get("phase") in SETTLED and is_new and (not observation.get("boot_id") or record.get("boot_id") == observation.get("boot_id"))


def _waits_for(act: str, record: Values) -> str | None:
    methods = [plain_values.mapping(method) for method in plain_values.items(record.get("methods"))]
    said = [plain_values.text(method.get("error")) for method in methods if method.get("state") != SETTLED_METHODS[act]]
    return " ".join(error for error in said if error) or None


def _in_time(state: MethodsState, observed: Observation, progress: Progress, now: float) -> Progress:
    """Return the progress, or a failure after the deadline. A drain that was observed before its deadline does not fail half-way."""
    host, is_observed = str(observed["host"]), observed["state"] == "ok"
    if progress["state"] == FAILED or (progress["state"] == DONE and is_observed):
        return progress
    progress = {**progress, "error": progress["error"] if is_observed else _not_observed(observed)}
    at = state["planned_at"] if state["methods"]["action"] == DRAIN else now
    return {**progress, "state": FAILED} if at > _until(state, host) else progress


def _not_observed(observed: Observation) -> str:
    return f"{observed['host']} could not be observed: {plain_values.text(observed.get('error')) or 'no reason given'}"


def _until(state: MethodsState, host: str) -> float:
    return state["began"] + state["asks"][host]["seconds"]


def _record(request: MethodsRequest, observed: Observation) -> Values:
    """Return the record of the upgrade on a VM, or an empty one."""
    return find_record(_records(observed), _event_id(request))


def _restarts(state: MethodsState) -> dict[str, list[str]]:
    return {str(one["host"]): _ended_restarts(state["methods"]["upgrade"], one) for one in state["observations"]}


def _ended_restarts(upgrade: str, observed: Observation) -> list[str]:
    listed = {folded(plain_values.mapping(event).get("event_id")) for event in plain_values.items(plain_values.mapping(observed["observation"]).get("events"))}
    approved = [one for one in _records(observed) if plain_values.mapping(one.get("rule")).get("upgrade") == upgrade and one.get("phase") != "recovered"]
    ids = [str(plain_values.mapping(record.get("event")).get("event_id")) for record in approved]
    return [event_id for event_id in ids if folded(event_id) not in listed]


def _records(observed: Observation) -> Sequence[Values]:
    observation = plain_values.mapping(observed.get("observation"))
    return [plain_values.mapping(record) for record in plain_values.items(observation.get("records"))]
