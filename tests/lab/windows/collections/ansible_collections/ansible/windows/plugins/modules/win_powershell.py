# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: win_powershell
short_description: Stand-in for ansible.windows.win_powershell
description:
  - No PowerShell is run. The script and its parameters are noted in calls.jsonl, and the answer comes from powershell.json of the played
    machine, a list. The first entry whose C(contains) is in the script answers, with the keys of C(answer) over those of a script that did
    nothing; or by the program C(run), which reads C({"script", "parameters", "check_mode"}) as JSON and prints such an answer.
  - Without an entry it fails, so that nothing is believed to work by not being played.
author: The maintenance.azure authors
"""

import json
import os
import subprocess

from ansible_collections.ansible.windows.plugins.module_utils.machine import HOME_VARIABLE
from ansible_collections.ansible.windows.plugins.module_utils.playing import begin

ARGUMENTS = {
    "arguments": {"type": "list", "elements": "str"},
    "chdir": {"type": "str"},
    "creates": {"type": "str"},
    "depth": {"type": "int", "default": 2},
    "error_action": {"type": "str", "choices": ["silently_continue", "continue", "stop"], "default": "continue"},
    "parameters": {"type": "dict"},
    "removes": {"type": "str"},
    "script": {"type": "str", "required": True},
}


def nothing():
    streams = {name: [] for name in ("output", "error", "warning", "verbose", "debug", "information")}
    # A script that says nothing has changed something.
    return dict(streams, result={}, host_out="", host_err="", changed=True, failed=False)


def answer(machine, entry, question):
    if "run" not in entry:
        return entry.get("answer", {})
    environment = dict(os.environ, **{HOME_VARIABLE: machine.home})
    done = subprocess.run(entry["run"], input=json.dumps(question).encode(), stdout=subprocess.PIPE, env=environment, check=True)
    return json.loads(done.stdout)


def main():
    module, machine = begin(ARGUMENTS)
    options = module.params
    question = {"script": options["script"], "parameters": options["parameters"] or {}, "check_mode": module.check_mode}
    for entry in machine.read("powershell.json", []):
        if entry["contains"] in options["script"]:
            result = dict(nothing(), **answer(machine, entry, question))
            if result.get("failed"):
                module.fail_json(**dict({"msg": "the script failed"}, **result))
            module.exit_json(**result)
    module.fail_json(msg="stand-in: powershell.json has no answer for this script: %s" % options["script"][:200])


if __name__ == "__main__":
    main()
