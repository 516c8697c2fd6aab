# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Lookup packed: a program of this collection as one archive."""

from __future__ import annotations

DOCUMENTATION = r"""
name: packed
author: [The maintenance.azure authors (@maintenance-azure)]
version_added: 2.3.0
short_description: (internal) Pack a program of this collection into one archive, and return its path on the controller
description: "Internal, for roles P(maintenance.azure.watch#role) and P(maintenance.azure.simulator#role). Ansible removes the archive at the end of the run."
options:
  _terms: {required: true, choices: [watcher, simulator], description: The program.}
"""

EXAMPLES = r"""
- name: Copy the archive to the VM
  ansible.builtin.copy:
    src: "{{ lookup('maintenance.azure.packed', 'watcher') }}"
    dest: /usr/local/lib/watch.pyz
    mode: "0644"
"""

RETURN = r"""
_raw: {type: list, elements: path, description: The path of the archive.}
"""

import os
import typing as t

from ansible import constants
from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase

from ..module_utils._scheduled_events.core.types import Data
from ..plugin_utils._controller.pack import PROGRAMS, pack

COLLECTION = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class LookupModule(LookupBase):
    """The lookup."""

    def run(self, terms: list[t.Any], variables: Data | None = None, **kwargs: t.Any) -> list[str]:
        (name,) = terms
        package, module = PROGRAMS[name]
        archive = os.path.join(constants.DEFAULT_LOCAL_TMP, f"{name}.pyz")
        if not os.path.exists(archive):
            # Under a name of its own first: each host has its process, and several pack at the same time.
            own = f"{archive}-{os.getpid()}"
            try:
                pack(os.path.join(COLLECTION, package), own, module)
                os.replace(own, archive)
            except OSError as error:
                # Without the cause: ansible-core would say it once more.
                raise AnsibleError(f"The {name} cannot be packed into {archive} on the controller: {error.strerror or error}.") from None
        return [archive]
