# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Undo a drain, the last method first: what drained first comes back last, and waits until the one that was begun after it is undone."""

from __future__ import annotations

from ..core.types import Data, Values
from ..host.machine.machine import Machine
from ..journal.record_changes import RecordChange
from ..journal.record_schema import BY_HAND, Record, RecordsError
from ..journal.recorded import Recorded, find_method
from .engine import Outcome, said
from .journal import Journal
from .methods.method import FAILED, LONGEST_MESSAGE, UNDOING, UNDONE, Answer, NotYet
from .orders import MethodOrder, UndoOrder
from .tasks import Tasks, method_of


class Undo:
    """One observation of one undo."""

    def __init__(self, order: UndoOrder, journal: Journal, machine: Machine) -> None:
        self._order = order
        self._journal = journal
        self._machine = machine
        self._record: Record | None = None
        self._notes: list[str] = []
        self._tasks = Tasks(machine, order.event, None, order.members)

    def run(self) -> Outcome:
        """Take the methods in order. What fails is in the outcome and, where that can be written, in the record.

        Raise RecordsError, with nothing done, where the record cannot be read.
        """
        self._record = self._journal.read()
        if self._record is None:
            return Outcome(FAILED, "there is no record of event {} on this VM".format(self._order.event.get("event_id")), None)
        self._tasks = Tasks(self._machine, self._order.event, self._record["deadline"], self._order.members)
        try:
            return self._run()
        except RecordsError as error:
            return Outcome(FAILED, str(error), self._record)

    def _run(self) -> Outcome:
        if not self._order.methods:
            self._write(dict(self._phase_change(Answer(UNDONE)), undone=not self._order.reports), {})
            return self._outcome(Answer(UNDONE))
        # Nothing is touched unless the run's lease stands.
        self._write({}, {})
        answer = Answer(UNDONE)
        for number, order in enumerate(self._order.methods, 1):
            answer = self._take(order, self._order.complete and number == len(self._order.methods))
            if answer.state != UNDONE:
                break
        return self._outcome(answer)

    def _outcome(self, answer: Answer) -> Outcome:
        """A method of which a part is left to an operator is not undone yet."""
        reports = self._order.reports if self._order.complete else ()
        state = UNDOING if answer.state == UNDONE and reports else answer.state
        return Outcome(state, answer.error or " ".join(reports) or None, self._record, " ".join(self._notes) or None)

    def _take(self, order: MethodOrder, is_last: bool) -> Answer:
        try:
            answer = self._work(order)
        except Exception as error:  # as in a drain: whatever it is, it is this undo's failure and must reach the record
            if self._machine.is_lost(error):
                raise
            answer = Answer(FAILED, f"{order.id}: undo: {said(error)}")
        self._notes += [answer.note] if answer.note else []
        self._note(order, answer, is_last)
        return answer

    def _work(self, order: MethodOrder) -> Answer:
        entry = self._entry(order)
        if not order.runs or entry.untouched:
            return Answer(UNDONE)
        if order.answer is not None:
            return order.answer
        method, machine, task = method_of(order, self._machine.system), self._tasks.machine(order), self._tasks.of(order, entry)
        try:
            present = method.find(machine, task) if method.finds_for_undo else {}
            return method.undo(machine, task._replace(present=present))
        except NotYet as error:
            return Answer(UNDOING, f"not yet: {str(error)[:LONGEST_MESSAGE]}")

    def _note(self, order: MethodOrder, answer: Answer, is_last: bool) -> None:
        entry = self._entry(order)
        state = UNDOING if answer.state == UNDONE and not order.ends else answer.state
        error, kind = answer.error or order.report, BY_HAND if order.report and not answer.error else None
        if state == UNDOING and entry.state == UNDOING and not (order.report and (entry.error, entry.error_kind) != (error, kind)):
            return  # still at it, and recorded as that
        changes = self._phase_change(answer)
        if is_last and answer.state == UNDONE and not self._order.reports:
            changes["undone"] = True
        self._write(changes, {"id": order.id, "state": state, "error": error, "error_kind": kind})

    def _phase_change(self, answer: Answer) -> Data:
        if self._order.keep_phase:
            return {}
        return {"phase": "failed", "reason": answer.error} if answer.state == FAILED else {"phase": "recovering", "reason": None}

    def _entry(self, order: MethodOrder) -> Recorded:
        return find_method(self._record, order.id)

    def _write(self, changes: Values, method: Values) -> None:
        self._record = self._journal.write(RecordChange(changes=changes, method=method))
