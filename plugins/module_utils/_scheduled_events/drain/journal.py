# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The record of one drain, as the engine reads and writes it."""

from __future__ import annotations

import typing as t

from ..core.types import Values
from ..journal.record_changes import RecordChange
from ..journal.record_schema import Record

# Phases of a drain that cannot be taken back: one that is repeated then, after a reboot, leaves the phase as it is.
APPROVED_OR_STARTED = ("approved", "started")
# Phases in which a drain goes on, so that it is the same attempt.
UNDER_WAY = ("draining", "drained", *APPROVED_OR_STARTED)


class Journal(t.Protocol):
    """The record of one event on one VM. All raise RecordsError; a write raises LeaseLost where the run's lease is gone."""

    def read(self) -> Record | None:
        """Return the record, or None."""

    def write(self, change: RecordChange) -> Record:
        """Take a step and return the record after it."""

    def note_time(self, record: Record) -> None:
        """Keep how long the drain of this record took, beside the record, for the drains to come."""


def resources_of(event: Values) -> list[str]:
    """Return the VMs that an event names."""
    resources = event.get("resources")
    return [text_of(one) for one in resources] if isinstance(resources, (list, tuple)) else []


def environment_of(event: Values, deadline: str | None) -> dict[str, str]:
    """Return the environment of an operator's commands. Texts, whatever they look like."""
    return {
        "MAINTENANCE_EVENT_ID": text_of(event.get("event_id")),
        "MAINTENANCE_EVENT_TYPE": text_of(event.get("event_type")),
        "MAINTENANCE_EVENT_STATUS": text_of(event.get("event_status")),
        "MAINTENANCE_EVENT_NOT_BEFORE": text_of(event.get("not_before")),
        "MAINTENANCE_EVENT_DESCRIPTION": text_of(event.get("description")),
        "MAINTENANCE_EVENT_RESOURCES": ",".join(resources_of(event)),
        "MAINTENANCE_EVENT_DEADLINE": text_of(deadline),
    }


def text_of(value: t.Any) -> str:
    """Return a value as text, empty for None."""
    # No environment can hold a zero byte.
    return "" if value is None else str(value).replace("\0", "")
