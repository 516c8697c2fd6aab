# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Drain a VM, one short observation of a time: begin what has not begun, check, and stop at the first method that is not drained yet.

What a method finds is in the record before it acts. A drain holds for one boot of the VM.
"""

from __future__ import annotations

import typing as t

from ..core.types import Data, Values
from ..host.machine.daemons import DaemonError
from ..host.machine.machine import Machine
from ..host.system import seconds_between
from ..journal.record_changes import RecordChange
from ..journal.record_schema import NEEDED, NOT_YET, Record, RecordsError
from ..journal.recorded import Recorded, find_method
from .journal import APPROVED_OR_STARTED, UNDER_WAY, Journal
from .methods.method import DRAINED, DRAINING, FAILED, LONGEST_MESSAGE, LOST, UNDONE, Answer, Method, MethodError, NoAnswer, NotYet
from .orders import DrainOrder, Identity, MethodOrder
from .tasks import Tasks, method_of

FOUND, BEGUN = "found", "begun"
# The kind of a method's error in the record: it is drained or draining, and the VM should be in service again.
HOLD = "hold"
# Among the times of a method in the record: since when what it asks is away, which its error says, and when the first of what the VM served had left.
AWAY, MOVED = "away", "moved"
# The later, the worse.
WORSE = (DRAINED, DRAINING, NOT_YET, FAILED)
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
        self._tasks = Tasks(machine, order.event, order.deadline, order.members)
        self._record: Record | None = None
        self._attempt = 1
        self._late = False
        self._handover: t.Mapping[str, str] = {}
        self._notes: list[str] = []
        self._held: str | None = None
        self._away: dict[str, str] = {}

    def run(self) -> Outcome:
        """Take the methods in order. What fails is in the outcome and, where that can be written, in the record.

        Raise RecordsError, with nothing done, where the record cannot be read.
        """
        self._record = self._journal.read()
        phase = self._phase()
        # A drain that is under way and has no attempt has waited for its first method.
        self._attempt = max((self._record["attempts"] if self._record else 0) + (0 if phase in UNDER_WAY else 1), 1)
        self._late = self._order.late and phase not in APPROVED_OR_STARTED
        if self._order.problem is not None:
            return self._refuse(self._order.problem)
        if not self._order.methods:
            return self._refuse(NO_METHOD)
        answer = self._take_at_once() if self._order.at_once else self._take_in_order()
        state = DRAINING if answer.state == NOT_YET else answer.state
        return Outcome(state, answer.error or self._held, self._record, " ".join(self._notes) or None, self._handover)

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
            answer = answer._replace(hold=answer.hold or order.hold)
            self._held = self._held or answer.hold
            return answer
        except _StoppedAtFinding:
            return Answer(FOUND)
        except (NotYet, DaemonError, NoAnswer) as error:
            return self._not_yet(order, error)
        except Exception as error:  # a damaged record, a broken method: it is this drain's failure and must reach the record
            if self._machine.is_lost(error):
                raise
            return Answer(FAILED, f"{order.id}: {said(error)}")

    def _not_yet(self, order: MethodOrder, error: Exception) -> Answer:
        """Return that a method waits to begin, or that it is draining: what has answered in this drain is waited for, and something may have been set."""
        words = f"{order.id}: not yet: {str(error)[:LONGEST_MESSAGE]}"
        states = (FOUND,) if isinstance(error, NotYet) else (FOUND, BEGUN, DRAINED)
        if order.answer is None and self._entry(order).state in states:
            # The next observation begins it again.
            self._away[order.id] = FOUND
            return self._judge(Answer(DRAINING, words))
        return Answer(NOT_YET, words) if isinstance(error, NotYet) else Answer(FAILED, f"{order.id}: {said(error)}")

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
            self._record_finding(order, order.options, order.finding, outside=order.outside)
            raise _StoppedAtFinding
        entry = self._entry(order)
        if order.answer is not None:
            return self._answered(order, order.answer, entry)
        method = method_of(order, self._machine.system)
        if entry.state not in (BEGUN, DRAINED) or (entry.state == BEGUN and self._other_boot(entry) and not self._order.verify):
            self._begin(method, order)
        answer = self._check(method, order)
        if answer.state == LOST:
            self._begin(method, order)
            answer = self._check(method, order)
        return answer

    def _check(self, method: Method, order: MethodOrder) -> Answer:
        try:
            return method.check(self._tasks.machine(order), self._tasks.of(order, self._entry(order)))
        except (DaemonError, NoAnswer) as error:
            # It has answered in this drain.
            self._away[order.id] = BEGUN
            return Answer(DRAINING, str(error))

    def _answered(self, order: MethodOrder, answer: Answer, entry: Recorded) -> Answer:
        """Return what tasks of the controller have answered. A method that is not begun here has nothing to answer but that it may not begin yet."""
        if answer.state == NOT_YET:
            return self._waits(answer.error or "no reason given", entry)
        if answer.state == FAILED or entry.state in (FOUND, BEGUN, DRAINED):
            return self._still_away(order, answer, entry)
        return Answer(FAILED, f"the answer is {answer.state!r}, and the method has not begun: it is {entry.state}")

    def _still_away(self, order: MethodOrder, answer: Answer, entry: Recorded) -> Answer:
        """Return an answer, or that what was asked is away for too long. The record says since when, for the run before this one may have been killed."""
        bounded = order.away and not order.moved and MOVED not in entry.times
        away = seconds_between(entry.times.get(AWAY), self._machine.now()) if bounded else None
        return answer if away is None or away < order.away else Answer(FAILED, f"{answer.error or 'away'}; that for {away:.0f} s")

    def _times(self, order: MethodOrder, answer: Answer, entry: Recorded) -> Data:
        """Return the times of a method in the record, with those of its authority."""
        away = (order.away or order.id in self._away) and answer.state == DRAINING
        new = {key: self._machine.now() for key, is_so in ((AWAY, away), (MOVED, order.moved)) if is_so and key not in entry.times}
        return {**{key: at for key, at in entry.times.items() if key != AWAY or away}, **new}

    def _waits(self, why: str, entry: Recorded) -> Answer:
        """Raise NotYet for a method that has set nothing; of any other it is no answer. At the deadline a method has begun, or has failed by name."""
        if not entry.untouched and entry.state != FOUND:
            return Answer(FAILED, f"the answer is {NOT_YET!r}, and the method has begun: it is {entry.state}")
        raise self._not_begun(why) if self._late else NotYet(why)

    def _begin(self, method: Method, order: MethodOrder) -> None:
        """Begin a method, or raise NotYet as long as there is more time than it needs. After that NotYet is a failure."""
        must_begin = self._must_begin(method.needs_seconds)
        try:
            return self._find_and_begin(method, order, must_begin)
        except NotYet as error:
            due = must_begin if error.needs_seconds is None else self._must_begin(error.needs_seconds)
            if not due:
                raise
            why = error
        if not must_begin:
            # It has asked for more time than its class does, and has not been told that there is none left.
            try:
                return self._find_and_begin(method, order, True)
            except NotYet as error:
                why = error
        raise self._not_begun(why)

    def _not_begun(self, why: t.Any) -> MethodError:
        return MethodError(f"not begun before the deadline {self._order.deadline or ''}: {str(why)[:LONGEST_MESSAGE]}")

    def _must_begin(self, needs: float) -> bool:
        # An event that is approved or has started has no deadline any more. The VM has drained for it, and is to drain again after a boot.
        return self._phase() not in APPROVED_OR_STARTED and (self._late or self._tasks.has_only(needs))

    def _find_and_begin(self, method: Method, order: MethodOrder, must_begin: bool) -> None:
        machine, task = self._tasks.machine(order), self._tasks.of(order, self._entry(order), must_begin=must_begin)
        found = method.find(machine, task)
        self._record_finding(order, task.options, found, outside=order.outside or method.outside)
        task = self._tasks.of(order, self._entry(order), found, must_begin)
        if self._order.stop_at_finding:
            self._handover = method.handover(machine, task)
            if order.outside or method.outside or self._handover:
                raise _StoppedAtFinding
        method.begin(machine, task)

    def _record_finding(self, order: MethodOrder, options: Values, found: Values, *, outside: bool) -> None:
        changes = {**self._about_drain(), "attempts": self._attempt, "verified_at": None}
        entry = {
            "id": order.id,
            "method": order.kind,
            "options": dict(options),
            "before": dict(found),
            "state": FOUND,
            "boot_id": self._identity.boot_id,
            "error": None,
            "error_kind": None,
            "outside": outside,
        }
        self._write(dict(changes, **self._phase_change("draining")), method=entry, event=self._order.event)

    def _about_drain(self) -> Data:
        return {"deadline": self._order.deadline, "rule": self._order.rule or None}

    def _note_waiting(self, order: MethodOrder, reason: str | None) -> None:
        """Record that the drain goes on, and why a method waits: the first reason, but each one of who serves, which sends operators to what is out now.

        Where tasks have found something, and have set nothing, there is nothing to undo.
        """
        phase, kind = self._phase(), NEEDED if order.hold else NOT_YET
        method = {"id": order.id, "state": UNDONE, "error": None} if order.answer and self._entry(order).state == FOUND else {}
        now = (kind, reason if kind == NEEDED else self._said()[1])
        known = phase in APPROVED_OR_STARTED or (phase == "draining" and self._said() == now)
        if known and method:
            self._write({}, method=method)
        if known:
            return
        # The attempt after a failure is counted when it begins to wait, so that each failure is counted; the first when its first method begins.
        counted = {"attempts": self._attempt} if self._record and self._record["attempts"] else {}
        self._write({**self._about_drain(), **counted, "phase": "draining", **_waits(kind, reason)}, method=method, event=self._order.event)

    def _judge(self, answer: Answer) -> Answer:
        if answer.state not in (DRAINING, LOST):
            return answer
        if self._late:
            return Answer(FAILED, f"Not drained before the deadline {self._order.deadline}: {answer.error or 'no reason known'}")
        # The next observation begins it again.
        return Answer(DRAINING, answer.error, hold=answer.hold)

    def _note(self, order: MethodOrder, answer: Answer, is_last: bool) -> None:
        """Record what is new."""
        if answer.state == NOT_YET:
            self._note_waiting(order, answer.error)
            return
        entry = self._entry(order)
        state = self._away.get(order.id, BEGUN) if answer.state == DRAINING else answer.state
        held = None if answer.state == FAILED or self._phase() in APPROVED_OR_STARTED else answer.hold
        times = self._times(order, answer, entry)
        other = times != entry.times or entry.state != state or self._other_boot(entry) or (entry.error_kind == HOLD) != bool(held)
        if answer.state == DRAINED and not (is_last or other):
            return
        if answer.state == DRAINING and not other and self._phase() in ("draining", *APPROVED_OR_STARTED):
            return
        method: Data = {
            "id": order.id,
            "state": state,
            "boot_id": self._identity.boot_id,
            "error": answer.error or held,
            "error_kind": HOLD if held else None,
        }
        if times != entry.times:
            method["times"] = times
        if order.runs:
            # Of what the settings do not name, only that it failed: its kind in the record is not known to be one.
            method["method"] = order.kind
        # Only the observation in which the last method was found drained has checked them all.
        stamp = ("verified_at",) if answer.state == DRAINED and is_last else ()
        changes = self._changes(answer, is_last)
        if held:
            changes.update(_waits(NEEDED, f"{order.id}: {held}"))
        elif entry.error_kind == HOLD:
            changes.setdefault("reason", None)
        self._write(changes, method=method, stamp=stamp)
        if stamp and DRAINED not in entry.times:
            self._note_time()

    def _note_time(self) -> None:
        """Keep how long this drain took, once: the last method is drained for the first time since it began, or began anew after an undo."""
        try:
            self._journal.note_time(t.cast(Record, self._record))
        except RecordsError as error:
            # The record itself was written, and the time is a hint.
            self._notes.append(str(error))

    def _changes(self, answer: Answer, is_last: bool) -> Data:
        if answer.state == FAILED:
            # One that has failed before it has found anything counts, too: retries are limited and backed off by it.
            return {"phase": "failed", "reason": answer.error, "attempts": self._attempt}
        if answer.state == DRAINING:
            return self._phase_change("draining")
        return self._phase_change("drained") if is_last else {}

    def _phase_change(self, phase: str) -> Data:
        return {} if self._phase() in APPROVED_OR_STARTED else {"phase": phase, "reason": None}

    def _entry(self, order: MethodOrder) -> Recorded:
        return find_method(self._record, order.id)

    def _other_boot(self, entry: Recorded) -> bool:
        return bool(self._identity.boot_id) and (entry.boot_id or "") != self._identity.boot_id

    def _phase(self) -> str:
        return self._record["phase"] if self._record else ""

    def _said(self) -> tuple[t.Any, t.Any]:
        """Return the kind of the blocker that is recorded, and the reason."""
        record = self._record or {}
        return (record.get("blocker") or {}).get("kind"), record.get("reason")

    def _write(
        self,
        changes: Values,
        method: Values | None = None,
        event: Values | None = None,
        stamp: t.Sequence[str] = (),
    ) -> None:
        identity = self._identity
        self._record = self._journal.write(
            RecordChange(event or {}, changes, method or {}, stamp, boot_id=identity.boot_id, vm_id=identity.vm_id, vm_name=identity.vm_name)
        )


def _waits(kind: str, reason: str | None) -> Data:
    return {"reason": reason, "blocker": {"kind": kind, "subjects": []}}


def said(error: Exception) -> str:
    """Return what an error says, with its kind where it says little by itself."""
    return str(error) or type(error).__name__ if not isinstance(error, (KeyError, TypeError, ValueError)) else f"{type(error).__name__}: {error}"
