# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The batches of an upgrade: a number of VMs at a time, or one fault domain, update domain or zone at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..._core import plain_values

KINDS = ("serial", "fault_domain", "update_domain", "zone")


class BatchError(ValueError):
    """The batches cannot be built; the message says why."""


def make_batches(hosts: Any, by: Any = "serial", serial: Any = None, places: Any = None, first: Any = ()) -> list[list[str]]:
    """Return batches of all hosts, each host once. No batch has VMs of two domains, and a domain ends before the next one begins.

    Hosts in ``first`` (already begun) come first, in batches of their own: they may be unavailable and use up the disruption budget.
    """
    names = plain_values.texts(hosts)
    if len(names) != len(plain_values.items(hosts)):
        raise BatchError(f"hosts must be a list of inventory hosts, not {hosts!r}")
    names = list(dict.fromkeys(names))
    kind = plain_values.text(by)
    if kind not in KINDS:
        raise BatchError(f"by must be one of {', '.join(KINDS)}, not {by!r}")
    begun = set(plain_values.texts(first))
    if kind == "serial":
        domains = [(names, _sizes(serial if serial is not None else 1, len(names)))]
    else:
        domains = [(domain, _sizes(serial or "100%", len(domain))) for domain in _domains(names, kind, plain_values.mapping(places))]
    ahead = [batch for domain, sizes in domains for batch in _cut([name for name in domain if name in begun], sizes)]
    return ahead + [batch for domain, sizes in domains for batch in _cut([name for name in domain if name not in begun], sizes)]


def _domains(names: Sequence[str], kind: str, places: Mapping[str, Any]) -> list[list[str]]:
    """Return the VMs of each domain, sorted by its number. A VM without a known domain is a batch of its own: it may be in any."""
    found: dict[str, list[str]] = {}
    alone = []
    for name in names:
        place = plain_values.text(plain_values.mapping(places.get(name)).get(kind))
        if place is None:
            alone.append([name])
        else:
            found.setdefault(place, []).append(name)
    if names and not found:
        raise BatchError(f"no VM says in which {kind.replace('_', ' ')} it is; VMs that stand alone, and those in zones, have none. Take serial instead")
    return [found[place] for place in sorted(found, key=_order)] + alone


def _order(place: str) -> tuple[int, str]:
    # Azure has no longer numbers, and Python refuses to parse very long ones.
    return (int(place), place) if place.isdecimal() and len(place) < 10 else (2**31, place)


def _cut(names: Sequence[str], sizes: Sequence[int]) -> list[list[str]]:
    """Repeat the last size, as Ansible's own serial does."""
    batches, at, place = [], 0, 0
    while at < len(names):
        size = sizes[min(place, len(sizes) - 1)]
        batches.append(list(names[at : at + size]))
        at, place = at + size, place + 1
    return batches


def _sizes(given: Any, total: int) -> list[int]:
    """Parse sizes as Ansible's serial does: a number, a percentage, or a list of them. At least one VM each."""
    items = list(plain_values.items(given)) or [given]
    return [_size(item, total) for item in items]


def _size(given: Any, total: int) -> int:
    text = "" if isinstance(given, bool) else str(given).strip()
    number = plain_values.number(text.removesuffix("%"))
    if number is None or number <= 0 or (text.endswith("%") and number > 100) or (not text.endswith("%") and number != int(number)):
        raise BatchError(f"serial must be a number of VMs, a percentage such as '25%', or a list of such, not {given!r}")
    return max(1, math.floor(total * number / 100)) if text.endswith("%") else int(number)
