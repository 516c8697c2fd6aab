# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The course of each event as a table with a row for each VM."""

from __future__ import annotations

from typing import Any

from ....module_utils._scheduled_events.core.printable_text import LONGEST_NAME, printable
from ..core import timestamps
from ..core.model import Record
from .timeline import aligned, records_of

HEADINGS = ("VM", "Noticed", "Drained", "Approved", "Hit", "Back", "Drain took", "Out of service for")
NONE = "-"


def vm_table(records_by_host: Any) -> list[str]:
    """Return for each event a line with its whole id, and a table with a row for each of its VMs. Raise TimelineError."""
    by_event: dict[str, list[tuple[str, Record]]] = {}
    for host, record in records_of(records_by_host):
        by_event.setdefault(record.event.key, []).append((host, record))
    lines: list[str] = []
    for records in by_event.values():
        event = records[0][1].event
        # One VM approves an event for all of them.
        approved = min((at for _host, record in records if (at := _approved_at(record)) is not None), default=None)
        lines.append(f"{printable(event.event_type, LONGEST_NAME)} {printable(event.event_id, LONGEST_NAME)}, times in UTC:")
        lines += aligned([HEADINGS, *(_row(host, record, approved) for host, record in records)])
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
