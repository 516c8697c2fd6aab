# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: win_ping
short_description: Stand-in for ansible.windows.win_ping
description: It is played on the controller; see README.md of this collection.
author: The maintenance.azure authors
options:
  data:
    description: What is answered.
    type: str
    default: pong
"""

from ansible_collections.ansible.windows.plugins.module_utils.playing import begin


def main():
    module, _machine = begin({"data": {"type": "str", "default": "pong"}})
    if module.params["data"] == "crash":
        raise Exception("boom")
    module.exit_json(ping=module.params["data"])


if __name__ == "__main__":
    main()
