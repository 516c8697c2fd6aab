# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The timeline of events, from the records of all VMs: a table of plain text for a ticket."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ....module_utils._scheduled_events.core.printable_text import LONGEST_NAME, printable
from ..._core import plain_values
from ..._core.short_forms import ending, short_id
from ..._core.wrong_input import WrongInput
from ..core import timestamps
from ..core.model import Record
from ..observe.reading import read_record

HEADINGS = ("Time (UTC)", "VM", "Event", "Phase", "What")
LONGEST_REASON = 300


class _Entry(NamedTuple):
    """One phase of one event on one VM."""

    at: float
    host: str
    event_id: str
    phase: str
    what: str


def timeline(records_by_host: Any, by: str = "phase") -> list[str]:
    """Return a table with a row for each phase of each VM, sorted by time, or with a row for each VM. Without any phase there is no table. Raise WrongInput."""
    if by not in ("phase", "vm"):
        raise WrongInput(f"by must be one of phase, vm, not {by}")
    records = records_of(records_by_host)
    if by == "vm":
        return vm_table(records)
    return _table(sorted((entry for host, record in records for entry in _entries(host, record)), key=lambda entry: entry.at))


def records_of(records_by_host: Any) -> list[tuple[str, Record]]:
    """Return each readable record with its host. Raise WrongInput."""
    if not isinstance(records_by_host, Mapping):
        raise WrongInput(f"records must be a dictionary of host: list of records, not {type(records_by_host).__name__}")
    found: list[tuple[str, Record]] = []
    for host, given in records_by_host.items():
        # A whole observation is accepted too: it contains the records.
        records = plain_values.items(given.get("records") if isinstance(given, Mapping) else given)
        found += [(plain_values.text(host) or "?", record) for item in records if (record := read_record(item))]
    return found


def _entries(host: str, record: Record) -> list[_Entry]:
    times = [*record.history, *_more(record.history, record.started_at)]
    return [_Entry(at, host, record.event.event_id, phase, _what(record, place)) for place, (phase, at) in enumerate(times)]


def _more(history: tuple[tuple[str, float], ...], started_at: float | None) -> list[tuple[str, float]]:
    """Add the start of an event that found its VM still draining: such a record never enters that phase."""
    if started_at is None or any(phase == "started" for phase, _at in history):
        return []
    return [("started", started_at)]


def _what(record: Record, place: int) -> str:
    """Return what is known about the entry of the history at this place."""
    if place >= len(record.history):
        return ""
    phase, at = record.history[place]
    if phase == "noticed":
        due = record.event.not_before
        by_itself = ", by its own watcher" if record.watched and place == 0 else ""
        return printable(record.event.event_type, LONGEST_NAME) + ("" if due is None else f", not before {_moment(due)}") + by_itself
    if phase == "draining":
        return printable(", ".join(method.identifier for method in record.methods), LONGEST_REASON)
    if phase == "gone":
        return printable(ending(record.outcome), LONGEST_NAME)
    if phase == "recovered":
        begun = next((earlier for name, earlier in record.history[:place] if name == "draining"), None)
        return "" if begun is None else f"{timestamps.duration(at - begun)} after the drain began"
    # The record keeps the reason of its present phase alone.
    return printable(record.reason or "", LONGEST_REASON) if place == len(record.history) - 1 and phase in ("held", "failed") else ""


def _table(entries: Sequence[_Entry]) -> list[str]:
    if not entries:
        return []
    rows = [HEADINGS]
    named: set[str] = set()
    for entry in entries:
        shown = short_id(entry.event_id)
        # Azure's support asks for the whole id: it stands in the first row of the event.
        whole = [] if entry.event_id in named or shown == entry.event_id else [f"event {printable(entry.event_id, LONGEST_NAME)}"]
        named.add(entry.event_id)
        rows.append((_moment(entry.at), printable(entry.host, LONGEST_NAME), shown, entry.phase, "; ".join(filter(None, [entry.what, *whole]))))
    return aligned(rows)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows as lines, each column as wide as its longest cell."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def _moment(at: float) -> str:
    return timestamps.form(at)[:19].replace("T", " ")


# --- A row for each VM ---------------------------------------------------------------------------------------------------


VM_HEADINGS = ("VM", "Noticed", "Drained", "Approved", "Hit", "Back", "Drain took", "Out of service for")
NONE = "-"


def vm_table(found: Iterable[tuple[str, Record]]) -> list[str]:
    """Return for each event a line with its whole id, and a table with a row for each of its VMs."""
    by_event: dict[str, list[tuple[str, Record]]] = {}
    for host, record in found:
        by_event.setdefault(record.event.key, []).append((host, record))
    lines: list[str] = []
    for records in by_event.values():
        event = records[0][1].event
        # One VM approves an event for all of them.
        approved = min((at for _host, record in records if (at := _approved_at(record)) is not None), default=None)
        lines.append(f"{printable(event.event_type, LONGEST_NAME)} {printable(event.event_id, LONGEST_NAME)}, times in UTC:")
        lines += aligned([VM_HEADINGS, *(_row(host, record, approved) for host, record in records)])
    return lines


def _row(host: str, record: Record, approved_by_another: float | None) -> tuple[str, ...]:
    noticed, begun, drained = (_first(record, phase) for phase in ("noticed", "draining", "drained"))
    approved, back = _approved_at(record), record.last("recovered")
    if approved is None and record.approving_at is not None:
        # Every VM notes first that its event is about to be approved. Without that, the word of another VM proves nothing about this one.
        approved = approved_by_another
    return (
        printable(host, LONGEST_NAME),
        _time(noticed),
        _time(drained),
        _why_not_approved(record) if approved is None else _time(approved),
        _time(_hit_at(record)),
        _time(back),
        _duration(begun, drained),
        _duration(begun, back),
    )


def _first(record: Record, phase: str) -> float | None:
    return next((at for entered, at in record.history if entered == phase), None)


def _approved_at(record: Record) -> float | None:
    entered = _first(record, "approved")
    return record.approved_at if entered is None else entered


def _hit_at(record: Record) -> float | None:
    entered = _first(record, "started")
    return record.started_at if entered is None else entered


def _why_not_approved(record: Record) -> str:
    """Return in a few words why no record of the event has an approval."""
    if _hit_at(record) is not None or record.outcome == "completed":
        # At NotBefore Azure needs none; or a person approved it elsewhere.
        return "not by us"
    if record.outcome is not None:
        return "not needed" if record.outcome == "cancelled" else "not known"
    return "not known" if record.approving_at is not None else "not yet"


def _time(at: float | None) -> str:
    return NONE if at is None else f"{timestamps.as_datetime(at):%H:%M:%S}"


def _duration(begin: float | None, end: float | None) -> str:
    return NONE if begin is None or end is None else timestamps.duration(max(end - begin, 0.0))
