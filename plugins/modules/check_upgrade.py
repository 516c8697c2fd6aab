# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

DOCUMENTATION = r"""
module: check_upgrade
short_description: (internal) Check the request for a rolling upgrade
version_added: 2.3.0
author: [The maintenance.azure authors (@maintenance-azure)]
description:
  - Internal, for role P(maintenance.azure.upgrade#role) and its playbook. It runs on the controller, and fails with one line that says what to correct.
  - No message has any content of the tasks files.
options:
  name: {type: str, required: true, description: See O(maintenance.azure.upgrade#role:main:upgrade_name).}
  tasks: {type: str, required: true, description: See O(maintenance.azure.upgrade#role:main:upgrade_tasks).}
  check_tasks: {type: str, default: "", description: See O(maintenance.azure.upgrade#role:main:upgrade_check_tasks).}
  folders: {type: list, elements: str, default: [], description: See O(maintenance.azure.upgrade#role:main:upgrade_tasks_folders).}
  by: {type: str, default: serial, description: See O(maintenance.azure.batches#filter:by).}
  serial: {type: raw, description: See O(maintenance.azure.batches#filter:serial).}
  ended_fails:
    type: bool
    default: false
    description: Whether it fails where a VM of an earlier batch has left the play amid its upgrade.
extends_documentation_fragment: [maintenance.azure.attributes, maintenance.azure.attributes.read_only]
"""

EXAMPLES = r"""
- name: Check upgrade_name and the tasks files
  maintenance.azure.check_upgrade:
    name: kernel-november
    tasks: /srv/upgrades/kernel.yml
"""

RETURN = r"""
tasks: {type: str, returned: success, description: "The path of O(tasks), without links.", sample: /srv/upgrades/kernel.yml}
ended:
  type: list
  elements: str
  returned: success
  description: VMs of earlier batches that have left the play amid their upgrade.
  sample: [web1]
check_tasks: {type: str, returned: success, description: "The path of O(check_tasks), without links. Empty without that file."}
"""
