# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter decision: what a person says about an event, and which records it is written to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import SettingsError
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.observe.reading import ObservationError
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.operator.override_requests import OverrideRequestError, load, plan_writes


def decision(observations: Any, said: Any, settings: Any = None, now: Any = None) -> dict[str, Any]:
    """Find the event's VMs, and what changes in their records. Without observations it is only checked."""
    try:
        if observations is None:
            load(said, timestamps.parse(now) or 0.0)
            return {"event_id": None, "text": None, "writes": []}
        return plan_writes(observations, said, settings=settings, now=now)
    except (ObservationError, OverrideRequestError, SettingsError) as error:
        # Not from it: core would print the words of the cause as well, as they are.
        raise AnsibleFilterError(f"maintenance.azure.decision: {printable(error, LONGEST_LINE)}") from None


class FilterModule:
    """Ansible's entry point."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """The filters of this file."""
        return {"decision": decision}
