# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: win_wait_for
short_description: Stand-in for ansible.windows.win_wait_for
description: Ports and files. It is played on the controller; see README.md of this collection.
author: The maintenance.azure authors
"""

import os
import socket
import time

from ansible_collections.ansible.windows.plugins.module_utils.playing import begin, told

ARGUMENTS = {
    "connect_timeout": {"type": "int", "default": 5},
    "delay": {"type": "int"},
    "host": {"type": "str", "default": "127.0.0.1"},
    "path": {"type": "path"},
    "port": {"type": "int"},
    "sleep": {"type": "int", "default": 1},
    "state": {"type": "str", "default": "started", "choices": ["present", "started", "stopped", "absent"]},
    "timeout": {"type": "int", "default": 300},
}


def is_there(machine, options):
    if options["path"] is not None:
        return os.path.exists(machine.path(options["path"]))
    try:
        socket.create_connection((options["host"], options["port"]), options["connect_timeout"]).close()
        return True
    except OSError:
        return False


def main():
    module, machine = begin(ARGUMENTS)
    options = module.params
    if options["port"] is not None and options["path"] is not None:
        module.fail_json(msg="port and path parameter can not both be passed to win_wait_for")
    began = time.monotonic()
    wanted = options["state"] in ("present", "started")
    time.sleep(options["delay"] or 0)
    started, attempts, complete = time.monotonic(), 0, False
    with told(module):
        if options["port"] is None and options["path"] is None:
            time.sleep(options["timeout"])
            complete = True
        while not complete and time.monotonic() - started < options["timeout"]:
            attempts += 1
            complete = is_there(machine, options) == wanted
            if not complete:
                time.sleep(options["sleep"])
    elapsed = time.monotonic() - began
    if complete:
        module.exit_json(changed=False, elapsed=elapsed, wait_attempts=attempts)
    if options["path"] is not None:
        message = "timeout while waiting for file %s to be %s" % (options["path"], "present" if wanted else "absent")
    else:
        message = "timeout while waiting for %s:%s to %s listening" % (options["host"], options["port"], "start" if wanted else "stop")
    module.fail_json(msg=message, elapsed=elapsed, wait_attempts=attempts)


if __name__ == "__main__":
    main()
