# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters of role drain: which methods it takes, and what of a record may leave its VM."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain import catalogue, copies, segments, steps, validation
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain import vm_actions as vm_actions_module


def drain_steps(record: Any, methods: Any, former: Any, host: str, system: str) -> list[steps.Step]:
    """The methods of a drain, in order."""
    return steps.drain_steps(record, methods, former, str(host), str(system))


def drain_undo_steps(
    record: Any, methods: Any, former: Any, host: str, system: str, folders: Iterable[str] = (), places: Iterable[str] = ()
) -> list[steps.Step]:
    """The methods of an undo, in order."""
    return steps.undo_steps(record, methods, former, str(host), str(system), validation.wrong_former(former, folders, places))


def drain_problems(
    methods: Any,
    former: Any,
    system: str,
    folders: Iterable[str] = (),
    places: Iterable[str] = (),
    own_folder: str = "",
) -> list[str]:
    """What is wrong with the settings of a drain."""
    return validation.problems(methods, former, str(system), [str(one) for one in folders], [str(one) for one in places], str(own_folder))


def drain_options(kind: str, folder: str) -> dict[str, Any]:
    """The options of a method."""
    return {key: dict(about) for key, about in (catalogue.options_of(str(kind), str(folder)) or {}).items()}


def drain_folder(kind: str, system: str, folders: Iterable[str]) -> str:
    """The folder with the tasks of a method. Raise AnsibleFilterError where there is none."""
    places = [str(one) for one in folders]
    found = catalogue.folder_of(str(kind), str(system), places)
    if found is None:
        raise AnsibleFilterError(f"no folder has tasks of method {kind}: {', '.join(places)}")
    return found


def drain_segments(given: Any, system: str) -> list[segments.Segment]:
    """What is taken at once."""
    return segments.segments(given, str(system))


def drain_finding(before: Any, step: Any, host: str) -> Any:
    """What of a finding a step may use."""
    return steps.finding_of(before, step, str(host))


def drain_copy(record: Any) -> dict[str, Any]:
    """The part of a record that another VM may keep."""
    return copies.copy_of(record)


def drain_targets(methods: Any, host: str, former: Any = ()) -> list[dict[str, Any]]:
    """Where the methods of a host act."""
    return copies.targets_of(methods, former, str(host))


def vm_actions(
    actions: Any,
    records: Any,
    methods: Any,
    former: Any,
    host: str,
    system: str,
    now: str,
    folders: Iterable[str] = (),
    places: Iterable[str] = (),
    turn: str = "",
) -> vm_actions_module.Taken:
    """The actions of one VM, those that it takes at once and the others."""
    vm: vm_actions_module.VM = {
        "host": str(host),
        "system": str(system),
        "records": records or [],
        "methods": methods,
        "former": former,
        "folders": [str(one) for one in folders],
        "places": [str(one) for one in places],
        "turn": str(turn),
        "now": str(now),
    }
    return vm_actions_module.split(actions, vm)


class FilterModule:
    """Ansible's entry point."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """The filters of this file."""
        return {
            "drain_copy": drain_copy,
            "drain_finding": drain_finding,
            "drain_folder": drain_folder,
            "drain_options": drain_options,
            "drain_problems": drain_problems,
            "drain_segments": drain_segments,
            "drain_steps": drain_steps,
            "drain_targets": drain_targets,
            "drain_undo_steps": drain_undo_steps,
            "vm_actions": vm_actions,
        }
