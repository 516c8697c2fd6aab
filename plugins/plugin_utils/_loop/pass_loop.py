# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The iterations of a pass: collect the observations, plan, then act, wait or end. A pure function of a state and of results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict

from ...module_utils._scheduled_events.core.printable_text import LONGEST_NAME, printable
from ...module_utils._scheduled_events.core.types import Data, Values
from .._core import plain_values
from .._core.shares import few_of_each
from .._core.short_forms import grouped
from .._core.wrong_input import WrongInput
from .._drain.orders.vm_actions import Taken
from .._maintenance import planner
from .._maintenance.config.start_when import ASK_SECONDS, StartWhen
from .._maintenance.core import timestamps
from . import assignments, notifying, observations, shared_folders, vm_settings
from .assignments import LoopState, nothing
from .observations import HostResults, Observation

# Of the loop in roles/respond/tasks/loop.yml: Ansible has no endless one. The last iterations are reserved for the end of a pass, which releases the
# leases of the run.
MOST_ITERATIONS = 764


# A pass without waiting ends after so many plans: a VM whose answer changes each time must not keep it for hours.
MOST_TAKEN = 40
# Actions that are due and change nothing, perhaps on a full disk, are retried after so many seconds.
RETRY_SECONDS = 15.0
DRAINED = "drained"
# Events of one VM that is not back, in the reasons of a run that fails.
NOT_BACK_OF_ONE_VM = 3
SHORTEST_PAUSE = 1.0
# After so many successive plans a pass waits once: a VM that makes progress up must not prevent every pause.
MOST_IN_A_ROW = 20
# A pass that does not wait spends at most so many seconds on confirming that events are gone.
CONFIRM_SECONDS = 60.0
# VMs that only share a capacity group or a document with acting VMs are observed after so many seconds: running a module on each is slow.
OTHERS_SECONDS = 10.0
USED_UP = f"this run ended after {MOST_ITERATIONS} iterations, which is all that one run has; start it again"
# A pause of at least this length also contacts VMs that did not answer: they delay no other VM then.
LONG_PAUSE = 15.0
# A shorter pause is over before a module that listens for news has started.
WATCHED_PAUSE = 3.0
# Actions that check what was begun. After a short pause they are taken without another plan.
CHECKS = ("drain", "undo", "recover")
# With VMs that listen for news, and without.
WAITS = ("wait", "pause")

# What a pass does whose hosts have left the play: the next play goes on with it.
RESUME = "resume"
NOTIFIES = "respond_notify_tasks"
ENDED = "tasks ended the host {} (meta: end_host, end_batch, end_role or end_play); use when: or a block"

Results = Callable[[str], HostResults]
# Asks the start gate of a request: whether something may begin (C(go)), and if not, why (C(text)).
Ask = Callable[["Request"], Values]


class Request(TypedDict):
    """The request of a pass, frozen at its begin. Times are in seconds."""

    policy: Any
    settings: Data
    wait: bool
    wait_timeout: float
    confirm_end: bool
    """Whether a pass that does not wait still confirms the end of an event, and recovers its VMs."""
    misspelt: list[str]
    """Warnings of variables that are almost options of this collection."""
    wrong_names: list[str]
    """Those of extra variables, which were meant for this run: it handles all events, and fails."""
    observation_seconds: float
    notify_tasks: str
    notify_refused: str
    """Why these tasks do not run any more in this run; empty if they do."""
    notify: notifying.NotifyRequest
    places: list[str]
    """Where relative paths of task files are looked for."""
    check_mode: bool
    start_when: StartWhen | None
    """What is asked before something begins that is not at its deadline, if anything is."""
    runs_commands: bool
    """Whether a command may be run for that: not where the request only shows the state, nor in check mode."""
    secret: str
    """Of this run; no host has it."""


