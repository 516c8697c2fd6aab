# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter override: the override that an operator requests for an event, and the records that it is written to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ..plugin_utils._maintenance.config.settings import SettingsError
from ..plugin_utils._maintenance.observe.reading import ObservationError
from ..plugin_utils._maintenance.operator.override_requests import OverrideRequestError, answer


def override(observations: Any, request: Any, settings: Any = None, now: Any = None) -> dict[str, Any]:
    """Return the changes to the records of the event's VMs. Without observations the request is only checked."""
    try:
        return answer(observations, request, settings=settings, now=now)
    except (ObservationError, OverrideRequestError, SettingsError) as error:
        # Without the cause: ansible-core would print the text of the cause too, which is not made printable.
        raise AnsibleFilterError(f"maintenance.azure.override: {printable(error, LONGEST_LINE)}") from None


class FilterModule:
    """Ansible's entry point."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters of this file."""
        return {"override": override}
