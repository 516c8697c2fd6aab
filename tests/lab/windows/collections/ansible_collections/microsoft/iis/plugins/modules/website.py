# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: website
short_description: Stand-in for microsoft.iis.website
description: See README.md of this collection.
author: The maintenance.azure authors
"""

from ansible_collections.ansible.windows.plugins.module_utils.playing import begin
from ansible_collections.microsoft.iis.plugins.module_utils.world import read, write

STATES = {"started": "Started", "stopped": "Stopped"}


def main():
    module, machine = begin({"name": {"type": "str", "required": True}, "state": {"type": "str", "choices": ["started", "stopped"], "default": "started"}})
    world, wanted = read(machine), STATES[module.params["state"]]
    site = world["sites"].get(module.params["name"])
    if site is None:
        module.fail_json(msg="missing required arguments: physical_path")
    changed, site["state"] = site["state"] != wanted, wanted
    if changed and not module.check_mode:
        write(machine, world)
    module.exit_json(changed=changed)


if __name__ == "__main__":
    main()
