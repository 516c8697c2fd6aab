# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: win_command
short_description: Stand-in for ansible.windows.win_command
description:
  - A line of cmd.exe (C(cmd.exe /d /s /c "LINE")) is read and played by P(cmd_line), C(eventcreate) is written down, C(sc) and C(schtasks)
    are played, and a program below C(programs) of the played machine is run.
  - Anything else is run by /bin/sh in drive C of the played machine. That is nothing that Windows would do; the result says so.
author: The maintenance.azure authors
"""

import datetime
import os
import re
import subprocess

from ansible_collections.ansible.windows.plugins.module_utils.cmd_line import Cmd
from ansible_collections.ansible.windows.plugins.module_utils.machine import HOME_VARIABLE, Refused
from ansible_collections.ansible.windows.plugins.module_utils.playing import begin, told
from ansible_collections.ansible.windows.plugins.module_utils.sc import sc
from ansible_collections.ansible.windows.plugins.module_utils.schtasks import schtasks

ARGUMENTS = {
    "_raw_params": {"type": "str"},
    "cmd": {"type": "str"},
    "argv": {"type": "list", "elements": "str"},
    "chdir": {"type": "str"},
    "creates": {"type": "str"},
    "removes": {"type": "str"},
    "stdin": {"type": "str"},
}
WAYS = ("_raw_params", "argv", "cmd")
CMD = re.compile(r'(?:C:\\Windows\\System32\\)?cmd(?:\.exe)? /d /s /c "(.*)"', re.IGNORECASE | re.DOTALL)
NOT_FOUND = "The system cannot find the file specified"


def eventcreate(machine, arguments):
    """Options come in pairs. The source must not be one that Windows has already for something else; that is not played."""
    options = {arguments[at].lower().lstrip("/"): arguments[at + 1] for at in range(0, len(arguments) - 1, 2)}
    if len(arguments) % 2 or not {"t", "id", "d"} <= set(options) or not set(options) <= {"l", "t", "so", "id", "d"}:
        raise Refused("stand-in: these options of eventcreate are not played: %s" % " ".join(arguments))
    if not 1 <= int(options["id"]) <= 1000 or options["t"].upper() not in ("SUCCESS", "ERROR", "WARNING", "INFORMATION"):
        return 1, b"", b"ERROR: Invalid value.\r\n"
    machine.note("eventlog.jsonl", options)
    said = "\r\nSUCCESS: An event of type '%s' was created in the '%s' log with '%s' as the source.\r\n"
    return 0, (said % (options["t"].upper(), options.get("l", "Application"), options.get("so", "EventCreate"))).encode(), b""


def shell(machine, command, folder, stdin):
    """A process of this machine, which knows where its "Windows" is."""
    given = (stdin or "").encode()
    environment = dict(os.environ, **{HOME_VARIABLE: machine.home})
    done = subprocess.run(command, input=given, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout, done.stderr


def run(machine, options, result):
    current = options["chdir"] or "C:\\"
    folder = machine.path(current)
    if options["argv"]:
        program, *arguments = options["argv"]
        name = re.sub(r"\.exe$", "", program.rsplit("\\", 1)[-1].lower())
        if name == "eventcreate":
            return eventcreate(machine, arguments)
        if name == "sc":
            return sc(machine, arguments)
        if name == "schtasks":
            return schtasks(machine, arguments)
        path = os.path.join(machine.home, "programs", name)
        if not os.path.exists(path):
            raise FileNotFoundError(program)
        return shell(machine, ["/bin/sh", path, *arguments], folder, options["stdin"])
    line = (options["cmd"] or options["_raw_params"]).strip()
    found = CMD.fullmatch(line)
    if found:
        return Cmd(machine, current).run(found[1])
    result["stand_in"] = "run by /bin/sh"
    return shell(machine, ["/bin/sh", "-c", line], folder, options["stdin"])


def main():
    module, machine = begin(ARGUMENTS, check_mode=False, required_one_of=[WAYS], mutually_exclusive=[WAYS])
    options = module.params
    command = " ".join(options["argv"]) if options["argv"] else (options["cmd"] or options["_raw_params"]).strip()
    result = {"changed": False, "cmd": command, "rc": 0}
    with told(module):
        for name, present, words in (("creates", True, "exists"), ("removes", False, "does not exist")):
            if options[name] and os.path.exists(machine.path(options[name])) == present:
                module.exit_json(msg="skipped, since %s %s" % (options[name], words), skipped=True, **result)
        began = datetime.datetime.now(datetime.timezone.utc)
        try:
            code, output, errors = run(machine, options, result)
        except FileNotFoundError:
            result["rc"] = 2
            module.fail_json(msg="Failed to run: '%s': %s" % (command, NOT_FOUND), **result)
    ended = datetime.datetime.now(datetime.timezone.utc)
    moment = "%Y-%m-%d %H:%M:%S.%f"
    result.update(changed=True, rc=code, stdout=output.decode("utf-8", "replace"), stderr=errors.decode("utf-8", "replace"))
    result.update(start=began.strftime(moment), end=ended.strftime(moment), delta=str(ended - began))
    if code != 0:
        module.fail_json(msg="non-zero return code", **result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
