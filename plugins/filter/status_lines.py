# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter status_lines: a plan as text for operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ..plugin_utils._core import plain_values
from ..plugin_utils._maintenance.report.status import StatusError, status, would_lines


def status_lines(plan: Any, format: str = "text", event_id: Any = None, exact: bool = False, records_paths: Any = None, would: bool = False) -> Any:  # noqa: A002 (the public name)
    """Return a plan as lines of text or as data."""
    try:
        found = status(plan, form=format, event_id=plain_values.text(event_id), exact=plain_values.flag(exact) is True, folders=records_paths)
    except StatusError as error:
        # Without the cause: ansible-core would print the text of the cause too, which is not made printable.
        raise AnsibleFilterError(f"maintenance.azure.status_lines: {printable(error, LONGEST_LINE)}") from None
    return [*would_lines(plan), *found] if plain_values.flag(would) is True and isinstance(found, list) else found


class FilterModule:
    """Ansible's entry point."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters of this file."""
        return {"status_lines": status_lines}
