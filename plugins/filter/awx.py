# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters of role awx: its data set as objects, their changes, reasons of refusals, and variables for infra.aap_configuration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ..plugin_utils._awx import aap, changes, hiding, objects, refusals
from ..plugin_utils._awx.kinds import AwxError


def awx_objects(data: Any, specs: Any, defaults: Any = None, hidden: Any = False) -> list[dict[str, Any]]:
    """Return the objects; with C(hidden) without their secrets, as they may be shown."""
    try:
        made = objects.make_objects(data, specs, defaults)
        return [hiding.hide(one) for one in made] if hidden else made
    except AwxError as error:
        raise AnsibleFilterError(f"maintenance.azure.awx_objects: {error}") from error


def awx_changes(wanted: Any, found: Any, state: Any = "present", adopt: Any = False, denied: Any = ()) -> dict[str, Any]:
    """Return the changes that AWX needs."""
    if state not in ("present", "absent"):
        raise AnsibleFilterError(f"maintenance.azure.awx_changes: state is present or absent, not {state!r}")
    return changes.plan(wanted, found, str(state), bool(adopt), denied)


def awx_with_ids(arguments: Any, inventories: Any) -> dict[str, Any]:
    """Return a template's arguments with the id of its inventory."""
    return changes.with_ids(arguments, inventories)


def awx_refusal(result: Any, wanted: Any = None) -> str:
    """Return why a task of awx.awx failed."""
    return refusals.failed(result, hiding.secrets(wanted or []))


def aap_configuration(wanted: Any) -> dict[str, Any]:
    """Return the variables for infra.aap_configuration."""
    return aap.variables(wanted)


class FilterModule:
    """Ansible's entry point."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters of this file."""
        return {
            "awx_objects": awx_objects,
            "awx_changes": awx_changes,
            "awx_with_ids": awx_with_ids,
            "awx_refusal": awx_refusal,
            "aap_configuration": aap_configuration,
        }
