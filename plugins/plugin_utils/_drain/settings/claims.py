# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Whose it is: what the entries of several hosts take for their own outside of them. A drain of one host must not take out another one's server."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ....module_utils._scheduled_events.core.types import Values
from ..._core import plain_values
from ..._core.short_forms import some
from ..kinds.kind import Claim
from ..kinds.registry import kind_of

SHOWN = 6


class Conflict(NamedTuple):
    """What several hosts take for their own."""

    name: str
    hosts: tuple[str, ...]
    text: str
    warns: bool
    """Whether it may be in order, as in several clusters."""


def conflicts(methods: Values) -> list[Conflict]:
    """Return what several hosts claim, from the drain methods of each host. What is the same in several places is one conflict."""
    claimed: dict[tuple[str, Claim], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for host, method, claim in _claims(methods):
        for part in claim.parts or ("",):
            claimed[method, claim._replace(parts=())][part].add(host)
    found: dict[tuple[str, str, tuple[str, ...]], list[Claim]] = defaultdict(list)
    for (method, claim), by_part in claimed.items():
        # What one claims as a whole is also that of those who claim a part.
        hosts = {host for of_part in by_part.values() if "" in by_part or len(of_part) > 1 for host in of_part}
        if len(hosts) > 1:
            found[method, claim.name, tuple(sorted(hosts))].append(claim)
    return [Conflict(name, hosts, _text(method, hosts, same), same[0].warns) for (method, name, hosts), same in found.items()]


def names(methods: Values) -> set[str]:
    """Return what these hosts claim, by name."""
    return {claim.name for _host, _method, claim in _claims(methods)}


def _claims(methods: Values) -> Iterator[tuple[str, str, Claim]]:
    """Return each claim with its host and method."""
    for host, entries in methods.items():
        for entry in map(plain_values.mapping, plain_values.items(entries)):
            method = plain_values.text(entry.get("method")) or ""
            yield from ((host, method, claim) for claim in kind_of(method).claims(entry, host))


def _text(method: str, hosts: Sequence[str], claims: Sequence[Claim]) -> str:
    option, places = claims[0].option, some([claim.place for claim in claims], SHOWN)
    who = f"{some(hosts, SHOWN)} have the same {option} {claims[0].name}{places and f' {places}'} in drain_methods ({method})"
    if claims[0].warns:
        return f"{who}. Correct {option}, or name the cluster of each (cluster)."
    return f"{who}, so that a drain of one would take out another: give each its own {option}, or remove {option} from the group's variables."
