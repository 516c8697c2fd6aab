# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters of role drain: which methods it takes, and what of a record may leave its VM."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import yaml

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain import configured, copies, steps
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain import former as former_module


def drain_steps(record: Any, methods: Any, former: Any, host: str, system: str) -> list[steps.Step]:
    """The methods of a drain, in order."""
    return steps.drain_steps(record, methods, former, str(host), str(system))


def drain_undo_steps(
    record: Any, methods: Any, former: Any, host: str, system: str, folders: Iterable[str] = (), places: Iterable[str] = ()
) -> list[steps.Step]:
    """The methods of an undo, in order."""
    return steps.undo_steps(record, methods, former, str(host), str(system), _wrong(former, folders, places))


def drain_former_problems(former: Any, folders: Iterable[str], places: Iterable[str]) -> list[str]:
    """What is wrong with the options of former methods."""
    return list(_wrong(former, folders, places).values())


def _wrong(former: Any, folders: Iterable[str], places: Iterable[str]) -> dict[int, str]:
    known: dict[str, former_module.Options | None] = {}
    for folder in map(str, folders) if former else ():
        for kind in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            home = os.path.join(folder, kind)
            if any(os.path.isfile(os.path.join(home, name)) for name in ("undo.yml", os.path.join("windows", "undo.yml"))):
                known.setdefault(kind, _options(os.path.join(home, "options.yml")))
    return former_module.former_problems(former, known, [str(place) for place in places], os.path.isfile) if known else {}


def _options(path: str) -> former_module.Options | None:
    """The options that a method describes, or None where it describes none."""
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8") as stream:
        given = yaml.safe_load(stream)
    return {str(key): about for key, about in (given or {}).items() if isinstance(about, Mapping)}


def drain_finding(before: Any, step: Any, host: str) -> Any:
    """What of a finding a step may use."""
    return steps.finding_of(before, step, str(host))


def drain_copy(record: Any) -> dict[str, Any]:
    """The part of a record that another VM may keep."""
    return copies.copy_of(record)


def drain_targets(methods: Any, host: str, former: Any = ()) -> list[dict[str, Any]]:
    """Where the methods of a host act."""
    return copies.targets_of(methods, former, str(host))


def drain_setting_problems(methods: Any, former: Any = ()) -> list[str]:
    """What is wrong with names and former methods."""
    return configured.problems(methods, former)


class FilterModule:
    """Ansible's entry point."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """The filters of this file."""
        return {
            "drain_copy": drain_copy,
            "drain_finding": drain_finding,
            "drain_former_problems": drain_former_problems,
            "drain_setting_problems": drain_setting_problems,
            "drain_steps": drain_steps,
            "drain_targets": drain_targets,
            "drain_undo_steps": drain_undo_steps,
        }
