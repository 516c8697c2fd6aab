# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Find new phases of events in the records that modules return. A VM's records count for that VM only."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, NamedTuple

from ...module_utils._scheduled_events.core.names import folded
from ...module_utils._scheduled_events.core.printable_text import printable
from ...module_utils._scheduled_events.core.types import Values
from .._core import plain_values
from .._core.short_forms import ending, short_id

# Lines for one result. A VM that makes up phases must not fill the screen.
MOST_LINES = 20
LONGEST_HOST, LONGEST_DETAIL = 40, 300
PHASE_WIDTH, LONGEST_PHASE = len("recovering"), 40
# Phases that are printed with their reason.
EXPLAINED = ("draining", "drained", "recovering", "failed", "held")

Entry = tuple[str, str]


class PhaseLine(NamedTuple):
    """A line to print, and the phase that it is about."""

    text: str
    phase: str


class Phases:
    """The phases of every VM that are known, and so are not printed again."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, set[Entry]]] = {}
        self._observed: set[str] = set()
        self._width = 0

    def news(self, host: str, result: Values) -> list[PhaseLine]:
        """Return a line for each phase that is new. The first observation of a VM shows only what was there before."""
        self._width = max(self._width, len(printable(host, LONGEST_HOST)))
        is_observation = isinstance(result.get("records"), (list, tuple))
        is_first = is_observation and host not in self._observed
        lines: list[PhaseLine] = []
        for record in _records(result):
            found = self._new_phases(host, record)
            lines += [] if is_first else self._lines(host, record, found)
        if is_observation:
            self._observed.add(host)
        if len(lines) > MOST_LINES:
            rest = PhaseLine(f"{printable(host, LONGEST_HOST)}: {len(lines) - MOST_LINES} more phases, not shown here", "")
            return [*lines[:MOST_LINES], rest]
        return lines

    def _new_phases(self, host: str, record: Values) -> list[str]:
        events = self._known.setdefault(host, {})
        key = folded(_event_id(record))
        history = [(plain_values.text(entry.get("phase")) or "", plain_values.text(entry.get("at")) or "") for entry in _mappings(record.get("history"))]
        if key in events or host in self._observed:
            found = [phase for phase, at in history if (phase, at) not in events.get(key, ())]
        else:
            # A record from before this run: only its present phase is news.
            found = [phase for phase, _at in history[-1:]]
        events[key] = set(history)
        return found

    def _lines(self, host: str, record: Values, phases: list[str]) -> list[PhaseLine]:
        name = printable(host, LONGEST_HOST).ljust(self._width)
        event_id = short_id(_event_id(record))
        lines = []
        for place, phase in enumerate(phases, start=1):
            # The record has the reason of its present phase only.
            detail = _detail(record, phase, is_present=place == len(phases))
            shown = printable(phase, LONGEST_PHASE)
            lines.append(PhaseLine(f"{name}  {event_id}  {shown:<{PHASE_WIDTH}}  {f'({detail})' if detail else ''}".rstrip(), phase))
        return lines


def _records(result: Values) -> Iterator[Values]:
    """Return the records in a result: those that actions wrote, and those that were observed afterwards. A replica is another VM's."""
    yield from _mappings([result.get("record")])
    own = (one for one in _mappings(result.get("results")) if one.get("action") != "replicate")
    yield from (record for one in own for record in _mappings([one.get("record")]))
    yield from _mappings(result.get("records"))


def _mappings(value: Any) -> list[Values]:
    return [item for item in plain_values.items(value) if isinstance(item, Mapping)]


def _event_id(record: Values) -> str:
    return plain_values.text(plain_values.mapping(record.get("event")).get("event_id")) or "?"


def _detail(record: Values, phase: str, is_present: bool) -> str:
    if phase == "noticed":
        event = plain_values.mapping(record.get("event"))
        due = plain_values.text(event.get("not_before"))
        found = [plain_values.text(event.get("event_type")) or "unknown type", *([f"not before {due}"] if due else [])]
    elif phase == "gone":
        found = [ending(plain_values.text(record.get("outcome")))]
    else:
        found = _reasons(record) if is_present and phase in EXPLAINED else []
    return printable(", ".join(filter(None, found)), LONGEST_DETAIL)


def _reasons(record: Values) -> list[str]:
    """Return the reason of the record's phase, or the errors of its methods."""
    if reason := plain_values.text(record.get("reason")):
        return [reason]
    errors = ((plain_values.text(method.get("id")), plain_values.text(method.get("error"))) for method in _mappings(record.get("methods")))
    return [f"{name or '?'}: {error}" for name, error in errors if error]


# --- Repeated messages: a waiting run reports its reason in each iteration -----------------------------------------------


WAITED = re.compile(r"\bWaited \d+ s so far\b")
# Separate numbers count up while nothing changes. Numbers in names, ids and addresses do not.
COUNT = re.compile(r"(?<![\w.:-])\d+(?![\w:-]|\.\d)")


class Repeats:
    """The last message about each subject."""

    def __init__(self) -> None:
        self._last: dict[Hashable, str] = {}

    def is_new(self, subject: Hashable, text: str) -> bool:
        """Return whether the text differs from the last one about the subject; of a wait, whether its reason does."""
        present = COUNT.sub("#", text) if WAITED.search(text) else text
        is_new = self._last.get(subject) != present
        self._last[subject] = present
        return is_new

    def forget(self, subject: Hashable) -> None:
        """Let the next message about the subject be new."""
        self._last.pop(subject, None)

    def clear(self) -> None:
        """Let the next message about every subject be new."""
        self._last.clear()
