# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

DOCUMENTATION = r"""
module: watcher_settings
short_description: (internal) Check what is set for the watcher of a VM
version_added: 2.2.0
author: The maintenance.azure authors (@maintenance-azure)
description:
  - Internal, for role P(maintenance.azure.watch#role). It runs on the controller, and fails with one line that says what to correct.
  - Without O(settings) it warns of variables of the host whose names are almost an option of this collection, and fails for one that is almost
    O(maintenance.azure.watch#role:main:watch_state), because the role might install what is to be removed.
options:
  settings: {type: dict, description: "The settings of the watcher, as its file has them, whose values are checked."}
extends_documentation_fragment: [maintenance.azure.attributes, maintenance.azure.attributes.read_only]
"""

EXAMPLES = r"""
- name: Warn of misspelt options
  maintenance.azure.watcher_settings:
"""

RETURN = r""" # """
