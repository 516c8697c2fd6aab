# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which configured method a record means. A record chooses among the methods of its own host, and brings nothing along."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._core import plain_values
from ..settings.configured import HAPROXY, KIND, NAME, Configured, is_local
from .findings import HAProxyFinding, Place, data, read_haproxy


@dataclass(frozen=True, slots=True)
class Recorded:
    """One method of a record."""

    identifier: str
    kind: str
    state: str
    outside: bool
    options: Mapping[str, Any]
    before: Any

    @property
    def well_named(self) -> bool:
        """Whether name and kind are what this collection writes."""
        return NAME.fullmatch(self.identifier) is not None and KIND.fullmatch(self.kind) is not None

    @property
    def untouched(self) -> bool:
        """Whether it never got as far as finding something."""
        return self.before is None

    @property
    def has_default_name(self) -> bool:
        """Whether its name says no more than its place and its kind."""
        number, _dash, kind = self.identifier.partition("-")
        return number.isdecimal() and kind == self.kind


def read_recorded(record: Any) -> tuple[Recorded, ...]:
    """All methods of a record in the order in which they began, each name once."""
    found: dict[str, Recorded] = {}
    for item in plain_values.items(plain_values.mapping(record).get("methods")):
        given = plain_values.mapping(item)
        identifier = plain_values.text(given.get("id")) or "?"
        one = Recorded(
            identifier=identifier,
            kind=plain_values.text(given.get("method")) or "?",
            state=plain_values.text(given.get("state")) or "found",
            outside=plain_values.flag(given.get("outside")) is True,
            options=data(plain_values.mapping(given.get("options"))),
            before=given.get("before"),
        )
        found.setdefault(identifier, one)
    return tuple(found.values())


def acts_elsewhere(one: Recorded, system: str) -> bool:
    """Whether its undo reaches further than its own VM, so that the variables rule it."""
    return one.outside or not is_local(one.kind, system)


def match(one: Recorded, recorded: Iterable[Recorded], entries: Sequence[Configured], host: str) -> Configured | None:
    """Find the configured method that a recorded one was, by name and kind.

    A name that is only a number and a kind says nothing once the order has changed. Then the options decide, or, for HAProxy, the
    servers; where several methods of a kind could be meant, none is.
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
    finding = read_haproxy(one.before) if one.kind == HAPROXY else None
    if finding is not None:
        return max((entry for entry in free if covered(finding, entry, host)), key=lambda entry: len(covered(finding, entry, host)), default=None)
    unnamed = [entry for entry in free if not entry.named]
    peers = [other for other in recorded if other.kind == one.kind and other.has_default_name]
    return unnamed[0] if len(unnamed) == 1 and len(peers) == 1 else None


def _only(entries: Sequence[Configured]) -> Configured | None:
    """The entry, where all are the same."""
    return entries[0] if all(entry.given == entries[0].given for entry in entries) else None


def _same_options(recorded: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    return bool(given) and all(key in recorded and _form(recorded[key]) == _form(value) for key, value in given.items())


def _form(value: Any) -> Any:
    """Numbers as text, as templates of ansible-core 2.18 leave them."""
    if isinstance(value, Mapping):
        return {str(key): _form(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_form(item) for item in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


def server_of(entry: Configured, host: str) -> str:
    """The name that the variables give a host's server in HAProxy."""
    return plain_values.text(entry.given.get("server")) or host


def covered(finding: HAProxyFinding, entry: Configured, host: str) -> tuple[Place, ...]:
    """The places of a finding that an entry of the variables names, too."""
    if server_of(entry, host) != finding.server:
        return ()
    balancers = frozenset(plain_values.texts(entry.given.get("balancers")))
    backends = frozenset(plain_values.texts(entry.given.get("backends")))
    return tuple(place for place in finding.places if place.balancer in balancers and (not backends or place.backend in backends))