class State(LoopState):
    """The state in the registered result of the action C(plan).

    C(observations) are those of the involved hosts; of all where the pass only shows the state, and in check mode. C(do) is C(act), C(acquire), C(by_tasks),
    C(wait), C(pause), C(release) or C(end).
    """

    request: Request
    run: str
    """The id of the run, as its leases have it; empty in check mode."""
    resting: str
    """The observations of all other hosts, packed: they do not change in this pass."""
    staying: list[str]
    """The involved hosts, and one other host, which reports if none of them can."""
    taken: int
    """The number of plans whose actions were taken."""
    in_a_row: int
    """The number of them since the last wait."""
    last_wait: Data
    """The begin of the last wait (C(at)), its planned length (C(pause)), and the plan then (C(known))."""
    fingerprint: str
    """The fingerprint of the plan whose actions were taken last."""
    begins: bool
    """Whether that plan had actions that do not continue earlier ones."""
    progressed: bool
    """Whether it differed from the one before."""
    is_taken: bool
    """Whether the last iteration took actions."""
    moved: bool
    """Whether these actions made progress with a drain or an undo."""
    looks: int
    """How often it looked again because it had met another run; a pass that waits counts anew for each meeting."""
    confirming_since: float | None
    """When a pass that does not wait began to wait for the confirmed end of an event."""
    drained: list[str]
    approved: list[str]
    """The VMs that this pass has drained, and the ids of the events that it has approved."""
    silent_asked_at: float
    observed_at: dict[str, float]
    """The time of the last observation of each host, or of the attempt."""
    marks: dict[str, str]
    """The mark of each host, from the first lease on: hosts that share a records folder return each other's."""
    sharing: dict[str, str]
    """The hosts that do, each with the reason why it cannot take part."""
    doubted: list[str]
    """Hosts that were observed once more because another has returned their mark."""
    ended_before: list[str]
    """The ids of the events that were over when the pass began: the report has the times of those that ended in it."""
    start_gate: Data
    """The last answer of the start gate (C(go), C(text)) and the time of the plan that asked (C(asked_at)); empty before the first."""
    notified: notifying.Notified
    left: list[str]
    """Where tasks of operators have ended a host in this pass."""


KEYS = frozenset(State.__annotations__)


def not_asked(_request: Request) -> Values:
    """Answer no in place of a start gate that cannot be asked."""
    return {"go": False, "text": "it was not asked"}


def begin(
    request: Request,
    hosts: Sequence[str],
    present: Sequence[str],
    given: Values,
    results: Results,
    now: float,
    ask: Ask = not_asked,
    inventory: Sequence[str] | None = None,
) -> State:
    """Return the state after the first observation of all hosts.

    C(given) are the settings of each host as its variables have them, C(present) the hosts of the play that still take part, C(inventory) all hosts there are.
    Raise WrongInput where no host may take part.
    """
    vms = {host: vm_settings.read(given.get(host), host, request["places"], inventory) for host in hosts}
    found = [observations.observation(host, results(host), vms[host], {}) for host in hosts]
    refused = {str(one["host"]): str(one["error"]) for one in found if one.get("refused")}
    if present and all(host in refused for host in present):
        raise WrongInput(" ".join(f"{host}: {why}." for host, why in refused.items()) + " Nothing was done.")
    if shared := shared_folders.by_variables(vms):
        raise WrongInput(f"{shared}. Nothing was done.")
    plan, start_gate = _plan(found, request, {}, ask, now)
    involved = [str(host) for host in plan["involved"]]
    others = [host for host in present if host not in refused and host not in involved]
    # Where nothing is done, but decided or shown, all VMs are needed.
    kept = involved if request["runs_commands"] else list(hosts)
    state: State = {
        "request": request,
        "run": plain_values.text(plain_values.mapping(request["settings"].get("run")).get("id")) or "",
        "vms": {host: vms[host] for host in kept},
        "observations": [one for one in found if one["host"] in kept],
        "resting": observations.pack(found, kept),
        "plan": plan,
        "began": now,
        "planned_at": now,
        "number": 0,
        **nothing(),
        "listeners": [],
        "waited": 0,
        "involved": involved,
        "staying": involved + others[:1],
        "taken": 0,
        "in_a_row": 0,
        "last_wait": {},
        "fingerprint": "",
        "begins": False,
        "progressed": False,
        "is_taken": False,
        "moved": False,
        "looks": 0,
        "confirming_since": None,
        "drained": [],
        "approved": [],
        "silent_asked_at": now,
        "observed_at": dict.fromkeys(involved, now),
        "marks": {},
        "sharing": {},
        "doubted": [],
        "ended_before": sorted(_recovered(plan)),
        "start_gate": start_gate,
        "notified": notifying.nothing(),
        "left": [],
    }
    if not involved:
        return state
    if plan["differing"]:
        # Two documents that were read one after the other may differ only because Azure changed them in between.
        return {**state, "do": "act", "contact": list(plan["differing"])}
    # All were observed just now.
    return _take({**state, "contact": list(hosts)}, plan, now)


