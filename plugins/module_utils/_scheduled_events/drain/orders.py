# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""What the controller orders of a drain or an undo, read from plain data: the methods in order, and how each is told."""

from __future__ import annotations

import typing as t

from ..core.types import Data, Values
from ..journal.record_schema import NOT_YET
from .methods.method import DRAINED, DRAINING, FAILED, LOST, UNDOING, UNDONE, Answer

# What tasks on the controller may answer, by the stage that they were asked for.
CHECKED = (DRAINED, DRAINING, LOST, FAILED, NOT_YET)
UNDO_ANSWERS = (UNDONE, UNDOING, FAILED)


class OrderError(ValueError):
    """An order that cannot be read; the message says what is wrong with it."""


class Identity(t.NamedTuple):
    """Which VM, and which boot of it."""

    vm_id: str | None
    vm_name: str | None
    boot_id: str | None


class MethodOrder(t.NamedTuple):
    """One method of the controller's list. See plugin_utils/_drain/orders/method_orders.py, which makes it."""

    id: str
    kind: str
    by_record: bool
    """Whether its options are those of the record once it has begun: a method that changes nothing but its own VM."""
    options: Values
    """Its options as configured, with the defaults of the method."""
    outside: bool
    runs: bool
    """Whether there is anything to run."""
    ends: bool
    """Whether the method is undone when this order is."""
    report: str | None
    """What cannot be done here, and how an operator does it."""
    override: Values
    """Options that come from the settings, whatever the record says: what is asked of other hosts."""
    finding: Values | None = None
    """Of a method that is tasks of the controller: what they have found. It is recorded, and they act only then."""
    answer: Answer | None = None
    """Of such a method: what its check or its undo has answered, or its find or begin, that it may not begin yet. It is judged and recorded."""
    hold: str | None = None
    """With an answer of a check: why the VM should be in service again."""
    away: float = 0.0
    """With draining: what the tasks ask has answered in this drain and does not now, which is no failure for so many seconds; 0 where it answers."""
    moved: bool = False
    """With an answer: something has left that no undo brings back at once, so that what is away is waited for until the deadline."""
    addresses: t.Sequence[str] = ()
    """The daemons that the settings name, beside those of the VM: the method may talk to them."""


class DrainOrder(t.NamedTuple):
    """One drain: begin what has not begun, check what has."""

    event: Values
    methods: t.Sequence[MethodOrder]
    deadline: str | None
    late: bool
    """Whether the deadline has passed, by the controller's clock, when the order was given."""
    rule: Values
    verify: bool
    """Whether an operator or an approval wants each method to be checked again."""
    problem: str | None
    """What is wrong with the settings: nothing is done, and the record says why."""
    complete: bool
    """Whether the last of these orders is the last of the drain."""
    stop_at_finding: bool
    """Whether to stop before a method acts outside the VM, so that its finding can be copied to another VM, or another host can act, first."""
    members: t.Mapping[str, str]
    """The names in Azure of hosts that options of the methods name as members, by their names in the inventory."""
    at_once: bool = False
    """Whether no method waits for the one before it, nor for one that has failed: there is no time for an order."""


class UndoOrder(t.NamedTuple):
    """One undo: the methods in the order of undoing."""

    event: Values
    methods: t.Sequence[MethodOrder]
    keep_phase: bool
    """Whether the record keeps its phase and reason: those of a failed drain stay to be read."""
    complete: bool
    reports: t.Sequence[str]
    """What the whole undo has to report; with any, it does not end by itself."""
    members: t.Mapping[str, str] = {}
    """As in DrainOrder."""


def drain_order(given: Values) -> DrainOrder:
    """Parse the order of a drain. Raise OrderError."""
    methods, at_once = _methods(given, CHECKED), given.get("at_once") is True
    if at_once and (given.get("stop_at_finding") or any(order.finding is not None or order.answer is not None for order in methods)):
        raise OrderError("methods that begin at once cannot wait for what is done elsewhere")
    return DrainOrder(
        event=_mapping(given, "event"),
        methods=methods,
        deadline=_text(given, "deadline"),
        late=given.get("late") is True,
        rule=_mapping(given, "rule"),
        verify=given.get("verify") is True,
        problem=_text(given, "problem"),
        complete=given.get("complete") is not False,
        stop_at_finding=given.get("stop_at_finding") is True,
        members=_members(given),
        at_once=at_once,
    )


def undo_order(given: Values) -> UndoOrder:
    """Parse the order of an undo. Raise OrderError."""
    return UndoOrder(
        event=_mapping(given, "event"),
        methods=_methods(given, UNDO_ANSWERS),
        keep_phase=given.get("keep_phase") is True,
        complete=given.get("complete") is not False,
        reports=[str(report) for report in given.get("reports") or ()],
        members=_members(given),
    )


def _methods(given: Values, answers: t.Sequence[str]) -> list[MethodOrder]:
    orders = given.get("methods")
    if not isinstance(orders, (list, tuple)):
        raise OrderError("methods must be a list of methods")
    return [_method(order, answers) for order in orders]


def _method(given: t.Any, answers: t.Sequence[str]) -> MethodOrder:
    if not isinstance(given, t.Mapping) or not isinstance(given.get("id"), str) or not isinstance(given.get("kind"), str):
        raise OrderError("each of methods must be a method with id and kind")
    answer = _mapping(given, "answer")
    away = answer.get("away")
    return MethodOrder(
        id=given["id"],
        kind=given["kind"],
        by_record=given.get("where") == "own",
        options=_mapping(given, "given"),
        outside=given.get("outside") is True,
        runs=given.get("runs") is not False,
        ends=given.get("ends") is not False,
        report=_text(given, "report"),
        override=_mapping(given, "override"),
        finding=None if given.get("finding") is None else _finding(given["finding"]),
        answer=None if given.get("answer") is None else _answer(given["answer"], answers),
        hold=_text(answer, "hold"),
        away=float(away) if isinstance(away, (int, float)) else 0.0,
        moved=answer.get("moved") is True,
        addresses=[str(address) for address in given.get("addresses") or ()],
    )


def _members(given: Values) -> dict[str, str]:
    return {str(host): str(name) for host, name in _mapping(given, "members").items()}


def _finding(given: t.Any) -> Data:
    if not isinstance(given, t.Mapping):
        raise OrderError("finding must be a dictionary")
    return dict(given)


def _answer(given: t.Any, known: t.Sequence[str]) -> Answer:
    """Parse what tasks have answered. What is no answer of the stage that they were asked for has failed."""
    state = given.get("state") if isinstance(given, t.Mapping) else None
    if state not in known:
        return Answer(FAILED, f"the answer is {state!r}; it must be {', '.join(known)}")
    return Answer(str(state), _text(given, "error"))


def _mapping(given: Values, key: str) -> Data:
    value = given.get(key)
    return dict(value) if isinstance(value, t.Mapping) else {}


def _text(given: Values, key: str) -> str | None:
    value = given.get(key)
    return None if value in (None, "") else str(value)
