# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Lookup awx_syncs: whether AWX has the playbooks of the projects of role awx."""

from __future__ import annotations

DOCUMENTATION = r"""
name: awx_syncs
author: [The maintenance.azure authors (@maintenance-azure)]
version_added: 2.1.0
short_description: (internal) Wait for the syncs of projects in AWX, with a limit
description:
  - Looks at the projects, by lookup C(awx.awx.controller_api), until none of their syncs runs, and changes nothing. The module of C(awx.awx) that creates
    a project waits without a limit.
  - Skips a project whose entry has C(wait=false).
notes:
  - The address of AWX and the user come from the environment, as described for P(maintenance.azure.awx_state#lookup).
requirements: ["Collection awx.awx, 21.11.0 or newer, where Ansible runs"]
options:
  _terms: {required: true, description: "The projects, as P(maintenance.azure.awx_objects#filter) returns them."}
  seconds: {type: int, default: 0, description: "Seconds to wait at most. V(0) looks once, and does not read why a sync failed."}
seealso: [{plugin: maintenance.azure.awx_objects, plugin_type: filter}]
"""

EXAMPLES = r"""
- name: Wait for the projects, at most five minutes
  ansible.builtin.debug:
    msg: "{{ query('maintenance.azure.awx_syncs', *projects, seconds=300) | map(attribute='problem') | select }}"
  vars:
    projects: "{{ data | maintenance.azure.awx_objects(specs) | selectattr('kind', 'eq', 'project') }}"
"""

RETURN = r"""
_raw:
  description: One dictionary for each project.
  type: list
  elements: dict
  contains:
    name: {type: str, description: The project.}
    organization: {type: str, description: Its organization.}
    good: {type: bool, description: Whether its last sync succeeded. A manual project needs none.}
    running: {type: bool, description: Whether a sync runs.}
    start: {type: bool, description: "Whether a sync has to be started, because the last one did not succeed, or the entry has C(update_project)."}
    problem: {type: str, description: "Why it cannot be used, with the last error lines of its sync. Empty where it can, and where O(seconds) is V(0)."}
"""

import time
from typing import Any

from ..module_utils._scheduled_events.core.types import Data
from ..plugin_utils._awx import syncs
from ..plugin_utils._awx.asking import EVERY, AskingLookup


class LookupModule(AskingLookup):
    """Ansible's entry point."""

    def run(self, terms: list[Any], variables: Any = None, **kwargs: Any) -> list[Data]:
        """Return the state of each project's sync."""
        self.set_options(var_options=variables, direct=kwargs)
        seconds = int(self.get_option("seconds"))
        ends = time.monotonic() + seconds
        found = syncs.look(terms, self.ask)
        while any(sync["running"] for sync in found) and time.monotonic() < ends:
            time.sleep(min(EVERY, seconds))
            found = syncs.look(terms, self.ask)
        for sync in found:
            sync["problem"] = syncs.problem(sync, self.ask, seconds) if seconds and not sync["good"] else ""
            del sync["item"]
        return found
