# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: website_info
short_description: Stand-in for microsoft.iis.website_info
description: See README.md of this collection.
author: The maintenance.azure authors
"""

from ansible_collections.ansible.windows.plugins.module_utils.playing import begin
from ansible_collections.microsoft.iis.plugins.module_utils.world import read


def main():
    module, machine = begin({"name": {"type": "str"}})
    wanted = module.params["name"]
    sites = {name: site for name, site in read(machine)["sites"].items() if wanted in (None, name)}
    described = [
        {"name": name, "state": site["state"], "site_id": number, "physical_path": "C:\\inetpub", "application_pool": site.get("pool"), "bindings": []}
        for number, (name, site) in enumerate(sites.items(), start=1)
    ]
    module.exit_json(changed=False, exists=bool(described), site=described)


if __name__ == "__main__":
    main()
