# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter no_settings: refuse a VM whose facts contain settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ..plugin_utils._settings.facts import why_refused


def no_settings(facts: Any) -> bool:
    """Return true if there are none. Raise an error that names them otherwise."""
    why = why_refused(facts)
    if why:
        raise AnsibleFilterError(why)
    return True


class FilterModule:
    """Ansible's entry point, for the roles, which do nothing on such a VM."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters of this file."""
        return {"no_settings": no_settings}
