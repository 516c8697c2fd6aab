# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The course of each event as a table with a row for each VM."""

from __future__ import annotations

from typing import Any

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.printable_text import LONGEST_NAME, printable
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Record
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.timeline import aligned, records_of

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
        lines.append(f"{printable(event.event_type, LONGEST_NAME)} {printable(event.event_id, LONGEST_NAME)}, times in UTC:")
        lines += aligned([HEADINGS, *(_row(host, record) for host, record in records)])
    return lines


def _row(host: str, record: Record) -> tuple[str, ...]:
    first: dict[str, float] = {}
    for phase, at in record.history:
        first.setdefault(phase, at)
    hit, back = first.get("started", record.started_at), record.last("recovered")
    begun = first.get("draining")
    times = (first.get("noticed"), first.get("drained"), first.get("approved", record.approved_at), hit, back)
    return (printable(host, LONGEST_NAME), *(_time(at) for at in times), _duration(begun, first.get("drained")), _duration(begun, back))


def _time(at: float | None) -> str:
    return NONE if at is None else f"{timestamps.as_datetime(at):%H:%M:%S}"


def _duration(begin: float | None, end: float | None) -> str:
    return NONE if begin is None or end is None else timestamps.duration(max(end - begin, 0.0))