def go_on(state: State, results: Results, now: float, ask: Ask = not_asked) -> State:
    """Return the state after an iteration, from the results of the hosts, with the next iteration."""
    state = {**state, "number": state["number"] + 1, "waited": int(now - state["began"])}
    if state["do"] == "release" or state["notified"]["closing"]:
        return {**state, **nothing()}
    before = {str(one["host"]): one for one in state["observations"]}
    found = [observations.with_drains_asked(_observe(host, state, results, one), _taken_by(host, state), now) for host, one in before.items()]
    # After a pause the actions begin with its end, or earlier, with news.
    acted_at = min(state["planned_at"] + state["pause"], now)
    late = state["do"] in ("act", *WAITS) and bool(state["actions"]) and now - acted_at > state["request"]["observation_seconds"]
    moved = assignments.moved(state["assignments"], before, {str(one["host"]): one for one in found})
    # With its actions a VM may have been observed at any time since the plan.
    observed_at = {**state["observed_at"], **dict.fromkeys(state["contact"], acted_at if state["do"] in ("act", *WAITS) else now)}
    approved = sorted({*state["approved"], *(event_id for one in found for event_id in one["approved"])})
    state = {**state, "drained": _drained(state, before, found), "approved": approved}
    state = {**state, "observed_at": observed_at, "observations": found, "moved": state["is_taken"] and (state["moved"] or moved)}
    if late:
        # A slow action of one VM has made the observations of the others old.
        return {**state, **nothing(), "do": "act", "contact": _reachable(state), "is_taken": True}
    folders = shared_folders.by_marks(state["marks"], found, state["vms"])
    if set(folders.doubtful) - set(state["doubted"]):
        doubted = sorted({*state["doubted"], *folders.doubtful})
        return {**state, **nothing(), "do": "act", "contact": folders.doubtful, "doubted": doubted, "is_taken": state["is_taken"]}
    state = _refuse(state, folders.errors)
    everyone = observations.unpack(state["resting"], state["observations"])
    plan, start_gate = _plan(everyone, _as_it_is_now(state), state["start_gate"], ask, now)
    plan = _with_sharing(plan, state["sharing"])
    # A lease that a VM makes up again and again is one meeting: it must not use up the iterations of the others.
    meets, met = plan["requeue"]["meets_in"] is not None, plan["requeue"]["met"]
    looks = state["looks"] + 1 if meets else 0 if state["request"]["wait"] and not met else state["looks"]
    # Who has released may find the VMs free at once.
    moved = state["moved"] or (not meets and state["plan"]["requeue"]["meets_in"] is not None)
    state = {**state, "plan": plan, "planned_at": now, "start_gate": start_gate, "looks": looks, "moved": moved}
    if state["sharing"] and not _reachable(state):
        return _end(state)
    if state["request"]["check_mode"] and state["is_taken"]:
        return _end({**state, "plan": _with_refused_drains(plan, state["assignments"], results)})
    if state["number"] >= MOST_ITERATIONS:
        return _end({**state, "plan": _with_problem(plan, USED_UP)})
    older = [host for host in plan["differing"] if host in _reachable(state) and host not in state["contact"]]
    if older and (state["do"] != "act" or state["actions"]):
        # They may differ only because one of them was observed before the other. Only once: two documents that always differ would otherwise be read for ever.
        return {**state, **nothing(), "do": "act", "contact": older, "is_taken": state["is_taken"]}
    return _after_actions(state, plan, now) if state["is_taken"] else _take(state, plan, now)


