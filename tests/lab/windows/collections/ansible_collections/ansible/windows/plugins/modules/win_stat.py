# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: win_stat
short_description: Stand-in for ansible.windows.win_stat
description: Files and folders of the played drive, no links; see README.md of this collection.
author: The maintenance.azure authors
"""

import hashlib
import os

from ansible_collections.ansible.windows.plugins.module_utils.playing import begin, told

ARGUMENTS = {
    "path": {"type": "str", "required": True, "aliases": ["dest", "name"]},
    "get_checksum": {"type": "bool", "default": True},
    "get_size": {"type": "bool", "default": True},
    "checksum_algorithm": {"type": "str", "default": "sha1", "choices": ["md5", "sha1", "sha256", "sha384", "sha512"]},
    "follow": {"type": "bool", "default": False},
}


def look(machine, path, options):
    status = os.stat(path)
    is_directory = os.path.isdir(path)
    found = {
        "exists": True,
        "attributes": "Directory" if is_directory else "Archive",
        "isarchive": not is_directory,
        "isdir": is_directory,
        "ishidden": False,
        "isjunction": False,
        "islnk": False,
        "isreadonly": False,
        "isreg": not is_directory,
        "isshared": False,
        "nlink": 1,
        "hlnk_targets": [],
        "creationtime": status.st_ctime,
        "lastaccesstime": status.st_atime,
        "lastwritetime": status.st_mtime,
        "path": machine.windows(path),
        "filename": os.path.basename(path),
        "owner": "BUILTIN\\Administrators",
    }
    if not is_directory:
        found["extension"] = os.path.splitext(path)[1]
    if options["get_size"]:
        inside = [os.path.getsize(os.path.join(at, name)) for at, _folders, names in os.walk(path) for name in names]
        found["size"] = sum(inside) if is_directory else status.st_size
    if options["get_checksum"] and not is_directory:
        with open(path, "rb") as source:
            found["checksum"] = hashlib.new(options["checksum_algorithm"], source.read()).hexdigest()
    return found


def main():
    module, machine = begin(ARGUMENTS)
    with told(module):
        path = machine.path(module.params["path"])
        found = look(machine, path, module.params) if os.path.exists(path) else {"exists": False}
        module.exit_json(changed=False, stat=found)


if __name__ == "__main__":
    main()
