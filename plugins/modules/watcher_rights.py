#!/usr/bin/python

# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: watcher_rights
short_description: Refuse a folder of a Windows VM that other users could change
version_added: 2.2.0
author:
  - The maintenance.azure authors (@maintenance-azure)
description:
  - For the role P(maintenance.azure.watch#role) of this collection only. It runs on the controller, and changes nothing.
  - Fails with one line where another user than the administrators, the system and the connecting user owns the folder or may write there, and where that cannot
    be read.
options:
  folder:
    description: The path of the folder.
    type: str
    required: true
  printed:
    description: Its security descriptor (SDDL) and the SID of the connecting user, as the VM printed them.
    type: list
    elements: str
    required: true
  writers:
    description: SIDs, or their letters in SDDL, of other users who may write there.
    type: list
    elements: str
    default: []
  parent:
    description: Whether it matters only for files that it holds itself, so that others may make folders in it.
    type: bool
    default: false
  next:
    description: What to do where another user may write there; the end of the message.
    type: str
    required: true
seealso:
  - module: maintenance.azure.watcher_drain
extends_documentation_fragment:
  - maintenance.azure.attributes
  - maintenance.azure.attributes.read_only
"""

EXAMPLES = r"""
- name: Refuse a folder into which users can put files
  maintenance.azure.watcher_rights:
    folder: C:\Tools
    printed: ["O:BAG:SYD:PAI(A;OICI;FA;;;BA)(A;OICI;0x1301bf;;;BU)", S-1-5-21-1-2-3-1001]
    next: "Next: move the program below C:\\Program Files."
"""

RETURN = r""" # """

from ansible.module_utils.basic import AnsibleModule

ARGUMENTS = {
    "folder": {"type": "str", "required": True},
    "printed": {"type": "list", "elements": "str", "required": True},
    "writers": {"type": "list", "elements": "str", "default": []},
    "parent": {"type": "bool", "default": False},
    "next": {"type": "str", "required": True},
}


def main() -> None:
    """Fail: the action plugin of the same name does the work, on the controller."""
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    module.fail_json(msg="maintenance.azure.watcher_rights runs on the controller: call it by this name, so that its action plugin is used.")


if __name__ == "__main__":
    main()
