# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The times of one event on one VM, from its record: when it entered each phase, and how long it was out of service. What is unknown is None, never zero."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from ....module_utils._scheduled_events.core.printable_text import LONGEST_NAME, printable
from ....module_utils._scheduled_events.core.types import Values
from ....module_utils._scheduled_events.journal.transitions import PHASES
from ..core import timestamps
from ..core.model import Record

VM_HEADINGS = ("VM", "Noticed", "Drained", "Approved", "Hit", "Back", "Drain took", "Out of service for")
NONE = "-"
# Of these the last time counts, of all others the first: a VM that recovered twice is back the second time.
ENDS = ("gone", "recovering", "recovered", "failed")
# Of a longer history a plan has the first and the last phases: it is made in each iteration, and a VM may have hundreds of records.
FIRST, LAST = 10, 30


class Times(TypedDict):
    """The times of one event on one VM, by the VM's clock: ISO 8601 in UTC, and seconds."""

    phases: dict[str, str | None]
    """When it entered each phase: the first time, or the last time of a phase that ends something."""
    history: list[dict[str, str]]
    """The phases that it entered, in order, each with C(phase) and C(at): the first and the last of many."""
    approving: str | None
    """When a run announced the approval."""
    drain_seconds: float | None
    impact_seconds: float | None
    """From its start to when it was noticed to be gone."""
    out_of_service_seconds: float | None
    """From the begin of the drain until the VM was back."""
    outcome: str | None


def times_of(record: Record) -> Times:
    """Return the times of a record."""
    at = {phase: _entered(record, phase) for phase in PHASES}
    # An event that only other VMs list at first is held before the VM's own document names it.
    at["noticed"] = record.history[0][1] if record.history else None
    # Of a VM that was still draining the record has these times beside its history.
    at["approved"] = record.approved_at if at["approved"] is None else at["approved"]
    at["started"] = record.started_at if at["started"] is None else at["started"]
    # Until its first method has found something, it only waited.
    found = [moment for method in record.methods if (moment := timestamps.parse(method.times.get("found"))) is not None]
    began = at["draining"] if at["draining"] is None or not found else max(at["draining"], min(found))
    # One that never got further has set nothing.
    began = began if record.methods else None
    return {
        "phases": {phase: _form(moment) for phase, moment in at.items()},
        "history": [{"phase": phase, "at": timestamps.form(moment)} for phase, moment in _few(record.history)],
        "approving": _form(record.approving_at),
        "drain_seconds": between(began, at["drained"]),
        "impact_seconds": between(at["started"], at["gone"]),
        "out_of_service_seconds": between(began, at["recovered"]),
        "outcome": record.outcome,
    }


def _few(history: tuple[tuple[str, float], ...]) -> tuple[tuple[str, float], ...]:
    return history if len(history) <= FIRST + LAST else history[:FIRST] + history[-LAST:]


def _entered(record: Record, phase: str) -> float | None:
    if phase in ENDS:
        return record.last(phase)
    return next((at for entered, at in record.history if entered == phase), None)


def between(begin: float | None, end: float | None) -> float | None:
    """Return the seconds between two times, or None where one is unknown. A clock that was put back in between makes it unknown, too."""
    return None if begin is None or end is None or end < begin else round(end - begin, 3)


def _form(at: float | None) -> str | None:
    return None if at is None else timestamps.form(at)


def vm_table(event: Values, found: Iterable[tuple[str, Times]]) -> list[str]:
    """Return a line with the event's type and whole id, and a table with a row for each of its VMs."""
    rows = list(found)
    # One VM approves an event for all of them.
    approved = min((at for _host, times in rows if (at := times["phases"]["approved"]) is not None), default=None)
    kind = printable(event.get("event_type") or "unknown type", LONGEST_NAME)
    lines = [f"{kind} {printable(event['event_id'], LONGEST_NAME)}, times in UTC:"]
    return lines + aligned([VM_HEADINGS, *(_row(host, times, approved) for host, times in rows)])


def _row(host: str, times: Times, approved_by_another: str | None) -> tuple[str, ...]:
    at = times["phases"]
    approved = at["approved"]
    if approved is None and times["approving"] is not None:
        # Every VM notes first that its event is about to be approved. Without that, the word of another VM proves nothing about this one.
        approved = approved_by_another
    return (
        printable(host, LONGEST_NAME),
        _time(at["noticed"]),
        _time(at["drained"]),
        _why_not_approved(times) if approved is None else _time(approved),
        _time(at["started"]),
        _time(at["recovered"]),
        _duration(times["drain_seconds"]),
        _duration(times["out_of_service_seconds"]),
    )


def _why_not_approved(times: Times) -> str:
    """Return in a few words why no record of the event has an approval."""
    if times["phases"]["started"] is not None or times["outcome"] == "completed":
        # At NotBefore Azure needs none; or a person approved it elsewhere.
        return "not by us"
    if times["outcome"] is not None:
        return "not needed" if times["outcome"] == "cancelled" else "not known"
    return "not known" if times["approving"] is not None else "not yet"


def aligned(rows: Iterable[Iterable[str]]) -> list[str]:
    """Return the rows as lines, each column as wide as its longest cell."""
    cells = [tuple(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]


def _time(at: str | None) -> str:
    found = timestamps.parse(at)
    return NONE if found is None else f"{timestamps.as_datetime(found):%H:%M:%S}"


def _duration(seconds: float | None) -> str:
    return NONE if seconds is None else timestamps.duration(seconds)
