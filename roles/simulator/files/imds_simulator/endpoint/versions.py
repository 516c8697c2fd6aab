# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The api-versions: what each one shows, and which ones instance metadata supports."""

from __future__ import annotations

from typing import Dict, List, Tuple

PREVIEW = "2017-03-01"

EVENT_VERSIONS: Tuple[str, ...] = (
    PREVIEW,
    "2017-08-01",
    "2017-11-01",
    "2019-01-01",
    "2019-04-01",
    "2019-08-01",
    "2020-07-01",
)

# Event types and fields, with the first api-version that has them. A type that is not listed is newer than all versions.
_TYPE_SINCE: Dict[str, str] = {
    "Reboot": PREVIEW,
    "Redeploy": PREVIEW,
    "Freeze": PREVIEW,
    "Preempt": "2017-11-01",
    "Terminate": "2019-01-01",
}
_FIELD_SINCE: Dict[str, str] = {
    "Description": "2019-04-01",
    "EventSource": "2019-08-01",
    "DurationInSeconds": "2020-07-01",
}

INSTANCE_VERSIONS: Tuple[str, ...] = (
    "2017-03-01", "2017-04-02", "2017-08-01", "2017-10-01", "2017-12-01",
    "2018-02-01", "2018-04-02", "2018-10-01",
    "2019-02-01", "2019-03-11", "2019-04-30", "2019-06-01", "2019-06-04", "2019-08-01", "2019-08-15", "2019-11-01",
    "2020-06-01", "2020-07-15", "2020-09-01", "2020-10-01", "2020-12-01",
    "2021-01-01", "2021-02-01", "2021-03-01", "2021-05-01", "2021-08-01", "2021-10-01", "2021-11-01", "2021-11-15", "2021-12-13",
    "2023-07-01", "2023-11-15",
    "2024-03-15", "2024-07-17",
    "2025-04-07",
)  # fmt: skip


def shows_type(version: str, event_type: str) -> bool:
    """Return whether a version shows the event type; older versions hide newer types."""
    return version >= _TYPE_SINCE.get(event_type, EVENT_VERSIONS[-1])


def has_field(version: str, field: str) -> bool:
    """Return whether a version has the field."""
    return version >= _FIELD_SINCE.get(field, PREVIEW)


def resource_names(version: str, names: List[str]) -> List[str]:
    """Return the names as the version shows them: the preview prefixes VM names with an underscore."""
    return ["_" + name for name in names] if version == PREVIEW else list(names)
