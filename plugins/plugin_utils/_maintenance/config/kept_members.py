# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions on the members of a capacity group that stay in service: the last replica, one in each zone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._core import plain_values
from ..core.expression import ExpressionError, compiled, root_fields, search
from ..core.model import Host

PLACES = ("zone", "fault_domain", "update_domain", "location", "scale_set")
FIELDS = ("name", "vm_name", "labels", *PLACES)
# Each expression is tried on these when it is loaded: on no member, and on one with a text in each field.
PROBE: dict[str, Any] = {**dict.fromkeys(FIELDS, "text"), "labels": {}}
PROJECTIONS = ("projection", "filter_projection")


class Keep:
    """A condition on the list of members in service."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._compiled = compiled(source)
        self._check_fields(self._compiled.parsed)
        for members in ([], [PROBE]):
            found = search(self._compiled, members)
            if found is not None and not isinstance(found, bool):
                raise ExpressionError(f"must be true or false, such as length([?zone=='1']) >= `1`; on {len(members)} members it is {found!r}")

    def _check_fields(self, parsed: Mapping[str, Any]) -> None:
        if outside := root_fields(parsed):
            raise ExpressionError(f"names {outside[0]!r} outside of [...], and what is asked is a list of members", self._place(outside[0]))
        for name in _member_fields(parsed):
            if name not in FIELDS:
                raise ExpressionError(f"names {name!r}, which members do not have; they have {', '.join(FIELDS)}", self._place(name))

    def _place(self, name: str) -> int | None:
        return self.source.find(name) + 1 or None

    def holds(self, members: list[dict[str, Any]]) -> bool:
        """Return whether the condition is true. An expression that cannot be evaluated on these members is not."""
        try:
            return search(self._compiled, members) is True
        except ExpressionError:
            return False


def broken(conditions: Iterable[Keep], hosts: Iterable[Host]) -> str | None:
    """Return the first condition that is not true of the VMs in service, or None. Retired VMs are not in service."""
    members = [_member(host) for host in hosts if host.state != "retired"]
    return next((condition.source for condition in conditions if not condition.holds(members)), None)


def _member(host: Host) -> dict[str, Any]:
    about = host.observation.about if host.observation else {}
    places = {key: plain_values.text(about.get(key)) for key in PLACES}
    return {"name": host.name, "vm_name": host.observation.vm_name if host.observation else None, "labels": host.labels, **places}


def _is_the_list(node: Mapping[str, Any]) -> bool:
    if node.get("type") == "flatten":
        return all(_is_the_list(child) for child in node.get("children") or [])
    return node.get("type") in ("identity", "current")


def _member_fields(node: Mapping[str, Any]) -> list[str]:
    """Return the names that are looked up in a member: those after the list itself, in its filter and after it."""
    children = [child for child in node.get("children") or [] if isinstance(child, Mapping)]
    if node.get("type") in PROJECTIONS and children and _is_the_list(children[0]):
        return [name for child in children[1:] for name in root_fields(child)]
    return [name for child in children for name in _member_fields(child)]
