# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What cannot be undone from here, in words that say what to do by hand. Texts of records are quoted where they are no plain names.

What a record says beyond the variables of its VM may have been planted there: it is named as what the record says, and no command and no setting that an
operator could paste is made of it.
"""

from __future__ import annotations

from ....module_utils._scheduled_events.journal.recorded import Recorded
from ..kinds.findings import shown, way_out
from ..settings.configured import Configured


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


def wrong_entry(one: Recorded, entry: Configured, host: str) -> str:
    """A method outside the VM whose former entry cannot be used."""
    return (
        f"{host}: method {one.identifier} ({one.kind}) changed something outside the VM, and its undo was not run: {entry.problem} Correct the entry, "
        "or put back by hand what the method changed, and say so there with by_hand: true."
    )
