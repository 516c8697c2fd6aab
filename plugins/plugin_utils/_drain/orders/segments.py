# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Cut the methods of a drain or an undo into what one run of maintenance_act takes, and what role drain takes as tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from ..settings.catalogue import runs_on_vm
from .failovers import needs_failover
from .method_orders import MethodOrder


class Segment(TypedDict):
    """Methods that follow one another."""

    on_vm: bool
    """Whether maintenance_act takes them, all at once; otherwise it is one method, and role drain includes its tasks."""
    methods: list[MethodOrder]
    last: bool
    """Whether no method follows."""


def segments(orders: Sequence[MethodOrder], system: str) -> list[Segment]:
    """Return the segments in order.

    A method that changes something outside the VM stands alone, because its finding is copied before it acts, and so does one that another host
    may have to act for.
    """
    found: list[Segment] = []
    for order in orders:
        on_vm = is_on_vm(order, system)
        present = found[-1] if found else None
        if present is not None and on_vm and present["on_vm"] and not stops(order) and not stops(present["methods"][-1]):
            present["methods"].append(order)
        else:
            found.append({"on_vm": on_vm, "methods": [order], "last": False})
    if found:
        found[-1]["last"] = True
    return found


def stops(order: MethodOrder) -> bool:
    """Return whether a drain stops between what the method finds and what it does, so that something is done elsewhere."""
    return order["outside"] or needs_failover(order)


def is_on_vm(order: MethodOrder, system: str) -> bool:
    """Return whether the engine takes a method. What is only reported it records, too."""
    return runs_on_vm(order["kind"], system) or not order["runs"]
