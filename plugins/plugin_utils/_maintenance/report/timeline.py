# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The timeline of events, from the records of all VMs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.printable_text import LONGEST_NAME, printable
from ansible_collections.maintenance.azure.plugins.plugin_utils._core import plain_values
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.observe.reading import read_record


class TimelineError(ValueError):
    """The records do not have the expected form."""


def timeline(records_by_host: Any) -> list[str]:
    """Return one line for each phase of each VM, sorted by time. Raise TimelineError."""
    if not isinstance(records_by_host, Mapping):
        raise TimelineError(f"records must be a dictionary of host: list of records, not {type(records_by_host).__name__}")
    found = []
    for host, given in records_by_host.items():
        # A whole observation is accepted too: it contains the records.
        records = plain_values.items(given.get("records") if isinstance(given, Mapping) else given)
        for item in records:
            record = read_record(item)
            if record is None:
                continue
            times = [*record.history, *_more(record.history, record.started_at)]
            for phase, at in times:
                subject = " ".join(printable(one, LONGEST_NAME) for one in (record.event.event_type, record.event.event_id, plain_values.text(host)))
                detail = f" ({printable(record.outcome, LONGEST_NAME)})" if phase == "gone" and record.outcome else ""
                found.append((at, subject, phase, detail))
    found.sort(key=lambda item: item[0])
    return [f"{timestamps.form(at)[:23].replace('T', ' ')}Z  {phase:<10}  {subject}{detail}" for at, subject, phase, detail in found]


def _more(history: tuple[tuple[str, float], ...], started_at: float | None) -> list[tuple[str, float]]:
    """Add the start of an event that found its VM still draining: such a record never enters that phase."""
    if started_at is None or any(phase == "started" for phase, _at in history):
        return []
    return [("started", started_at)]
