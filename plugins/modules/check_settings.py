# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

DOCUMENTATION = r"""
module: check_settings
short_description: (internal) Check what is set for a host or its play
version_added: 2.3.0
author: [The maintenance.azure authors (@maintenance-azure)]
description:
  - Internal, for the roles and playbooks of this collection. It runs on the controller, and fails with one line that says what to correct.
  - Without an option it fails for settings among the facts of the host, and for variables that version 2.0.0 has renamed.
options:
  options_of: {type: list, elements: str, description: The roles whose options are checked with the values that they have on the host.}
  batch: {type: list, elements: str, description: Hosts of which none may have failed where the play has C(any_errors_fatal).}
  ended_fails: {type: bool, description: "With O(batch): whether it fails where one of these hosts has left the play amid its upgrade."}
  lease: {type: dict, description: A lease that was given to a role. Its C(seconds) must be longer than an action on a VM may take.}
extends_documentation_fragment: [maintenance.azure.attributes, maintenance.azure.attributes.read_only]
"""

EXAMPLES = r"""
- name: Refuse settings that come from facts
  maintenance.azure.check_settings:
"""

RETURN = r"""
limits: {type: dict, returned: success, description: "The seconds of tasks that act under a lease, and of leases."}
"""
