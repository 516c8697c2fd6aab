# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lookup hosts: a pattern of hosts, refused where it matches none."""

from __future__ import annotations

DOCUMENTATION = r"""
name: hosts
author:
  - The maintenance.azure authors (@maintenance-azure)
version_added: 2.1.0
short_description: Return a pattern of hosts, or fail where it matches none
description:
  - For the C(hosts) of a play. A play without hosts ends well, so that a schedule with an empty or broken inventory would look like success.
  - Nothing is refused with C(--syntax-check), C(--list-hosts), C(--list-tasks) and C(--list-tags).
options:
  _terms:
    description: The pattern, as in C(hosts) of a play.
    required: true
  allow_empty:
    description: Whether a pattern without hosts is in order.
    type: bool
    default: false
seealso:
  - plugin: ansible.builtin.inventory_hostnames
    plugin_type: lookup
"""

EXAMPLES = r"""
- name: Take the VMs of group web through maintenance
  hosts: "{{ lookup('maintenance.azure.hosts', 'web') }}"
  roles:
    - maintenance.azure.respond
"""

RETURN = r"""
_raw:
  description: The pattern as it was given.
  type: list
  elements: str
"""

import typing as t

from ansible import context
from ansible.errors import AnsibleLookupError
from ansible.plugins.loader import lookup_loader
from ansible.plugins.lookup import LookupBase


class LookupModule(LookupBase):
    """The lookup."""

    def run(self, terms: list[t.Any], variables: dict[str, t.Any] | None = None, **kwargs: t.Any) -> list[t.Any]:
        self.set_options(var_options=variables, direct=kwargs)
        (pattern,) = terms
        # Looking at a playbook needs no inventory.
        looks_only = any(context.CLIARGS.get(option) for option in ("syntax", "listhosts", "listtasks", "listtags"))
        if not looks_only and not self.get_option("allow_empty"):
            matching = lookup_loader.get("ansible.builtin.inventory_hostnames", loader=self._loader, templar=self._templar)
            if not matching.run([pattern], variables=variables):
                raise AnsibleLookupError(
                    f"No host of the inventory matches {pattern!r}, so nothing is known about any VM. Check the inventory and the pattern; "
                    "for a pool that is empty by design set respond_allow_empty=true as an extra variable."
                )
        return [pattern]
