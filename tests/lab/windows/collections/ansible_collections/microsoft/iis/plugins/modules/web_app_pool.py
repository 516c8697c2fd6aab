# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: web_app_pool
short_description: Stand-in for microsoft.iis.web_app_pool
description: See README.md of this collection.
author: The maintenance.azure authors
"""

from ansible_collections.ansible.windows.plugins.module_utils.playing import begin
from ansible_collections.microsoft.iis.plugins.module_utils.world import read, write

STATES = {"started": "Started", "stopped": "Stopped"}


def main():
    module, machine = begin({"name": {"type": "str", "required": True}, "state": {"type": "str", "required": True, "choices": ["started", "stopped"]}})
    world, name, wanted = read(machine), module.params["name"], STATES[module.params["state"]]
    # The real one makes a pool that is not there.
    changed = world["pools"].get(name) != wanted
    if changed and not module.check_mode:
        world["pools"][name] = "Stopping" if wanted == "Stopped" and name in world["slow"] else wanted
        write(machine, world)
    module.exit_json(changed=changed)


if __name__ == "__main__":
    main()
