# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter gate_members: whom to look at before a batch is taken out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ansible_collections.maintenance.azure.plugins.plugin_utils._core import plain_values
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.budget import allocation
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config import settings as settings_module
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import SettingsError


def gate_members(batch: Any, capacity: Any = ()) -> list[str]:
    """The batch first, then everybody who shares a capacity group with it."""
    try:
        chosen = settings_module.load({"capacity": list(plain_values.items(capacity))})
    except SettingsError as error:
        # Not from it: core would print the words of the cause as well, as they are.
        raise AnsibleFilterError(f"maintenance.azure.gate_members: {printable(error, LONGEST_LINE)}") from None
    names = plain_values.texts(batch)
    members = [member for group in chosen.capacity for member in group.members]
    found = allocation.involved(chosen, set(names))
    return list(dict.fromkeys([*names, *(member for member in members if member in found)]))


class FilterModule:
    """Ansible's entry point."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """The filters of this file."""
        return {"gate_members": gate_members}
