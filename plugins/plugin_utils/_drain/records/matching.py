# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Which configured method a record means. A record chooses among the methods of its own host, and brings nothing along."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ....module_utils._scheduled_events.core.names import folded
from ....module_utils._scheduled_events.core.types import Values
from ....module_utils._scheduled_events.journal.record_schema import METHOD_KINDS, METHOD_STATES
from ....module_utils._scheduled_events.journal.recorded import Recorded, method_of
from ..._core import plain_values
from ..kinds.findings import data
from ..kinds.kind import KindInParts
from ..kinds.registry import kind_of
from ..settings.configured import KIND, NAME, Configured


def is_well_named(one: Recorded) -> bool:
    """Whether name and kind are what this collection writes."""
    return NAME.fullmatch(one.identifier) is not None and KIND.fullmatch(one.kind) is not None


def read_recorded(record: Any) -> tuple[Recorded, ...]:
    """All methods of a record in the order in which they began, each name once."""
    found: dict[str, Recorded] = {}
    for item in plain_values.items(plain_values.mapping(record).get("methods")):
        one = read_method(item)
        found.setdefault(one.identifier, one._replace(options=data(one.options)))
    return tuple(found.values())


def find_record(records: Iterable[Values], event_id: Any) -> Values:
    """Return the record of an event, or an empty one. As in the names of the files: ids compare without case."""
    wanted = folded(event_id)
    return next((record for record in records if folded(plain_values.mapping(record.get("event")).get("event_id")) == wanted), {})


def read_method(item: Any) -> Recorded:
    """One method of a record that may hold anything."""
    given = plain_values.mapping(item)
    values = {key: READERS[kind](given.get(key)) for key, kind in METHOD_KINDS.items()}
    # One in an unknown state may have acted, as the VM's own store reads it.
    state = values["state"] if values["state"] in METHOD_STATES else "begun"
    finding = plain_values.plain(given.get("before"))
    return method_of({**values, "id": values["id"] or "?", "method": values["method"] or "?", "state": state, "before": finding})


READERS: Mapping[str, Callable[[Any], Any]] = {
    "text": plain_values.text,
    "time": plain_values.text,
    "state": lambda value: plain_values.text(value) or "found",
    "flag": lambda value: plain_values.flag(value) is True,
    "object": lambda value: plain_values.plain(plain_values.mapping(value)),
}


def acts_elsewhere(one: Recorded, system: str) -> bool:
    """Whether its undo reaches further than its own VM, so that the variables rule it."""
    return one.outside or not kind_of(one.kind).is_local(system)


def match(one: Recorded, recorded: Iterable[Recorded], entries: Sequence[Configured], host: str) -> Configured | None:
    """Find the configured method that a recorded one was, by name and kind.

    A name that is only a number and a kind says nothing once the order has changed. Then the options decide, or the parts that were
    found; where several methods of a kind could be meant, none is.
    """
    same = [entry for entry in entries if entry.kind == one.kind]
    named = next((entry for entry in same if entry.named and entry.name == one.identifier), None)
    if named is not None or not one.has_default_name:
        return named
    recorded = list(recorded)
    others = {other.identifier for other in recorded if other is not one}
    free = [entry for entry in same if not (entry.named and entry.name in others)]
    equal = [entry for entry in free if _same_options(one.options, entry.given)]
    if equal:
        return _only(equal) or next((entry for entry in equal if entry.name == one.identifier), None)
    kind = kind_of(one.kind)
    parts = kind.parts(one.before) if isinstance(kind, KindInParts) else None
    if isinstance(kind, KindInParts) and parts is not None:
        counts = [(len(kind.named(parts, entry.given, host)), entry) for entry in free]
        return max((count for count in counts if count[0]), key=lambda count: count[0], default=(0, None))[1]
    unnamed = [entry for entry in free if not entry.named]
    peers = [other for other in recorded if other.kind == one.kind and other.has_default_name]
    return unnamed[0] if len(unnamed) == 1 and len(peers) == 1 else None


def _only(entries: Sequence[Configured]) -> Configured | None:
    """The entry, where all are the same."""
    return entries[0] if all(entry.given == entries[0].given for entry in entries) else None


def _same_options(recorded: Values, given: Values) -> bool:
    return bool(given) and all(key in recorded and _form(recorded[key]) == _form(value) for key, value in given.items())


def _form(value: Any) -> Any:
    """Numbers as text, as templates of ansible-core 2.18 leave them."""
    if isinstance(value, Mapping):
        return {str(key): _form(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_form(item) for item in value]
    return str(value).lower() if isinstance(value, bool) else str(value)
