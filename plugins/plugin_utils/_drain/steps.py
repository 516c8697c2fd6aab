# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The steps of a drain or an undo that role drain takes: what comes next, by what came of the step before. Pure; the role's tasks only do."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypedDict

from ...module_utils._scheduled_events.core.printable_text import printable
from ...module_utils._scheduled_events.core.types import Data, Values
from ...module_utils._scheduled_events.journal.record_schema import NOT_YET
from ...module_utils._scheduled_events.journal.recorded import Recorded
from .._core.plain_values import flag, items, mapping, text
from . import answers
from .kinds.kind import Kind
from .kinds.registry import kind_of
from .orders import method_orders, vm_actions
from .records import replicas
from .records.matching import read_recorded
from .settings import catalogue, validation

DRAIN, UNDO = "drain", "undo"
# The state in which the next method is taken.
DONE = {DRAIN: "drained", UNDO: "undone"}
LONGEST_TIME, LONGEST_OUTPUT = 19, 400
ENDED = "the tasks of {} ended the host (meta: end_host, end_batch, end_role or end_play); use when: or a block"
NO_COPY = (
    "The record of event {} of {} has no copy on another VM ({}). If this VM is lost with its disk, what was changed outside it has to be put back by hand."
)


class Request(TypedDict):
    """The variables of the role, as they were when it began."""

    act: str
    """drain or undo."""
    host: str
    system: str
    methods: Any
    former: Any
    folders: list[str]
    """Where the methods that are tasks are: the role's, and the operator's if there is one."""
    own_folder: str
    places: list[str]
    """Where task files are looked for."""
    event: Data
    record: Data
    deadline: str
    rule: Data
    lease: Data
    verify: bool
    keep_phase: bool
    vm_id: str
    vm_name: str
    boot_id: str
    keeper: str
    now: str
    check_mode: bool
    refused: str
    """Why nothing may be done, perhaps."""
    must: bool
    """Whether no time is left to wait: a method begins, whoever is left, and holds nothing."""
    serves: str
    """What the health check says of a VM that is in service; empty where a drain of it proves, or an operator says, that it may go all the same."""
    ended: list[str]
    """Stages that have ended the host in this run (stage_of): they do not run again."""
    away: list[Any]
    """The targets of VMs that are taken out at the same time: they serve for none."""


@dataclass(frozen=True)
class Came:
    """What came of the last step."""

    result: Values = field(default_factory=dict)
    """Of the module that was run."""
    answer: Any = None
    """The fact that the tasks have set: answer_fact of their kind."""
    lost: bool = False
    """Whether a task of the method could not reach the VM."""
    failed: bool = False
    message: str = ""
    """Of the task that failed, and with its name."""
    failure: str = ""
    owner: Callable[[str, str], str] = lambda _address, _name: ""
    """The host of the inventory, this one or one of this name, that has an address, or an empty text; by default none is looked for."""


def failure(task: str, result: Any) -> tuple[str, str]:
    """Return the message of a failed task, and the same in one line with the task's name, if it has one; of a loop, that of the first item that failed."""
    given = mapping(result)
    failed = next((one for one in map(mapping, items(given.get("results"))) if flag(one.get("failed"))), given)
    line = f"{task}: {failed.get('msg') or 'failed'}".removeprefix(": ")
    if "rc" in failed:
        line += f", exit code {failed['rc']}"
    if failed.get("stderr"):
        line += f": {str(failed['stderr'])[-LONGEST_OUTPUT:]}"
    return str(given.get("msg") or "The drain failed."), line


def problems(request: Request) -> list[str]:
    """Return what is wrong with the settings of a drain."""
    return validation.problems(request["methods"], request["former"], request["system"], request["folders"], request["places"], request["own_folder"])


def stage_of(state: Values) -> str:
    """Return what names the stage that is the next step."""
    return f"{mapping(state['request'])['act']} {mapping(state['request'])['event'].get('event_id')} {state['step']} {mapping(state['method']).get('id')}"


