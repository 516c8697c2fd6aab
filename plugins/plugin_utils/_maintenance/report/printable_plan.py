# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Make the sentences of a plan printable, in one place. Data stays as received, since it is sent or written: ids, events and changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....module_utils._scheduled_events.core.printable_text import LONGEST_NAME, LONGEST_TEXT, printable
from ....module_utils._scheduled_events.core.types import Data

NAMES = frozenset(("event_id", "event_type", "event_status", "event_source", "host", "method", "state", "run", "who", "name"))
# Longer numbers are not times or counts, and Python refuses to format the longest.
LARGEST = 10**30


def screened(found: Data) -> Data:
    """Make the sentences of a plan or of the gate's answer printable. Change it in place: the caller has just built it."""
    _make_printable(found.get("paused") or {}, "who", "why", "line")
    for entry in found.get("events", ()):
        _make_printable(entry, "reason", "next")
        _make_blockers_printable(entry["blockers"])
        entry["remarks"][:] = [sentence(line) for line in entry["remarks"]]
        _make_printable(entry["decision"] or {}, "text", "why")
        for participant in entry["parts"]:
            _make_printable(participant, "reason")
            _make_blockers_printable(participant["blockers"])
            for change in participant["changed"]:
                _make_printable(change, "error", "by_hand")
    for action in found.get("actions", ()):
        _make_printable(action, "reason")
    for item in (*found.get("failed", ()), *found.get("blockers", ())):
        _make_printable(item, "reason", "text")
    for about in found.get("hosts", {}).values():
        _make_printable(about, "error")
    for group in found.get("capacity", ()):
        _make_printable(group, "held", "doubted", "holds_nothing", "alike")
        _make_printable(group["out"], *group["out"])
    summary = found.get("summary", {})
    for lines in (found.get("why"), found.get("fails"), *(summary.get(key) for key in ("problems", "retired", "wrong_settings"))):
        if isinstance(lines, list):
            lines[:] = [sentence(line) for line in lines]
    _make_printable(found.get("requeue", {}), "why")
    _make_printable(found, "why", "never")
    return found


def _make_blockers_printable(blockers: list[Data]) -> None:
    for blocker in blockers:
        _make_printable(blocker, "text", "detail", "way_out")
        blocker["subjects"] = [sentence(one) for one in blocker["subjects"]]


def _make_printable(where: Data, *keys: str) -> None:
    for key in keys:
        if where.get(key):
            where[key] = sentence(where[key])


def sentence(value: Any) -> Any:
    """Return a printable reason; white space is replaced by a text. Return a value that is not text unchanged."""
    return (printable(value) or "no reason given") if isinstance(value, str) else value


def shown(value: Any, key: str = "") -> Any:
    """Return a plain copy for display: all its text, keys included, is printable."""
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, str):
        return printable(value, LONGEST_NAME if key in NAMES else LONGEST_TEXT)
    if isinstance(value, int):
        return int(value) if -LARGEST < value < LARGEST else printable(value, LONGEST_NAME)
    if isinstance(value, Mapping):
        return {printable(name, LONGEST_NAME): shown(item, str(name)) for name, item in value.items()}
    if isinstance(value, (Sequence, set, frozenset)) and not isinstance(value, (bytes, bytearray)):
        return [shown(item, key) for item in value]
    return printable(value)
