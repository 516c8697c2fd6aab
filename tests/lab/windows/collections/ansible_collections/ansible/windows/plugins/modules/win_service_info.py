# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: win_service_info
short_description: Stand-in for ansible.windows.win_service_info
description: Services are files of the played machine; see README.md of this collection.
author: The maintenance.azure authors
"""

from ansible_collections.ansible.windows.plugins.module_utils.playing import begin
from ansible_collections.ansible.windows.plugins.module_utils.services import described, find


def main():
    module, machine = begin({"name": {"type": "str"}})
    found = find(machine, module.params["name"]) if module.params["name"] else machine.services()
    services = [described(machine, name, service) for name, service in found.items()]
    module.exit_json(changed=False, exists=bool(services), services=services)


if __name__ == "__main__":
    main()
