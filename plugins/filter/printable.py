# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter printable. See printable.yml."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils._scheduled_events.core import printable_text
from ..plugin_utils._core import plain_values
from ..plugin_utils._maintenance.report.printable_plan import shown


def printable(value: Any, limit: Any = printable_text.LONGEST_TEXT, data: bool = False) -> Any:
    """Return one line of visible text; with C(data) the same data with visible text."""
    longest = plain_values.whole(limit)
    if longest is None or longest < 1:
        raise AnsibleFilterError(f"maintenance.azure.printable: limit must be a number of characters, 1 or more, not {printable_text.printable(limit, 100)}")
    return shown(value) if plain_values.flag(data) else printable_text.printable(plain_values.plain(value), longest)


class FilterModule:
    """Ansible's entry point."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters of this file."""
        return {"printable": printable}
