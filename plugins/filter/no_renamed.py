# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter no_renamed: refuse variables whose names version 2.0.0 has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ..plugin_utils._settings.renamed import refused_variables


def no_renamed(names: Any) -> bool:
    """Return true if no name is an old one. Raise an error with the new names otherwise."""
    why = refused_variables(names)
    if why:
        raise AnsibleFilterError(why)
    return True


class FilterModule:
    """Ansible's entry point, for the roles, which would ignore such a variable."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters of this file."""
        return {"no_renamed": no_renamed}
