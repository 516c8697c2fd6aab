# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter gate_observations: what the looks at a batch, and at those who share its capacity groups, found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ansible_collections.maintenance.azure.plugins.filter.observations import _observation
from ansible_collections.maintenance.azure.plugins.plugin_utils._core import plain_values
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.copies import targets_of

Variables = Mapping[str, Any]


def gate_observations(
    members: Iterable[str], hostvars: Mapping[str, Variables], present: Iterable[str], turn: Any, before: Iterable[Mapping[str, Any]] = ()
) -> list[dict[str, Any]]:
    """One observation for each member. A look from an earlier turn is none."""
    earlier = {str(one["host"]): one for one in before}
    here = {str(name) for name in present}
    looks = _looks_at_others((hostvars[name] for name in here), int(turn))
    return [_of(str(name), hostvars, here, looks, earlier) for name in members]


def _of(name: str, hostvars: Mapping[str, Variables], here: set[str], looks: Mapping[str, Any], earlier: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    # Not get: hostvars raises nothing for a host that the inventory does not have.
    variables: Variables = hostvars[name] if name in hostvars else {}  # noqa: SIM401
    # Hosts of the batch look at themselves, and are looked at by nobody else.
    look = variables.get("observe_look") if name in here else looks.get(name)
    about = {
        "excluded": plain_values.flag(variables.get("respond_exclude")) is True,
        "labels": variables.get("respond_labels"),
        "methods": [str(one.get("method", "?")) for one in plain_values.items(variables.get("drain_methods")) if isinstance(one, Mapping)],
        "targets": targets_of(variables.get("drain_methods"), variables.get("drain_methods_former"), name),
    }
    acted = variables.get("__respond_acted") if name in here else None
    facts = variables.get("ansible_facts")
    known = {key: variables.get(key) for key in ("respond_vm_id", "vmid", "id")}
    return _observation(name, {"__respond_host": about, "observe_look": look, "__respond_acted": acted, "ansible_facts": facts, **known}, earlier.get(name, {}))


def _looks_at_others(batch: Iterable[Variables], turn: int) -> dict[str, Any]:
    found = {}
    for variables in batch:
        for result in plain_values.items(plain_values.mapping(variables.get("__gate_looks")).get("results")):
            # What the task looped over: the member and the turn.
            item = plain_values.items(result.get("__gate_item"))
            if len(item) == 2 and plain_values.whole(item[1]) == turn:
                found[str(item[0])] = result
    return found


class FilterModule:
    """For role gate."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """The filters of this file."""
        return {"gate_observations": gate_observations}
