# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""A drain method as a record has it, for the engine on the VM and for the controller."""

from __future__ import annotations

import typing as t

from ..core.types import Values

# States of a method before it acts: not in the record yet, or undone.
BEFORE_ANYTHING = ("new", "undone")


class Recorded(t.NamedTuple):
    """One method of a record."""

    identifier: str
    kind: str
    state: str = "new"
    before: t.Any = None
    """What it found before it acted, its finding; None before it has found anything."""
    options: Values = {}
    boot_id: str | None = None
    since: str | None = None
    """When its state changed, by the VM's clock."""
    error: str | None = None
    outside: bool = False
    """Whether it changes something outside the VM."""
    error_kind: str | None = None
    times: Values = {}
    """When it entered each state of its present drain, by the VM's clock."""

    @property
    def set_at(self) -> str | None:
        """Return when it was first about to set something in its present drain, by the VM's clock; None where that is not known, or is undone."""
        return None if self.state == "undone" else self.times.get("found") or self.times.get("begun")

    @property
    def has_default_name(self) -> bool:
        """Return whether its name says no more than its place and its kind."""
        number, _dash, kind = self.identifier.partition("-")
        return number.isdecimal() and kind == self.kind

    @property
    def found_nothing(self) -> bool:
        """Return whether it never got as far as finding something, so that it cannot have acted."""
        return self.before is None

    @property
    def untouched(self) -> bool:
        """Return whether nothing is changed now: it has not acted, or is undone."""
        return self.state in BEFORE_ANYTHING or self.found_nothing


def method_of(values: Values) -> Recorded:
    """Return a method from its values in a record, which the store or the controller has checked."""
    return Recorded(
        identifier=values["id"],
        kind=values.get("method") or "",
        state=values.get("state") or "new",
        before=values.get("before"),
        options=values.get("options") or {},
        boot_id=values.get("boot_id"),
        since=values.get("at"),
        error=values.get("error"),
        outside=values.get("outside") is True,
        error_kind=values.get("error_kind"),
        times=values.get("times") or {},
    )


def find_method(record: Values | None, identifier: str) -> Recorded:
    """Return the method of a record by its id; one with state new where there is none."""
    found = next((method for method in (record["methods"] if record else ()) if method["id"] == identifier), None)
    return Recorded(identifier, "") if found is None else method_of(found)
