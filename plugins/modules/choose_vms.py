#!/usr/bin/python

# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: choose_vms
short_description: Choose the hosts to look at for an event that a message is about
version_added: 2.1.0
author:
  - The maintenance.azure authors (@maintenance-azure)
description:
  - For playbook C(maintenance.azure.respond_event) of this collection. It runs on the controller, and changes nothing.
  - It finds the hosts of the play that have the given names, the members of their capacity groups
    (O(maintenance.azure.respond#role:main:respond_capacity)), and hosts that keep copies of their records.
  - A host has its name in the inventory, that without its domain, C(respond_vm_name), and the name in the resource ID of C(azure.azcollection)'s inventory.
    Names are compared; no pattern is made of them. Where a name is unknown, all hosts of the play are looked at, because any of them may have it.
options:
  names:
    description: The names of the VMs in messages about the event.
    type: list
    elements: str
    required: true
seealso:
  - module: maintenance.azure.plan
extends_documentation_fragment:
  - maintenance.azure.attributes
  - maintenance.azure.attributes.read_only
"""

EXAMPLES = r"""
- name: Choose the hosts for an event of web1
  maintenance.azure.choose_vms:
    names: [web1]
  register: chosen
  run_once: true
"""

RETURN = r"""
hosts:
  description: The hosts, in the order of the inventory.
  returned: success
  type: list
  elements: str
  sample: [web1, web2, web3]
is_all:
  description: Whether these are all hosts of the play, because a name is unknown or there is none.
  returned: success
  type: bool
  sample: false
"""

from ansible.module_utils.basic import AnsibleModule

ARGUMENTS = {"names": {"type": "list", "elements": "str", "required": True}}


def main() -> None:
    """Fail: the action plugin of the same name does the work, on the controller."""
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    module.fail_json(msg="maintenance.azure.choose_vms runs on the controller: call it by this name, so that its action plugin is used.")


if __name__ == "__main__":
    main()
