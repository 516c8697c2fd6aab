# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter policy: the checked rules of a policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ..plugin_utils._core.plain_values import plain
from ..plugin_utils._maintenance.config.policy import PolicyError, load


def policy(value: Any) -> list[dict[str, Any]]:
    """Check a policy and return its rules."""
    try:
        return [plain(rule.source) for rule in load(value).rules]
    except PolicyError as error:
        # Without the cause: ansible-core would print the text of the cause too, which is not made printable.
        raise AnsibleFilterError(f"maintenance.azure.policy: {printable(error, LONGEST_LINE)}") from None


class FilterModule:
    """Ansible's entry point."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters of this file."""
        return {"policy": policy}
