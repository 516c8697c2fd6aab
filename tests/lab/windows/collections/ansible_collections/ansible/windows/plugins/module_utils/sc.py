# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stand-in for sc.exe: stop, start and pause of the played machine's services. The exit codes are Windows' system error codes.

A service with "slow" in its file stays stop_pending or start_pending until a test says otherwise; one with "broken" ends with that exit
code after each start.
"""

from __future__ import annotations

from .machine import Refused
from .services import keep


def stop(machine, name, service):
    if service.get("state", "stopped") == "stopped":
        return 1062
    if service["state"] == "stop_pending":
        return 1061
    needed_by = [its for its in machine.services().values() if name in its.get("dependencies", [])]
    if any(its.get("state", "stopped") != "stopped" for its in needed_by):
        return 1051
    keep(machine, name, dict(service, state="stop_pending" if service.get("slow") else "stopped"))
    return 0


def start(machine, name, service):
    if service.get("state", "stopped") != "stopped":
        return 1056
    if service.get("start_mode") == "disabled":
        return 1058
    for other in service.get("dependencies", []):
        start(machine, other, machine.services()[other])
    if service.get("broken"):
        keep(machine, name, dict(service, exit_code=service["broken"]))
    else:
        keep(machine, name, dict(service, state="start_pending" if service.get("slow") else "started"))
    return 0


def pause(machine, name, service):
    if service.get("state") != "started":
        return 1062
    keep(machine, name, dict(service, state="paused"))
    return 0


ORDERS = {"stop": stop, "start": start, "pause": pause}


def sc(machine, arguments):
    if len(arguments) != 2 or arguments[0] not in ORDERS:
        raise Refused("stand-in: these options of sc.exe are not played: %s" % " ".join(arguments))
    order, wanted = arguments
    found = {name: service for name, service in machine.services().items() if name.lower() == wanted.lower()}
    code = 1060
    for name, service in found.items():
        code = ORDERS[order](machine, name, service)
    return code, ("[SC] stand-in: %s\r\n" % code).encode(), b""
