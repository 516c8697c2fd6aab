# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: web_app_pool_info
short_description: Stand-in for microsoft.iis.web_app_pool_info
description: See README.md of this collection.
author: The maintenance.azure authors
"""

from ansible_collections.ansible.windows.plugins.module_utils.playing import begin
from ansible_collections.microsoft.iis.plugins.module_utils.world import read


def main():
    module, machine = begin({"name": {"type": "str"}})
    wanted = module.params["name"]
    pools = {name: state for name, state in read(machine)["pools"].items() if wanted in (None, name)}
    if wanted and not pools:
        module.fail_json(msg="Failed to fetch the info of the required application pool Exception: You cannot call a method on a null-valued expression.")
    described = [{"name": name, "attributes": {"name": name, "state": state, "autoStart": True}} for name, state in pools.items()]
    module.exit_json(changed=False, exists=bool(described), app_pools=described)


if __name__ == "__main__":
    main()