def after_left(state: State, left: Mapping[str, str], resumes: bool) -> State:
    """Return the state once tasks of operators have ended hosts, each host with what it did then: a later play has them again (C(resume)).

    What ended a host does not run for it again in this run: a notification has failed, and a stage of a method has. Without a later play the run fails.
    """
    request, notified = state["request"], state["notified"]
    if any(what.startswith(NOTIFIES) for what in left.values()):
        request = {**request, "notify_refused": ENDED.format(", ".join(host for host, what in left.items() if what.startswith(NOTIFIES)))}
    if not resumes:
        request = {**request, "wrong_names": [*request["wrong_names"], *(f"{what}: {ENDED.format(host)}" for host, what in left.items())]}
    # What was under way there is planned again.
    again = {f"{host} " for host in left}
    taken = [action for taken in state["assignments"].values() for action in taken["by_tasks"] if f"{action['host']} " in again]
    notified = {**notified, "by_tasks": [key for key in notified["by_tasks"] if key not in notifying.by_tasks(notifying.nothing(), taken)]}
    state = {**state, "request": request, "notified": notified, "left": [*state["left"], *(f"{host} {what}" for host, what in left.items())]}
    return {**state, **nothing(), "do": RESUME, "number": state["number"] + 1} if resumes else state


def resume(state: State) -> State:
    """Return the state with the first iteration of a play that takes over: it observes all, and nothing is known of what was under way."""
    return {**state, **nothing(), "do": "act", "number": state["number"] + 1, "contact": list(state["involved"]), "is_taken": False}


def record_notified(state: State, now: float) -> State:
    """Return a pass that is over with one more iteration, which records what was delivered; the same state if nothing was."""
    everyone = observations.unpack(state["resting"], state["observations"])
    actions = _plan_by(everyone, _as_it_is_now(state), state["start_gate"], now)["actions"]
    told = [one for one in actions if one["action"] == "write" and set(one["changes"]) == {"told"} and one["host"] in _reachable(state)]
    if not told:
        return state
    places = state["request"]["places"]
    assigned = assignments.assign({"actions": told}, state["observations"], state["vms"], places, _iteration(state), timestamps.form(now))
    notified: notifying.Notified = {**state["notified"], "closing": True}
    on_vm = {host: taken["on_vm"] for host, taken in assigned.items()}
    return {**state, **nothing(), "do": "act", "assignments": assigned, "actions": on_vm, "contact": list(assigned), "notified": notified}


def _as_it_is_now(state: State) -> Request:
    """Return the request with what this run has learned of its notifications and of other runs."""
    settings, found = state["request"]["settings"], notifying.outcomes(state["notified"])
    learned = {**({"notified": found} if found else {}), **({"run": {**settings["run"], "looks": state["looks"]}} if state["looks"] else {})}
    return {**state["request"], "settings": {**settings, **learned}} if learned else state["request"]


def _refuse(state: State, sharing: Mapping[str, str]) -> State:
    """Let hosts that share a records folder take no part in the rest of the pass."""
    sharing = {**state["sharing"], **sharing}
    found = [observations.refused(one, sharing[str(one["host"])]) if one["host"] in sharing else one for one in state["observations"]]
    return {**state, "sharing": sharing, "observations": found}


def _taken_by(host: str, state: State) -> list[Values]:
    """Return the actions that a host had in the iteration that is over."""
    taken = state["assignments"].get(host)
    return [*taken["on_vm"], *taken["by_tasks"]] if taken else []


def _observe(host: str, state: State, results: Results, before: Observation) -> Observation:
    if host not in state["involved"]:
        return observations.resting(before)
    asked = state["actions"].get(host, ())
    if host not in state["contact"] and not asked:
        return before
    return observations.unless_old(observations.observation(host, results(host), state["vms"][host], before, asked), before)


def _plan(found: list[Observation], request: Request, answered: Data, ask: Ask, now: float) -> tuple[Data, Data]:
    """Return the plan, and the last answer of the start gate.

    The gate is asked only where a plan would begin something that is not at its deadline, and not while its last answer is new.
    """
    if request["start_when"] is None:
        return _plan_by(found, request, {}, now), answered
    if answered and 0 <= now - answered["asked_at"] < ASK_SECONDS:
        return _plan_by(found, request, answered, now), answered
    plan = _plan_by(found, request, {}, now)
    if not plan["begins"]:
        return plan, answered
    answered = {**ask(request), "asked_at": now}
    return plan if answered["go"] is True else _plan_by(found, request, answered, now), answered


def _plan_by(found: list[Observation], request: Request, answered: Values, now: float) -> Data:
    settings = {**request["settings"], "start_gate": answered} if answered else request["settings"]
    plan = planner.make_plan(found, policy=request["policy"], settings=settings, now=timestamps.form(now))
    if request["wrong_names"]:
        plan = {**plan, **{part: [*plan[part], *request["wrong_names"]] for part in ("fails", "unserved")}}
    return {**plan, "summary": {**plan["summary"], "misspelt": request["misspelt"]}} if request["misspelt"] else plan


