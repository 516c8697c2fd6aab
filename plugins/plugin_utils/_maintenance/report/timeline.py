# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The timeline of events, from the records of all VMs: a table of plain text for a ticket."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ....module_utils._scheduled_events.core.printable_text import LONGEST_NAME, printable
from ..._core import plain_values
from ..._core.short_forms import ending, short_id
from ..._core.wrong_input import WrongInput
from ..core import timestamps
from ..core.model import Record
from ..observe.reading import read_record
from .times import aligned, times_of, vm_table

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
        return _tables(records)
    return _table(sorted((entry for host, record in records for entry in _entries(host, record)), key=lambda entry: entry.at))


def _tables(found: Sequence[tuple[str, Record]]) -> list[str]:
    by_event: dict[str, list[tuple[str, Record]]] = {}
    for host, record in found:
        by_event.setdefault(record.event.key, []).append((host, record))
    return [
        line for records in by_event.values() for line in vm_table(records[0][1].event.for_record(), ((host, times_of(record)) for host, record in records))
    ]


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


def _moment(at: float) -> str:
    return timestamps.form(at)[:19].replace("T", " ")
