# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: win_file
short_description: Stand-in for ansible.windows.win_file
description: Files and folders of the played drive; see README.md of this collection.
author: The maintenance.azure authors
"""

import os
import shutil

from ansible_collections.ansible.windows.plugins.module_utils.playing import begin, told

ARGUMENTS = {
    "path": {"type": "str", "required": True, "aliases": ["dest", "name"]},
    "state": {"type": "str", "choices": ["absent", "directory", "file", "touch"]},
}


def change(module, path, state):
    """Whether that changed, or would change, anything."""
    given = module.params["path"]
    if os.path.exists(path):
        return change_present(module, path, state)
    if state in (None, "file"):
        module.fail_json(msg="path %s will not be created" % given, changed=False)
    if state == "absent":
        return False
    if not module.check_mode and state == "directory":
        os.makedirs(path)
    elif not module.check_mode:
        if not os.path.isdir(os.path.dirname(path)):
            module.fail_json(msg="Could not find a part of the path '%s'." % given, changed=False)
        open(path, "a").close()
    return True


def change_present(module, path, state):
    if state == "absent":
        if not module.check_mode:
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        return True
    if (state == "directory") != os.path.isdir(path) and state in ("directory", "file"):
        module.fail_json(msg="path %s is not a %s" % (module.params["path"], state), changed=False)
    if state == "touch" and not module.check_mode:
        os.utime(path)
    return state == "touch"


def main():
    module, machine = begin(ARGUMENTS)
    with told(module):
        module.exit_json(changed=change(module, machine.path(module.params["path"]), module.params["state"]))


if __name__ == "__main__":
    main()
