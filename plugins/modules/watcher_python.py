#!/usr/bin/python

# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

DOCUMENTATION = r"""
module: watcher_python
short_description: (internal) Find the Python of the watcher on a Linux VM, and refuse one that other users could change
version_added: 2.2.0
author: The maintenance.azure authors (@maintenance-azure)
description:
  - Internal, for role P(maintenance.azure.watch#role). It changes nothing.
  - Fails with one line, before the program is run, where another user than root and the connecting one owns the program, its standard library or a
    folder or link on the way there, or where others may write one of them. In a folder with the sticky bit, such as C(/tmp), others may write.
options:
  python: {type: str, required: true, description: "The path of the program, or its name where it is in C(PATH)."}
extends_documentation_fragment: [maintenance.azure.attributes, maintenance.azure.attributes.checked, maintenance.azure.attributes.read_only]
"""

EXAMPLES = r"""
- name: Find Python
  maintenance.azure.watcher_python:
    python: python3
"""

RETURN = r"""
executable: {type: str, returned: success, description: The path of the program., sample: /usr/bin/python3}
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._scheduled_events.host.access import Failed
from ..module_utils._scheduled_events.operations.watcher_python import find_python, watcher_python_arguments


def main() -> None:
    module = AnsibleModule(argument_spec=watcher_python_arguments(), supports_check_mode=True)
    try:
        module.exit_json(changed=False, **find_python(module.params["python"], module.run_command))
    except Failed as failed:
        module.fail_json(**failed.result)


if __name__ == "__main__":
    main()