class Steps:
    """A drain or an undo between two steps. C(state) is all that lasts, and what the tasks read."""

    def __init__(self, state: Data) -> None:
        self.state = state
        self.request: Request = state["request"]
        self.drains = self.request["act"] == DRAIN

    @classmethod
    def begin(cls, request: Request) -> Steps:
        """Return the first step."""
        state: Data = {"request": request, "record": request["record"], "reached": True, "warning": "", "note": "", "segment": 0, "do": "end"}
        steps = cls({**state, "orders": [], "parts": [], "answer": {"state": DONE[request["act"]], "error": None}, "late": False, "step": ""})
        try:
            steps._begin()
        except ValueError as error:
            steps._refuse(str(error))
        return steps

    def _prepare(self) -> str:
        """Put the methods in order. Return why nothing may be done, or an empty text."""
        request, state = self.request, self.state
        common = (request["record"], request["methods"], request["former"], request["host"], request["system"])
        if self.drains:
            state["orders"] = method_orders.drain_orders(*common)
            wrong = [] if self._is_settled() else problems(request)
            phase, deadline = request["record"].get("phase"), request["deadline"]
            # Asked once: an observation that begins before the deadline does not fail in the middle.
            state["late"] = bool(deadline) and phase not in ("approved", "started") and request["now"][:LONGEST_TIME] > deadline[:LONGEST_TIME]
        else:
            state["orders"], wrong = method_orders.undo_orders(*common, validation.wrong_former(request["former"], request["folders"], request["places"])), []
        state["parts"] = vm_actions.segments(state["orders"], request["system"])
        state["reports"] = [order["report"] for order in state["orders"] if order["report"]]
        return request["refused"] or " ".join(wrong)

    def _begin(self) -> None:
        state = self.state
        if wrong := self._prepare():
            self._refuse(wrong)
        elif not self.drains and not state["orders"]:
            self._act("last")
        elif not self.drains and self.request["lease"] and not state["parts"][0]["on_vm"]:
            # Go on only while the VM is leased for this run.
            self._do("lease", "lease")
        elif state["parts"]:
            self._enter()

    def _is_settled(self) -> bool:
        record = self.request["record"]
        return record.get("phase") in method_orders.SETTLED and any(mapping(method).get("state") != "undone" for method in items(record.get("methods")))

    def go_on(self, came: Came) -> None:
        """Take what came of the last step, and choose the next one."""
        do, step = self.state["do"], self.state["step"]
        try:
            if do == "replica":
                self._replicated(came)
            elif do == "stage":
                self._staged(step, came)
            elif came.failed:
                self._failed(step, came)
            elif do == "failover":
                self._act("last", stop_at_finding=False, problem=vm_actions.failover_failure(came.result.get("results")))
            else:
                self._acted(step, came.result)
        except ValueError as error:
            self._refuse(str(error))

    # What comes next.

    def _do(self, do: str, step: str) -> None:
        self.state.update(do=do, step=step)

    def _end(self) -> None:
        self._do("end", "")

    def _enter(self) -> None:
        """Begin with the methods of a segment."""
        if self._part["on_vm"]:
            self._act("methods")
        elif self.drains:
            entry = self._entry()
            self.state.update(again=False, acted=not entry.untouched)
            state, boot = entry.state, self.request["boot_id"]
            another_boot = bool(boot) and (entry.boot_id or "") != boot
            # found: killed between writing the state found and recording that the method has begun. Begin again, all of it.
            begins = state not in ("begun", "drained") or (state == "begun" and another_boot and not self.request["verify"])
            self._find() if begins else self._stage("check")
        else:
            self._enter_undo()

    def _enter_undo(self) -> None:
        # As the engine does for the methods that it runs.
        recorded, own = text(self.state["record"].get("vm_id")) or "", self.request["vm_id"]
        if own and recorded and recorded.lower() != own.lower():
            self._answer("failed", f"The record is of the VM {printable(recorded)}, and this one is {own}.")
        elif self._order["runs"] and not self._entry().untouched:
            try:
                self._stage("undo")
            except ValueError as error:
                self._answer("failed", str(error))
        else:
            # One that never began is undone, as the engine records it.
            self._answer("undone", None)

    def _find(self) -> None:
        """Begin a method that is tasks. The record keeps the first finding of a drain: after a crash, the method finds what it did itself."""
        if os.path.isfile(os.path.join(self._folder(), "find.yml")):
            self._stage("find")
        else:
            self._act("found", told={"given": self._options(), "finding": {}})

    def _stage(self, stage: str) -> None:
        order, entry, options = self._order, self._entry(), self._options()
        try:
            options = self.kind.stage_options(stage, options, self.request["places"])
        except FileNotFoundError as error:
            self._answer("failed", str(error))
            return
        finding = {} if entry.untouched else method_orders.finding_of(entry.before or {}, order, self.request["host"])
        folder = self._folder()
        method = {"kind": order["kind"], "folder": folder, "options": options, "finding": finding, "state": entry.state, "given": self._options()}
        method |= {"id": order["id"], "host": self.request["host"], "must": self._must(), "hands_over": self._hands_over()}
        targets = [mapping(one) for one in items(self.request["away"])]
        method |= {"away": self.kind.away(targets, options, self.request["host"]), "untouched": self._is_untouched(entry)}
        method |= self.kind.prepared(stage, method)
        self.state.update(method=method, file=os.path.join(folder, f"{stage}.yml"))
        if stage_of({**self.state, "step": stage}) in self.request.get("ended", ()):
            self._answer("failed", ENDED.format(stage))
        else:
            self._do("stage", stage)

    def _must(self) -> bool:
        # What is approved or has started hits the VM, whoever is left.
        return flag(self.request["must"]) is True or self.state["record"].get("phase") in ("approved", "started")

    def _hands_over(self) -> str:
        """Return the method that hands over a role that others ask this VM for: of a drain one that comes after this one; empty where there is none."""
        if not self.drains:
            return next((one.identifier for one in read_recorded(self.state["record"]) if kind_of(one.kind).hands_over), "")
        later = [order for part in self.state["parts"][self.state["segment"] + 1 :] for order in part["methods"]]
        return next((order["id"] for order in later if order["runs"] and kind_of(order["kind"]).hands_over), "")

    def _is_untouched(self, entry: Recorded) -> bool:
        """Return whether this VM has gone on all the time: it is put back before its event, in the same boot, and no other method has acted on it."""
        boot, record = self.request["boot_id"], self.state["record"]
        others = [mapping(one) for one in items(record.get("methods")) if mapping(one).get("id") != entry.identifier]
        acted = any({"begun", "drained"} & set(mapping(one.get("times"))) for one in others)
        hit = any(record.get(key) for key in ("approved_at", "started_at"))
        return bool(self.request["keep_phase"] and boot) and entry.boot_id == boot and not acted and not hit

    def _act(self, step: str, *, told: Values | None = None, stop_at_finding: bool = True, problem: str = "") -> None:
        """Let the engine take the methods of the segment; C(told) is what the tasks of one have found or answered: the engine judges and records it."""
        request, part = self.request, self._part if self.state["parts"] else None
        action: Data = {
            "action": request["act"],
            "event_id": request["event"].get("event_id"),
            "event": request["event"],
            "lease": request["lease"],
            "methods": [{**order, **(told or {})} for order in part["methods"]] if part else [],
            "complete": part["last"] if part else True,
        }
        if self.drains:
            action |= {key: request[key] for key in ("deadline", "rule", "verify")}
            action |= {"late": self.state["late"], "stop_at_finding": stop_at_finding, "problem": problem}
        else:
            action |= {"keep_phase": request["keep_phase"], "reports": self.state["reports"]}
        self._ask(step, action)

    def _ask(self, step: str, action: Data) -> None:
        identity = {"vm_id": self.request["vm_id"], **({"vm_name": self.request["vm_name"]} if self.drains else {})}
        self.state.update(action=action, identity=identity, boot_id=self.request["boot_id"] if self.drains else "")
        self._do("act", step)

    def _answer(self, state: str, error: str | None, hold: str | None = None, judged: Values | None = None) -> None:
        """Record what came of a method that is tasks."""
        more = {"hold": hold, **{key: (judged or {}).get(key) for key in answers.OF_AUTHORITY}}
        answer = {"state": state, "error": error, **{key: value for key, value in more.items() if value}}
        self._act("last", told={"given": self._options(), "answer": answer} if self.drains else {"answer": answer})

    def _refuse(self, why: str) -> None:
        """End. Of a drain, record why nothing was done."""
        self.state["answer"] = {"state": "failed", "error": why}
        request = self.request
        if not self.drains:
            self._end()
            return
        common = {"event_id": request["event"].get("event_id"), "event": request["event"], "lease": request["lease"]}
        self._ask("refused", {"action": DRAIN, **common, "methods": [], "problem": why})

    # What came of the last step.

    def _failed(self, step: str, came: Came) -> None:
        if step == "found":
            self._answer("failed", came.failure)
        elif step == "refused":
            # What could not be done is known already; a record that cannot be written adds nothing to it.
            self._end()
        else:
            self._refuse(came.message if self.drains else came.failure)

    def _acted(self, step: str, result: Values) -> None:
        state = self.state
        if flag(result.get("unreachable")):
            state["reached"] = False
            self._end()
            return
        if step == "lease":
            state["record"] = mapping(result.get("record")) or state["record"]
            self._enter()
            return
        found = mapping(next(iter(items(result.get("results"))), None))
        state["record"] = mapping(found.get("record")) or state["record"]
        if step == "refused":
            self._end()
            return
        self._note(text(found.get("warning")) or "")
        state["answer"] = answers.of_engine(result, state["action"])
        state["handover"] = mapping(found.get("handover"))
        if not state["warning"] and any(mapping(method).get("outside") is True for method in items(state["record"].get("methods"))):
            # Once is enough for one observation: each further try could take as long.
            if self.request["keeper"]:
                state["replica"] = replicas.replica_of(state["record"])
                self._do("replica", step)
                return
            self._warn("no other VM can keep it")
        self._after(step)

    def _note(self, note: str) -> None:
        if note not in self.state["note"]:
            self.state["note"] = " ".join(filter(None, (self.state["note"], note)))

    def _replicated(self, came: Came) -> None:
        if came.failed or flag(came.result.get("unreachable")) or "record" not in came.result:
            self._warn(f"{self.request['keeper']}: {came.message if came.failed else came.result.get('msg') or 'no answer'}")
        self._after(self.state["step"])

    def _warn(self, why: str) -> None:
        self.state["warning"] = NO_COPY.format(self.request["event"].get("event_id"), self.request["host"], why)

    def _after(self, step: str) -> None:
        """Choose the next step once the engine has answered, and its record has its copy."""
        state = self.state["answer"]["state"]
        if step == "found":
            self._stage("begin") if state == "found" else self._answer("failed", self.state["answer"]["error"])
        elif step == "methods" and state == "found":
            # What the method found is in the record, which has a copy where the method acts outside the VM. Other hosts act before it does.
            if self.state["handover"]:
                self.state["failovers"] = vm_actions.failovers(self.state["handover"], self._part["methods"][0], self.request["host"])
                self._do("failover", step)
            else:
                self._act("last", stop_at_finding=False)
        elif state == DONE[self.request["act"]] and self.state["parts"] and not self._part["last"]:
            self.state["segment"] += 1
            self._enter()
        else:
            self._end()

    def _staged(self, stage: str, came: Came) -> None:
        if came.failed:
            self._answer("failed", came.failure)
            return
        if came.lost:
            self.state["reached"] = False
            self._end()
            return
        answer = mapping(self.kind.judge(came.answer, stage, self.state["method"]))
        self._note(self._remarks(answer, came))
        if answer["state"] == NOT_YET and self.state["acted"]:
            # Something of it may be set since an earlier run, or an earlier begin of this drain. The plan puts it back, unless what it asks is away.
            self._answer("draining", answer["error"], None if answer.get("away") else answer["error"], answer)
        elif answer["state"] == "found":
            self._act("found", told={"given": self._options(), "finding": answer.get("finding")})
        elif answer["state"] == "begun":
            self._stage("check")
        elif stage == "check" and answer["state"] == "lost" and not self.state["again"]:
            self.state["again"] = True
            self._find()
        else:
            self._answer(answer["state"], answer["error"], answer.get("hold"), answer)

    def _remarks(self, answer: Values, came: Came) -> str:
        """Return what an operator has to know of what find.yml has found, and what has the address of another host of the inventory."""
        owners = {address: (came.owner(address, name), what) for address, (what, name) in mapping(answer.get("addresses")).items()}
        others = [f"{what} has the address {address} of {host}" for address, (host, what) in owners.items() if host not in ("", self.request["host"])]
        return printable("; ".join(filter(None, (text(answer.get("note")), *others))))

    # The method at hand.

    @property
    def _part(self) -> vm_actions.Segment:
        part: vm_actions.Segment = self.state["parts"][self.state["segment"]]
        return part

    @property
    def kind(self) -> Kind:
        """The kind of the method at hand; of none, where there is no method."""
        return kind_of(self._order["kind"] if self.state["parts"] else "")

    @property
    def _order(self) -> method_orders.MethodOrder:
        return self._part["methods"][0]

    def _entry(self) -> Recorded:
        """Return the method in the record, new before it begins. A second run goes on with what the first one wrote."""
        known = (one for one in read_recorded(self.state["record"]) if one.identifier == self._order["id"])
        return next(known, Recorded(self._order["id"], self._order["kind"]))

    def _home(self) -> str:
        kind, folders = self._order["kind"], self.request["folders"]
        home = catalogue.folder_of(kind, self.request["system"], folders)
        if home is None:
            raise ValueError(f"no folder has tasks of method {kind}: {', '.join(folders)}")
        return home

    def _folder(self) -> str:
        """Return the folder with the tasks. What a method does otherwise on Windows is in its folder windows; one without it is the same on both."""
        windows = os.path.join(self._home(), "windows")
        return windows if self.request["system"] == "windows" and os.path.isfile(os.path.join(windows, "check.yml")) else self._home()

    def _options(self) -> Data:
        """Return the options as set, with the method's defaults for those that are not."""
        return {**catalogue.defaults_of(self._order["kind"], self._home()), **self._order["given"]}

    def result(self) -> Data:
        """Return what the role ends with."""
        state, answer = self.state, self.state["answer"]
        if not state["reached"]:
            answer = {"state": "unreachable", "error": "The VM cannot be reached."}
        found, error = answer["state"], answer["error"] or None
        if self.drains:
            if self.request["check_mode"] and found == "drained" and state["record"].get("phase") != "drained":
                found = "draining"
        else:
            if found == "undone" and (state["reports"] or (self.request["check_mode"] and state["orders"])):
                found = "undoing"
            error = error or " ".join(state["reports"]) or None
        return {"state": found, "error": error, "record": state["record"], "warning": " ".join(filter(None, (state["warning"], state["note"]))) or None}
