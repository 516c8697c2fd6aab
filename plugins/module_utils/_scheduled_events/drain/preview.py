# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""What a drain would do now, method by method, for check mode: each one looks as it does before it begins, and nothing is changed or recorded."""

from __future__ import annotations

import typing as t

from ..core.types import Doubt
from ..host.machine.machine import Machine
from ..journal.record_schema import Record
from ..journal.recorded import find_method
from .engine import BEGUN, NO_METHOD, said
from .methods.method import DRAINED, LONGEST_MESSAGE, NotYet
from .orders import DrainOrder, MethodOrder
from .tasks import Tasks, method_of


class Preview(t.NamedTuple):
    """Texts by the id of the method."""

    before: t.Mapping[str, str]
    """What it has found."""
    after: t.Mapping[str, str]
    """What it would do, or why it would wait or be refused."""
    refused: t.Sequence[str]
    doubts: t.Sequence[Doubt] = ()
    """Of each method why what it has found proves nothing (Method.doubt); empty, too, where that is not known yet."""


def preview(order: DrainOrder, record: Record | None, machine: Machine) -> Preview:
    """Ask the methods in order. What one refuses keeps none of the others from being shown."""
    if order.problem is not None or not order.methods:
        return Preview({}, {}, [order.problem or NO_METHOD])
    tasks = Tasks(machine, order.event, order.deadline, order.members)
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    doubts = []
    refused = []
    for one in order.methods:
        doubt: Doubt = ""
        try:
            before[one.id], after[one.id], doubt = _shown(one, record, tasks, machine.system)
        except NotYet as error:
            after[one.id] = f"would wait: {str(error)[:LONGEST_MESSAGE]}"
        except Exception as error:  # as in the engine: it would be this drain's failure
            if machine.is_lost(error):
                raise
            after[one.id] = f"would be refused: {said(error)[:LONGEST_MESSAGE]}"
            refused.append(f"{one.id}: {said(error)}")
        doubts.append(doubt)
    return Preview(before, after, refused, doubts)


def _shown(order: MethodOrder, record: Record | None, tasks: Tasks, system: str) -> tuple[str, str, Doubt]:
    entry = find_method(record, order.id)
    if not order.runs:
        return "", order.report or "nothing to run", None
    method = method_of(order, system)
    machine, task = tasks.machine(order), tasks.of(order, entry)
    begun = entry.state in (BEGUN, DRAINED)
    found = entry.before or {} if begun else method.find(machine, task)
    would = f"is {entry.state} already" if begun else method.would(machine, tasks.of(order, entry, found))
    return method.shown(found), would, method.doubt(found, task.options)
