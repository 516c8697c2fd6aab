# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Lookup hosts: a pattern of hosts, refused where it matches none."""

from __future__ import annotations

DOCUMENTATION = r"""
name: hosts
author: [The maintenance.azure authors (@maintenance-azure)]
version_added: 2.1.0
short_description: Return a pattern of hosts, or fail where it matches none
description:
  - For the C(hosts) of a play. A play without hosts ends well, so that a schedule with an empty or broken inventory would look like success.
  - Nothing is refused with C(--syntax-check), C(--list-hosts), C(--list-tasks) and C(--list-tags).
options:
  _terms: {required: true, description: "The pattern, as in C(hosts) of a play."}
  allow_empty: {type: bool, default: false, description: Whether a pattern without hosts is in order.}
  every:
    description: Whether each part of the pattern has to match a host or name a group, because all of them are meant together.
    type: bool
    default: false
    version_added: 2.3.0
seealso: [{plugin: ansible.builtin.inventory_hostnames, plugin_type: lookup}]
"""

EXAMPLES = r"""
- name: Take the VMs of group web through maintenance
  hosts: "{{ lookup('maintenance.azure.hosts', 'web') }}"
  roles:
    - maintenance.azure.respond
"""

RETURN = r"""
_raw: {type: list, elements: str, description: The pattern as it was given.}
"""

import pathlib
import typing as t

from ansible import context
from ansible.errors import AnsibleLookupError
from ansible.inventory.manager import split_host_pattern
from ansible.plugins.loader import lookup_loader
from ansible.plugins.lookup import LookupBase

from ..module_utils._scheduled_events.core.types import Data
from ..plugin_utils._loop.latest_pass import looks_only


class LookupModule(LookupBase):
    """The lookup."""

    def run(self, terms: list[t.Any], variables: Data | None = None, **kwargs: t.Any) -> list[t.Any]:
        self.set_options(var_options=variables, direct=kwargs)
        (pattern,) = terms
        if not isinstance(pattern, str):
            raise AnsibleLookupError(f"The hosts must be a pattern, as text such as web1,web2, and are {pattern!r}.")
        if not looks_only(context.CLIARGS) and not self.get_option("allow_empty"):
            matching = lookup_loader.get("ansible.builtin.inventory_hostnames", loader=self._loader, templar=self._templar)
            limit = context.CLIARGS.get("subset")
            limits = [",".join(_lines(limit)) if "@" in limit else limit] if limit else []
            if not set.intersection(*(set(matching.run([one], variables=variables)) for one in (pattern, *limits))):
                raise AnsibleLookupError(
                    f"No host of the inventory matches {pattern!r}{''.join(f' and --limit {one}' for one in limits)}, so nothing is known about any VM. "
                    "Check the inventory and the pattern; for a pool that is empty by design set respond_allow_empty=true as an extra variable."
                )
            if self.get_option("every"):
                groups = (variables or {}).get("groups") or {}
                named = [part for part in split_host_pattern(pattern) if part[:1] not in "!&" and part not in groups]
                if missing := [part for part in named if not matching.run([part], variables=variables)]:
                    raise AnsibleLookupError(f"No host of the inventory matches {', '.join(missing)} of {pattern!r}. Correct that, or leave it out.")
        return [pattern]


def _lines(limit: str) -> list[str]:
    """Return the parts of a limit, with the lines of each file in place of its @NAME, as core reads them."""
    parts = [pathlib.Path(part[1:]).read_text().splitlines() if part[:1] == "@" else [part] for part in split_host_pattern(limit)]
    return [line.strip() for lines in parts for line in lines if line.strip()]
