# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Mend what is wrong within a record that can be understood, so that it can be written again and the VM comes back. Pure functions.

The next write stores what was mended. What would change the meaning (an unknown phase, a decision that is none) is not mended here.
"""

from __future__ import annotations

import hashlib
import re
import typing as t

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.limits import (
    HISTORY_FIRST,
    HISTORY_LAST,
    METHODS,
    TEXT,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import utc_seconds

METHOD_KEYS = ("id", "method", "options", "before", "state", "boot_id", "at", "error", "outside")
METHOD_STATES = ("found", "begun", "drained", "failed", "undoing", "undone")
# The id that a method gets where it has no name of its own: its number and its kind.
USUAL_ID = re.compile(r"[0-9]+-([a-z_]{1,40})")
CUT = " ..."


def whole_within(value: t.Any, low: int, high: int) -> int | None:
    """A whole number within its limits; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if low <= value <= high else None


def short_text(value: t.Any) -> str | None:
    """A text, cut at its limit; None for anything else."""
    if not isinstance(value, str):
        return None
    # Half of a surrogate pair cannot be printed or sent on.
    plain = value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    return plain if len(plain) <= TEXT else plain[: TEXT - len(CUT)] + CUT


def repaired_texts(record: dict[str, t.Any], keys: t.Iterable[str], times: t.Collection[str]) -> None:
    """Cut what is too long, and forget a time that is none: what is told by it is then looked at afresh."""
    for key in keys:
        value = record[key]
        if isinstance(value, str):
            record[key] = None if key in times and utc_seconds(value) is None else short_text(value)


def repaired_event(event: dict[str, t.Any], keys: t.Iterable[str]) -> dict[str, t.Any]:
    """The event with nothing in it that a write would refuse. Its id is the record's name, and stays."""
    for key in keys:
        if key == "duration_in_seconds":
            event[key] = whole_within(event[key], -(10**9), 10**9)
        elif key == "resources":
            if isinstance(event[key], list):
                event[key] = [name for name in map(short_text, event[key]) if name is not None]
        elif key != "event_id":
            event[key] = short_text(event[key])
    return event


def repaired_history(history: list[dict[str, t.Any]]) -> list[dict[str, t.Any]]:
    """Without entries whose time is none, which nothing could be counted from, and no longer than a write leaves it."""
    kept = [{"phase": item["phase"], "at": item["at"]} for item in history if utc_seconds(item["at"]) is not None]
    return kept if len(kept) <= HISTORY_FIRST + HISTORY_LAST else kept[:HISTORY_FIRST] + kept[-HISTORY_LAST:]


def repaired_lineage(lineage: t.Any, content: bytes) -> list[str]:
    """The writes that a file builds on. One that names none gets a name from its content, the same for every reader.

    Without it the next revision could not say that it builds on this one, and would count for a stranger's for ever.
    """
    names = [name for name in lineage if isinstance(name, str) and 0 < len(name) <= 64] if isinstance(lineage, list) else []
    return names if names and len(names) == len(lineage) else ["file-" + hashlib.sha256(content).hexdigest()[:12]]


def repaired_methods(methods: list[dict[str, t.Any]]) -> list[dict[str, t.Any]]:
    """Every method with all its keys, each id once: of two the first counts, as in every write."""
    found: dict[str, dict[str, t.Any]] = {}
    for number, method in enumerate(methods[:METHODS], 1):
        mended = _repaired_method(method, number)
        found.setdefault(mended["id"], mended)
    return list(found.values())


def _repaired_method(given: dict[str, t.Any], number: int) -> dict[str, t.Any]:
    method = {key: given.get(key) for key in METHOD_KEYS}
    method["id"] = short_text(given.get("id")) or f"{number}-unnamed"
    for key in ("options", "before"):
        method[key] = method[key] if isinstance(method[key], dict) else None
    for key in ("method", "boot_id", "at", "error"):
        method[key] = short_text(method[key]) or None
    method["outside"] = method["outside"] if isinstance(method["outside"], bool) else None
    if utc_seconds(method["at"]) is None:
        method["at"] = None
    if not isinstance(method["state"], str) or method["state"] not in METHOD_STATES:
        # It may have acted, so it is to be undone.
        method["state"] = "begun"
    if method["method"] is None:
        _name_method(method)
    return method


def _name_method(method: dict[str, t.Any]) -> None:
    usual = USUAL_ID.fullmatch(method["id"])
    if usual and usual.group(1) != "unnamed":
        method["method"] = usual.group(1)
        return
    # Nobody can undo what says neither what it is nor, by its id, which one of those that are configured.
    method.update(
        method="unknown", state="undone", error="The record did not say which drain method this was: nothing was undone. Look at what it may have changed."
    )