def _after_actions(state: State, plan: Data, now: float) -> State:
    """Return the state after the actions of a plan: with the next plan at once after progress, else with a wait or the end."""
    request = state["request"]
    fresh = state["moved"] or (state["begins"] and state["progressed"])
    # The timeout holds despite progress: repeated failures may look like progress.
    over = _left(state, now) <= 0 or (not request["wait"] and state["taken"] >= MOST_TAKEN) or (not fresh and (plan["done"] or not request["wait"]))
    if over:
        return _confirm_or_end(state, plan, now)
    # The actions made no progress, but others are due now: take them without a wait.
    is_new = state["do"] in WAITS or plan["fingerprint"] != state["fingerprint"]
    is_news = is_new and any(not action["continues"] for action in plan["actions"])
    goes_on = (fresh or is_news) and not (request["wait"] and state["in_a_row"] >= MOST_IN_A_ROW)
    return _take(state, plan, now) if goes_on else _wait(state, plan, now)


def _take(state: State, plan: Data, now: float) -> State:
    """Return the state with the next iteration, by a new plan."""
    request = state["request"]
    actions = plan["actions"]
    if request["check_mode"] and (drains := [action for action in actions if action["action"] == "drain"]):
        return _preview(state, drains)
    if not actions or request["check_mode"]:
        is_over = plan["done"] or not request["wait"] or request["check_mode"] or _left(state, now) <= 0
        return _confirm_or_end(state, plan, now) if is_over else _wait(state, plan, now)
    if any(_makes_unavailable(action) for action in actions) and not set(_reachable(state)) <= set(state["contact"]):
        # All VMs that count in the disruption budget are observed right before. After that their observations are new.
        return {**state, **nothing(), "do": "act", "contact": _reachable(state), "is_taken": False}
    assigned = assignments.assign(plan, state["observations"], state["vms"], request["places"], _iteration(state), timestamps.form(now))
    on_vm = {host: taken["on_vm"] for host, taken in assigned.items() if taken["on_vm"]}
    by_tasks = any(taken["by_tasks"] for taken in assigned.values())
    acquires = any(action["action"] == "acquire" for action in actions)
    # All leases must exist before any VM is observed again; and tasks, also those of other VMs, use the observations of the plan.
    do = "by_tasks" if by_tasks else "acquire" if acquires else "act"
    asks_silent = _silent_is_due(state, now)
    return {
        **state,
        "do": do,
        "assignments": assigned,
        "actions": on_vm,
        "stages": assignments.stages_of(assigned),
        "contact": _contacts(state, asks_silent) if do != "act" or asks_silent else _concerned(state, plan, now),
        "pause": 0,
        "taken": state["taken"] + 1,
        "in_a_row": state["in_a_row"] + 1,
        "progressed": plan["fingerprint"] != state["fingerprint"],
        "fingerprint": plan["fingerprint"],
        # An action that only checks a long drain is no progress by itself.
        "begins": any(not action["continues"] for action in actions),
        "is_taken": True,
        "moved": False,
        "notified": {**state["notified"], "by_tasks": notifying.by_tasks(state["notified"], actions)},
        "silent_asked_at": now if asks_silent else state["silent_asked_at"],
        "marks": state["marks"] or (shared_folders.marks(request["secret"], state["vms"]) if acquires else {}),
    }


def _preview(state: State, drains: Sequence[Values]) -> State:
    """Let role drain, in check mode, say what each drain would do."""
    assigned: dict[str, Taken] = {}
    for action in drains:
        taken = assigned.setdefault(str(action["host"]), {"iteration": _iteration(state), "on_vm": [], "by_tasks": []})
        taken["by_tasks"].append({**action, "keeper_path": ""})
    stages = assignments.stages_of(assigned)
    return {**state, **nothing(), "do": "by_tasks", "assignments": assigned, "stages": stages, "contact": list(assigned), "is_taken": True}


