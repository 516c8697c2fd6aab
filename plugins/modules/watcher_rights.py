# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

DOCUMENTATION = r"""
module: watcher_rights
short_description: (internal) Refuse a folder of a Windows VM that other users could change
version_added: 2.2.0
author: The maintenance.azure authors (@maintenance-azure)
description:
  - Internal, for role P(maintenance.azure.watch#role). It runs on the controller.
  - Fails with one line where another user than the administrators, the system and the connecting user owns the folder or may write there, and where
    that cannot be read.
options:
  folder: {type: str, required: true, description: The path of the folder.}
  printed: {type: list, elements: str, required: true, description: Its security descriptor (SDDL) and the SID of the connecting user.}
  writers: {type: list, elements: str, default: [], description: "SIDs, or their letters in SDDL, of other users who may write there."}
  parent: {type: bool, default: false, description: "Whether it matters only for files that it holds itself, so that others may make folders in it."}
  next: {type: str, required: true, description: What to do where another user may write there; the end of the message.}
extends_documentation_fragment: [maintenance.azure.attributes, maintenance.azure.attributes.read_only]
"""

EXAMPLES = r"""
- name: Refuse a folder into which users can put files
  maintenance.azure.watcher_rights:
    folder: C:\Tools
    printed: ["O:BAG:SYD:PAI(A;OICI;FA;;;BA)(A;OICI;0x1301bf;;;BU)", S-1-5-21-1-2-3-1001]
    next: "Next: move the program below C:\\Program Files."
"""

RETURN = r""" # """
