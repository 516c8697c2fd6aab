# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter timeline: the phases of events in the order of their times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ..plugin_utils._maintenance.report.timeline import TimelineError
from ..plugin_utils._maintenance.report.timeline import timeline as make_timeline
from ..plugin_utils._maintenance.report.vm_table import vm_table

TABLES: dict[str, Callable[[Any], list[str]]] = {"phase": make_timeline, "vm": vm_table}


def timeline(records_by_host: Any, by: str = "phase") -> list[str]:
    """Return a table with a row for each phase of each VM, or with a row for each VM."""
    if by not in TABLES:
        raise AnsibleFilterError(f"maintenance.azure.timeline: by must be one of {', '.join(TABLES)}, not {printable(by)}")
    try:
        return TABLES[by](records_by_host)
    except TimelineError as error:
        # Without the cause: ansible-core would print the text of the cause too, which is not made printable.
        raise AnsibleFilterError(f"maintenance.azure.timeline: {printable(error, LONGEST_LINE)}") from None


class FilterModule:
    """Ansible's entry point."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters of this file."""
        return {"timeline": timeline}
