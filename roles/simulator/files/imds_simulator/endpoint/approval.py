# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Parse the body of a POST: ``{"StartRequests": [{"EventId": "..."}]}``, in any Content-Type; other keys are ignored."""

from __future__ import annotations

import json
from typing import List


class MalformedApproval(ValueError):
    """The body names no events."""


def parse_approval(body: bytes) -> List[str]:
    """Return EventIds in order. Ignore the preview's DocumentIncarnation, text or number. Raise MalformedApproval."""
    try:
        value = json.loads(body.decode("utf-8-sig"))
    except ValueError:
        raise MalformedApproval("the body is not JSON") from None
    requests = value.get("StartRequests") if isinstance(value, dict) else None
    if not isinstance(requests, list) or not requests:
        raise MalformedApproval("StartRequests is not a list with at least one entry")
    ids = [entry.get("EventId") if isinstance(entry, dict) else None for entry in requests]
    if not all(isinstance(event_id, str) and event_id for event_id in ids):
        raise MalformedApproval("a StartRequest has no EventId")
    return [str(event_id) for event_id in ids]
