# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

DOCUMENTATION = r"""
name: module_installed
author: The maintenance.azure authors
version_added: 1.2.0
short_description: Whether the controller has a module
description:
  - Looks for a module in the collections on the controller. Nothing is run.
  - To be used before tasks that need another collection are included. A task whose module is missing ends the run for all hosts; with this
    test only the host fails that needs the module.
options:
  _input: {type: str, required: true, description: The module's fully qualified name.}
"""

EXAMPLES = r"""
- name: Stop early with a helpful message
  ansible.builtin.assert:
    that: "'microsoft.iis.website' is maintenance.azure.module_installed"
    fail_msg: "To install it: ansible-galaxy collection install microsoft.iis"
"""

RETURN = r"""
_value: {type: bool, description: Whether the controller has the module.}
"""

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
