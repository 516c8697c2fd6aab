# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""The record of one drain, as the engine reads and writes it."""

from __future__ import annotations

import typing as t

from ..host.system import seconds_between
from ..journal.record_changes import RecordChange
from ..journal.record_schema import Record
from .methods.method import BEFORE_ANYTHING, Values

# Phases of a drain that cannot be taken back: one that is repeated then, after a reboot, leaves the phase as it is.
APPROVED_OR_STARTED = ("approved", "started")
# Phases in which a drain goes on, so that it is the same attempt.
UNDER_WAY = ("draining", "drained", *APPROVED_OR_STARTED)


class Journal(t.Protocol):
    """The record of one event on one VM. Both raise RecordsError; a write raises LeaseLost where the run's lease is gone."""

    def read(self) -> Record | None:
        """Return the record, or None."""

    def write(self, change: RecordChange) -> Record:
        """Take a step and return the record after it."""


class Entry(t.NamedTuple):
    """One method in a record."""

    state: str
    before: Values | None
    options: Values
    boot_id: str | None
    since: str | None
    error: str | None

    @property
    def untouched(self) -> bool:
        """Whether nothing was changed yet: a method that failed before it found anything has not begun."""
        return self.state in BEFORE_ANYTHING or self.before is None


def entry_of(record: Record | None, identifier: str) -> Entry:
    """Return the entry of a method; one with state new where there is none."""
    for method in record["methods"] if record else ():
        if method["id"] == identifier:
            return Entry(
                method.get("state") or "new", method.get("before"), method.get("options") or {}, method.get("boot_id"), method.get("at"), method.get("error")
            )
    return Entry("new", None, {}, None, None, None)


def resources_of(event: Values) -> list[str]:
    """Return the VMs that an event names."""
    resources = event.get("resources")
    return [_text(one) for one in resources] if isinstance(resources, (list, tuple)) else []


def environment_of(event: Values, deadline: str | None) -> dict[str, str]:
    """Return the environment of an operator's commands. Texts, whatever they look like."""
    return {
        "MAINTENANCE_EVENT_ID": _text(event.get("event_id")),
        "MAINTENANCE_EVENT_TYPE": _text(event.get("event_type")),
        "MAINTENANCE_EVENT_STATUS": _text(event.get("event_status")),
        "MAINTENANCE_EVENT_NOT_BEFORE": _text(event.get("not_before")),
        "MAINTENANCE_EVENT_DESCRIPTION": _text(event.get("description")),
        "MAINTENANCE_EVENT_RESOURCES": ",".join(resources_of(event)),
        "MAINTENANCE_EVENT_DEADLINE": _text(deadline),
    }


def seconds_left(event: Values, now: str) -> str:
    """Return the whole seconds from ``now`` to the event's NotBefore, for MAINTENANCE_SECONDS_LEFT: 0 once it has passed, empty where it is not known."""
    left = seconds_between(now, event.get("not_before"))
    return "" if left is None else str(max(0, int(left)))


def _text(value: t.Any) -> str:
    # No environment can hold a zero byte.
    return "" if value is None else str(value).replace("\0", "")
