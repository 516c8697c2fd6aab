# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Short forms of ids and of lists, words for a record's values, and suggestions, for messages."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from ...module_utils._scheduled_events.core.printable_text import printable

GUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
LONGEST = 40


def short_id(event_id: str) -> str:
    """Return the beginning of a GUID, which distinguishes events well enough in a line; any other id as a whole."""
    return event_id[:8] if GUID.fullmatch(event_id) else printable(event_id, LONGEST)


def some(names: Sequence[str], most: int, count: int | None = None) -> str:
    """Return the first names, and how many more there are: of C(count) names, where not all of them are given."""
    more = (len(names) if count is None else count) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def grouped(faults: Iterable[tuple[str, Iterable[str]]], most: int = 12) -> list[str]:
    """Return one line for each fault, with the names that have it. C(faults) has pairs of a name and its faults."""
    found: dict[str, list[str]] = {}
    for name, of_one in faults:
        for fault in of_one:
            found.setdefault(fault, []).append(name)
    return [f"{some(names, most)}: {fault}" for fault, names in found.items()]


def suggestion(given: str, names: Iterable[str]) -> str:
    """Return the name that was probably meant as a question in brackets, to append to a name; empty where none is similar."""
    known = list(names)
    longer = [name for name in known if name.startswith(given)] if given else []
    # The only name that begins so is meant, also where another one has more letters in common: user is username, and not cluster.
    found = longer if len(longer) == 1 else difflib.get_close_matches(given, known, n=1, cutoff=0.65)
    return f" (did you mean {found[0]}?)" if found else ""


def ending(outcome: str | None) -> str:
    """Return how an event ended, in words for operators; empty for one that has not. A record keeps C(unknown) where no VM saw a start or an approval."""
    return "not known whether it took place" if outcome == "unknown" else outcome or ""
