# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""The messages of event source scheduled_events about an endpoint that does not answer, and that answers again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from ....module_utils._scheduled_events.core.printable_text import printable
from ....module_utils._scheduled_events.watch.message import ID_DIGITS, VM_FIELDS, source_of

FAILING = "failing"
ANSWERING = "answering"
ENDPOINT_PREFIX = "maintenance.azure.endpoint."
ENDPOINT_TYPES = {ENDPOINT_PREFIX + change: change for change in (FAILING, ANSWERING)}


def endpoint_message(change: str, vm: Mapping[str, str | None], problem: str | None, noticed_at: str) -> dict[str, Any]:
    """Return the message, in the form of those about events."""
    source = source_of(vm)
    return {
        "specversion": "1.0",
        "id": hashlib.sha256(f"{source.lower()} {change} {noticed_at}".encode()).hexdigest()[:ID_DIGITS],
        "source": source,
        "type": ENDPOINT_PREFIX + change,
        "time": noticed_at,
        "datacontenttype": "application/json",
        "data": {
            "vm": {field: vm.get(field) for field in VM_FIELDS},
            "problem": None if problem is None else printable(problem),
            "noticed_at": noticed_at,
        },
    }
