# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

DOCUMENTATION = r"""
module: choose_vms
short_description: (internal) Choose the hosts to look at for an event that a message is about
version_added: 2.1.0
author: The maintenance.azure authors (@maintenance-azure)
description:
  - Internal, for playbook C(maintenance.azure.respond_event). It runs on the controller.
  - It finds the hosts of the play that have the names, the members of their capacity groups, and hosts that keep replicas of their records.
  - A host has its name in the inventory, that without its domain, C(respond_vm_name), and the name in the resource ID of C(azure.azcollection)'s inventory.
options:
  names: {type: list, elements: str, required: true, description: The names of the VMs in messages about the event.}
extends_documentation_fragment: [maintenance.azure.attributes, maintenance.azure.attributes.read_only]
"""

EXAMPLES = r"""
- name: Choose the hosts for an event of web1
  maintenance.azure.choose_vms:
    names: [web1]
"""

RETURN = r"""
hosts: {type: list, elements: str, returned: success, description: "The hosts, in the order of the inventory.", sample: [web1, web2]}
is_all: {type: bool, returned: success, description: "Whether these are all hosts of the play, because a name is unknown or there is none."}
"""