def _with_refused_drains(plan: Data, assigned: Mapping[str, Taken], results: Results) -> Data:
    """Return the plan with the drains that would be refused, or could not be asked: a rehearsal that ends well must have found none."""
    answers = {host: plain_values.mapping(results(host).drained) for host in assigned}
    words = {"failed": "its drain would be refused", "unreachable": "what its drain would do is not known"}
    refused = [(host, [f"{words[answer['state']]}: {answer.get('error')}"]) for host, answer in answers.items() if answer.get("state") in words]
    return {**plan, "fails": [*plan["fails"], *grouped(refused)]}


def _with_problem(plan: Data, problem: str) -> Data:
    summary = plan.get("summary", {})
    return {**plan, "summary": {**summary, "problems": [*summary.get("problems", []), problem]}}


def _with_sharing(plan: Data, sharing: Mapping[str, str]) -> Data:
    """Return the plan with its failures: a pass with hosts that share a records folder must not look good."""
    failed = {reason: {"event_id": "", "host": host, "reason": reason} for host, reason in sharing.items()}
    return {**plan, "failed": [*plan["failed"], *failed.values()], "fails": [*plan["fails"], *failed]} if sharing else plan


def _wait(state: State, plan: Data, now: float) -> State:
    """Wait, then check the drains and recoveries that go on, and observe.

    A VM that does not answer delays each observation of the others, so it is asked when nothing is due soon, and now and then.
    """
    seconds = float(plan["requeue"]["seconds"])
    asks_silent = seconds >= LONG_PAUSE or _silent_is_due(state, now) or not _reachable(state)
    pause = max(min(seconds or RETRY_SECONDS, _left(state, now)), SHORTEST_PAUSE)
    contact = _contacts(state, asks_silent)
    known = f"{plan['fingerprint']} {plan['events']}"
    last = state["last_wait"]
    # News without a change: a VM that always reports news must not shorten every wait.
    was_in_vain = bool(last) and last["known"] == known and now - last["at"] < last["pause"]
    listeners = [] if was_in_vain or pause < WATCHED_PAUSE else [str(one["host"]) for one in plan["requeue"]["watch"] if one["host"] in contact]
    assigned = _checks(state, plan, pause, now)
    return {
        **state,
        **nothing(),
        "do": "wait" if listeners else "pause",
        "assignments": assigned,
        "actions": {host: taken["on_vm"] for host, taken in assigned.items()},
        "is_taken": bool(assigned),
        "moved": False,
        "begins": False,
        "contact": contact,
        "pause": math.ceil(pause),
        "listeners": listeners,
        "in_a_row": 0,
        "last_wait": {"at": now, "pause": math.ceil(pause), "known": known},
        "silent_asked_at": now if asks_silent else state["silent_asked_at"],
    }


def _checks(state: State, plan: Data, pause: float, now: float) -> dict[str, Taken]:
    """Return the actions that only go on and can be taken right after a short pause, without another plan. None if any of them goes by tasks."""
    actions = [action for action in plan["actions"] if action["continues"] and action["action"] in CHECKS]
    if not actions or pause > LONG_PAUSE or state["request"]["check_mode"]:
        return {}
    request = state["request"]
    assigned = assignments.assign({"actions": actions}, state["observations"], state["vms"], request["places"], _iteration(state), timestamps.form(now))
    return {} if any(taken["by_tasks"] for taken in assigned.values()) else assigned


def _confirm_or_end(state: State, plan: Data, now: float) -> State:
    """End the pass, or first wait the few seconds after which the end of an event is confirmed: until then its VMs stay out of service."""
    request, confirms_in, meets_in = state["request"], plan["requeue"]["confirms_in"], plan["requeue"]["meets_in"]
    if meets_in is not None and not request["check_mode"] and _left(state, now) > 0:
        return _wait(state, {**plan, "requeue": {**plan["requeue"], "seconds": meets_in}}, now)
    since = now if state["confirming_since"] is None else state["confirming_since"]
    may_wait = request["confirm_end"] and not request["wait"] and not request["check_mode"] and _left(state, now) > 0
    if confirms_in is None or not may_wait or now - since >= CONFIRM_SECONDS:
        return _end(state)
    return _wait({**state, "confirming_since": since}, {**plan, "requeue": {**plan["requeue"], "seconds": confirms_in}}, now)


