#!/usr/bin/python

# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: watcher_settings
short_description: Check what is set for the watcher of a VM
version_added: 2.2.0
author:
  - The maintenance.azure authors (@maintenance-azure)
description:
  - For the role P(maintenance.azure.watch#role) of this collection only. It runs on the controller, and changes nothing.
  - Without O(settings) it checks the names of the host's variables, and warns of those that are almost an option of this collection. Ansible ignores them.
    It fails for a name that is almost O(maintenance.azure.watch#role:main:watch_state), because the role might install what is to be removed.
  - Fails with one line that says what to correct, by the name of the role's option.
options:
  settings:
    description: The settings of the watcher, as its file has them. When given, their values are checked, and no names.
    type: dict
seealso:
  - module: maintenance.azure.watcher_drain
extends_documentation_fragment:
  - maintenance.azure.attributes
  - maintenance.azure.attributes.read_only
"""

EXAMPLES = r"""
- name: Warn of misspelt options
  maintenance.azure.watcher_settings:

- name: Refuse what the watcher would refuse
  maintenance.azure.watcher_settings:
    settings:
      endpoint: http://169.254.169.254
      tell_folder: /srv/news
"""

RETURN = r""" # """

from ansible.module_utils.basic import AnsibleModule

ARGUMENTS = {"settings": {"type": "dict"}}


def main() -> None:
    """Fail: the action plugin of the same name does the work, on the controller."""
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    module.fail_json(msg="maintenance.azure.watcher_settings runs on the controller: call it by this name, so that its action plugin is used.")


if __name__ == "__main__":
    main()
