# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shapes that travel, for tests on both sides: an event, a record and a method in it. Their keys are the schema's; a test gives what it is about."""

from __future__ import annotations

import typing as t

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import empty_method, empty_record


def event(event_id: str = "E1", /, *, resources: t.Sequence[str] = ("vm1",), **more: t.Any) -> dict[str, t.Any]:
    """An event as a module returns it."""
    found = {
        "event_id": event_id,
        "event_type": "Reboot",
        "event_status": "Scheduled",
        "event_source": "Platform",
        "resource_type": "VirtualMachine",
        "resources": list(resources),
        "not_before": None,
        "description": "text",
        "duration_in_seconds": -1,
        "affects_this_vm": True,
    }
    return {**found, **more}


def method(kind: str = "service", state: str = "drained", /, **more: t.Any) -> dict[str, t.Any]:
    """A drain method in a record: the first one of the VM's list."""
    given = {"method": kind, "state": state, "boot_id": "boot", "before": {}, "options": {}, "outside": False}
    return {**empty_method(f"1-{kind}"), **given, **more}


def record(
    phase: str = "drained", /, *methods: dict[str, t.Any], event_id: str = "E1", entries: t.Sequence[tuple[str, str]] = (), **more: t.Any
) -> dict[str, t.Any]:
    """A record in a phase; entries are the phases and times of its history."""
    history = [{"phase": entered, "at": when} for entered, when in entries]
    return {**empty_record(event_id), "phase": phase, "history": history, "methods": list(methods), **more}
