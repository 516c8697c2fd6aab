# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: win_copy
short_description: Stand-in for ansible.windows.win_copy
description:
  - One file, sent by the action plugin beside it, or one that is on the machine already. C(content) is the action plugin's, as in the real
    collection.
author: The maintenance.azure authors
"""

import hashlib
import os
import shutil

from ansible_collections.ansible.windows.plugins.module_utils.playing import begin, told

ARGUMENTS = {
    "dest": {"type": "str", "required": True},
    "src": {"type": "str"},
    "force": {"type": "bool", "default": True},
    "remote_src": {"type": "bool", "default": False},
    "backup": {"type": "bool", "default": False},
    "_checksum": {"type": "str"},
    "_original_basename": {"type": "str"},
    "_copy_mode": {"type": "str", "default": "single", "choices": ["query", "single", "remote"]},
}


def checksum(path):
    with open(path, "rb") as source:
        return hashlib.sha1(source.read()).hexdigest()


def main():
    module, machine = begin(ARGUMENTS)
    options = module.params
    with told(module):
        target = machine.path(options["dest"])
        if options["dest"][-1:] in "\\/" or os.path.isdir(target):
            target = os.path.join(target, options["_original_basename"] or os.path.basename(options["src"].replace("\\", "/")))
        if options["_copy_mode"] == "query":
            same = os.path.isfile(target) and (not options["force"] or checksum(target) == options["_checksum"])
            module.exit_json(changed=False, needed=not same)
        source = machine.path(options["src"] or "")
        if not os.path.isfile(source):
            module.fail_json(msg="Cannot copy src file: '%s' as it does not exist" % options["src"])
        if not os.path.isdir(os.path.dirname(target)):
            module.fail_json(msg="Destination directory '%s' does not exist" % machine.windows(os.path.dirname(target)))
        if options["_copy_mode"] == "remote" and os.path.isfile(target) and (not options["force"] or checksum(target) == checksum(source)):
            module.exit_json(changed=False)
        if not module.check_mode:
            shutil.copyfile(source, target)
        module.exit_json(changed=True)


if __name__ == "__main__":
    main()
