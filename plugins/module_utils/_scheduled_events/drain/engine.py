# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Drain a VM, one short observation of a time: begin what has not begun, check, and stop at the first method that is not drained yet.

What a method finds is in the record before it acts. A drain holds for one boot of the VM.
"""

from __future__ import annotations

import typing as t

from ..host.machine.machine import Machine
from ..journal.record_changes import RecordChange
from ..journal.record_schema import Record, RecordsError
from .journal import APPROVED_OR_STARTED, UNDER_WAY, Entry, Journal, entry_of, environment_of, resources_of, seconds_left
from .methods.method import DRAINED, DRAINING, FAILED, LOST, Answer, Method, MethodError, Task
from .orders import DrainOrder, Identity, MethodOrder
from .registry import defaults, methods_of

FOUND, BEGUN = "found", "begun"
# The later, the worse.
WORSE = (DRAINED, DRAINING, FAILED)
NO_METHOD = "There is no drain method. An empty list is not a drain; method none says that nothing has to be done."


class Outcome(t.NamedTuple):
    """How far a drain or an undo is, and the record after it."""

    state: str
    """drained, draining, found or failed; undone, undoing or failed."""
    error: str | None
    record: Record | None
    warning: str | None = None
    """What an operator has to know all the same."""
    handover: t.Mapping[str, str] = {}
    """With found: what another host has to do before the method acts."""


class _StoppedAtFinding(Exception):
    """What was found must be copied to another VM, or another host or the tasks of the method must act, before it goes on."""


class Drain:
    """One observation of one drain."""

    def __init__(self, order: DrainOrder, journal: Journal, machine: Machine, identity: Identity) -> None:
        self._order = order
        self._journal = journal
        self._machine = machine
        self._identity = identity
        self._environment = environment_of(order.event, order.deadline)
        self._record: Record | None = None
        self._attempt = 1
        self._late = False
        self._handover: t.Mapping[str, str] = {}
        self._notes: list[str] = []

    def run(self) -> Outcome:
        """Take the methods in order. What fails is in the outcome and, where that can be written, in the record.

        Raise RecordsError, with nothing done, where the record cannot be read.
        """
        self._record = self._journal.read()
        phase = self._phase()
        self._attempt = (self._record["attempts"] if self._record else 0) + (0 if phase in UNDER_WAY else 1)
        self._late = self._order.late and phase not in APPROVED_OR_STARTED
        if self._order.problem is not None:
            return self._refuse(self._order.problem)
        if not self._order.methods:
            return self._refuse(NO_METHOD)
        answer = self._take_at_once() if self._order.at_once else self._take_in_order()
        return Outcome(answer.state, answer.error, self._record, " ".join(self._notes) or None, self._handover)

    def _take_in_order(self) -> Answer:
        answer = Answer(DRAINED)
        for number, order in enumerate(self._order.methods, 1):
            answer = self._take(order, self._order.complete and number == len(self._order.methods))
            if answer.state != DRAINED:
                break
        return answer

    def _take_at_once(self) -> Answer:
        """Take every method, whatever becomes of the others. Record the worst answer last, so that its phase is the one that stays."""
        answers = sorted(((order, self._answer_of(order)) for order in self._order.methods), key=lambda one: WORSE.index(one[1].state))
        worst = Answer(DRAINED)
        for number, (order, answer) in enumerate(answers, 1):
            is_last = self._order.complete and number == len(answers) and worst.state == DRAINED
            worst = max(worst, self._record_answer(order, answer, is_last), key=lambda one: WORSE.index(one.state))
        return worst

    def _refuse(self, problem: str) -> Outcome:
        try:
            self._write({"phase": "failed", "reason": problem, "attempts": self._attempt}, event=self._order.event)
        except RecordsError:
            pass  # what cannot be done is known already; a record that cannot be written adds nothing to it
        return Outcome(FAILED, problem, self._record)

    def _take(self, order: MethodOrder, is_last: bool) -> Answer:
        answer = self._answer_of(order)
        return answer if answer.state == FOUND else self._record_answer(order, answer, is_last)

    def _answer_of(self, order: MethodOrder) -> Answer:
        """Begin or check a method. Whatever fails is in the answer."""
        try:
            answer = self._judge(self._work(order))
            self._notes += [answer.note] if answer.note else []
            return answer
        except _StoppedAtFinding:
            return Answer(FOUND)
        except Exception as error:  # a damaged record, a broken method: it is this drain's failure and must reach the record
            if self._machine.is_lost(error):
                raise
            return Answer(FAILED, f"{order.id}: {said(error)}")

    def _record_answer(self, order: MethodOrder, answer: Answer, is_last: bool) -> Answer:
        try:
            self._note(order, answer, is_last)
        except RecordsError as error:
            return Answer(FAILED, "; ".join(filter(None, (answer.error, str(error)))))
        return answer

    def _work(self, order: MethodOrder) -> Answer:
        if not order.runs:
            return Answer(FAILED, order.report)
        if order.finding is not None:
            self._record_finding(order, order.options, order.finding)
            raise _StoppedAtFinding
        entry = self._entry(order)
        if order.answer is not None:
            return self._answered(order.answer, entry)
        method = method_of(order, self._machine.system)
        if entry.state not in (BEGUN, DRAINED) or (entry.state == BEGUN and self._other_boot(entry) and not self._order.verify):
            self._begin(method, order)
        answer = method.check(self._machine, self._task(order))
        if answer.state == LOST:
            self._begin(method, order)
            answer = method.check(self._machine, self._task(order))
        return answer

    @staticmethod
    def _answered(answer: Answer, entry: Entry) -> Answer:
        """Return what tasks of the controller have answered. A method that is not begun here has nothing to answer."""
        if answer.state == FAILED or entry.state in (FOUND, BEGUN, DRAINED):
            return answer
        return Answer(FAILED, f"the answer is {answer.state!r}, and the method has not begun: it is {entry.state}")

    def _begin(self, method: Method, order: MethodOrder) -> None:
        task = self._task(order)
        found = method.find(self._machine, task)
        self._record_finding(order, task.options, found)
        task = self._task(order)._replace(present=found)
        if self._order.stop_at_finding:
            self._handover = method.handover(self._machine, task)
            if order.outside or self._handover:
                raise _StoppedAtFinding
        method.begin(self._machine, task)

    def _record_finding(self, order: MethodOrder, options: t.Mapping[str, t.Any], found: t.Mapping[str, t.Any]) -> None:
        changes = {"deadline": self._order.deadline, "rule": self._order.rule or None, "attempts": self._attempt, "verified_at": None}
        entry = {
            "id": order.id,
            "method": order.kind,
            "options": dict(options),
            "before": dict(found),
            "state": FOUND,
            "boot_id": self._identity.boot_id,
            "error": None,
            "outside": order.outside,
        }
        self._write(dict(changes, **self._phase_change("draining")), method=entry, event=self._order.event)

    def _judge(self, answer: Answer) -> Answer:
        if answer.state not in (DRAINING, LOST):
            return answer
        if self._late:
            return Answer(FAILED, f"Not drained before the deadline {self._order.deadline}: {answer.error or 'no reason known'}")
        # The next observation begins it again.
        return Answer(DRAINING, answer.error)

    def _note(self, order: MethodOrder, answer: Answer, is_last: bool) -> None:
        """Record what is new."""
        entry = self._entry(order)
        other = entry.state != (BEGUN if answer.state == DRAINING else answer.state) or self._other_boot(entry)
        if answer.state == DRAINED and not (is_last or other):
            return
        if answer.state == DRAINING and not other and self._phase() in ("draining", *APPROVED_OR_STARTED):
            return
        method = {"id": order.id, "state": BEGUN if answer.state == DRAINING else answer.state, "boot_id": self._identity.boot_id, "error": answer.error}
        if order.runs:
            # Of what the settings do not name, only that it failed: its kind in the record is not known to be one.
            method["method"] = order.kind
        # Only the observation in which the last method was found drained has checked them all.
        stamp = ("verified_at",) if answer.state == DRAINED and is_last else ()
        self._write(self._changes(answer, is_last), method=method, stamp=stamp)

    def _changes(self, answer: Answer, is_last: bool) -> dict[str, t.Any]:
        if answer.state == FAILED:
            return {"phase": "failed", "reason": answer.error}
        if answer.state == DRAINING:
            return self._phase_change("draining")
        return self._phase_change("drained") if is_last else {}

    def _phase_change(self, phase: str) -> dict[str, t.Any]:
        return {} if self._phase() in APPROVED_OR_STARTED else {"phase": phase, "reason": None}

    def _task(self, order: MethodOrder) -> Task:
        entry = self._entry(order)
        return Task(
            options_of(order, entry, self._machine.system),
            {} if entry.before is None else entry.before,
            entry.state,
            entry.since,
            dict(self._environment, MAINTENANCE_SECONDS_LEFT=seconds_left(self._order.event, self._machine.now())),
            resources=resources_of(self._order.event),
            peers=self._order.peers,
        )

    def _entry(self, order: MethodOrder) -> Entry:
        return entry_of(self._record, order.id)

    def _other_boot(self, entry: Entry) -> bool:
        return bool(self._identity.boot_id) and (entry.boot_id or "") != self._identity.boot_id

    def _phase(self) -> str:
        return self._record["phase"] if self._record else ""

    def _write(
        self,
        changes: t.Mapping[str, t.Any],
        method: t.Mapping[str, t.Any] | None = None,
        event: t.Mapping[str, t.Any] | None = None,
        stamp: t.Sequence[str] = (),
    ) -> None:
        identity = self._identity
        self._record = self._journal.write(
            RecordChange(event or {}, changes, method or {}, stamp, boot_id=identity.boot_id, vm_id=identity.vm_id, vm_name=identity.vm_name)
        )


def method_of(order: MethodOrder, system: str) -> Method:
    """Return the method that a step names. Raise MethodError where it does not run on the VM."""
    methods = methods_of(system)
    if order.kind not in methods:
        raise MethodError(f"there is no method {order.kind!r} that runs on the VM; known are {', '.join(methods)}")
    return methods[order.kind]


def options_of(order: MethodOrder, entry: Entry, system: str) -> dict[str, t.Any]:
    """Return the options of a method: those of the record where it rules and has any, else as configured, with the defaults and the overrides."""
    recorded = entry.options if order.by_record and not entry.untouched else {}
    return {**defaults(order.kind, system), **(recorded or order.options), **order.override}


def said(error: Exception) -> str:
    """Return what an error says, with its kind where it says little by itself."""
    return str(error) or type(error).__name__ if not isinstance(error, (KeyError, TypeError, ValueError)) else f"{type(error).__name__}: {error}"
