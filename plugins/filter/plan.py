# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter plan: the next actions for every VM and event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ..plugin_utils._maintenance.config.policy import PolicyError
from ..plugin_utils._maintenance.config.settings import SettingsError
from ..plugin_utils._maintenance.observe.reading import ObservationError
from ..plugin_utils._maintenance.planner import PlanError, make_plan


def plan(observations: Any, policy: Any = "default", settings: Any = None, now: Any = None) -> dict[str, Any]:
    """Return the plan."""
    try:
        return make_plan(observations, policy=policy, settings=settings, now=now)
    except (ObservationError, PlanError, PolicyError, SettingsError) as error:
        # Without the cause: ansible-core would print the text of the cause too, which is not made printable.
        raise AnsibleFilterError(f"maintenance.azure.plan: {printable(error, LONGEST_LINE)}") from None


class FilterModule:
    """Ansible's entry point."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters of this file."""
        return {"plan": plan}