def _end(state: State) -> State:
    """End the pass, and release its leases, so that other runs need not wait; those of a killed run expire."""
    held = [str(one["host"]) for one in state["observations"] if state["run"] and (state["run"] in _holders(one) or one["host"] in state["sharing"])]
    plan = {**state["plan"], "ended": sorted(_recovered(state["plan"]) - set(state["ended_before"]))}
    plan["fails"] = [*plan["fails"], *_not_back(state)]
    return {**state, **nothing(), "plan": plan, "do": "release" if held else "end", "contact": held, "is_taken": False}


def _not_back(state: State) -> list[str]:
    """Return which VMs are not back at the end of a pass whose time to wait for them is over, or whose iterations are."""
    request = state["request"]
    used_up = state["number"] >= MOST_ITERATIONS
    if not request["wait"] or request["check_mode"] or (_left(state, state["planned_at"]) > 0 and not used_up):
        return []
    after = f"after {MOST_ITERATIONS} iterations, which is all that one run has" if used_up else f"after respond_wait_timeout ({request['wait_timeout']:.0f} s)"
    over = f"not back {after}; run respond again, or let the schedule do so"
    few, _left_out = few_of_each(state["plan"]["not_back"], lambda one: [str(one["host"])], NOT_BACK_OF_ONE_VM)
    return grouped((str(one["host"]), [f"{one['phase']} for event {printable(one['event_id'], LONGEST_NAME)}, {over}"]) for one in few)


def done_by(state: State) -> dict[str, int]:
    """Return what a pass has done itself, whatever others did before it: on how many VMs it drained, and how many events it approved and ended."""
    ended = plain_values.items(state["plan"].get("ended"))
    return {"run_drained": len(state["drained"]), "run_approved": len(state["approved"]), "run_recovered": len(ended)}


def _drained(state: State, before: Mapping[str, Observation], found: Iterable[Observation]) -> list[str]:
    """Return the VMs that this pass has drained, also in the iteration that is over. A check of what was drained before is none."""
    asked = {host: [action["event_id"] for action in _taken_by(host, state) if action["action"] == "drain"] for host in state["assignments"]}
    now = {str(one["host"]): one for one in found}
    drained = {host for host, ids in asked.items() for one in ids if host in now and _phase(now[host], one) == DRAINED != _phase(before[host], one)}
    return sorted({*state["drained"], *drained})


def _phase(observed: Values, event_id: str) -> Any:
    records = map(plain_values.mapping, plain_values.items(plain_values.mapping(observed.get("observation")).get("records")))
    return next((one.get("phase") for one in records if plain_values.mapping(one.get("event")).get("event_id") == event_id), None)


def _recovered(plan: Values) -> set[str]:
    """Return the ids of the events that are over for all of their VMs."""
    return {event["event_id"] for event in plan["events"] if event.get("phase") == "recovered"}


def _holders(observed: Values) -> list[Any]:
    """Return the holders of leases on a VM."""
    observation = plain_values.mapping(observed.get("observation"))
    return [plain_values.mapping(lease).get("run") for lease in plain_values.items(observation.get("leases"))]


def _reachable(state: State) -> list[str]:
    return [str(one["host"]) for one in state["observations"] if one.get("state") == "ok" and one["host"] in state["involved"]]


def _contacts(state: State, asks_silent: bool) -> list[str]:
    return list(state["involved"]) if asks_silent else _reachable(state)


def _makes_unavailable(action: Values) -> bool:
    """Return whether an action makes a VM unavailable that was in service."""
    return action["action"] == "approve" or (action["action"] == "drain" and not action["continues"])


def _concerned(state: State, plan: Data, now: float) -> list[str]:
    """Return the hosts with actions, and those that were observed too long ago; before an approval all, which are then not observed once more (_take)."""
    if any("approving_at" in action.get("stamp", ()) for action in plan["actions"]):
        return _reachable(state)
    found = {str(action["host"]) for action in plan["actions"]}
    found.update(host for host, at in state["observed_at"].items() if now - at > OTHERS_SECONDS)
    return [host for host in _reachable(state) if host in found]


def _silent_is_due(state: State, now: float) -> bool:
    return now - state["silent_asked_at"] > 2 * state["request"]["observation_seconds"]


def _left(state: State, now: float) -> float:
    return state["began"] + state["request"]["wait_timeout"] - now


def _iteration(state: State) -> str:
    return f"{state['run']} iteration {state['number']}"
