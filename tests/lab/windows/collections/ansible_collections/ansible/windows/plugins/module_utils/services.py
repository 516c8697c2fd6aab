# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Services of the played machine, and what win_service_info says of one."""

from __future__ import annotations

import fnmatch
import os


def find(machine, name):
    """Name and description of the services that a name means: its own name, else a name to be shown, else a pattern."""
    services = machine.services()
    for matches in (
        lambda own, _shown: own.lower() == name.lower(),
        lambda _own, shown: shown.lower() == name.lower(),
        lambda own, _shown: fnmatch.fnmatchcase(own.lower(), name.lower()),
    ):
        found = {own: service for own, service in services.items() if matches(own, service.get("display_name", own))}
        if found:
            return found
    return {}


def keep(machine, name, service):
    machine.write(os.path.join("services", name + ".json"), service)


def described(machine, name, service):
    state = service.get("state", "stopped")
    others = machine.services()
    return {
        "checkpoint": 0,
        "controls_accepted": ["stop"] if state == "started" else [],
        "dependencies": service.get("dependencies", []),
        "dependency_of": [other for other, its in others.items() if name in its.get("dependencies", [])],
        "description": service.get("description"),
        "desktop_interact": False,
        "display_name": service.get("display_name", name),
        "error_control": "normal",
        "failure_actions": [],
        "failure_actions_on_non_crash_failure": False,
        "failure_command": None,
        "failure_reboot_msg": None,
        "failure_reset_period_sec": 0,
        "launch_protection": "none",
        "load_order_group": "",
        "name": name,
        "path": service.get("path", "C:\\Windows\\%s.exe" % name),
        "pre_shutdown_timeout_ms": 180000,
        "preferred_node": None,
        "process_id": 4242 if state == "started" else 0,
        "required_privileges": [],
        "service_exit_code": 0,
        "service_flags": [],
        "service_type": "win32_own_process",
        "sid_info": "none",
        "start_mode": service.get("start_mode", "auto"),
        "state": state,
        "triggers": [],
        "username": "NT AUTHORITY\\SYSTEM",
        "wait_hint_ms": 0,
        "win32_exit_code": service.get("exit_code", 0),
    }
