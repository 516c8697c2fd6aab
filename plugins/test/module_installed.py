# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

from ansible.errors import AnsibleFilterError

from ..plugin_utils._core import modules


def module_installed(name: t.Any) -> bool:
    """Return whether the controller has a module of this full name. Raise AnsibleFilterError for any other value."""
    if not isinstance(name, str) or name.count(".") < 2:
        raise AnsibleFilterError(f"maintenance.azure.module_installed takes a module's full name, such as ansible.windows.win_stat, not {name!r}")
    return modules.is_installed(name)


class TestModule:
    """Test whether the controller has a module, before tasks that use it are loaded: a missing module would end the whole run."""

    def tests(self) -> dict[str, t.Callable[..., bool]]:
        """Return the tests by name."""
        return {"module_installed": module_installed}
