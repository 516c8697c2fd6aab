# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages as a watcher sends them."""

from __future__ import annotations

import time
import typing as t
import uuid

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.changes import Change
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.message import cloud_event

EVENTS = [str(uuid.UUID(int=number, version=4)) for number in range(1, 20)]


def message(event_id: str, vm: str = "web1", kind: str = "listed", status: str = "Scheduled", **fields: t.Any) -> dict[str, t.Any]:
    event = {
        "event_id": event_id.upper(),
        "event_type": "Reboot",
        "event_status": status,
        "resource_type": "VirtualMachine",
        "resources": [vm],
        "not_before": "2026-11-25T00:15:00Z",
        "description": "a test",
        "event_source": "Platform",
        "duration_in_seconds": -1,
        **fields,
    }
    return cloud_event(Change(kind, event), {"name": vm}, 1, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
