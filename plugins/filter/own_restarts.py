# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter own_restarts: the restarts that an upgrade has ordered itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ..plugin_utils._maintenance.config.settings import SettingsError
from ..plugin_utils._maintenance.observe.reading import ObservationError
from ..plugin_utils._maintenance.planner import PlanError
from ..plugin_utils._maintenance.report.printable_plan import sentence
from ..plugin_utils._maintenance.upgrade.gate_own_events import own_events
from ..plugin_utils._maintenance.upgrade.gate_request import GateError


def own_restarts(observations: Any, ask: Any, settings: Any = None, now: Any = None) -> list[dict[str, Any]]:
    """Return these restarts, each with its approver and the VMs that it is approved for."""
    try:
        return [{**one, "why": sentence(one["why"])} for one in own_events(observations, ask, settings=settings, now=now)]
    except (GateError, ObservationError, PlanError, SettingsError) as error:
        # Without the cause: ansible-core would print the text of the cause too, which is not made printable.
        raise AnsibleFilterError(f"maintenance.azure.own_restarts: {printable(error, LONGEST_LINE)}") from None


class FilterModule:
    """Ansible's entry point."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters of this file."""
        return {"own_restarts": own_restarts}
