# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter timeline: what happened when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.timeline import TimelineError
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.timeline import timeline as make_timeline


def timeline(records_by_host: Any) -> list[str]:
    """A table with a row for each phase of each VM."""
    try:
        return make_timeline(records_by_host)
    except TimelineError as error:
        # Not from it: core would print the words of the cause as well, as they are.
        raise AnsibleFilterError(f"maintenance.azure.timeline: {printable(error, LONGEST_LINE)}") from None


class FilterModule:
    """Ansible's entry point."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """The filters of this file."""
        return {"timeline": timeline}
