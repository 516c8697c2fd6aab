# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be undone from here, in words that say what to do by hand. Texts of records are quoted where they are no plain names.

What a record says beyond the variables of its VM may have been planted there: it is named as what the record says, and no command and no setting that an
operator could paste is made of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..settings.configured import Configured
from .findings import Place, shown
from .matching import Recorded

MOST_PLACES = 5


def malformed(one: Recorded, host: str) -> str:
    """A method of a record that this collection did not write like this."""
    return (
        f"{host}: the record has a method {shown(one.identifier)} of kind {shown(one.kind)} whose name or finding is malformed; nothing was "
        "done about it. Check by hand what it changed, then remove the record (maintenance_record with state absent)."
    )


def another_kind(present: Recorded, entry: Configured) -> str:
    """A name that means two methods."""
    return (
        f"The record has a method {shown(present.identifier)} of kind {shown(present.kind)}, and drain_methods has {entry.kind} by that name. "
        "Give the new one another name."
    )


def not_checked(one: Recorded, host: str) -> str:
    """A drained method that the variables name no more."""
    return (
        f"{host} was drained by method {shown(one.identifier)} ({shown(one.kind)}), and drain_methods has no method of that name and kind, or "
        "another server or other balancers for it; so it cannot be checked whether it still is drained."
    )


def not_configured(one: Recorded, host: str) -> str:
    """A method outside the VM that the variables name no more."""
    return (
        f"{host}: its record says that method {shown(one.identifier)} ({shown(one.kind)}) changed something outside the VM, and drain_methods has no method of "
        f"that name and kind; its undo was not run. {way_out(host)}"
    )


def way_out(host: str) -> str:
    """What an operator does about something that only a VM's record says."""
    return (
        f"If it was a method of {host}, list it with its options in drain_methods_former of {host}, and with by_hand: true once you have put back by hand what "
        "it changed. If it never was, the record was tampered with: do nothing that it names."
    )


def wrong_entry(one: Recorded, entry: Configured, host: str) -> str:
    """A method outside the VM whose former entry cannot be used."""
    return (
        f"{host}: method {one.identifier} ({one.kind}) changed something outside the VM, and its undo was not run: {entry.problem} Correct the entry, "
        "or put back by hand what the method changed, and say so there with by_hand: true."
    )


def unnamed_places(server: str, places: Sequence[Place], host: str) -> str:
    """Places of HAProxy that the variables do not name, or name no more."""
    found = [
        f"server {shown(server)} of backend {shown(place.backend)} on balancer {shown(place.balancer)} was {place.state} before the drain"
        for place in places[:MOST_PLACES]
    ]
    if len(places) > MOST_PLACES:
        found.append(f"and {len(places) - MOST_PLACES} more")
    return f"{host}: its record says that {'; '.join(found)}, and drain_methods does not name it; nothing was changed there. {way_out(host)}"
