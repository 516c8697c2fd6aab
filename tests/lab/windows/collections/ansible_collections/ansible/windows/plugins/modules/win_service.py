# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: win_service
short_description: Stand-in for ansible.windows.win_service
description: Services are files of the played machine, changed at once; see README.md of this collection.
author: The maintenance.azure authors
"""

from ansible_collections.ansible.windows.plugins.module_utils.playing import begin
from ansible_collections.ansible.windows.plugins.module_utils.services import described, find, keep

ARGUMENTS = {
    "name": {"type": "str", "required": True},
    "display_name": {"type": "str"},
    "path": {"type": "str"},
    "dependencies": {"type": "list", "elements": "str"},
    "description": {"type": "str"},
    "force_dependent_services": {"type": "bool", "default": False},
    "start_mode": {"type": "str", "choices": ["auto", "manual", "disabled", "delayed"]},
    "state": {"type": "str", "choices": ["started", "stopped", "restarted", "absent", "paused"]},
}
SETTINGS = ("display_name", "path", "dependencies", "description", "start_mode")


class Unable(Exception):
    """Windows would not do it."""


def stop(machine, name, service, force, write):
    """Those that need it first, if they may be stopped; else it cannot be."""
    running = {other: its for other, its in machine.services().items() if name in its.get("dependencies", []) and its.get("state") == "started"}
    if running and not force:
        raise Unable("Cannot stop service '%s' because it has dependent services. It can only be stopped if the Force flag is set." % name)
    if "stop" in service.get("cannot", []):
        raise Unable("Service '%s' cannot be stopped due to the following error: Cannot stop %s service on computer '.'." % (name, name))
    for other, its in running.items():
        stop(machine, other, its, force, write)
    service["state"] = "stopped"
    write(name, service)


def start(machine, name, service, write):
    if service.get("start_mode") == "disabled" or "start" in service.get("cannot", []):
        raise Unable("Service '%s' cannot be started due to the following error: Cannot start service %s on computer '.'." % (name, name))
    for other in service.get("dependencies", []):
        needed = machine.services().get(other)
        if needed and needed.get("state") != "started":
            start(machine, other, needed, write)
    service["state"] = "started"
    write(name, service)


def change(machine, name, service, options, write):
    """Bring the service to the state asked for; whether that changed anything."""
    wanted, now = options["state"], service.get("state", "stopped")
    changed = False
    for key in SETTINGS:
        if options[key] is not None and options[key] != service.get(key):
            service[key] = options[key]
            changed = True
    if changed:
        write(name, service)
    if wanted == "started" and now != "started":
        start(machine, name, service, write)
    elif wanted == "stopped" and now != "stopped":
        stop(machine, name, service, options["force_dependent_services"], write)
    elif wanted == "restarted":
        stop(machine, name, service, options["force_dependent_services"], write)
        start(machine, name, service, write)
    elif wanted == "paused" and now != "paused":
        raise Unable("failed to pause service %s: The service does not support pausing" % name)
    else:
        return changed
    return True


def main():
    module, machine = begin(ARGUMENTS)
    options = module.params
    found = find(machine, options["name"])
    if not found and options["state"] is None and all(options[key] is None for key in SETTINGS):
        module.exit_json(changed=False, exists=False)
    if options["state"] == "absent":
        module.fail_json(msg="stand-in: state absent is not played", exists=bool(found))
    if not found:
        module.fail_json(msg="Service '%s' is not installed, need to set 'path' to create a new service" % options["name"], exists=False, changed=False)
    (name, service), *_more = found.items()

    def write(its_name, its):
        if not module.check_mode:
            keep(machine, its_name, its)

    try:
        changed = change(machine, name, service, options, write)
    except Unable as error:
        module.fail_json(msg="Unhandled exception while executing module: %s" % error, changed=False, exists=False)
    after = described(machine, name, service)
    result = {key: after[key] for key in ("dependencies", "description", "desktop_interact", "display_name", "name", "path", "start_mode")}
    state = "running" if after["state"] == "started" else after["state"].replace("_", "")
    result.update(username="LocalSystem", can_pause_and_continue=False, depended_by=after["dependency_of"])
    module.exit_json(changed=changed, exists=True, state=state, **result)


if __name__ == "__main__":
    main()
