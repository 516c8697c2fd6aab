# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Undo a drain, the last method first: what drained first comes back last, and waits until the one that was begun after it is undone."""

from __future__ import annotations

import typing as t

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.engine import FAILED, Outcome, method_of, said
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.journal import Entry, Journal, entry_of, environment_of
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import UNDOING, UNDONE, Answer, Task
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.orders import MethodStep, UndoOrder
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.registry import defaults
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine import Machine
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_changes import Step
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import Record, RecordsError


class Undo:
    """One look at one undo."""

    def __init__(self, order: UndoOrder, journal: Journal, machine: Machine) -> None:
        self._order = order
        self._journal = journal
        self._machine = machine
        self._record: Record | None = None
        self._environment: dict[str, str] = {}

    def run(self) -> Outcome:
        """Take the methods in order. What fails is in the outcome and, where that can be written, in the record.

        Raise RecordsError, with nothing done, where the record cannot be read.
        """
        self._record = self._journal.read()
        if self._record is None:
            return Outcome(FAILED, "there is no record of event {} on this VM".format(self._order.event.get("event_id")), None)
        self._environment = environment_of(self._order.event, self._record["deadline"])
        try:
            return self._run()
        except RecordsError as error:
            return Outcome(FAILED, str(error), self._record)

    def _run(self) -> Outcome:
        if not self._order.steps:
            self._write(dict(self._phase_change(Answer(UNDONE)), undone=not self._order.reports), {})
            return self._outcome(Answer(UNDONE))
        # Nothing is touched unless the run's lease stands.
        self._write({}, {})
        answer = Answer(UNDONE)
        for number, step in enumerate(self._order.steps, 1):
            answer = self._take(step, self._order.complete and number == len(self._order.steps))
            if answer.state != UNDONE:
                break
        return self._outcome(answer)

    def _outcome(self, answer: Answer) -> Outcome:
        """A method of which a part is left to an operator is not undone yet."""
        reports = self._order.reports if self._order.complete else ()
        state = UNDOING if answer.state == UNDONE and reports else answer.state
        return Outcome(state, answer.error or " ".join(reports) or None, self._record)

    def _take(self, step: MethodStep, is_last: bool) -> Answer:
        try:
            answer = self._work(step)
        except Exception as error:  # as in a drain: whatever it is, it is this undo's failure and must reach the record
            if self._machine.is_lost(error):
                raise
            answer = Answer(FAILED, f"{step.id}: undo: {said(error)}")
        self._note(step, answer, is_last)
        return answer

    def _work(self, step: MethodStep) -> Answer:
        entry = self._entry(step)
        if not step.act or entry.untouched:
            return Answer(UNDONE)
        method = method_of(step, self._machine.system)
        options = dict(defaults(step.kind, self._machine.system), **(step.options if not step.by_record else entry.options or step.options))
        return method.undo(self._machine, Task(options, entry.before or {}, entry.state, entry.since, self._environment))

    def _note(self, step: MethodStep, answer: Answer, is_last: bool) -> None:
        entry = self._entry(step)
        state = UNDOING if answer.state == UNDONE and not step.ends else answer.state
        error = answer.error or step.report
        if state == UNDOING and entry.state == UNDOING and not (step.report and entry.error != error):
            return  # still at it, and recorded as that
        changes = self._phase_change(answer)
        if is_last and answer.state == UNDONE and not self._order.reports:
            changes["undone"] = True
        self._write(changes, {"id": step.id, "state": state, "error": error})

    def _phase_change(self, answer: Answer) -> dict[str, t.Any]:
        if self._order.keep_phase:
            return {}
        return {"phase": "failed", "reason": answer.error} if answer.state == FAILED else {"phase": "recovering", "reason": None}

    def _entry(self, step: MethodStep) -> Entry:
        return entry_of(self._record, step.id)

    def _write(self, changes: t.Mapping[str, t.Any], method: t.Mapping[str, t.Any]) -> None:
        self._record = self._journal.write(Step(changes=changes, method=method))
