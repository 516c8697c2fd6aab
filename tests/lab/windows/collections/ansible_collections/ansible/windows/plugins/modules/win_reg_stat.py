# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: win_reg_stat
short_description: Stand-in for ansible.windows.win_reg_stat
description: Reads registry.json of the played machine; see README.md of this collection.
author: The maintenance.azure authors
"""

import re

from ansible_collections.ansible.windows.plugins.module_utils.playing import begin


def entry(value):
    return {"type": value.get("type", "REG_SZ"), "value": value["value"], "raw_value": value.get("raw_value", value["value"])}


def main():
    module, machine = begin({"path": {"type": "str", "required": True, "aliases": ["key"]}, "name": {"type": "str", "aliases": ["entry", "value"]}})
    path, name = module.params["path"], module.params["name"]
    if not re.match(r"HK(CC|CR|CU|LM|U):\\", path, re.IGNORECASE):
        module.fail_json(msg="path: %s is not a valid registry path, see module documentation for examples." % path)
    keys = {key.lower().rstrip("\\"): values for key, values in machine.read("registry.json", {}).items()}
    wanted = path.lower().rstrip("\\")
    below = sorted({key[len(wanted) + 1 :].split("\\")[0] for key in keys if key.startswith(wanted + "\\")})
    if wanted not in keys and not below:
        module.exit_json(changed=False, exists=False)
    values = keys.get(wanted, {})
    if name is None:
        module.exit_json(changed=False, exists=True, properties={key: entry(value) for key, value in values.items()}, sub_keys=below)
    found = next((value for key, value in values.items() if key.lower() == name.lower()), None)
    if found is None:
        module.exit_json(changed=False, exists=False)
    module.exit_json(changed=False, exists=True, **entry(found))


if __name__ == "__main__":
    main()
