#!/usr/bin/python

# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: check_request
short_description: Check what an operator has set or asks for
version_added: 2.1.0
author:
  - The maintenance.azure authors (@maintenance-azure)
description:
  - For the roles and playbooks of this collection only. It runs on the controller, changes nothing, and fails with one line that says what to correct.
  - Without an option it checks the variables of the host. It fails for settings among its facts, and for variables that version 2.0.0 has renamed.
options:
  override:
    description: The override to check, as P(maintenance.azure.override#filter) takes it. With O(observed) also finds the records to write it to.
    type: dict
  status:
    description: The view to make of the plan in O(observed).
    type: dict
    suboptions:
      format:
        description: See O(maintenance.azure.respond#role:status:status_format).
        type: str
        default: text
      event_id:
        description: See O(maintenance.azure.respond#role:status:status_event_id).
        type: str
        default: ""
      file:
        description: See O(maintenance.azure.respond#role:status:status_file).
        type: str
        default: ""
  batches:
    description: The kind and the size of batches to check, see P(maintenance.azure.batches#filter).
    type: dict
    suboptions:
      by:
        description: See O(maintenance.azure.batches#filter:by).
        type: str
        default: serial
      serial:
        description: See O(maintenance.azure.batches#filter:serial).
        type: raw
  upgrade:
    description: The name and the tasks files of an upgrade. No message has any content of these files.
    type: dict
    version_added: 2.2.0
    suboptions:
      name:
        description: See O(maintenance.azure.upgrade#role:main:upgrade_name).
        type: str
        required: true
      tasks:
        description: See O(maintenance.azure.upgrade#role:main:upgrade_tasks).
        type: str
        required: true
      check_tasks:
        description: See O(maintenance.azure.upgrade#role:main:upgrade_check_tasks).
        type: str
        default: ""
      folders:
        description: See O(maintenance.azure.upgrade#role:main:upgrade_tasks_folders).
        type: list
        elements: str
        default: []
  options_of:
    description: The role of this collection whose options are checked, with the values that they have on the host.
    type: str
  batch:
    description: Hosts of which none may have failed where the play has C(any_errors_fatal).
    type: list
    elements: str
  observed:
    description: The name under which a task with M(maintenance.azure.plan) has registered its result.
    type: str
seealso:
  - module: maintenance.azure.plan
extends_documentation_fragment:
  - maintenance.azure.attributes
  - maintenance.azure.attributes.read_only
"""

EXAMPLES = r"""
- name: Refuse settings that come from facts
  maintenance.azure.check_request:

- name: Check an override before any VM is observed
  maintenance.azure.check_request:
    override: {event_id: C7061BAC, action: hold, who: alice}
"""

RETURN = r"""
writes:
  description: The changes to the records, with C(event_id) and C(text) as P(maintenance.azure.override#filter) returns them.
  returned: with O(override)
  type: list
  elements: dict
  sample: []
tasks:
  description: The path of O(upgrade.tasks), without links.
  returned: with O(upgrade)
  type: str
  sample: /srv/upgrades/kernel.yml
check_tasks:
  description: The path of O(upgrade.check_tasks), without links. Empty without that file.
  returned: with O(upgrade)
  type: str
  sample: ""
lines:
  description: The lines of the view, or its data.
  returned: with O(status)
  type: raw
  sample: ["4 of 4 VMs answered; no events."]
"""

from ansible.module_utils.basic import AnsibleModule

ARGUMENTS = {
    "override": {"type": "dict"},
    "status": {"type": "dict"},
    "batches": {"type": "dict"},
    "upgrade": {"type": "dict"},
    "observed": {"type": "str"},
    "options_of": {"type": "str"},
    "batch": {"type": "list", "elements": "str"},
}


def main() -> None:
    """Fail: the action plugin of the same name does the work, on the controller."""
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    module.fail_json(msg="maintenance.azure.check_request runs on the controller: call it by this name, so that its action plugin is used.")


if __name__ == "__main__":
    main()
